"""What a comparison found: differences between encoders on the same queries, and their outcomes."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct, field, structs

from xlingual.results.document import FolderDocument, unknown
from xlingual.results.values import (
    Amount,
    Conditions,
    Count,
    Interval,
    Level,
    Note,
    Number,
    Share,
    Size,
    Timings,
    about,
    among,
)

BASELINE = "baseline"
BETTER = "better"
WORSE = "worse"
EQUIVALENT = "equivalent"  # shown to be within the margin
NO_DIFFERENCE = "no difference found"  # neither shown to differ nor to be equal
CANNOT_TELL = "cannot tell"  # the data does not allow a test
OUTCOMES = (BETTER, WORSE, NO_DIFFERENCE, CANNOT_TELL)  # of tests without a margin


class Compared(Struct, frozen=True):
    """One encoder against the baseline; fields of the difference are None for the baseline itself."""

    encoder: Annotated[str, about("Label of the encoder.")]
    value: Annotated[Number, about("Value of the measure.")]
    difference: Annotated[Number | None, about("Its value minus the baseline's.")]
    ci: Annotated[
        Interval | None, about("Interval of the difference, not widened for the number of comparisons.")
    ]
    p: Annotated[Share | None, about("Two-sided p of no difference.")]
    p_adjusted: Annotated[Share | None, about("p corrected for the number of tests.")]
    p_equivalent: Annotated[
        Share | None, about("Adjusted p of two one-sided tests of the margin; null without a margin.")
    ]
    outcome: Annotated[
        str,
        among(BASELINE, BETTER, WORSE, EQUIVALENT, NO_DIFFERENCE, CANNOT_TELL),
        about("Outcome of the tests."),
    ]
    rank_low: Annotated[Size | None, about("Best rank that corrected tests leave open; null for parts.")]
    rank_high: Annotated[Size | None, about("Worst such rank.")]
    note: Note = None
    top: Annotated[bool, about("Whether no encoder is shown to be better: rank_low is 1.")] = (
        False  # derived from the other fields
    )

    def __post_init__(self) -> None:
        structs.force_setattr(self, "top", self.rank_low == 1 and self.outcome != WORSE)


class Board(Struct, frozen=True):
    """All encoders on one set of queries, best first.

    `source` and `target` name a language pair, `column` and `label` a slice; None: all queries.
    """

    task: Annotated[str, about("Name of the task.")]
    measure: Annotated[str, about("Canonical name of the measure.")]
    source: Annotated[str | None, about("Language of the queries; null for all pairs.")]
    target: Annotated[str | None, about("Language of the candidates; null for all pairs.")]
    column: Annotated[
        str | None, about("Column whose part this is; null for all queries or a language pair.")
    ]
    label: Annotated[str | None, about("The part: a value of the column.")]
    baseline: Annotated[str, about("The encoder to compare the others with.")]
    n_queries: Annotated[Count, about("Queries answered, over all pairs and seeds.")]
    n_clusters: Annotated[Count, about("Clusters of queries.")]
    n_pairs: Annotated[Size, about("Language pairs.")]
    n_seeds: Annotated[Size, about("Seeds.")]
    chance: Annotated[Number | None, about("What an encoder that knows nothing scores; null for parts.")]
    rows: Annotated[list[Compared], about("One entry per encoder.")]
    replicates: Annotated[Count, about("Replicates of each test.")]
    n_tests: Annotated[Count, about("Tests that the correction of p_adjusted counted.")]
    n_rank_tests: Annotated[
        Count, about("Tests that the correction of ranks counted; 0 where there are no ranks.")
    ]

    @property
    def overall(self) -> bool:
        """Whether the board is about all queries."""
        return self.source is None and self.column is None


class Comparison(FolderDocument, frozen=True, tag="xlingual/comparison/1"):
    """A comparison of encoders: for each task and measure a board over all queries, then those of parts."""

    made_by = "xlingual compare … --out DIR"
    file = "comparison.json"

    folders: Annotated[list[str], about("Folders of results that were compared.")]
    baseline_given: Annotated[bool, about("False where each measure's leader is the baseline.")]
    correction: Annotated[str, among("holm", "bh", "none"), about("Correction for the number of tests.")]
    alpha: Annotated[Level, about("Significance level.")]
    margin: Annotated[Amount | None, about("Differences below it do not matter; null where none was given.")]
    seed: Annotated[Count, about("Seed of the random numbers.")]
    conditions: Conditions
    boards: Annotated[
        list[Board],
        Meta(min_length=1),
        about("For each task and measure a board over all queries, then those of parts."),
    ]
    notes: Annotated[list[str], about("What was left out, one sentence each.")] = field(default_factory=list)
    timings: Timings = field(default_factory=dict)

    def problem(self) -> str | None:
        """Return which baseline is not among the encoders of its board."""
        problems = (
            unknown([board.baseline], (row.encoder for row in board.rows), "the encoders of its board")
            for board in self.boards
        )
        return next(filter(None, problems), None)
