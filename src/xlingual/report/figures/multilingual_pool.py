"""Figures of a multilingual pool: heat maps by question and answer language, and the space in two dimensions.

All maps of a view are on one colour scale.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, permutations, product
from statistics import fmean
from typing import Any, NamedTuple

from xlingual.languages import named
from xlingual.report import numbers, shapes
from xlingual.report.blocks import STEPS, Block, Figure, Group, Heading, Heat, HeatMap, Legend, Matrix, Prose
from xlingual.report.pool_views import (
    EncoderViews,
    Pair,
    languages_of,
    question_and_answer_languages,
    share,
    tables_of,
    times,
)
from xlingual.report.shapes import Drawing, Shape
from xlingual.report.table import Key
from xlingual.results import Interval, Results
from xlingual.tasks import Task

BY_PAIR = "question ↓\nanswer →"
OWN_LANGUAGE = "the question's own language"
SHARES, RATIOS = "language_share_top100", "language_share_ratio_top100"
MEAN = "mean"
FEW_COLUMNS = 8
MANY_COLUMNS = 10  # from here on two maps in a row would both be cut
SHOWN = 6  # maps; those of further encoders are folded

MOST_POINTS = 800  # of the space in one drawing: more make the file large and the drawing no clearer
MOST_DRAWINGS = 12
WIDTH, HEIGHT = 1000, 800  # of a drawing, in its own units: whole numbers keep the paths short
AIR = 30
MARK = 11  # half the side of a question's cross
ROLES = ("candidate", "question")  # in the order they are drawn: questions lie on top


class View(NamedTuple):
    """A view by question and answer language, as its map says it."""

    title: str
    about: str
    cell: str  # what a cell is of
    scale: str
    framed: str = OWN_LANGUAGE
    within: tuple[float, ...] = ()  # values that the colours hold in any case


VIEWS = {
    "one_target": View(  # Figure 4
        "One target only",
        "mAP by the question's language (rows) and the language of the only answer in the pool (columns).",
        "question in {0}, answer in {1}",
        "mAP",
    ),
    "found": View(
        "Found among the first {cut}",
        "Share of the answers in a language (columns) that are among the first candidates of questions in a "
        "language (rows).",
        "question in {0}, answer in {1}",
        "found",
    ),
    "weak_alignment": View(
        "Weak alignment",
        "Share of the questions in a language (rows) whose nearest candidate in one language (columns) is an "
        "answer, candidates of other languages left aside.",
        "question in {0}, candidates in {1} alone",
        "P@1",
    ),
    "strong_alignment": View(
        "Strong alignment",
        "Share of pairs of an answer in a language (columns) and a wrong candidate in the question's "
        "language (rows) where the answer is nearer to the question. 0.5 is chance.",
        "answer in {1}, wrong candidate and question in {0}",
        "pairs in order",
        "the answer is in that language too",
        (0.5,),
    ),
}


def by_pair(encoders: Sequence[EncoderViews], view: str) -> Matrix | None:
    """Return one map of a view by question and answer language for each encoder that has it."""
    values = [encoder.pairs(view) for encoder in encoders]
    known = _known(values)
    if not known:
        return None
    words = VIEWS[view]
    cell, ends = _scaled(known, words.within)

    def heat(encoder: EncoderViews, pair: Pair, value: float) -> Heat | None:
        return cell(value, words.cell.format(*map(named, pair)), encoder.interval(view, "->".join(pair)))

    cuts = "/".join(dict.fromkeys(encoder.cut for encoder in encoders if encoder.cut))
    title, more = words.title.format(cut=cuts), {"about": words.about, "scale": words.scale}
    return _matrix(_drawn(encoders, values, heat), title=title, framed=words.framed, ends=ends, **more)


def shares(encoders: Sequence[EncoderViews]) -> Matrix | None:
    """Return Figure 6: the shares of languages among the best candidates, each row summing to 1.

    On hover a cell says how many times its share of the pool that is.
    """
    values = [encoder.pairs(SHARES) for encoder in encoders]
    most = max(_known(values), default=None)
    if most is None:
        return None

    def heat(encoder: EncoderViews, pair: Pair, value: float) -> Heat:
        text, ci = (
            numbers.number(100 * value, digits=1 if value < 0.0995 else 0),
            encoder.interval(SHARES, "->".join(pair)),
        )
        ratio = encoder.number(RATIOS, "->".join(pair))
        beside = "" if ratio is None else f", {times(ratio)} times its share of the pool"
        of_pair = f"questions in {named(pair[0])}, candidates in {named(pair[1])}"
        title = f"{of_pair}: {share(value, ci).plain}{beside}"
        return _heat(value, ci, text, title, value / most if most > 0 else 0.0)

    tops = [int(top) for encoder in encoders if (top := encoder.number("top")) is not None]
    return _matrix(
        _drawn(encoders, values, heat),
        title=f"Languages of the {numbers.span(tops) if tops else '100'} best candidates",
        about="The share of each language (columns) among the best candidates for questions in a language "
        "(rows), in percent; each row sums to 100.",
        framed=OWN_LANGUAGE,
        scale="share",
        ends=("0 %", numbers.percent(most)),
    )


def identification(encoders: Sequence[EncoderViews]) -> Matrix | None:
    """Return how well a linear model separates each pair of languages, from chance (pale) to always."""
    keys = {id(encoder): _identified(encoder) for encoder in encoders}
    values = [
        {pair: encoder.number("language_id_accuracy", key) for pair, key in keys[id(encoder)].items()}
        for encoder in encoders
    ]
    chances = [
        value
        for encoder in encoders
        for name, value in encoder.mapping("language_id_chance").items()
        if name != "all" and value is not None
    ]
    known = _known(values)
    if not known:
        return None
    cell, ends = _scaled(known, (*chances, 1.0))

    def heat(encoder: EncoderViews, pair: Pair, value: float) -> Heat | None:
        ci = encoder.interval("language_id_accuracy", keys[id(encoder)][pair])
        return cell(value, f"{named(pair[0])}, {named(pair[1])}", ci)

    return _matrix(
        _drawn(encoders, values, heat),
        title="Language identification",
        titled=False,  # the fold has it
        about="Accuracy of a linear model that separates two languages by the vectors of texts it was not "
        "fitted on.",
        scale="accuracy",
        corner="",
        ends=ends,
    )


def _identified(encoder: EncoderViews) -> dict[Pair, str]:
    """Return the key of each pair, either way round: "de-en", or "de:zh-Hant" where a tag has a hyphen."""
    accuracy = encoder.mapping("language_id_accuracy")
    between = ":" if any(":" in key for key in accuracy) else "-"
    spelt = [(pair, between.join(pair)) for pair in permutations(encoder.languages, 2)]
    return {p: key for pair, key in spelt if key in accuracy for p in (pair, pair[::-1])}


def by_language(
    encoders: Sequence[EncoderViews], task: Task, views: Sequence[tuple[str, str, str]], asked: str
) -> Matrix | None:
    """Return views by language (name, name of their mean, label), one map each: encoders as rows.

    `asked` is what a query is called.
    """
    shown = [view for view in views if any(encoder.mapping(view[0]) for encoder in encoders)]
    measured = _known(encoder.mapping(name) for name, _, _ in shown for encoder in encoders)
    if not measured:
        return None
    languages = languages_of(encoders)
    cell, ends = _scaled(measured)
    maps = []
    for name, mean, label in shown:
        lines = []
        for encoder in (encoder for encoder in encoders if encoder.mapping(name)):
            values, average = encoder.mapping(name), encoder.number(mean)
            if average is None:
                average = fmean(known) if (known := _known([values])) else None
            cells = [cell(values.get(tag), named(tag), encoder.interval(name, tag)) for tag in languages]
            lines.append((encoder.row.label, [cell(average, MEAN, encoder.interval(mean)), *cells]))
        maps.append(HeatMap(label, [MEAN, *languages], lines))
    measure = task.measure_name(encoders[0].row.measure)
    alone = f", and with candidates of the {asked}'s language only" if len(shown) > 1 else ""
    about = f"{measure} of each {asked} language, among the candidates of all languages{alone}."
    return _matrix(maps, title=f"By {asked} language", about=about, scale=measure, ends=ends, corner="")


def _scaled(
    values: Sequence[float], within: Iterable[float] = ()
) -> tuple[Callable[[float | None, str, Interval | None], Heat | None], tuple[str, str]]:
    """Return a function from a value, its name and interval to a cell, and the ends of the scale.

    Cells have two decimals, or three where half of the values or more are small.
    """
    ends = [*values, *within]
    low, high = min(ends), max(ends)
    digits = 3 if sorted(values)[len(values) // 2] < 0.1 else 2

    def cell(value: float | None, name: str, ci: Interval | None) -> Heat | None:
        if value is None:
            return None
        place = (value - low) / (high - low) if high > low else 0.5
        title = f"{name}: {numbers.with_interval(value, ci)}"
        return _heat(value, ci, numbers.number(value), title, place, numbers.number(value, digits=digits))

    return cell, (numbers.number(low), numbers.number(high))


def _heat(
    value: float, ci: Interval | None, text: str, title: str, place: float, short: str | None = None
) -> Heat:
    step, ends = round(place * (STEPS - 1)), None if ci is None else (ci.low, ci.high)
    return Heat(text, text if short is None else short, title, step, value, ends)


def _matrix(maps: Sequence[HeatMap], **more: Any) -> Matrix:  # noqa: ANN401  (its fields)
    """Return maps in a layout: "free" has names as rows, "wide" room for two in a row, "single" for one."""
    columns = maps[0].columns
    styles = {
        "close": True,
        "free": MEAN in columns[:1],
        "wide": len(columns) > FEW_COLUMNS,
        "single": len(columns) >= MANY_COLUMNS,
    }
    style = " ".join(name for name, has in styles.items() if has)
    return Matrix(maps, style=style, shown=SHOWN, where="written", **({"corner": BY_PAIR} | more))


def _drawn(
    encoders: Sequence[EncoderViews],
    values: Sequence[Mapping[Pair, float | None]],
    heat: Callable[[EncoderViews, Pair, float], Heat | None],
) -> list[HeatMap]:
    """Return a map for each encoder that has values, all with the rows and columns that any of them has."""
    tags = languages_of(encoders)
    questions_in, answers_in = question_and_answer_languages(tags, {p for each in values for p in each})

    def line(encoder: EncoderViews, table: Mapping[Pair, float | None], tag: str) -> list[Heat | None]:
        known = [((tag, answer), table.get((tag, answer))) for answer in answers_in]
        return [None if value is None else heat(encoder, pair, value) for pair, value in known]

    return [
        HeatMap(encoder.row.label, answers_in, [(tag, line(encoder, table, tag)) for tag in questions_in])
        for encoder, table in zip(encoders, values, strict=True)
        if table
    ]


def _known(values: Iterable[Mapping[Any, float | None]]) -> list[float]:
    return [value for table in values for value in table.values() if value is not None]


def space(runs: Sequence[Results], encoders: Sequence[EncoderViews]) -> list[Block]:
    """Return questions and candidates of two languages as points (Figure 5): a drawing for each encoder."""
    tables = tables_of(runs, encoders, "points")
    if not tables:
        return []
    languages = list(dict.fromkeys(row["language"] for _, rows in tables for row in rows))
    shown, left_out = tables[:MOST_DRAWINGS], len(tables) - MOST_DRAWINGS
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
        Group("spaces", [Figure(_points(encoder.row.label, rows, languages)) for encoder, rows in shown]),
        Legend(tuple(keys)),
        *([Prose(more, "note-line")] if left_out > 0 else []),
    ]


def _points(label: str, rows: Sequence[Mapping[str, Any]], languages: Sequence[str]) -> Drawing:
    """Return the drawing of an encoder: an even part of its points, centred, with one scale both ways."""
    groups: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for row in rows:
        groups.setdefault((row["role"], row["language"]), []).append((row["x"], row["y"]))
    most = max(1, MOST_POINTS // len(groups))
    for key, spots in groups.items():
        if len(spots) > most:
            groups[key] = [spots[i * len(spots) // most] for i in range(most)]
    xs, ys = zip(*chain(*groups.values()), strict=True)
    left, top = (min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2
    spans = ((WIDTH, max(xs) - min(xs)), (HEIGHT, max(ys) - min(ys)))
    scale = min(((side - 2 * AIR) / span for side, span in spans if span > 0), default=1.0)
    clouds = []
    for role, language in product(ROLES, languages):
        at = [
            (round(WIDTH / 2 + (x - left) * scale), round(HEIGHT / 2 - (y - top) * scale))
            for x, y in groups.get((role, language), ())
        ]
        clouds += [_cloud(role, at, languages, language)] if at else []
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
