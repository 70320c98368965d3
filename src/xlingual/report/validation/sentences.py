"""The verdict on a validation: what it shows, in plain sentences."""

from __future__ import annotations

from dataclasses import dataclass

from xlingual.report import numbers, words
from xlingual.report.leaders import contains
from xlingual.report.validation import quality, wording
from xlingual.report.validation.tables import of_pair
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


@dataclass(frozen=True)
class Findings:
    """Sentences about one language pair, or (pair None) about the whole validation."""

    pair: str | None
    sentences: list[str]


def verdict(validation: Validation) -> list[str]:
    """Return what the validation shows as plain sentences, the most important first.

    Where there are several language pairs, the first sentence about each begins with its name.
    """
    return [
        f"{found.pair}: {sentence}" if found.pair is not None and place == 0 else sentence
        for found in findings(validation)
        for place, sentence in enumerate(found.sentences)
    ]


def findings(validation: Validation) -> list[Findings]:
    """Return the sentences pair by pair, then those about all."""
    if not validation.pairs:
        return [Findings(None, ["No language pair was validated: whether BkR tracks XLR cannot be told."])]
    several = len(validation.pairs) > 1
    found = [
        Findings(wording.pair_name(pair) if several else None, _of_pair(validation, pair))
        for pair in validation.pairs
    ]
    rest = _directions(validation)
    if any(_seed_error(pair) for pair in validation.pairs):
        rest.append(MONTE_CARLO)
    return [*found, Findings(None, rest)] if rest else found


def _of_pair(validation: Validation, pair: PairValidation) -> list[str]:
    whole = pair.subsets["all"]
    return [
        _tracks(pair, whole),
        *(_over_seeds(pair) if _is_told(whole) else []),
        *_at_1(validation, whole),
        *(_rival(whole, rival) for rival in ("CORR", "SIM")),
        *_order(whole),
        *(_part(pair, name, validation.threshold) for name in ("below", "above")),
        *quality.sentences(of_pair(validation.degradations, pair), CLOSE),
    ]


def _tracks(pair: PairValidation, whole: Subset) -> str:
    found = [whole.agreement["BkR"][kind] for kind in COEFFICIENTS]
    over = wording.counted(whole.n_encoders, "encoder")
    if whole.n_families < whole.n_encoders:
        over += f" of {wording.counted(whole.n_families, 'family', 'families')}"
    values = _values(found)
    if not _is_told(whole):
        why = next((one.note for one in found if one.note), None) or "no interval was computed"
        seen = f" ({values})" if any(one.value is not None for one in found) else ""
        return words.stop(f"Whether BkR tracks XLR over {over} cannot be told{seen}: {why}")
    return f"{_strength(found)} over {over}: {values}."


def _is_told(part: Subset) -> bool:
    """Tell whether BkR's coefficients over these encoders have values and intervals."""
    found = [part.agreement["BkR"][kind] for kind in COEFFICIENTS]
    return all(one.value is not None and one.ci is not None for one in found)


def _grade(found: list[Agreement]) -> str:
    """Return how well all coefficients agree, by their intervals: close, positive, against or open."""
    lows = [one.ci.low for one in found if one.ci]
    highs = [one.ci.high for one in found if one.ci]
    if min(lows) > CLOSE:
        return "close"
    if min(lows) > 0:
        return "positive"
    return "against" if max(highs) < 0 else "open"


def _strength(found: list[Agreement]) -> str:
    return {
        "close": "BkR tracks true retrieval (XLR) closely",
        "positive": "BkR agrees with true retrieval (XLR), how closely is uncertain,",
        "against": "BkR goes against true retrieval (XLR)",
        "open": "Cannot tell whether BkR tracks true retrieval (XLR), since an interval contains zero,",
    }[_grade(found)]


def _values(found: list[Agreement]) -> str:
    named = zip(COEFFICIENTS, found, strict=True)
    return numbers.in_words(
        [f"{wording.name_of(kind)} {numbers.with_interval(one.value, one.ci)}" for kind, one in named]
    )


def _seed_error(pair: PairValidation) -> bool:
    whole = pair.subsets["all"]
    return _is_told(whole) and any(whole.agreement["BkR"][kind].se is not None for kind in COEFFICIENTS)


