"""The figures of a validation as places in a drawing: a measure over XLR, agreement over image quality."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xlingual.report import numbers
from xlingual.report.axis import Axis, axis_for
from xlingual.report.figures import labels
from xlingual.report.validation import wording
from xlingual.report.validation.tables import by_quality, by_truth
from xlingual.results.validation import COEFFICIENTS, TRUTH, Degradation, EncoderScores, PairValidation

MARKS = {"none": "diamond", "dims": "circle", "noise": "square", "shuffle": "triangle"}
# width, height, and the plot's left, top, right and bottom in it
Size = tuple[float, float, float, float, float, float]
LARGE: Size = (560, 480, 52, 14, 546, 434)
NARROW: Size = (350, 390, 44, 14, 342, 346)  # for a telephone: the letters stay as large as on a wide page
SMALL: Size = (330, 224, 46, 12, 320, 184)
WIDE: Size = (640, 380, 52, 14, 626, 334)
NARROW_CURVE: Size = (350, 320, 44, 14, 342, 276)
SERIES = {
    "none": "vectors as they are",
    "dims": "fewer dimensions",
    "noise": "noise added",
    "shuffle": "pictures shuffled",
}


@dataclass(frozen=True)
class Frame:
    """A drawing's size and the edges of the plot in it."""

    width: float
    height: float
    left: float
    top: float
    right: float
    bottom: float
    xs: Axis
    ys: Axis

    def x(self, value: float) -> float:
        """Return where the value lies from the left."""
        return round(self.left + (self.right - self.left) * self.xs.at(value) / 100, 1)

    def y(self, value: float) -> float:
        """Return where the value lies from the top."""
        return round(self.bottom - (self.bottom - self.top) * self.ys.at(value) / 100, 1)

    @property
    def x_ticks(self) -> list[tuple[float, str]]:
        """Return (place, text) of the ticks along the bottom."""
        texts = self.xs.labels()
        return [(self.x(tick), text) for tick, (_, text) in zip(self.xs.ticks, texts, strict=True)]

    @property
    def y_ticks(self) -> list[tuple[float, str]]:
        """Return (place, text) of the ticks along the left."""
        texts = self.ys.labels()
        return [(self.y(tick), text) for tick, (_, text) in zip(self.ys.ticks, texts, strict=True)]


@dataclass(frozen=True)
class Point:
    """A mark with its whiskers (left, right, top, bottom) where there are any, and what it says."""

    x: float
    y: float
    mark: str
    kind: str
    title: str
    across: tuple[float, float] | None = None
    down: tuple[float, float] | None = None


@dataclass(frozen=True)
class Level:
    """A line across the plot, and what it says where there is room for that."""

    y: float
    label: labels.Label | None


@dataclass(frozen=True)
class Figure:
    """One drawing: frame, points, names, lines and remarks."""

    name: str
    spoken: str
    across: str  # what the axes show
    up: str
    frame: Frame
    points: list[Point]
    labels: list[labels.Label]
    remarks: list[tuple[float, float, str]]
    chance: Level | None
    threshold: tuple[float, str] | None
    paths: list[tuple[str, str]] = field(default_factory=list)  # (kind, points) of the series
    missing: list[str] = field(default_factory=list)
    unnamed: list[str] = field(default_factory=list)  # points without room for their name


def scatter(
    pair: PairValidation, measure: str, threshold: float, *, size: Size = LARGE, named: bool = True
) -> Figure:
    """Return Figure 2: each encoder's XLR (across) and measure (up), means over seeds.

    `named`: the points carry their encoders' names where there is room.
    """
    rows = [row for row in by_truth(pair.encoders) if _drawn(row, measure)]
    chance = {"BkR": pair.chance, "CORR": 0.0}.get(measure)
    value = {row.encoder: (row.scores[TRUTH].mean or 0.0, row.scores[measure].mean or 0.0) for row in rows}
    ups = [end for row in rows for end in _ends(row, measure)]
    xs = axis_for([0.0, 1.0] if rows else [])
    ys = axis_for([*ups, chance])
    frame = Frame(*size, xs, ys)
    points = [_point(frame, row, measure, *value[row.encoder], threshold) for row in rows]
    remarks, taken = _coefficients(frame, pair, measure)
    words = "" if chance is None else f"chance {numbers.mark(chance, measure)}"
    level = _level(frame, chance, words, [*taken, *_boxes(points)])
    names = [row.encoder for row in rows]
    found = _names(frame, points, names, [*taken, *_box_of(level, frame)]) if named else []
    where = wording.pair_name(pair)
    return Figure(
        name=measure,
        spoken=f"{measure} against XLR for {where}, one point per encoder, {len(points)} points",
        across="XLR",
        up=measure,
        frame=frame,
        points=points,
        labels=found,
        remarks=remarks,
        chance=level,
        threshold=(frame.x(threshold), f"{threshold:g}") if xs.holds(threshold) and rows else None,
        missing=[row.encoder for row in pair.encoders if not _drawn(row, measure)],
        unnamed=_unnamed(names, found) if named else [],
    )


