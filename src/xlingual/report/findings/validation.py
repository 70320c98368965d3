"""The verdict on a validation: what it shows, in plain sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xlingual.report import numbers, words
from xlingual.report.blocks import Finding
from xlingual.report.findings import image_quality
from xlingual.report.leaders import contains
from xlingual.results.validation import (
    COEFFICIENTS,
    MEASURES,
    Agreement,
    CoefficientDifference,
    PairValidation,
    Subset,
    Validation,
)

CLOSE = 0.8  # a coefficient whose whole interval lies above it is called close agreement
ALPHA = 0.05
MONTE_CARLO = (
    "The standard error over seeds is Monte Carlo error only: it says how well the mean over these divisions "
    "of the data is known, not how far it would move for other encoders or other items. "
    "The intervals say that."
)
_OVER_ALL = {
    "close": "BkR tracks true retrieval (XLR) closely",
    "positive": "BkR agrees with true retrieval (XLR), how closely is uncertain,",
    "against": "BkR goes against true retrieval (XLR)",
    "open": "Cannot tell whether BkR tracks true retrieval (XLR), since an interval contains zero,",
}
_OVER_PART = {
    "close": "BkR agrees with XLR closely",
    "positive": "BkR agrees with XLR, how closely is uncertain",
    "against": "BkR goes against XLR",
    "open": "cannot tell whether BkR agrees with XLR",
}


def findings(validation: Validation) -> list[Finding]:
    """Return the sentences pair by pair, then those about all."""
    if not validation.pairs:
        return [Finding(["No language pair was validated: whether BkR tracks XLR cannot be told."])]
    several = len(validation.pairs) > 1
    found = [
        Finding(_of_pair(validation, pair), words.pair(pair.source, pair.target) if several else "")
        for pair in validation.pairs
    ]
    rest = _directions(validation)
    if any(_seed_error(pair) for pair in validation.pairs):
        rest.append(MONTE_CARLO)
    return [*found, Finding(rest)] if rest else found


def direction_name(text: str) -> str:
    """Return a direction as a heading names it.

    >>> direction_name("en-de"), direction_name("zh-Hans-de")
    ('en → de', 'zh-Hans-de')
    """
    parts = text.split("-")
    return " → ".join(parts) if len(parts) == 2 else text


def share_text(k: int, n: int) -> str:
    """Return K/N with four decimals; "–" where there is nothing to divide by.

    >>> share_text(10, 1500)
    '0.0067'
    """
    return f"{k / n:.4f}" if n else numbers.MISSING


def _of_pair(validation: Validation, pair: PairValidation) -> list[str]:
    whole = pair.subsets["all"]
    return [
        _tracks(whole),
        *(_over_seeds(pair) if _is_told(whole) else []),
        *_at_1(validation, whole),
        *(_rival(whole, rival) for rival in ("CORR", "SIM")),
        *_order(whole),
        *(_part(pair, name, validation.threshold) for name in ("below", "above")),
        *image_quality.sentences(image_quality.of_pair(validation.degradations, pair), CLOSE),
    ]


def _tracks(whole: Subset) -> str:
    found = _coefficients(whole)
    over = numbers.counted(whole.n_encoders, "encoder")
    if whole.n_families < whole.n_encoders:
        over += f" of {numbers.counted(whole.n_families, 'family', 'families')}"
    if _is_told(whole):
        return f"{_OVER_ALL[_grade(found)]} over {over}: {_values(found)}."
    seen = f" ({_values(found)})" if any(one.value is not None for one in found) else ""
    return words.stop(f"Whether BkR tracks XLR over {over} cannot be told{seen}: {_why(found)}")


def _coefficients(part: Subset) -> list[Agreement]:
    return [part.agreement["BkR"][kind] for kind in COEFFICIENTS]


def _is_told(part: Subset) -> bool:
    """Tell whether BkR's coefficients over these encoders have values and intervals."""
    return all(one.value is not None and one.ci is not None for one in _coefficients(part))


def _why(
    found: Iterable[Agreement | CoefficientDifference], otherwise: str = "no interval was computed"
) -> str:
    return next((one.note for one in found if one.note), otherwise)


def _grade(found: Sequence[Agreement]) -> str:
    """Return how well all coefficients agree, by their intervals: close, positive, against or open."""
    lows = [one.ci.low for one in found if one.ci]
    if min(lows) > 0:
        return "close" if min(lows) > CLOSE else "positive"
    return "against" if max(one.ci.high for one in found if one.ci) < 0 else "open"


def _values(found: Sequence[Agreement]) -> str:
    named = zip(COEFFICIENTS, found, strict=True)
    return numbers.in_words(
        [f"{kind.capitalize()} {numbers.with_interval(one.value, one.ci)}" for kind, one in named]
    )


def _seed_error(pair: PairValidation) -> bool:
    whole = pair.subsets["all"]
    return _is_told(whole) and any(one.se is not None for one in _coefficients(whole))


