"""The page of a case study: Table 2 and Figure 3 of the paper, and what the trainings changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from xlingual.report import blocks, numbers, words
from xlingual.report.axis import axis_for
from xlingual.report.blocks import Block, Box, Fold, Section
from xlingual.report.emphasis import NONE, Emphasis, language_pairs
from xlingual.report.figures.bars import SWATCHES
from xlingual.report.figures.over_pairs import KEYS, OverPairs, figure
from xlingual.report.figures.pairs import FEWEST_FOR_BOX, box_of
from xlingual.report.findings import case_study as verdict
from xlingual.report.findings.case_study import SCALE, UNIT, label, measure, times
from xlingual.report.numbers import MISSING
from xlingual.report.pages.best_model import best_model_tables
from xlingual.report.table import Badge, Bar, Cell, Column, Key, Row, Table, Tone, narrower
from xlingual.report.trainings import differences, of_epochs
from xlingual.results.case_study import BASE, CONTROL, TRAINED, CaseStudy, Model
from xlingual.results.comparison import NO_DIFFERENCE

TERMS = {
    "Triplet": "Two dense layers on the base's frozen vectors of title and body. Training brings a body "
    "nearer to its own title than to other titles. No matching texts across languages are used.",
    "TripletXL": "Triplet with a penalty for texts that are nearer to neighbours in their own language than "
    "to neighbours in other languages.",
    "Control": "The base's vectors of title and body, concatenated and scaled as in Triplet, without "
    "training. Triplet reads title and body separately, but the base reads the whole text. So a "
    "gain over the base comes from training only if it is also a gain over the control.",
    "Worst pairs": "The language pairs with Triplet's lowest values. A pair that was chosen for a low value "
    "has a higher value when it is measured again, with any model (regression to the mean). "
    "So the difference on these pairs is measured on queries that did not choose them: one "
    "half of the queries chooses the pairs, the other half measures them, and the reverse. "
    "With several trainings, each training is measured on pairs that the others chose. The "
    "figure highlights the worst pairs over all queries, or those of --annotate.",
    "Interval": "The range of values for another sample of the same size from the same source and, with "
    "several trainings, for other trainings. The interval is not corrected for the number of "
    "questions; the adjusted p is (Holm).",
}
_PIVOT = {
    "Image pivot": "A linear map of the base's vectors for each language, fitted on texts whose images are "
    "near and chosen without labels (xlingual train pivot). Another image encoder finds these pairs than the "
    "one that compares images here.",
}
_LEVEL = "level"
LOOKS = narrower(
    "sd of pairs", "highest pair", "lowest pair", "chosen", "in the figure", "outcome", "sd of trainings"
)


def page(study: CaseStudy, *, title: str | None = None, emphasis: Emphasis = NONE) -> blocks.Page:
    """Return the page of a case study."""
    emphasis.only("--annotate")
    known = sorted({(pair.source, pair.target) for model in study.models for pair in model.pairs})
    annotated = language_pairs(emphasis.annotate, known if study.n_pairs > 1 else [])
    facts = numbers.facts(
        (len(study.models), "model", "models"),
        (study.n_pairs, "language pair", "language pairs"),
        (study.n_queries, "query", "queries"),
        (study.n_seeds, "sample", "samples"),
        (study.n_trainings, "training of each", "trainings of each"),
    )
    terms = TERMS if study.pivot is None else TERMS | _PIVOT
    about = "Mean over language pairs. Chance is the score of an encoder without any knowledge."
    intervals = [*(model.ci for model in study.models), *(one.ci for one in study.differences)]
    conditions = {
        "measure": study.measure,
        "image encoder": study.image_encoder or MISSING,
        "base": study.base,
        "correction": "Holm: over the questions of the study; over all pairs of models; over these on all "
        "language pairs",
        "seed": str(study.seed),
        **{key: value for key, value in study.conditions.items() if key != "measure"},
    }
    return blocks.Page(
        kind="case study",
        title=title or f"Case study: training on {study.base} without parallel texts",
        verdict=[blocks.Finding(verdict.findings(study))],
        sections=[
            Section(measure(study), [_methods(study), *best_model_tables(study)], about),
            *_over_pairs(study, annotated),
            _changes(study, annotated),
        ],
        facts=[*facts, ("measure", study.measure)],
        terms=(*words.terms("BkR"), *terms.items(), words.NO_DIFFERENCE, *words.terms("Chance")),
        warnings=study.warnings,
        conditions=[(key, [value]) for key, value in conditions.items()],
        systems=[(training.encoder, [training.spec]) for training in study.trainings],
        methods=sorted({ci.method for ci in intervals if ci}),
        timings=[(name, numbers.duration(seconds)) for name, seconds in study.timings.items()],
    )


def _methods(study: CaseStudy) -> Table:
    """Return the paper's Table 2: a row for each model, the best last, and chance first."""
    columns = (
        Column("Method", "name", "method", data=True),
        Column(measure(study), short=f"BkR {UNIT}", interval="95 % interval", main=True),
        Column("", "chart"),
        Column("Language pairs", where="page"),
        Column("lowest pair", where="terminal"),
        Column("highest pair", where="terminal"),
        Column("SD of pairs", short="sd of pairs"),
        Column("SD of trainings", short="sd of trainings"),
    )
    best = max(model.value for model in study.models)
    level = [o.model for o in study.best.others if o.outcome == NO_DIFFERENCE] if study.best else []
    chance = [] if study.chance is None else [SCALE * study.chance]
    lines = tuple(("chance", value) for value in chance)
    rows = [
        Row(_method(model, lines, model.value == best, model.name in level), tone)
        for model in study.models
        for tone in ["leader" if model.value == best else "level" if model.name in level else "behind"]
    ]
    if chance:
        value = _times(study.chance)
        bar = Bar(None, lines=lines, spoken=f"chance: {value.text}")
        rows.insert(0, Row((Cell("chance"), value, Cell(bar=bar), *[Cell(MISSING)] * 5), "unled"))
    ends = [SCALE * end for one in study.models for end in (one.value, *numbers.ends(one.ci))]
    return Table.board(
        f"{measure(study)}, mean over {numbers.counted(study.n_pairs, 'language pair')}",
        columns,
        rows,
        axis_for([*ends, *chance], floor=0.0),
        notes=(f"{_LEVEL}: no difference from the best is found.",) if level else (),
        looks=LOOKS,
    )


