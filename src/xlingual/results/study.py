"""What a blind study came to: people's scores of what systems retrieved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from xlingual.results.evaluation import Interval
from xlingual.results.files import REPORT, read_json, write_json
from xlingual.results.reading import fields_of, record, refuse_unknown

SCHEMA = "xlingual/study_analysis/1"
FILE = "analysis.json"
LEFT_OUT = "Pages that are not rated in full are left out"  # how a warning of an analysis begins
OF_PLANNED = "planned ratings are in"  # what another one says
NOT_REACHED = "not reached"  # how the note of a look begins that is still to come
_MADE_BY = "xlingual study analyse STUDY --out DIR"


@dataclass(frozen=True)
class SystemScores:
    """What raters said of a system's suggestions; means over queries, each query counting alike."""

    system: str
    very_relevant: float  # suggestions of score 1 per query, mean over raters and queries
    very_relevant_ci: Interval | None
    share: float  # the same, of all its suggestions
    mean_score: float  # 1 to 4, lower is better
    mean_score_ci: Interval | None
    counts: list[int]  # ratings of score 1, 2, 3, 4
    n_suggestions: int
    bkr: float | None = None  # mean BkR of the same queries


@dataclass(frozen=True)
class PairDifference:
    """One system against another, on the same queries and by the same raters."""

    first: str
    second: str
    ratio: float | None  # of very relevant suggestions, first over second; None where `ratio_note` says why
    ratio_ci: Interval | None
    score_difference: float  # mean score of first minus second; below zero: first is better
    score_ci: Interval
    wins: int  # queries on which first has more score-1 suggestions, or as many and the better mean
    ties: int
    losses: int
    win_rate: float  # wins plus half the ties, of all
    win_ci: Interval
    p_permutation: float  # of the difference in very relevant suggestions, systems swapped within queries
    p_score: float  # the same, of the mean score
    p_adjusted: float  # p_permutation after Holm's correction over pairs
    outcome: str  # "better", "worse", "no difference found"
    ratio_note: str | None = None


@dataclass(frozen=True)
class RaterScores:
    """How a rater rated: how much, how attentively, how steadily."""

    rater: str
    n_ratings: int
    n_missing: int  # suggestions of pages not rated
    mean_score: float
    repeats: int  # suggestions that were asked twice
    repeats_equal: float | None  # share with the same score
    repeats_near: float | None  # share within one step
    controls: int
    controls_passed: float | None  # share with the expected score or the one beside it
    seconds: float | None  # median time of a rating
    flagged: str | None = None  # why the rater looks inattentive, in words


@dataclass(frozen=True)
class Agreement:
    """Krippendorff's alpha for ordinal scores over all raters."""

    alpha: float | None
    ci: Interval | None
    n_units: int  # suggestions that two raters or more scored
    note: str | None = None


@dataclass(frozen=True)
class Look:
    """A look at a study before its end, with the error that is left for it."""

    number: int
    fraction: float  # of the planned ratings
    spent: float  # error spent up to here (alpha spending)
    level: float  # at which this look tests
    stop: bool  # whether the difference passes it
    note: str | None = None

    @property
    def reached(self) -> bool:
        """Whether there are ratings enough for it."""
        return not (self.note or "").startswith(NOT_REACHED)


@dataclass(frozen=True)
class MoreNeeded:
    """How much more rating would show a difference as large as the one seen."""

    first: str
    second: str
    queries: int | None  # in all, with as many raters; None where no number would do
    raters: int | None  # in all, on the same queries
    power: float
    note: str | None = None


@dataclass(frozen=True)
class WithBkr:
    """Whether people and Backretrieval say the same of the same queries."""

    first: str
    second: str
    measure: str
    difference: float  # in BkR, first minus second
    ci: Interval | None
    correlation: float | None  # over queries, of the differences in BkR and in very relevant suggestions
    correlation_ci: Interval | None
    same_direction: bool | None
    note: str | None = None


@dataclass(frozen=True)
class StudyAnalysis:
    """The analysis of a study."""

    study: str
    title: str
    source: str
    target: str
    labels: list[str]
    n_queries: int  # with at least one rating
    n_planned: int
    n_ratings: int
    n_raters: int
    raters_resampled: bool  # False where there are too few: intervals are about these raters
    systems: list[SystemScores]
    pairs: list[PairDifference]
    raters: list[RaterScores]
    agreement: Agreement
    level: float
    looks: list[Look] = field(default_factory=list)
    needed: list[MoreNeeded] = field(default_factory=list)
    bkr: list[WithBkr] = field(default_factory=list)
    conditions: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    seed: int = 0
    replicates: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the analysis as JSON holds it."""
        return {"schema": SCHEMA} | asdict(self)

    def write(self, path: str | Path) -> None:
        """Write the analysis as JSON into the folder `path`, atomically."""
        write_json(Path(path) / FILE, self.to_dict(), derived=(REPORT,))

    @classmethod
    def read(cls, path: str | Path) -> StudyAnalysis:
        """Read a file of `write`, or the folder that holds it; raise InputError where it is none."""
        path = Path(path)
        path = path / FILE if path.is_dir() else path
        content = read_json(path, SCHEMA, _MADE_BY)
        with fields_of(path, _MADE_BY):
            rows: Mapping[str, type] = {
                "systems": SystemScores,
                "pairs": PairDifference,
                "raters": RaterScores,
                "looks": Look,
                "needed": MoreNeeded,
                "bkr": WithBkr,
            }
            lists: dict[str, Any] = {
                name: [record(kind, row) for row in content[name]] for name, kind in rows.items()
            }
            found = record(cls, content, agreement=record(Agreement, content["agreement"]), **lists)
        compared = (name for row in found.pairs for name in (row.first, row.second))
        refuse_unknown(path, compared, (row.system for row in found.systems), "'systems'", _MADE_BY)
        return found
