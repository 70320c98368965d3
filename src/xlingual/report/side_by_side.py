"""Systems side by side: a row for each, a column for each measure, and the difference to the first below."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from xlingual.report import numbers
from xlingual.report.table import Cell, Column, Row, Table, TableRoom
from xlingual.results.runs import Compared, Gain

CHANCE = 0.05  # corrected p-values below it are called real
REAL, BEST = "†", "*"  # in the texts themselves, so that every medium shows what the note explains
SMALLER = ("TER", "MedR")  # measures of which the smaller is the better


def table(title: str, systems: Sequence[Compared], *, digits: int = 2, same: str = "sentences") -> Table:
    """Return the table of systems; the first is what the others are compared with."""
    measures = list(systems[0].scores)
    heads = {measure: f"{measure} ↓" if measure in SMALLER else measure for measure in measures}
    rows = [
        Row((Cell(_name(system)), *(_value(systems, place, measure, digits) for measure in measures)))
        for place, system in enumerate(systems)
    ]
    note = (
        f"Below each value its difference to {systems[0].name}, on the same {same}; {REAL} real: p below "
        f"{CHANCE:g}, corrected for all {_n_tests(systems)} differences (Holm). Best in bold ({BEST})."
    )
    columns = (Column("system", "name", data=True), *(Column(head) for head in heads.values()))
    looks = (TableRoom(), TableRoom(stacked=True), TableRoom(stacked=True, names=14))
    return Table(
        title, columns, tuple(rows), style="figures two-lines", notes=(note,), looks=looks, where="both"
    )


def _name(system: Compared) -> str:
    return f"{system.name} ({len(system.runs)} runs)" if len(system.runs) > 1 else system.name


def _value(systems: Sequence[Compared], place: int, measure: str, digits: int) -> Cell:
    """Return a value with its spread or interval, and below it its difference to the first system."""
    one, values = systems[place].scores[measure], [other.scores[measure].value for other in systems]
    gap = None if place else Cell("reference", tone="quiet")
    if one.gain is not None:
        gap = _difference(one.gain, measure, digits)
    write = partial(numbers.fixed, digits=digits)
    cell = Cell.by(write, one.value, one.ci, gap=gap)
    if cell.text == best_of(values, write, lower=measure in SMALLER):
        cell = replace(cell, text=f"{cell.text}{BEST}", tone="best")
    if one.ci is None and one.sd is not None:
        return replace(cell, interval=f"± {write(one.sd)}", spread=one.sd)
    return cell


def _difference(gain: Gain, measure: str, digits: int) -> Cell:
    """Return a difference with its sign and interval, marked where it is real."""
    real, better = is_real(gain), (gain.value < 0) == (measure in SMALLER)
    p, corrected = numbers.p_value(gain.p), numbers.p_value(gain.p_adjusted)
    cell = Cell.by(
        partial(numbers.signed, digits=digits),
        gain.value,
        gain.ci,
        tone=("gain" if better else "loss") if real else "quiet",
        title="" if gain.p is None else f"p {p}, corrected {corrected}",
    )
    return replace(cell, text=f"{cell.text}{REAL}") if real else cell


def best_of(values: Sequence[float], write: Callable[[float], str], *, lower: bool) -> str:
    """Return how the best of several values is shown; "" where all are shown alike.

    Values that are shown alike as the best are best too.
    """
    shown = {write(value) for value in values}
    return write(min(values) if lower else max(values)) if len(shown) > 1 else ""


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
