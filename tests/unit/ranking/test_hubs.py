"""Corrections of hubs by a bank of training queries against the formulas of their papers, in float64."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import scored

from xlingual.ranking import (
    CPU,
    Bank,
    Banked,
    Corrected,
    Csls,
    InvertedSoftmax,
    rows_of,
    similarity_of,
    top,
)


def corrected(correction, queries, candidates, bank):
    similarity = similarity_of(rows_of(queries), rows_of(candidates))
    return Corrected(similarity, Banked(correction, Bank.of(bank), "x").offsets(similarity, CPU))


def scores_of(*arguments):
    similarity = corrected(*arguments)
    return similarity.key_block(*map(np.arange, similarity.shape)) * 1e-9


def cosines(left, right):
    left, right = (side / np.linalg.norm(side, axis=1, keepdims=True) for side in (left, right))
    return left @ right.T


def csls(x, y, b):
    """Compute eq. 3 of Conneau and others (2018); r_T by the candidates, r_S by the bank."""
    r_t, r_s = (np.sort(cosines(*sides))[:, -4:].mean(axis=1) for sides in ((x, y), (y, b)))
    return 2 * cosines(x, y) - r_t[:, None] - r_s


def inverted_softmax(x, y, b):
    """Compute the log of eq. 6 of Smith and others (2017): P of the target, normalised over sources."""
    share = np.exp(9 * cosines(x, y)) / np.exp(9 * cosines(b, y)).sum(axis=0)
    return np.log(share / share.sum(axis=1, keepdims=True)) / 9


PAPERS = {"csls": csls, "inverted-softmax": inverted_softmax}
BOTH = [(Csls(4), csls), (InvertedSoftmax(9.0), inverted_softmax)]


@settings(max_examples=20)
@given(st.integers(0, 2**32), st.integers(4, 20))
@pytest.mark.parametrize(("correction", "paper"), BOTH)
def test_scores_are_the_papers_but_for_a_term_of_the_query(correction, paper, seed, size):
    rng = np.random.default_rng(seed)
    x, y, b = (rng.standard_normal((rows, 6)) for rows in (5, 12, size))
    difference = scores_of(correction, x, y, b) - paper(x, y, b)
    assert np.ptp(difference, axis=1).max() < 1e-8


@pytest.mark.parametrize(("correction", "paper"), BOTH)
def test_a_score_depends_on_the_pair_and_the_bank_alone(correction, paper):
    rng = np.random.default_rng(3)
    x, y, b = (rng.standard_normal((rows, 6)).astype(np.float32) for rows in (6, 14, 25))
    whole = scores_of(correction, x, y, b)
    np.testing.assert_array_equal(scores_of(correction, x * 4, y / 8, b[rng.permutation(25)] * 2), whole)
    parts = [scores_of(correction, x[2:3], y[part], b) for part in (slice(0, 1), slice(1, 9), slice(9, 14))]
    np.testing.assert_array_equal(np.concatenate(parts, axis=1), whole[2:3])


@pytest.mark.parametrize("make", [scored.sparse, scored.tokens])
def test_sparse_rows_and_tokens_have_banks_too(make):
    rng = np.random.default_rng(2)
    queries, candidates, bank = (make("random", rng, size, 9) for size in (8, 20, 12))
    plain, there = (similarity_of(rows_of(side), rows_of(candidates)) for side in (queries, bank))
    nearest = np.sort(there.key_block(np.arange(12), np.arange(20)), axis=0)[-3:].mean(axis=0)
    scores = 2 * plain.key_block(np.arange(8), np.arange(20)) - np.rint(nearest)
    (best,) = top(corrected(Csls(3), queries, candidates, bank), 1)
    is_best = np.zeros(scores.shape, bool)
    is_best[best.query, best.candidate] = True
    np.testing.assert_array_equal(is_best, scores == scores.max(axis=1, keepdims=True))
