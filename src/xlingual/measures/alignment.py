"""Weak and strong alignment, as the LAReQA paper defines them (section 1), from the counts by language.

Both are about a query and relevant candidates in other languages; a query without any has no value (NaN).
Ties are the expectation under random tie-breaking.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.measures.rank import QueryMean
from xlingual.records import AlignmentCounts

Strictness = Literal["pairs", "strict", "strict-own"]


@dataclass(frozen=True)
class WeakAlignment(QueryMean):
    """Weak alignment: whether in another language alone the nearest candidate is a relevant one.

    P@1 among the candidates of each other language that has a relevant one, averaged over these languages.
    Relevant candidates with none of their language above and n tied are nearest with probability 1/n each.

    >>> WeakAlignment().name
    'WeakAlignment'
    """

    name: ClassVar[str] = "WeakAlignment"

    def per_query(self, counts: AlignmentCounts) -> Floats:
        """Return the mean over other languages of each query, float64 [n] in 0..1; NaN without any."""
        nearest = nearest_in_language(counts)
        width = int(counts.language.max(initial=0)) + 1
        cell = (counts.query * width + counts.language)[counts.foreign]
        cells, place = np.unique(cell, return_inverse=True)
        hits: Floats = np.bincount(place, nearest[counts.foreign], len(cells)).astype(np.float64)
        return _means(cells // width, hits, len(counts))


@dataclass(frozen=True)
class StrongAlignment(QueryMean):
    """Strong alignment: whether relevant candidates of other languages are before irrelevant ones of the own.

    The share of pairs (relevant in another language, irrelevant in the query's) in the right order; tied
    pairs count half. ½ is chance. `strict` is the paper's definition as it stands, the probability that every
    relevant candidate is before every irrelevant one of all languages; `strict-own` that every relevant one
    of another language is before every irrelevant one of the query's language: 1/C(r + w, r) where the last
    relevant ones, r of them, tie with w irrelevant ones.

    >>> StrongAlignment().name, StrongAlignment("strict").name, StrongAlignment("strict-own").name
    ('StrongAlignment', 'StrongAlignment/strict', 'StrongAlignment/strict-own')
    """

    kind: Strictness = "pairs"

    def __post_init__(self) -> None:
        if self.kind not in ("pairs", "strict", "strict-own"):
            raise ValueError(f"StrongAlignment is pairs, strict or strict-own, got {self.kind!r}")

    @property
    def name(self) -> str:
        """Canonical name."""
        return "StrongAlignment" if self.kind == "pairs" else f"StrongAlignment/{self.kind}"

    def per_query(self, counts: AlignmentCounts) -> Floats:
        """Return the value of each query, float64 [n] in 0..1; NaN where there is nothing to compare."""
        if self.kind == "strict":
            everything = np.ones(len(counts.query), dtype=bool)
            return _all_before(counts, everything, counts.wrong_above, counts.wrong_tied)
        rows = counts.foreign & (counts.own_wrong[counts.query] > 0)
        if self.kind == "strict-own":
            return _all_before(counts, rows, counts.own_wrong_above, counts.own_wrong_tied)
        return _means(counts.query[rows], right_order(counts)[rows], len(counts))


def nearest_in_language(counts: AlignmentCounts) -> Floats:
    """Return the probability of each line's candidate to be the nearest one of its language, float64 [p]."""
    return np.asarray(np.where(counts.above == 0, 1.0 / counts.tied, 0.0))


def right_order(counts: AlignmentCounts) -> Floats:
    """Return how many of the irrelevant candidates in the query's language are below each line, a share [p].

    Tied ones count half; NaN where there are none.
    """
    wrong = counts.own_wrong[counts.query]
    above = counts.own_wrong_above + 0.5 * counts.own_wrong_tied
    return np.asarray(1.0 - np.divide(above, wrong, out=np.full(len(above), np.nan), where=wrong > 0))


def _all_before(counts: AlignmentCounts, rows: Ints, above: Ints, tied: Ints) -> Floats:
    """Return the probability that the candidates `rows`, bool [p], of each query are above all others [n].

    Where none is below one of the others, those that tie with some are one tie group.
    """
    n, query = len(counts), counts.query[rows]
    behind = np.bincount(query, above[rows] > 0, n) > 0
    ties = tied[rows]
    r = np.bincount(query, ties > 0, n).astype(np.int64)
    w = np.zeros(n, dtype=np.int64)
    np.maximum.at(w, query, ties)
    found = np.where(behind, 0.0, 1.0)
    several = np.flatnonzero(~behind & (r > 0))
    for i in range(int(r[several].max(initial=0))):  # 1/C(r + w, r) = Π (i + 1)/(w + i + 1)
        found[several] *= np.where(i < r[several], (i + 1.0) / (w[several] + i + 1.0), 1.0)
    found[np.bincount(query, minlength=n) == 0] = np.nan
    return found


def _means(query: Ints, values: Floats, n: int) -> Floats:
    """Return the mean of the values of each query [n], NaN for none."""
    count = np.bincount(query, minlength=n)
    return np.asarray(
        np.divide(np.bincount(query, values, n), count, out=np.full(n, np.nan), where=count > 0)
    )
