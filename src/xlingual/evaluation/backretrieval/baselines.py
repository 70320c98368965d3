"""Baselines of Backretrieval, from images alone: chance, oracle and ceiling, the same for every encoder."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.evaluation.backretrieval.way_back import Scorable, WayBackRanks
from xlingual.evaluation.estimates import score
from xlingual.evaluation.numbers import Baseline
from xlingual.measures import RankMeasure, RecallAt
from xlingual.ragged import members, sums
from xlingual.ranking import pairs


@dataclass(frozen=True)
class ReferenceScores:
    """Oracle and ceiling of one task per query, float64 [n], and the chance of each measure."""

    oracle: dict[str, Floats]  # by measure, SIM included; R@p% only where another measure needs ranks
    oracle_target: Ints  # position of the target whose image is nearest, -1 where several tie
    ceiling: dict[str, Floats]  # measures that have one: SIM, and R@k where all target images were ranked
    chance: dict[str, float]

    def baseline(self, measure: Scorable, clusters: Sequence[Ints]) -> Baseline:
        """Return chance, oracle and ceiling of a measure; the oracle's queries are in the `clusters`."""
        values, ceiling = self.oracle.get(measure.name), self.ceiling.get(measure.name)
        return Baseline(
            self.chance[measure.name],
            None if values is None else score(measure, values, clusters),
            None if ceiling is None else float(ceiling.mean()),
        )


def reference(ranks: WayBackRanks, task: int, measures: Sequence[RankMeasure]) -> ReferenceScores:
    """Return oracle, ceiling and chance of a task."""
    columns, found = ranks.source_columns(task), ranks.oracle
    oracle: dict[str, Floats] = {}
    ceiling: dict[str, Floats] = {}
    chance: dict[str, float] = {}
    share = found.weight / np.bincount(found.query, found.weight)[found.query]
    height, width = ranks.over.similarity.shape
    for measure in measures:
        if ranks.deep is not None:
            values = measure.per_query(ranks.rank_counts(ranks.deep.above, ranks.deep.tied))
        elif isinstance(measure, RecallAt):
            values = _listed_values(ranks, measure)
        else:
            values = None  # R@p% would need another pass
        if isinstance(measure, RecallAt) and not ranks.queries_only:
            ceiling[measure.name] = _ceiling(ranks, measure)[columns]
        if values is not None:
            oracle[measure.name] = sums(found.query, share * values, width)[columns]
        chance[measure.name] = _chance(ranks, task, measure)
    scores = pairs(ranks.over.similarity, found.candidate, found.query)
    oracle["SIM"] = sums(found.query, share * scores, width)[columns]
    ceiling["SIM"] = oracle["SIM"]  # the nearest target image is the most similar there is
    chance["SIM"] = ranks.over.similarity.mean(  # of all pairs of a source and a target
        np.bincount(ranks.target_rows(task), minlength=height), np.bincount(columns, minlength=width)
    )
    return ReferenceScores(oracle, _oracle_target(ranks, task, columns), ceiling, chance)


def _chance(ranks: WayBackRanks, task: int, measure: RankMeasure) -> float:
    """Return the value of an encoder to which all targets are equal.

    For R@k the mean over all queries and targets of the chance of a hit, which is K/D where each source
    image has equally many texts; for other measures, and where only some sources are queries, that of a
    random order of D images.
    """
    d = np.array([len(ranks.pools.sources)])
    if not isinstance(measure, RecallAt) or ranks.queries_only or ranks.is_capped:
        return float(measure.per_query(ranks.rank_counts(d * 0, d))[0])
    listed = ranks.listed
    sources = np.bincount(ranks.source_columns(task), minlength=ranks.over.similarity.shape[1])
    hits = measure.per_query(ranks.rank_counts(listed.above, listed.tied))
    # fsum: the same number however long the lists are
    total = math.fsum(ranks.target_weights[listed.query] * sources[listed.candidate] * hits)
    return total / float(ranks.target_weights.sum() * sources.sum())


def _listed_values(ranks: WayBackRanks, measure: RecallAt) -> Floats:
    """Return R@k of each oracle pair, from the lists of the first K: a pair that is not listed is no hit."""
    width = ranks.over.similarity.shape[1]
    listed = ranks.listed.query * width + ranks.listed.candidate
    order = np.argsort(listed)
    wanted = ranks.oracle.candidate * width + ranks.oracle.query
    place = np.searchsorted(listed[order], wanted)
    place[place == len(listed)] = 0
    line = order[place]
    hits = measure.per_query(ranks.rank_counts(ranks.listed.above[line], ranks.listed.tied[line]))
    return np.where(listed[line] == wanted, hits, 0.0)


def _ceiling(ranks: WayBackRanks, measure: RecallAt) -> Floats:
    """Return, for each source column, the best chance of a hit that any target gives.

    Where more tie with the K-th than are listed, any column may be among them: a bound.
    """
    height, width = ranks.over.similarity.shape
    best, last = np.zeros(width), np.ones(height)  # by target row: the chance at its K-th place
    hits = measure.per_query(ranks.rank_counts(ranks.listed.above, ranks.listed.tied))
    np.maximum.at(best, ranks.listed.candidate, hits)
    np.minimum.at(last, ranks.listed.query, hits)
    return np.asarray(np.maximum(best, last[ranks.listed.unlisted > 0].max(initial=0.0)))


def _oracle_target(ranks: WayBackRanks, task: int, columns: Ints) -> Ints:
    """Return the position among the task's targets of each query's nearest image, -1 for ties."""
    query, line = members(ranks.oracle.query, columns)
    rows = ranks.target_rows(task)
    first = np.full(ranks.over.similarity.shape[0], -1, dtype=np.int64)
    first[rows[::-1]] = np.arange(len(rows))[::-1]
    found = np.full(len(columns), -1, dtype=np.int64)
    single = ranks.oracle.tied[line] == 1
    found[query[single]] = first[ranks.oracle.candidate[line[single]]]
    return found
