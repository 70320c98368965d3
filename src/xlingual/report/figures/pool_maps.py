"""Heat maps of a multilingual pool: question by answer language, all encoders on one colour scale."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import permutations
from statistics import fmean
from typing import Any

from xlingual.languages import named
from xlingual.report import numbers
from xlingual.report.blocks import STEPS, Heat, HeatMap, Matrix
from xlingual.report.pool_views import (
    EncoderViews,
    Pair,
    languages_of,
    question_and_answer_languages,
    share,
    times,
)
from xlingual.results import Interval
from xlingual.tasks import Task

BY_PAIR = "question ↓\nanswer →"
OWN_LANGUAGE = "the question's own language"
SHARES, RATIOS = "language_share_top100", "language_share_ratio_top100"
LEAST_REACH = 1.25  # of the scale of ratios: smaller deviations stay pale
ROUNDING = 1e-9
MEAN = "mean"
FEW_COLUMNS = 8
MANY_COLUMNS = 10  # from here on two maps in a row would both be cut
SHOWN = 6  # maps; those of further encoders are folded


def one_target(found: Sequence[EncoderViews]) -> Matrix | None:
    """Return Figure 4: mAP by question and answer language where that answer is the only one in the pool."""
    return _by_pair(
        found,
        "one_target",
        lambda pair: f"question in {named(pair[0])}, answer in {named(pair[1])}",
        title="One target only",
        about="mAP by the question's language (rows) and the language of the only answer in the pool "
        "(columns).",
        framed=OWN_LANGUAGE,
        scale="mAP",
    )


def found_among(found: Sequence[EncoderViews]) -> Matrix | None:
    """Return what share of the answers is among the first k, by question and answer language."""
    cuts = "/".join(dict.fromkeys(one.cut for one in found if one.cut))
    return _by_pair(
        found,
        "found",
        lambda pair: f"question in {named(pair[0])}, answer in {named(pair[1])}",
        title=f"Found among the first {cuts}",
        about="Share of the answers in a language (columns) that are among the first candidates of questions "
        "in a language (rows).",
        framed=OWN_LANGUAGE,
        scale="found",
    )


def weak_alignment(found: Sequence[EncoderViews]) -> Matrix | None:
    """Return P@1 by question language and the one language that is searched."""
    return _by_pair(
        found,
        "weak_alignment",
        lambda pair: f"question in {named(pair[0])}, candidates in {named(pair[1])} alone",
        title="Weak alignment",
        about="Share of the questions in a language (rows) whose nearest candidate in one language (columns) "
        "is an answer, candidates of other languages left aside.",
        framed=OWN_LANGUAGE,
        scale="P@1",
    )


def strong_alignment(found: Sequence[EncoderViews]) -> Matrix | None:
    """Return how often answers in a language are before wrong candidates in the question's language."""
    return _by_pair(
        found,
        "strong_alignment",
        lambda pair: f"answer in {named(pair[1])}, wrong candidate and question in {named(pair[0])}",
        within=(0.5,),
        title="Strong alignment",
        about="Share of pairs of an answer in a language (columns) and a wrong candidate in the question's "
        "language (rows) where the answer is nearer to the question. 0.5 is chance.",
        framed="the answer is in that language too",
        scale="pairs in order",
    )


def shares(found: Sequence[EncoderViews]) -> Matrix | None:
    """Return Figure 6: the shares of languages among the best candidates, each row summing to 1."""
    values = [one.pairs(SHARES) for one in found]
    most = max(_known(values), default=None)
    if most is None:
        return None

    def cell(one: EncoderViews, pair: Pair, value: float) -> Heat:
        text = numbers.number(100 * value, digits=1 if value < 0.0995 else 0)
        ci = one.interval(SHARES, "->".join(pair))
        title = f"{_pair_text(pair)}: {share(value, ci).plain}"
        return _heat(value, ci, text, title, value / most if most > 0 else 0.0)

    tops = [int(top) for one in found if (top := one.number("top")) is not None]
    return _matrix(
        _drawn(found, values, cell),
        title=f"Languages of the {numbers.span(tops) if tops else '100'} best candidates",
        about="The share of each language (columns) among the best candidates for questions in a language "
        "(rows), in percent; each row sums to 100.",
        framed=OWN_LANGUAGE,
        scale="share",
        ends=("0 %", numbers.percent(most)),
    )


def ratios(found: Sequence[EncoderViews]) -> Matrix | None:
    """Return Figure 6 divided by each language's share of the pool; 1 is no bias.

    The scale of the colours ends at the number of languages, both ways: one that hardly ever occurs would
    stretch it until all others look alike.
    """
    values = [one.pairs(RATIOS) for one in found]
    known = [value for value in _known(values) if value]
    if not known:
        return None
    low, high = min(known), max(known)
    reach = max(LEAST_REACH, min(max(high, 1 / low), len(languages_of(found))))
    end = f"{reach:.0f}" if float(reach).is_integer() else times(reach)
    at_most = "≤ " if 0 in _known(values) or low * reach < 1 - ROUNDING else ""
    at_least = "≥ " if high > reach * (1 + ROUNDING) else ""

    def cell(_: EncoderViews, pair: Pair, value: float) -> Heat:
        place = -1.0 if value <= 0 else min(1.0, max(-1.0, math.log(value) / math.log(reach)))
        title = f"{_pair_text(pair)}: {numbers.number(value, digits=2)} times"
        return _heat(value, None, times(value), title, (1 + place) / 2)

    return _matrix(
        _drawn(found, values, cell),
        title="The same against the languages' shares of the pool",
        about="How many times its share of the pool a language (columns) takes among the best candidates. "
        "1 is no bias.",
        scale="times its share of the pool",
        ends=(f"{at_most}1/{end}", "1", f"{at_least}{end}"),
        hue="d",
    )


