"""How far approximate values are off: worked examples, identities, and coverage by simulation."""

import math

import numpy as np
import pytest

from xlingual.results import Interval
from xlingual.stats.checked import Stratum, error, error_interval, weighted, with_error


def stratum(differences, n=10**9, span=1.0, weight=1.0, name="a"):
    return Stratum((name, "b", 0), np.asarray(differences, dtype=float), n, span, weight)


def test_no_difference_among_a_thousand_leaves_four_thousandths():
    """Wilson's upper end for 0 of n is z²/(n + z²); here with t of 999 degrees of freedom for z."""
    found = error_interval([stratum(np.zeros(1000))])
    assert found.high == pytest.approx(1.9623**2 / (1000 + 1.9623**2), rel=1e-3)
    assert found.low == -found.high


def test_every_query_checked_leaves_nothing_open():
    differences = np.r_[np.full(3, -1.0), np.full(1, 0.5), np.zeros(96)]
    found = error_interval([stratum(differences, n=100)])
    assert found.low == found.high == pytest.approx(-2.5 / 100)
    assert error([stratum(differences, n=100)]) == found.low


def test_the_span_scales():
    differences = np.r_[-0.2, np.zeros(99)]
    one, ten = error_interval([stratum(differences)]), error_interval([stratum(10 * differences, span=10.0)])
    assert (ten.low, ten.high) == pytest.approx((10 * one.low, 10 * one.high))


def test_exchanged_signs_exchange_the_ends():
    differences = np.r_[-1.0, -1.0, 1.0, np.zeros(97)]
    one, other = error_interval([stratum(differences)]), error_interval([stratum(-differences)])
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low))


def test_two_equal_strata_are_one_of_twice_the_size():
    half = np.r_[-1.0, np.zeros(99)]
    both = [stratum(half, weight=0.5), stratum(half, weight=0.5, name="c")]
    one = error_interval([stratum(np.r_[half, half])])
    two = error_interval(both)
    assert (two.low, two.high) == pytest.approx((one.low, one.high), rel=1e-3)


def test_a_stratum_without_error_of_an_exact_sample_halves_it():
    """The mean of one approximate and one exact number is half as far off."""
    one, half = stratum(np.zeros(500)), stratum(np.zeros(500), weight=0.5)
    assert error_interval([half]).high == pytest.approx(error_interval([one]).high / 2)


def test_a_sample_that_is_checked_whole_says_nothing_of_another():
    """None of 1000 wrong leaves as much open beside an exactly known half as beside an exact number."""
    whole, open_ = stratum(np.zeros(300), n=300, weight=0.5), stratum(np.zeros(1000), weight=0.5, name="c")
    assert error_interval([whole, open_]).high == pytest.approx(error_interval([open_]).high, rel=0.01)
    nearly = stratum(np.zeros(1000), n=1050, weight=0.5)
    assert error_interval([nearly, open_]).high >= 0.99 * error_interval([open_]).high


def test_the_error_of_a_mean_of_unlike_samples_is_covered():
    """One is checked whole and never wrong; of the other 1,000 of 20,000 are checked, 0.2 % are wrong."""
    rng = np.random.default_rng(3)
    whole = stratum(np.zeros(300), n=300, weight=0.5)
    differences = np.zeros(20_000)
    differences[:40] = -1.0
    covered = 0
    for _ in range(400):
        drawn = stratum(rng.choice(differences, 1000, replace=False), n=20_000, weight=0.5, name="c")
        found = error_interval([whole, drawn])
        covered += found.low <= differences.mean() / 2 <= found.high
    assert covered / 400 >= 0.95


def test_a_difference_is_off_by_both():
    a, b = stratum(np.r_[-1.0, np.zeros(199)]), stratum(np.zeros(200))
    own, other = error_interval([a]), error_interval([b])
    found = error_interval([a, *weighted([b], -1.0)])
    off = error([a])
    assert off - found.low == pytest.approx(math.hypot(off - own.low, other.high))
    assert found.high - off == pytest.approx(math.hypot(own.high - off, other.low))
    turned = error_interval([b, *weighted([a], -1.0)])
    assert (turned.low, turned.high) == pytest.approx((-found.high, -found.low))


def test_the_interval_of_a_value_holds_it_and_what_is_exact():
    ci = Interval(0.4, 0.5, 0.95, "Wilson")
    differences = np.r_[np.full(10, 1.0), np.zeros(90)]  # 0.1 too high
    found = with_error(0.45, ci, [stratum(differences)])
    assert found.low < 0.35 - 0.05 and found.high == 0.45 and found.method == "Wilson, checked"
    exact = with_error(0.45, ci, [stratum(np.zeros(100), n=100)])
    assert (exact.low, exact.high) == pytest.approx((0.4, 0.5))


@pytest.mark.parametrize("gain", [0.0, 0.002, 0.02])
@pytest.mark.parametrize("loss", [0.0, 0.005, 0.05])
@pytest.mark.cases(3)
def test_the_error_is_covered(gain, loss):
    """Finite populations of 20,000 queries, of which 1,000 are drawn without replacement, 400 times."""
    rng = np.random.default_rng([int(1e4 * gain), int(1e4 * loss)])
    n, m, covered = 20_000, 1000, 0
    kind = rng.random(n)
    differences = np.where(kind < gain, 1.0, np.where(kind < gain + loss, -1.0, 0.0))
    truth = differences.mean()
    for _ in range(400):
        found = error_interval([stratum(rng.choice(differences, m, replace=False), n=n)])
        covered += found.low <= truth <= found.high
    assert covered / 400 >= 0.93


def test_differences_of_any_size_are_covered():
    """As of image similarities: most differences are 0, some small, few large."""
    rng = np.random.default_rng(5)
    n, covered = 20_000, 0
    differences = np.where(rng.random(n) < 0.03, -rng.beta(0.3, 2, n), 0.0)
    for _ in range(400):
        found = error_interval([stratum(rng.choice(differences, 1000, replace=False), n=n)])
        covered += found.low <= differences.mean() <= found.high
    assert covered / 400 >= 0.95


def test_the_value_with_its_error_is_covered():
    """A new sample of queries, a search that loses one hit in ten and makes some, and a check of 500."""
    rng = np.random.default_rng(9)
    from xlingual.stats import mean_interval

    truth, covered = 0.4, 0
    for _ in range(500):
        exact = (rng.random(5000) < truth).astype(float)
        found = np.where(rng.random(5000) < 0.1, 0.0, np.where(rng.random(5000) < 0.01, 1.0, exact))
        drawn = rng.choice(5000, 500, replace=False)
        error_of = stratum((found - exact)[drawn], n=5000)
        ci = with_error(found.mean(), mean_interval(found, bounds=(0, 1)), [error_of])
        covered += ci.low <= truth <= ci.high
    assert covered / 500 >= 0.94
