"""How results changed over time or from version to version: what `xlingual history` shows."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct, field

from xlingual.results.comparison import BETTER, CANNOT_TELL, NO_DIFFERENCE, WORSE
from xlingual.results.document import FolderDocument
from xlingual.results.gate import FAIL, PASS, UNDECIDED
from xlingual.results.values import (
    Conditions,
    Count,
    Interval,
    Level,
    Note,
    Number,
    Share,
    about,
    among,
)

UNCHANGED = "unchanged"  # the same values for every query
CHANGES = (BETTER, WORSE, UNCHANGED, NO_DIFFERENCE, CANNOT_TELL)


class Gated(Struct, frozen=True):
    """A gate that decided on a recorded result."""

    encoder: Annotated[str, about("Name of the candidate.")]
    task: Annotated[str, about("Name of the task.")]
    measure: Annotated[str, about("Canonical name of the measure.")]
    outcome: Annotated[str, among(PASS, FAIL, UNDECIDED), about("pass, fail or cannot tell.")]


class Recorded(Struct, frozen=True):
    """A result that was recorded."""

    id: Annotated[Count, about("Its number in the history.")]
    digest: Annotated[str, about("Result digest: equal for equal numbers.")]
    date: Annotated[str, about("When it was evaluated, in UTC.")]
    label: Annotated[str, about("Name of its folder in the history: a version, say.")]
    version: Annotated[str | None, about("Version of xlingual; null where it is not known.")] = None
    gates: Annotated[list[Gated], about("Gates that decided on it.")] = field(default_factory=list)


class Change(Struct, frozen=True):
    """The change from one record to another on the same queries; without a test the note says why."""

    since: Annotated[Count, about("The earlier record's id.")]
    difference: Annotated[
        Number | None, about("Later minus earlier value; null where they are not comparable.")
    ]
    ci: Annotated[
        Interval | None, about("Interval of the difference, not widened for the number of changes.")
    ]
    p: Annotated[Share | None, about("Two-sided p of no difference.")]
    p_adjusted: Annotated[Share | None, about("p after Holm's correction over all changes of its kind.")]
    outcome: Annotated[str, among(*CHANGES), about("Outcome of the test.")]
    n_queries: Annotated[Count | None, about("Distinct queries, for each language pair.")] = None
    note: Note = None

    @property
    def real(self) -> bool:
        """Whether the change survives the correction."""
        return self.outcome in (BETTER, WORSE)


class Point(Struct, frozen=True):
    """The value of one record."""

    record: Annotated[Count, about("Its id.")]
    value: Annotated[Number | None, about("Value of the measure; null where there is none.")]
    ci: Annotated[Interval | None, about("Interval of the value.")]
    change: Annotated[
        Change | None, about("The change since the record before; null for the first, and where not tested.")
    ] = None


class Line(Struct, frozen=True):
    """One encoder's values from record to record, of a language pair or of all."""

    encoder: Annotated[str, about("Name of the encoder, the same in all records.")]
    source: Annotated[str | None, about("Language of the queries; null for all pairs.")]
    target: Annotated[str | None, about("Language of the candidates; null for all pairs.")]
    points: Annotated[list[Point], about("In order.")]
    whole: Annotated[
        Change | None,
        about(
            "From the first record that can be compared with the last one to the last; null for fewer than "
            "three."
        ),
    ] = None

    @property
    def changes(self) -> list[tuple[Point, Change]]:
        """The points where a change survives the correction, with it."""
        return [(one, one.change) for one in self.points if one.change is not None and one.change.real]


class Series(Struct, frozen=True):
    """Results of one task, measure and data set, record by record."""

    task: Annotated[str, about("Name of the task.")]
    measure: Annotated[str, about("Canonical name of the measure.")]
    data: Annotated[str, about("Name of the data, as they were given.")]
    records: Annotated[list[Recorded], about("The records in order.")]
    lines: Annotated[list[Line], about("One for each encoder; then one for each encoder and language pair.")]
    conditions: Conditions

    @property
    def overall(self) -> list[Line]:
        """The lines over all language pairs."""
        return [line for line in self.lines if line.source is None]

    @property
    def parts(self) -> list[Line]:
        """The lines of one language pair each."""
        return [line for line in self.lines if line.source is not None]


class Trend(FolderDocument, frozen=True, tag="xlingual/history/1"):
    """How results changed over time or from version to version."""

    made_by = "xlingual history FOLDER"
    file = "history.json"

    history: Annotated[str, about("The folder of the history.")]
    by: Annotated[str, among("time", "label"), about("The order of the records.")]
    alpha: Annotated[Level, about("Significance level, after Holm's correction.")]
    series: Annotated[list[Series], about("One for each task, measure and data set.")]
    notes: Annotated[list[str], about("What was left out, one sentence each.")] = field(default_factory=list)
    n_tests: Annotated[Count, about("Tests that the correction counted, of lines over all pairs.")] = 0
    n_pair_tests: Annotated[Count, about("The same of lines of one pair; 0 where these are not tested.")] = 0
    replicates: Annotated[Count, about("Replicates of each test.")] = 0
    seed: Annotated[Count, about("Seed of the random numbers.")] = 0
