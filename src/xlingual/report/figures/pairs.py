"""Language pairs as figures: box plots over them, and heat maps by source and target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median, quantiles

from xlingual.report import numbers, words
from xlingual.report.axis import Axis, axis_for
from xlingual.report.blocks import STEPS, Box, Heat, HeatMap
from xlingual.report.leaders import BoardRow, System
from xlingual.results import Summary

FEWEST_FOR_BOX = 3
FEWEST_FOR_MAP = 3  # pairs: two by two says no more than the dots
FEW_TARGETS = 8  # columns of a large map
SMALL = 0.1  # where half the values or more are under it, two decimals do not tell cells apart

Pairs = Mapping[tuple[str, str], Summary]


def box_axis(rows: Sequence[BoardRow], pairs: Mapping[System, Pairs]) -> Axis:
    """Return the common axis of the box plots."""
    return axis_for(pair.value for row in rows for pair in pairs.get(row.system, {}).values())


def boxes(rows: Sequence[BoardRow], pairs: Mapping[System, Pairs]) -> list[Box]:
    """Return one box per encoder that has values of pairs."""
    found = (_box(row, pairs.get(row.system, {})) for row in rows)
    return [box for box in found if box is not None]


def heat_maps(rows: Sequence[BoardRow], pairs: Mapping[System, Pairs]) -> list[HeatMap]:
    """Return one heat map per encoder, in the order of the rows, on one colour scale."""
    values = [p.value for row in rows for p in pairs.get(row.system, {}).values() if p.value is not None]
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    keys = [key for row in rows for key in pairs.get(row.system, {})]
    languages = list(dict.fromkeys(language for key in keys for language in key))
    sources = [name for name in languages if any(key[0] == name for key in keys)]
    targets = [name for name in languages if any(key[1] == name for key in keys)]
    small = bool(values) and median(map(abs, values)) < SMALL
    maps: list[HeatMap] = []
    for row in rows:
        own = pairs.get(row.system, {})
        if own:
            lines = [
                (s, [_cell(own, (s, t), (low, high), 3 if small else 2) for t in targets]) for s in sources
            ]
            large = not maps and len(targets) <= FEW_TARGETS  # of the leader
            maps.append(HeatMap(row.label, targets, lines, large))
    return maps


def scale_ends(rows: Sequence[BoardRow], pairs: Mapping[System, Pairs]) -> tuple[str, str]:
    """Return the values at the pale (worst) and the deep (best) end of the colour scale."""
    found = [p for row in rows for p in pairs.get(row.system, {}).values() if p.value is not None]
    if not found:
        return numbers.MISSING, numbers.MISSING
    measure = found[0].measure
    ends = sorted((p.value for p in found if p.value is not None), reverse=words.lower_is_better(measure))
    return numbers.number(ends[0], measure), numbers.number(ends[-1], measure)


def _box(row: BoardRow, pairs: Pairs) -> Box | None:
    found = sorted(
        (
            one.value,
            f"{words.pair(*key)}: {numbers.number(one.value, row.measure)}",
            key,
        )
        for key, one in pairs.items()
        if one.value is not None
    )
    if not found:
        return None
    points, keys = [(value, text) for value, text, _ in found], [key for *_, key in found]
    values = [value for value, _ in points]
    least, most = (numbers.number(value, row.measure) for value in (values[0], values[-1]))
    if len(values) < FEWEST_FOR_BOX:
        spoken = f"{row.label}: {', '.join(text for _, text in points)}"
        return Box(row.label, spoken, None, values[0], values[-1], points, keys)
    quartiles, low, high = box_of(values)
    centre = numbers.number(quartiles[1], row.measure)
    spoken = f"{row.label}: median {centre} over {len(values)} pairs, from {least} to {most}"
    return Box(row.label, spoken, quartiles, low, high, points, keys)


def box_of(values: Sequence[float]) -> tuple[tuple[float, float, float], float, float]:
    """Return the quartiles of ascending values, and the ends of the whiskers: at most 1.5 box lengths off."""
    first, middle, third = quantiles(values, n=4, method="inclusive")
    reach = 1.5 * (third - first)
    inside = [value for value in values if first - reach <= value <= third + reach]
    return (first, middle, third), inside[0], inside[-1]


def _cell(pairs: Pairs, pair: tuple[str, str], ends: tuple[float, float], digits: int) -> Heat | None:
    summary = pairs.get(pair)
    if summary is None:
        return None
    text = numbers.number(summary.value, summary.measure)
    value = numbers.with_interval(summary.value, summary.ci, summary.measure)
    note = f" ({summary.note})" if summary.value is None and summary.note else ""
    title = f"{words.pair(*pair)}: {value}{note}"
    if summary.value is None:
        return Heat(text, text, title, None)
    low, high = ends
    share = (summary.value - low) / (high - low) if high > low else 0.5
    if words.lower_is_better(summary.measure):
        share = 1 - share
    places = min(digits, numbers.digits_of(summary.measure))
    short = numbers.number(summary.value, digits=places)
    return Heat(text, short, title, round(share * (STEPS - 1)))
