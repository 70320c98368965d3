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
    found = []
    for row in rows:
        own = pairs.get(row.system, {})
        points = sorted((one.value, key) for key, one in own.items() if one.value is not None)
        if not points:
            continue
        values = [value for value, _ in points]
        named = [f"{words.pair(*key)}: {numbers.number(value, row.measure)}" for value, key in points]
        dots, keys = list(zip(values, named, strict=True)), [key for _, key in points]
        quartiles, low, high, spoken = None, values[0], values[-1], ", ".join(named)
        if len(values) >= FEWEST_FOR_BOX:
            quartiles, low, high = box_of(values)
            centre, least, most = (
                numbers.number(value, row.measure) for value in (quartiles[1], values[0], values[-1])
            )
            spoken = f"median {centre} over {len(values)} pairs, from {least} to {most}"
        found.append(Box(row.label, f"{row.label}: {spoken}", quartiles, low, high, dots, keys))
    return found


def box_of(values: Sequence[float]) -> tuple[tuple[float, float, float], float, float]:
    """Return the quartiles of ascending values, and the ends of the whiskers: at most 1.5 box lengths off."""
    first, middle, third = quantiles(values, n=4, method="inclusive")
    reach = 1.5 * (third - first)
    inside = [value for value in values if first - reach <= value <= third + reach]
    return (first, middle, third), inside[0], inside[-1]


def heat_maps(
    rows: Sequence[BoardRow], pairs: Mapping[System, Pairs]
) -> tuple[list[HeatMap], tuple[str, str]]:
    """Return one heat map per encoder on one colour scale, and the values at its pale and its deep end."""
    found = [p for row in rows for p in pairs.get(row.system, {}).values() if p.value is not None]
    values = sorted(p.value for p in found if p.value is not None)
    low, high = (values[0], values[-1]) if values else (0.0, 1.0)
    keys = [key for row in rows for key in pairs.get(row.system, {})]
    languages = list(dict.fromkeys(language for key in keys for language in key))
    sources, targets = ([tag for tag in languages if any(key[i] == tag for key in keys)] for i in (0, 1))
    small = bool(values) and median(map(abs, values)) < SMALL
    maps: list[HeatMap] = []
    for row in rows:
        if own := pairs.get(row.system, {}):
            lines = [
                (s, [_cell(own.get((s, t)), (low, high), 3 if small else 2) for t in targets])
                for s in sources
            ]
            maps.append(HeatMap(row.label, targets, lines, not maps and len(targets) <= FEW_TARGETS))
    if not found:
        return maps, (numbers.MISSING, numbers.MISSING)
    measure = found[0].measure
    ends = (high, low) if words.lower_is_better(measure) else (low, high)
    return maps, (numbers.number(ends[0], measure), numbers.number(ends[1], measure))


def _cell(summary: Summary | None, ends: tuple[float, float], digits: int) -> Heat | None:
    if summary is None:
        return None
    text = numbers.number(summary.value, summary.measure)
    value = numbers.with_interval(summary.value, summary.ci, summary.measure)
    note = f" ({summary.note})" if summary.value is None and summary.note else ""
    title = f"{words.pair(summary.source or '', summary.target or '')}: {value}{note}"
    if summary.value is None:
        return Heat(text, text, title, None)
    low, high = ends
    share = (summary.value - low) / (high - low) if high > low else 0.5
    share = 1 - share if words.lower_is_better(summary.measure) else share
    short = numbers.number(summary.value, digits=min(digits, numbers.digits_of(summary.measure)))
    return Heat(text, short, title, round(share * (STEPS - 1)))
