"""Dependent correlations: published examples, the formulas again by determinants, and coverage."""

from __future__ import annotations

import numpy as np
import pytest

from xlingual.stats.dependent import (
    fisher_interval,
    williams,
    zou_overlapping,
)


def test_williams_of_the_program_depcor():
    # Silver, Hittner and May 2006, "A FORTRAN 77 program for comparing dependent correlations"
    t, p = williams(0.3, 0.4, 0.5, 100)
    assert t == pytest.approx(-1.0767, abs=5e-5)
    assert p == pytest.approx(0.2843, abs=5e-5)


def test_zou_of_his_paper():
    # Zou 2007, p. 409
    ci = zou_overlapping(0.396, 0.179, 0.088, 66)
    assert (ci.low, ci.high) == pytest.approx((-0.093, 0.517), abs=5e-4)


def test_williams_again_by_determinants():
    rng = np.random.default_rng(0)
    for _ in range(50):
        n = int(rng.integers(4, 60))
        r = np.corrcoef(rng.normal(size=(3, 3)) @ rng.normal(size=(3, n)))
        xy, xz, yz = r[0, 1], r[0, 2], r[1, 2]
        below = 2 * np.linalg.det(r) * (n - 1) / (n - 3) + ((xy + xz) / 2) ** 2 * (1 - yz) ** 3
        t, _ = williams(xy, xz, yz, n)
        assert t == pytest.approx((xy - xz) * np.sqrt((n - 1) * (1 + yz) / below), rel=1e-6)


def test_fisher_interval_of_a_table():
    # r = .5, n = 28: z = .5493 ± 1.96/5
    ci = fisher_interval(0.5, 28)
    assert (ci.low, ci.high) == pytest.approx((np.tanh(0.5493 - 0.392), np.tanh(0.5493 + 0.392)), abs=1e-4)


def test_two_sides_swap_with_the_sign():
    t, p = williams(0.9, 0.7, 0.8, 20)
    other, same = williams(0.7, 0.9, 0.8, 20)
    assert (t, p) == pytest.approx((-other, same))
    ci, back = zou_overlapping(0.9, 0.7, 0.8, 20), zou_overlapping(0.7, 0.9, 0.8, 20)
    assert (ci.low, ci.high) == pytest.approx((-back.high, -back.low))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: williams(0.5, 0.4, 0.3, 3), "at least 4"),
        (lambda: fisher_interval(1.0, 10), "1 or −1"),
        (lambda: williams(0.5, 0.5, 1.0, 10), "linear map"),
        (lambda: zou_overlapping(0.5, 0.5, 1.0, 10), "linear map"),
        (lambda: zou_overlapping(1.0, 0.5, 0.5, 10), "1 or −1"),
        (lambda: williams(0.9, -0.9, 0.9, 10), "no three variables"),
    ],
)
def test_what_has_no_answer_says_why(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def _samples(rho: np.ndarray, n: int, times: int) -> np.ndarray:
    """Return correlation matrices [times, v, v] of samples of n of normal data."""
    rng = np.random.default_rng(1)
    data = rng.normal(size=(times, n, len(rho))) @ np.linalg.cholesky(rho).T
    data -= data.mean(axis=1, keepdims=True)
    products = data.transpose(0, 2, 1) @ data
    scale = np.sqrt(np.einsum("tii->ti", products))
    return products / scale[:, :, None] / scale[:, None, :]


@pytest.mark.parametrize("n", [12, 24])
def test_size_and_coverage_with_a_shared_variable(n):
    rho = np.array([[1, 0.9, 0.9], [0.9, 1, 0.85], [0.9, 0.85, 1]])
    drawn = _samples(rho, n, 2000)
    p = [williams(r[0, 1], r[0, 2], r[1, 2], n)[1] for r in drawn]
    assert 0.037 <= np.mean(np.array(p) <= 0.05) <= 0.063
    rho = np.array([[1, 0.95, 0.7], [0.95, 1, 0.75], [0.7, 0.75, 1]])
    found = [zou_overlapping(r[0, 1], r[0, 2], r[1, 2], n) for r in _samples(rho, n, 2000)]
    assert 0.935 <= np.mean([ci.low <= 0.25 <= ci.high for ci in found]) <= 0.97
