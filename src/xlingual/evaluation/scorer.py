"""Who scores the values of queries: exactly here; what a search found, `approximation.checked` scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xlingual.evaluation.approximation.searched import Searched
from xlingual.evaluation.estimates import Score, score
from xlingual.measures import PictureSimilarity, RankMeasure
from xlingual.records import Floats, Ints

Scorable = RankMeasure | PictureSimilarity


@dataclass(frozen=True)
class Scored:
    """One number and the values [n] it is of; `n_tied` is None where the ranks of queries are not known."""

    score: Score | None
    values: Floats
    n_tied: int | None
    note: str | None = None  # why there is no score
    searched: Searched | None = None
    conditions: Mapping[str, str] = field(default_factory=dict)  # of its signature, where it has more


class Scorer:
    """Scores what exact ranking found."""

    def score(
        self,
        encoder: str,
        task: int,
        measure: Scorable,
        values: Floats,
        ways: Sequence[Ints],
        n_tied: int,
    ) -> Scored:
        """Return the number of one encoder and task, of values [n] whose queries hang on the nodes `ways`."""
        return Scored(score(measure, values, ways), values, n_tied)
