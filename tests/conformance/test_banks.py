"""Repairs of hubs by a bank, by every ranker, equal their definitions written out, for any vectors."""

import math
from pathlib import Path
from runpy import run_path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xlingual.ranking import (
    Bank,
    Banked,
    Cosine,
    Counts,
    Csls,
    GroupCounts,
    InvertedSoftmax,
    Top,
    Transposed,
    UnitVectors,
    adjusted,
    reference,
)

SHARED = run_path(str(Path(__file__).with_name("test_rankers.py")), run_name="rankers")
RANKERS, KINDS, vectors, listed = (SHARED[name] for name in ("RANKERS", "KINDS", "vectors", "listed"))
ONE = 10**9


def plain_csls(keys, bank, k):
    nearest = np.sort(bank, axis=0)[::-1][:k]
    return 2 * keys - np.rint(nearest.sum(axis=0) / len(nearest)).astype(np.int64)


def log_means(bank, beta):
    """Return (1/β)·log mean exp(β·cos) of each column, summed without an error."""
    most = bank.max(axis=0)
    terms = np.exp(beta * 1e-9 * (bank - most))
    sums = [math.fsum(column) / len(column) for column in terms.T]
    return np.rint(most + np.log(sums) / (beta * 1e-9)).astype(np.int64)


def plain_softmax(keys, bank, beta):
    return keys - log_means(bank, beta)


CASES = {
    "csls": lambda k: (Csls(k), plain_csls, (k,)),
    "inverted-softmax": lambda k: (InvertedSoftmax(2.0 * k), plain_softmax, (2.0 * k,)),
}


def multiplicity(rng, size):
    weights = rng.integers(0, 3, size)
    weights[rng.integers(size)] = 1
    return weights


def lines_of(found):
    return {query: sorted(line) for query, line in listed(found).items()}


def all_keys(adjustment, keys):
    _, j = (index.ravel() for index in np.indices(keys.shape))
    return adjustment.keys(keys.ravel(), j).reshape(keys.shape)


@settings(max_examples=6)
@given(st.integers(0, 2**32), st.sampled_from(KINDS), st.integers(1, 12))
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", RANKERS)
@pytest.mark.cases(11)
def test_any_vectors(name, case, seed, kind, k):
    rng = np.random.default_rng(seed)
    n, m, b, d = rng.integers(1, 30), rng.integers(1, 50), rng.integers(1, 30), rng.integers(1, 24)
    sides = [vectors(kind, rng, size, d) for size in (n, m, b)]
    sample = multiplicity(rng, n), multiplicity(rng, m)
    correction, plain, parameters = CASES[case](k)
    ranker, similarity = RANKERS[name](), Cosine(*map(UnitVectors, sides[:2]))
    bank = Bank.of(sides[2])
    adjustment = Banked(correction, bank, "").offsets(similarity, ranker)
    keys = reference.keys(*sides[:2])
    there = np.flatnonzero(sample[0])
    found = all_keys(adjustment, keys)
    expected = plain(keys, reference.keys(sides[2], sides[1]), *parameters)
    np.testing.assert_allclose(found[there], expected[there], rtol=1e-12, atol=1)

    target = rng.integers(0, m, len(there))
    best = Top(3, (n, m), weights=sample[1], queries=there)
    back = Top(1, (m, n), weights=sample[0])
    own = adjustment.exact(similarity, there, target)
    np.testing.assert_array_equal(own, found[there, target])
    counts = Counts(there, target, own, weights=sample[1])
    grouped = GroupCounts(there, target, own, np.array([0, m // 2, m]), weights=sample[1])
    asked = [adjusted(one, adjustment) for one in (best, Transposed(back), counts, grouped)]
    ranker.scan(similarity, asked)
    for one, which, weights, kept, k_best in (
        (best, found, sample[1], there, 3),
        (back, found.T, sample[0], range(m), 1),
    ):
        lines = reference.top(which, k_best, weights)
        assert lines_of(one.result()) == {q: sorted(line) for q, line in enumerate(lines) if q in kept}
    whole = reference.counts(found, there, target, sample[1])
    np.testing.assert_array_equal((counts.above, counts.tied), whole)
    np.testing.assert_array_equal([part.sum(axis=1) for part in grouped.result()], whole)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", RANKERS)
@pytest.mark.cases(6)
def test_scores_within_the_error_of_any_screen(name, case):
    """Cosines that differ by a few 1e-9 are told apart; equal scores tie."""
    rng = np.random.default_rng(1)
    angle = np.pi / 4 + np.concatenate([np.arange(50) * 1.5e-9, rng.random(50) * 1e-7])
    candidates = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    queries = np.stack([np.cos(angle[:20] - 0.7), np.sin(angle[:20] - 0.7)], axis=1)
    similarity = Cosine(UnitVectors(queries), UnitVectors(candidates))
    correction, *_ = CASES[case](5)
    banked = Banked(correction, Bank.of(rng.standard_normal((30, 2))), "")
    adjustment = banked.offsets(similarity, RANKERS[name]())
    found = all_keys(adjustment, reference.keys(queries, candidates))
    numbers = np.arange(20), np.arange(20)
    counts = Counts(*numbers, adjustment.exact(similarity, *numbers))
    RANKERS[name]().scan(similarity, [adjusted(counts, adjustment)])
    np.testing.assert_array_equal((counts.above, counts.tied), reference.counts(found, *numbers))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", RANKERS)
@pytest.mark.cases(6)
def test_shards_that_are_passes_of_their_own(name, case):
    """Each pair of shards is ranked as if there were no other, with what is known of its texts alone."""
    rng = np.random.default_rng(2)
    queries, candidates = (rng.integers(-2, 3, (size, 4)).astype(np.float32) for size in (50, 60))
    similarity = Cosine(UnitVectors(queries), UnitVectors(candidates))
    correction, *_ = CASES[case](5)
    banked = Banked(correction, Bank.of(rng.integers(-2, 3, (40, 4)).astype(np.float32)), "")
    adjustment = banked.offsets(similarity, RANKERS[name]())
    pairs = rng.integers(0, 50, 40), rng.integers(0, 60, 40)
    own = adjustment.exact(similarity, *pairs)
    made = [adjusted(one, adjustment) for one in (Counts(*pairs, own), Transposed(Top(3, (60, 50))))]
    for rows in (slice(0, 30), slice(30, 50)):
        seen = []
        for columns in (slice(40, 60), slice(0, 40)):
            shard = Cosine(
                UnitVectors(queries, np.arange(50)[rows]), UnitVectors(candidates, np.arange(60)[columns])
            )
            alone = [one.alone(rows, columns) for one in made]
            RANKERS[name]().scan(shard, alone)
            seen.append([one.within(rows, columns) for one in made])
            for part, one in zip(seen[-1], alone, strict=True):
                part.restore(one.state())
        for reduction, *parts in zip(made, *seen, strict=True):
            whole = reduction.within(rows, slice(0, 60))
            whole.merge(parts)
            reduction.merge([whole])
    found = all_keys(adjustment, reference.keys(queries, candidates))
    counts, top = made[0].inner, made[1].inner.inner
    np.testing.assert_array_equal((counts.above, counts.tied), reference.counts(found, *pairs))
    assert lines_of(top.result()) == {q: sorted(line) for q, line in enumerate(reference.top(found.T, 3))}
