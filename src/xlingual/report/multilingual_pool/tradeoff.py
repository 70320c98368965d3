"""The picture of a trade-off: how well an encoder finds answers in the question's language and in others."""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.report import numbers
from xlingual.report.axis import axis_for
from xlingual.report.figures import labels
from xlingual.report.multilingual_pool.reading import Seen
from xlingual.report.validation.figures import Figure, Frame, Point, Size

ROOMY: Size = (470, 420, 48, 12, 458, 374)
NARROW: Size = (350, 380, 44, 14, 342, 336)  # for a telephone: the letters stay as large as on a wide page
VIEW = "one_target_summary"


def trade_off(found: Sequence[Seen], size: Size = ROOMY) -> Figure | None:
    """Return mAP with an only answer: in the question's language (across), in another (up).

    None where no encoder has both.
    """
    drawn = [one for one in found if _own(one) is not None and _other(one) is not None]
    if not drawn:
        return None
    ends = [end for one in drawn for name in ("own", "other") for end in _ends(one, name)]
    axis = axis_for(ends, floor=0.0)
    frame = Frame(*size, axis, axis)
    points = [_point(frame, one) for one in drawn]
    diagonal = (frame.left, frame.bottom, frame.right, frame.top)
    names = [one.row.label for one in drawn]
    edges = (frame.left + 2, frame.top, frame.right - 2, frame.bottom - 2)
    spots, taken = [(point.x, point.y) for point in points], _boxes(points)
    placed = labels.placed(spots, names, edges, [*taken, *_along(diagonal)])
    if len(placed) < len(names):  # rather across the diagonal than not at all
        placed = labels.placed(spots, names, edges, taken)
    named = {label.point for label in placed}
    return Figure(
        name="one target only",
        spoken=f"mAP for answers in other languages against mAP for answers in the question's own language, "
        f"{len(points)} encoders; below the diagonal the own language is preferred",
        across="mAP, answer in the question's language",
        up="mAP, answer in another language",
        frame=frame,
        points=points,
        labels=placed,
        remarks=[],
        chance=None,
        threshold=None,
        paths=[("diagonal", f"{diagonal[0]},{diagonal[1]} {diagonal[2]},{diagonal[3]}")],
        missing=[one.row.label for one in found if one not in drawn],
        unnamed=[name for i, name in enumerate(names) if i not in named],
    )


def _own(one: Seen) -> float | None:
    return one.number(VIEW, "own")


def _other(one: Seen) -> float | None:
    return one.number(VIEW, "other")


def _ends(one: Seen, name: str) -> list[float]:
    ci, value = one.interval(VIEW, name), one.number(VIEW, name)
    held = [] if value is None else [value]
    return held if ci is None else [*held, ci.low, ci.high]


def _point(frame: Frame, one: Seen) -> Point:
    own, other = _own(one) or 0.0, _other(one) or 0.0
    across, down = one.interval(VIEW, "own"), one.interval(VIEW, "other")
    gap = numbers.number(one.number(VIEW, "gap"))
    title = (
        f"\u2068{one.row.label}\u2069: own {numbers.with_interval(own, across)}, "
        f"other {numbers.with_interval(other, down)}, gap {gap}"
    )
    return Point(
        frame.x(own),
        frame.y(other),
        "circle",
        "leader" if one.row.rank == 1 else "other",
        title,
        (frame.x(across.low), frame.x(across.high)) if across else None,
        (frame.y(down.high), frame.y(down.low)) if down else None,
    )


def _along(line: tuple[float, float, float, float], steps: int = 60) -> list[labels.Box]:
    """Return small boxes along a line that names are to keep clear of."""
    x1, y1, x2, y2 = line
    spots = ((x1 + (x2 - x1) * i / steps, y1 + (y2 - y1) * i / steps) for i in range(steps + 1))
    return [(x - 2, y - 2, x + 2, y + 2) for x, y in spots]


def _boxes(points: Sequence[Point]) -> list[labels.Box]:
    """Return the boxes of the points' whiskers."""
    boxes = [(point.x - 1, point.down[0], point.x + 1, point.down[1]) for point in points if point.down]
    return boxes + [
        (point.across[0], point.y - 1, point.across[1], point.y + 1) for point in points if point.across
    ]
