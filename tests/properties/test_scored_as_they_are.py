"""Sparse products and MaxSim: any tiling, thread count and partition gives the counts of plain loops."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import scored

from xlingual.ranking import (
    Counts,
    Cpu,
    GroupCounts,
    TextPool,
    Tile,
    counts,
    pairs,
    reference,
    rows_of,
    similarity_of,
    top,
)

FORMS = {
    "dot": scored.sparse,
    "cosine": scored.sparse,
    "maxsim": scored.tokens,
    "meanmaxsim": scored.tokens,
}


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    form, kind = draw(st.sampled_from(sorted(FORMS))), draw(st.sampled_from(scored.KINDS))
    n, m, d = draw(st.integers(1, 12)), draw(st.integers(1, 20)), draw(st.integers(1, 9))
    queries, candidates = (FORMS[form](kind, rng, size, d, form) for size in (n, m))
    return rng, queries, candidates


@settings(max_examples=60)
@given(problems(), st.integers(16, 600), st.integers(1, 3))
def test_counts_and_lists_equal_the_loops(problem, budget, threads):
    rng, queries, candidates = problem
    keys, ranker = scored.naive_keys(queries, candidates), Cpu(threads, budget)
    similarity = similarity_of(rows_of(queries), rows_of(candidates))
    n, m = similarity.shape
    query, target = rng.integers(0, n, 10), rng.integers(0, m, 10)
    order = np.argsort(query, kind="stable")
    query, target = query[order], target[order]
    assert np.abs(similarity.exact(query, target) - keys[query, target]).max() <= 1
    above, tied = counts(similarity, query, target, ranker=ranker)
    wanted = reference.counts(keys, query, target)
    assert above[:, 0].tolist() == wanted[0].tolist() and tied[:, 0].tolist() == wanted[1].tolist()
    k = int(rng.integers(1, m + 1))
    (best,) = top(similarity, k, ranker=ranker)
    found = [set() for _ in range(n)]
    for i, *line in zip(best.query, best.candidate, best.above, best.tied, strict=True):
        found[i].add(tuple(map(int, line)))
    assert found == [set(lines) for lines in reference.top(keys, k)]


@settings(max_examples=40)
@given(problems())
def test_exact_keys_depend_on_the_pair_alone(problem):
    rng, queries, candidates = problem
    similarity = similarity_of(rows_of(queries), rows_of(candidates))
    n, m = similarity.shape
    whole = similarity.exact(*np.divmod(np.arange(n * m), m)).reshape(n, m)
    rows, columns = rng.integers(0, n, 4), rng.integers(0, m, 5)
    part = similarity_of(rows_of(queries, rows), rows_of(candidates).take(columns))
    alone = part.exact(*np.divmod(np.arange(20), 5)).reshape(4, 5)
    assert (alone == whole[np.ix_(rows, columns)]).all()
    one = rng.permutation(n * m)
    single = np.concatenate([similarity.exact(*np.divmod(one[i : i + 1], m)) for i in range(len(one))])
    assert (single == whole.reshape(-1)[one]).all()
    tile = np.empty((n, m), dtype=np.float32)
    similarity.tile(slice(0, n), slice(0, m), tile)
    assert np.abs(tile - whole * 1e-9).max() <= similarity.band / 2


@settings(max_examples=40)
@given(problems(), st.data())
def test_pieces_merge_to_the_whole(problem, data):
    rng, queries, candidates = problem
    similarity = similarity_of(rows_of(queries), rows_of(candidates))
    n, m = similarity.shape
    query = np.sort(rng.integers(0, n, 8))
    target = rng.integers(0, m, 8)
    cut = data.draw(st.integers(0, m))
    whole = counts(similarity, query, target)
    request = Counts(query, target, similarity.exact(query, target))
    for columns in (slice(0, cut), slice(cut, m)):
        if columns.start < columns.stop:
            part = request.within(slice(0, n), columns)
            out = np.empty((n, columns.stop - columns.start), dtype=np.float32)
            scores = similarity.tile(slice(0, n), columns, out)
            part.update(Tile(scores, 0, columns.start, similarity.band, similarity.exact))
            request.merge([part])
    assert (request.above == whole[0][:, 0]).all() and (request.tied == whole[1][:, 0]).all()


@settings(max_examples=40)
@given(problems())
def test_equal_rows_are_collapsed_to_one(problem):
    _, queries, candidates = problem
    pool = TextPool.of(candidates)
    keys = scored.naive_keys(queries, candidates)
    again = scored.naive_keys(queries, candidates[pool.vectors.rows])
    assert (keys == again[:, pool.code]).all()
    assert len({candidates.row_bytes(i) for i in range(len(candidates))}) == len(pool.vectors)


@pytest.mark.parametrize("form", sorted(FORMS))
def test_groups_of_candidates(form):
    rng = np.random.default_rng(3)
    queries, candidates = (FORMS[form]("integers", rng, size, 6, form) for size in (9, 15))
    similarity, keys = similarity_of(rows_of(queries), rows_of(candidates)), None
    keys = scored.naive_keys(queries, candidates)
    query, target, bounds = np.arange(9), np.arange(9), np.array([0, 4, 11, 15])
    split = GroupCounts.of(similarity, query, target, bounds)
    Cpu(budget=128).scan(similarity, [split])
    own = keys[query, target][:, None]
    for found, better in zip(split.result(), (keys > own, keys == own), strict=True):
        wanted = np.stack([better[:, a:b].sum(axis=1) for a, b in pairwise(bounds)], axis=1)
        assert found.tolist() == wanted.tolist()


@pytest.mark.parametrize("form", sorted(FORMS))
def test_zero_rows_and_empty_texts_score_zero(form):
    rng = np.random.default_rng(5)
    some, none = FORMS[form]("random", rng, 4, 6, form), FORMS[form]("zero", rng, 3, 6, form)
    for queries, candidates in ((some, none), (none, some), (none, none)):
        similarity = similarity_of(rows_of(queries), rows_of(candidates))
        every = np.divmod(np.arange(len(queries) * len(candidates)), len(candidates))
        assert (pairs(similarity, *every) == 0).all()
