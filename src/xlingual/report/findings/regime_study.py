"""The verdict of a study of regimes: which one aligns languages, and what that costs within a language."""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.report import numbers, words
from xlingual.report.marking import marked
from xlingual.report.numbers import in_words
from xlingual.results.comparison import BETTER, CANNOT_TELL, NO_DIFFERENCE, WORSE
from xlingual.results.regime_study import (
    OTHER,
    OWN_POOL,
    POOL,
    SAME,
    UNTRAINED,
    RegimeDifference,
    RegimeScores,
    RegimeStudy,
)


def findings(study: RegimeStudy) -> list[str]:
    """Return the sentences of the verdict, the most important first."""
    if unknown := _unknown(study):
        return [unknown]
    return [_leader(study), *_across(study), _cost(study), *_one_training(study)]


def gaining(study: RegimeStudy) -> list[RegimeScores]:
    """Return the regimes that find more answers in other languages than the untrained model."""
    return [one for one in study.trained if _outcome(study, one.name, UNTRAINED, OTHER) == BETTER]


def best_within(study: RegimeStudy) -> RegimeScores | None:
    """Return the regime with the highest value within a language; None where nothing was measured there."""
    known = [one for one in study.trained if one.own_pool is not None]
    return max(known, key=lambda one: one.own_pool.value if one.own_pool else 0.0, default=None)


def _leader(study: RegimeStudy) -> str:
    """Return the regime that leads in the pool of all languages, and over whom that is shown."""
    best, *others = study.trained
    untrained = numbers.number(study.regime(UNTRAINED).pool.value)
    value = numbers.number(best.pool.value)
    text = f"In the pool of all languages {marked(best.name)} leads: mAP is {value} (untrained: {untrained})"
    below = [one for one in others if _outcome(study, best.name, one.name, POOL) == BETTER]
    level = [one for one in others if one not in below]
    if below:
        text += f", better than with {in_words([marked(one.name) for one in below])}"
    if level:
        text += f"; no difference is found to {_each(study, level, best.name, POOL)}"
    return f"{text}."


def _single(study: RegimeStudy, kind: str, what: str) -> str:
    """Return what regimes change where a single answer is in the pool, by the untrained model."""
    before = study.regime(UNTRAINED).score(kind)
    parts = []
    for outcome, begin in (
        (BETTER, "rises with"),
        (WORSE, "falls with"),
        (NO_DIFFERENCE, "no difference is found with"),
    ):
        found = [one for one in study.trained if _outcome(study, one.name, UNTRAINED, kind) == outcome]
        if found:
            parts.append(f"{begin} {_each(study, found, UNTRAINED, kind)}")
    if before is None or not parts:
        return ""
    return f"{what} ({numbers.finely(before.value)} before training): {'; '.join(parts)}."


def _across(study: RegimeStudy) -> list[str]:
    """Return which regimes align languages, and what that does to answers in the question's own language."""
    alignment = _single(study, OTHER, "Alignment, mAP of a single answer in another language")
    if not alignment:
        return [
            "No question has answers in its own and in another language, so how well a regime aligns "
            "languages is not known beyond that."
        ]
    if not any(_outcome(study, one.name, UNTRAINED, SAME) == WORSE for one in study.trained):
        return [alignment]
    return [alignment, _single(study, SAME, "The same of an answer in the question's own language")]


def _cost(study: RegimeStudy) -> str:
    """Return what the regimes that align lose within a language: against the best one there."""
    best = best_within(study)
    if best is None or best.own_pool is None:
        return "No question has an answer in its own language, so what alignment costs there is not known."
    found = gaining(study)
    losing = [one for one in found if one is not best and _loses(study, one, best)]
    keeping = [one for one in found if one is not best and one not in losing]
    value = numbers.number(best.own_pool.value)
    text = "Within a language (candidates of the question's language alone) "
    text += f"{marked(best.name)} has the highest mAP, {value}"
    text += ", and gains across languages too" if best in found else ""
    if losing or keeping:
        text += "; of the others that gain across languages"
    if losing:
        text += f", a loss is found with {_each(study, losing, best.name, OWN_POOL)}"
    if keeping:
        text += f"{';' if losing else ','} no loss is found with {_each(study, keeping, best.name, OWN_POOL)}"
    if not found:
        text += "; no regime is shown to align languages"
    return f"{text}."


def _loses(study: RegimeStudy, one: RegimeScores, best: RegimeScores) -> bool:
    """Whether a regime is worse within a language than the best there, or than the untrained model."""
    others = [name for name in (best.name, UNTRAINED) if name != one.name]
    return any(_outcome(study, one.name, other, OWN_POOL) == WORSE for other in others)


def _gain(difference: RegimeDifference) -> str:
    """Return a difference, with its corrected p where the interval alone would say something else."""
    ci, text = difference.ci, numbers.signed(difference.value, difference.ci)
    apart = ci is not None and not ci.low <= 0 <= ci.high
    if apart and difference.outcome == NO_DIFFERENCE:
        text += f", corrected p {numbers.p_value(difference.p_adjusted)}"
    return text


def _each(study: RegimeStudy, found: Sequence[RegimeScores], other: str, where: str) -> str:
    """Return the names of regimes, each with its difference to another."""
    named = []
    for one in found:
        difference = study.difference(one.name, other, where)
        much = f" ({_gain(difference)})" if difference is not None else ""
        named.append(f"{marked(one.name)}{much}")
    return in_words(named)


def _outcome(study: RegimeStudy, regime: str, other: str, where: str) -> str:
    difference = study.difference(regime, other, where)
    return CANNOT_TELL if difference is None else difference.outcome


def _unknown(study: RegimeStudy) -> str:
    """Return why nothing is known, where that is so; "" where something is."""
    known = [one for one in study.differences if one.where == POOL]
    if not known or any(one.outcome != CANNOT_TELL for one in known):
        return ""
    return f"Which regime is better is not known: {words.stop(known[0].note or 'nothing was compared')}"


def _one_training(study: RegimeStudy) -> list[str]:
    if study.n_trainings > 1:
        return []
    return [
        "Each regime was trained once: intervals do not cover what other seeds would give. Several trainings "
        "show it (--trainings 3)."
    ]
