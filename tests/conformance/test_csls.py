"""CSLS by every ranker equals its definition written out, for every kind of vectors and every sample."""

from fractions import Fraction
from pathlib import Path
from runpy import run_path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xlingual.ranking import (
    Cosine,
    Counts,
    Csls,
    Offsets,
    Top,
    Transposed,
    UnitVectors,
    adjusted,
    reference,
)

SHARED = run_path(str(Path(__file__).with_name("test_rankers.py")), run_name="rankers")
RANKERS, KINDS, vectors, listed = (SHARED[name] for name in ("RANKERS", "KINDS", "vectors", "listed"))


def plain_offsets(keys, k, queries, candidates):
    """Return r of each query and candidate of a sample, and 0 for what is not in it: loops over sorted lists.

    `queries` and `candidates` say how often each is there.
    """

    def mean(row, weights):
        nearest = sorted(np.repeat(row, weights).tolist(), reverse=True)[:k]
        return round(Fraction(sum(nearest), len(nearest)))

    rows = [mean(row, candidates) if n else 0 for row, n in zip(keys, queries, strict=True)]
    columns = [mean(column, queries) if n else 0 for column, n in zip(keys.T, candidates, strict=True)]
    return np.array(rows), np.array(columns)


def found_by(ranker, similarity, repair, *sample):
    request = repair.request(*sample)
    ranker.scan(similarity, list(request.reductions))
    return request.result(similarity)


def multiplicity(rng, size):
    weights = rng.integers(0, 3, size)
    weights[rng.integers(size)] = 1
    return weights


@settings(max_examples=12)
@given(st.integers(0, 2**32), st.sampled_from(KINDS), st.integers(1, 12))
@pytest.mark.parametrize("name", RANKERS)
@pytest.mark.cases(7)
def test_any_vectors(name, seed, kind, k):
    rng = np.random.default_rng(seed)
    n, m, d = rng.integers(1, 40), rng.integers(1, 60), rng.integers(1, 24)
    sides = vectors(kind, rng, n, d), vectors(kind, rng, m, d)
    sample = multiplicity(rng, n), multiplicity(rng, m)
    ranker, similarity = RANKERS[name](), Cosine(*map(UnitVectors, sides))
    offsets = found_by(ranker, similarity, Csls(k), *sample)
    keys = reference.keys(*sides)
    rows, columns = plain_offsets(keys, k, *sample)
    np.testing.assert_array_equal(offsets.queries, rows)
    np.testing.assert_array_equal(offsets.candidates, columns)
    assert offsets.scale == 2

    csls = 2 * keys - rows[:, None] - columns
    there = np.flatnonzero(sample[0])
    target = rng.integers(0, m, len(there))
    best = Top(3, (n, m), weights=sample[1], queries=there)
    back = Top(1, (m, n), weights=sample[0])
    counts = Counts(there, target, offsets.exact(similarity, there, target), weights=sample[1])
    asked = [adjusted(one, offsets) for one in (best, Transposed(back), counts)]
    ranker.scan(similarity, asked)
    for one, which, weights, kept, k_best in (
        (best, csls, sample[1], there, 3),
        (back, csls.T, sample[0], range(m), 1),
    ):
        lines = reference.top(which, k_best, weights)
        assert {q: sorted(line) for q, line in listed(one.result()).items()} == {
            q: sorted(line) for q, line in enumerate(lines) if q in kept
        }
    expected = reference.counts(csls, there, target, sample[1])
    np.testing.assert_array_equal((counts.above, counts.tied), expected)


@pytest.mark.parametrize("name", RANKERS)
@pytest.mark.cases(7)
def test_scores_within_the_error_of_any_screen(name):
    """CSLS that differ by a few 1e-9 are told apart; those that are equal tie."""
    rng = np.random.default_rng(1)
    angle = np.pi / 4 + np.concatenate([np.arange(50) * 1.5e-9, rng.random(50) * 1e-7])
    candidates = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    queries = np.stack([np.cos(angle[:20] - 0.7), np.sin(angle[:20] - 0.7)], axis=1)
    similarity = Cosine(UnitVectors(queries), UnitVectors(candidates))
    keys = reference.keys(queries, candidates)
    sample = np.ones(20, dtype=np.int64), np.ones(100, dtype=np.int64)
    rows, columns = plain_offsets(keys, 10, *sample)
    offsets = found_by(RANKERS[name](), similarity, Csls(), *sample)
    np.testing.assert_array_equal(offsets.candidates, columns)
    numbers = np.arange(20), np.arange(20)
    counts = Counts(*numbers, offsets.exact(similarity, *numbers))
    RANKERS[name]().scan(similarity, [adjusted(counts, offsets)])
    expected = reference.counts(2 * keys - rows[:, None] - columns, *numbers)
    np.testing.assert_array_equal((counts.above, counts.tied), expected)


@pytest.mark.parametrize("name", RANKERS)
@pytest.mark.cases(7)
def test_shards_that_are_passes_of_their_own(name):
    """Each pair of shards is ranked as if there were no other, with the offsets of its texts alone."""
    rng = np.random.default_rng(2)
    queries, candidates = (rng.integers(-2, 3, (size, 4)).astype(np.float32) for size in (70, 90))
    similarity = Cosine(UnitVectors(queries), UnitVectors(candidates))
    offsets = Offsets(2, rng.integers(-(10**9), 10**9, 70), rng.integers(-(10**9), 10**9, 90))
    pairs = rng.integers(0, 70, 60), rng.integers(0, 90, 60)
    keys = offsets.exact(similarity, *pairs)
    made = [adjusted(one, offsets) for one in (Counts(*pairs, keys), Transposed(Top(3, (90, 70))))]
    for rows in (slice(0, 40), slice(40, 70)):
        seen = []
        for columns in (slice(50, 90), slice(0, 50)):
            shard = Cosine(
                UnitVectors(queries, np.arange(70)[rows]), UnitVectors(candidates, np.arange(90)[columns])
            )
            alone = [one.alone(rows, columns) for one in made]
            RANKERS[name]().scan(shard, alone)
            seen.append([one.within(rows, columns) for one in made])
            for part, one in zip(seen[-1], alone, strict=True):
                part.restore(one.state())
        for reduction, *parts in zip(made, *seen, strict=True):
            whole = reduction.within(rows, slice(0, 90))
            whole.merge(parts)
            reduction.merge([whole])
    less = 2 * reference.keys(queries, candidates) - offsets.queries[:, None] - offsets.candidates
    counts, top = made[0].inner, made[1].inner.inner
    np.testing.assert_array_equal((counts.above, counts.tied), reference.counts(less, *pairs))
    lines = {q: sorted(line) for q, line in enumerate(reference.top(less.T, 3))}
    assert {q: sorted(line) for q, line in listed(top.result()).items()} == lines
