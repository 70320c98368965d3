"""The plots as numbers: places in percent of an axis and steps of a colour scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median, quantiles

from xlingual.report import numbers, words
from xlingual.report.axis import Axis, axis_for
from xlingual.report.rows import Row, System, off
from xlingual.results import Summary

STEPS = 21  # of the colour scale of heat maps
FEWEST_FOR_BOX = 3
FEWEST_FOR_MAP = 3  # pairs: two by two says no more than the dots
CROWDED = 0.1  # share of the axis below which intervals cannot be seen
AIR = 0.08  # beside the outermost intervals of such an axis
SMALL = 0.1  # where half the values or more are under it, two decimals do not tell cells apart

Pairs = Mapping[tuple[str, str], Summary]


@dataclass(frozen=True)
class Bar:
    """A value with its interval and the landmarks on the axis; all in percent of it."""

    value: float | None
    low: float | None
    width: float | None
    chance: float | None
    oracle: float | None
    ceiling: float | None


@dataclass(frozen=True)
class Box:
    """The values of one encoder over pairs: quartiles, whiskers and every pair as a dot."""

    label: str
    spoken: str
    quartiles: tuple[float, float, float] | None  # None for fewer than three pairs
    low: float
    high: float
    dots: list[tuple[float, str]]


@dataclass(frozen=True)
class Cell:
    """One language pair in a heat map."""

    text: str
    short: str  # for small cells: two decimals are enough beside a colour, three where values are small
    title: str
    step: int | None  # of the colour scale


@dataclass(frozen=True)
class HeatMap:
    """Sources as rows, targets as columns; None where the pair was not evaluated."""

    label: str
    targets: list[str]
    lines: list[tuple[str, list[Cell | None]]]


def bar_axis(rows: Sequence[Row]) -> Axis:
    """Return the axis of a leaderboard: it holds every value, interval and chance, and the oracle.

    Where all of them lie close together and far from the oracle, the axis ends a little beyond them instead:
    otherwise every encoder would be one dot on the line of chance.
    """
    floor = words.least(rows[0].measure)
    held = [row.value for row in rows] + [row.chance for row in rows]
    held += [end for row in rows if row.ci for end in (row.ci.low, row.ci.high)]
    whole = axis_for(held + [row.oracle for row in rows], floor=floor)
    known = [max(value, floor) for value in held if value is not None]
    span = max(known, default=0.0) - min(known, default=0.0)
    if 0 < span < CROWDED * (whole.high - whole.low):
        return axis_for([*known, min(known) - AIR * span, max(known) + AIR * span], floor=floor)
    return whole


def bar(row: Row, axis: Axis) -> Bar:
    """Return where the marks of one row lie."""
    low = axis.at(row.ci.low) if row.ci else None
    width = round(axis.at(row.ci.high) - axis.at(row.ci.low), 2) if row.ci else None
    chance, oracle, ceiling = (_mark(axis, place) for place in (row.chance, row.oracle, row.ceiling))
    return Bar(None if row.value is None else axis.at(row.value), low, width, chance, oracle, ceiling)


def box_axis(rows: Sequence[Row], pairs: Mapping[System, Pairs]) -> Axis:
    """Return the common axis of the box plots."""
    return axis_for(pair.value for row in rows for pair in pairs.get(row.system, {}).values())


def boxes(rows: Sequence[Row], pairs: Mapping[System, Pairs], axis: Axis) -> list[Box]:
    """Return one box per encoder that has values of pairs."""
    found = (_box(row, pairs.get(row.system, {}), axis) for row in rows)
    return [box for box in found if box is not None]


def heat_maps(rows: Sequence[Row], pairs: Mapping[System, Pairs]) -> list[HeatMap]:
    """Return one heat map per encoder, in the order of the rows, on one colour scale."""
    values = [p.value for row in rows for p in pairs.get(row.system, {}).values() if p.value is not None]
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    keys = [key for row in rows for key in pairs.get(row.system, {})]
    languages = list(dict.fromkeys(language for key in keys for language in key))
    sources = [name for name in languages if any(key[0] == name for key in keys)]
    targets = [name for name in languages if any(key[1] == name for key in keys)]
    small = bool(values) and median(map(abs, values)) < SMALL
    maps = []
    for row in rows:
        own = pairs.get(row.system, {})
        if own:
            lines = [
                (s, [_cell(own, (s, t), (low, high), 3 if small else 2) for t in targets]) for s in sources
            ]
            maps.append(HeatMap(row.label, targets, lines))
    return maps


def scale_ends(rows: Sequence[Row], pairs: Mapping[System, Pairs]) -> tuple[str, str]:
    """Return the values at the pale (worst) and the deep (best) end of the colour scale."""
    found = [p for row in rows for p in pairs.get(row.system, {}).values() if p.value is not None]
    if not found:
        return numbers.MISSING, numbers.MISSING
    measure = found[0].measure
    ends = sorted((p.value for p in found if p.value is not None), reverse=words.lower_is_better(measure))
    error = max((off(p) or 0.0 for p in found), default=0.0)
    return numbers.number(ends[0], measure, error=error), numbers.number(ends[-1], measure, error=error)


def _box(row: Row, pairs: Pairs, axis: Axis) -> Box | None:
    points = sorted(
        (
            one.value,
            f"{words.pair(*key)}: {numbers.number(one.value, row.measure, error=off(one), ci=one.ci)}",
        )
        for key, one in pairs.items()
        if one.value is not None
    )
    if not points:
        return None
    values = [value for value, _ in points]
    dots = [(axis.at(value), text) for value, text in points]
    least, most = (numbers.number(value, row.measure, error=row.error) for value in (values[0], values[-1]))
    if len(values) < FEWEST_FOR_BOX:
        spoken = f"{row.label}: {', '.join(text for _, text in points)}"
        return Box(row.label, spoken, None, dots[0][0], dots[-1][0], dots)
    first, middle, third = quantiles(values, n=4, method="inclusive")
    reach = 1.5 * (third - first)
    inside = [value for value in values if first - reach <= value <= third + reach]
    centre = numbers.number(middle, row.measure, error=row.error)
    spoken = f"{row.label}: median {centre} over {len(values)} pairs, from {least} to {most}"
    quartiles = (axis.at(first), axis.at(middle), axis.at(third))
    return Box(row.label, spoken, quartiles, axis.at(inside[0]), axis.at(inside[-1]), dots)


def _cell(pairs: Pairs, pair: tuple[str, str], ends: tuple[float, float], digits: int) -> Cell | None:
    summary = pairs.get(pair)
    if summary is None:
        return None
    error = off(summary)
    text = numbers.number(summary.value, summary.measure, error=error, ci=summary.ci)
    value = numbers.with_interval(summary.value, summary.ci, summary.measure, error=error)
    note = f" ({summary.note})" if summary.value is None and summary.note else ""
    title = f"{words.pair(*pair)}: {value}{note}"
    if summary.value is None:
        return Cell(text, text, title, None)
    low, high = ends
    share = (summary.value - low) / (high - low) if high > low else 0.5
    if words.lower_is_better(summary.measure):
        share = 1 - share
    places = min(digits, numbers.digits_of(summary.measure))
    short = numbers.number(summary.value, digits=places, error=error)
    return Cell(text, short, title, round(share * (STEPS - 1)))


def _mark(axis: Axis, value: float | None) -> float | None:
    """Return the place of a landmark; one beyond the axis is not drawn, the legend says so."""
    return None if value is None or not axis.holds(value) else axis.at(value)