def _method(model: Model, lines: tuple[tuple[str, float], ...], leads: bool, level: bool) -> tuple[Cell, ...]:
    values = [pair.value for pair in model.pairs]
    low, high = map(_times, (min(values), max(values)) if len(values) > 1 else (None, None))
    tone: Tone = "best" if leads or level else ""
    value = Cell.by(times, model.value, model.ci, scale=SCALE, tone=tone)
    bar = Bar(SCALE * model.value if model.ci else None, value.ends, lines, f"{label(model)}: {value.plain}")
    name = Cell(label(model))
    if model.role in (BASE, CONTROL):
        name = replace(name, badges=(Badge(model.role, "soft", where="page"),), mark=f" ({model.role})")
    if leads:
        name = replace(name, badges=(Badge("best", where="page"),))
    elif level:
        name = replace(name, badges=(*name.badges, Badge(_LEVEL, "soft")))
    between = Cell(f"{low.text} to {high.text}" if len(values) > 1 else MISSING)
    return (name, value, Cell(bar=bar), between, low, high, *map(_times, (model.sd_pairs, model.sd_training)))


def _times(value: float | None) -> Cell:
    return Cell.by(times, value, scale=SCALE)


def _over_pairs(study: CaseStudy, annotated: Sequence[tuple[str, str]]) -> list[Section]:
    if study.n_pairs < 2:
        return []
    shown = figure(figure_3(study, annotated))
    about = "Every dot is a language pair"
    if annotated:
        about += "; those with a name are followed from model to model"
    elif study.worst.shown:
        about += (
            "; the worst pairs of Triplet are followed from model to model. They were chosen by the "
            "values shown here, so part of what any other model gains on them is luck: the verdict and the "
            "table below judge them by other queries"
        )
    keys = [*KEYS]
    keys += [] if study.chance is None else [Key("chance", SWATCHES["chance"])]
    return [Section("Over language pairs", [shown, blocks.Legend(tuple(keys))], f"{about}.")]


def figure_3(study: CaseStudy, annotated: Sequence[tuple[str, str]] = ()) -> OverPairs:
    """Return the figure's content: the annotated pairs are followed, or Triplet's worst ones."""
    chance = [] if study.chance is None else [SCALE * study.chance]
    boxes = [_box(model) for model in study.models]
    about = f"{len(study.models)} models over {study.n_pairs} language pairs"
    return OverPairs(
        boxes,
        axis_for([*(value for box in boxes for value, _ in box.dots), *chance], floor=0.0),
        annotated or [(worst.source, worst.target) for worst in study.worst.shown],
        chance,
        begin=next((i for i, model in enumerate(study.models) if model.role == BASE), 0),
        first=[i for i, model in enumerate(study.models) if model.role in TRAINED],
        spoken="; ".join([about, *(box.spoken for box in boxes)]),
    )