def curve(rows: Sequence[Degradation], pair: PairValidation, *, size: Size = WIDE) -> Figure:
    """Return agreement (Pearson of BkR with XLR, up) over image quality (neighbours kept, across)."""
    ordered = [one for one in by_quality(rows) if _known(one)]
    pearson = {id(one): one.agreement["BkR"]["pearson"] for one in ordered}
    ends = [end for one in pearson.values() if one.ci for end in (one.ci.low, one.ci.high)]
    quality = [one.kept for one in ordered]
    ys = axis_for([*ends, *(one.value for one in pearson.values()), 0.0, 1.0])
    frame = Frame(*size, axis_for([*quality, 0.0]), ys)
    points = []
    for one in ordered:
        found = pearson[id(one)]
        title = (
            f"{wording.level_name(one)}: {numbers.percent(one.kept)} of neighbours kept, "
            f"Pearson {numbers.with_interval(found.value, found.ci)}"
        )
        down = (frame.y(found.ci.high), frame.y(found.ci.low)) if found.ci else None
        place = (frame.x(one.kept or 0.0), frame.y(found.value or 0.0))
        points.append(Point(*place, MARKS.get(one.kind, "circle"), one.kind, title, None, down))
    names = [wording.level_name(one) for one in ordered]
    whiskers = [(point.x - 2, point.down[0], point.x + 2, point.down[1]) for point in points if point.down]
    level = _level(frame, 0.0, "no agreement", _boxes(points))
    found_labels = _names(frame, points, names, [*whiskers, *_box_of(level, frame)], air=8)
    return Figure(
        name="Pearson",
        spoken=f"Agreement of BkR with XLR against image quality for {wording.pair_name(pair)}",
        across="share of the nearest pictures kept",
        up="Pearson of BkR with XLR",
        frame=frame,
        points=points,
        labels=found_labels,
        remarks=[],
        chance=level,
        threshold=None,
        paths=_series(points),
        missing=[wording.level_name(one) for one in rows if not _known(one)],
        unnamed=_unnamed(names, found_labels),
    )


def _series(points: Sequence[Point]) -> list[tuple[str, str]]:
    """Return a line for each kind of weakening, from the vectors as they are downwards."""
    start = [point for point in points if point.kind == "none"]
    kinds = dict.fromkeys(point.kind for point in points if point.kind not in ("none", "shuffle"))
    paths = []
    for kind in kinds:
        own = sorted([*start, *(p for p in points if p.kind == kind)], key=lambda point: -point.x)
        paths.append((kind, " ".join(f"{point.x},{point.y}" for point in own)))
    return paths


def _point(frame: Frame, row: EncoderScores, measure: str, x: float, y: float, threshold: float) -> Point:
    name = f"\u2068{row.encoder}\u2069"  # isolated: it may be of any script
    title = f"{name}: XLR {numbers.number(x)}, {measure} {numbers.number(y)}"
    across, down = _ends(row, TRUTH), _ends(row, measure)
    return Point(
        frame.x(x),
        frame.y(y),
        "circle",
        "below" if x < threshold else "above",
        title,
        (frame.x(across[0]), frame.x(across[1])) if len(across) > 1 else None,
        (frame.y(down[1]), frame.y(down[0])) if len(down) > 1 else None,
    )


def _coefficients(
    frame: Frame, pair: PairValidation, measure: str
) -> tuple[list[tuple[float, float, str]], list[labels.Box]]:
    """Return both coefficients of the means as remarks at the top left, and the box they take."""
    found = pair.subsets["all"].agreement[measure]
    texts = [f"{wording.name_of(kind)} {numbers.number(found[kind].value)}" for kind in COEFFICIENTS]
    remarks = [(frame.left + 10, frame.top + 16 + 16 * i, text) for i, text in enumerate(texts)]
    return remarks, [(frame.left, frame.top, frame.left + 118, frame.top + 42)]


def _level(frame: Frame, value: float | None, text: str, taken: Sequence[labels.Box]) -> Level | None:
    """Return the line of a value across the plot, named where the name covers nothing that is `taken`."""
    if value is None or not frame.ys.holds(value):
        return None
    y = frame.y(value)
    return Level(y, labels.on_line(text, y, (frame.left, frame.top, frame.right, frame.bottom), taken))


def _names(
    frame: Frame,
    points: Sequence[Point],
    names: Sequence[str],
    taken: Sequence[labels.Box],
    air: float = 0.0,
) -> list[labels.Label]:
    """Return the names that have room; they may reach `air` beyond the plot's top and right edge."""
    edges = (frame.left + 2, frame.top - air, frame.right - 2 + air, frame.bottom - 2)
    return labels.placed([(point.x, point.y) for point in points], names, edges, taken)


def _unnamed(names: Sequence[str], found: Sequence[labels.Label]) -> list[str]:
    placed = {label.point for label in found}
    return [name for i, name in enumerate(names) if i not in placed]


def _boxes(points: Sequence[Point]) -> list[labels.Box]:
    """Return the boxes of the points and of their whiskers."""
    boxes = [labels.around((point.x, point.y)) for point in points]
    boxes += [(point.x - 1, point.down[0], point.x + 1, point.down[1]) for point in points if point.down]
    boxes += [
        (point.across[0], point.y - 1, point.across[1], point.y + 1) for point in points if point.across
    ]
    return boxes


def _box_of(level: Level | None, frame: Frame) -> list[labels.Box]:
    """Return the boxes of a level: its line and its words."""
    if level is None:
        return []
    line = (frame.left, level.y - 1, frame.right, level.y + 1)
    return [line, labels.box_of(level.label)] if level.label else [line]


def _ends(row: EncoderScores, measure: str) -> list[float]:
    """Return the mean less and plus one standard deviation over seeds, the mean alone, or nothing."""
    found = row.scores[measure]
    if found.mean is None:
        return []
    return [found.mean] if found.sd is None else [found.mean - found.sd, found.mean + found.sd]


def _drawn(row: EncoderScores, measure: str) -> bool:
    return row.scores[TRUTH].mean is not None and row.scores[measure].mean is not None


def _known(one: Degradation) -> bool:
    return one.kept is not None and one.agreement["BkR"]["pearson"].value is not None
