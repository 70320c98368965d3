"""Intervals and differences: against Fisher's, where pairs are clustered, and at the edges."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from xlingual.evaluation.estimates import Gap
from xlingual.evaluation.sts import ScoreAgreement
from xlingual.stats.dependent import williams, zou_overlapping
from xlingual.stats.weighted import Ordered, pearson, spearman, weights


def agreement(
    x: np.ndarray, y: np.ndarray, cluster: np.ndarray | None = None, seed: int = 0, *, ranks: bool = False
) -> ScoreAgreement:
    cluster = np.arange(len(x)) if cluster is None else cluster
    rx, ry = Ordered.of(x), Ordered.of(y)
    found = [
        spearman(rx, ry, w) if ranks else pearson(x, y, w)
        for w in weights(cluster, np.random.default_rng(seed))
    ]
    value = float((spearman(rx, ry) if ranks else pearson(x, y))[0])
    return ScoreAgreement(value, np.concatenate(found), cluster, None if ranks else (x, y))


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


def test_few_defined_draws_leave_no_interval() -> None:
    x = np.zeros(12)
    x[0] = 1.0  # in a third of the draws this pair is missing, and all cosines are equal
    found = agreement(x, np.arange(12.0))
    assert found.interval() is None
    assert found.note is not None and "undefined in 3" in found.note
