"""From results to numbers that may stand in one column: those of equal conditions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from xlingual.comparison.board_reading import Given
from xlingual.comparison.references import Reference
from xlingual.files import bare_name
from xlingual.results import Entry, Interval, Results, Summary
from xlingual.results.names import data_name
from xlingual.signature import Signature
from xlingual.tasks import task_of

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Number:
    """What may become a cell: a number of one encoder under its conditions."""

    given: Given
    encoder: str
    identity: str
    value: float | None
    conditions: tuple[Mapping[str, str], ...]  # of each sample that the number is a mean over
    data: str
    task: str
    measure: str
    languages: tuple[str, ...]
    ci: Interval | None = None
    chance: float | None = None
    n_parts: int = 1
    n_seeds: int = 1
    cost: Mapping[str, float] = field(default_factory=dict)
    note: str | None = None
    row: Summary | None = field(default=None, repr=False)
    entries: tuple[Entry, ...] = field(default=(), repr=False)

    @property
    def order(self) -> tuple[str, ...]:
        """What sorts numbers, whatever the order in which results were given."""
        return (self.encoder, self.identity, str(self.given.folder), self.given.name)

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for numbers that may be compared."""
        conditions = sorted(tuple(sorted(one.items())) for one in self.conditions)
        return (self.task, self.measure, tuple(conditions))


def numbers_of(given: Given, measures: Sequence[str], per_pair: bool) -> list[Number]:
    """Return the numbers of a result: of the named measures, else of the first of each task."""
    return [*_of_results(given, given.results, measures, per_pair)]


def _of_results(given: Given, run: Results, measures: Sequence[str], per_pair: bool) -> Iterator[Number]:
    """Yield the means over language pairs, or the numbers of each pair: also where there is no such mean."""
    groups: dict[tuple[str, str, str, str | None], list[Summary]] = {}
    for row in run.summary:
        if given.encoder in (None, row.encoder):
            groups.setdefault((row.task, row.measure, row.encoder, row.image_encoder), []).append(row)
    first = _first_measures(run)
    entries: dict[tuple[str, str, str, str | None], list[Entry]] = {}
    for entry in run.entries:
        entries.setdefault((entry.task, entry.measure, entry.encoder, entry.image_encoder), []).append(entry)
    for key, rows in groups.items():
        if key[1] not in (measures or [first[key[0]]]) or not entries.get(key):
            continue
        whole = [row for row in rows if row.source is None]
        parts = [row for row in rows if row.source is not None]
        shown = whole if whole and not (per_pair and parts) else parts
        for row in shown:
            own = [
                e for e in entries[key] if row.source in (None, e.source) and row.target in (None, e.target)
            ]
            if own:
                yield _number(given, run, row, own)


def _first_measures(run: Results) -> dict[str, str]:
    """Return the headline of each task: the measure that carries its findings, else the first."""
    found: dict[str, str] = {}
    for row in run.summary:
        if row.measure == task_of(row.task).viewed:
            found[row.task] = row.measure
        found.setdefault(row.task, row.measure)
    return found


def _number(given: Given, run: Results, row: Summary, own: Sequence[Entry]) -> Number:
    signatures = [Signature.parse(entry.signature) for entry in own]
    task = task_of(row.task)
    digests = sorted({one.conditions.get("data", "")[:12] for one in signatures})
    spoken = {entry.source for entry in own}
    spoken |= {entry.target for entry in own} if task.target_is_language else set()
    spoken |= {tag for one in signatures for tag in one.conditions.get("languages", "").split(",") if tag}
    return Number(
        given,
        row.encoder,
        identity_of(signatures[0]),
        row.value,
        tuple(one.conditions for one in signatures),
        bare_name(data_name(run)) or ", ".join(filter(None, digests)) or given.name,
        row.task,
        row.measure,
        tuple(sorted(spoken - task.no_languages)),
        ci=row.ci,
        chance=row.chance,
        n_parts=len({(entry.source, entry.target) for entry in own}),
        n_seeds=len({entry.seed for entry in own}),
        cost=dict(run.costs.get(row.encoder, {})),
        note=row.note,
        row=row,
        entries=tuple(own),
    )


def identity_of(signature: Signature) -> str:
    """Return what identifies an encoder on any data: without what it learned of the data alone."""
    encoder = signature.system.get("encoder", "").partition("#among=")[0]
    similarity = signature.system.get("similarity", "")
    return f"{encoder}, {similarity}" if similarity else encoder


def grouped(numbers: Iterable[Number]) -> list[list[Number]]:
    """Return the numbers of each column: of equal conditions, in an order that no argument changes."""
    by_key: dict[tuple[object, ...], list[Number]] = {}
    for number in sorted(numbers, key=lambda one: one.order):
        by_key.setdefault(number.key, []).append(number)
    return list(by_key.values())


def tested_part(numbers: Sequence[Number]) -> list[Reference]:
    """Return the results of the numbers of a column, each with their entries and queries alone."""
    import pyarrow.compute as pc

    by_given: dict[str, list[Number]] = {}
    for number in numbers:
        by_given.setdefault(number.given.name, []).append(number)
    found = []
    for name, own in by_given.items():
        run = own[0].given.results
        table, first = run.per_query, own[0]
        same = pc.and_(*(_equal(table[key], getattr(first, key)) for key in ("task", "measure")))
        kept = [entry for number in own for entry in number.entries]
        rows = table if pc.all(same, skip_nulls=False).as_py() else table.filter(same)
        part = Results(kept, [], rows, encoders=run.encoders)
        found.append(Reference(Path(name), results=part))
    return found


def _equal(column: pa.ChunkedArray, word: str) -> pa.ChunkedArray:
    """Return whether each text of a column is a word; a coded column is compared by its codes."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_dictionary(column.type):
        return pc.equal(column.cast(pa.string()), word)
    parts = [
        pc.equal(part.indices, pc.index(part.dictionary, pa.scalar(word, part.dictionary.type)))
        for part in column.chunks
    ]
    return pa.chunked_array(parts, pa.bool_())
