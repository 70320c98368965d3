"""Passes are cut by their size and a task's memory alone."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from xlingual.ranking.cluster.ranker import shard_rows
from xlingual.ranking.cluster.tree import tree


@given(
    st.integers(1, 10**8),
    st.integers(1, 10**8),
    st.integers(1, 4096),
    st.sampled_from([2, 4, 8]),
    st.integers(1 << 28, 1 << 36),
)
def test_shards_fit_into_memory_and_are_few(n, m, dim, itemsize, memory):
    for length, rows in zip((n, m), shard_rows((n, m), dim, itemsize, memory), strict=True):
        assert 1 <= rows <= length
        fitting = max(256, memory // 4 // (dim * (itemsize + 4)))
        assert rows <= fitting
        assert -(-length // rows) <= 256 or rows > fitting // 2


def test_a_small_pass_is_one_task_and_a_large_one_many():
    assert shard_rows((1000, 1000), 300, 4, 1 << 32) == (1000, 1000)
    high, wide = shard_rows((10**6, 10**6), 768, 4, 4 << 30)
    assert 10**6 / high * 10**6 / wide > 200
    assert high * wide * 768 < 3e12


@given(st.integers(1, 300))
def test_a_tree_has_each_pair_of_shards_once_and_merges_neighbours(shards):
    root = tree("pass", 3, shards)
    assert [leaf.first for leaf in root.leaves()] == list(range(shards))
    assert (root.first, root.last, root.row) == (0, shards - 1, 3)
    nodes = [root]
    names = set()
    while nodes:
        node = nodes.pop()
        names.add(node.name)
        if node.children:
            assert 2 <= len(node.children) <= 16
            ends = [(child.first, child.last) for child in node.children]
            assert ends[0][0] == node.first and ends[-1][1] == node.last
            assert all(a[1] + 1 == b[0] for a, b in itertools.pairwise(ends))
            assert all(child.parent is node for child in node.children)
        nodes += node.children
    assert len(names) >= shards
    ready = list(root.to_do(set()))
    assert all(not node.children for node in ready) and len(ready) == shards


def test_what_is_there_is_not_done_again():
    root = tree("pass", 0, 40)
    names = {leaf.name for leaf in root.leaves()}
    merges = list(root.to_do(names))
    assert [node.children[0].first for node in merges] == [0, 16, 32]
    assert list(tree("pass", 0, 40).to_do({root.name})) == []
