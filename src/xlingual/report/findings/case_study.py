"""The verdict of a case study: the answers to its questions, then cautions.

Models have the paper's names, and numbers are those of its Table 2: times 1000.
"""

from __future__ import annotations

from xlingual.report import numbers, words
from xlingual.report.marking import marked
from xlingual.report.numbers import in_words
from xlingual.report.transforms import map_in_words
from xlingual.results import Interval
from xlingual.results.case_study import (
    ALL_PAIRS,
    BASE,
    CONTROL,
    PIVOT,
    TRAINED,
    TRIPLET,
    TRIPLET_XL,
    WORST_PAIRS,
    CaseStudy,
    Difference,
    Model,
)
from xlingual.results.comparison import BETTER, CANNOT_TELL, NO_DIFFERENCE, OUTCOMES, WORSE

SCALE = 1000
UNIT = f"× {SCALE}"
_SHOWN = {PIVOT: "Image pivot", TRIPLET: "Triplet", TRIPLET_XL: "TripletXL"}


def findings(study: CaseStudy) -> list[str]:
    """Return the sentences of the verdict, the most important first, with the names in them marked."""
    if not study.differences:
        return ["No model was trained, so there is no comparison."]
    cautions = (_pivot, _by_choice, _best, _one_training, _spread, _below_base, _base_chosen)
    found: list[str] = []
    for difference in study.differences:
        if not _of_control(study, difference):
            found.append(_answer(study, difference))
        elif difference.model != study.name_of(CONTROL):
            found.append(_control(study, difference))
    return [*found, *(sentence for caution in cautions if (sentence := caution(study)))]


def _of_control(study: CaseStudy, difference: Difference) -> bool:
    return study.name_of(CONTROL) in (difference.model, difference.other)


def _control(study: CaseStudy, difference: Difference) -> str:
    """Return whether the gain over the base survives the control: what a trained model adds to it."""
    model, control = map(marked, names_of(study, difference))
    role = next(one.role for one in study.models if one.name == difference.model)
    whole, alone = study.difference(role, ALL_PAIRS, BASE), study.difference(CONTROL, ALL_PAIRS, BASE)
    assert whole is not None  # they are asked together
    assert alone is not None
    gains = f"{model}'s gain over its base {marked(study.base)}"
    values = {one.name: times(one.value) for one in study.models}
    change = f"{gain(alone.value, alone.ci)} against {marked(study.base)}"
    reach = (
        f"concatenated title and body without training ({control}) have a {measure(study)} of "
        f"{values[difference.other]}, {change}"
    )
    much = f"{gain(difference.value, difference.ci)}{_each(difference.per_training)}"
    if difference.outcome == NO_DIFFERENCE:
        much += _corrected(difference)
    if difference.outcome == CANNOT_TELL:
        return f"Whether {gains} survives the control is not known: {words.stop(difference.note or '')}"
    if whole.outcome != BETTER and difference.outcome == BETTER:
        helps = f"Training helps, but no gain of {model} over its base is shown"
        return f"{helps}: {reach}, and {model} is better than that, {much}."
    if whole.outcome != BETTER:
        than = "worse than that" if difference.outcome == WORSE else "not shown to differ from that"
        none = "No gain over the base is shown, so the control has no gain to explain"
        return f"{none}: {reach}; {model} is {than}, {much}."
    if difference.outcome == BETTER:
        return f"{gains} survives the control: {reach}, and {model} is better than that, {much}."
    if difference.outcome == WORSE:
        return f"{gains} does not survive the control: {reach}, and {model} is worse than that, {much}."
    return (
        f"It is not shown that {gains} comes from training: {reach}; no difference to {model} is found, "
        f"{much}."
    )


