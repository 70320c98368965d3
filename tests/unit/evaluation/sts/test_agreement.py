"""Intervals and differences: against Fisher's, where pairs are clustered, and at the edges; a simulation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from xlingual.evaluation.estimates import Gap
from xlingual.evaluation.sts import ScoreAgreement
from xlingual.stats.dependent import williams, zou_overlapping
from xlingual.stats.weighted import REPLICATES, Ordered, pearson, spearman, weights

PAIRS, FILES = 250, 200
TRUTH = 0.687  # of files of 20,000 pairs


def agreement(
    x: np.ndarray,
    y: np.ndarray,
    cluster: np.ndarray | None = None,
    seed: int = 0,
    *,
    ranks: bool = False,
    draws: int = REPLICATES,
) -> ScoreAgreement:
    cluster = np.arange(len(x)) if cluster is None else cluster
    correlate = (
        (lambda *w: spearman(Ordered.of(x), Ordered.of(y), *w)) if ranks else (lambda *w: pearson(x, y, *w))
    )
    found = [correlate(w) for w in weights(cluster, np.random.default_rng(seed), draws)]
    return ScoreAgreement(float(correlate()[0]), np.concatenate(found), cluster, None if ranks else (x, y))


def resampled_difference(a: ScoreAgreement, b: ScoreAgreement) -> Gap:
    return replace(a, tested=None).minus(replace(b, tested=None))


def test_a_difference_is_williams_and_zou_over_all_pairs() -> None:
    rng = np.random.default_rng(5)
    gold = rng.random(200)
    x, y = gold + 0.3 * rng.random(200), gold + 0.6 * rng.random(200)
    a, b = agreement(x, gold), agreement(y, gold)
    r_xy = float(pearson(x, y)[0])
    found = a.minus(b)
    zou = zou_overlapping(a.value, b.value, r_xy, 200)
    assert (found.value, found.p) == (a.value - b.value, williams(a.value, b.value, r_xy, 200)[1])
    assert (found.ci.low, found.ci.high, found.test) == (zou.low, zou.high, "Williams, n = 200")
    resampled = resampled_difference(a, b)
    assert resampled.p is None
    width = zou.high - zou.low
    assert resampled.ci.low == pytest.approx(zou.low, abs=0.2 * width)
    assert resampled.ci.high == pytest.approx(zou.high, abs=0.2 * width)


def test_pairs_that_repeat_count_once() -> None:
    """Every pair four times in a cluster of its own: the test is about that of the pairs once."""
    rng = np.random.default_rng(6)
    gold = rng.random(150)
    x, y = gold + 0.5 * rng.random(150), gold + 0.6 * rng.random(150)

    def tested(times: int) -> Gap:
        g, one, other = (np.repeat(side, times) for side in (gold, x, y))
        codes = np.repeat(np.arange(150), times)
        return agreement(one, g, codes).minus(agreement(other, g, codes))

    once, often = tested(1), tested(4)
    assert once.p is not None and often.p is not None
    assert often.p == pytest.approx(once.p, rel=0.05)
    assert (
        often.test is not None
        and often.test.startswith("Williams, n = 14")
        and often.test.endswith("of 600 pairs")
    )


def test_equal_encoders_differ_by_no_more_than_the_rule_of_three() -> None:
    gold = np.random.default_rng(7).random(90)
    x = gold + np.random.default_rng(8).random(90)
    for ranks in (False, True):
        a = agreement(x, gold, ranks=ranks)
        for found in (a.minus(a), resampled_difference(a, a)):
            assert found.p is None
            assert found.value == 0.0 and found.ci.method.startswith("rule of three")
            assert found.ci.high == -found.ci.low == pytest.approx(2 * (1 - 0.05 ** (1 / 90)))


def test_a_perfect_encoder_has_an_interval_below_one() -> None:
    gold = np.random.default_rng(9).random(50)
    perfect, other = (
        agreement(gold * 3 - 1, gold),
        agreement(gold + np.random.default_rng(1).random(50), gold),
    )
    ci = perfect.interval()
    assert perfect.value == pytest.approx(1.0) and ci is not None
    assert 0.8 < ci.low < 0.999 and ci.high == 1.0
    found = perfect.minus(other)
    assert found.p is None and found.note is not None
    assert found.ci.low < found.value < found.ci.high and found.ci.method == "percentiles, bootstrap"


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
        a, b = (agreement(side, gold, cluster, seed, draws=1000) for side in (x, y))
        found = a.minus(b)
        ci = a.interval()
        assert ci is not None and found.p is not None
        covered += ci.low <= TRUTH <= ci.high
        rejected += found.p < 0.05
        level += found.ci.low <= 0 <= found.ci.high
    assert covered >= 0.91 * FILES and level >= 0.91 * FILES
    assert rejected <= 0.09 * FILES
