"""Hubness: candidates that stand in the top k of very many queries, and those that stand in none.

Radovanović, Nanopoulos and Ivanović, Hubs in Space: Popular Nearest Neighbors in High-Dimensional Data,
Journal of Machine Learning Research 11, 2010.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from xlingual.arrays import Floats, Ints

HUB_SD = 2.0  # a hub's k-occurrence is more than this many standard deviations above the mean
_EQUAL = 1e-9  # relative spread of occurrences below which all are equal but for rounding
_CANCELLED = 1e-6  # the same where a variance is a difference, of which rounding leaves more


@dataclass(frozen=True)
class Places:
    """Who stands on the first k places of n queries among m candidates; parallel arrays of lines [e].

    A line is a candidate that is among the first k of a query, or ties with one that is. Where a query's
    lines leave out some of very many tied candidates, their places are divided equally among all candidates
    that it does not name; not so for queries whose list has `ended` [n]: a search system found no more.
    """

    k: int
    n_queries: int
    n_candidates: int
    query: Ints  # [e]
    candidate: Ints  # [e], once for each query
    above: Ints  # [e] how many candidates score higher
    tied: Ints  # [e] how many score the same, itself included
    ended: np.ndarray | None = None  # bool [n]

    def __post_init__(self) -> None:
        if self.k < 1 or self.n_queries < 1 or self.n_candidates < 1:
            raise ValueError(f"hubness needs queries, candidates and k of at least 1, got k = {self.k}")

    @cached_property
    def share(self) -> Floats:
        """The chance that each line is among the first k, float64 [e]."""
        share: Floats = np.clip(self.k - self.above, 0, self.tied) / self.tied
        return share

    @cached_property
    def first(self) -> Floats:
        """The chance that each line is the first, float64 [e]."""
        first: Floats = np.where(self.above == 0, 1.0 / self.tied, 0.0)
        return first

    @cached_property
    def unnamed(self) -> Floats:
        """The chance to be among the first k of each candidate that a query does not name, float64 [n]."""
        size, n = self.n_candidates, self.n_queries
        rest = min(self.k, size) - np.bincount(self.query, weights=self.share, minlength=n)
        unlisted = size - np.bincount(self.query, minlength=n)
        each: Floats = np.where((rest > _EQUAL) & (unlisted > 0), rest / np.maximum(unlisted, 1), 0.0)
        return each if self.ended is None else np.where(self.ended, 0.0, each)

    @cached_property
    def occurrences(self) -> Floats:
        """The expected number of queries that have each candidate among their first k, float64 [m]."""
        found: Floats = np.bincount(self.candidate, weights=self.share, minlength=self.n_candidates).astype(
            np.float64
        )
        each: Floats = self.unnamed
        if each.any():  # everybody's part, less what goes past the candidates that the list names
            part = each.sum() - np.bincount(
                self.candidate, weights=each[self.query], minlength=self.n_candidates
            )
            found = found + np.where(part > _EQUAL * each.sum(), part, 0.0)
        return found

    def wrong(self, query: Ints, candidate: Ints) -> Floats:
        """Return 1 for each line that is none of the right pairs (query[i], candidate[i]), else 0, [e]."""
        width = self.n_candidates
        found = np.isin(self.query * width + self.candidate, query * width + candidate)
        wrong: Floats = (~found).astype(np.float64)
        return wrong

    def by_group(self, groups: Ints, n_groups: int, candidates: Ints) -> Floats:
        """Return the occurrences of some candidates [h] among the queries of each group, float64 [h, groups].

        `groups` [n] is the group of each query.
        """
        number = np.full(self.n_candidates, -1, dtype=np.int64)
        number[candidates] = np.arange(len(candidates))
        kept = np.flatnonzero(number[self.candidate] >= 0)
        query = self.query[kept]
        cell = number[self.candidate[kept]] * n_groups + groups[query]
        own = self.share[kept] - self.unnamed[query]
        shape = len(candidates), n_groups
        found: Floats = np.bincount(cell, own, shape[0] * n_groups).astype(np.float64).reshape(shape)
        result: Floats = found + np.bincount(groups, weights=self.unnamed, minlength=n_groups)
        return result


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
    return hubness_of(
        Places(k, n_queries, len(language), query, candidate, above, tied), language, n_languages
    )


def hubness_of(places: Places, language: Ints, n_languages: int) -> Hubness:
    """Return the hubness of candidates whose languages are `language` [m]."""
    occurrences = places.occurrences
    mean, deviation = float(occurrences.mean()), float(occurrences.std())
    threshold = mean + HUB_SD * deviation
    skewness, hubs = 0.0, np.zeros(0, dtype=np.int64)
    if deviation > _EQUAL * mean:
        skewness = float(np.mean(((occurrences - mean) / deviation) ** 3))
        order = np.argsort(-occurrences, kind="stable")
        hubs = order[occurrences[order] > threshold]
    taken = np.bincount(language[hubs], weights=occurrences[hubs], minlength=n_languages)
    total = occurrences.sum()
    return Hubness(
        places.k,
        occurrences,
        skewness,
        never=float(np.mean(occurrences == 0)),
        largest=float(occurrences.max()),
        threshold=threshold,
        hubs=hubs,
        by_language=taken / (total or 1.0),
    )


def skewness_error(places: Places, cluster: Ints) -> tuple[float, int]:
    """Return the standard error of the skewness, and the number of clusters it comes from.

    The delete-one jackknife over clusters of queries, `cluster` [n]; candidates stay the same. Its variance
    is never too small on average (Efron and Stein 1981, "The Jackknife Estimate of Variance"). NaN where
    there are fewer than two clusters.
    """
    own, cluster = np.unique(cluster, return_inverse=True)
    G, m = len(own), places.n_candidates
    if G < 2:
        return float("nan"), G
    # what a query adds to each candidate that it does not name changes no central moment
    part = places.share - places.unnamed[places.query]
    pair, where = np.unique(cluster[places.query] * m + places.candidate, return_inverse=True)
    d = np.bincount(where, weights=part, minlength=len(pair))
    group, candidate = np.divmod(pair, m)
    x = places.occurrences - places.occurrences.mean()
    at = x[candidate]
    less = np.bincount(group, weights=d, minlength=G)
    second = np.sum(x**2) + np.bincount(group, weights=d**2 - 2 * at * d, minlength=G)
    third = np.sum(x**3) + np.bincount(group, weights=3 * at * d**2 - 3 * at**2 * d - d**3, minlength=G)
    mean = -less / m
    variance = second / m - mean**2
    moment = third / m - 3 * mean * second / m + 2 * mean**3
    varied = variance > (_CANCELLED * (places.occurrences.mean() or 1.0)) ** 2
    values = np.where(varied, moment / np.where(varied, variance, 1.0) ** 1.5, 0.0)
    return float(np.sqrt((G - 1) / G * np.sum((values - values.mean()) ** 2))), G
