"""Near-equal texts: by hand, against all pairs of sets, and what must not matter."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xlingual.data.near_texts import near_texts

WORDS = ("red", "chair", "sofa", "blue", "lamp", "a", "Red", "")
texts = st.lists(st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join), max_size=10)
leasts = st.sampled_from([0.3, 0.5, 0.7, 0.9])


def plain(text):
    return " ".join(text.lower().split())


def found(texts, queries=None, least=0.7):
    """Return similarity by pair of different texts, and the pairs of positions of equal ones."""
    different, equal = {}, set()
    for a, b, similarity in zip(*near_texts(texts, queries, least=least), strict=True):
        if plain(texts[a]) == plain(texts[b]):
            assert similarity == 1
            equal.add((int(a), int(b)))
        else:
            pair = frozenset((plain(texts[a]), plain(texts[b])))
            assert pair not in different  # yielded once
            different[pair] = similarity
    return different, equal


def every_pair(texts, least):
    """Return similarities from plain sets of all pairs."""
    known = list(dict.fromkeys(plain(text) for text in texts if plain(text)))
    sets = {text: {f" {text} "[k : k + 4] for k in range(len(text) + 2)} for text in known}
    df = {shingle: sum(shingle in own for own in sets.values()) for own in sets.values() for shingle in own}
    weight = {shingle: math.log(1 + len(known) / count) for shingle, count in df.items()}
    similarity = {
        frozenset((a, b)): sum(weight[s] for s in sets[a] & sets[b])
        / sum(weight[s] for s in sets[a] | sets[b])
        for a, b in itertools.combinations(known, 2)
    }
    return {pair: value for pair, value in similarity.items() if value >= least - 1e-12}


def test_by_hand():
    # " ab " has the shingles " ab ", "ab ", "b " and " ", of which " ac " has the last
    (similarity,) = found(["ab", "ac"], least=0.05)[0].values()
    assert similarity == pytest.approx(math.log(2) / (math.log(2) + 6 * math.log(3)))


def test_equal_texts_are_a_chain_and_empty_ones_are_alone():
    assert found(["Tea  pot", "", "tea pot", " ", "tea pot"]) == ({}, {(0, 2), (2, 4)})
    assert found([]) == found(["", ""]) == ({}, set())


@given(texts, leasts)
@settings(max_examples=60)
def test_all_pairs_say_the_same(texts, least):
    different, _ = found(texts, least=least)
    wanted = every_pair(texts, least)
    assert different.keys() == wanted.keys()
    assert all(different[pair] == pytest.approx(wanted[pair]) for pair in wanted)


@given(texts.filter(len), leasts, st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_queries_find_their_own_pairs_and_order_and_copies_do_not_matter(texts, least, random):
    different, _ = found(texts, least=least)
    queries = np.array(sorted({random.randrange(len(texts)) for _ in range(3)}))
    asked = {plain(texts[query]) for query in queries}
    assert found(texts, queries, least)[0].keys() == {pair for pair in different if pair & asked}
    shuffled = random.sample(texts + texts[:1], len(texts) + 1)
    again, _ = found(shuffled, least=least)
    assert again.keys() == different.keys()