def identification(found: Sequence[EncoderViews]) -> Matrix | None:
    """Return how well a linear model separates each pair of languages, from chance (pale) to always."""
    keys = {id(one): _identified(one) for one in found}
    chances = [c for one in found for name, c in one.mapping("language_id_chance").items() if name != "all"]
    return _by_value(
        found,
        [{p: one.mapping("language_id_accuracy")[key] for p, key in keys[id(one)].items()} for one in found],
        lambda one, pair: one.interval("language_id_accuracy", keys[id(one)][pair]),
        lambda pair: f"{named(pair[0])}, {named(pair[1])}",
        within=(*chances, 1.0),
        title="Language identification",
        titled=False,  # the fold has it
        about="Accuracy of a linear model that separates two languages by the vectors of texts it was not "
        "fitted on.",
        scale="accuracy",
        corner="",
    )


def _identified(one: EncoderViews) -> dict[Pair, str]:
    """Return the key of each pair, either way round: "de-en", or "de:zh-Hant" where a tag has a hyphen."""
    accuracy = one.mapping("language_id_accuracy")
    between = ":" if any(":" in key for key in accuracy) else "-"
    spelt = [(pair, between.join(pair)) for pair in permutations(one.languages, 2)]
    return {p: key for pair, key in spelt if key in accuracy for p in (pair, pair[::-1])}


def by_question(found: Sequence[EncoderViews], task: Task) -> Matrix | None:
    """Return mAP by question language over the pool and in monolingual pools."""
    views = (
        ("by_question_language", "macro", "Pool of all languages"),
        ("monolingual_pool", "monolingual_pool_average", "Monolingual pools"),
    )
    about = "for questions in each language: over the pool of all languages"
    return by_language(found, task, views, "By question language", about, "question")


def by_language(
    found: Sequence[EncoderViews],
    task: Task,
    views: Sequence[tuple[str, str, str]],
    title: str,
    about: str,
    asked: str,
) -> Matrix | None:
    """Return views by language (name, name of their mean, label), one map each: encoders as rows."""
    shown = [view for view in views if any(one.mapping(view[0]) for one in found)]
    measured = _known(one.mapping(name) for name, _, _ in shown for one in found)
    if not measured:
        return None
    languages = languages_of(found)
    cell, ends = _scaled(measured)
    maps = []
    for name, mean, label in shown:
        lines = []
        for one in (one for one in found if one.mapping(name)):
            values, average = one.mapping(name), one.number(mean)
            if average is None:
                average = fmean(known) if (known := _known([values])) else None
            cells = [cell(values.get(tag), named(tag), one.interval(name, tag)) for tag in languages]
            lines.append((one.row.label, [cell(average, MEAN, one.interval(mean)), *cells]))
        maps.append(HeatMap(label, [MEAN, *languages], lines))
    measure = task.measure_name(found[0].row.measure)
    alone = f", and with candidates of the {asked}'s language only." if len(shown) > 1 else "."
    return _matrix(
        maps,
        title=title,
        about=f"{measure} {about}{alone}",
        scale=measure,
        ends=ends,
        corner="",
    )


def _by_pair(
    found: Sequence[EncoderViews], view: str, name: Callable[[Pair], str], **more: Any  # noqa: ANN401
) -> Matrix | None:  # fmt: skip
    """Return one map of a view by question and answer language for each encoder that has it."""
    values = [one.pairs(view) for one in found]
    return _by_value(found, values, lambda one, pair: one.interval(view, "->".join(pair)), name, **more)


def _by_value(
    found: Sequence[EncoderViews],
    values: Sequence[Mapping[Pair, float | None]],
    interval: Callable[[EncoderViews, Pair], Interval | None],
    name: Callable[[Pair], str],
    *,
    within: Iterable[float | None] = (),
    **more: Any,  # noqa: ANN401  (fields of a matrix)
) -> Matrix | None:
    """Return one map for each encoder that has values, on a scale from the least to the most of them all."""
    known = _known(values)
    if not known:
        return None
    cell, ends = _scaled(known, within)
    drawn = _drawn(found, values, lambda one, pair, value: cell(value, name(pair), interval(one, pair)))
    return _matrix(drawn, ends=ends, **more)


def _scaled(
    values: Sequence[float], within: Iterable[float | None] = ()
) -> tuple[Callable[[float | None, str, Interval | None], Heat | None], tuple[str, str]]:
    """Return a function from a value, its name and interval to a cell, and the ends of the scale.

    Cells have two decimals, or three where half of the values or more are small.
    """
    ends = [*values, *(value for value in within if value is not None)]
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
    found: Sequence[EncoderViews],
    values: Sequence[Mapping[Pair, float | None]],
    cell: Callable[[EncoderViews, Pair, float], Heat | None],
) -> list[HeatMap]:
    """Return a map for each encoder that has values, all with the rows and columns that any of them has."""
    questions_in, answers_in = question_and_answer_languages(
        languages_of(found), {pair for own in values for pair in own}
    )

    def line(one: EncoderViews, own: Mapping[Pair, float | None], question: str) -> list[Heat | None]:
        known = [((question, tag), own.get((question, tag))) for tag in answers_in]
        return [None if value is None else cell(one, pair, value) for pair, value in known]

    both = [(one, own) for one, own in zip(found, values, strict=True) if own]
    return [
        HeatMap(one.row.label, answers_in, [(tag, line(one, own, tag)) for tag in questions_in])
        for one, own in both
    ]


def _pair_text(pair: Pair) -> str:
    return f"questions in {named(pair[0])}, candidates in {named(pair[1])}"


def _known(values: Iterable[Mapping[Any, float | None]]) -> list[float]:
    return [value for own in values for value in own.values() if value is not None]