def _box(model: Model) -> Box:
    """Return the box of a model, and every language pair as a dot."""
    ordered = sorted(model.pairs, key=lambda pair: pair.value)
    keys = [(pair.source, pair.target) for pair in ordered]
    dots = [
        (SCALE * pair.value, f"{words.pair(*key)}: {times(pair.value)}")
        for key, pair in zip(keys, ordered, strict=True)
    ]
    values = [value for value, _ in dots]
    enough = len(values) >= FEWEST_FOR_BOX
    quartiles, low, high = box_of(values) if enough else (None, values[0], values[-1])
    spoken = f"{label(model)} from {times(ordered[0].value)} to {times(ordered[-1].value)}"
    return Box(label(model), spoken, quartiles, low, high, dots, keys)


def _changes(study: CaseStudy, annotated: Sequence[tuple[str, str]]) -> Section:
    over = " and over all trainings" if any(one.sd_training is not None for one in study.models) else ""
    about = (
        f"The first model's value less the other's, on the same queries{over}. Worst pairs are Triplet's, "
        "judged on queries that did not choose them."
    )
    folds = [Fold(table.title, [table]) for table in (_pairs(study), _trainings(study)) if table.rows]
    found = [*_questions(study), *_worst(study, annotated), *folds]
    return Section("What training changed", found, about if study.differences else "Nothing was trained.")


def _trainings(study: CaseStudy) -> Table:
    """Return the trainings of the models that were trained in this study."""
    own = ((training.encoder, training) for training in study.trainings if training.seed is not None)
    note = "own titles found by bodies and the reverse, sum of R@1, R@5 and R@10, at most 600"
    return of_epochs(own, "epoch kept", note)


def _questions(study: CaseStudy) -> list[Block]:
    """Return the differences that were tested."""
    named = [
        (" − ".join(verdict.names_of(study, difference)), difference) for difference in study.differences
    ]
    rows = [
        [
            name,
            difference.where,
            Cell.by(verdict.gain, difference.value, difference.ci, scale=SCALE),
            difference.p_adjusted,
            difference.outcome,
        ]
        for name, difference in named
    ]
    table = differences(
        "What training changed",
        ["difference", "on", f"BkR {UNIT}"],
        rows,
        titled=False,
        notes=tuple(f"{name}: {difference.note}" for name, difference in named if difference.note),
        looks=LOOKS,
        in_verdict=("outcome",),  # the verdict has it
        where="both",
    )
    return [table] if rows else []


def _worst(study: CaseStudy, annotated: Sequence[tuple[str, str]]) -> list[Block]:
    """Return the worst pairs of Triplet with the values of base and trained models."""
    worst, models = study.worst, verdict.compared(study)
    if not (worst.shown or worst.also_chosen) or len(models) < 2:
        return []
    chosen = [*worst.shown, *worst.also_chosen]
    values = _by_pair(models, [(pair.source, pair.target) for pair in chosen])
    followed = annotated or [(pair.source, pair.target) for pair in worst.shown]
    rows = [
        [
            *own,
            "yes" if (pair.source, pair.target) in followed else "no",
            Cell.by(numbers.percent, pair.chosen),
        ]
        for own, pair in zip(values, chosen, strict=True)
    ]
    number = numbers.counted(worst.number, "pair") if worst.number > 1 else "one pair"
    note = (
        f"chosen: in how many of the {2 * study.n_trainings} choices of {number} (one for each half of "
        f"the queries{' and each training' if study.n_trainings > 1 else ''}) the pair was among the worst. "
        "Differences on these pairs are judged on queries that did not choose them; the values above are "
        "over all queries."
    )
    of_models = ["base" if model.role == BASE else label(model) for model in models]
    heads = ["pair", *of_models, "in the figure", "chosen"]
    return [Table.of_texts("Triplet's worst pairs", heads, rows, notes=(note,), looks=LOOKS, where="both")]


def _pairs(study: CaseStudy) -> Table:
    """Return the values of all models on all language pairs."""
    keys = dict.fromkeys((pair.source, pair.target) for model in study.models for pair in model.pairs)
    heads = ["pair", *map(label, study.models)]
    return Table.of_texts(
        f"All language pairs, BkR {UNIT}", heads, _by_pair(study.models, keys), titled=False
    )


def _by_pair(models: Iterable[Model], pairs: Iterable[tuple[str, str]]) -> list[list[str | Cell]]:
    """Return a row for each language pair: its name, and the values of the models."""
    values = [{(pair.source, pair.target): pair.value for pair in model.pairs} for model in models]
    return [[words.pair(*key), *(_times(own.get(key)) for own in values)] for key in pairs]
