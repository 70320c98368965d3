"""Where the names of points go: beside them, without covering points, names or lines."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

SIZE = 11.0  # of the letters, in the units of the drawing
WIDTH = 0.58  # of a letter, as a share of its size; a wide one (CJK) takes 1
MOST_LETTERS = 24
POINT = 5.0  # half the side of the square that a point needs
REACH = (8.0, 15.0, 26.0, 40.0, 58.0)  # from the point to its name
FROM_FAR = 12.0  # from here on a line leads to the name

Box = tuple[float, float, float, float]  # left, top, right, bottom
Line = tuple[float, float, float, float]  # from, to
Spot = tuple[float, float]


@dataclass(frozen=True)
class Label:
    """A name and its place; `line` leads to it from its point where it is not close."""

    text: str
    x: float
    y: float  # of the base line
    anchor: str  # start, middle or end
    line: Line | None = None
    point: int | None = None  # which of the points it names


def placed(spots: Sequence[Spot], names: Sequence[str], frame: Box, taken: Sequence[Box] = ()) -> list[Label]:
    """Return names for as many points as have room, the earlier points first; the others stay without.

    `taken` are boxes that no name may cover.
    """
    points = [around(spot) for spot in spots]
    boxes, found = list(taken), []
    lines: list[Line] = []
    for i, (spot, name) in enumerate(zip(spots, names, strict=True)):
        occupied = [*points[:i], *points[i + 1 :], *boxes]
        for label, box in _candidates(spot, shortened(name)):
            if (
                _inside(box, frame)
                and not any(_overlap(box, other) for other in occupied)
                and not any(_crosses(line, box) for line in lines)
                and not (label.line and any(_crosses(label.line, other) for other in occupied))
            ):
                found.append(replace(label, point=i))
                boxes.append(box)
                lines += [label.line] if label.line else []
                break
    return found


def on_line(text: str, y: float, frame: Box, taken: Sequence[Box]) -> Label | None:
    """Return a text beside a level line at `y`: above it before below, at the right end before further left.

    None where every place covers something that is `taken`.
    """
    width = width_of(text)
    steps = 24
    for base in (y - 4, y + SIZE + 1):
        for i in range(steps):
            right = frame[2] - 3 - (frame[2] - frame[0] - width - 6) * i / (steps - 1)
            label = Label(text, round(right, 1), round(base, 1), "end")
            box = box_of(label)
            if _inside(box, frame) and not any(_overlap(box, other) for other in taken):
                return label
    return None


def around(spot: Spot) -> Box:
    """Return the square that a point needs."""
    x, y = spot
    return (x - POINT, y - POINT, x + POINT, y + POINT)


def box_of(label: Label) -> Box:
    """Return the box of the words of a label."""
    width = width_of(label.text)
    left = label.x - {"start": 0.0, "middle": width / 2, "end": width}[label.anchor]
    return (left - 1, label.y - 0.89 * SIZE, left + width + 1, label.y + 0.21 * SIZE)


def shortened(name: str, most: int = MOST_LETTERS) -> str:
    """Return the name, cut with "…" where it is long."""
    return name if len(name) <= most else f"{name[: most - 1]}…"


def width_of(text: str) -> float:
    """Return about how wide the text is in the units of the drawing."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return SIZE * (WIDTH * (len(text) - wide) + wide)


def _candidates(spot: Spot, text: str) -> Iterator[tuple[Label, Box]]:
    """Yield places for a name around its point: near ones first, beside it before above and below."""
    x, y = spot
    width = width_of(text)
    for reach in REACH:
        for degrees in (0, 180, 45, 315, 135, 225, 90, 270, 20, 340, 160, 200, 65, 295, 115, 245):
            dx, dy = math.cos(math.radians(degrees)) * reach, -math.sin(math.radians(degrees)) * reach
            anchor = "middle" if abs(dx) < 0.5 * reach else "start" if dx > 0 else "end"
            left = {"start": 0.0, "middle": -width / 2, "end": -width}[anchor] + x + dx
            middle = y + dy + (0.0 if anchor != "middle" else math.copysign(0.35 * SIZE, dy))
            box = (left - 1, middle - 0.55 * SIZE, left + width + 1, middle + 0.55 * SIZE)
            line = None
            if reach > FROM_FAR:
                (x1, y1), (x2, y2) = (
                    (round(x + dx * share, 1), round(y + dy * share, 1)) for share in (POINT / reach, 0.94)
                )
                line = (x1, y1, x2, y2)
            yield Label(text, round(x + dx, 1), round(middle + 0.34 * SIZE, 1), anchor, line), box


def _inside(box: Box, frame: Box) -> bool:
    return box[0] >= frame[0] and box[1] >= frame[1] and box[2] <= frame[2] and box[3] <= frame[3]


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _crosses(line: Line, box: Box, steps: int = 12) -> bool:
    """Tell whether a short line touches a box, by points along it."""
    x1, y1, x2, y2 = line
    along = ((x1 + (x2 - x1) * i / steps, y1 + (y2 - y1) * i / steps) for i in range(steps + 1))
    return any(box[0] < x < box[2] and box[1] < y < box[3] for x, y in along)
