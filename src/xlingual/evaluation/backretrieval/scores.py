"""Scores of Backretrieval: values of queries, what makes them dependent, and the oracle beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from xlingual.arrays import distinct_values
from xlingual.data.manifest import Manifest
from xlingual.embed import TextVectors
from xlingual.errors import InputError
from xlingual.evaluation.backretrieval.baselines import Reference
from xlingual.evaluation.backretrieval.images import PictureSpace
from xlingual.evaluation.backretrieval.nearest import Nearest
from xlingual.evaluation.backretrieval.way_back import Routes, SideRanks
from xlingual.evaluation.estimates import score
from xlingual.evaluation.numbers import Baseline
from xlingual.evaluation.pair_run import Task
from xlingual.evaluation.ragged import sums
from xlingual.evaluation.scorer import Scorable, Scorer
from xlingual.measures import PictureSimilarity, RankMeasure, RecallAt
from xlingual.records import Floats, Ints


@dataclass(frozen=True)
class Found:
    """What one encoder found in one task: nearest texts and the ways back."""

    nearest: Nearest
    routes: Routes

    def values(self, measure: Scorable) -> Floats:
        """Return the value of each query, float64 [n]."""
        if isinstance(measure, PictureSimilarity):
            return self.mean(self.routes.similarity)
        return self.mean(measure.per_query(self.routes.counts))

    def mean(self, values: Floats) -> Floats:
        """Return the mean of values of entries over the texts that tie for nearest, per query."""
        share = self.nearest.share * values
        return sums(self.nearest.query, share, len(self.nearest.n_tied))

    def single(self, values: Ints) -> Ints:
        """Return the value of each query's one entry, -1 where several texts tie for nearest."""
        found = np.full(len(self.nearest.n_tied), -1, dtype=np.int64)
        found[self.nearest.query] = values
        return np.where(self.nearest.n_tied == 1, found, -1)

    def n_tied(self) -> int:
        """Return how many queries have a tie, for nearest text or on the way back."""
        tied = self.nearest.n_tied > 1
        tied[self.nearest.query[self.routes.counts.tied > 1]] = True
        return int(tied.sum())


class BackretrievalScorer(Scorer):
    """Scores what exact ranking found; one that checks a search looks at what was found on the way."""

    def texts(self, encoder: str, vectors: TextVectors, found: Sequence[Nearest]) -> None:
        """Take the nearest texts of an encoder, of each task."""

    def pictures(self, ranks: SideRanks, task: int) -> None:
        """Take the ranks of a task, while they are at hand."""

    def knows_ranks(self, encoder: str, task: int, measure: Scorable) -> bool:
        """Return whether the rank of every single query is known."""
        return True

    def baseline(self, task: int, measure: Scorable, found: Reference, ways: Sequence[Ints]) -> Baseline:
        """Return chance, oracle and ceiling of a task; the oracle's queries hang on the nodes `ways`."""
        values, ceiling = found.oracle.get(measure.name), found.ceiling.get(measure.name)
        return Baseline(
            found.chance[measure.name],
            None if values is None else score(measure, values, ways),
            None if ceiling is None else float(ceiling.mean()),
        )


def nodes(manifest: Manifest, number: int, task: Task, retrieved: Ints) -> tuple[Ints, Ints]:
    """Return what makes the queries of a task dependent: their own cluster, and that of the retrieved text.

    `retrieved` [n] are positions among the targets. A query for which several texts tie (-1) is alone in the
    second: its node is negative.
    """
    source, target = task.sample.source, task.sample.target
    alone = -1 - (number * len(manifest) + source)
    cluster = manifest.cluster
    return cluster[source], np.where(retrieved >= 0, cluster[target[np.maximum(retrieved, 0)]], alone)


def refuse_small_pools(
    pictures: PictureSpace, tasks: Sequence[Task], measures: Sequence[RankMeasure]
) -> None:
    """Raise InputError where every query would be a hit: k is not below the number of distinct pictures."""
    depth = max((m.k for m in measures if isinstance(m, RecallAt)), default=0)
    for task in tasks:
        count = len(distinct_values(pictures.code[task.sample.pool]))
        if depth >= count:
            raise InputError(
                f"R@{depth} needs more than {depth} distinct source pictures, pair "
                f"{task.source}-{task.target} has {count} (items with both languages are divided between "
                "sources and targets): every query would be a hit; give more items, "
                "a smaller k (--measure R@k), or name other pairs (--pairs)"
            )
