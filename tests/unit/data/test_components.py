"""Components of links: what is linked by way of others, and how chains come apart."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from xlingual.data.near_texts import Links, without_chains
from xlingual.ragged import components


def links(*triples):
    first, second, distance = zip(*triples, strict=True) if triples else ((), (), ())
    return Links(np.array(first, dtype=int), np.array(second, dtype=int), np.array(distance, dtype=float))


def parts(n, found):
    label = components(n, found.first, found.second)
    return {frozenset(np.flatnonzero(label == code).tolist()) for code in set(label.tolist())}


def test_by_hand():
    assert parts(5, links((0, 1, 0.0), (1, 3, 1.0))) == {frozenset({0, 1, 3}), frozenset({2}), frozenset({4})}
    none = np.empty(0, dtype=np.int64)
    assert components(3, none, none).tolist() == [0, 1, 2] and len(components(0, none, none)) == 0


@given(st.integers(1, 200), st.integers(0, 300), st.integers(0, 2**32 - 1))
def test_components_are_those_of_scipy(n, m, seed):
    first, second = np.random.default_rng(seed).integers(0, n, (2, m))
    graph = csr_array((np.ones(m), (first, second)), shape=(n, n))
    assert components(n, first, second).tolist() == connected_components(graph, directed=False)[1].tolist()


def test_links_between_nodes_leave_out_those_within_one():
    between = links((0, 1, 0.5), (1, 2, 0.2)).between(np.array([7, 7, 8]))
    assert (between.first.tolist(), between.second.tolist(), between.distance.tolist()) == ([7], [8], [0.2])


def test_a_chain_keeps_its_nearest_links():
    near = [(i, i + 1, 0.1) for i in range(0, 12, 2)]  # six pairs
    far = [(i, i + 1, 0.8) for i in range(1, 11, 2)]  # that hang together
    kept, n_split = without_chains(100, links(*near, *far, (20, 21, 0.9)))
    assert n_split == 1
    found = {part for part in parts(100, kept) if len(part) > 1}
    assert found == {frozenset({i, i + 1}) for i in (*range(0, 12, 2), 20)}


def test_what_more_than_the_limit_share_says_nothing():
    kept, n_split = without_chains(100, links(*((i, i + 1, 0.0) for i in range(5))))
    assert n_split == 1 and len(kept) == 0  # six of a hundred
    kept, n_split = without_chains(100, links(*((i, i + 1, 0.0) for i in range(4))))
    assert n_split == 0 and len(kept) == 4
    assert len(without_chains(7, links(*((i, i + 1, 0.0) for i in range(4))))[0]) == 4  # five always may


pairs = st.tuples(st.integers(0, 29), st.integers(0, 29), st.sampled_from([0.0, 0.2, 0.5, 1.0]))


@given(st.lists(pairs, max_size=40), st.permutations(range(30)))
@settings(max_examples=50)
def test_no_part_is_too_large_all_nearer_links_stay_and_order_does_not_matter(triples, order):
    given_links = links(*triples)
    kept, n_split = without_chains(30, given_links)
    assert max(len(part) for part in parts(30, kept)) <= 5
    too_large = [part for part in parts(30, given_links) if len(part) > 5]
    assert n_split == len(too_large)
    outside = [t for t in triples if not any(t[0] in part for part in too_large)]
    kept_links = set(zip(kept.first.tolist(), kept.second.tolist(), kept.distance.tolist(), strict=True))
    assert set(outside) <= kept_links <= set(triples)
    for part in too_large:  # what is kept is all below a limit, and the limit could not be higher
        own = [t for t in triples if t[0] in part]
        gone = [t[2] for t in own if t not in kept_links]
        assert all(t[2] < min(gone) for t in own if t in kept_links)
        more = links(*(t for t in own if t[2] <= min(gone)))
        assert max(len(p) for p in parts(30, more)) > 5
    new = np.array(order)
    moved, _ = without_chains(
        30, Links(new[given_links.first], new[given_links.second], given_links.distance)
    )
    assert parts(30, moved) == {frozenset(new[list(part)].tolist()) for part in parts(30, kept)}
