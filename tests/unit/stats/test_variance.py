"""The variance of queries that hang on nodes, against loops over pairs of queries and sums by hand."""

from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from xlingual.stats import ResidualPart, mean_interval, standard_error
from xlingual.stats.intervals import variance

dyads = SimpleNamespace(**run_path(str(Path(__file__).with_name("dyads.py"))))
CLOSE = {"rel": 1e-9, "abs": 1e-11}


def part_of(rows, columns=(0, 1)):
    """Return the part whose rows are (node, …, residual)."""
    ways = tuple(np.array([row[column] for row in rows]) for column in columns)
    return ResidualPart(np.array([row[-1] for row in rows]), ways)


def looped(*parts):
    """Return the loops' variance of parts of the library."""
    return dyads.variance([(p.residuals.tolist(), queries(p)) for p in parts])


def queries(part):
    return list(zip(*(way.tolist() for way in part.ways), strict=True))


residuals_ = st.floats(-1, 1, width=32)
rows_ = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), residuals_), min_size=3, max_size=20)
pairs_ = st.lists(
    st.tuples(*[st.integers(0, 5)] * 3, residuals_, residuals_),
    min_size=3,
    max_size=14,
)


@pytest.mark.parametrize(
    ("one", "other", "times"),
    [
        ((1, 2), (3, 4), 0),
        ((1, 2), (1, 4), 1),
        ((1, 2), (3, 2), 1),
        ((1, 2), (3, 1), 1),  # a source that another query retrieves
        ((1, 2), (1, 2), 1),  # a query with itself
        ((1, 2), (2, 1), 2),  # opposite roles
        ((1, 1), (1, 1), 1),
        ((1, 1), (1, 2), 1),
        ((1, 1), (2, 1), 1),
        ((1, 1), (2, 2), 0),
    ],
)
def test_how_often_a_pair_of_queries_is_counted(one, other, times):
    assert dyads.weight(one, other) == dyads.weight(other, one) == times
    rows = [(*one, 1.0), (*other, 1.0), (8, 9, 0.5)]  # the third is far from both
    factor = dyads.factor([(None, [row[:2] for row in rows])])
    assert variance([part_of(rows)]) == pytest.approx((2.25 + 2 * times) * factor)


def test_by_hand():
    """Three queries: 0→1 (+3), 1→2 (−1), 2→2 (−2); the third hangs on node 2 alone.

    Nodes: 0: 3; 1: −1 + 3 = 2; 2: −2 − 1 = −3 (once from the third): 9 + 4 + 9 = 22. Pairs (source, target):
    3² + 1² = 10, without the third. 22 − 10 = 12; by sources alone 9 + 1 + 4 = 14, by targets 9 + 9 = 18.
    Two targets: times 2/1.
    """
    assert dyads.total([([3, -1, -2], [(0, 1), (1, 2), (2, 2)])], dyads.weight) == 12
    rows = [(0, 1, 3.0), (1, 2, -1.0), (2, 2, -2.0)]
    assert variance([part_of(rows)]) == pytest.approx(18 * 2)
    # all on the same side: 0→1 (1), 1→2 (1), 2→0 (1): nodes 4 + 4 + 4, pairs 3, times 3/2
    assert variance([part_of([(0, 1, 1.0), (1, 2, 1.0), (2, 0, 1.0)])]) == pytest.approx(9 * 1.5)


@given(rows_)
def test_two_ways_equal_a_loop_over_pairs(rows):
    part = part_of(rows)
    assert variance([part]) == pytest.approx(looped(part), **CLOSE)


@given(rows_)
def test_one_way_equals_the_ordinary_sum_over_clusters(rows):
    part = part_of(rows, [0])
    clusters = {row[0] for row in rows}
    sums = [sum(row[2] for row in rows if row[0] == cluster) for cluster in clusters]
    sizes = [sum(row[0] == cluster for row in rows) for cluster in clusters]
    effective = max(len(rows) ** 2 / sum(size**2 for size in sizes), 2)
    factor = effective / (effective - 1) if len(sums) > 1 else 0
    assert variance([part]) == pytest.approx(factor * np.square(sums).sum(), **CLOSE)
    assert variance([part]) == pytest.approx(looped(part), **CLOSE)


@given(rows_)
def test_no_way_is_the_textbook_variance_of_a_mean(rows):
    values = np.array([row[2] for row in rows])
    n = len(values)
    found = standard_error([ResidualPart((values - values.mean()) / n)])
    assert found == pytest.approx(values.std(ddof=1) / n**0.5, **CLOSE)


@given(rows_)
def test_nodes_of_two_separate_kinds_give_inclusion_and_exclusion(rows):
    rows = [(a, 100 + b, r) for a, b, r in rows]
    part = part_of(rows)
    assume(min(len(np.unique(way)) for way in part.ways) > 1)
    both, by_target, by_source = [
        sum(np.sum(part.residuals[np.all(keys == key, axis=1)]) ** 2 for key in np.unique(keys, axis=0))
        for keys in (np.stack(part.ways, 1), part.ways[1][:, None], part.ways[0][:, None])
    ]
    wanted = max(by_source + by_target - both, by_source, by_target) * dyads.factor([(None, queries(part))])
    assert variance([part]) == pytest.approx(wanted, **CLOSE)


