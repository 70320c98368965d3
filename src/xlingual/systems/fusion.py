"""Fusion: several systems of one evaluation as one, by the ranks or by the scores of their results.

`rrf:A+B` is reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009), `sum:A+B` a weighted sum of
scores (Fox and Shaw, TREC-2, 1994). A and B are names of other systems.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from xlingual.arrays import Floats
from xlingual.errors import InputError, listed
from xlingual.ragged import groups
from xlingual.ranking.listed import Lists
from xlingual.ranking.similarity import UNIT
from xlingual.systems.base import ListSystem, Search

MINMAX, ZSCORE, PLAIN = "minmax", "zscore", "none"


class Points(Protocol):
    """How the results of a system count in a fusion."""

    uses_scores: bool

    @property
    def identity(self) -> str:
        """The scheme and its options."""

    def of(self, lists: Lists) -> tuple[Floats, Floats]:
        """Return the points of each result [p], and of a candidate that is in no place of a list [n].

        No result has fewer points than a candidate that its list lacks.
        """


@dataclass(frozen=True)
class ReciprocalRanks:
    """1/(k + rank); results that tie have the mean of their ranks; 0 for what a list lacks."""

    k: int = 60
    uses_scores = False

    @property
    def identity(self) -> str:
        """The scheme and its options."""
        return f"rrf:v1?k={self.k}"

    def of(self, lists: Lists) -> tuple[Floats, Floats]:
        """Return the points of results, and of what lists lack."""
        above, tied = lists.places
        return 1 / (self.k + above + (tied + 1) / 2), np.zeros(len(lists))


@dataclass(frozen=True)
class Scores:
    """The scores of each list, on one scale.

    minmax: from 0, its last result, to 1, its first (1 where all are equal); what it lacks has 0.
    zscore: less their mean, over their standard deviation (0 where all are equal, as of one result); what it
    lacks has the least of the list.
    none: as they are; what it lacks has 0, or the least where that is below 0.
    """

    scale: str = MINMAX
    uses_scores = True

    @property
    def identity(self) -> str:
        """The scheme and its options."""
        return f"sum:v1?scale={self.scale}"

    def of(self, lists: Lists) -> tuple[Floats, Floats]:
        """Return the points of results, and of what lists lack."""
        assert lists.score is not None
        n, score, query = len(lists), lists.score.astype(np.float64), lists.query
        least, most = np.zeros(n), np.zeros(n)
        filled = lists.lengths > 0
        least[filled] = score[lists.start[1:][filled] - 1]
        most[filled] = score[lists.start[:-1][filled]]
        if self.scale == PLAIN:
            return score, np.minimum(least, 0)
        if self.scale == MINMAX:
            spread = (most - least)[query]
            return np.divide(
                score - least[query], spread, out=np.ones_like(score), where=spread > 0
            ), 0 * least
        count = np.maximum(lists.lengths, 1)
        mean = np.bincount(query, score, n) / count
        centred = score - mean[query]
        deviation = np.where(most > least, np.sqrt(np.bincount(query, centred**2, n) / count), 1)
        # of equal scores nothing but rounding is left of the differences to their mean
        return np.where((most > least)[query], centred / deviation[query], 0), np.where(
            most > least, (least - mean) / deviation, 0
        )


def fuse(lists: Sequence[Lists], points: Points, weights: Sequence[float]) -> Lists:
    """Return the lists of the weighted sum of points, over all that is in one of the lists.

    Sums are float64 and equal where they are equal to 9 decimals. Candidates in no list tie at the end, or
    are missed where the lists of all parts have ended.
    """
    n, m = len(lists[0]), lists[0].n_candidates
    rest, gained = np.zeros(n), []  # points of a candidate in no list, and what a result has more
    for one, weight in zip(lists, weights, strict=True):
        own, lacking = points.of(one)
        gained.append(weight * (own - lacking[one.query]))
        rest += weight * lacking
    pairs = np.concatenate([one.query * m + one.candidate for one in lists])
    order = np.argsort(pairs, kind="stable")
    pairs = pairs[order]
    first, size = groups(pairs)
    query, candidate = np.divmod(pairs[first], m)
    pair = np.repeat(np.arange(len(first)), size)
    total = rest[query] + np.bincount(pair, np.concatenate(gained)[order], len(query))
    key, last = (np.rint(score / UNIT).astype(np.int64) for score in (total, rest))
    ended = np.all([one.ended for one in lists], axis=0)
    # what is as good as nothing ties with what is in no list, unless that is missed
    kept = np.flatnonzero((key > last[query]) | ended[query])
    kept = kept[np.lexsort((-key[kept], query[kept]))]
    return Lists(
        *(query[kept], candidate[kept], -key[kept], ended, m),
        score=total[kept],
        settled=~ended,
    )


class FusedSystem(ListSystem):
    """The fusion of systems of the same evaluation, by their names."""

    def __init__(
        self, parts: Sequence[str], points: Points, depth: int = 1000, weights: Sequence[float] | None = None
    ) -> None:
        self.parts, self._points, self._depth = tuple(parts), points, depth
        self.weights = tuple(weights or [1.0] * len(parts))

    @property
    def identity(self) -> str:
        """The options, and the names of the parts."""
        return self._identity(self.parts)

    def identity_over(self, part: Callable[[str, bool], str]) -> str:
        """Return the options, and the identities of the parts."""
        return self._identity([f"({part(name, self._points.uses_scores)})" for name in self.parts])

    def _identity(self, parts: Sequence[str]) -> str:
        weights = ",".join(f"{weight:g}" for weight in self.weights)
        return f"{self._points.identity}&depth={self._depth}&weights={weights}::{'+'.join(parts)}"

    @property
    def depth(self) -> int:
        """The most results that there are, of all parts together."""
        return self._depth * len(self.parts)

    def lists(self, search: Search) -> Lists:
        """Return the fused lists of a search."""
        found = [search.first(name, self._depth) for name in self.parts]
        for name, one in zip(self.parts, found, strict=True):
            if self._points.uses_scores and one.score is None:
                raise InputError(f"sum: {name!r} has no scores: fuse it by ranks, with rrf:")
        return fuse(found, self._points, self.weights)


def build(argument: str, options: Mapping[str, Any]) -> FusedSystem:
    """Return the system of a spec, rrf:A+B or sum:A+B; names are checked where all systems are known."""
    points = ReciprocalRanks(options["k"]) if "k" in options else Scores(options["scale"])
    scheme, parts = points.identity.partition(":")[0], [name.strip() for name in argument.split("+")]
    weights = options["weights"]
    if len(parts) < 2 or "" in parts:
        raise InputError(
            f"{scheme}:{argument}: expected the names of two systems or more, for example {scheme}:dense+bm25"
        )
    if twice := next((name for name in parts if parts.count(name) > 1), None):
        raise InputError(f"{scheme}:{argument}: {twice!r} is named twice: give it a weight (weights=2,1)")
    if weights is not None and len(weights) != len(parts):
        raise InputError(
            f"{scheme}:{argument}: weights={listed(f'{weight:g}' for weight in weights)} are {len(weights)}, "
            f"and there are {len(parts)} systems: give one for each, in their order"
        )
    return FusedSystem(parts, points, options["depth"], weights)
