"""The findings of a study: models by measures over trainings, differences with their tests; their page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from msgspec import Struct, field

from xlingual.report import blocks, numbers, side_by_side, words
from xlingual.report.axis import axis_for
from xlingual.report.blocks import Block, Box, Boxes, Fold, Section
from xlingual.report.figures.pairs import FEWEST_FOR_BOX, box_of
from xlingual.report.marking import marked
from xlingual.report.numbers import in_words
from xlingual.report.side_by_side import BEST, REAL, SMALLER, best_of
from xlingual.report.table import Cell, Column, Table
from xlingual.report.trainings import differences, trainings
from xlingual.results.comparison import BETTER, CANNOT_TELL, NO_DIFFERENCE, OUTCOMES, WORSE
from xlingual.results.document import FolderDocument, unknown
from xlingual.results.files import REPORT
from xlingual.results.runs import Compared, OfRuns
from xlingual.results.values import (
    Conditions,
    Count,
    Interval,
    Number,
    Share,
    Size,
    Timings,
    Warnings,
    Whole,
    about,
    among,
)

CHANCE = "chance"  # what a model is compared with that is asked whether it knows anything
TABLE, FOLD, BOXES = "table", "fold", "boxes"
TERMS = (
    (
        "Interval",
        "Where the number would land for other queries of the same source (those of a cluster are not "
        "independent) and, with several trainings, for other trainings. It is not corrected for the "
        "number of questions; the adjusted p is (Holm).",
    ),
    words.NO_DIFFERENCE,
)
_MANY = 8  # measures of a table with models as rows; more of them are rows themselves
_WORDS = {BETTER: "better than", WORSE: "worse than", NO_DIFFERENCE: "no difference is found to"}


class StudyTable(Struct, frozen=True):
    """A table of the study: models by measures."""

    name: Annotated[str, about("Its name, such as Table 2.")]
    title: Annotated[str, about("What it shows.")]
    reference: Annotated[str, about("The model that the others are compared with.")]
    lead: Annotated[str | None, about("The measure that its verdict is about; null: it has none.")] = None
    about: Annotated[str, about("A sentence that introduces it.")] = ""
    form: Annotated[
        str,
        among(TABLE, FOLD, BOXES),
        about("table; fold: behind its title; boxes: a box for each model over measures."),
    ] = TABLE
    digits: Annotated[Count, about("Decimals of its values.")] = 3


class StudyRow(Struct, frozen=True):
    """A measure of a table, with the value of every model that has one."""

    table: Annotated[str, about("Name of the table.")]
    measure: Annotated[str, about("Name of the measure.")]
    n: Annotated[Count, about("Queries, sentences or pairs behind a value.")]
    scores: Annotated[dict[str, OfRuns], about("By model; the difference is to the table's reference.")]
    chance: Annotated[Number | None, about("What an encoder that knows nothing scores.")] = None


class StudyDifference(Struct, frozen=True):
    """One model against another on the same queries, training by training."""

    model: Annotated[str, about("The model whose value is compared.")]
    other: Annotated[str, about("The model whose value is subtracted, or chance.")]
    table: Annotated[str, about("Name of the table.")]
    measure: Annotated[str, about("Name of the measure.")]
    family: Annotated[str, about("The questions that p is corrected for.")]
    headline: Annotated[bool, about("Whether the verdict names it.")]
    value: Annotated[Number, about("The model's value less the other's, mean over trainings.")]
    ci: Annotated[Interval | None, about("Interval, not corrected; null without a test.")]
    p: Annotated[Share | None, about("Two-sided p of no difference; null without a test.")]
    p_adjusted: Annotated[Share | None, about("p corrected by Holm over its family.")]
    per_training: Annotated[list[Number], about("The difference of each training.")]
    outcome: Annotated[str, among(*OUTCOMES), about("What the corrected p says of the model.")]
    note: Annotated[str | None, about("Why there is no test.")] = None


class StudyTraining(Struct, frozen=True):
    """One training of a model."""

    model: Annotated[str, about("Name of the model in the tables.")]
    encoder: Annotated[str, about("Name of its folder, and of the encoder in results.")]
    seed: Annotated[Whole, about("Seed of the training.")]
    identity: Annotated[str, about("The name that results and the store use.")]
    epochs: Annotated[Count, about("Epochs run; 0 for a model without training.")]
    best_epoch: Annotated[Count | None, about("The epoch whose weights it has; null where it is the last.")]
    score: Annotated[Number | None, about("Its score on the validation; null without one.")]
    seconds: Annotated[Number, about("Time of the training.")]


class StudyFindings(FolderDocument, frozen=True, tag="xlingual/paper_study/1"):
    """The models of a study, its tables, and every difference that was tested."""

    made_by = "xlingual papers … --out DIR"
    file = "paper_study.json"
    derived = (REPORT,)

    paper: Annotated[str, about("The paper: backretrieval, lareqa or mlmme.")]
    title: Annotated[str, about("What the study is about.")]
    models: Annotated[list[str], about("The models in the order of the tables.")]
    n_trainings: Annotated[Size, about("Trainings of each model that is trained.")]
    tables: Annotated[list[StudyTable], about("The tables.")]
    rows: Annotated[list[StudyRow], about("Their rows.")]
    differences: Annotated[list[StudyDifference], about("The differences that were tested.")]
    trainings: Annotated[list[StudyTraining], about("The trainings.")]
    conditions: Conditions
    facts: Annotated[dict[str, Whole], about("Sizes of the data and of the trainings, by name.")]
    terms: Annotated[dict[str, str], about("Words of the study, and what they mean.")]
    notes: Annotated[list[str], about("What was left out, and what else the tables say.")]
    warnings: Warnings = field(default_factory=list)
    timings: Timings = field(default_factory=dict)

    def of_table(self, name: str) -> list[StudyRow]:
        """Return the rows of a table."""
        return [row for row in self.rows if row.table == name]

    def score(self, table: str, measure: str, model: str) -> OfRuns:
        """Return the value of a model; KeyError where there is none."""
        return {row.measure: row for row in self.of_table(table)}[measure].scores[model]

    def problem(self) -> str | None:
        """Return a problem where a difference names an unknown model, or a row an unknown table."""
        compared = (name for one in self.differences for name in (one.model, one.other))
        tables = (table.name for table in self.tables)
        return unknown(compared, [*self.models, CHANCE], "'models'") or unknown(
            (row.table for row in self.rows), tables, "'tables'"
        )


def page(study: StudyFindings, *, title: str | None = None) -> blocks.Page:
    """Return the page of a study."""
    intervals = [score.ci for row in study.rows for score in row.scores.values()]
    intervals += [one.ci for one in study.differences]
    conditions = {**study.conditions, "correction": "Holm, within each family of questions"}
    amounts = {"models": len(study.models), "trainings of each": study.n_trainings, **study.facts}
    facts = numbers.facts(
        *((n, re.sub(r"(?<=ch)es\b|s\b", "", name, count=1), name) for name, n in amounts.items())
    )
    return blocks.Page(
        kind="study",
        title=title or study.title,
        verdict=[blocks.Finding(sentences(study))],
        sections=[*(_section(study, table) for table in study.tables), _tests(study)],
        facts=facts,
        terms=(*study.terms.items(), *TERMS),
        warnings=study.warnings,
        conditions=[(key, [value]) for key, value in conditions.items()],
        systems=[(one.encoder, [one.identity]) for one in study.trainings],
        methods=sorted({ci.method for ci in intervals if ci}),
        timings=[(name, numbers.duration(seconds)) for name, seconds in study.timings.items()],
    )


def sentences(study: StudyFindings) -> list[str]:
    """Return the verdict: who leads in each table, all models counted, and the answers to its questions."""
    answers = [_leader(study, table) for table in study.tables if table.lead is not None]
    families = dict.fromkeys(one.family for one in study.differences if one.headline)
    answers += [_answer(study, family) for family in families]
    if study.n_trainings == 1 and study.trainings:
        answers.append(
            "Every model was trained once: the intervals are about other queries, not about other trainings."
        )
    return [*filter(None, answers), *study.notes]


def _leader(study: StudyFindings, table: StudyTable) -> str:
    """Return which model leads in a table, and over whom that is shown."""
    row = next((row for row in study.of_table(table.name) if row.measure == table.lead), None)
    if row is None:
        return ""
    smaller = row.measure in SMALLER
    order = sorted(row.scores, key=lambda name: row.scores[name].value, reverse=not smaller)
    best, value = order[0], numbers.number(row.scores[order[0]].value, digits=table.digits)
    outcomes = {name: _outcome(study, row, best, name) for name in order[1:]}
    groups = {word: [marked(name) for name in outcomes if outcomes[name] == word] for word in _WORDS}
    parts = [f"{_WORDS[word]} {in_words(names)}" for word, names in groups.items() if names]
    untested = [marked(name) for name in outcomes if outcomes[name] in (CANNOT_TELL, "")]
    parts += [f"not tested against {in_words(untested)}"] if untested else []
    chance = "" if row.chance is None else f" (chance {numbers.number(row.chance, digits=table.digits)})"
    begin = f"{table.title}: {marked(best)} has the highest {row.measure}, {value}{chance}"
    return f"{'; '.join([begin.replace('highest', 'lowest') if smaller else begin, *parts])}."


def _outcome(study: StudyFindings, row: StudyRow, model: str, other: str) -> str:
    """Return what the corrected p says of a model against another; "" where nobody asked."""
    for one in study.differences:
        if (one.table, one.measure) == (row.table, row.measure) and {one.model, one.other} == {model, other}:
            turned = {BETTER: WORSE, WORSE: BETTER}.get(one.outcome, one.outcome)
            return one.outcome if one.model == model else turned
    return ""


def _answer(study: StudyFindings, family: str) -> str:
    """Return the answers to the questions of a family that the verdict names, by model and outcome."""
    groups: dict[tuple[str, str], list[str]] = {}
    for one in study.differences:
        if one.family == family and one.headline:
            digits = next(table.digits for table in study.tables if table.name == one.table)
            other = one.other if one.other == CHANCE else marked(one.other)
            gain = numbers.signed(one.value, one.ci, digits=digits)
            groups.setdefault((other, one.outcome), []).append(f"{marked(one.model)} ({gain})")
    parts = []
    for (other, outcome), models in groups.items():
        against = {CANNOT_TELL: "not tested against"}.get(outcome) or _WORDS[outcome]
        parts.append(f"{in_words(models)}: {against} {other}")
    return f"{family}: {'; '.join(parts)}."


def _section(study: StudyFindings, table: StudyTable) -> Section:
    """Return a table with models as rows, or, of many measures, as columns behind box plots over them."""
    rows = study.of_table(table.name)
    measures = [row.measure for row in rows]
    named = {
        name: [row.scores[name] for row in rows]
        for name in dict.fromkeys(
            [table.reference, *study.models, *(name for row in rows for name in row.scores)]
        )
        if all(name in row.scores for row in rows)
    }
    shown: list[Block] = []
    if table.form == BOXES or len(measures) > _MANY:
        whole = _many(table, rows, named)
        if table.form == BOXES:
            axis = axis_for(score.value for scores in named.values() for score in scores)
            boxes = [_box(name, measures, scores) for name, scores in named.items()]
            shown.append(Boxes(table.name, boxes, axis, each="model"))
        shown.append(Fold("Every value", [whole]))
    else:
        systems = [
            Compared(
                name,
                [str(n) for n in range(len(scores[0].per_run))],
                dict(zip(measures, scores, strict=True)),
            )
            for name, scores in named.items()
        ]
        note = (
            f"Below each value its difference to {systems[0].name}, on the same queries; {REAL}: p below "
            f"0.05, corrected for its family of questions (Holm). Best in bold ({BEST})."
        )
        title = f"{table.name}: {table.title}"
        grid = replace(side_by_side.table(title, systems, digits=table.digits), titled=False, notes=(note,))
        shown.append(Fold(table.title, [grid]) if table.form == FOLD else grid)
    return Section(f"{table.name}: {table.title}", shown, table.about)


def _box(name: str, measures: Sequence[str], scores: Sequence[OfRuns]) -> Box:
    """Return the box of a model over its measures; few of them have no quartiles."""
    dots = sorted((score.value, measure) for score, measure in zip(scores, measures, strict=True))
    values = [value for value, _ in dots]
    quartiles, low, high = box_of(values) if len(values) >= FEWEST_FOR_BOX else (None, values[0], values[-1])
    spoken = f"{name}: {numbers.number(values[0])} to {numbers.number(values[-1])}"
    labels = [(value, f"{measure} {numbers.number(value)}") for value, measure in dots]
    return Box(name, spoken, quartiles, low, high, labels)


def _many(table: StudyTable, rows: Sequence[StudyRow], named: dict[str, list[OfRuns]]) -> Table:
    """Return the table of many measures, one a row, the best of each marked."""
    lines = []
    for place, row in enumerate(rows):
        values = [scores[place].value for scores in named.values()]
        best = best_of(
            values, lambda value: numbers.fixed(value, digits=table.digits), lower=row.measure in SMALLER
        )
        cells = [Cell.of(scores[place].value, digits=table.digits) for scores in named.values()]
        marks = [
            replace(cell, text=f"{cell.text}{BEST}", tone="best") if cell.text == best else cell
            for cell in cells
        ]
        lines.append([row.measure, *marks])
    return Table.of_texts(
        table.title, ["", *(Column(name, data=True) for name in named)], lines, titled=False, splits=True,
        notes=(f"Best in bold ({BEST}).",), where="both",
    )  # fmt: skip


def _tests(study: StudyFindings) -> Section:
    """Return every difference, family by family, and the trainings."""
    families: dict[str, list[StudyDifference]] = {}
    for one in study.differences:
        families.setdefault(one.family, []).append(one)
    folds = [Fold(family, [_family(family, asked)]) for family, asked in families.items()]
    rows = [
        (one.encoder, one.seed, one.epochs, one.best_epoch or one.epochs, Cell.of(one.score), one.seconds)
        for one in study.trainings
    ]
    if rows:
        folds.append(Fold("Trainings", [trainings(("epochs", "kept", "validation"), rows)]))
    about = (
        "The first model's value less the other's, on the same queries and over all trainings; p is "
        "corrected for the questions of its family (Holm), intervals are not."
    )
    return Section("Every difference", folds, about)


def _family(family: str, asked: Sequence[StudyDifference]) -> Table:
    places = len({(one.table, one.measure) for one in asked}) > 1
    rows = [
        [
            f"{one.model} − {one.other}" + (f" ({one.table}, {one.measure})" if places else ""),
            Cell.difference(one.value, one.ci, signed=True),
            one.p_adjusted,
            one.outcome,
        ]
        for one in asked
    ]
    notes = tuple(sorted({one.note for one in asked if one.note}))
    return differences(family, ["difference", "value"], rows, titled=False, notes=notes)
