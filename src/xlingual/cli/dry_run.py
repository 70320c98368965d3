"""`xlingual run SUITE --dry-run`: which steps would be computed and why, and what they would take."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from xlingual.cli import screen
from xlingual.errors import InputError
from xlingual.report import numbers
from xlingual.report.blocks import Block, Page, Prose
from xlingual.report.table import Cell, Column, Row, Table, narrower

if TYPE_CHECKING:
    from xlingual.workflows.suites.estimate import Estimate
    from xlingual.workflows.suites.reading import Suite
    from xlingual.workflows.suites.step import Step


def show_plan(suite: Suite, chosen: Sequence[Step]) -> None:
    """Print what would be computed; nothing is encoded, and no model is loaded."""
    from xlingual.workflows.suites import kept
    from xlingual.workflows.suites.estimate import Estimator

    images: dict[str, str] = {}
    estimator, due, rows, notes = Estimator(suite), set[str](), [], list[str]()
    total, unknown, sure = 0.0, dict[str, None](), True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for step in chosen:
            why = kept.reasons(step, kept.now(step, images))
            if not why and any(step.name.startswith(f"{name}/") for name in due):
                why = ["its evaluation is computed again"]
            if not why:
                rows.append(_row(step, "kept", None, None))
                continue
            due.add(step.name)
            try:
                found = estimator.of(step) if step.kind == "evaluate" else None
            except InputError as error:
                notes.append(f"{step.name}: {error}")
                found = None
            last = kept.seconds(step)
            rows.append(_row(step, "new" if why == [kept.NEW] else "again", found, last))
            notes += [f"{step.name}: {'; '.join(why)}"] if why != [kept.NEW] else []
            total += last or (found.seconds if found is not None else 0.0)
            sure = sure and last is not None
            if found is not None:
                notes += _said(step, found)
                unknown |= {one.name: None for one in found.encodings if one.seconds is None}
    screen.print_page(_page(suite, rows, due, len(chosen), (total, sure), list(unknown), notes), "table")


def _row(step: Step, what: str, found: Estimate | None, last: float | None) -> Row:
    """Return the row of a step; its time is that of its last run, else the least that it takes."""
    took = Cell(numbers.MISSING) if last is None else Cell(_time(last), value=last)
    if found is None:
        empty = Cell(numbers.MISSING)
        return Row((Cell(step.name), Cell(what), empty, empty, empty, took, empty))
    missing = sum(one.missing for one in found.encodings)
    stored = sum(one.known for one in found.encodings)
    if last is None:
        took = Cell(f"≥ {_time(max(found.seconds, 1.0))}", value=found.seconds)
    return Row(
        (
            Cell(step.name),
            Cell(what),
            Cell.count(missing),
            Cell.count(stored),
            Cell(f"{found.pairs:.2g}", value=found.pairs),
            took,
            Cell(screen.in_bytes(found.memory), value=found.memory),
        )
    )


def _time(seconds: float) -> str:
    return "< 1 s" if seconds < 1 else numbers.duration(seconds)


def _said(step: Step, found: Estimate) -> Iterator[str]:
    """Yield a sentence for each encoder of which there is more to say than a number."""
    for one in found.encodings:
        if one.problem:
            yield f"{step.name}, {one.name}: {one.problem}"
        elif one.cost:
            yield f"{step.name}, {one.name}: {one.cost}"


def _page(
    suite: Suite,
    rows: Sequence[Row],
    due: set[str],
    count: int,
    total: tuple[float, bool],
    unknown: Sequence[str],
    notes: Sequence[str],
) -> Page:
    heads = ("encode", "stored", "pairs", "time", "memory")
    columns = (Column("step", "name"), Column("what", "words"), *map(Column, heads))
    table = Table(
        suite.title, columns, tuple(rows), titled=False, looks=narrower("pairs", "stored"), where="both"
    ).without_empty()
    more = (
        f" An encoder whose speed is not known comes on top: {numbers.in_words(list(unknown))}."
        if unknown
        else ""
    )
    sentences = [
        f"Of {numbers.count(count)} steps {numbers.count(len(due))} would be computed, in "
        f"{'about' if total[1] else 'at least'} {_time(max(total[0], 1.0))} of one core.{more}"
        if due
        else "Nothing changed: no step would be computed.",
        "This is a dry run: nothing was computed or written.",
    ]
    legend = (
        "encode, stored: texts and images that the store lacks, and has. time: that of the last run; of a "
        "step that has none (≥) encoding at a known speed, and ranking by measured formulas, for "
        "vectors of 768 dimensions and images of 2048, without statistics and reports. memory: with all "
        "texts' vectors. Samples and halves are counted whole."
    )
    blocks: list[Block] = [table, *(Prose(note, where="both") for note in notes)]
    blocks += [Prose(legend, where="both")] if due else []
    return Page.of("dry run", suite.title, blocks, sentences)
