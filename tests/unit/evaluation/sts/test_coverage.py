"""Whether intervals and tests keep their promise: scores rounded, cosines skewed, pairs clustered."""

from __future__ import annotations

import numpy as np
import pytest

from xlingual.evaluation.sts import ScoreAgreement
from xlingual.stats.weighted import pearson, weights

PAIRS, FILES = 250, 200
TRUTH = 0.687  # of files of 20,000 pairs


def agreement(x: np.ndarray, y: np.ndarray, cluster: np.ndarray, seed: int) -> ScoreAgreement:
    drawn = weights(cluster, np.random.default_rng(seed), 1000)
    replicates = np.concatenate([pearson(x, y, weight) for weight in drawn])
    return ScoreAgreement(float(pearson(x, y)[0]), replicates, cluster, (x, y))


def simulated(rng: np.random.Generator, *, clustered: bool) -> tuple[np.ndarray, ...]:
    """Return clusters, scores, and the cosines of two equally good encoders."""
    sizes = rng.geometric(0.5, PAIRS) if clustered else np.ones(PAIRS, dtype=int)
    cluster = np.repeat(np.arange(PAIRS), sizes)[:PAIRS]
    shared = 0.6 if clustered else 0.0

    def noise() -> np.ndarray:
        own = np.sqrt(1 - shared) * rng.standard_normal(PAIRS)
        return np.sqrt(shared) * rng.standard_normal(PAIRS)[cluster] + own

    truth = noise()
    gold = np.clip(np.round(2.5 + 1.4 * (0.9 * truth + 0.45 * noise()), 1), 0, 5)
    x, y = (np.tanh(0.8 * (0.8 * truth + 0.6 * noise()) + 0.5) for _ in range(2))
    return cluster, gold, x, y


@pytest.mark.slow
@pytest.mark.parametrize("clustered", [False, True])
def test_intervals_cover_and_tests_reject_as_they_say(clustered: bool) -> None:
    rng = np.random.default_rng(1)
    covered = rejected = level = 0
    for seed in range(FILES):
        cluster, gold, x, y = simulated(rng, clustered=clustered)
        a, b = (agreement(side, gold, cluster, seed) for side in (x, y))
        found = a.minus(b)
        ci = a.interval()
        assert ci is not None and found.p is not None
        covered += ci.low <= TRUTH <= ci.high
        rejected += found.p < 0.05
        level += found.ci.low <= 0 <= found.ci.high
    assert covered >= 0.91 * FILES and level >= 0.91 * FILES
    assert rejected <= 0.09 * FILES
