"""The results of a blind study: raters' scores of the texts that systems retrieved."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct, field

from xlingual.results.document import FolderDocument, unknown
from xlingual.results.files import REPORT
from xlingual.results.values import (
    Amount,
    Count,
    Interval,
    Level,
    Number,
    Share,
    Warnings,
    about,
    among,
)

LEFT_OUT = "Pages that are not rated in full are left out"  # beginning of a warning of an analysis
OF_PLANNED = "planned ratings are in"  # part of another warning


class SystemScores(Struct, frozen=True):
    """How raters scored a system's suggestions; means over queries, each query counting alike."""

    system: Annotated[str, about("Name of the system.")]
    very_relevant: Annotated[Amount, about("Suggestions of score 1 per query, mean over queries and raters.")]
    very_relevant_ci: Annotated[Interval | None, about("Its interval.")]
    share: Annotated[Share, about("Suggestions of score 1 as a share of all its suggestions.")]
    mean_score: Annotated[float, Meta(ge=1, le=4), about("Mean score, 1 best, 4 worst.")]
    mean_score_ci: Annotated[Interval | None, about("Its interval.")]
    counts: Annotated[list[Count], Meta(min_length=4, max_length=4), about("Ratings of score 1, 2, 3 and 4.")]
    n_suggestions: Annotated[Count, about("Suggestions of the system.")]
    bkr: Annotated[Share | None, about("Mean BkR of the same queries; null without images.")] = None


class PairDifference(Struct, frozen=True):
    """One system against another, on the same queries and by the same raters."""

    first: Annotated[str, about("The system that the numbers are about.")]
    second: Annotated[str, about("The system it is compared with.")]
    ratio: Annotated[Amount | None, about("Very relevant suggestions, first over second.")]
    ratio_ci: Annotated[Interval | None, about("Its interval, taken on the logarithmic scale.")]
    score_difference: Annotated[
        Number, about("Mean score of first less that of second; below zero first is better.")
    ]
    score_ci: Annotated[Interval, about("Its interval.")]
    wins: Annotated[Count, about("Queries that first wins.")]
    ties: Annotated[Count, about("Queries that are even.")]
    losses: Annotated[Count, about("Queries that second wins.")]
    win_rate: Annotated[Share, about("Wins and half the ties, of all.")]
    win_ci: Annotated[Interval, about("Its interval.")]
    p_permutation: Annotated[Share, about("Two-sided p of the difference in very relevant suggestions.")]
    p_score: Annotated[Share, about("Two-sided p of the difference in mean score.")]
    p_adjusted: Annotated[Share, about("p_permutation corrected by Holm over the pairs.")]
    outcome: Annotated[
        str, among("better", "worse", "no difference found"), about("Outcome for first, by p_adjusted.")
    ]
    ratio_note: Annotated[
        str | None, about("Why there is no ratio, or which count was added to compute it.")
    ] = None


class RaterScores(Struct, frozen=True):
    """How a rater rated: how much, how attentively, how steadily."""

    rater: Annotated[str, about("Number or name.")]
    n_ratings: Annotated[Count, about("Ratings given.")]
    n_missing: Annotated[Count, about("Suggestions of pages not rated.")]
    mean_score: Annotated[float, Meta(ge=1, le=4), about("Mean score given.")]
    repeats: Annotated[Count, about("Suggestions that were shown twice.")]
    repeats_equal: Annotated[Share | None, about("Share of them with the same score; null without any.")]
    repeats_near: Annotated[Share | None, about("Share of them within one step; null without any.")]
    controls: Annotated[Count, about("Obviously right or wrong suggestions.")]
    controls_passed: Annotated[
        Share | None, about("Share of them with the expected score or the one beside it; null without any.")
    ]
    seconds: Annotated[Amount | None, about("Median time of a rating; null where it is not known.")]
    flagged: Annotated[str | None, about("Why the rater looks inattentive.")] = None


class RaterAgreement(Struct, frozen=True):
    """Krippendorff's alpha for ordinal scores over all raters."""

    alpha: Annotated[Annotated[float, Meta(ge=-1e100, le=1)] | None, about("1 is perfect agreement, 0 luck.")]
    ci: Annotated[Interval | None, about("Its interval.")]
    n_units: Annotated[Count, about("Suggestions that two raters or more scored.")]
    note: Annotated[str | None, about("Why there is no alpha.")] = None


class WithBkr(Struct, frozen=True):
    """Whether raters and Backretrieval favour the same system on the same queries."""

    first: Annotated[str, about("The system whose value is compared.")]
    second: Annotated[str, about("The system whose value is subtracted.")]
    measure: Annotated[str, about("Canonical name of the measure.")]
    difference: Annotated[Number, about("BkR of first less that of second.")]
    ci: Annotated[Interval | None, about("Its interval.")]
    correlation: Annotated[
        Annotated[float, Meta(ge=-1, le=1)] | None,
        about("Over queries, of the differences in BkR and in very relevant suggestions."),
    ]
    correlation_ci: Annotated[Interval | None, about("Its interval.")]
    same_direction: Annotated[
        bool | None, about("Whether BkR and people favour the same system; null where one favours none.")
    ]
    note: Annotated[str | None, about("Why something is missing.")] = None


class StudyAnalysis(FolderDocument, frozen=True, tag="xlingual/study_analysis/1"):
    """The analysis of a study."""

    made_by = "xlingual study analyse STUDY --out DIR"
    file = "analysis.json"
    derived = (REPORT,)

    study: Annotated[str, about("Id of the study.")]
    title: Annotated[str, about("Title of the study.")]
    source: Annotated[str, about("Language of the queries.")]
    target: Annotated[str, about("Language of the suggestions.")]
    labels: Annotated[
        list[str], Meta(min_length=4, max_length=4), about("What the scores are called, 1 first.")
    ]
    n_queries: Annotated[Count, about("Queries with at least one rating.")]
    n_planned: Annotated[Count, about("Queries of the study.")]
    n_ratings: Annotated[Count, about("Ratings.")]
    n_raters: Annotated[Count, about("Raters with at least one rating.")]
    raters_resampled: Annotated[
        bool, about("False where there are too few raters: intervals then hold for these raters only.")
    ]
    systems: Annotated[list[SystemScores], about("The systems.")]
    pairs: Annotated[list[PairDifference], about("All pairs of systems.")]
    raters: Annotated[list[RaterScores], about("The raters.")]
    agreement: Annotated[RaterAgreement, about("How far raters agree.")]
    level: Annotated[Level, about("Level of the intervals.")]
    bkr: Annotated[list[WithBkr], about("People against BkR, by pair; none without images.")] = field(
        default_factory=list
    )
    conditions: Annotated[dict[str, str], about("How the study was made.")] = field(default_factory=dict)
    warnings: Warnings = field(default_factory=list)
    seed: Annotated[Count, about("Seed of the random numbers.")] = 0
    replicates: Annotated[Count, about("Replicates of tests and intervals.")] = 0

    def problem(self) -> str | None:
        """Return a problem where a pair names an unknown system."""
        compared = (name for row in self.pairs for name in (row.first, row.second))
        return unknown(compared, (row.system for row in self.systems), "'systems'")
