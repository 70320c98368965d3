"""The numbers of a leaderboard: results are read, and their numbers of equal conditions are one column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from xlingual.comparison.references import Reference, SeveralGiven, as_references, read_folders
from xlingual.errors import InputError, listed
from xlingual.files import bare_name
from xlingual.results import Entry, Results, Summary
from xlingual.results.names import data_name
from xlingual.signature import Signature
from xlingual.tasks import task_of

if TYPE_CHECKING:
    import pyarrow as pa

_FILE = "results.json"
_DEEPEST = 3  # folders between the one that is named and a result in it
_IN_THE_NAME = ("task", "measure", "conventions", "ties")  # conditions that a column's name need not repeat
Conditions = Mapping[str, str]


@dataclass(frozen=True)
class Source:
    """A result under a name that no other has, and the one encoder of it that was named, if one was."""

    name: str
    folder: Path
    results: Results
    encoder: str | None = None


@dataclass(frozen=True)
class Number:
    """What may become a cell: a number of one encoder under its conditions."""

    source: Source
    row: Summary
    entries: Sequence[Entry] = field(repr=False)
    identity: str
    conditions: Sequence[Conditions]  # of each sample that the number is a mean over
    data: str

    @property
    def order(self) -> tuple[str, ...]:
        """What sorts numbers, whatever the order in which results were named."""
        return (self.row.encoder, self.identity, str(self.source.folder), self.source.name)

    @property
    def key(self) -> tuple[object, ...]:
        """What is equal for numbers that may be compared."""
        return (
            self.row.task,
            self.row.measure,
            tuple(sorted(tuple(sorted(c.items())) for c in self.conditions)),
        )

    @property
    def languages(self) -> list[str]:
        """The languages that the number is about."""
        task = task_of(self.row.task)
        tags = {entry.source for entry in self.entries}
        tags |= {entry.target for entry in self.entries} if task.target_is_language else set()
        tags |= {tag for one in self.conditions for tag in one.get("languages", "").split(",") if tag}
        return sorted(tags - task.no_languages)

    @property
    def shared(self) -> dict[str, str]:
        """The conditions that all samples share."""
        return {k: v for k, v in self.conditions[0].items() if all(c.get(k) == v for c in self.conditions)}

    def spoken(self) -> dict[str, str]:
        """Give each condition with its values, of which there may be as many as there are samples."""
        values: dict[str, set[str]] = {}
        for conditions in self.conditions:
            for key, value in conditions.items():
                values.setdefault(key, set()).add(value)
        return {key: listed(sorted(several), 3) for key, several in values.items()}


def read_sources(results: SeveralGiven) -> list[Source]:
    """Read the results that references name, in an order that does not depend on theirs.

    A source is named like its folder, with as much of the path as sets it apart. Raises InputError where a
    folder holds no results, or they cannot be read.
    """
    references = [inner for reference in as_references(results) for inner in _within(reference)]
    runs = read_folders(references)
    sources: dict[tuple[Path, str | None], Source] = {}
    for reference in references:
        run = runs[reference.folder]
        run.only(*filter(None, [reference.encoder]))  # refuses a name that is not there
        key = reference.folder.resolve(), reference.encoder
        sources.setdefault(key, Source("", reference.folder, run, reference.encoder))
    whole = {folder for folder, encoder in sources if encoder is None}
    chosen = [one for (folder, encoder), one in sources.items() if encoder is None or folder not in whole]
    chosen.sort(key=lambda one: (str(one.folder.resolve()), one.encoder or ""))
    names = _distinct_names([one.folder for one in chosen])
    return [replace(one, name=names[one.folder]) for one in chosen]


def _within(reference: Reference) -> list[Reference]:
    """List the folders of results that a reference means: itself, or those in it."""
    folder = reference.folder
    if reference.results is not None or (folder / _FILE).exists():
        return [reference]
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder: give folders of results")
    inside = sorted(p.parent for p in folder.rglob(_FILE) if len(p.relative_to(folder).parts) <= _DEEPEST)
    if not inside:
        raise InputError(
            f"{folder} holds no results: expected results.json, as xlingual evaluate … --out DIR writes it"
        )
    return [replace(reference, folder=each) for each in inside]


def _distinct_names(folders: Sequence[Path]) -> dict[Path, str]:
    """Name each folder, fit for a file: by the shortest endings of paths that differ."""
    whole = {folder: folder.resolve() for folder in folders}
    parts = {f: (path.with_suffix("") if f.is_file() else path).parts for f, path in whole.items()}
    names: dict[Path, str] = {}
    for length in range(1, max(map(len, parts.values()), default=1) + 1):
        names = {folder: "-".join(map(_file_name, each[-length:])) for folder, each in parts.items()}
        if len({name.casefold() for name in names.values()}) == len(names):
            return names
    return {folder: f"{place}-{names[folder]}" for place, folder in enumerate(parts, start=1)}


def _file_name(part: str) -> str:
    plain = "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in part)
    return plain.strip(".") or "results"


def columns_of(sources: Sequence[Source], measures: Sequence[str], per_pair: bool) -> list[list[Number]]:
    """Group the numbers of results by equal conditions, in an order that no argument changes."""
    numbers = [number for source in sources for number in numbers_of(source, measures, per_pair)]
    columns: dict[tuple[object, ...], list[Number]] = {}
    for number in sorted(numbers, key=lambda one: one.order):
        columns.setdefault(number.key, []).append(number)
    return list(columns.values())


def numbers_of(source: Source, measures: Sequence[str], per_pair: bool) -> Iterator[Number]:
    """Yield the means over language pairs, or the numbers of each pair: also where there is no such mean.

    `measures` default to the headline of each task: the measure that carries its findings, else the first.
    """
    run = source.results
    rows: dict[tuple[str, str, str, str | None], list[Summary]] = {}
    entries: dict[tuple[str, str, str, str | None], list[Entry]] = {}
    headline: dict[str, str] = {}
    for row in run.summary:
        if row.measure == task_of(row.task).viewed:
            headline[row.task] = row.measure
        headline.setdefault(row.task, row.measure)
        if source.encoder in (None, row.encoder):
            rows.setdefault((row.task, row.measure, row.encoder, row.image_encoder), []).append(row)
    for entry in run.entries:
        entries.setdefault((entry.task, entry.measure, entry.encoder, entry.image_encoder), []).append(entry)
    for key, alike in rows.items():
        if key[1] not in (measures or [headline[key[0]]]):
            continue
        whole, parts = ([row for row in alike if (row.source is None) == mean] for mean in (True, False))
        for row in whole if whole and not (per_pair and parts) else parts:
            pair = [
                entry
                for entry in entries.get(key, ())
                if row.source in (None, entry.source) and row.target in (None, entry.target)
            ]
            if pair:
                yield _number(source, row, pair)


def _number(source: Source, row: Summary, entries: Sequence[Entry]) -> Number:
    signatures = [Signature.parse(entry.signature) for entry in entries]
    system = signatures[0].system
    # what identifies an encoder on any data: without what it learned of the data alone
    identity = system.get("encoder", "").partition("#among=")[0]
    if similarity := system.get("similarity", ""):
        identity = f"{identity}, {similarity}"
    digests = sorted({one.conditions.get("data", "")[:12] for one in signatures})
    data = bare_name(data_name(source.results)) or ", ".join(filter(None, digests)) or source.name
    return Number(source, row, entries, identity, [one.conditions for one in signatures], data)


def column_names(columns: Sequence[Sequence[Number]]) -> list[str]:
    """Name columns: data, measure, the only language pair, and the conditions that set equal names apart."""
    first, plain = [column[0] for column in columns], []
    for number in first:
        pairs, task = {(entry.source, entry.target) for entry in number.entries}, task_of(number.row.task)
        pair = ["→".join(*pairs)] if len(pairs) == 1 and not task.whole else []
        plain.append(" · ".join([number.data, task.measure_name(number.row.measure), *pair]))
    names: list[str] = []
    for number, name in zip(first, plain, strict=True):
        values = [other.spoken() for other, its in zip(first, plain, strict=True) if its == name]
        keys = [key for key in dict.fromkeys(k for one in values for k in one) if key not in _IN_THE_NAME]
        differing = [key for key in keys if len({one.get(key) for one in values}) > 1][:2]
        names.append(" · ".join([name, *(f"{key} {number.spoken().get(key, '–')}" for key in differing)]))
    counts = [names[: place + 1].count(name) for place, name in enumerate(names)]
    return [f"{name} ({n})" if names.count(name) > 1 else name for name, n in zip(names, counts, strict=True)]


def queries_of(numbers: Sequence[Number]) -> list[Reference]:
    """Give the results of a column's numbers, each with their entries and queries alone."""
    import pyarrow.compute as pc

    by_source: dict[str, list[Number]] = {}
    for number in numbers:
        by_source.setdefault(number.source.name, []).append(number)
    references = []
    for name, alike in by_source.items():
        run, row = alike[0].source.results, alike[0].row
        table = run.per_query
        same = pc.and_(*(_equal(table[key], getattr(row, key)) for key in ("task", "measure")))
        entries = [entry for number in alike for entry in number.entries]
        queries = table if pc.all(same, skip_nulls=False).as_py() else table.filter(same)
        references.append(Reference(Path(name), results=Results(entries, [], queries, encoders=run.encoders)))
    return references


def _equal(column: pa.ChunkedArray, word: str) -> pa.ChunkedArray:
    """Compare each text of a column with a word; a coded column is compared by its codes."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_dictionary(column.type):
        return pc.equal(column.cast(pa.string()), word)
    codes = (
        (part, pc.index(part.dictionary, pa.scalar(word, part.dictionary.type))) for part in column.chunks
    )
    return pa.chunked_array([pc.equal(part.indices, code) for part, code in codes], pa.bool_())