def _best(study: CaseStudy) -> str:
    """Return which models the best one is better than, on average and on single language pairs."""
    best = study.best
    if best is None:
        return ""
    names = {model.name: marked(label(model)) for model in study.models}
    of = {outcome: [names[o.model] for o in best.others if o.outcome == outcome] for outcome in OUTCOMES}
    text = f"{names[best.name]} has the highest mean"
    if of[BETTER]:
        text += f"; it is better than {in_words(of[BETTER])}"
    if of[NO_DIFFERENCE]:
        text += f"; no difference is found from {in_words(of[NO_DIFFERENCE])}"
    if of[CANNOT_TELL]:
        text += f"; about {in_words(of[CANNOT_TELL])} that is not known"
    text += f" (p corrected for {numbers.counted(best.n_tests, 'test')})."
    nearest = min(best.others, key=lambda other: other.value)
    if not nearest.pairs:
        return text
    better, worse = (sum(pair.outcome == one for pair in nearest.pairs) for one in (BETTER, WORSE))
    counts = f"on {better or 'none'} of {len(nearest.pairs)} and worse on {worse or 'none'}"
    return (
        f"{text} On single language pairs it is better than {names[nearest.model]}, the next, {counts} (p "
        f"corrected for {best.n_pair_tests:,} tests)."
    )


def _pivot(study: CaseStudy) -> str:
    """Return how the image pivot was fitted."""
    pivot = study.pivot
    if pivot is None:
        return ""
    name = marked(_SHOWN[PIVOT])
    if pivot.chosen == "none":
        items = numbers.counted(pivot.items, "item")
        return (
            f"{name} changes nothing: on {items} with images, no map is shown to rank near images of other "
            "items better than the base."
        )
    kinds = [f"{pivot.near:,} of different items with near images"]
    kinds += [f"{pivot.same:,} of one item or image"] if pivot.same else []
    return (
        f"{name} was fitted on {numbers.counted(pivot.items, 'item')} with images "
        f"({marked(pivot.image_encoder)}), by pairs of texts: {in_words(kinds)}; without labels "
        f"{map_in_words(pivot.chosen)} was chosen."
    )


def label(model: Model) -> str:
    """Return the name of a model on the page: trained ones as in the paper."""
    return _SHOWN.get(model.role, model.name)


def names_of(study: CaseStudy, difference: Difference) -> tuple[str, str]:
    """Return the names of both models of a difference on the page."""
    names = {model.name: label(model) for model in study.models}
    return names.get(difference.model, difference.model), names.get(difference.other, difference.other)


def compared(study: CaseStudy) -> list[Model]:
    """Return the base and the models trained on it."""
    return [model for role in (BASE, *TRAINED) if (model := study.model(role)) is not None]


def measure(study: CaseStudy) -> str:
    """Return the measure as sentences name it: "BkR R@10 × 1000"."""
    return f"BkR {study.measure} {UNIT}"


def times(value: float, ci: Interval | None = None) -> str:
    """Return a value in thousandths.

    >>> times(0.0093), times(-0.00204, Interval(-0.003, 0.001, 0.95, ""))
    ('9.3', '−2.0 [−3.0, 1.0]')
    """
    return numbers.fixed(value, ci, digits=1, scale=SCALE)


def gain(value: float, ci: Interval | None = None) -> str:
    """Return a difference in thousandths with its sign.

    >>> gain(0.0119, Interval(0.0066, 0.0172, 0.95, "")), gain(-0.002), gain(0.0)
    ('+11.9 [+6.6, +17.2]', '−2.0', '0.0')
    """
    return numbers.signed(value, ci, digits=1, scale=SCALE)


def _answer(study: CaseStudy, difference: Difference) -> str:
    """Return the answer to one question."""
    model, other = map(marked, names_of(study, difference))
    much = f"{gain(difference.value, difference.ci)}{_each(difference.per_training)}"
    if difference.where == WORST_PAIRS:
        return _on_worst(study, difference, model, other, much)
    against = f"its base {other}" if difference.other == study.base else other
    where = f" on average over {study.n_pairs} language pairs" if study.n_pairs > 1 else ""
    if difference.outcome == CANNOT_TELL:
        why = words.stop(difference.note or "")
        return f"Whether {model} is better than {against}{where} is not known: {why}"
    values = {one.name: times(one.value) for one in study.models}
    now, before = values[difference.model], values[difference.other]
    if difference.outcome in (BETTER, WORSE):
        than = f"{model} is {difference.outcome} than {against}"
        return f"{than}: {measure(study)} is {now} instead of {before}{where}, {much}."
    none = f"No difference is found between {model} and {against}"
    return f"{none}: {measure(study)} is {now} and {before}{where}, {much}{_corrected(difference)}."


