"""Models that were trained several times: means and differences, for other queries and other trainings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xlingual.comparison.outcome import too_few, word
from xlingual.comparison.queries import Queries
from xlingual.results import Interval
from xlingual.results.comparison import CANNOT_TELL
from xlingual.stats.corrections import holm
from xlingual.stats.intervals import LEVEL, ResidualPart, effective_clusters, t_quantile, variance
from xlingual.stats.paired import paired_test
from xlingual.stats.paired_queries import Paired
from xlingual.stats.trainings import NOTHING, with_trainings

ALPHA = 0.05  # of p-values that are corrected


@dataclass(frozen=True)
class Tested:
    """A difference over all trainings; `ci` and `p` are None where a note says why there is no test."""

    value: float
    per_training: list[float]
    ci: Interval | None
    p: float | None
    note: str | None = None

    def decided(self, p: float) -> dict[str, Any]:
        """Return the fields of its record, with the outcome that a corrected p allows.

        One without a test is not said to be anything.
        """
        known = self.p is not None
        return {
            **vars(self),
            "p_adjusted": p if known else None,
            "outcome": word(self.value, p, ALPHA) if known else CANNOT_TELL,
        }


def mean_over_trainings(queries: Queries, encoders: Sequence[str]) -> tuple[float, Interval, list[float]]:
    """Return the mean of several trainings of a model, its interval, and the mean of each training."""
    each, error, freedom, ways = _error(queries, encoders)
    error, freedom = with_trainings(error, freedom, each)
    value, half = float(np.mean(each)), t_quantile(LEVEL, freedom) * error
    least = 0.0 if queries.values.min() >= 0 else -queries.span
    low, high = max(value - half, least), min(value + half, queries.span)
    trainings = f" and {len(each)} trainings" if len(each) > 1 else ""
    return value, Interval(low, high, LEVEL, f"t, {ways}-way clusters{trainings}"), each


def against_chance(queries: Queries, encoders: Sequence[str], chance: float) -> Tested:
    """Test the mean of several trainings of a model against what an encoder that knows nothing scores.

    For other queries only: it is asked of these trainings whether they know anything. That two of them differ
    much makes neither know nothing.
    """
    from scipy.special import stdtr

    each, error, freedom, ways = _error(queries, encoders)
    value, gains = float(np.mean(each)) - chance, [one - chance for one in each]
    if note := too_few(len(np.unique(queries.own))):
        return Tested(value, gains, None, None, note)
    half = t_quantile(LEVEL, freedom) * error
    ci = Interval(value - half, value + half, LEVEL, f"t, {ways}-way clusters, of these trainings")
    if error > NOTHING:
        p = float(2 * stdtr(freedom, -abs(value) / error))
    else:  # every query scores the same
        p = 0.0 if abs(value) > NOTHING else 1.0
    return Tested(value, gains, ci, p)


def _error(queries: Queries, encoders: Sequence[str]) -> tuple[list[float], float, float, int]:
    """Return each training's mean; of their mean the standard error by queries, its freedom, and ways."""
    each = [float(queries.means[queries.row_of(name)]) for name in encoders]
    paired = [queries.paired(name, name) for name in encoders]
    count = len(paired)
    residuals = [p.weight * (p.a - mean) / count for p, mean in zip(paired, each, strict=True)]
    clusters = [np.concatenate([p.own for p in paired])]
    if paired[0].retrieved_a is not None:
        clusters.append(np.concatenate([p.retrieved_a for p in paired if p.retrieved_a is not None]))
    weights = np.concatenate([p.weight for p in paired]) / count
    error = float(np.sqrt(variance([ResidualPart(np.concatenate(residuals), tuple(clusters), weights)])))
    freedom = max(min(effective_clusters(ids, weights) for ids in clusters) - 1, 1.0)
    return each, error, freedom, len(clusters)


def difference(
    queries: Queries,
    first: Sequence[str],
    second: Sequence[str],
    *,
    rng: np.random.Generator,
    replicates: int,
) -> Tested:
    """Test first less second, training by training; one that has one training meets each of the other's.

    A query that recurs in every training stays one cluster, and every training has equal weight.
    """
    from scipy.special import stdtr

    count = max(len(first), len(second))
    if not {len(first), len(second)} <= {1, count}:
        raise ValueError(f"{len(first)} and {len(second)} trainings cannot be compared one by one")
    paired = [queries.paired(first[i % len(first)], second[i % len(second)]) for i in range(count)]
    each = [float(one.weight @ (one.a - one.b)) for one in paired]
    value = float(np.mean(each))
    if note := too_few(len(np.unique(queries.own))):
        return Tested(value, each, None, None, note)
    if hub := queries.one_retrieved(*first, *second):
        return Tested(value, each, None, None, f"{hub}: nothing is known about other texts")

    def column(name: str) -> Any:  # noqa: ANN401  (an array)
        return np.concatenate([getattr(one, name) for one in paired])

    retrieved = () if queries.retrieved is None else (column("retrieved_a"), column("retrieved_b"))
    stacked = Paired(column("a"), column("b"), column("weight") / count, column("own"), *retrieved)
    test = paired_test(stacked, rng=rng, replicates=replicates, span=queries.span)
    ci, p = test.interval(), float(test.p)
    error, freedom = with_trainings(test.standard_error, test.freedom, each)
    if len(each) > 1 and error > NOTHING:  # of the two intervals the wider one, at either end
        half = t_quantile(LEVEL, freedom) * error
        low, high = min(ci.low, value - half), max(ci.high, value + half)
        method = f"{ci.method}, {len(each)} trainings"
        ci = Interval(max(low, -test.span), min(high, test.span), LEVEL, method)
        p = max(p, float(2 * stdtr(freedom, -abs(value) / error)))
    return Tested(value, each, ci, p)


def decided(tested: Sequence[Tested]) -> list[dict[str, Any]]:
    """Return the fields of each difference's record, p being corrected (Holm) for all of them."""
    adjusted = holm(np.array([1.0 if found.p is None else found.p for found in tested])).tolist()
    return [found.decided(p) for found, p in zip(tested, adjusted, strict=True)]
