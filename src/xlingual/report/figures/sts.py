"""Cosine against score, pair by pair: one drawing for each encoder and file."""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.report import numbers
from xlingual.report.axis import Axis, axis_for
from xlingual.report.figures.frame import Frame, Size
from xlingual.report.findings.sts import Grid
from xlingual.report.shapes import Drawing, circle, path, polyline
from xlingual.results import Results

SIZE: Size = (340, 280, 46, 12, 330, 238)  # 46 is the least room for the axis, its numbers and its name
BESIDE, DIGIT = (
    26,
    6.2,
)  # the room left of the plot without its numbers, and the width of a character of these
MOST_POINTS = 1500  # of a drawing; of more, an even part is shown
BINS = 5  # equal parts of the scores' range, over which the mean cosine is drawn
FEWEST = 5  # pairs in a part

Point = tuple[float, float]


def drawings(run: Results, grid: Grid) -> list[Drawing]:
    """Return the drawings of a run, best encoders first; none where the pairs were not kept."""
    table = run.tables.get("pairs")
    if table is None:
        return []
    pairs: dict[tuple[str, str], list[Point]] = {}
    columns = (table.column(name).to_pylist() for name in ("encoder", "target", "score", "cosine"))
    for encoder, file, score, cosine in zip(*columns, strict=True):
        pairs.setdefault((encoder, file), []).append((score, cosine))
    across = axis_for(score for own in pairs.values() for score, _ in own)
    overall = {name: grid.value(grid.rows[-1], name) for name in grid.encoders}
    found = []
    for name in sorted(overall, key=lambda name: 2.0 if (value := overall[name]) is None else -value):
        up = axis_for(cosine for (encoder, _), own in pairs.items() if encoder == name for _, cosine in own)
        for file in grid.files:
            if (name, file) in pairs:
                found.append(_drawing(grid, name, file, pairs[name, file], across, up))
    return found


def _drawing(grid: Grid, name: str, file: str, pairs: Sequence[Point], across: Axis, up: Axis) -> Drawing:
    frame = _frame(across, up)
    step = -(-len(pairs) // MOST_POINTS)
    dots = "".join(f"M{frame.x(score)} {frame.y(cosine)}h0" for score, cosine in pairs[::step])
    means = _means(frame, pairs)
    value = numbers.number(grid.value(file, name))
    remark = f"{grid.measure} {value}" if value != numbers.MISSING else "no correlation"
    return frame.drawing(
        [
            *frame.axes("score of people", "cosine"),
            path(dots, "pairs"),
            *([polyline(means, "means")] if len(means) > 1 else []),
            *(circle(x, y, 3.2, "mean") for x, y in means),
        ],
        f"Cosine by {name} against the score of people on {file}, {len(pairs)} pairs; {remark}",
        name=name,
        hint=f"{file} · {remark}{' · an even part of the pairs is shown' if step > 1 else ''}",
    )


def _frame(across: Axis, up: Axis) -> Frame:
    """Return the frame, with room on the left for the widest number beside the axis's name."""
    width, height, least, top, right, bottom = SIZE
    widest = max(len(text) for _, text in up.labels())
    return Frame(width, height, max(least, round(BESIDE + DIGIT * widest)), top, right, bottom, across, up)


def _means(frame: Frame, pairs: Sequence[Point]) -> list[Point]:
    """Return the mean score and mean cosine of each part of the scores that has enough pairs."""
    low, high = min(score for score, _ in pairs), max(score for score, _ in pairs)
    width = (high - low) / BINS or 1.0
    parts: list[list[Point]] = [[] for _ in range(BINS)]
    for score, cosine in pairs:
        parts[min(int((score - low) / width), BINS - 1)].append((score, cosine))
    return [
        (frame.x(sum(s for s, _ in part) / len(part)), frame.y(sum(c for _, c in part) / len(part)))
        for part in parts
        if len(part) >= FEWEST
    ]