def test_two_ways_are_the_sum_over_pairs_that_share_a_node():
    """Without two queries in opposite roles every pair counts once: this is what remains."""
    rng = np.random.default_rng(2)
    n, items = 500, 300
    a = rng.integers(0, items, n)
    b = np.minimum(a + rng.integers(1, 90, n), items)  # a target lies above its source
    effect = rng.normal(size=items + 1)
    residuals = rng.normal(size=n) + effect[a] + effect[b]
    share = (a[:, None] == a) | (b[:, None] == b) | (a[:, None] == b) | (b[:, None] == a)
    part = ResidualPart(residuals, (a, b))
    wanted = residuals @ share @ residuals * dyads.factor([(None, queries(part))])
    assert variance([part]) == pytest.approx(wanted)


def test_a_source_that_is_retrieved_elsewhere_is_one_node():
    """Two samples: each item is a source in one and retrieved in the other, with the same luck."""
    rng = np.random.default_rng(4)
    luck = rng.normal(size=200)
    a, b = np.arange(100), np.arange(100, 200)
    ways = (np.concatenate([a, b]), np.concatenate([rng.permutation(b), rng.permutation(a)]))
    residuals = luck[ways[0]] + luck[ways[1]]
    linked = standard_error([ResidualPart(residuals, ways)])
    apart = standard_error([ResidualPart(residuals, (ways[0], ways[1] + 1000))])
    assert linked > 1.25 * apart


@given(pairs_)
def test_a_difference_equals_a_loop_over_the_pairs_of_both_parts(rows):
    a = part_of([(own, one, r) for own, one, _, r, _ in rows])
    b = part_of([(own, other, -r) for own, _, other, _, r in rows])
    assert variance([a, b]) == pytest.approx(looped(a, b), **CLOSE)


@given(rows_)
def test_a_difference_of_a_score_with_itself_is_certain(rows):
    part = part_of(rows)
    negated = ResidualPart(-part.residuals, part.ways)
    assert variance([part, negated]) == pytest.approx(0, abs=1e-24)


@given(pairs_)
def test_a_difference_with_the_same_targets_is_that_of_the_differences(rows):
    """But for the floor: the second way alone is believed only where it means the same in both parts."""
    # targets apart from sources: no two queries in opposite roles, which count otherwise in a difference
    a = part_of([(own, 100 + target, r) for own, target, _, r, _ in rows])
    b = part_of([(own, 100 + target, -r) for own, target, _, _, r in rows])
    gap = ResidualPart(a.residuals + b.residuals, a.ways)
    wanted = variance([gap])
    by_target = dyads.total([(gap.residuals.tolist(), queries(gap))], dyads.by_role(1))
    floor = by_target * dyads.factor([(gap.residuals.tolist(), queries(gap))])
    assert max(variance([a, b]), floor) == pytest.approx(wanted, **CLOSE)


def test_where_the_floor_is_not_reached_the_same_targets_give_exactly_the_differences():
    rng = np.random.default_rng(6)
    own, target = rng.integers(0, 40, 200), rng.integers(40, 80, 200)  # no two queries in opposite roles
    luck = rng.normal(size=80)
    a = luck[own] + luck[target] + rng.normal(size=200)
    b = rng.normal(size=200)
    parts = [ResidualPart(a, (own, target)), ResidualPart(-b, (own, target))]
    assert variance(parts) == pytest.approx(variance([ResidualPart(a - b, (own, target))]), rel=1e-12)
    assert variance(parts) == pytest.approx(looped(*parts))


@given(rows_, st.permutations(range(6)), st.randoms(use_true_random=False))
def test_names_of_nodes_and_order_of_queries_do_not_matter(rows, names, random):
    renamed = [(7 * names[a] - 11, 7 * names[b] - 11, r) for a, b, r in rows]
    parts, again = ([part_of(each[::2]), part_of(each[1::2])] for each in (rows, renamed))
    assert variance(again) == pytest.approx(variance(parts), **CLOSE)
    random.shuffle(renamed)
    assert variance([part_of(renamed)]) == pytest.approx(variance([part_of(rows)]), **CLOSE)


@given(st.permutations(range(12)))
def test_nor_do_they_for_an_interval(order):
    order, values = np.array(order), np.sin(np.arange(12.0))
    way, other = np.arange(12) // 3, np.arange(12) % 5
    before = mean_interval(values, [way, other], bounds=(-1.0, 1.0))
    after = mean_interval(values[order], [100 - way[order], 100 - other[order]], bounds=(-1.0, 1.0))
    assert (after.low, after.high) == pytest.approx((before.low, before.high))


def test_one_cluster_tells_no_variance():
    part = ResidualPart(np.array([1.0, -0.5, 0.2]), (np.zeros(3, dtype=np.int64), np.arange(3)))
    assert variance([part]) == 0.0
