"""Repairs of hubs by a bank of training queries against the formulas of their papers, in plain float64."""

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
    Cosine,
    Cpu,
    Csls,
    InvertedSoftmax,
    Top,
    UnitVectors,
    rank,
    rows_of,
    similarity_of,
)

CORRECTIONS = {
    "csls": Csls(4),
    "inverted-softmax": InvertedSoftmax(9.0),
}


def keys_of(correction, queries, candidates, bank, ranker=CPU):
    """Return the keys of all pairs, int64 [n, m]."""
    similarity = Cosine(UnitVectors(queries), UnitVectors(candidates))
    offsets = Banked(correction, Bank.of(bank), "x").offsets(similarity, ranker)
    i, j = (index.ravel() for index in np.indices(similarity.shape))
    return Corrected(similarity, offsets).keys(i, j).reshape(similarity.shape)


def unit(vectors):
    wide = vectors.astype(np.float64)
    return wide / np.linalg.norm(wide, axis=1, keepdims=True)


def cosines(left, right):
    return unit(left) @ unit(right).T


# each takes queries x [n, d], candidates y [m, d] and the bank's queries b [N, d], and returns [n, m]


def csls(x, y, b, k=4):
    """Return eq. 3 of Conneau and others (2018); r_T by the candidates, r_S by the bank."""
    r_t = [np.mean(sorted(row, reverse=True)[:k]) for row in cosines(x, y)]
    r_s = [np.mean(sorted(row, reverse=True)[:k]) for row in cosines(y, b)]
    return 2 * cosines(x, y) - np.array(r_t)[:, None] - np.array(r_s)


def inverted_softmax(x, y, b, beta=9.0):
    """Return eq. 6 of Smith and others (2017): P of the target given the source, normalised over sources."""
    found = np.exp(beta * cosines(x, y)) / np.exp(beta * cosines(b, y)).sum(axis=0)
    return found / found.sum(axis=1, keepdims=True)  # alpha


PAPERS = {
    "csls": csls,
    "inverted-softmax": inverted_softmax,
}


def drawn(seed, *sizes, d=6):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((size, d)).astype(np.float32) for size in sizes]


@settings(max_examples=20)
@given(st.integers(0, 2**32), st.integers(4, 20))
@pytest.mark.parametrize("name", PAPERS)
def test_every_query_ranks_candidates_as_its_paper_has_it(name, seed, size):
    x, y, b = drawn(seed, 5, 12, size)
    found, expected = keys_of(CORRECTIONS[name], x, y, b), PAPERS[name](x, y, b)
    for own, paper in zip(found, expected, strict=True):
        order = np.argsort(-paper)
        steps = -np.diff(own[order])
        apart = -np.diff(paper[order]) > 1e-7 * np.abs(paper).max()  # else the paper's own digits decide
        assert (steps[apart] > 0).all()


@pytest.mark.parametrize("name", PAPERS)
def test_keys_are_the_papers_scores_but_for_what_orders_nothing(name):
    """A known function of the paper's score, and of the query alone, gives the key."""
    x, y, b = drawn(3, 6, 15, 30)
    paper = PAPERS[name](x, y, b)
    if name == "csls":
        paper += np.array([np.mean(np.sort(row)[-4:]) for row in cosines(x, y)])[:, None]
    if name == "inverted-softmax":
        paper = cosines(x, y) - np.log(np.exp(9 * cosines(b, y)).mean(axis=0)) / 9
    np.testing.assert_allclose(keys_of(CORRECTIONS[name], x, y, b) * 1e-9, paper, rtol=2e-6, atol=2e-6)


@settings(max_examples=10)
@given(st.integers(0, 2**32))
@pytest.mark.parametrize("name", PAPERS)
def test_what_must_not_matter(name, seed):
    """A rotation of all vectors, their lengths, the order of the bank, how candidates are parted."""
    x, y, b = (side.astype(np.float64) for side in drawn(seed, 6, 14, 25))
    rng, correction = np.random.default_rng(seed), CORRECTIONS[name]
    found = keys_of(correction, x, y, b)
    turn = np.linalg.qr(rng.standard_normal((6, 6)))[0]
    np.testing.assert_allclose(
        keys_of(correction, x @ turn, y @ turn, b @ turn) * 1e-9, found * 1e-9, atol=1e-7
    )
    np.testing.assert_array_equal(keys_of(correction, x * 4, y / 8, b * 2), found)
    np.testing.assert_array_equal(keys_of(correction, x, y, b[rng.permutation(25)]), found)
    np.testing.assert_array_equal(keys_of(correction, x, y, b, Cpu(2)), found)
    parts = [keys_of(correction, x, y[part], b) for part in (slice(0, 1), slice(1, 9), slice(9, 14))]
    np.testing.assert_array_equal(np.concatenate(parts, axis=1), found)
    alone = [keys_of(correction, x[i : i + 1], y, b) for i in range(6)]
    np.testing.assert_array_equal(np.concatenate(alone), found)


def test_a_bank_twice_is_the_bank():
    x, y, b = drawn(5, 7, 20, 33)
    once, twice = (keys_of(InvertedSoftmax(9.0), x, y, bank) for bank in (b, np.concatenate([b, b])))
    np.testing.assert_array_equal(once, twice)


def test_the_best_are_those_of_all_scores_for_other_forms_of_vectors():
    """Sparse rows and token vectors have banks too, where scores need be no cosines."""
    rng = np.random.default_rng(2)
    for make in (scored.sparse, scored.tokens):
        sides = [make("random", rng, size, 9) for size in (8, 20, 12)]
        similarity = similarity_of(*map(rows_of, sides[:2]))
        bank = Bank.of(sides[2])
        keys = similarity.key_block(np.arange(8), np.arange(20))
        from_bank = similarity_of(rows_of(sides[2]), rows_of(sides[1]))
        from_bank = from_bank.key_block(np.arange(12), np.arange(20))
        offsets = Banked(Csls(3), bank, "x").offsets(similarity, CPU)
        scores = 2 * keys - np.rint(np.sort(from_bank, axis=0)[-3:].mean(axis=0)).astype(np.int64)
        best = Top(1, similarity.shape)
        rank(Corrected(similarity, offsets), [best], CPU)
        found = best.result()
        for query, row in enumerate(scores):
            own = found.candidate[found.query == query].tolist()
            assert own == np.flatnonzero(row == row.max()).tolist()
