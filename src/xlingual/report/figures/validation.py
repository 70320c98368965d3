"""The figures of a validation: a measure against XLR, and agreement over image quality."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xlingual.report import numbers, words
from xlingual.report.axis import axis_for
from xlingual.report.blocks import Figure
from xlingual.report.figures.frame import Ends, Frame, Point, Size, fitted, line_swatch, mark_swatch, scatter
from xlingual.report.findings.image_quality import level_name, pearson
from xlingual.report.shapes import Drawing, Shape, polyline
from xlingual.report.table import Key
from xlingual.results.validation import COEFFICIENTS, TRUTH, Degradation, EncoderScores, PairValidation

LARGE: Size = (560, 480, 52, 14, 546, 434)
NARROW: Size = (350, 390, 44, 14, 342, 346)  # for a telephone: the letters stay as large as on a wide page
SMALL: Size = (330, 224, 46, 12, 320, 184)
WIDE: Size = (640, 380, 52, 14, 626, 334)
NARROW_CURVE: Size = (350, 320, 44, 14, 342, 276)
SERIES = {  # kinds of weakening: their mark, and what it means
    "none": ("diamond", "vectors as they are"),
    "dims": ("circle", "fewer dimensions"),
    "noise": ("square", "noise added"),
    "shuffle": ("triangle", "images shuffled"),
}
_COEFFICIENTS_BOX = (118, 42)  # the room of both coefficients at the top left


def against_xlr(pair: PairValidation, measure: str, threshold: float, *, small: bool = False) -> Figure:
    """Return Figure 2 of the paper: each encoder's XLR (across) and measure (up), means over seeds.

    Points of a `small` one have no names.
    """
    lacking = [row for row in pair.encoders if None in (row.scores[TRUTH].mean, row.scores[measure].mean)]
    rows = [row for row in by_truth(pair.encoders) if row not in lacking]
    name = f"{measure} against {TRUTH}"
    if not rows:
        return Figure(Drawing((), 0, name=name, notes=("No encoder has both numbers: nothing to draw.",)))
    chance = {"BkR": pair.chance, "CORR": 0.0}.get(measure)
    luck = "" if chance is None else f"chance {numbers.mark(chance, measure)}"
    ups = axis_for(
        [*(end for row in rows for end in _ends(row, measure) or (row.scores[measure].mean,)), chance]
    )
    texts = [
        f"{kind.capitalize()} {numbers.number(pair.agreement[measure][kind].value)}" for kind in COEFFICIENTS
    ]
    where = words.pair(pair.source, pair.target)

    def draw(size: Size) -> Drawing:
        frame = Frame(*size, axis_for([0.0, 1.0]), ups)
        points = []
        for row in rows:
            x, y = row.scores[TRUTH].mean or 0.0, row.scores[measure].mean or 0.0
            title = f"{_isolated(row.encoder)}: XLR {numbers.number(x)}, {measure} {numbers.number(y)}"
            kind, ends = "below" if x < threshold else "above", (_ends(row, TRUTH), _ends(row, measure))
            points.append(frame.point(x, y, title, kind=kind, across=ends[0], up=ends[1]))
        width, height = _COEFFICIENTS_BOX
        taken = [(frame.left, frame.top, frame.left + width, frame.top + height)]
        occupied = [*taken, *(box for point in points for box in (point.box, *point.whiskers()))]
        return scatter(
            frame,
            points,
            None if small else [row.encoder for row in rows],
            across=TRUTH,
            up=measure,
            spoken=f"{measure} against XLR for {where}, one point per encoder, {len(points)} points",
            lines=[frame.upright(frame.x(threshold), "divide")] if frame.xs.holds(threshold) else [],
            level=frame.level(chance, luck, occupied),
            remarks=[(frame.left + 10, frame.top + 16 + 16 * i, text) for i, text in enumerate(texts)],
            taken=taken,
            name=name,
            notes=_not_drawn([row.encoder for row in lacking]),
        )

    return Figure(draw(SMALL)) if small else fitted(draw, LARGE, NARROW)


def legend_against_xlr(threshold: float) -> tuple[Key, ...]:
    """Return what the marks of `against_xlr` mean."""
    return (
        Key(f"XLR {threshold:g} or more", mark_swatch("above")),
        Key(f"XLR below {threshold:g}", mark_swatch("below")),
        Key("standard deviation over seeds", line_swatch("spread")),
        Key("chance", line_swatch("chance")),
    )


def by_truth(rows: Iterable[EncoderScores]) -> list[EncoderScores]:
    """Return the encoders by XLR, the best first, those without it last."""

    def order(row: EncoderScores) -> tuple[bool, float, str]:
        value = row.scores[TRUTH].mean
        return (value is None, -(value or 0.0), row.encoder)

    return sorted(rows, key=order)


def over_quality(rows: Sequence[Degradation], pair: PairValidation) -> Figure:
    """Return agreement (Pearson of BkR with XLR, up) over image quality (neighbours kept, across)."""
    known = [one for one in rows if one.kept is not None and pearson(one).value is not None]
    if not known:
        return Figure(Drawing((), 0, notes=("No level has both numbers: nothing to draw.",)), style="wide")
    where = words.pair(pair.source, pair.target)
    ends = [None if (ci := pearson(one).ci) is None else (ci.low, ci.high) for one in known]
    interval_ends = [end for both in ends for end in both or ()]
    ups = axis_for([*interval_ends, *(pearson(one).value for one in known), 0.0, 1.0])

    def draw(size: Size) -> Drawing:
        frame = Frame(*size, axis_for([*(one.kept for one in known), 0.0]), ups)
        points = []
        for one, both in zip(known, ends, strict=True):
            found, kept = pearson(one), f"{numbers.percent(one.kept)} of neighbours kept"
            title = f"{level_name(one)}: {kept}, Pearson {numbers.with_interval(found.value, found.ci)}"
            mark = SERIES[one.kind][0] if one.kind in SERIES else "circle"
            x, y = one.kept or 0.0, found.value or 0.0
            points.append(frame.point(x, y, title, kind=one.kind, mark=mark, up=both))
        around = [box for point in points for box in (point.box, *point.whiskers())]
        return scatter(
            frame,
            points,
            [level_name(one) for one in known],
            across="share of the nearest images kept",
            up="Pearson of BkR with XLR",
            spoken=f"Agreement of BkR with XLR against image quality for {where}",
            lines=_series(points),
            level=frame.level(0.0, "no agreement", around),
            taken=[box for point in points for box in point.whiskers(2)],
            air=8,
            notes=_not_drawn([level_name(one) for one in rows if one not in known]),
        )

    kinds = {one.kind for one in known}
    keys = [Key(name, mark_swatch(kind, mark)) for kind, (mark, name) in SERIES.items() if kind in kinds]
    return fitted(draw, WIDE, NARROW_CURVE, legend=(*keys, Key("vertical lines: the interval")), style="wide")


def _series(points: Sequence[Point]) -> list[Shape]:
    """Return a line for each kind of weakening, from the vectors as they are downwards."""
    start = [point for point in points if point.kind == "none"]
    kinds = dict.fromkeys(point.kind for point in points if point.kind not in ("none", "shuffle"))
    lines = []
    for kind in kinds:
        own = sorted([*start, *(p for p in points if p.kind == kind)], key=lambda point: -point.x)
        lines.append(polyline(((point.x, point.y) for point in own), f"series {kind}"))
    return lines


def _ends(row: EncoderScores, measure: str) -> Ends | None:
    """Return the mean less and plus one standard deviation over seeds."""
    found = row.scores[measure]
    if found.mean is None or found.sd is None:
        return None
    return found.mean - found.sd, found.mean + found.sd


def _not_drawn(names: Sequence[str]) -> tuple[str, ...]:
    """Return the remark that names the rows without a number."""
    shown = ", ".join(map(_isolated, names))
    return (f"not drawn, a number is missing: {shown}",) if names else ()


def _isolated(name: str) -> str:
    return f"\u2068{name}\u2069"  # it may be of any script
