"""The scorer of exact ranking; `approximation.checked` has the one for a search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xlingual.arrays import Floats, Ints
from xlingual.evaluation.estimates import Estimate, Score, mean_known, score
from xlingual.measures import MeanImageSimilarity, RankMeasure
from xlingual.results import Approximation
from xlingual.stats.checked import error, error_interval

Scorable = RankMeasure | MeanImageSimilarity


@dataclass(frozen=True)
class Searched:
    """How a number was found by a search, or from a sample of candidates, and how accurate that is."""

    search: str
    depth: int
    candidates: int | None = None
    n_checked: int | None = None
    recall_nearest: float | None = None
    recall_way_back: float | None = None
    error: float | None = None  # of a sample of candidates; of a search it is in the score


def approximation(
    found: Estimate | None, searched: Sequence[Searched | None], oracles: Sequence[Score | None]
) -> Approximation | None:
    """Return how far a number from a search or a sample of candidates may be off; None where it is exact.

    The number is a mean; some of the averaged numbers may be exact. Errors of samples of candidates add up,
    since they may all be off to one side.
    """
    known = [one for one in searched if one is not None]
    if not isinstance(found, Score) or not known:
        return None
    sampled = [one.error or 0.0 for one in known if one.candidates is not None]
    present = [oracle for oracle in oracles if oracle is not None and oracle.fixed is None]
    whole = bool(present) and len(present) == len(oracles)
    return Approximation(
        search=known[0].search,
        depth=known[0].depth,
        candidates=max((one.candidates for one in known if one.candidates is not None), default=None),
        n_checked=sum(one.n_checked or 0 for one in known),
        recall_nearest=mean_known([one.recall_nearest for one in known]),
        recall_way_back=mean_known([one.recall_way_back for one in known]),
        difference=error(found.errors) if found.errors else None,
        ci=error_interval(found.errors) if found.errors else None,
        error=(found.most_error() or 0.0) + sum(sampled) / len(searched),
        oracle_error=Score.mean(present).most_error() if whole else None,
    )


@dataclass(frozen=True)
class Scored:
    """One number and the values [n] it summarises; `n_tied` is None where queries' ranks are not known."""

    score: Score | None
    values: Floats
    n_tied: int | None
    note: str | None = None  # why there is no score
    searched: Searched | None = None
    conditions: Mapping[str, str] = field(default_factory=dict)  # of its signature, where it has more


class Scorer:
    """Scores the ranks of exact ranking."""

    def score(
        self,
        encoder: str,
        task: int,
        measure: Scorable,
        values: Floats,
        clusters: Sequence[Ints],
        n_tied: int,
    ) -> Scored:
        """Return the number of one encoder and task, of values [n] whose queries are in the `clusters`."""
        return Scored(score(measure, values, clusters), values, n_tied)
