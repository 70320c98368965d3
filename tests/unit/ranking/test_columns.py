"""A correction of hubs as one more dimension: inner products order as the correction does."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from xlingual.ranking import CPU, Csls, InvertedSoftmax
from xlingual.ranking.banks import Bank, Banked
from xlingual.ranking.columns import column


def unit(x):
    x = np.asarray(x, dtype=np.float64)
    length = np.sqrt((x**2).sum(axis=1, keepdims=True))
    return np.divide(x, length, out=np.zeros_like(x), where=length > 0)


def csls(x, y, bank, k):
    """2·cos(x, y) − mean of the k largest cos(b, y), pair by pair."""
    scores = np.empty((len(x), len(y)))
    for j, one in enumerate(y):
        near = sorted((float(b @ one) for b in bank), reverse=True)[:k]
        scores[:, j] = [2 * float(q @ one) - sum(near) / len(near) for q in x]
    return scores


def inverted_softmax(x, y, bank, beta):
    """(1/β)·log of exp(β·cos(x, y)) / mean_b exp(β·cos(b, y)), pair by pair."""
    scores = np.empty((len(x), len(y)))
    for j, one in enumerate(y):
        mass = sum(np.exp(beta * float(b @ one)) for b in bank) / len(bank)
        scores[:, j] = [np.log(np.exp(beta * float(q @ one)) / mass) / beta for q in x]
    return scores


CASES = [(Csls(3), csls, 3), (Csls(50), csls, 50), (InvertedSoftmax(10.0), inverted_softmax, 10.0)]


@given(st.integers(0, 10**6), st.sampled_from(CASES))
@settings(max_examples=25, deadline=None)
def test_inner_products_are_the_formula_but_for_its_scale(seed, case):
    correction, naive, parameter = case
    rng = np.random.default_rng(seed)
    x, y, bank = (rng.normal(size=(n, 5)).astype(np.float32) for n in (6, 12, 9))
    y[3], y[4] = y[2], 0
    last = column(Banked(correction, Bank.of(bank), "c"), y, CPU)
    found = np.c_[unit(x), np.ones(len(x))] @ np.c_[unit(y), last].T
    scale = 2 if naive is csls else 1
    np.testing.assert_allclose(scale * found, naive(unit(x), unit(y), unit(bank), parameter), atol=1e-8)
    assert last[2] == last[3] and last[4] == 0


def test_the_length_of_candidates_and_the_order_of_the_bank_change_nothing():
    rng = np.random.default_rng(0)
    y, bank = rng.normal(size=(20, 5)), rng.normal(size=(9, 5))
    one, other = (
        column(Banked(Csls(3), Bank.of(b), "c"), v, CPU)
        for b, v in ((bank, y), (4 * bank[::-1], y * np.arange(1, 21)[:, None]))
    )
    np.testing.assert_allclose(one, other, atol=2e-9)