def _on_worst(study: CaseStudy, difference: Difference, model: str, other: str, much: str) -> str:
    pairs = "language pair" if study.worst.number == 1 else f"{study.worst.number} language pairs"
    where = f"the {pairs} that {other} is worst at"
    if difference.outcome == CANNOT_TELL:
        return f"Whether {model} is better on {where} is not known: {words.stop(difference.note or '')}"
    both = study.worst.other_trainings
    if difference.outcome in (BETTER, WORSE):
        how = f"chosen on other queries{' and other trainings' if both else ''} than those of this test"
        return f"On {where}, {how}, {model} is {difference.outcome} than {other}: {much}."
    how = f"tested on other queries{' and trainings' if both else ''} than those that chose them"
    text = f"It is not shown that {model} improves {where}: {how}, its difference there is"
    return f"{text} {much}{_corrected(difference)}."


def _each(values: list[float]) -> str:
    """Return the differences of single trainings, where there are several."""
    if len(values) < 2:
        return ""
    ends, between = (values, " and ") if len(values) == 2 else ([min(values), max(values)], " to ")
    return f" ({between.join(map(gain, ends))} in single trainings)"


def _corrected(difference: Difference) -> str:
    """Return why nothing is found although the interval, which no correction widens, excludes zero."""
    if difference.ci is None or difference.ci.low <= 0 <= difference.ci.high or difference.p_adjusted is None:
        return ""
    return f"; corrected for the number of questions, {numbers.p_sentence(difference.p_adjusted)}"


def _by_choice(study: CaseStudy) -> str:
    """Return how much of the gain on the worst pairs their choice alone explains."""
    worst = study.worst
    if worst.same_data is None or study.difference(TRIPLET_XL, WORST_PAIRS) is None:
        return ""
    text = "If the same queries and trainings chose and tested the pairs, as in the paper, the gain would be"
    text = f"{text} {gain(worst.same_data)}"
    if worst.retrained is None:
        return (
            f"{text}. That overstates the gain: pairs that were chosen for low values have higher values "
            "in new data by chance alone."
        )
    brings = f"{'already ' if worst.retrained > 0 else ''}brings {gain(worst.retrained)}"
    return f"{text}; training {marked('Triplet')} once more, with another seed, {brings}."


def _one_training(study: CaseStudy) -> str:
    if study.n_trainings > 1 or not study.worst.number:
        return ""
    return (
        "Each model was trained once. Its worst pairs may be luck of that training, which the intervals do "
        "not cover. Train several times to see it (--trainings 3)."
    )


def _spread(study: CaseStudy) -> str:
    """Return how far apart the language pairs lie, as Figure 3 of the paper shows it."""
    known = [(one.sd_pairs, marked(label(one))) for one in compared(study) if one.sd_pairs is not None]
    deviations = in_words([f"{times(sd)} with {name}" for sd, name in known])
    text = f"The standard deviation over language pairs is {deviations}; it includes noise of the queries."
    return text if len(known) > 1 else ""


def _below_base(study: CaseStudy) -> str:
    """Return on how many pairs a trained model is lower than the base."""
    base = study.model(BASE)
    if base is None or study.n_pairs < 2:
        return ""
    below = {label(one): pairs_below(one, base) for one in compared(study) if one is not base}
    counts = [
        f"{marked(name)} on {f'{len(pairs)} ({in_words(pairs, 3)})' if pairs else 'none'}"
        for name, pairs in below.items()
    ]
    text = f"Pairs below the base, of {study.n_pairs}: {in_words(counts)}; some may be luck."
    return text if any(below.values()) else ""


def pairs_below(model: Model, other: Model) -> list[str]:
    """Return the pairs on which a model has a lower value than another, the largest loss first."""
    values = {(pair.source, pair.target): pair.value for pair in other.pairs}
    losses = [
        (pair.value - values[key], words.pair(*key))
        for pair in model.pairs
        if (key := (pair.source, pair.target)) in values and pair.value < values[key]
    ]
    return [name for _, name in sorted(losses)]


def _base_chosen(study: CaseStudy) -> str:
    if study.base_given or study.difference(TRIPLET, ALL_PAIRS) is None:
        return ""
    return (
        f"{marked(study.base)} was chosen as base because it is best on these same queries, so its value is "
        "optimistic: true gains over it may be larger."
    )
