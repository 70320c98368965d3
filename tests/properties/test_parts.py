"""Pieces of a pass that are made on their own, kept as files and merged in a tree, equal one pass."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xlingual.ranking import Cosine, Counts, Cpu, GroupCounts, Top, Transposed, UnitVectors, scan
from xlingual.ranking.parts import PassState, packed, unpacked, without_weights
from xlingual.ranking.resume import Kept


def vectors(kind, rng, n, d):
    base = rng.standard_normal((n, d)).astype(np.float32)
    if kind == "ties":
        return rng.integers(-1, 2, (n, d)).astype(np.float32)
    return base * 0 if kind == "zero" else base


def requests(rng, whole, weights, k, cap):
    n, m = whole.shape
    query, target = rng.integers(0, n, 20), rng.integers(0, m, 20)
    bounds = np.array([0, *np.sort(rng.integers(0, m + 1, 3)), m])
    some = np.unique(rng.integers(0, n, 5))
    back = Cosine(whole.candidates, whole.queries)

    def make():
        return [
            Top(k, whole.shape, weights=weights, cap=cap, seed=7),
            Top(k, whole.shape, weights=weights, queries=some),
            Counts.of(whole, query, target, weights=weights),
            GroupCounts.of(whole, query, target, bounds, weights=weights),
            Transposed(Top(1, whole.shape[::-1], cap=cap)),
            Transposed(Counts.of(back, target, query)),
        ]

    return make


def answers(reductions):
    first, second, counts, groups, back, back_counts = reductions
    found = [first.result(), second.result(), back.inner.result()]
    tops = [
        sorted(zip(*(getattr(top, f).tolist() for f in ("query", "candidate", "above", "tied")), strict=True))
        for top in found
    ]
    unlisted = [top.unlisted.tolist() for top in found]
    counted = [counts.above, counts.tied, *groups.result(), back_counts.inner.above, back_counts.inner.tied]
    return tops, unlisted, [array.tolist() for array in counted]


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, m, d = draw(st.integers(1, 40)), draw(st.integers(1, 50)), draw(st.integers(2, 12))
    kind = draw(st.sampled_from(["random", "ties", "zero"]))
    whole = Cosine(UnitVectors(vectors(kind, rng, n, d)), UnitVectors(vectors(kind, rng, m, d)))
    weights = rng.integers(0, 3, m) if draw(st.booleans()) else None
    if weights is not None:
        weights[rng.integers(m)] = 2
    return whole, requests(rng, whole, weights, draw(st.integers(1, 8)), draw(st.integers(1, 30)))


def cuts(data, length):
    inner = data.draw(st.sets(st.integers(1, length), max_size=4))
    return [slice(a, b) for a, b in pairwise([0, *sorted(inner - {length}), length])]


def piece(whole, reductions, rows, columns):
    """Return what a machine that has these vectors alone sees, by way of the file that is kept of it."""
    queries = UnitVectors(whole.queries.raw[rows])
    candidates = UnitVectors(whole.candidates.raw[columns])
    alone = [reduction.alone(rows, columns) for reduction in reductions]
    scan(Cosine(queries, candidates), alone, budget=400)
    return unpacked(packed(PassState([part.state() for part in alone]))).states


@settings(max_examples=120, deadline=None)
@given(problems(), st.data())
def test_pieces_made_on_their_own_merge_to_the_same_in_a_tree(problem, data):
    whole, make = problem
    plain, merged = make(), make()
    scan(whole, plain)
    n, m = whole.shape
    columns = cuts(data, m)
    for rows in cuts(data, n):
        height = slice(0, rows.stop - rows.start)
        states = [piece(whole, merged, rows, part) for part in columns]
        for number, reduction in enumerate(merged):
            base = without_weights(reduction.alone(rows, slice(0, m)))
            level = [(part, state[number]) for part, state in zip(columns, states, strict=True)]
            while len(level) > 1:
                level = [_merged(base, height, level[i : i + 2]) for i in range(0, len(level), 2)]
            part = reduction.within(rows, slice(0, m))
            part.restore(level[0][1])
            reduction.merge([part])
    assert answers(merged) == answers(plain)


def _merged(base, height, children):
    span = slice(children[0][0].start, children[-1][0].stop)
    parts = []
    for columns, state in children:
        part = base.within(height, columns)
        part.restore(state)
        parts.append(part)
    node = base.within(height, span)
    node.merge(parts)
    return span, node.state()


@settings(max_examples=60, deadline=None)
@given(problems(), st.integers(1, 3))
def test_a_kept_pass_is_the_same_pass(tmp_path_factory, problem, threads):
    whole, make = problem
    plain = make()
    scan(whole, plain)
    folder = tmp_path_factory.mktemp("parts")
    for _ in range(2):
        kept = Kept(Cpu(threads, 400), folder, least=0, block=1)
        kept_reductions = make()
        kept.scan(Cosine(whole.queries, whole.candidates), kept_reductions)
        assert answers(kept_reductions) == answers(plain)
    assert kept.found >= 1


@pytest.mark.parametrize("columns", [slice(0, 6), slice(2, 6)])
def test_the_sample_of_ties_does_not_depend_on_where_numbers_begin(columns):
    whole = Cosine(UnitVectors(np.ones((2, 3), np.float32)), UnitVectors(np.ones((6, 3), np.float32)))
    top = Top(1, (2, 6), cap=2, seed=3)
    part = top.within(slice(0, 2), columns)
    alone = top.alone(slice(0, 2), columns)
    scan(Cosine(whole.queries, UnitVectors(whole.candidates.raw[columns])), [alone])
    one = Top(
        1, (2, 6), weights=np.array([columns.start <= i for i in range(6)], dtype=np.int64), cap=2, seed=3
    )
    scan(whole, [one])
    part.restore(alone.state())
    top.merge([part])
    assert top.result().candidate.tolist() == one.result().candidate.tolist()
