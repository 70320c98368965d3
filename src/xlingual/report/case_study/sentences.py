"""The verdict of a case study, in plain sentences: the answers to its questions, then what to beware of."""

from __future__ import annotations

from xlingual.report import words
from xlingual.report.case_study.wording import ends, gain, label, label_of, measure, p_text, times
from xlingual.report.numbers import in_words
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


def verdict(study: CaseStudy) -> list[str]:
    """Return the findings, the most important first."""
    found = [_answer(study, question) for question in study.differences]
    return [*found, *_cautions(study)] if found else ["Nothing was trained, so there is nothing to compare."]


def _answer(study: CaseStudy, asked: Difference) -> str:
    """Return the answer to one question."""
    model, other = label_of(study, asked.model), label_of(study, asked.other)
    base = "its base " if asked.other == study.base else ""
    if asked.where == WORST_PAIRS:
        return _on_worst(study, asked, model, other)
    where = f" on average over {study.n_pairs} language pairs" if study.n_pairs > 1 else ""
    if asked.outcome == CANNOT_TELL:
        why = words.stop(asked.note or "")
        return f"Whether {model} is better than {base}{other}{where} cannot be told: {why}"
    now, before = (_value(study, name) for name in (asked.model, asked.other))
    much = f"{gain(asked.value, asked.ci)}{_each(asked)}"
    if asked.outcome in (BETTER, WORSE):
        return (
            f"{model} is {asked.outcome} than {base}{other}: {measure(study)} is {now} instead of {before}"
            f"{where}, {much}."
        )
    return (
        f"No difference is found between {model} and {base}{other}: {measure(study)} is {now} and "
        f"{before}{where}, {much}{_corrected(asked)}."
    )


def _on_worst(study: CaseStudy, asked: Difference, model: str, other: str) -> str:
    pairs = "language pair" if study.worst.number == 1 else f"{study.worst.number} language pairs"
    where = f"the {pairs} that {other} is worst at"
    if asked.outcome == CANNOT_TELL:
        return f"Whether {model} is better on {where} cannot be told: {words.stop(asked.note or '')}"
    how = "chosen by other queries" + (" and other trainings" if study.worst.other_trainings else "")
    much = f"{gain(asked.value, asked.ci)}{_each(asked)}"
    if asked.outcome in (BETTER, WORSE):
        return f"On {where}, {how} than judge it here, {model} is {asked.outcome} than {other}: {much}."
    return (
        f"That {model} mends {where} is not shown: judged on other queries"
        f"{' and trainings' if study.worst.other_trainings else ''} than they were chosen by, its "
        f"difference there is {much}{_corrected(asked)}."
    )


def _value(study: CaseStudy, name: str) -> str:
    return times(next(model.value for model in study.models if model.name == name))


def _each(asked: Difference) -> str:
    """Return the differences of single trainings, where there are several."""
    if len(asked.per_training) < 2:
        return ""
    return f" ({ends(asked.per_training)} in single trainings)"


def _corrected(asked: Difference) -> str:
    """Return why nothing is found although the interval, which no correction widens, excludes zero."""
    if asked.ci is None or asked.ci.low <= 0 <= asked.ci.high or asked.p_adjusted is None:
        return ""
    return f"; corrected for the number of questions p is {p_text(asked.p_adjusted)}"


def _cautions(study: CaseStudy) -> list[str]:
    found = [
        _by_choice(study),
        _one_training(study),
        _spread(study),
        _below_base(study),
        _base_chosen(study),
    ]
    return [sentence for sentence in found if sentence]


def _by_choice(study: CaseStudy) -> str:
    """Return what the choice of the worst pairs does by itself."""
    worst = study.worst
    if worst.same_data is None or study.difference(TRIPLET_XL, WORST_PAIRS) is None:
        return ""
    text = (
        f"Chosen and judged by the same queries and trainings, as in the paper, the gain there would read "
        f"{gain(worst.same_data)}"
    )
    if worst.retrained is None:
        return f"{text}: what is chosen for being low comes out higher elsewhere by luck alone."
    brings = "already brings" if worst.retrained > 0 else "brings"
    return f"{text}; training Triplet once more, with another seed, {brings} {gain(worst.retrained)}."


def _one_training(study: CaseStudy) -> str:
    if study.n_trainings > 1 or not study.worst.number:
        return ""
    return (
        "Each model was trained once: its worst pairs may owe to the luck of that training, which the "
        "intervals do not know of. Several trainings tell (--trainings 3)."
    )


def _spread(study: CaseStudy) -> str:
    """Return how far apart the language pairs lie, as Figure 3 of the paper shows it."""
    models = [model for role in (BASE, TRIPLET, TRIPLET_XL) if (model := study.model(role)) is not None]
    told = [f"{times(model.sd_pairs)} with {label(model)}" for model in models if model.sd_pairs is not None]
    if len(told) < 2:
        return ""
    return (
        f"The standard deviation over language pairs is {in_words(told)}; part of it is noise of the queries."
    )


def _below_base(study: CaseStudy) -> str:
    """Return on how many pairs a trained model is lower than the base."""
    base = study.model(BASE)
    parts = []
    for model in (study.model(TRIPLET), study.model(TRIPLET_XL)):
        if base is not None and model is not None and study.n_pairs > 1:
            below = pairs_below(model, base)
            parts.append((label(model), below))
    if not any(below for _, below in parts):
        return ""
    told = [
        f"{name} on {len(below) or 'none'}{f' ({in_words(below, 3)})' if below else ''}"
        for name, below in parts
    ]
    return f"Of the {study.n_pairs} pairs, {' and '.join(told)} came out below the base; some may by luck."


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
        f"{study.base} was chosen as base because it leads on these very queries, which flatters it: gains "
        "over it are rather too small than too large."
    )
