"""Scores of a search: some queries of each task are evaluated exactly, and say how far all may be off."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace

from xlingual.arrays import Floats, Ints
from xlingual.evaluation.approximation.choice import by_sample, conditions, queries_of, stratum
from xlingual.evaluation.approximation.sampled import SampledRanks, SampledScore, sampled_score
from xlingual.evaluation.estimates import score
from xlingual.evaluation.pair_run import PairRun
from xlingual.evaluation.scorer import Scorable, Scored, Scorer, Searched
from xlingual.measures import PictureSimilarity, RankMeasure
from xlingual.ranking.approximate import Approximate


class CheckedScorer(Scorer):
    """Scores with their error; a task gives what `texts` (and `pictures`) found of its checked queries.

    By (encoder, task): `recall` of the nearest texts, `recall_back` of pictures on the way back, and
    `sampled`, ranks from a sample of candidates for measures that look deeper than the search.
    """

    def __init__(
        self, run: PairRun, ranker: Approximate, measures: Sequence[RankMeasure], *, pictures: bool
    ) -> None:
        self.run, self.ranker, self.measures = run, ranker, measures
        self.queries = queries_of(ranker, run.tasks, pictures=pictures)
        self.recall: dict[tuple[str, int], float] = {}
        self.recall_back: dict[tuple[str, int], float] = {}
        self.sampled: dict[tuple[str, int], SampledRanks] = {}

    @abstractmethod
    def exact_values(self, encoder: str, task: int, measure: Scorable) -> Floats:
        """Return the values of the checked queries, found exactly."""

    def score(
        self,
        encoder: str,
        task: int,
        measure: Scorable,
        values: Floats,
        ways: Sequence[Ints],
        n_tied: int,
    ) -> Scored:
        """Return the number with its error, or from a sample of candidates; as it is where exact."""
        if task not in self.queries:
            return super().score(encoder, task, measure, values, ways, n_tied)
        if isinstance(measure, PictureSimilarity) or not self.is_sampled(encoder, task, measure):
            exact = self.exact_values(encoder, task, measure)
            error = stratum(self.run.tasks[task], measure, values, self.queries[task], exact)
            found = replace(score(measure, values, ways), errors=(error,))
            searched = self._searched(encoder, task, None)
            return Scored(found, values, n_tied, None, searched, conditions(self.ranker, sampled=False))
        drawn = sampled_score(measure, self.sampled[encoder, task], ways)
        searched = self._searched(encoder, task, drawn)
        told = conditions(self.ranker, sampled=True)
        return Scored(drawn.score, drawn.values, None, drawn.note, searched, told)

    def is_sampled(self, encoder: str, task: int, measure: Scorable) -> bool:
        """Return whether a measure is told from a sample of candidates: then no query's rank is known."""
        ranks = self.sampled.get((encoder, task))
        return ranks is not None and by_sample(self.ranker, measure, ranks.pool)

    def _searched(self, encoder: str, task: int, sampled: SampledScore | None) -> Searched:
        return Searched(
            search=str(self.ranker.search),
            depth=self.ranker.depth,
            candidates=None if sampled is None else self.sampled[encoder, task].drawn,
            n_checked=len(self.queries[task]),
            recall_nearest=self.recall[encoder, task],
            recall_way_back=self.recall_back.get((encoder, task)) if sampled is None else None,
            error=None if sampled is None else sampled.error,
        )
