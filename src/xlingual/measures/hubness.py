"""Hubness: candidates that stand in the top k of very many queries, and those that stand in none.

Radovanović, Nanopoulos and Ivanović, Hubs in Space: Popular Nearest Neighbors in High-Dimensional Data,
Journal of Machine Learning Research 11, 2010.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xlingual.arrays import Floats, Ints

HUB_SD = 2.0  # a hub's k-occurrence is more than this many standard deviations above the mean
_EQUAL = 1e-9  # relative spread of occurrences below which all are equal but for rounding


@dataclass(frozen=True)
class Hubness:
    """How the top-k places of all queries are divided among m candidates of G languages.

    The k-occurrence N_k of a candidate is the number of queries that have it among their first k, under ties
    the expectation. A hub is a candidate with N_k more than two standard deviations above the mean.
    """

    k: int
    occurrences: Floats  # [m], the expected N_k; they sum to queries · min(k, m)
    skewness: float  # third standardised moment of the occurrences; 0 where all are equal
    never: float  # share of the candidates that are in nobody's top k
    largest: float  # N_k of the biggest hub
    threshold: float  # the N_k that a hub exceeds
    hubs: Ints  # [h], the hubs, biggest first
    by_language: Floats  # [G], share of all top-k places that hubs of the language hold

    @property
    def expected(self) -> float:
        """Mean N_k, the count of every candidate if none were preferred."""
        return float(self.occurrences.mean())


def hubness(
    query: Ints,
    candidate: Ints,
    above: Ints,
    tied: Ints,
    *,
    k: int,
    n_queries: int,
    language: Ints,
    n_languages: int,
) -> Hubness:
    """Return the hubness of the candidates, from every query's list of its best k and all that tie with them.

    Args:
        query: query of each line, int64 [e].
        candidate: candidate of each line, int64 [e], once for each query.
        above: how many candidates score higher than it for the query, int64 [e].
        tied: how many score the same, itself included, int64 [e].
        k: how many places a query has; lists may be longer.
        n_queries: how many queries there are.
        language: language of each candidate, int64 [m].
        n_languages: how many languages there are.

    Where a list leaves out some of very many tied candidates, their places are divided equally among all
    candidates that it does not name. Raises ValueError where there is no query or candidate, or k is below 1.

    """
    if k < 1 or n_queries < 1 or not len(language):
        raise ValueError(f"hubness needs queries, candidates and k of at least 1, got k = {k}")
    occurrences = _occurrences(query, candidate, above, tied, k, n_queries, len(language))
    mean, deviation = float(occurrences.mean()), float(occurrences.std())
    threshold = mean + HUB_SD * deviation
    skewness, hubs = 0.0, np.zeros(0, dtype=np.int64)
    if deviation > _EQUAL * mean:
        skewness = float(np.mean(((occurrences - mean) / deviation) ** 3))
        order = np.argsort(-occurrences, kind="stable")
        hubs = order[occurrences[order] > threshold]
    taken = np.bincount(language[hubs], weights=occurrences[hubs], minlength=n_languages)
    return Hubness(
        k,
        occurrences,
        skewness,
        never=float(np.mean(occurrences == 0)),
        largest=float(occurrences.max()),
        threshold=threshold,
        hubs=hubs,
        by_language=taken / occurrences.sum(),
    )


def _occurrences(
    query: Ints, candidate: Ints, above: Ints, tied: Ints, k: int, n_queries: int, size: int
) -> Floats:
    """Return the expected k-occurrence of each candidate, float64 [size]."""
    share = np.clip(k - above, 0, tied) / tied
    found = np.bincount(candidate, weights=share, minlength=size)
    rest = min(k, size) - np.bincount(query, weights=share, minlength=n_queries)
    unlisted = size - np.bincount(query, minlength=n_queries)
    each = np.where((rest > _EQUAL) & (unlisted > 0), rest / np.maximum(unlisted, 1), 0.0)
    if each.any():  # everybody's part, less what goes past the candidates that the list names
        part = each.sum() - np.bincount(candidate, weights=each[query], minlength=size)
        found = found + np.where(part > _EQUAL * each.sum(), part, 0.0)
    occurrences: Floats = found.astype(np.float64)
    return occurrences
