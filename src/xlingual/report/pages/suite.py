"""The entry page of a suite: the gates first, then the headline numbers of each data set, with links."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from xlingual.report import numbers, words
from xlingual.report.blocks import Block, Finding, Page, Prose, Section
from xlingual.report.table import Cell, Column, Row, Table, TableRoom, Tone
from xlingual.results.gate import PASS, UNDECIDED
from xlingual.results.suite import BEHIND, LEADER, Compared, Evaluated, Gated, Headline, Suite
from xlingual.tasks import task_of

_TONES = {PASS: "leader", UNDECIDED: "level"}
_LOOKS = (TableRoom(), TableRoom(stacked=True), TableRoom(names=16, stacked=True))
_REAL = "*"


def page(suite: Suite, *, title: str | None = None) -> Page:
    """Return the entry page of a suite."""
    sets = list(dict.fromkeys(one.data for one in suite.evaluations))
    day = numbers.day(str(suite.run.get("date", ""))) if isinstance(suite.run, Mapping) else ""
    encoders = list(dict.fromkeys(row.encoder for one in suite.evaluations for row in one.numbers))
    return Page(
        kind="suite",
        title=title or suite.title,
        verdict=_verdict(suite),
        sections=[
            *([Section("Gates", [_gates(suite.gates), *_links(suite.gates)])] if suite.gates else []),
            *(_section(name, suite) for name in sets),
        ],
        facts=[
            *([("finished", day)] if day else []),
            *numbers.facts(
                (len(sets), "data set", "data sets"),
                (len({one.task for one in suite.evaluations}), "task", "tasks"),
                (len(encoders), "encoder", "encoders"),
                *([(len(suite.gates), "gate", "gates")] if suite.gates else []),
            ),
        ],
        about=words.explained(*dict.fromkeys((one.kind, one.measure) for one in suite.evaluations)),
        warnings=[
            f"{name} is part of this suite and not computed yet, or not up to date" for name in suite.absent
        ],
        names=encoders,
    )


def _verdict(suite: Suite) -> list[Finding]:
    """Return the first sentence of each gate, each evaluation and each comparison."""
    found: list[Finding] = []
    groups: dict[str, Sequence[Evaluated | Compared]] = {
        "Gates": suite.gates,
        "Evaluations": suite.evaluations,
        "Comparisons": suite.comparisons,
    }
    for heading, parts in groups.items():
        found += [
            Finding(one.sentences[:1], _named(one), heading if place == 0 and suite.gates else "")
            for place, one in enumerate(parts)
            if one.sentences
        ]
    return found


def _named(one: Evaluated | Compared) -> str:
    return f"{one.data}, {one.task}{f', {one.name}' if isinstance(one, Compared) else ''}"


def _gates(gates: Sequence[Gated]) -> Table:
    """Return a row for each gate with its outcome."""
    columns = (
        Column("gate", "name", data=True),
        Column("data", "name", data=True),
        Column("task", "name"),
        Column("outcome", "words"),
    )
    rows = tuple(
        Row(
            (Cell(one.name), Cell(one.data), Cell(one.task), Cell(one.outcome)),
            _TONES.get(one.outcome, "behind"),
        )
        for one in gates
    )
    return Table("Gates", columns, rows, titled=False, where="both")


def _section(name: str, suite: Suite) -> Section:
    """Return the part of a data set: its encoders as rows, its tasks as columns, and links to the reports."""
    own = [one for one in suite.evaluations if one.data == name]
    further = [one for one in suite.comparisons if one.data == name]
    return Section(name, [_numbers(name, own), *_links(own), *_links(further)])


def _numbers(name: str, own: Sequence[Evaluated]) -> Table:
    found = [{row.encoder: row for row in one.numbers} for one in own]
    encoders = list(dict.fromkeys(encoder for rows in found for encoder in rows))
    heads = [Column("Encoder", "name", "encoder", data=True), *(Column(_head(one, own)) for one in own)]
    rows = tuple(
        Row(
            (
                Cell(encoder),
                *(_cell(one.measure, rows.get(encoder)) for one, rows in zip(own, found, strict=True)),
            )
        )
        for encoder in encoders
    )
    behind = any(row.standing == BEHIND for rows in found for row in rows.values())
    note = f"{_REAL} behind the leader: the interval of the paired difference excludes zero."
    return Table(
        name,
        tuple(heads),
        rows,
        notes=(note,) if behind else (),
        titled=False,
        looks=_LOOKS,
        splits=True,
        where="both",
    )


def _head(one: Evaluated, own: Sequence[Evaluated]) -> str:
    """Return the measure, and the task's name where that alone would not tell two columns apart."""
    measure = task_of(one.kind).measure_name(one.measure)
    same = [other for other in own if (other.kind, other.measure) == (one.kind, one.measure)]
    return f"{one.task}: {measure}" if len(same) > 1 else measure


def _cell(measure: str, row: Headline | None) -> Cell:
    if row is None:
        return Cell(numbers.MISSING)
    tone: Tone = "best" if row.standing == LEADER else ""
    cell = Cell.of(row.value, row.ci, measure, tone=tone)
    return replace(cell, text=f"{cell.text}{_REAL}") if row.standing == BEHIND else cell


def _links(parts: Sequence[Evaluated | Compared]) -> Iterator[Block]:
    """Yield a line with a link for the report of each part."""
    for one in parts:
        title = (
            task_of(one.kind).title if isinstance(one, Evaluated) else f"{one.data}, {one.task}, {one.name}"
        )
        yield Prose(f"{title}: ", "note-line", link=f"{one.folder}/report.html")
