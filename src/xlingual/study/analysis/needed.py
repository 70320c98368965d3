"""How many queries, or raters, would show a difference as large as the observed one.

A rater's difference on a query is taken apart: d = µ + query + rater + rest. What varies with queries shrinks
with more queries only, what varies with raters with more raters only, the rest with both.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from xlingual.arrays import Floats
from xlingual.results.study import MoreNeeded
from xlingual.stats.power import POWER, power
from xlingual.study.analysis.resampling import FEWEST_RATERS, freedom_of
from xlingual.study.analysis.scores import Bools, RatedPages, mean_seen

MOST_QUERIES, MOST_RATERS = 100_000, 200
FEWEST_QUERIES = 5  # to estimate how queries differ
_SWEEPS = 100


@dataclass(frozen=True)
class Components:
    """Variances of a difference: between queries, between raters, and the rest of a single page."""

    queries: float  # with one rater the rest is in it
    raters: float
    rest: float

    @classmethod
    def of(cls, values: Floats, seen: Bools) -> Components:
        """Estimate the variances from differences [R, Q] where seen, by the method of moments."""
        by_query, (m, n) = mean_seen(values, seen, 0), values.shape
        between = float(np.var(by_query, ddof=1)) if n > 1 else 0.0
        left = int(seen.sum()) - n - m + 1  # degrees of freedom
        if m < 2 or left < 1:
            return cls(between, 0.0, 0.0)
        rest = float(np.sum(_residuals(values, seen) ** 2) / left)
        away = mean_seen(values - by_query, seen, 1)
        raters = float(np.var(away, ddof=1)) - rest * float(np.mean(1 / seen.sum(axis=1)))
        return cls(max(between - rest * float(np.mean(1 / seen.sum(axis=0))), 0.0), max(raters, 0.0), rest)

    def power(self, effect: float, queries: float, raters: float, alpha: float) -> float:
        """Return the chance that so many queries and raters show a difference of `effect`."""
        noise = self.rest / (queries * raters)
        by_query = self.queries / queries + noise
        by_rater = self.raters / raters + noise if raters >= FEWEST_RATERS else 0.0
        freedom = freedom_of(by_query, queries, by_rater, raters, queries)
        return power(effect, by_query + by_rater, freedom, alpha)


def more_needed(scores: RatedPages, pair: tuple[int, int], alpha: float) -> MoreNeeded:
    """Return how many queries (raters as now), and raters (queries as now), show the observed difference.

    The observed difference is taken as the true one; where it is large by luck, more is needed.
    """
    values = scores.relevant[..., pair[0]] - scores.relevant[..., pair[1]]
    effect, (m, n) = float(mean_seen(values, scores.seen, 0).mean()), scores.seen.shape
    names = scores.systems[pair[0]], scores.systems[pair[1]]
    why = ""
    if abs(effect) < 1e-9:
        why = "the difference seen is 0, which no number of ratings shows"
    elif n < FEWEST_QUERIES:
        why = f"fewer than {FEWEST_QUERIES} queries do not show how queries differ"
    if why:
        return MoreNeeded(*names, None, None, POWER, why)
    parts = Components.of(values, scores.seen)
    possible = 1 + math.ceil(-math.log2(alpha))  # p of so many queries, 2 of 2^Q swaps, can be that low
    usual = max(round(float(scores.seen.sum(axis=0).mean())), 1)  # raters of a query

    queries = _least(lambda count: parts.power(effect, count, usual, alpha) >= POWER, possible, MOST_QUERIES)
    tried = (
        range(FEWEST_RATERS if m >= FEWEST_RATERS else 1, MOST_RATERS + 1) if m > 1 and n >= possible else ()
    )
    raters = next((count for count in tried if parts.power(effect, n, count, alpha) >= POWER), None)
    return MoreNeeded(*names, queries, raters, POWER, _note(m, queries, raters, n < possible))


def _note(m: int, queries: int | None, raters: int | None, few: bool) -> str | None:
    sentences = []
    if queries is None:
        sentences.append(
            f"{m} raters differ too much in which system they prefer for any number of queries"
            if m >= FEWEST_RATERS
            else f"more than {MOST_QUERIES:,} queries would be needed"
        )
    if m == 1:
        sentences.append("one rater does not show how raters differ, so nothing is known of more raters")
    elif few:
        sentences.append("so few queries show no difference, however many rate them")
    elif raters is None:
        sentences.append("queries differ too much for more raters on the same ones to do")
    return "; ".join(sentences) or None


def _least(enough: Callable[[int], bool], start: int, most: int) -> int | None:
    """Return the smallest number from `start` to `most` that is enough, None where none is."""
    numbers = range(start, most + 1)
    place = bisect_left(numbers, True, key=enough)
    return numbers[place] if place < len(numbers) else None


def _residuals(values: Floats, seen: Bools) -> Floats:
    """Return what remains of values [R, Q] beside means of raters and of queries, 0 where not seen.

    Means are taken off in turn until nothing changes: with all pages seen, at once.
    """
    found: Floats = values * seen
    for _ in range(_SWEEPS):
        before = found
        for axis in (0, 1):
            mean = found.sum(axis=axis, keepdims=True) / np.maximum(seen.sum(axis=axis, keepdims=True), 1)
            found = (found - mean) * seen
        if np.abs(found - before).max() < 1e-10:
            break
    return found
