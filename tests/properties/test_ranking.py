"""Any tiling, thread count and partition gives exactly the float64 reference's counts and lists."""

import tracemalloc
from dataclasses import fields
from itertools import pairwise
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xlingual.ranking.scan import TilePlan

from xlingual.ranking import (
    Cosine,
    Counts,
    Cpu,
    GroupCounts,
    Tile,
    Top,
    Transposed,
    UnitVectors,
    counts,
    reference,
    scan,
    top,
)


def vectors(kind, rng, n, d):
    if kind == "random":
        return rng.standard_normal((n, d)).astype(np.float32)
    if kind == "anisotropic":  # all cosines close to one
        return (rng.standard_normal((n, d)) * 0.1 + 1).astype(np.float32)
    if kind == "nearly-equal":  # all cosines within the band of the screen
        return (rng.standard_normal((n, d)) * 1e-4 + 1).astype(np.float32)
    if kind == "integers":
        return rng.integers(-1, 2, (n, d)).astype(np.float32)
    if kind == "codes":
        return rng.choice(np.array([-1, 1], dtype=np.float32), (n, d))
    if kind == "groups":  # copies that differ in the last digits
        base = rng.standard_normal((3, d))[rng.integers(0, 3, n)]
        return (base + 1e-7 * rng.standard_normal((n, d))).astype(np.float32)
    if kind == "duplicated":
        return rng.standard_normal((max(1, n // 4), d)).astype(np.float32)[rng.integers(0, max(1, n // 4), n)]
    if kind == "rescaled":  # same directions at lengths from 1e-12 to 1e12
        base = rng.standard_normal((max(1, n // 2), d))[rng.integers(0, max(1, n // 2), n)]
        return (base * 10.0 ** rng.integers(-12, 13, (n, 1))).astype(np.float32)
    if kind == "constant":
        return np.ones((n, d), dtype=np.float32)
    if kind == "orthogonal":  # queries and candidates share no dimension
        out = np.abs(rng.standard_normal((n, d))).astype(np.float32)
        out[:, (d + 1) // 2 :] = 0
        return out
    return np.zeros((n, d), dtype=np.float32)


KINDS = [
    "random",
    "anisotropic",
    "nearly-equal",
    "integers",
    "codes",
    "groups",
    "duplicated",
    "rescaled",
    "constant",
    "orthogonal",
    "zero",
]


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    kind = draw(st.sampled_from(KINDS))
    n, m, d = draw(st.integers(1, 40)), draw(st.integers(1, 60)), draw(st.integers(2, 24))
    candidates = vectors(kind, rng, m, d)
    queries = vectors(kind, rng, n, d)[:, ::-1].copy() if kind == "orthogonal" else vectors(kind, rng, n, d)
    if kind == "duplicated" and draw(st.booleans()):
        queries[: min(n, m)] = candidates[: min(n, m)]
    weights = draw(st.sampled_from([None, "some", "many"]))
    if weights is not None:
        weights = rng.integers(0, 2 if weights == "some" else 4, m)
        weights[rng.integers(m)] = 1
    return rng, queries, candidates, weights


def listed(found):
    lists = {}
    rows = zip(found.query, found.candidate, found.above, found.tied, strict=True)
    for q, c, above, tied in rows:
        lists.setdefault(int(q), []).append((int(c), int(above), int(tied)))
    return lists


@settings(max_examples=150, deadline=None)
@given(problems(), st.integers(1, 12), st.integers(16, 4000), st.sampled_from([1, 3]))
def test_top_equals_the_reference_for_every_tiling(problem, k, budget, threads):
    _, queries, candidates, weights = problem
    similarity = Cosine(UnitVectors(queries), UnitVectors(candidates))
    wanted = reference.top(reference.keys(queries, candidates), k, weights)
    reduction = Top(k, similarity.shape, weights=weights)
    turned = Top(k, similarity.shape, weights=weights)
    scan(similarity, [reduction], threads=threads, budget=budget)
    scan(
        Cosine(UnitVectors(candidates), UnitVectors(queries)),
        [Transposed(turned)],
        threads=threads,
        budget=budget,
    )
    expected = {q: lines for q, lines in enumerate(wanted) if lines}
    for found in (reduction.result(), turned.result()):
        assert {q: sorted(lines) for q, lines in listed(found).items()} == {
            q: sorted(lines) for q, lines in expected.items()
        }
        assert not found.unlisted.any()


@settings(max_examples=150, deadline=None)
@given(problems(), st.integers(1, 12), st.integers(1, 40), st.integers(1, 60), st.booleans())
def test_results_are_the_same_a_few_queries_at_a_time(problem, k, cap, size, partial):
    """What the screen left open is decided by ranges of queries, of whatever size."""
    rng, queries, candidates, weights = problem
    similarity = Cosine(UnitVectors(queries), UnitVectors(candidates))
    chosen = np.unique(rng.integers(0, len(queries), 5)) if partial else None
    reduction = Top(k, similarity.shape, weights=weights, queries=chosen, cap=cap, seed=2)
    scan(similarity, [reduction], budget=400)
    at_once, again = reduction.result(), reduction.result()
    with mock.patch("xlingual.ranking.top._SETTLED", size):
        by_ranges = reduction.result()
    for field in fields(at_once):
        for other in (again, by_ranges):
            np.testing.assert_array_equal(getattr(at_once, field.name), getattr(other, field.name))


def test_what_results_need_on_the_way_does_not_grow_with_the_queries():
    rng = np.random.default_rng(0)
    n, k = 60_000, 10
    candidates = rng.standard_normal((60, 4)).astype(np.float32)
    similarity = Cosine(UnitVectors(rng.standard_normal((n, 4)).astype(np.float32)), UnitVectors(candidates))
    reduction = Top(k, similarity.shape)
    scan(similarity, [reduction])
    tracemalloc.start()
    found = reduction.result()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    kept = sum(getattr(found, field.name).nbytes for field in fields(found))
    assert most < 1.25 * kept + (48 << 20)


@settings(max_examples=150, deadline=None)
@given(problems(), st.integers(16, 4000), st.sampled_from([1, 3]))
def test_counts_equal_the_reference_for_every_tiling(problem, budget, threads):
    rng, queries, candidates, weights = problem
    similarity = Cosine(UnitVectors(queries), UnitVectors(candidates))
    query = rng.integers(0, len(queries), 50)
    target = rng.integers(0, len(candidates), 50)
    if weights is not None:
        target = rng.choice(np.flatnonzero(weights), 50)
    reduction = Counts.of(similarity, query, target, weights=weights)
    scan(similarity, [reduction], threads=threads, budget=budget)
    above, tied = reference.counts(reference.keys(queries, candidates), query, target, weights)
    np.testing.assert_array_equal(reduction.above, above)
    np.testing.assert_array_equal(reduction.tied, tied)


def group_bounds(rng, m):
    """Cut m columns into up to five runs, some of them empty."""
    return np.array([0, *np.sort(rng.integers(0, m + 1, rng.integers(0, 5))), m])


def reference_group_counts(keys, query, target, bounds, weights):
    weights = np.ones(keys.shape[1], dtype=np.int64) if weights is None else weights
    groups = [
        np.where((np.arange(len(weights)) >= a) & (np.arange(len(weights)) < b), weights, 0)
        for a, b in pairwise(bounds)
    ]
    found = [reference.counts(keys, query, target, group) for group in groups]
    return np.stack([above for above, _ in found], axis=1), np.stack([tied for _, tied in found], axis=1)


@settings(max_examples=200, deadline=None)
@given(problems(), st.integers(16, 4000), st.sampled_from([1, 3]))
def test_group_counts_equal_the_reference_for_every_tiling(problem, budget, threads):
    rng, queries, candidates, weights = problem
    similarity = Cosine(UnitVectors(queries), UnitVectors(candidates))
    query, target = rng.integers(0, len(queries), 50), rng.integers(0, len(candidates), 50)
    if weights is not None:
        target = rng.choice(np.flatnonzero(weights), 50)
    bounds = group_bounds(rng, len(candidates))
    above, tied = reference_group_counts(reference.keys(queries, candidates), query, target, bounds, weights)
    for size in (budget, 1 << 25):
        reduction = GroupCounts.of(similarity, query, target, bounds, weights=weights)
        scan(similarity, [reduction], threads=threads, budget=size)
        found = reduction.result()
        np.testing.assert_array_equal(found[0], above)
        np.testing.assert_array_equal(found[1], tied)
        np.testing.assert_array_equal(reduction.keys_given, similarity.exact(query, target))


@settings(max_examples=60, deadline=None)
@given(problems(), st.integers(1, 5), st.data())
def test_any_partition_of_the_candidates_merges_to_the_same(problem, k, data):
    """Shards seen by different machines, in any order, equal one pass."""
    rng, queries, candidates, weights = problem
    whole = Cosine(UnitVectors(queries), UnitVectors(candidates))
    query = rng.integers(0, len(queries), 20)
    target = rng.integers(0, len(candidates), 20)
    groups = group_bounds(rng, len(candidates))

    def requests(held):
        return [
            Top(k, whole.shape, weights=held),
            Counts.of(whole, query, target, weights=held),
            GroupCounts.of(whole, query, target, groups, weights=held),
        ]

    plain_top, plain_counts, plain_groups = plain = requests(weights)
    scan(whole, plain)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(candidates)), max_size=4)))
    bounds = [0, *cuts, len(candidates)]
    parts = []
    for low, high in pairwise(bounds):
        if low == high:
            continue
        shard = np.ones(len(candidates), dtype=np.int64) if weights is None else weights.copy()
        shard[:low] = shard[high:] = 0
        part = requests(shard)
        scan(whole, part)
        parts.append(part)
    order = data.draw(st.permutations(range(len(parts))))
    merged = requests(weights)
    for index in order:
        for reduction, part in zip(merged, parts[index], strict=True):
            reduction.merge([part])
    assert listed(merged[0].result()) == listed(plain_top.result())
    np.testing.assert_array_equal(merged[1].above, plain_counts.above)
    np.testing.assert_array_equal(merged[1].tied, plain_counts.tied)
    for one, other in zip(merged[2].result(), plain_groups.result(), strict=True):
        np.testing.assert_array_equal(one, other)


def cuts(data, length):
    inner = data.draw(st.sets(st.integers(1, length), max_size=3))
    return [slice(a, b) for a, b in pairwise([0, *sorted(inner - {length}), length])]


def seen(similarity, reduction, rows, columns):
    """Return a part that has seen its pairs, by way of the arrays that are kept of it."""
    scores = np.empty((rows.stop - rows.start, columns.stop - columns.start), dtype=np.float32)
    tile = Tile(
        similarity.tile(rows, columns, scores), rows.start, columns.start, similarity.band, similarity.exact
    )
    part, again = reduction.within(rows, columns), reduction.within(rows, columns)
    part.update(tile)
    again.restore(part.state())
    assert {name: a.tolist() for name, a in part.request_arrays().items()} == {
        name: a.tolist() for name, a in again.request_arrays().items()
    }
    return again


@settings(max_examples=150, deadline=None)
@given(problems(), st.integers(1, 12), st.integers(1, 40), st.data())
def test_shards_of_both_sides_merge_to_the_same(problem, k, cap, data):
    """Each pair of shards is seen by another machine, which returns plain arrays and no vectors."""
    rng, queries, candidates, weights = problem
    whole = Cosine(UnitVectors(queries), UnitVectors(candidates))
    query = rng.integers(0, len(queries), 20)
    target = rng.integers(0, len(candidates), 20)
    groups = group_bounds(rng, len(candidates))
    some = np.unique(rng.integers(0, len(queries), 5))

    def requests():
        return [
            Top(k, whole.shape, weights=weights, cap=cap),
            Top(k, whole.shape, weights=weights, queries=some),
            Counts.of(whole, query, target, weights=weights),
            GroupCounts.of(whole, query, target, groups, weights=weights),
            Transposed(Top(1, whole.shape[::-1], cap=cap)),
        ]

    plain, merged = requests(), requests()
    scan(whole, plain)
    columns = cuts(data, len(candidates))
    for rows in cuts(data, len(queries)):
        for reduction in merged:
            parts = data.draw(st.permutations([seen(whole, reduction, rows, part) for part in columns]))
            if isinstance(reduction, Transposed):  # each has queries of its own
                parts.insert(0, reduction.within(rows, slice(0, len(candidates))))
            first, *others = parts
            first.merge(others)
            reduction.merge([first])
    plain[-1], merged[-1] = plain[-1].inner, merged[-1].inner
    for number in (0, 1, 4):
        one, other = plain[number].result(), merged[number].result()
        assert listed(one) == listed(other)
        np.testing.assert_array_equal(one.unlisted, other.unlisted)
    np.testing.assert_array_equal(plain[2].above, merged[2].above)
    np.testing.assert_array_equal(plain[2].tied, merged[2].tied)
    for one, other in zip(plain[3].result(), merged[3].result(), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("kind", ["top", "counts", "groups"])
@pytest.mark.parametrize("receiver", [0, 1])
def test_a_part_takes_in_no_other_queries_than_its_own(kind, receiver):
    rng = np.random.default_rng(0)
    whole = Cosine(*(UnitVectors(rng.standard_normal((n, 3)).astype(np.float32)) for n in (9, 5)))
    query, target = np.arange(9), np.arange(9) % 5
    reduction = {
        "top": lambda: Top(2, whole.shape),
        "counts": lambda: Counts.of(whole, query, target),
        "groups": lambda: GroupCounts.of(whole, query, target, np.array([0, 5])),
    }[kind]()
    parts = [seen(whole, reduction, rows, slice(0, 5)) for rows in (slice(0, 4), slice(4, 9))]
    with pytest.raises(ValueError, match="its own queries"):
        parts[receiver].merge([parts[1 - receiver]])


@settings(max_examples=40, deadline=None)
@given(problems(), st.data())
def test_permuting_candidates_changes_nothing(problem, data):
    rng, queries, candidates, _ = problem
    order = np.array(data.draw(st.permutations(range(len(candidates)))))
    target = rng.integers(0, len(candidates), len(queries))
    query = np.arange(len(queries))
    before = counts(Cosine(UnitVectors(queries), UnitVectors(candidates)), query, target)
    after = counts(
        Cosine(UnitVectors(queries), UnitVectors(candidates[order])), query, np.argsort(order)[target]
    )
    np.testing.assert_array_equal(before, after)


@settings(max_examples=40, deadline=None)
@given(problems())
def test_a_copy_of_the_target_adds_exactly_one_tie(problem):
    rng, queries, candidates, _ = problem
    target = int(rng.integers(len(candidates)))
    query = np.arange(len(queries))
    targets = np.full(len(queries), target)
    longer = np.concatenate([candidates, candidates[target : target + 1]])
    above, tied = counts(Cosine(UnitVectors(queries), UnitVectors(candidates)), query, targets)
    above_more, tied_more = counts(Cosine(UnitVectors(queries), UnitVectors(longer)), query, targets)
    np.testing.assert_array_equal(above, above_more)
    np.testing.assert_array_equal(tied + 1, tied_more)


@settings(max_examples=40, deadline=None)
@given(problems(), st.sampled_from(["codes", "membership"]))
def test_groups_split_the_counts(problem, form):
    rng, queries, candidates, _ = problem
    similarity = Cosine(UnitVectors(queries), UnitVectors(candidates))
    query = rng.integers(0, len(queries), 10)
    target = rng.integers(0, len(candidates), 10)
    codes = rng.integers(0, 3, len(candidates))
    groups = codes if form == "codes" else rng.random((len(candidates), 3)) < 0.5
    above, tied = counts(similarity, query, target, groups=groups)
    keys = reference.keys(queries, candidates)
    for group in range(above.shape[1]):
        weights = (codes == group) if form == "codes" else groups[:, group]
        expected = reference.counts(keys, query, target, weights.astype(np.int64))
        np.testing.assert_array_equal((above[:, group], tied[:, group]), expected)


@pytest.mark.parametrize("cap", [1, 5, 39])
def test_above_the_cap_ties_are_a_sample_that_no_tiling_changes(cap):
    queries = np.eye(4, 8, dtype=np.float32)
    candidates = np.roll(np.eye(40, 8, dtype=np.float32) + 1, 4, axis=1)
    candidates[:, :4] = 0  # orthogonal to every query, all distinct directions tie at 0
    similarity = Cosine(UnitVectors(queries), UnitVectors(candidates))
    lists = []
    for budget in (16, 200, 1 << 20):
        (found,) = top(similarity, 1, cap=cap, ranker=Cpu(budget=budget), seed=3)
        lists.append(listed(found))
        assert (found.unlisted == 40 - cap).all()
        assert (found.tied == 40).all()
    assert lists[0] == lists[1] == lists[2]
    assert all(len(lines) == cap for lines in lists[0].values())


@given(st.integers(1, 5000), st.integers(1, 5000), st.integers(4, 1 << 20))
def test_the_plan_covers_every_pair_once_within_the_budget(n, m, budget):
    plan = TilePlan((n, m), budget)
    assert plan.size[0] * plan.size[1] * 4 <= budget
    for blocks, length in ((plan.row_blocks, n), (plan.column_blocks, m)):
        assert blocks[0].start == 0
        assert blocks[-1].stop == length
        assert all(a.stop == b.start for a, b in pairwise(blocks))
