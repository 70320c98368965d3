"""Looks at data before they are complete, against published bounds and by simulation."""

import numpy as np
import pytest

from xlingual.stats.sequential import bounds, crossing, levels, spent

# Two-sided, 5 %, equally spaced, as the programs ldbounds and gsDesign print them (Reboussin et al. 2000)
LAN_DEMETS = {
    2: [2.963, 1.969],
    3: [3.710, 2.511, 1.993],
    5: [4.877, 3.357, 2.680, 2.290, 2.031],
}
# C. Jennison, B. W. Turnbull. Group Sequential Methods, 2000: tables 2.1 (Pocock), 2.3 (O'Brien, Fleming)
POCOCK = {2: 2.178, 3: 2.289, 5: 2.413, 10: 2.555}
OBRIEN_FLEMING = {2: 1.977, 3: 2.004, 5: 2.040, 10: 2.087}


def evenly(looks):
    return [(k + 1) / looks for k in range(looks)]


@pytest.mark.parametrize("looks", LAN_DEMETS)
def test_bounds_are_the_published_ones(looks):
    assert bounds(evenly(looks)) == pytest.approx(LAN_DEMETS[looks], abs=6e-4)


@pytest.mark.parametrize("looks", POCOCK)
def test_constant_published_bounds_are_crossed_in_five_percent(looks):
    assert crossing(evenly(looks), [POCOCK[looks]] * looks) == pytest.approx(0.05, abs=2e-4)


@pytest.mark.parametrize("looks", OBRIEN_FLEMING)
def test_falling_published_bounds_are_crossed_in_five_percent(looks):
    limits = [OBRIEN_FLEMING[looks] / np.sqrt(t) for t in evenly(looks)]
    assert crossing(evenly(looks), limits) == pytest.approx(0.05, abs=2e-4)


def test_spending_is_the_published_function():
    # side by side: 2·(2 − 2Φ(2.2414/√t)) for 5 %
    assert spent(0.5) == pytest.approx(0.00305, abs=5e-6)
    assert spent(1.0) == 0.05
    assert spent(0.25, 0.1) < spent(0.25, 0.2)


def test_one_look_at_the_end_is_the_usual_test():
    assert levels([1.0], 0.05) == pytest.approx([0.05])
    assert bounds([1.0], 0.05) == pytest.approx([1.959964], abs=1e-5)


@pytest.mark.parametrize("fractions", [(0.1, 0.15, 0.6, 1.0), (0.5, 0.51, 1.0), (0.02, 1.0)])
def test_all_error_is_spent_however_looks_lie(fractions):
    assert crossing(fractions, bounds(fractions)) == pytest.approx(0.05, abs=1e-6)


def test_the_error_over_looks_is_what_was_asked_for():
    fractions = [0.3, 0.6, 1.0]
    rng = np.random.default_rng(1)
    steps = rng.normal(size=(200_000, 3)) * np.sqrt(np.diff([0, *fractions]))
    z = np.abs(np.cumsum(steps, axis=1)) / np.sqrt(fractions)
    assert np.mean((z > bounds(fractions)).any(axis=1)) == pytest.approx(0.05, abs=0.0015)
    assert np.mean((z > 1.96).any(axis=1)) > 0.09  # what looking without a correction does


@pytest.mark.parametrize("fractions", [(0.5, 0.5), (0.0, 1.0), (0.5, 1.2), (0.8, 0.2), (0.5, 0.505)])
def test_looks_that_do_not_rise_are_refused(fractions):
    with pytest.raises(ValueError, match="rise"):
        bounds(fractions)
