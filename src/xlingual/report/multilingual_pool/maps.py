"""Heat maps of a multilingual pool: question by answer language, all encoders on one colour scale."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from statistics import fmean

from xlingual.languages import named
from xlingual.report import numbers, words
from xlingual.report.multilingual_pool import wording
from xlingual.report.multilingual_pool.reading import TASK, Pair, Seen, languages_of, sides_of
from xlingual.report.plots import STEPS, Cell, HeatMap

BY_PAIR = "question ↓\nanswer →"
LEAST_REACH = 1.25  # of the scale of ratios: smaller deviations stay pale
ROUNDING = 1e-9
MEAN = "mean"
FEW_COLUMNS = 8
MANY_COLUMNS = 10  # from here on two maps in a row would both be cut


@dataclass(frozen=True)
class Maps:
    """Heat maps that share a scale: of one hue ("h"), or of two that meet at 1 ("d")."""

    title: str
    about: str
    scale: str  # what the colours show
    ends: tuple[str, ...]  # at the first and the last colour, with the middle between them for two hues
    hue: str
    corner: str
    maps: list[HeatMap]

    @property
    def style(self) -> str:
        """The layout: "free" has names as rows; "wide" has no room for three in a row, "single" for two."""
        first = self.maps[0]
        free = first.targets[:1] == [MEAN]
        wide = len(first.targets) > FEW_COLUMNS
        single = len(first.targets) >= MANY_COLUMNS
        styles = (("free", free), ("wide", wide), ("single", single))
        return " ".join(name for name, has in styles if has)


def one_target(found: Sequence[Seen]) -> Maps | None:
    """Return Figure 4: mAP by question and answer language where that answer is the only one in the pool."""
    values = {i: one.pairs("one_target") for i, one in enumerate(found)}
    return _sequential(
        found,
        values,
        title="One target only",
        about="mAP by the question's language (rows) and the language of the only answer in the pool "
        "(columns). Framed: the question's own language.",
        scale="mAP",
        title_of=lambda one, pair: numbers.interval(one.interval("one_target", "->".join(pair))),
    )


def shares(found: Sequence[Seen]) -> Maps | None:
    """Return Figure 6: the shares of languages among the best candidates, each row summing to 1."""
    values = {i: one.pairs("language_share_top100") for i, one in enumerate(found)}
    held = [value for own in values.values() for value in own.values() if value is not None]
    if not held:
        return None
    most = max(held)

    def cell(i: int, pair: Pair) -> Cell | None:
        value = values[i].get(pair)
        if value is None:
            return None
        text = numbers.number(100 * value, digits=1 if value < 0.0995 else 0)
        ci = found[i].interval("language_share_top100", "->".join(pair))
        title = f"{_asked_and_found(pair)}: {wording.share_interval(value, ci)}"
        return Cell(text, text, title, round((value / most if most > 0 else 0.0) * (STEPS - 1)))

    return Maps(
        title=f"Languages of the {_top(found)} best candidates",
        about="The share of each language (columns) among the best candidates for questions in a language "
        "(rows), in percent; each row sums to 100. Framed: the question's own language.",
        scale="share",
        ends=("0 %", numbers.percent(most)),
        hue="h",
        corner=BY_PAIR,
        maps=_drawn(found, values, cell),
    )


def ratios(found: Sequence[Seen]) -> Maps | None:
    """Return Figure 6 divided by each language's share of the pool; 1 is no bias.

    The scale of the colours ends at the number of languages, both ways: one that hardly ever occurs would
    stretch it until all others look alike.
    """
    values = {i: one.pairs("language_share_ratio_top100") for i, one in enumerate(found)}
    known = [value for own in values.values() for value in own.values() if value]
    if not known:
        return None
    low, high = min(known), max(known)
    reach = max(LEAST_REACH, min(max(high, 1 / low), len(languages_of(found))))

    end = f"{reach:.0f}" if float(reach).is_integer() else wording.times(reach)
    zero = any(value == 0 for own in values.values() for value in own.values())
    beyond_low, beyond_high = zero or low * reach < 1 - ROUNDING, high > reach * (1 + ROUNDING)

    def cell(i: int, pair: Pair) -> Cell | None:
        value = values[i].get(pair)
        if value is None:
            return None
        place = -1.0 if value <= 0 else min(1.0, max(-1.0, math.log(value) / math.log(reach)))
        text = wording.times(value)
        title = f"{_asked_and_found(pair)}: {numbers.number(value, digits=2)} times"
        return Cell(text, text, title, round((1 + place) / 2 * (STEPS - 1)))

    return Maps(
        title="The same against the languages' shares of the pool",
        about="How many times its share of the pool a language (columns) takes among the best candidates. "
        "1 is no bias.",
        scale="times its share of the pool",
        ends=(("≤ " if beyond_low else "") + f"1/{end}", "1", ("≥ " if beyond_high else "") + end),
        hue="d",
        corner=BY_PAIR,
        maps=_drawn(found, values, cell),
    )


def identification(found: Sequence[Seen]) -> Maps | None:
    """Return how well a linear model tells each pair of languages apart, from chance (pale) to always."""
    values = {
        i: {pair: one.mapping("language_id_accuracy")[key] for pair, key in _identified(one).items()}
        for i, one in enumerate(found)
    }
    chances = [
        c
        for one in found
        for name, c in one.mapping("language_id_chance").items()
        if name != "all" and c is not None
    ]
    return _sequential(
        found,
        values,
        title="Language identification, pair by pair",
        about="Accuracy of a linear model that tells two languages apart by the vectors of texts it was not "
        "fitted on.",
        scale="accuracy",
        title_of=lambda one, pair: numbers.interval(
            one.interval("language_id_accuracy", _identified(one)[pair])
        ),
        floor=min(chances, default=None),
        ceiling=1.0,
        corner="",
    )


def _identified(one: Seen) -> dict[Pair, str]:
    """Return the key of each pair, either way round: "de-en", or "de:zh-Hant" where a tag has a hyphen."""
    accuracy = one.mapping("language_id_accuracy")
    between = ":" if any(":" in key for key in accuracy) else "-"
    named = [(pair, between.join(pair)) for pair in permutations(one.languages, 2)]
    return {p: key for pair, key in named if key in accuracy for p in (pair, pair[::-1])}


def by_question(found: Sequence[Seen]) -> Maps | None:
    """Return mAP by question language over the pool and in monolingual pools: encoders as rows."""
    views = (
        ("by_question_language", "macro", "Pool of all languages"),
        ("monolingual_pool", "monolingual_pool_average", "Monolingual pools"),
    )
    shown = [view for view in views if any(one.mapping(view[0]) for one in found)]
    held = [value for name, _, _ in shown for one in found for value in one.mapping(name).values()]
    ends = _ends(held)
    if ends is None:
        return None
    digits = _digits(held)
    measure = words.measure_name(TASK, next(one.row.measure for one in found))
    maps = []
    for name, mean, label in shown:
        lines = []
        for one in found:
            values: dict[str, float | None] = dict(one.mapping(name))
            if not values:
                continue
            average = one.number(mean)
            known = [value for value in values.values() if value is not None]
            values[MEAN] = average if average is not None or not known else fmean(known)
            intervals = {lang: one.interval(name, lang) for lang in values} | {MEAN: one.interval(mean)}
            cells = []
            for lang in (MEAN, *languages_of(found)):
                spoken = MEAN if lang == MEAN else named(lang)
                text = numbers.interval(intervals.get(lang))
                cells.append(_cell(values.get(lang), ends, f"{spoken}: ", text, digits))
            lines.append((one.row.label, cells))
        maps.append(HeatMap(label, [MEAN, *languages_of(found)], lines))
    return Maps(
        title="By question language",
        about=f"{measure} for questions in each language: over the pool of all languages"
        + (", and with candidates of the question's language only." if len(shown) > 1 else "."),
        scale=measure,
        ends=_texts(ends),
        hue="h",
        corner="",
        maps=maps,
    )


def _sequential(
    found: Sequence[Seen],
    values: Mapping[int, Mapping[Pair, float]],
    *,
    title: str,
    about: str,
    scale: str,
    title_of: Callable[[Seen, Pair], str],
    floor: float | None = None,
    ceiling: float | None = None,
    corner: str = BY_PAIR,
) -> Maps | None:
    """Return one map for each encoder that has values, on a scale from the least to the most of them all."""
    held = [value for own in values.values() for value in own.values()]
    ends = _ends([*held, floor, ceiling] if any(value is not None for value in held) else [])
    if ends is None:
        return None
    digits = _digits(held)

    def cell(i: int, pair: Pair) -> Cell | None:
        if pair not in values[i]:
            return None
        first, second = (named(tag) for tag in pair)
        name = f"question in {first}, answer in {second}: " if corner else f"{first}, {second}: "
        return _cell(values[i][pair], ends, name, title_of(found[i], pair), digits)

    drawn = _drawn(found, values, cell)
    return Maps(title, about, scale, _texts(ends), "h", corner, drawn)


def _drawn(
    found: Sequence[Seen],
    values: Mapping[int, Mapping[Pair, float]],
    cell: Callable[[int, Pair], Cell | None],
) -> list[HeatMap]:
    """Return a map for each encoder that has values, all with the rows and columns that any of them has."""
    pairs = {pair for own in values.values() for pair in own}
    asked_in, answered_in = sides_of(languages_of(found), pairs)
    return [
        HeatMap(
            found[i].row.label, answered_in, [(q, [cell(i, (q, a)) for a in answered_in]) for q in asked_in]
        )
        for i, own in values.items()
        if own
    ]


def _asked_and_found(pair: Pair) -> str:
    return f"questions in {named(pair[0])}, candidates in {named(pair[1])}"


def _cell(
    value: float | None, ends: tuple[float, float], name: str, interval: str, digits: int
) -> Cell | None:
    if value is None:
        return None
    low, high = ends
    share = (value - low) / (high - low) if high > low else 0.5
    title = f"{name}{numbers.number(value)} {interval}".rstrip()
    return Cell(
        numbers.number(value), numbers.number(value, digits=digits), title, round(share * (STEPS - 1))
    )


def _digits(values: Iterable[float | None]) -> int:
    """Return how many decimals cells have: two, or three where half of the values or more are small."""
    known = sorted(value for value in values if value is not None)
    return 3 if known and known[len(known) // 2] < 0.1 else 2


def _ends(values: Iterable[float | None]) -> tuple[float, float] | None:
    known = [value for value in values if value is not None]
    return (min(known), max(known)) if known else None


def _texts(ends: tuple[float, float]) -> tuple[str, str]:
    return numbers.number(ends[0]), numbers.number(ends[1])


def _top(found: Sequence[Seen]) -> str:
    tops = [int(top) for one in found if (top := one.number("top")) is not None]
    return numbers.span(tops) if tops else "100"
