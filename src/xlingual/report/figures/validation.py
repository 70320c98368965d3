"""The figures of a validation: a measure against XLR, and agreement over image quality."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import correlation

from xlingual.report import numbers, words
from xlingual.report.axis import axis_for
from xlingual.report.blocks import Figure
from xlingual.report.emphasis import MOST, mark_of
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


@dataclass(frozen=True)
class Shown:
    """What a scatter shows of its encoders: means over seeds, or one seed by its place; some stand out."""

    place: int | None = None
    seed: int | None = None  # its number
    highlighted: Sequence[str] = ()

    def value(self, row: EncoderScores, measure: str) -> float | None:
        """Return the value of an encoder's point."""
        found = row.scores[measure]
        return found.mean if self.place is None else found.per_seed[self.place]

    def ends(self, row: EncoderScores, measure: str) -> Ends | None:
        """Return the mean less and plus one standard deviation over seeds; None for one seed."""
        found = row.scores[measure]
        if self.place is not None or found.mean is None or found.sd is None:
            return None
        return found.mean - found.sd, found.mean + found.sd

    def coefficients(self, pair: PairValidation, measure: str, rows: Sequence[EncoderScores]) -> list[str]:
        """Return both coefficients of the points, with their names."""
        if self.place is None:
            found = {kind: pair.agreement[measure][kind].value for kind in COEFFICIENTS}
        else:
            both = [[self.value(row, name) or 0.0 for row in rows] for name in (TRUTH, measure)]
            found = coefficients_of(*both)
        return [f"{kind.capitalize()} {numbers.number(value)}" for kind, value in found.items()]


MEANS = Shown()


def coefficients_of(x: Sequence[float], y: Sequence[float]) -> dict[str, float | None]:
    """Return Pearson's and Spearman's coefficient; None of fewer than three points or equal ones."""
    found: dict[str, float | None] = {}
    for kind, both in zip(COEFFICIENTS, ((x, y), (_ranks(x), _ranks(y))), strict=True):
        varied = len(x) > 2 and all(len(set(values)) > 1 for values in both)
        found[kind] = correlation(*both) if varied else None
    return found


def _ranks(values: Sequence[float]) -> list[float]:
    """Return mid-ranks: equal values share the mean of their places."""
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) + 1) / 2 for value in values]


def against_xlr(
    pair: PairValidation, measure: str, threshold: float, *, small: bool = False, shown: Shown = MEANS
) -> Figure:
    """Return Figure 2 of the paper: each encoder's XLR (across) and measure (up).

    Points of a `small` one have no names; beside highlighted ones, the others have none either.
    """
    value, ends_of = shown.value, shown.ends
    lacking = [row for row in pair.encoders if None in (value(row, TRUTH), value(row, measure))]
    rows = [row for row in by_truth(pair.encoders) if row not in lacking]
    name = f"{measure} against {TRUTH}"
    if not rows:
        return Figure(Drawing((), 0, name=name, notes=("No encoder has both numbers: nothing to draw.",)))
    rows.sort(
        key=lambda row: shown.highlighted.index(row.encoder) if row.encoder in shown.highlighted else MOST
    )
    main = sum(row.encoder in shown.highlighted for row in rows) or len(rows)
    chance = {"BkR": pair.chance, "CORR": 0.0}.get(measure)
    luck = "" if chance is None else f"chance {numbers.mark(chance, measure)}"
    ups = axis_for(
        [*(end for row in rows for end in ends_of(row, measure) or (value(row, measure),)), chance]
    )
    texts = shown.coefficients(pair, measure, rows)
    where = words.pair(pair.source, pair.target)

    def draw(size: Size) -> Drawing:
        frame = Frame(*size, axis_for([0.0, 1.0]), ups)
        points = []
        for row in rows:
            x, y = value(row, TRUTH) or 0.0, value(row, measure) or 0.0
            title = f"{_isolated(row.encoder)}: XLR {numbers.number(x)}, {measure} {numbers.number(y)}"
            kind, ends = "below" if x < threshold else "above", (ends_of(row, TRUTH), ends_of(row, measure))
            mark = "circle"
            if row.encoder in shown.highlighted:
                mark, kind = mark_of(shown.highlighted.index(row.encoder))
            points.append(frame.point(x, y, title, kind=kind, mark=mark, across=ends[0], up=ends[1]))
        points, others = points[:main], points[main:]
        width, height = _COEFFICIENTS_BOX
        taken = [(frame.left, frame.top, frame.left + width, frame.top + height)]
        occupied = [*taken, *(box for point in points for box in (point.box, *point.whiskers()))]
        occupied += [point.box for point in others]
        return scatter(
            frame,
            points,
            None if small else [row.encoder for row in rows[:main]],
            across=TRUTH,
            up=measure,
            spoken=f"{measure} against XLR for {where}, one point per encoder, {len(rows)} points",
            lines=[
                *([frame.upright(frame.x(threshold), "divide")] if frame.xs.holds(threshold) else []),
                *(frame.beneath(point) for point in others),
            ],
            level=frame.level(chance, luck, occupied),
            remarks=[(frame.left + 10, frame.top + 16 + 16 * i, text) for i, text in enumerate(texts)],
            taken=taken,
            avoided=[point.box for point in others],
            name=name,
            hint="" if shown.seed is None else f"seed {shown.seed}",
            notes=_not_drawn([row.encoder for row in lacking]),
        )

    return Figure(draw(SMALL)) if small else fitted(draw, LARGE, NARROW)


def legend_against_xlr(threshold: float, shown: Shown = MEANS) -> tuple[Key, ...]:
    """Return what the marks of `against_xlr` mean."""
    muted = " muted" if shown.highlighted else ""
    named = [(name, *mark_of(place)) for place, name in enumerate(shown.highlighted)]
    spread = [] if shown.seed is not None else [Key("standard deviation over seeds", line_swatch("spread"))]
    return (
        *(Key(_isolated(name), mark_swatch(kind, mark)) for name, mark, kind in named),
        Key(f"XLR {threshold:g} or more", mark_swatch(f"above{muted}")),
        Key(f"XLR below {threshold:g}", mark_swatch(f"below{muted}")),
        *spread,
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


def _not_drawn(names: Sequence[str]) -> tuple[str, ...]:
    """Return the remark that names the rows without a number."""
    shown = ", ".join(map(_isolated, names))
    return (f"not drawn, a number is missing: {shown}",) if names else ()


def _isolated(name: str) -> str:
    return f"\u2068{name}\u2069"  # it may be of any script
