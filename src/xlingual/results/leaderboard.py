"""A leaderboard: encoders as rows, and as columns the data sets and tasks that they were evaluated on."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct, field

from xlingual.results.document import FolderDocument, unknown
from xlingual.results.evaluation import Cost
from xlingual.results.values import (
    Conditions,
    Count,
    Interval,
    Level,
    Note,
    Number,
    Size,
    Timings,
    Warnings,
    about,
    among,
)


class ResultCell(Struct, frozen=True):
    """One encoder in one column; the value is None where it was not evaluated there, the note says so."""

    encoder: Annotated[str, about("Name of the row.")]
    value: Annotated[Number | None, about("The number; null where the cell is missing, the note says why.")]
    ci: Annotated[Interval | None, about("Interval of the value; null where none is known.")] = None
    rank_low: Annotated[
        Size | None, about("Best rank in the column that corrected tests leave open; null without tests.")
    ] = None
    rank_high: Annotated[Size | None, about("Worst such rank.")] = None
    top: Annotated[bool, about("Whether no encoder of the column is shown to be better.")] = False
    result: Annotated[
        str | None,
        about("Name of the result that has the number, among `results`; null where it is missing."),
    ] = None
    cost: Annotated[Cost, about("What the encoder costs, as results.json has it; empty where not known.")] = (
        Cost()
    )
    note: Note = None


class ResultColumn(Struct, frozen=True):
    """One data set, task and measure under equal conditions, with a cell for every row of the leaderboard."""

    name: Annotated[str, about("Its head, which no other column has.")]
    data: Annotated[str, about("Name of the data.")]
    task: Annotated[str, about("Name of the task.")]
    measure: Annotated[str, about("Canonical name of the measure.")]
    languages: Annotated[list[str], about("Languages in it.")]
    conditions: Conditions
    cells: Annotated[list[ResultCell], about("A cell for each row: values first, the best ones first.")]
    chance: Annotated[
        Number | None, about("Mean value of an encoder that knows nothing; null if unknown.")
    ] = None
    lower_is_better: Annotated[bool, about("Whether lower values are better.")] = False
    n_parts: Annotated[Count, about("Language pairs that values are means over.")] = 1
    n_seeds: Annotated[Count, about("Samples that values are means over.")] = 1
    n_queries: Annotated[
        Count | None, about("Queries that the encoders are compared on; null without tests.")
    ] = None
    n_tests: Annotated[
        Count, about("Tests of pairs of encoders that ranks are corrected for; 0 without.")
    ] = 0
    untested: Note = None

    @property
    def known(self) -> list[ResultCell]:
        """The cells that have a value."""
        return [cell for cell in self.cells if cell.value is not None]

    @property
    def top(self) -> list[ResultCell]:
        """The cells that no other is shown to be better than; none where nothing was tested."""
        return [cell for cell in self.cells if cell.top]

    @property
    def tested(self) -> bool:
        """Whether its encoders were compared with each other on the same queries."""
        return self.n_tests > 0


class Mean(Struct, frozen=True):
    """The mean of a row over the columns of one task and measure; only rows with a value in each have one."""

    encoder: Annotated[str, about("Name of the row.")]
    measure: Annotated[str, about("The task and measure of the columns, such as BkR R@10.")]
    value: Annotated[Number, about("Mean of its values, each column with equal weight.")]


class Source(Struct, frozen=True):
    """A result that the leaderboard was made from."""

    name: Annotated[str, about("Its name, which no other has; its page is results/NAME.html.")]
    folder: Annotated[str, about("The folder it was read from.")]
    tasks: Annotated[list[str], about("Its tasks, in the order of its page.")] = field(default_factory=list)
    date: Annotated[str | None, about("When it was made; null where it does not say.")] = None
    digest: Annotated[str | None, about("Its result digest.")] = None


class Leaderboard(FolderDocument, frozen=True, tag="xlingual/leaderboard/1"):
    """Encoders × data sets × tasks: values, rank intervals, groups tied for top, and what is missing."""

    made_by = "xlingual leaderboard … --out SITE"
    file = "leaderboard.json"

    encoders: Annotated[list[str], Meta(min_length=1), about("The rows, by name.")]
    columns: Annotated[list[ResultColumn], Meta(min_length=1), about("The columns.")]
    results: Annotated[list[Source], about("The results that it was made from.")]
    means: Annotated[
        list[Mean],
        about(
            "Means over the columns of one measure, the best first, of encoders that have each of them; "
            "empty without."
        ),
    ]
    no_mean: Annotated[Note, about("Why there are no means; null where there are.")]
    correction: Annotated[str, among("holm", "bh", "none"), about("Correction for the number of tests.")]
    alpha: Annotated[Level, about("Significance level.")]
    seed: Annotated[Count, about("Seed of the random numbers of the tests.")]
    warnings: Warnings
    timings: Timings = field(default_factory=dict)

    def problem(self) -> str | None:
        """Return which cell has another row or result than the leaderboard lists."""
        results = [one.name for one in self.results]
        for column in self.columns:
            named = [cell.result for cell in column.cells if cell.result is not None]
            found = unknown((cell.encoder for cell in column.cells), self.encoders, "encoders")
            found = found or unknown(named, results, "results")
            if found or len(column.cells) != len(self.encoders):
                return f"column {column.name!r}: {found or 'it must have one cell for each encoder'}"
        return None
