"""The verdict on a validation: what it shows, in plain sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from xlingual.report import numbers, words
from xlingual.report.blocks import Finding
from xlingual.report.conditions import ranked_by
from xlingual.report.findings import image_quality, sampling
from xlingual.report.leaders import contains
from xlingual.report.table import Cell
from xlingual.results import validation as record
from xlingual.results.validation import COEFFICIENTS, MEASURES, PairValidation, Subset, Validation

CLOSE = 0.8  # a coefficient whose whole interval lies above it is called close agreement
ALPHA = 0.05
MONTE_CARLO = (
    "The standard error over seeds is Monte Carlo error only: it is the uncertainty of the mean over these "
    "divisions of the data, not over other encoders or other items. The intervals show the latter."
)
_OVER_ALL = {
    "close": "BkR tracks true retrieval (XLR) closely",
    "positive": "BkR agrees with true retrieval (XLR), but how closely is uncertain,",
    "against": "BkR disagrees with true retrieval (XLR)",
    "open": "Cannot tell whether BkR tracks true retrieval (XLR), since an interval contains zero,",
}
_OVER_PART = {
    "close": "BkR agrees with XLR closely",
    "positive": "BkR agrees with XLR, but how closely is uncertain",
    "against": "BkR disagrees with XLR",
    "open": "whether BkR agrees with XLR is not known",
}
_RIVALS = [name for name in MEASURES if name != "BkR"]
Coefficients = Mapping[str, record.Agreement]  # by their names


def findings(validation: Validation) -> list[Finding]:
    """Return the sentences pair by pair, then those about all."""
    if not validation.pairs:
        return [Finding(["No language pair was validated: whether BkR tracks XLR is not known."])]
    several = len(validation.pairs) > 1
    found = [
        Finding(_of_pair(validation, pair), words.pair(pair.source, pair.target) if several else "")
        for pair in validation.pairs
    ]
    samples = [pair.conditions.get("sample", "") for pair in validation.pairs]
    rest = [
        *_directions(validation),
        *sampling.sentences(validation.request or {}, samples),
        *ranked_by(validation.pairs[0].conditions.get("similarity")),
    ]
    every = [pair.agreement["BkR"] for pair in validation.pairs]
    if any(_is_known(own) and any(one.se is not None for one in own.values()) for own in every):
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
    parts = pair.subsets
    return [
        _tracks(pair),
        *(_over_seeds(pair) if _is_known(pair.agreement["BkR"]) else []),
        *_at_1(validation, pair),
        *(_rival(pair, rival) for rival in ("CORR", "SIM")),
        *_order(pair),
        _part(parts["below"], f"Among weak encoders (XLR below {validation.threshold:g}"),
        _part(parts["above"], f"Among strong encoders (XLR {validation.threshold:g} or more"),
        *image_quality.sentences(image_quality.of_pair(validation.degradations, pair), CLOSE),
    ]


def _tracks(pair: PairValidation) -> str:
    found = pair.agreement["BkR"]
    over = numbers.counted(pair.n_encoders, "encoder")
    if pair.n_families < pair.n_encoders:
        over += f" of {numbers.counted(pair.n_families, 'family', 'families')}"
    if _is_known(found):
        return f"{_OVER_ALL[_grade(found)]} over {over}: {_values(found)}."
    seen = f" ({_values(found)})" if any(one.value is not None for one in found.values()) else ""
    return words.stop(f"Whether BkR tracks XLR over {over} is not known{seen}: {_why(found.values())}")


def _part(part: Subset, who: str) -> str:
    found = part.agreement["BkR"]
    if _is_known(found):
        return f"{who}: {part.n_encoders}) {_OVER_PART[_grade(found)]}: {_values(found)}."
    return words.stop(f"{who}: {part.n_encoders}) agreement is not known: {_why(found.values())}")


def _is_known(found: Coefficients) -> bool:
    """Tell whether both coefficients have values and intervals."""
    return all(found[kind].value is not None and found[kind].ci is not None for kind in COEFFICIENTS)


def _why(
    found: Iterable[record.Agreement | record.CoefficientDifference],
    otherwise: str = "no interval was computed",
) -> str:
    return next((one.note for one in found if one.note), otherwise)


def _grade(found: Coefficients) -> str:
    """Return how well all coefficients agree, by their intervals: close, positive, against or open."""
    intervals = [one.ci for one in found.values() if one.ci]
    least, most = min(ci.low for ci in intervals), max(ci.high for ci in intervals)
    if least > 0:
        return "close" if least > CLOSE else "positive"
    return "against" if most < 0 else "open"


def _values(found: Coefficients) -> str:
    named = ((kind.capitalize(), found[kind]) for kind in COEFFICIENTS)
    return numbers.in_words([f"{kind} {numbers.with_interval(one.value, one.ci)}" for kind, one in named])


def _over_seeds(pair: PairValidation) -> list[str]:
    named = {kind.capitalize(): pair.agreement["BkR"][kind] for kind in COEFFICIENTS}
    values = [
        f"{kind} {numbers.plus_minus(one.mean, one.sd)}"
        for kind, one in named.items()
        if one.mean is not None
    ]
    if not values:
        return []
    size = f"N = {numbers.count(pair.n_source)}, K/N = {share_text(pair.k, pair.n_source)}"
    if pair.n_seeds == 1:
        return [f"It is from one seed ({size}), so its variation over divisions of the data is not known."]
    spread = f"(mean ± standard deviation over {pair.n_seeds} seeds, {size})"
    return [f"Seed by seed it is {numbers.in_words(values)} {spread}."]


def _at_1(validation: Validation, pair: PairValidation) -> list[str]:
    """Return the agreement of BkR with XLR at K = 1, where encoders that are all near 1 at K differ."""
    found = pair.agreement_at_1
    if not found or any(one.value is None for one in found["BkR"].values()):
        return []
    rivals = [
        f"{name} {' and '.join(numbers.number(one.value) for one in found[name].values())}"
        for name in _RIVALS
    ]
    instead = f"With XLR {validation.measure_at_1} in place of {validation.measure}"
    return [f"{instead} it is {_values(found['BkR'])} ({', '.join(rivals)})."]


def _rival(pair: PairValidation, rival: str) -> str:
    found = pair.differences.get(f"BkR-{rival}", {})
    judged = {kind: _judged(found[kind]) for kind in COEFFICIENTS if kind in found and _judged(found[kind])}
    if not judged:
        why = _why(found.values(), "no difference with interval and p")
        return words.stop(f"Whether BkR is better than {rival} is not known: {why}")
    shown = numbers.in_words([_difference(kind, found[kind]) for kind in judged])
    clear = [f"{kind.capitalize()} ({outcome})" for kind, outcome in judged.items() if outcome != "open"]
    if not clear:
        return f"It is not distinguishable from {rival}: {shown}."
    if len(set(judged.values())) == 1 and len(judged) == len(COEFFICIENTS):
        better = "better" if "more" in judged.values() else "less"
        return f"It agrees with XLR {better} than {rival} does: {shown}."
    return f"It differs from {rival} in {numbers.in_words(clear)} alone: {shown}."


def _judged(one: record.CoefficientDifference) -> str | None:
    """Return more or less where interval and test agree that the difference is not zero, else open.

    None where a value, interval or p is missing.
    """
    if one.value is None or one.ci is None or one.p is None:
        return None
    if contains(one.ci, 0.0) or one.p >= ALPHA:
        return "open"
    return "more" if one.value > 0 else "less"


def _difference(kind: str, one: record.CoefficientDifference) -> str:
    shown = Cell.difference(one.value, one.ci).plain
    return f"{kind.capitalize()} difference {shown}, {numbers.p_sentence(one.p)}"


def _order(pair: PairValidation) -> list[str]:
    own = pair.accuracy["BkR"]
    if own.value is None:
        why = f"How often BkR orders two encoders as XLR does is not known: {own.note}"
        return [words.stop(why)] if own.note else []
    amount = numbers.counted(own.concordant + own.discordant + own.tied_both + own.tied_one, "pair")
    ends = f" [{numbers.percent(own.ci.low)}, {numbers.percent(own.ci.high)}]" if own.ci else ""
    others = {name: pair.accuracy[name].value for name in _RIVALS}
    beside = [f"{name} in {numbers.percent(value)}" for name, value in others.items() if value is not None]
    text = f"It orders two encoders as XLR does in {numbers.percent(own.value)}{ends} of {amount}"
    return [f"{text}{'; ' if beside else ''}{numbers.in_words(beside)}."]


def _directions(validation: Validation) -> list[str]:
    sentences = []
    shown = [one for one in validation.directions if one.measure == "BkR"]
    for first, second in dict.fromkeys((one.first, one.second) for one in shown):
        own = [one for one in shown if (one.first, one.second) == (first, second)]
        names = f"{direction_name(first)} and {direction_name(second)}"
        judged = [(one, word) for one in own if (word := _judged(one.difference))]
        values = numbers.in_words([_difference(one.coefficient, one.difference) for one, _ in judged])
        if not judged:
            why = _why(one.difference for one in own)
            sentences.append(
                words.stop(f"Whether the agreement of BkR differs between {names} is not known: {why}")
            )
        elif all(word == "open" for _, word in judged):
            sentences.append(f"The agreement of BkR is not shown to differ between {names}: {values}.")
        else:
            sentences.append(f"The agreement of BkR differs between {names}: {values}.")
    return sentences
