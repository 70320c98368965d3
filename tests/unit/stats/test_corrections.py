import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import false_discovery_control

from xlingual.stats.corrections import benjamini_hochberg, holm

PROBABILITIES = arrays(np.float64, st.integers(1, 30), elements=st.floats(0, 1))


def test_by_hand():
    p = np.array([0.04, 0.01, 0.03, 0.5])
    # sorted .01 .03 .04 .5: Holm 4·.01, 3·.03, max(.09, 2·.04), .5; Benjamini–Hochberg 4/1, 4/2, 4/3, 4/4
    np.testing.assert_allclose(holm(p), [0.09, 0.04, 0.09, 0.5])
    np.testing.assert_allclose(benjamini_hochberg(p), [0.16 / 3, 0.04, 0.16 / 3, 0.5])


@given(PROBABILITIES)
def test_benjamini_hochberg_equals_scipy(p):
    np.testing.assert_allclose(benjamini_hochberg(p), false_discovery_control(p), rtol=1e-12, atol=0)


@given(PROBABILITIES)
def test_holm_equals_stepping_down_one_by_one(p):
    adjusted, worst = np.empty(len(p)), 0.0
    for step, i in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
        worst = max(worst, (len(p) - step) * p[i])
        adjusted[i] = min(worst, 1.0)
    np.testing.assert_allclose(holm(p), adjusted, rtol=1e-12)


@given(PROBABILITIES)
def test_adjusted_values_lie_between_p_and_bonferroni(p):
    for adjusted in (holm(p), benjamini_hochberg(p)):
        assert np.all(adjusted >= p * (1 - 1e-12))
        assert np.all(adjusted <= np.minimum(len(p) * p, 1) * (1 + 1e-12))
        assert np.all(np.diff(adjusted[np.argsort(p, kind="stable")]) >= 0)
    assert np.all(benjamini_hochberg(p) <= holm(p) * (1 + 1e-12))


@pytest.mark.parametrize("correction", [holm, benjamini_hochberg])
def test_ends(correction):
    assert correction(np.array([])).shape == (0,)
    np.testing.assert_array_equal(correction(np.array([0.2])), [0.2])
    for wrong in ([0.1, np.nan], [-0.1], [1.1]):
        with pytest.raises(ValueError, match="probabilities"):
            correction(np.array(wrong))
