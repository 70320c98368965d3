"""The tables of a case study as text, for the terminal and the page alike."""

from __future__ import annotations

from xlingual.report import words
from xlingual.report.case_study.wording import (
    UNIT,
    gain,
    interval,
    label,
    label_of,
    measure,
    p_text,
    times,
)
from xlingual.report.grid import Table
from xlingual.report.numbers import MISSING, count, duration, percent
from xlingual.results.case_study import BASE, TRIPLET, TRIPLET_XL, CaseStudy, Model


def methods(study: CaseStudy) -> Table:
    """Return the paper's Table 2: a row for each model, chance first."""
    rows = [["chance", times(study.chance), MISSING, *[MISSING] * 4]]
    for model in study.models:
        low, high = _ends(model)
        name = f"{label(model)} (base)" if model.role == BASE else label(model)
        spread = times(model.sd_pairs), times(model.sd_training)
        rows.append([name, times(model.value), interval(model.ci) or MISSING, low, high, *spread])
    head = ["method", f"BkR {UNIT}", "95 % interval", "lowest pair", "highest pair", "sd of pairs"]
    table = Table(
        f"{measure(study)}, mean over {count(study.n_pairs)} language pairs",
        [*head, "sd of trainings"],
        rows,
        names_are_data=True,
    )
    lacking = [name for i, name in enumerate(table.head) if all(row[i] == MISSING for row in rows)]
    return table.without(*lacking)


def _ends(model: Model) -> tuple[str, str]:
    if len(model.pairs) < 2:
        return MISSING, MISSING
    ordered = sorted(model.pairs, key=lambda pair: pair.value)
    low, high = ordered[0], ordered[-1]
    return times(low.value), times(high.value)


def questions(study: CaseStudy) -> Table:
    """Return the differences that were tested."""
    rows = [
        [
            f"{label_of(study, asked.model)} − {label_of(study, asked.other)}",
            asked.where,
            gain(asked.value, asked.ci),
            p_text(asked.p_adjusted),
            asked.outcome,
        ]
        for asked in study.differences
    ]
    head = ["difference", "on", f"BkR {UNIT}", "adjusted p", "outcome"]
    notes = [
        f"{label_of(study, asked.model)} − {label_of(study, asked.other)}: {asked.note}"
        for asked in study.differences
        if asked.note
    ]
    return Table(
        "What the trainings changed",
        head,
        rows,
        notes,
        n_names=2,
        remarks=frozenset({"outcome"}),
        names_are_data=True,
    )


def worst(study: CaseStudy) -> Table | None:
    """Return the worst pairs of Triplet with the values of base and trained models; None where none is."""
    chosen = [(pair.source, pair.target, pair.chosen, True) for pair in study.worst.shown]
    chosen += [(pair.source, pair.target, pair.chosen, False) for pair in study.worst.also_chosen]
    models = [model for role in (BASE, TRIPLET, TRIPLET_XL) if (model := study.model(role)) is not None]
    if not chosen or len(models) < 2:
        return None
    rows = [
        [
            words.pair(source, target),
            *(times(_of_pair(model, source, target)) for model in models),
            f"{'yes' if drawn else 'no'}",
            percent(share),
        ]
        for source, target, share, drawn in chosen
    ]
    head = ["pair", *("base" if m.role == BASE else label(m) for m in models), "in the figure", "chosen"]
    choices = 2 * study.n_trainings
    number = "one pair" if study.worst.number == 1 else f"{study.worst.number} pairs"
    notes = [
        f"chosen: in how many of the {choices} choices of {number} (one for each half of "
        f"the queries{' and each training' if study.n_trainings > 1 else ''}) the pair was among the worst. "
        "Differences on these pairs are judged on queries that did not choose them; the values above are "
        "over all queries."
    ]
    return Table("Triplet's worst pairs", head, rows, notes)


def pairs(study: CaseStudy) -> Table:
    """Return the values of all models on all language pairs."""
    keys = dict.fromkeys((pair.source, pair.target) for model in study.models for pair in model.pairs)
    rows = [[words.pair(*key), *(times(_of_pair(model, *key)) for model in study.models)] for key in keys]
    return Table(f"All language pairs, BkR {UNIT}", ["pair", *map(label, study.models)], rows)


def _of_pair(model: Model, source: str, target: str) -> float | None:
    return next((p.value for p in model.pairs if (p.source, p.target) == (source, target)), None)


def trainings(study: CaseStudy) -> Table | None:
    """Return how the models came to be; None where none was trained here."""
    here = [training for training in study.trainings if training.seed is not None]
    if not here:
        return None
    rows = [
        [
            training.encoder,
            str(training.seed),
            f"{training.best_epoch} of {training.epochs}",
            MISSING if training.score is None else f"{training.score:.1f}",
            MISSING if training.seconds is None else duration(training.seconds),
        ]
        for training in here
    ]
    notes = ["validation: own titles found by bodies and the reverse, sum of R@1, R@5 and R@10, at most 600."]
    head = ["model", "seed", "best epoch", "validation", "time"]
    return Table("Trainings", head, rows, notes, names_are_data=True)