def _over_seeds(pair: PairValidation) -> list[str]:
    found = pair.subsets["all"].agreement["BkR"]
    known = [(kind, found[kind]) for kind in COEFFICIENTS if found[kind].mean is not None]
    if not known:
        return []
    values = numbers.in_words(
        [f"{wording.name_of(kind)} {wording.plus_minus(one.mean, one.sd)}" for kind, one in known]
    )
    n = numbers.count(pair.n_source)
    size = f"N = {n}, K/N = {wording.share_text(pair.k, pair.n_source)}"
    if pair.n_seeds == 1:
        return [f"It rests on one seed ({size}): how far the division of the data moves it is not known."]
    spread = f"Seed by seed it is {values} (mean ± standard deviation over {pair.n_seeds} seeds, {size})."
    return [spread]


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
    known = {kind: found[kind] for kind in COEFFICIENTS if kind in found}
    lacking = [kind for kind in COEFFICIENTS if kind not in known or not _complete(known[kind])]
    if len(lacking) == len(COEFFICIENTS):
        notes = [one.note for one in known.values() if one.note] or ["no difference with interval and p"]
        return words.stop(f"Whether BkR is better than {rival} cannot be told: {notes[0]}")
    judged = {kind: _judged(one) for kind, one in known.items() if _complete(one)}
    numbers_of = numbers.in_words([_difference(kind, known[kind]) for kind in judged])
    kinds = set(judged.values())
    if kinds == {"more"} and not lacking:
        return f"It agrees with XLR better than {rival} does: {numbers_of}."
    if kinds == {"less"} and not lacking:
        return f"It agrees with XLR less than {rival} does: {numbers_of}."
    if len(kinds) > 1 or (lacking and kinds != {"open"}):
        clear = numbers.in_words(
            [f"{wording.name_of(kind)} ({word})" for kind, word in judged.items() if word != "open"]
        )
        return f"It is told apart from {rival} by {clear} alone: {numbers_of}."
    return f"It cannot be told apart from {rival}: {numbers_of}."


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
        return f"{wording.name_of(kind)} {numbers.MISSING}"
    p = wording.p_text(one.p)
    p = f"p {p}" if p.startswith("<") else f"p = {p}"
    return f"{wording.name_of(kind)} difference {numbers.difference(one.value, one.ci)}, {p}"


def _order(whole: Subset) -> list[str]:
    own = whole.accuracy["BkR"]
    if own.value is None:
        return (
            [words.stop(f"How often BkR orders two encoders as XLR does cannot be told: {own.note}")]
            if (own.note)
            else []
        )
    pairs = own.concordant + own.discordant + own.tied_both + own.tied_one
    others = [(name, whole.accuracy[name].value) for name in MEASURES if name != "BkR"]
    beside = numbers.in_words(
        [f"{name} in {numbers.percent(value)}" for name, value in others if value is not None]
    )
    ends = f" [{numbers.percent(own.ci.low)}, {numbers.percent(own.ci.high)}]" if own.ci else ""
    amount = wording.counted(pairs, "pair")
    text = f"It orders two encoders as XLR does in {numbers.percent(own.value)}{ends} of {amount}"
    return [f"{text}; {beside}." if beside else f"{text}."]


def _part(pair: PairValidation, name: str, threshold: float) -> str:
    own = pair.subsets[name]
    kind = "weak" if name == "below" else "strong"
    who = f"Among {kind} encoders ({wording.subset_name(name, threshold)}: {own.n_encoders})"
    found = [own.agreement["BkR"][coefficient] for coefficient in COEFFICIENTS]
    if not _is_told(own):
        why = next((one.note for one in found if one.note), None) or "no interval was computed"
        return words.stop(f"{who} agreement cannot be told: {why}")
    graded = {
        "close": "BkR agrees with XLR closely",
        "positive": "BkR agrees with XLR, how closely is uncertain",
        "against": "BkR goes against XLR",
        "open": "cannot tell whether BkR agrees with XLR",
    }[_grade(found)]
    return f"{who} {graded}: {_values(found)}."


def _directions(validation: Validation) -> list[str]:
    sentences = []
    shown = [one for one in validation.directions if one.measure == "BkR"]
    for first, second in dict.fromkeys((one.first, one.second) for one in shown):
        own = [one for one in shown if (one.first, one.second) == (first, second)]
        names = f"{wording.direction_name(first)} and {wording.direction_name(second)}"
        known = [one for one in own if _complete(one.difference)]
        if not known:
            why = next(
                (one.difference.note for one in own if one.difference.note), "no interval was computed"
            )
            sentences.append(words.stop(f"Whether BkR agrees alike for {names} cannot be told: {why}"))
            continue
        values = numbers.in_words([_difference(one.coefficient, one.difference) for one in known])
        if all(_judged(one.difference) == "open" for one in known):
            sentences.append(f"The agreement of BkR for {names} cannot be told apart: {values}.")
        else:
            sentences.append(f"The agreement of BkR differs between {names}: {values}.")
    return sentences
