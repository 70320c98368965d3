"""Components of links: what is linked by way of others, and how chains come apart."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from xlingual.data.near_texts import Links, without_chains
from xlingual.ragged import components


def links(*triples):
    first, second, distance = zip(*triples, strict=True) if triples else ((), (), ())
    return Links(np.array(first, dtype=int), np.array(second, dtype=int), np.array(distance, dtype=float))


def parts(n, found):
    label = components(n, found.first, found.second)
    return {frozenset(np.flatnonzero(label == code).tolist()) for code in set(label.tolist())}


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
