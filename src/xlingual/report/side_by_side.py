"""Systems side by side: a row for each, a column for each measure, and the difference to the first below."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from xlingual.report import numbers
from xlingual.report.table import Cell, Column, Row, Table, TableRoom
from xlingual.results.runs import Compared, Gain, OfRuns

CHANCE = 0.05  # corrected p-values below it are called real
REAL = "†"
SMALLER = ("TER",)  # measures of which the smaller is the better


def table(
    title: str, systems: Sequence[Compared], *, scale: float = 1.0, digits: int = 2, same: str = "sentences",
    **more: Any  # noqa: ANN401
) -> Table:  # fmt: skip
    """Return the table of systems; the first is what the others are compared with."""
    measures = list(systems[0].scores)
    heads = {measure: f"{measure} ↓" if measure in SMALLER else measure for measure in measures}
    rows = []
    for place, system in enumerate(systems):
        runs = f" ({len(system.runs)} runs)" if len(system.runs) > 1 else ""
        cells = [
            value_cell(
                system.scores[measure],
                best=is_best(systems, place, measure),
                reference=not place,
                scale=scale,
                digits=digits,
                lower=measure in SMALLER,
            )
            for measure in measures
        ]
        rows.append(Row((Cell(f"{system.name}{runs}"), *cells)))
    note = (
        f"Below each value its difference to {systems[0].name}, on the same {same}; {REAL} real: p below "
        f"{CHANCE:g}, corrected for all {_n_tests(systems)} differences (Holm). Best in bold (*)."
    )
    columns = (Column("system", "name", data=True), *(Column(head) for head in heads.values()))
    looks = (TableRoom(), TableRoom(stacked=True), TableRoom(stacked=True, names=14))
    given: dict[str, Any] = {"style": "figures two-lines", "notes": (note,), "looks": looks, "where": "both"}
    return Table(title, columns, tuple(rows), **(given | more))


def is_best(systems: Sequence[Compared], place: int, measure: str) -> bool:
    """Return whether a system has the best value of a measure."""
    values = [one.scores[measure].value for one in systems]
    best = min(values) if measure in SMALLER else max(values)
    return len(values) > 1 and values[place] == best


def value_cell(
    one: OfRuns, *, best: bool = False, reference: bool = False, scale: float = 1.0, digits: int = 2,
    lower: bool = False,
) -> Cell:  # fmt: skip
    """Return a value with its spread or interval, and below it its difference to the reference."""
    gap = Cell("reference", tone="quiet") if reference else None
    if one.gain is not None:
        gap = gain_cell(one.gain, scale=scale, digits=digits, lower=lower)
    text = numbers.number(scale * one.value, digits=digits)
    after = ""
    ends = None
    if one.ci is not None:
        ends = (scale * one.ci.low, scale * one.ci.high)
        low, high = (numbers.number(end, digits=digits) for end in ends)
        after = f"[{low}, {high}]"
    elif one.sd is not None:
        after = f"± {numbers.number(scale * one.sd, digits=digits)}"
    more: dict[str, Any] = {"tone": "best", "mark": "*"} if best else {}
    spread = None if one.sd is None or one.ci is not None else scale * one.sd
    return Cell(text, after, gap=gap, value=scale * one.value, ends=ends, spread=spread, **more)


def gain_cell(gain: Gain, *, scale: float = 1.0, digits: int = 2, lower: bool = False) -> Cell:
    """Return a difference with its sign and interval, marked where it is real."""
    real = is_real(gain)
    tone: Any = ("gain" if (gain.value < 0) == lower else "loss") if real else "quiet"
    title = (
        "" if gain.p is None else f"p {numbers.p_value(gain.p)}, corrected {numbers.p_value(gain.p_adjusted)}"
    )
    write = partial(numbers.signed, digits=digits, scale=scale)
    return Cell.by(write, gain.value, gain.ci, scale=scale, tone=tone, mark=REAL if real else "", title=title)


def is_real(gain: Gain | None) -> bool:
    """Return whether a difference is real: its corrected p is small."""
    p = None if gain is None else gain.p if gain.p_adjusted is None else gain.p_adjusted
    return p is not None and p < CHANCE


def _n_tests(systems: Sequence[Compared]) -> int:
    return sum(
        score.gain is not None and score.gain.p is not None
        for system in systems
        for score in system.scores.values()
    )
