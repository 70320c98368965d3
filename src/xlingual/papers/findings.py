"""The findings of a study: tables of models by measures over trainings, and tested differences."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct, field

from xlingual.results.comparison import OUTCOMES
from xlingual.results.document import FolderDocument, unknown
from xlingual.results.files import REPORT
from xlingual.results.runs import OfRuns
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
