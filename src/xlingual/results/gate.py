"""What a gate decided about a candidate that must be no worse than a baseline by more than a margin."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct, field

from xlingual.results.document import Answer
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
    Warnings,
    about,
    among,
)

PASS, FAIL, UNDECIDED = "pass", "fail", "cannot tell"  # outcomes
SAME_SYSTEM = "the same system"  # the method of a decision on a system and itself: nothing is estimated


class Needed(Struct, frozen=True):
    """How many queries would decide, if the true difference were `difference`, with the gate's power."""

    difference: Annotated[Number, about("Supposed true difference.")]
    outcome: Annotated[str, among(PASS, FAIL), about("The outcome that they would show.")]
    queries: Annotated[
        Count | None, about("Distinct queries for each language pair; null where no number would do.")
    ]
    more: Annotated[
        Count | None, about("Queries in addition to the present ones; null where no number would do.")
    ]
    note: Note = None


class Decision(Struct, frozen=True):
    """The decision on one language pair or other slice, or on all together (source and target None)."""

    source: Annotated[str | None, about("Language of the queries; null for several pairs together.")]
    target: Annotated[str | None, about("Language of the candidates; null for several pairs together.")]
    outcome: Annotated[str, among(PASS, FAIL, UNDECIDED), about("pass, fail or cannot tell.")]
    candidate: Annotated[Number, about("Value of the candidate.")]
    baseline: Annotated[Number, about("Value of the baseline.")]
    difference: Annotated[Number, about("Candidate minus baseline.")]
    ci: Annotated[Interval, about("Two-sided interval of the difference, of level 1 - alpha.")]
    low: Annotated[Number, about("Lower end of the one-sided interval of level 1 - alpha.")]
    p_pass: Annotated[Share, about('p of "worse by the margin or more".')]
    p_fail: Annotated[Share, about('p of "not worse by more than the margin".')]
    p_fail_adjusted: Annotated[Share, about("p_fail after Holm's correction over pairs.")]
    n_queries: Annotated[Count, about("Distinct queries, for each language pair.")]
    n_clusters: Annotated[Count, about("Clusters of queries.")]
    if_observed: Annotated[
        Needed | None,
        about(
            "Queries that would decide if the true difference were the observed one; null where the outcome "
            "is pass or fail."
        ),
    ]
    if_equal: Annotated[
        Needed | None,
        about(
            "Queries that would decide if the true difference were 0; null where the outcome is pass or fail."
        ),
    ]
    note: Note = None
    part: Annotated[
        str | None,
        about("Label of the slice that is decided; null where queries are not divided by a column."),
    ] = None

    @property
    def same_system(self) -> bool:
        """Whether candidate and baseline are one system, so that nothing can differ."""
        return self.ci.method == SAME_SYSTEM

    @property
    def better(self) -> bool:
        """Whether the candidate is better than the baseline."""
        return self.ci.low > 0

    @property
    def worse(self) -> bool:
        """Whether the candidate is worse than the baseline, even by less than the margin."""
        return self.ci.high < 0


class InOrder(Struct, frozen=True):
    """A candidate of a fixed order, and its outcome."""

    candidate: Annotated[str, about("Label of the candidate.")]
    outcome: Annotated[str, among(PASS, FAIL, UNDECIDED), about("pass, fail or cannot tell.")]
    low: Annotated[Number, about("Lowest end of the one-sided intervals of its decisions.")]


class Gate(Answer, frozen=True, tag="xlingual/gate/1"):
    """A gate: its outcome and the decisions it follows from (one, or one for each pair or other slice)."""

    made_by = "xlingual gate … --out DIR"
    file = "gate.json"

    outcome: Annotated[str, among(PASS, FAIL, UNDECIDED), about("The answer: pass, fail or cannot tell.")]
    task: Annotated[str, about("Name of the task.")]
    measure: Annotated[str, about("Canonical name of the measure.")]
    candidate: Annotated[str, about("Label of the candidate.")]
    baseline: Annotated[str, about('Label of the baseline; "" for the first run.')]
    margin: Annotated[Amount, about("How much worse is acceptable.")]
    alpha: Annotated[Level, about("Chance of a wrong pass, and of a wrong fail.")]
    power: Annotated[Level, about("How often the numbers of queries would decide.")]
    per_pair: Annotated[bool, about("Whether each language pair is decided.")]
    pairs: Annotated[list[str], about("Language pairs that took part: en-de.")]
    n_seeds: Annotated[Size, about("Seeds.")]
    decisions: Annotated[list[Decision], about("One, or one for each language pair or other slice.")]
    conditions: Conditions = field(default_factory=dict)
    warnings: Warnings = field(default_factory=list)
    seed: Annotated[Count, about("Seed of the random numbers.")] = 0
    replicates: Annotated[Count, about("Sign flips of each test.")] = 0
    by: Annotated[
        str | None, about("Column by whose labels queries are divided; null where they are not.")
    ] = None
    in_order: Annotated[
        list[InOrder],
        about(
            "Candidates in the order of their tests, up to the first that does not pass; the gate is that of "
            "the last that passes, else of the first. Empty for one candidate."
        ),
    ] = field(default_factory=list)
    first: Annotated[
        bool,
        about("Whether no earlier run passed on these conditions: nothing is compared, and it passes."),
    ] = False
