"""CSLS, cross-domain similarity local scaling: cosines less what is near to everything anyway.

    CSLS(x, y) = 2·cos(x, y) − r_T(x) − r_S(y)

r_T(x) is the mean cosine of query x to its k nearest candidates, r_S(y) the mean cosine of candidate y to its
k nearest queries. A hub, which is near to many queries, has a large r_S and loses its lead (Conneau, Lample,
Ranzato, Denoyer and Jégou, Word translation without parallel data, ICLR 2018, section 2.3).

Here both are those of the queries and candidates that are evaluated. `ranking.banks` takes r_S from other
queries.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from xlingual.arrays import Ints
from xlingual.ranking.offsets import Offsets
from xlingual.ranking.ranked import TopK
from xlingual.ranking.scan import Reduction, Transposed
from xlingual.ranking.similarity import Similarity
from xlingual.ranking.top import Top

NEAREST = 10  # of the paper


@dataclass(frozen=True)
class Csls:
    """CSLS with the `k` nearest of each side of the sample that is evaluated; of a side with fewer, all.

    It is transductive: a score depends on the other queries that are evaluated, too.

    Cosines are decided and rounded to 9 decimals, means are rounded to 9 decimals, and all else is integers:
    equal values tie, in any order of the work. Vectors that occur several times count as often, among the k
    nearest too. A zero vector has cosine 0 to everything, so its r is 0, and its CSLS with y is −r(y).
    """

    k: int = NEAREST

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ValueError(f"csls: k must be 1 at least, found {self.k}")

    @property
    def name(self) -> str:
        """What signatures call it."""
        return f"transductive-csls?k={self.k}"

    def request(self, queries: Ints, candidates: Ints) -> CslsRequest:
        """Return the request for the sample that holds each query and candidate of a pass so often."""
        return CslsRequest(self.k, queries, candidates)


class CslsRequest:
    """The k nearest of each query and of each candidate of a sample."""

    def __init__(self, k: int, queries: Ints, candidates: Ints) -> None:
        shape = len(queries), len(candidates)
        self._sizes = int(queries.sum()), int(candidates.sum())
        # candidates that tie have the same cosine: one of them is enough (cap)
        self._of_queries = Top(k, shape, weights=candidates, queries=np.flatnonzero(queries), cap=1)
        self._of_candidates = Top(k, shape[::-1], weights=queries, queries=np.flatnonzero(candidates), cap=1)

    @property
    def reductions(self) -> Sequence[Reduction]:
        """What the pass must fill."""
        return [self._of_queries, Transposed(self._of_candidates)]

    def result(self, similarity: Similarity) -> Offsets:
        """Return the mean cosines, after the pass; 0 for what is not in the sample."""
        k, (n, m) = self._of_queries.k, self._sizes
        return Offsets(
            2,
            mean_keys(self._of_queries.result(), min(k, m), similarity.exact),
            mean_keys(self._of_candidates.result(), min(k, n), lambda q, c: similarity.exact(c, q)),
        )


def mean_keys(found: TopK, count: int, exact: Callable[[Ints, Ints], Ints]) -> Ints:
    """Return the mean key of the first `count` candidates of each query, int64 [n]; 0 for one without any.

    One line of each level of ties stands for all of the level.
    """
    new = np.ones(len(found.query), dtype=bool)
    new[1:] = (np.diff(found.query) != 0) | (np.diff(found.above) != 0)
    lines = np.flatnonzero(new)
    query, above = found.query[lines], found.above[lines]
    taken = np.minimum(count, above + found.tied[lines]) - above
    total = np.zeros(len(found.unlisted), dtype=np.int64)
    np.add.at(total, query, taken * exact(query, found.candidate[lines]))
    means: Ints = np.rint(total / max(count, 1)).astype(np.int64)
    return means
