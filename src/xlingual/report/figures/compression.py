"""Loss against bytes: a point for each form, at what its worst language pair loses."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xlingual.report import numbers
from xlingual.report.axis import LogAxis
from xlingual.report.blocks import STEPS, Figure, Heat, HeatMap, Matrix
from xlingual.report.figures.frame import Frame, Size, fitted, line_swatch, mark_swatch, scatter
from xlingual.report.findings.compression import in_words, pair_of
from xlingual.report.shapes import Drawing, polyline
from xlingual.report.table import Key
from xlingual.results.compression import KEPT, Compression, Form

WIDE: Size = (640, 400, 58, 14, 626, 354)
NARROW: Size = (350, 340, 52, 14, 342, 296)
MARKS = {"f32": "circle", "f16": "square", "int8": "triangle", "binary": "diamond"}
FLOOR = 0.001  # smaller losses, and gains, lie here


def frontier(forms: Sequence[Form]) -> list[Form]:
    """Return the forms than which no smaller one, nor one of the same size, loses less in its worst pair.

    The smallest first.
    """
    found: list[Form] = []
    for form in sorted(forms, key=lambda one: (one.bytes, worst_loss(one))):
        if not found or worst_loss(form) < worst_loss(found[-1]):
            found.append(form)
    return found


def worst_loss(form: Form) -> float:
    """Return the largest loss of a language pair."""
    return form.pairs[form.worst].loss


def loss_by_bytes(found: Compression) -> Figure:
    """Return the scatter of the worst pair's loss (up) against bytes of a vector (across)."""
    best = frontier(found.forms)
    xs = _powers(2, [one.bytes for one in found.forms])
    tops = [max(worst_loss(one), one.pairs[one.worst].most or 0.0, FLOOR) for one in found.forms]
    ys = _powers(10, [FLOOR, found.delta, *tops])

    def draw(size: Size) -> Drawing:
        frame = Frame(*size, xs, ys)
        points = [
            frame.point(
                one.bytes,
                max(worst_loss(one), FLOOR),
                _title(found, one),
                kind="above" if one.outcome == KEPT else "below",
                mark=MARKS[one.dtype],
            )
            for one in [*best, *(one for one in found.forms if one not in best)]
        ]
        steps: list[tuple[float, float]] = []
        for one in best:
            x, y = frame.x(one.bytes), frame.y(max(worst_loss(one), FLOOR))
            steps += [(x, steps[-1][1]), (x, y)] if steps else [(x, y)]
        steps.append((frame.right, steps[-1][1]))
        return scatter(
            frame,
            points,
            [one.name for one in best],
            across="bytes of a vector",
            up="largest loss of a language pair",
            spoken=f"Largest loss of a language pair against bytes, {len(points)} forms",
            lines=[polyline(steps, "series")],
            level=frame.level(found.delta, f"delta {found.delta:g}"),
        )

    keys = (
        Key("shown to lose less than delta in every pair", mark_swatch("above")),
        Key("not shown", mark_swatch("below")),
        *(Key(dtype, mark_swatch("below", mark)) for dtype, mark in MARKS.items()),
        Key("no form as small loses less", line_swatch("series")),
    )
    return fitted(draw, WIDE, NARROW, legend=keys, style="wide")


def _title(found: Compression, form: Form) -> str:
    pair = form.pairs[form.worst]
    return (
        f"{in_words(form)}: {form.bytes:,} bytes; {pair_of(found.full[form.worst])} loses "
        f"{numbers.number(pair.loss)}"
    )


def _powers(base: int, values: Sequence[float]) -> LogAxis:
    """Return an axis of powers of a base that holds the values."""
    low = math.floor(math.log(min(values), base) + 1e-9)
    high = max(math.ceil(math.log(max(values), base) - 1e-9), low + 1)
    ticks = [float(base) ** power for power in range(low, high + 1)]
    return LogAxis(ticks[0], ticks[-1], tuple(ticks))


def losses_by_languages(found: Compression, forms: Sequence[Form]) -> Matrix:
    """Return a map for each form: the loss by the query's language (rows) and the answer's (columns)."""
    place = {(pair.source, pair.target): i for i, pair in enumerate(found.full)}
    sources, targets = (list(dict.fromkeys(pair[side] for pair in place)) for side in (0, 1))
    most = max([found.delta, *(pair.loss for form in forms for pair in form.pairs)])

    def cell(form: Form, source: str, target: str) -> Heat | None:
        i = place.get((source, target))
        if i is None:
            return None
        loss, ci = form.pairs[i].loss, form.pairs[i].ci
        title = f"{pair_of(found.full[i])}: {numbers.with_interval(loss, ci)}"
        step = round(max(loss, 0.0) / most * (STEPS - 1))
        text = numbers.number(loss)
        return Heat(text, text, title, step, loss, None if ci is None else (ci.low, ci.high))

    maps = [
        HeatMap(form.name, targets, [(tag, [cell(form, tag, other) for other in targets]) for tag in sources])
        for form in forms
    ]
    return Matrix(
        maps,
        scale="loss",
        ends=("0 or less", numbers.number(most)),
        titled=False,
        title="Loss by language",
        corner="query ↓\nanswer →",
        style="close wide",
        shown=len(maps),
        framed="query and answer are in one language",
        where="page",
    )
