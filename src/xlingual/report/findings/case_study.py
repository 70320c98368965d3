"""The verdict of a case study: the answers to its questions, then what to beware of.

Models have the paper's names, and numbers are those of its Table 2: times 1000.
"""

from __future__ import annotations

from msgspec.structs import replace

from xlingual.report import numbers, words
from xlingual.report.marking import said
from xlingual.report.numbers import in_words
from xlingual.results import Interval
from xlingual.results.case_study import (
    ALL_PAIRS,
    BASE,
    TRIPLET,
    TRIPLET_XL,
    WORST_PAIRS,
    CaseStudy,
    Difference,
    Model,
)
from xlingual.results.comparison import BETTER, CANNOT_TELL, WORSE

SCALE = 1000
UNIT = f"× {SCALE}"
_SHOWN = {TRIPLET: "Triplet", TRIPLET_XL: "TripletXL"}


def findings(study: CaseStudy) -> list[str]:
    """Return the sentences of the verdict, the most important first, with the names in them marked."""
    if not study.differences:
        return ["Nothing was trained, so there is nothing to compare."]
    cautions = (_by_choice, _one_training, _spread, _below_base, _base_chosen)
    found = [_answer(study, asked) for asked in study.differences]
    return [*found, *(sentence for caution in cautions if (sentence := caution(study)))]


def label(model: Model) -> str:
    """Return what a model is called: trained ones as in the paper."""
    return _SHOWN.get(model.role, model.name)


def asked_of(study: CaseStudy, asked: Difference) -> tuple[str, str]:
    """Return what both models of a difference are called."""
    names = {model.name: label(model) for model in study.models}
    return names.get(asked.model, asked.model), names.get(asked.other, asked.other)


def compared(study: CaseStudy) -> list[Model]:
    """Return the base and what was trained on it."""
    return [model for role in (BASE, TRIPLET, TRIPLET_XL) if (model := study.model(role)) is not None]


def measure(study: CaseStudy) -> str:
    """Return the measure as sentences name it: "BkR R@10 × 1000"."""
    return f"BkR {study.measure} {UNIT}"


def times(value: float, ci: Interval | None = None) -> str:
    """Return a value in thousandths.

    >>> times(0.0093), times(-0.00204, Interval(-0.003, 0.001, 0.95, ""))
    ('9.3', '−2.0 [−3.0, 1.0]')
    """
    return numbers.bracketed(lambda one: numbers.number(SCALE * one, digits=1), value, ci)


def gain(value: float, ci: Interval | None = None) -> str:
    """Return a difference in thousandths with its sign.

    >>> gain(0.0119, Interval(0.0066, 0.0172, 0.95, "")), gain(-0.002), gain(0.0)
    ('+11.9 [+6.6, +17.2]', '−2.0', '0.0')
    """
    scaled = None if ci is None else replace(ci, low=SCALE * ci.low, high=SCALE * ci.high)
    return numbers.signed(SCALE * value, scaled, digits=1)


def _answer(study: CaseStudy, asked: Difference) -> str:
    """Return the answer to one question."""
    model, other = map(said, asked_of(study, asked))
    much = f"{gain(asked.value, asked.ci)}{_each(asked.per_training)}"
    if asked.where == WORST_PAIRS:
        return _on_worst(study, asked, model, other, much)
    against = f"its base {other}" if asked.other == study.base else other
    where = f" on average over {study.n_pairs} language pairs" if study.n_pairs > 1 else ""
    if asked.outcome == CANNOT_TELL:
        return (
            f"Whether {model} is better than {against}{where} cannot be told: {words.stop(asked.note or '')}"
        )
    values = {one.name: times(one.value) for one in study.models}
    now, before = values[asked.model], values[asked.other]
    if asked.outcome in (BETTER, WORSE):
        than = f"{model} is {asked.outcome} than {against}"
        return f"{than}: {measure(study)} is {now} instead of {before}{where}, {much}."
    none = f"No difference is found between {model} and {against}"
    return f"{none}: {measure(study)} is {now} and {before}{where}, {much}{_corrected(asked)}."


