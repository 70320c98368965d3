"""The page of a study of regimes: LAReQA's Tables 2 and 4, Figure 4 in two numbers, and every difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xlingual.report import blocks, numbers, words
from xlingual.report.axis import axis_for
from xlingual.report.blocks import Fold, Section
from xlingual.report.figures.bars import SWATCHES
from xlingual.report.findings import regime_study as verdict
from xlingual.report.numbers import MISSING
from xlingual.report.table import Bar, Cell, Column, Key, Row, Table, narrower
from xlingual.report.trainings import differences, trainings
from xlingual.results.comparison import BETTER, WORSE
from xlingual.results.regime_study import (
    OTHER,
    OWN_POOL,
    POOL,
    SAME,
    UNTRAINED,
    RegimeScores,
    RegimeStudy,
    Score,
)

TERMS = (
    (
        "Regime",
        "Which languages meet in a batch. en-en: one language only; x-x: question and answer in the same "
        "language, all languages mixed; x-x-mono: the same, each batch of one language; x-y: languages drawn "
        "independently; hybrid: batches of x-x-mono and x-y in turn.",
    ),
    (
        "Alignment",
        "Whether the right answer in another language comes before wrong ones of all languages, those of "
        "the question's own among them: mAP with a single answer in the pool, in another language.",
    ),
    ("Untrained", "The model before its first step: what its features find without any training."),
    (
        "Own and other",
        "mAP with a single answer in the pool, in the question's language, or in another (mean over "
        "languages). Questions that have both count.",
    ),
    (
        "Interval",
        "Where the number would land for other questions of the same source (those of a paragraph are not "
        "independent) and, with several trainings, for other seeds.",
    ),
)
LOOKS = narrower("sd of trainings", "own", "− next")
MARK = "*"
_MANY = 8  # languages that a terminal shows side by side


def page(study: RegimeStudy, *, title: str | None = None) -> blocks.Page:
    """Return the page of a study of regimes."""
    facts = numbers.facts(
        (len(study.trained), "regime", "regimes"),
        (study.n_trainings, "training of each", "trainings of each"),
        (len(study.languages), "language", "languages"),
        (study.n_trained, "question to train on", "questions to train on"),
        (study.steps, "batch", "batches"),
        (study.n_questions, "question evaluated", "questions evaluated"),
        (study.n_candidates, "candidate", "candidates"),
    )
    conditions = {
        **study.conditions,
        "base": study.base,
        "training": f"{study.steps:,} batches of {study.batch:,} pairs",
        "correction": "Holm, over all pairs of regimes, for each value by itself",
        "seed": str(study.seed),
    }
    scores = [score for one in study.regimes for score in (one.pool, one.own_pool, one.same) if score]
    intervals = [*(score.ci for score in scores), *(one.ci for one in study.differences)]
    return blocks.Page(
        kind="case study",
        title=title or f"Regimes of training on {study.source}: alignment, and what it costs",
        verdict=[blocks.Finding(verdict.findings(study))],
        sections=[_pool(study), *_own(study), _differences(study)],
        facts=facts,
        terms=(*TERMS, words.NO_DIFFERENCE),
        warnings=study.warnings,
        conditions=[(key, [value]) for key, value in conditions.items()],
        systems=[(one.model, [one.identity]) for one in study.trainings],
        methods=sorted({ci.method for ci in intervals if ci}),
        timings=[(name, numbers.duration(seconds)) for name, seconds in study.timings.items()],
    )


def _pool(study: RegimeStudy) -> Section:
    """Return Table 2, with the two sides of Figure 4."""
    table = _board(study, POOL, "mAP in the pool of all languages", SAME, OTHER)
    about = (
        "Questions of all languages, answers among the candidates of all languages. Own and other: a single "
        "answer in the pool, in the question's language or in another."
    )
    folds = [Fold("By language of the question", [_by_language(study, POOL)])]
    return Section("The pool of all languages", [table, *folds], about)


def _own(study: RegimeStudy) -> list[Section]:
    """Return Table 4."""
    if all(one.own_pool is None for one in study.regimes):
        return []
    table = _board(study, OWN_POOL, "mAP in the pool of the question's language")
    about = (
        "The same models and questions, with the candidates of the question's language alone: what a "
        "search engine for each language would see."
    )
    if study.n_own < study.n_questions:
        about += f" {study.n_own:,} of {study.n_questions:,} questions have an answer there."
    return [Section("Within a language", [table, _by_language(study, OWN_POOL)], about)]


def _board(study: RegimeStudy, where: str, title: str, *more: str) -> Table:
    """Return the regimes with a score, the best first, and what each gains over the next and the untrained.

    `more` are further values.
    """
    columns = (
        Column("regime", "name", data=True),
        Column("mAP", interval="95 % interval", main=True),
        Column("", "chart"),
        Column("− next"),
        Column("− untrained"),
        *(Column({SAME: "own", OTHER: "other"}[kind]) for kind in more),
        Column("sd of trainings", where="terminal"),
    )
    known = [(one, score) for one in study.regimes if (score := one.score(where)) is not None]
    known.sort(key=lambda pair: -pair[1].value)
    untrained = next((score.value for one, score in known if one.name == UNTRAINED), None)
    lines = () if untrained is None else (("chance", untrained),)
    rows = []
    for (one, score), (following, _) in zip(known, [*known[1:], known[-1]], strict=True):
        value = Cell.of(score.value, score.ci)
        cells = (
            Cell(one.name),
            value,
            Cell(bar=Bar(score.value, value.ends, lines, f"{one.name}: {value.plain}")),
            _gain(study, one.name, following.name, where),
            _gain(study, one.name, UNTRAINED, where),
            *(Cell.of(None if (own := one.score(kind)) is None else own.value) for kind in more),
            Cell.of(score.sd_training, digits=4),
        )
        tone = "unled" if one.name == UNTRAINED else "leader" if one is known[0][0] else "behind"
        rows.append(Row(cells, tone))
    ends = [end for _, score in known for end in (score.value, *numbers.ends(score.ci))]
    return Table.board(
        title,
        columns,
        rows,
        axis_for(ends, floor=0.0),
        notes=(f"{MARK}: p below 0.05, corrected for all pairs of regimes (Holm).",),
        legend=(Key("untrained", SWATCHES["chance"]),),
        looks=LOOKS,
    )


def _gain(study: RegimeStudy, name: str, other: str, where: str) -> Cell:
    """Return the difference of a regime to another, marked where the corrected p shows it."""
    found = study.difference(name, other, where)
    if found is None:
        return Cell(MISSING)
    cell = Cell.difference(found.value, found.ci, signed=True)
    return replace(cell, text=f"{cell.text}{MARK}") if found.outcome in (BETTER, WORSE) else cell


def _by_language(study: RegimeStudy, where: str) -> Table:
    """Return the means by language of the question."""
    known: list[tuple[str, Score]] = [
        (one.name, score) for one in study.regimes if (score := one.score(where)) is not None
    ]
    known.sort(key=lambda pair: -pair[1].value)
    tags = [tag for tag in study.languages if any(tag in score.by_language for _, score in known)]
    rows = [
        [name, *(Cell.of(score.by_language.get(tag)) for tag in tags), Cell.of(score.value)]
        for name, score in known
    ]
    return Table.of_texts(
        "mAP by language of the question",
        ["regime", *tags, "all"],
        rows,
        data=True,
        titled=where == OWN_POOL,  # the other table stands in a fold of this name
        splits=len(tags) > _MANY,
        where="both" if where == OWN_POOL else "page",
    )


def _differences(study: RegimeStudy) -> Section:
    """Return every pair of regimes."""
    about = (
        "The first regime's value less the other's, on the same questions and over all trainings; p is "
        "corrected for the number of pairs (Holm), intervals are not."
    )
    titles = {
        POOL: "In the pool of all languages",
        OTHER: "A single answer, in another language",
        SAME: "A single answer, in the question's language",
        OWN_POOL: "In the pool of the question's language",
    }
    found = [Fold(title, [_pairs(study, where, title)]) for where, title in titles.items()]
    kept = [fold for fold in found if all(block.rows for block in fold.blocks if isinstance(block, Table))]
    return Section("Every pair of regimes", [*kept, Fold("Trainings", [_trainings(study)])], about)


def _pairs(study: RegimeStudy, where: str, title: str) -> Table:
    own = [one for one in study.differences if one.where == where]
    rows = [
        [
            f"{one.regime} − {one.other}",
            Cell.difference(one.value, one.ci, signed=True),
            one.p_adjusted,
            one.outcome,
        ]
        for one in own
    ]
    notes = tuple(sorted({one.note for one in own if one.note}))
    return differences(title, ["difference", "mAP"], rows, titled=False, notes=notes)


def _trainings(study: RegimeStudy) -> Table:
    values = _per_model(study.regimes)
    rows = [
        (
            one.model,
            one.seed,
            Cell.count(one.steps),
            *values[one.model],
            Cell.of(one.scale, digits=1),
            one.seconds,
        )
        for one in study.trainings
    ]
    return trainings(("batches", "mAP, all languages", "mAP, own language", "scale"), rows)


def _per_model(regimes: Sequence[RegimeScores]) -> dict[str, list[Cell]]:
    """Return the values of each model in both pools."""
    return {
        model: [
            Cell.of(None if score is None else score.per_training[place])
            for score in (one.pool, one.own_pool)
        ]
        for one in regimes
        for place, model in enumerate(one.models)
    }
