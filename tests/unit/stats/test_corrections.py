import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import false_discovery_control, norm

from xlingual.stats.corrections import benjamini_hochberg, holm, in_sequence

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


@st.composite
def ordered(draw):
    """Draw p-values, and for each one before it (or none) that it is tested after."""
    p = draw(PROBABILITIES)
    return p, [draw(st.sampled_from([None, *range(i)])) for i in range(len(p))]


def rejected_step_by_step(p, after, level):
    """Return which are rejected, by handing levels down: a test passes its own on to those that follow it."""
    found, given = set(), [(None, level)]
    while given:
        place, own = given.pop()
        if place is not None and p[place] > own:
            continue
        found |= set() if place is None else {place}
        followers = [i for i, before in enumerate(after) if before == place]
        given += [(i, own / len(followers)) for i in followers]
    return found


@given(ordered(), st.sampled_from([0.01, 0.05, 0.2, 0.5]))
def test_tests_in_sequence_hand_their_level_on(drawn, level):
    p, after = drawn
    adjusted = in_sequence(p, after)
    sure = np.abs(adjusted - level) > 1e-9  # of rounding
    rejected = rejected_step_by_step(p, after, level)
    assert {i for i in range(len(p)) if adjusted[i] <= level and sure[i]} == {i for i in rejected if sure[i]}
    assert np.all(adjusted >= p)


@given(PROBABILITIES)
def test_without_a_fork_every_step_has_the_whole_level(p):
    line = [None, *range(len(p) - 1)]
    np.testing.assert_allclose(in_sequence(p, line), np.maximum.accumulate(p))
    apart = in_sequence(p, [None] * len(p))  # all first: Bonferroni
    np.testing.assert_allclose(apart, np.minimum(p * len(p), 1))


def test_wrong_rejections_in_sequence_are_as_rare_as_the_level():
    """Of 4,000 samples with every mixture of true and false hypotheses, whose p depend on each other."""
    rng = np.random.default_rng(0)
    after = [None, 0, 1, 1, 1, 2, 3, 4, 4]
    wrong = uncorrected = 0
    for _ in range(4000):
        true = rng.random(len(after)) < 0.5
        common = rng.random()
        z = np.sqrt(common) * rng.normal() + np.sqrt(1 - common) * rng.normal(size=len(after))
        p = norm.sf(z + np.where(true, 0, 3))
        wrong += bool(np.any((in_sequence(p, after) <= 0.05) & true))
        uncorrected += bool(np.any((p <= 0.05) & true))
    assert wrong / 4000 < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 4000) < 0.1 < uncorrected / 4000
