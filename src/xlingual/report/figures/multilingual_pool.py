"""Answers from a multilingual pool as drawings: own against other languages, losses, and the space."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, product
from statistics import fmean
from typing import Any, TypeAlias

from xlingual.report import numbers, shapes
from xlingual.report.axis import Axis, axis_for
from xlingual.report.blocks import Block, Figure, Group, Heading, Legend, Prose
from xlingual.report.figures import frame, labels
from xlingual.report.figures.frame import Frame, Size
from xlingual.report.figures.labels import Box
from xlingual.report.pool_views import EncoderViews, amount, tables_of
from xlingual.report.shapes import Drawing, Shape
from xlingual.report.table import Key
from xlingual.results import Results

ROOMY: Size = (470, 420, 48, 12, 458, 374)
NARROW: Size = (350, 380, 44, 14, 342, 336)  # for a telephone: the letters stay as large as on a wide page
SUMMARY = "one_target_summary"

KINDS = {"question": "in the question's language", "answer": "in the answer's", "third": "in a third one"}
GROUPS = {"own": "answers in the question's language", "other": "answers in another language"}
STACKS = (470.0, 350.0)  # widths of the drawing of losses, on a page and on a telephone
ALONE = 860.0  # its width on a page where nothing is beside it
BEFORE, BEHIND, HEAD, LINE = (
    46.0,
    52.0,
    26.0,
    22.0,
)  # margins beside and above its bars, and the height of each bar
LETTER = 1.45  # width of its names, in bold, over that of the names of points

MOST_POINTS = 800  # of the space in one drawing: more make the file large and the drawing no clearer
MOST_DRAWINGS = 12
WIDTH, HEIGHT = 1000, 800  # of a drawing, in its own units: whole numbers keep the paths short
AIR = 30
MARK = 11  # half the side of a question's cross
ROLES = ("candidate", "question")  # in the order they are drawn: questions lie on top

Stack: TypeAlias = Mapping[str, float]  # mean number of irrelevant candidates above an answer, by language


def trade_off(found: Sequence[EncoderViews]) -> Figure | None:
    """Return mAP with an only answer: in the question's language (across), in another (up).

    None where no encoder has both.
    """
    drawn = [one for one in found if None not in (one.number(SUMMARY, "own"), one.number(SUMMARY, "other"))]
    if not drawn:
        return None
    missing = [f"\u2068{one.row.label}\u2069" for one in found if one not in drawn]
    notes = (f"not drawn, a number is missing: {', '.join(missing)}",) if missing else ()
    legend = (
        Key("one answer in the pool; lines: the intervals"),
        Key("no bias; below it, the own language is preferred", frame.line_swatch("diagonal")),
    )
    return frame.fitted(partial(_scatter, drawn, notes), ROOMY, NARROW, legend=legend)


def _scatter(drawn: Sequence[EncoderViews], notes: tuple[str, ...], size: Size) -> Drawing:
    cells = [(one.cell(SUMMARY, "own"), one.cell(SUMMARY, "other")) for one in drawn]
    values = [one.number(SUMMARY, name) for one in drawn for name in ("own", "other")]
    axis = axis_for([*values, *(end for cell in chain(*cells) for end in cell.ends or ())], floor=0.0)
    here = Frame(*size, axis, axis)
    points = []
    for one, (own, other) in zip(drawn, cells, strict=True):
        gap = numbers.number(one.number(SUMMARY, "gap"))
        title = f"\u2068{one.row.label}\u2069: own {own.plain}, other {other.plain}, gap {gap}"
        kind = "leader" if one.row.rank == 1 else "other"
        x, y = (one.number(SUMMARY, name) or 0.0 for name in ("own", "other"))
        points.append(here.point(x, y, title, kind=kind, across=own.ends, up=other.ends))
    diagonal = (here.left, here.bottom, here.right, here.top)
    return frame.scatter(
        here,
        points,
        [one.row.label for one in drawn],
        across="mAP, answer in the question's language",
        up="mAP, answer in another language",
        spoken=f"mAP for answers in other languages against mAP for answers in the question's own language, "
        f"{len(points)} encoders; below the diagonal the own language is preferred",
        lines=[shapes.line(*diagonal, "diagonal")],
        taken=[box for point in points for box in point.whiskers()],
        avoided=_along(*diagonal),
        name="Own language against other languages",
        notes=notes,
    )


def _along(x1: float, y1: float, x2: float, y2: float, steps: int = 60) -> list[Box]:
    """Return small boxes along a line that names are to keep clear of."""
    spots = ((x1 + (x2 - x1) * i / steps, y1 + (y2 - y1) * i / steps) for i in range(steps + 1))
    return [(x - 2, y - 2, x + 2, y + 2) for x, y in spots]


def stacks(one: EncoderViews) -> dict[str, Stack]:
    """Return the irrelevant candidates above own and other answers, each pair of languages counting alike."""
    rows: dict[str, list[Mapping[str, float | None]]] = {group: [] for group in GROUPS}
    for (question, answer), kinds in one.pairs("loss").items():
        rows["own" if question == answer else "other"].append(kinds)
    return {
        group: {kind: fmean(kinds.get(kind) or 0.0 for kinds in own) for kind in KINDS}
        for group, own in rows.items()
        if own
    }


def losses(found: Sequence[EncoderViews], *, alone: bool = False) -> Figure | None:
    """Return where the loss comes from: a bar for each encoder and kind of answer, all on one axis.

    None where no encoder has such numbers. `alone` draws it as wide as the page.
    """
    shown = [(one.row.label, own) for one in found if (own := stacks(one))]
    if not shown:
        return None
    there = {group for _, own in shown for group in own}
    groups = "; ".join(f"{group}: {meaning}" for group, meaning in GROUPS.items() if group in there)
    swatches = {kind: Drawing((shapes.rect(1, 1, 12, 10, f"part {kind}"),), 12, 14, "") for kind in KINDS}
    legend = [*(Key(name, swatches[kind]) for kind, name in KINDS.items()), Key(groups)]
    roomy, narrow = STACKS
    sizes = (ALONE if alone else roomy, narrow)
    return frame.fitted(partial(_bars, shown), *sizes, legend=tuple(legend), style="losses")


def _bars(shown: Sequence[tuple[str, Mapping[str, Stack]]], width: float) -> Drawing:
    axis = axis_for([0.0, *(sum(stack.values()) for _, own in shown for stack in own.values())], floor=0.0)
    right = width - BEHIND
    at = [(round(BEFORE + (right - BEFORE) * place / 100, 1), name) for place, name in axis.labels()]
    drawn = [shapes.text(x, 12, name, "tick", anchor="middle") for x, name in at]
    y, spoken_parts = HEAD - 8, []
    for label, own in shown:
        y += HEAD
        drawn.append(_head(label, y - 7, width))
        for group, stack in own.items():
            parts = _parts(stack, axis, y, right)
            drawn += [*(shapes.line(x, y, x, y + LINE, "grid") for x, _ in at), *parts]
            drawn.append(shapes.text(0, y + 15, group, "stack-name"))
            drawn.append(shapes.text(width, y + 15, amount(sum(stack.values())), "stack-total", anchor="end"))
            counts = ", ".join(part.title for part in parts) or "none above"
            spoken_parts.append(f"{label}, {GROUPS[group]}: {counts}")
            y += LINE
    note = "Irrelevant candidates above an answer, mean number; each pair of languages counts the same."
    spoken = f"irrelevant candidates above an answer, by their language: {'; '.join(spoken_parts)}"
    name = "Where the loss comes from"
    return Drawing(tuple(drawn), y + 6, width, spoken=spoken, name=name, notes=(note,))


def _parts(stack: Stack, axis: Axis, y: float, right: float) -> list[Shape]:
    """Return the parts of one bar, one behind the other."""
    drawn, start = [], 0.0
    for kind, value in stack.items():
        left, end = (BEFORE + (right - BEFORE) * axis.at(place) / 100 for place in (start, start + value))
        start += value
        if value > 0:
            size = (round(left, 2), y + 3, round(end - left, 2), LINE - 6)
            drawn.append(shapes.rect(*size, f"part {kind}", title=f"{amount(value)} {KINDS[kind]}"))
    return drawn


def _head(name: str, y: float, width: float) -> Shape:
    """Return the name of an encoder over its bars, cut with "…" where it is too long (whole on hover)."""
    cut = name
    while len(cut) > 1 and LETTER * labels.width_of(cut) > width:
        cut = f"{cut.removesuffix('…')[:-1]}…"
    head = shapes.text(0, y, cut, "stack-head")
    return head if cut == name else replace(head, title=name)


def space(runs: Sequence[Results], found: Sequence[EncoderViews]) -> list[Block]:
    """Return questions and candidates of two languages as points (Figure 5): a drawing for each encoder."""
    own = tables_of(runs, found, "points")
    if not own:
        return []
    languages = list(dict.fromkeys(row["language"] for _, rows in own for row in rows))
    shown, left_out = own[:MOST_DRAWINGS], len(own) - MOST_DRAWINGS
    keys = [
        Key(f"{tag}, {role}s", Drawing((_cloud(role, [(7, 7)], languages, tag, 5),), 14, 14, "space key"))
        for tag in languages
        for role in reversed(ROLES)
    ]
    about = (
        "Questions and candidates, drawn along the two directions in which they differ most. Where languages "
        "form clouds of their own, the vectors hold the language beside the meaning."
    )
    if any(len(rows) > MOST_POINTS for _, rows in shown):
        about += " An even part of the points is shown."
    more = f"{left_out} more encoder{' is' if left_out == 1 else 's are'} not drawn."
    return [
        Heading("The space in two dimensions"),
        Prose(about, "about close"),
        Group("spaces", [Figure(_points(one.row.label, rows, languages)) for one, rows in shown]),
        Legend(tuple(keys)),
        *([Prose(more, "note-line")] if left_out > 0 else []),
    ]


def _points(label: str, rows: Sequence[Mapping[str, Any]], languages: Sequence[str]) -> Drawing:
    """Return the drawing of an encoder: an even part of its points, centred, with one scale both ways."""
    groups: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for row in rows:
        groups.setdefault((row["role"], row["language"]), []).append((row["x"], row["y"]))
    most = max(1, MOST_POINTS // len(groups))
    for key, own in groups.items():
        if len(own) > most:
            groups[key] = [own[i * len(own) // most] for i in range(most)]
    xs, ys = zip(*chain(*groups.values()), strict=True)
    left, top = (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2
    spans = ((WIDTH, max(xs) - min(xs)), (HEIGHT, max(ys) - min(ys)))
    scale = min(((side - 2 * AIR) / span for side, span in spans if span > 0), default=1.0)
    clouds = []
    for role, language in product(ROLES, languages):
        places = groups.get((role, language), [])
        spots = [
            (round(WIDTH / 2 + (x - left) * scale), round(HEIGHT / 2 - (y - top) * scale)) for x, y in places
        ]
        clouds += [_cloud(role, spots, languages, language)] if spots else []
    here = [language for language in languages if any(key[1] == language for key in groups)]
    spoken = f"{label}: vectors of {' and '.join(here)} in two dimensions"
    return Drawing(tuple(clouds), HEIGHT, WIDTH, "space", spoken, label)


def _cloud(
    role: str, spots: Iterable[tuple[int, int]], languages: Sequence[str], language: str, mark: int = MARK
) -> Shape:
    """Return dots (lines of no length with round ends), for questions crosses, in the language's colour."""
    if role == "question":
        path = "".join(f"M{x - mark} {y}h{2 * mark}M{x} {y - mark}v{2 * mark}" for x, y in spots)
    else:
        path = "".join(f"M{x} {y}h0" for x, y in spots)
    return shapes.path(path, f"s{languages.index(language) % 4} {role}")