def _over_seeds(pair: PairValidation) -> list[str]:
    found = pair.subsets["all"].agreement["BkR"]
    values = [
        f"{kind.capitalize()} {numbers.plus_minus(found[kind].mean, found[kind].sd)}"
        for kind in COEFFICIENTS
        if found[kind].mean is not None
    ]
    if not values:
        return []
    size = f"N = {numbers.count(pair.n_source)}, K/N = {share_text(pair.k, pair.n_source)}"
    if pair.n_seeds == 1:
        return [f"It rests on one seed ({size}): how far the division of the data moves it is not known."]
    return [
        f"Seed by seed it is {numbers.in_words(values)} "
        f"(mean ± standard deviation over {pair.n_seeds} seeds, {size})."
    ]


def _at_1(validation: Validation, whole: Subset) -> list[str]:
    """Return the agreement of BkR with XLR at K = 1, where encoders that are all near 1 at K differ."""
    found = [one for one in whole.agreement_at_1.get("BkR", {}).values() if one.value is not None]
    if len(found) < len(COEFFICIENTS):
        return []
    rivals = [
        f"{name} {' and '.join(numbers.number(one.value) for one in whole.agreement_at_1[name].values())}"
        for name in MEASURES
        if name != "BkR"
    ]
    return [
        f"With XLR {validation.measure_at_1} in place of {validation.measure} it is {_values(found)} "
        f"({', '.join(rivals)})."
    ]


def _rival(whole: Subset, rival: str) -> str:
    found = whole.differences.get(f"BkR-{rival}", {})
    judged = {kind: _judged(found[kind]) for kind in COEFFICIENTS if kind in found and _complete(found[kind])}
    if not judged:
        why = _why(found.values(), "no difference with interval and p")
        return words.stop(f"Whether BkR is better than {rival} cannot be told: {why}")
    shown = numbers.in_words([_difference(kind, found[kind]) for kind in judged])
    outcomes = set(judged.values())
    if outcomes == {"open"}:
        return f"It cannot be told apart from {rival}: {shown}."
    if len(outcomes) == 1 and len(judged) == len(COEFFICIENTS):
        better = "better" if outcomes == {"more"} else "less"
        return f"It agrees with XLR {better} than {rival} does: {shown}."
    clear = [f"{kind.capitalize()} ({outcome})" for kind, outcome in judged.items() if outcome != "open"]
    return f"It is told apart from {rival} by {numbers.in_words(clear)} alone: {shown}."


def _complete(one: CoefficientDifference) -> bool:
    return one.value is not None and one.ci is not None and one.p is not None


def _judged(one: CoefficientDifference) -> str:
    """Return more or less where interval and test agree that the difference is not zero, else open.

    They always agree but in files of earlier versions, which had a method for each.
    """
    if one.value is None or one.ci is None or contains(one.ci, 0.0) or one.p is None or one.p >= ALPHA:
        return "open"
    return "more" if one.value > 0 else "less"


def _difference(kind: str, one: CoefficientDifference) -> str:
    if one.value is None or one.ci is None:
        return f"{kind.capitalize()} {numbers.MISSING}"
    shown = numbers.difference(one.value, one.ci)
    return f"{kind.capitalize()} difference {shown}, {numbers.p_sentence(one.p)}"


def _order(whole: Subset) -> list[str]:
    own = whole.accuracy["BkR"]
    if own.value is None:
        why = f"How often BkR orders two encoders as XLR does cannot be told: {own.note}"
        return [words.stop(why)] if own.note else []
    pairs = own.concordant + own.discordant + own.tied_both + own.tied_one
    others = [(name, whole.accuracy[name].value) for name in MEASURES if name != "BkR"]
    beside = [f"{name} in {numbers.percent(value)}" for name, value in others if value is not None]
    ends = f" [{numbers.percent(own.ci.low)}, {numbers.percent(own.ci.high)}]" if own.ci else ""
    amount = numbers.counted(pairs, "pair")
    text = f"It orders two encoders as XLR does in {numbers.percent(own.value)}{ends} of {amount}"
    return ["; ".join([text, *([numbers.in_words(beside)] if beside else [])]) + "."]


def _part(pair: PairValidation, name: str, threshold: float) -> str:
    own = pair.subsets[name]
    kind, edge = ("weak", "below {:g}") if name == "below" else ("strong", "{:g} or more")
    who = f"Among {kind} encoders (XLR {edge.format(threshold)}: {own.n_encoders})"
    found = _coefficients(own)
    if not _is_told(own):
        return words.stop(f"{who} agreement cannot be told: {_why(found)}")
    return f"{who} {_OVER_PART[_grade(found)]}: {_values(found)}."


def _directions(validation: Validation) -> list[str]:
    sentences = []
    shown = [one for one in validation.directions if one.measure == "BkR"]
    for first, second in dict.fromkeys((one.first, one.second) for one in shown):
        own = [one for one in shown if (one.first, one.second) == (first, second)]
        names = f"{direction_name(first)} and {direction_name(second)}"
        known = [one for one in own if _complete(one.difference)]
        if not known:
            why = _why(one.difference for one in own)
            sentences.append(words.stop(f"Whether BkR agrees alike for {names} cannot be told: {why}"))
            continue
        values = numbers.in_words([_difference(one.coefficient, one.difference) for one in known])
        if all(_judged(one.difference) == "open" for one in known):
            sentences.append(f"The agreement of BkR for {names} cannot be told apart: {values}.")
        else:
            sentences.append(f"The agreement of BkR differs between {names}: {values}.")
    return sentences
