"""Krippendorff's alpha: his worked example, and the definition written out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xlingual.stats.krippendorff import coincidences, ordinal_alpha

# K. Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011, section C: four observers, twelve units
EXAMPLE = (
    (1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0),
    (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3),
    (0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0),
    (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0),
)


def counts_of(values, most):
    """Return counts [units, values] of observers' values [observers, units], 0 where one is missing."""
    values = np.asarray(values)
    return np.stack([(values == value).sum(axis=0) for value in range(1, most + 1)], axis=1)


def alpha(counts):
    return float(ordinal_alpha(coincidences(counts).sum(axis=0)))


def by_definition(counts):
    """Return alpha as 1 − observed/expected disagreement, pair of values by pair of values."""
    units = [np.repeat(np.arange(len(row)), row) for row in counts if row.sum() >= 2]
    pairable = np.concatenate(units)
    frequency = np.bincount(pairable, minlength=counts.shape[1])

    def apart(a, b):
        low, high = min(a, b), max(a, b)
        return (frequency[low : high + 1].sum() - (frequency[low] + frequency[high]) / 2) ** 2

    n = len(pairable)
    observed = sum(
        apart(a, b) / (len(unit) - 1)
        for unit in units
        for i, a in enumerate(unit)
        for j, b in enumerate(unit)
        if i != j
    )
    expected = sum(apart(a, b) for i, a in enumerate(pairable) for j, b in enumerate(pairable) if i != j)
    return 1 - (observed / n) / (expected / (n * (n - 1)))


def test_the_published_example_has_its_published_value():
    counts = counts_of(EXAMPLE, 5)
    assert alpha(counts) == pytest.approx(0.815, abs=5e-4)
    # his matrix of coincidences: 40 pairable values, by value 9, 13, 10, 5, 3
    together = coincidences(counts).sum(axis=0)
    assert together.sum(axis=1) == pytest.approx([9, 13, 10, 5, 3])
    assert together[0] == pytest.approx([7, 4 / 3, 1 / 3, 1 / 3, 0])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(0, 4), min_size=4, max_size=4), min_size=1, max_size=9))
def test_alpha_is_that_of_the_definition(rows):
    counts = counts_of(np.array(rows).T, 4)
    paired = counts[counts.sum(axis=1) >= 2]
    if np.count_nonzero(paired.sum(axis=0)) < 2:
        assert np.isnan(alpha(counts))
    else:
        assert alpha(counts) == pytest.approx(by_definition(counts), abs=1e-12)


def test_perfect_agreement_is_one_and_no_agreement_is_about_zero():
    assert alpha(counts_of([[1, 2, 3, 4], [1, 2, 3, 4]], 4)) == 1
    scores = np.random.default_rng(0).integers(1, 5, (2, 5000))
    assert abs(alpha(counts_of(scores, 4))) < 0.05


def test_order_matters_and_direction_does_not():
    counts = counts_of([[1, 1, 2, 3, 4, 4], [2, 1, 2, 3, 3, 4]], 4)
    assert alpha(counts[:, ::-1]) == pytest.approx(alpha(counts))
    assert alpha(counts[:, [0, 2, 1, 3]]) < alpha(counts)


def test_a_unit_with_one_value_tells_nothing():
    counts = counts_of([[1, 2, 3, 4], [1, 2, 4, 0]], 4)
    assert alpha(counts) == alpha(counts[:3])