def _on_worst(study: CaseStudy, asked: Difference, model: str, other: str, much: str) -> str:
    pairs = "language pair" if study.worst.number == 1 else f"{study.worst.number} language pairs"
    where = f"the {pairs} that {other} is worst at"
    if asked.outcome == CANNOT_TELL:
        return f"Whether {model} is better on {where} cannot be told: {words.stop(asked.note or '')}"
    both = study.worst.other_trainings
    if asked.outcome in (BETTER, WORSE):
        how = f"chosen by other queries{' and other trainings' if both else ''} than judge it here"
        return f"On {where}, {how}, {model} is {asked.outcome} than {other}: {much}."
    how = f"judged on other queries{' and trainings' if both else ''} than they were chosen by"
    return (
        f"That {model} mends {where} is not shown: {how}, its difference there is {much}{_corrected(asked)}."
    )


def _each(values: list[float]) -> str:
    """Return the differences of single trainings, where there are several."""
    if len(values) < 2:
        return ""
    ends, between = (values, " and ") if len(values) == 2 else ([min(values), max(values)], " to ")
    return f" ({between.join(map(gain, ends))} in single trainings)"


def _corrected(asked: Difference) -> str:
    """Return why nothing is found although the interval, which no correction widens, excludes zero."""
    if asked.ci is None or asked.ci.low <= 0 <= asked.ci.high or asked.p_adjusted is None:
        return ""
    return f"; corrected for the number of questions, {numbers.p_sentence(asked.p_adjusted)}"


def _by_choice(study: CaseStudy) -> str:
    """Return what the choice of the worst pairs does by itself."""
    worst = study.worst
    if worst.same_data is None or study.difference(TRIPLET_XL, WORST_PAIRS) is None:
        return ""
    text = "Chosen and judged by the same queries and trainings, as in the paper, the gain there would read"
    text = f"{text} {gain(worst.same_data)}"
    if worst.retrained is None:
        return f"{text}: what is chosen for being low comes out higher elsewhere by luck alone."
    brings = f"{'already ' if worst.retrained > 0 else ''}brings {gain(worst.retrained)}"
    return f"{text}; training {said('Triplet')} once more, with another seed, {brings}."


def _one_training(study: CaseStudy) -> str:
    if study.n_trainings > 1 or not study.worst.number:
        return ""
    return (
        "Each model was trained once: its worst pairs may owe to the luck of that training, which the "
        "intervals do not know of. Several trainings tell (--trainings 3)."
    )


def _spread(study: CaseStudy) -> str:
    """Return how far apart the language pairs lie, as Figure 3 of the paper shows it."""
    known = [(one.sd_pairs, said(label(one))) for one in compared(study) if one.sd_pairs is not None]
    told = in_words([f"{times(sd)} with {name}" for sd, name in known])
    text = f"The standard deviation over language pairs is {told}; part of it is noise of the queries."
    return text if len(known) > 1 else ""


def _below_base(study: CaseStudy) -> str:
    """Return on how many pairs a trained model is lower than the base."""
    base = study.model(BASE)
    if base is None or study.n_pairs < 2:
        return ""
    below = {label(one): pairs_below(one, base) for one in compared(study) if one is not base}
    told = [
        f"{said(name)} on {f'{len(pairs)} ({in_words(pairs, 3)})' if pairs else 'none'}"
        for name, pairs in below.items()
    ]
    text = f"Of the {study.n_pairs} pairs, {' and '.join(told)} came out below the base; some may by luck."
    return text if any(below.values()) else ""


def pairs_below(model: Model, other: Model) -> list[str]:
    """Return the pairs on which a model has a lower value than another, the largest loss first."""
    held = {(pair.source, pair.target): pair.value for pair in other.pairs}
    losses = [
        (pair.value - held[key], words.pair(*key))
        for pair in model.pairs
        if (key := (pair.source, pair.target)) in held and pair.value < held[key]
    ]
    return [name for _, name in sorted(losses)]


def _base_chosen(study: CaseStudy) -> str:
    if study.base_given or study.difference(TRIPLET, ALL_PAIRS) is None:
        return ""
    return (
        f"{said(study.base)} was chosen as base because it leads on these very queries, which flatters it: "
        "gains over it are rather too small than too large."
    )
