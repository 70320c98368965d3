"""Scores of a search: some queries of each task are evaluated exactly, and say how far all may be off.

This module says which tasks are ranked by a search, which measures it can give, and which queries are
checked.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.data.samples import Sample
from xlingual.errors import InputError, listed, warn
from xlingual.evaluation.approximation.sampled import SampledRanks, SampledScore, sampled_score
from xlingual.evaluation.estimates import score
from xlingual.evaluation.pair_run import PairRun, PairTask
from xlingual.evaluation.run import Options
from xlingual.evaluation.scorer import Scorable, Scored, Scorer, Searched
from xlingual.measures import (
    MeanImageSimilarity,
    MedianRank,
    RankMeasure,
    RecallAt,
    RecallShare,
    Success,
    SuccessAt,
    SuccessShare,
)
from xlingual.ranking import Ranker
from xlingual.ranking.approximate import Approximate
from xlingual.stats.checked import Stratum
from xlingual.streams import stream

ENOUGH = 0.95  # recall of a search below which the run warns


def approximate(options: Options, measures: Sequence[RankMeasure]) -> Approximate | None:
    """Return the ranker where it is an approximate one; refuse measures that it cannot give."""
    ranker = options.given_ranker
    if not isinstance(ranker, Approximate):
        return None
    repair = options.repair
    if repair is not None:
        raise InputError(
            f"--similarity {repair.name} needs the nearest texts of every candidate, and a search "
            "finds only those of queries: leave out --approximate, or --similarity"
        )
    if options.queries is not None:
        raise InputError(
            "--queries asks few queries exactly, a search all of them nearly: leave out --queries, or "
            "--approximate"
        )
    for measure in measures:
        if isinstance(measure, RecallAt | SuccessAt) and measure.k > ranker.depth:
            raise InputError(
                f"{measure.name} needs the {measure.k} best candidates, the search finds {ranker.depth}: "
                f"raise --depth to {measure.k}, or rank exactly"
            )
        if not isinstance(measure, RecallAt | RecallShare | Success | MedianRank):
            raise InputError(
                f"{measure.name} needs the exact rank of every query, and a search finds only the best "
                "candidates: leave out --approximate, or take R@k"
            )
    return ranker


def exact_only(ranker: Ranker | None, task: str) -> None:
    """Raise InputError for a task that approximate ranking cannot serve."""
    if isinstance(ranker, Approximate):
        raise InputError(
            f"{task} is ranked exactly: approximate ranking is for backretrieval and crosslingual-retrieval, "
            "which measure its error in every run; leave out the approximate ranker"
        )


def queries_of(ranker: Approximate, tasks: Sequence[PairTask], *, images: bool) -> dict[int, Ints]:
    """Return, for each task that is searched, the positions of the sources that are evaluated exactly too.

    A task is searched where its targets, or with `images` its sources, are `ranker.fewest` or more; a
    warning names the others, which are ranked exactly: it is as fast.
    """
    found: dict[int, Ints] = {}
    small: list[str] = []
    for number, task in enumerate(tasks):
        n, pair = len(task.sample.source), f"{task.source}-{task.target}"
        if max(len(task.sample.target), n if images else 0) < ranker.fewest:
            small.append(pair)
            continue
        drawn = stream(task.sample.seed, f"checked queries {pair}")
        found[number] = np.sort(drawn.choice(n, min(ranker.check, n), replace=False))
    if small:
        warn(
            f"ranked exactly after all: {listed(dict.fromkeys(small))}, where a search is not worth it "
            f"(fewer than {ranker.fewest:,} candidates)"
        )
    return found


def checked_sample(task: PairTask, queries: Ints) -> Sample:
    """Return the sample with the checked queries alone, and all its targets."""
    return replace(task.sample, source=task.sample.source[queries])


def by_sample(ranker: Approximate, measure: RankMeasure | MeanImageSimilarity, pool: int) -> bool:
    """Return whether a measure looks deeper than a search: then it is estimated from a sample of the pool."""
    return isinstance(measure, MedianRank) or (
        isinstance(measure, RecallShare | SuccessShare) and measure.k(pool) > ranker.depth
    )


def stratum(
    task: PairTask,
    measure: RankMeasure | MeanImageSimilarity,
    found: np.ndarray,
    queries: Ints,
    exact: np.ndarray,
) -> Stratum:
    """Return the differences at the checked queries of the values `found` [n] from `exact` ones [checked].

    A query can differ by the range of the measure; of image similarities by the range of those found.
    """
    low, high = measure.bounds
    if isinstance(measure, MeanImageSimilarity):
        ends = np.concatenate([found, exact])
        low, high = (float(ends.min()), float(ends.max())) if np.ptp(ends) > 0 else (low, high)
    name = (task.source, task.target, task.sample.seed)
    return Stratum(name, found[queries] - exact, len(found), high - low)


def conditions(ranker: Approximate, *, sampled: bool) -> dict[str, str]:
    """Return the conditions of a signature: numbers of another search are not comparable."""
    found = {"search": str(ranker.search), "depth": str(ranker.depth)}
    return {**found, "drawn": str(ranker.candidates)} if sampled else found


class CheckedScorer(Scorer):
    """Scores with their error; a task gives what `texts` (and `images`) found of its checked queries.

    By (encoder, task): `recall` of the nearest texts, `recall_back` of images on the way back, and
    `sampled`, ranks from a sample of candidates for measures that look deeper than the search.
    """

    def __init__(
        self, run: PairRun, ranker: Approximate, measures: Sequence[RankMeasure], *, images: bool
    ) -> None:
        self.run, self.ranker, self.measures = run, ranker, measures
        self.queries = queries_of(ranker, run.tasks, images=images)
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
        clusters: Sequence[Ints],
        n_tied: int,
    ) -> Scored:
        """Return the number with its error, or from a sample of candidates; as it is where exact."""
        if task not in self.queries:
            return super().score(encoder, task, measure, values, clusters, n_tied)
        if isinstance(measure, MeanImageSimilarity) or not self.is_sampled(encoder, task, measure):
            exact = self.exact_values(encoder, task, measure)
            error = stratum(self.run.tasks[task], measure, values, self.queries[task], exact)
            found = replace(score(measure, values, clusters), errors=(error,))
            searched = self._searched(encoder, task, None)
            return Scored(found, values, n_tied, None, searched, conditions(self.ranker, sampled=False))
        drawn = sampled_score(measure, self.sampled[encoder, task], clusters)
        searched = self._searched(encoder, task, drawn)
        drawn_conditions = conditions(self.ranker, sampled=True)
        return Scored(drawn.score, drawn.values, None, drawn.note, searched, drawn_conditions)

    def is_sampled(self, encoder: str, task: int, measure: Scorable) -> bool:
        """Return whether a measure comes from a sample of candidates: then no query's rank is known."""
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

    def warn_of_misses(
        self,
        what: str,
        encoder: str,
        found: Mapping[tuple[str, int], float],
        candidates: Mapping[int, int],
    ) -> None:
        """Warn, once for all tasks of an encoder, where a search misses much of what it should find.

        `found` is the recall by encoder and task, `candidates` among how many was searched, by task.
        """
        few = [number for number in candidates if found[encoder, number] < ENOUGH]
        if not few:
            return
        worst = min(few, key=lambda number: found[encoder, number])
        probes = self.ranker.search.probes_of(candidates[worst], self.ranker.depth)
        below = f"{len(few)} of {len(candidates)} samples are below {100 * ENOUGH:.0f} %"
        others = "" if len(few) == 1 else f"; {below}"
        warn(
            f"{encoder}, {'-'.join(self.run.tasks[worst].pair)}: the search finds only "
            f"{100 * found[encoder, worst]:.1f} % of {what} ({len(self.queries[worst]):,} queries "
            f"checked{others}): raise --probes (about {probes} now) until it is {100 * ENOUGH:.0f} % at "
            "least, or leave out --approximate"
        )
