"""How often candidates are retrieved, against chance: bars over bins of their number of queries."""

from __future__ import annotations

import math

from xlingual.report import numbers, shapes
from xlingual.report.hub_views import EncoderHubs
from xlingual.report.shapes import Drawing, Shape, line, rect

WIDTH, HEIGHT = 340.0, 220.0
LEFT, TOP, RIGHT, BOTTOM = 52.0, 12.0, 332.0, 172.0
LEAST = 0.5  # candidates at the foot of the axis: one is a short bar
GAP = 3.0
LETTER = 7.0  # room of a character of the names of bins; where there is none, not every bin is named

BAR = Drawing((rect(1, 2, 14, 10, "tally"),), 14, 16, "")
BY_CHANCE = Drawing((line(0, 6, 26, 6, "chance"),), 12, 26, "")


def distribution(one: EncoderHubs) -> Drawing | None:
    """Return how many candidates are found how often, on a logarithmic scale; None where it is not kept."""
    bins = one.hubs.distribution
    if not bins:
        return None
    decades = max(1, math.ceil(math.log10(max(max(part.n, part.by_chance or 0.0) for part in bins))))
    width = (RIGHT - LEFT) / len(bins)
    longest = max(len(_bin(one, place)) for place in range(len(bins)))
    step = math.ceil(LETTER * longest / width)
    drawn = [*_scale(decades)]
    for place, part in enumerate(bins):
        left, middle = LEFT + place * width, LEFT + (place + 0.5) * width
        name = _bin(one, place)
        if part.n:
            top = _y(part.n, decades)
            title = (
                f"found by {name}: {numbers.counted(part.n, 'candidate')}, {_rough(part.by_chance)} by chance"
            )
            drawn.append(rect(left + GAP, top, width - 2 * GAP, BOTTOM - top, "tally", title=title))
        if (part.by_chance or 0.0) > LEAST:
            y = _y(part.by_chance or 0.0, decades)
            drawn.append(line(left, y, left + width, y, "chance"))
        if place % step == 0:
            drawn.append(shapes.text(middle, BOTTOM + 16, name, "tick", anchor="middle"))
    centre = (LEFT + RIGHT) / 2, (TOP + BOTTOM) / 2
    noun = (
        f"queries that have it among the first {one.hubs.k}" if one.hubs.k != 1 else "queries nearest to it"
    )
    drawn.append(shapes.text(centre[0], BOTTOM + 36, noun, "axis-name", anchor="middle"))
    drawn.append(shapes.text(12, centre[1], "candidates", "axis-name", anchor="middle", turned=True))
    spoken = (
        f"How often candidates are retrieved by {one.row.label}: the most frequent by "
        f"{numbers.count(round(one.hubs.largest or 0))} queries"
    )
    return Drawing(tuple(drawn), HEIGHT, WIDTH, spoken=spoken, name=one.row.label, hint=one.where)


def _bin(one: EncoderHubs, place: int) -> str:
    """Return the numbers of a bin: "0", "2–3", "64+"."""
    bins = one.hubs.distribution
    least = bins[place].least
    if place + 1 == len(bins):
        return f"{least}+" if least > 1 else str(least)
    most = bins[place + 1].least - 1
    return str(least) if most == least else f"{least}–{most}"


def _rough(value: float | None) -> str:
    return "under 0.1" if (value or 0.0) < 0.1 else numbers.number(value, digits=1)


def _y(value: float, decades: int) -> float:
    share = math.log10(value / LEAST) / (decades - math.log10(LEAST))
    return round(BOTTOM - (BOTTOM - TOP) * min(max(share, 0.0), 1.0), 1)


def _scale(decades: int) -> list[Shape]:
    drawn = [line(LEFT, BOTTOM, RIGHT, BOTTOM, "grid")]
    for power in range(decades + 1):
        y = _y(10.0**power, decades)
        drawn.append(line(LEFT, y, RIGHT, y, "grid"))
        drawn.append(shapes.text(LEFT - 7, y + 3.5, numbers.count(10**power), "tick", anchor="end"))
    return drawn
