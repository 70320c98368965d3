"""Near pairs against CSLS over all images as numpy has it, and what must hold for any vectors."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.planted import twins

from xlingual.align.nodes import Nodes
from xlingual.align.pairs import (
    LEAST,
    NEAREST,
    NO_PAIRS,
    Alike,
    Pairs,
    alike,
    cosines,
    near_pairs,
    same_pairs,
)
from xlingual.ranking import Cpu

ALL = 1000  # more than there are nodes


def random_nodes(n=60, languages=3, items=50, dim=4, seed=0, *, hostile=False):
    """Return nodes with random vectors; hostile ones have equal and opposite images."""
    rng = np.random.default_rng(seed)
    text, image = rng.normal(size=(2, n, dim)).astype(np.float32)
    if hostile:
        image = rng.choice([-1.0, 0.0, 1.0], size=(n, dim)).astype(np.float32)
        text[rng.random(n) < 0.3] = 1
    language, item = rng.integers(0, languages, n), rng.integers(0, items, n)
    return Nodes.of_rows(text, image, language, ("de", "en", "fr", "zh")[:languages], item, item)


def shown(nodes, pairs):
    """Pairs by item and language, which no order of nodes changes: {((item, tag), (item, tag)): weight}."""
    keys = [(int(item), nodes.languages[code]) for item, code in zip(nodes.item, nodes.language, strict=True)]
    return {
        tuple(sorted((keys[i], keys[j]), key=lambda key: key[1])): weight
        for i, j, weight in zip(pairs.left, pairs.right, pairs.weight, strict=True)
    }


def naive_pairs(nodes, text=None):
    """Mutual best by CSLS, {(i, j): lead}, from the whole matrix; images are centred, texts as they are."""
    image = nodes.image.astype(float) - nodes.image.astype(float).mean(axis=0)
    image /= np.linalg.norm(image, axis=1, keepdims=True)
    scores = image @ image.T
    if text is not None:
        unit = text.astype(float) / np.linalg.norm(text, axis=1, keepdims=True)
        scores = (scores + unit @ unit.T) / 2
    scores[nodes.item[:, None] == nodes.item] = np.nan
    found = {}
    for a, b in combinations(range(len(nodes.languages)), 2):
        block = scores[np.ix_(nodes.of(a), nodes.of(b))]
        near = [np.nanmean(-np.sort(-each, axis=1)[:, :NEAREST], axis=1) for each in (block, block.T)]
        csls = 2 * block - near[0][:, None] - near[1]
        for i, own in enumerate(csls):
            j = int(np.nanargmax(own))
            if np.nanargmax(csls[:, j]) == i:
                leads = [np.sort(each[~np.isnan(each)])[::-1] for each in (own, csls[:, j])]
                found[nodes.of(a)[i], nodes.of(b)[j]] = min(each[0] - each[1] for each in leads)
    return found


def by_hand():
    """Three items in German and three in English; cosines of images are given."""
    rows = [(0, 3, 0.9), (0, 4, 0.7), (1, 3, 0.8), (1, 4, 0.2), (2, 5, 0.5)]
    left, right, image = (np.array(each) for each in zip(*rows, strict=True))
    language, item = np.repeat([0, 1], 3), np.arange(6)
    return Nodes(np.eye(6), np.eye(6), language, ("de", "en"), item, item), Alike(left, right, image)


def test_pairs_by_hand():
    """Mean cosines: 0: .8, 1: .5, 2: .5, 3: .85, 4: .45, 5: .5.

    CSLS: 0-3 .15, 0-4 .15, 1-3 .25, 1-4 −.55, 2-5 0. So 1-3 are each other's best; 0 has two that tie, of
    which the first, 3, prefers 1. 2-5 are alone, with a lead of 0. The lead of 1-3 is the smaller of .8, .1.
    """
    nodes, candidates = by_hand()
    found = near_pairs(nodes, candidates)
    assert list(zip(found.left, found.right, strict=True)) == [(1, 3), (2, 5)]
    assert found.weight.tolist() == [0.875, 0.625]  # a half and 1.5, .5 halves of 2


def test_texts_count_as_much_as_images():
    nodes, candidates = by_hand()
    text = np.zeros((6, 2), np.float32)
    text[[0, 3]], text[[1, 4]], text[[2, 5]] = [1, 0], [0, 1], [1, 1]
    found = near_pairs(nodes, candidates, text)
    assert list(zip(found.left, found.right, strict=True)) == [(0, 3), (1, 4), (2, 5)]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("with_text", [False, True])
def test_pairs_are_those_of_the_whole_matrix(seed, with_text):
    nodes = random_nodes(seed=seed)
    text = nodes.text if with_text else None
    found = near_pairs(nodes, alike(nodes, kept=ALL), text)
    expected = naive_pairs(nodes, text)
    assert set(zip(found.left, found.right, strict=True)) == set(expected)
    assert len(found) > 10
    order = sorted(expected, key=lambda pair: expected[pair])
    place = {pair: (order.index(pair) + 0.5) / len(order) for pair in order}
    for i, j, weight in zip(found.left, found.right, found.weight, strict=True):
        assert weight == pytest.approx(LEAST + (1 - LEAST) * place[i, j])


@pytest.mark.parametrize("kept", [1, 3, ALL])
def test_candidates_are_the_nearest_from_both_sides(kept):
    """`kept` + 1 of each side are searched, of which those of the own item go."""
    nodes = random_nodes(seed=5)
    found = alike(nodes, kept=kept)
    image = nodes.image.astype(float) - nodes.image.astype(float).mean(axis=0)
    image /= np.linalg.norm(image, axis=1, keepdims=True)
    expected = set()
    for a, b in combinations(range(3), 2):
        for one, other in ((a, b), (b, a)):
            for i in nodes.of(one):
                near = sorted(nodes.of(other), key=lambda j, i=i: -(image[i] @ image[j]))[: kept + 1]
                expected |= {(i, j) if one == a else (j, i) for j in near if nodes.item[i] != nodes.item[j]}
    assert set(zip(found.left, found.right, strict=True)) == expected
    np.testing.assert_allclose(
        found.image, [image[i] @ image[j] for i, j in zip(found.left, found.right, strict=True)], atol=1e-6
    )


def test_threads_change_nothing():
    nodes = random_nodes(200, seed=2)
    one, other = (alike(nodes, ranker=Cpu(threads=threads)) for threads in (1, 3))
    assert [one.left.tolist(), one.right.tolist()] == [other.left.tolist(), other.right.tolist()]
    assert one.image.tolist() == other.image.tolist()


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_nodes_does_not_matter(seed):
    nodes = random_nodes(seed=seed)
    order = np.random.default_rng(seed).permutation(len(nodes))
    one, other = (
        shown(each, near_pairs(each, alike(each), each.text)) for each in (nodes, nodes.take(order))
    )
    assert one == pytest.approx(other)


def test_the_order_of_languages_does_not_matter():
    nodes = random_nodes(seed=1)
    turned = Nodes(nodes.text, nodes.image, 2 - nodes.language, nodes.languages[::-1], nodes.item, nodes.fold)
    one, other = (shown(each, near_pairs(each, alike(each))) for each in (nodes, turned))
    assert one == pytest.approx(other)


@settings(max_examples=100)
@given(st.integers(0, 40), st.integers(2, 4), st.integers(1, 12), st.integers(1, 3), st.integers(0, 2**31))
def test_whatever_the_images_pairs_are_of_different_items_and_each_node_has_one(n, many, items, dim, seed):
    """Many equal images, several items with one, items in all languages, languages without any node."""
    nodes = random_nodes(n, many, items, dim, seed, hostile=True)
    if not len(nodes):
        return
    for text in (None, nodes.text):
        candidates = alike(nodes, kept=3)
        found = near_pairs(nodes, candidates, text)
        assert (nodes.item[found.left] != nodes.item[found.right]).all()
        assert (nodes.language[found.left] < nodes.language[found.right]).all()
        assert (np.abs(candidates.image) <= 1 + 1e-6).all()
        for a, b in combinations(range(many), 2):
            own = (nodes.language[found.left] == a) & (nodes.language[found.right] == b)
            for side in (found.left, found.right):
                assert len(set(side[own])) == own.sum()
            either = (nodes.language[candidates.left] == a) & (nodes.language[candidates.right] == b)
            assert own.any() or not either.any()  # the best of all is the best on both sides
        assert len(found) == 0 or LEAST < found.weight.min() <= found.weight.max() < 1
        assert found.weight.sum() == pytest.approx(len(found) * (1 + LEAST) / 2)


def test_images_that_are_all_equal_tell_nothing_apart_and_break_nothing():
    nodes = twins(20)
    same = Nodes(
        nodes.text,
        np.ones_like(nodes.image) / 8**0.5,
        nodes.language,
        nodes.languages,
        nodes.item,
        nodes.fold,
    )
    candidates = alike(same)
    assert candidates.image == pytest.approx(0)
    found = near_pairs(same, candidates)
    assert np.ptp(found.weight) == 0  # none leads


def test_an_image_that_is_near_to_all_is_nobodys_best():
    """Cosines: .6 to the partner, .1 to other partners, .65 to a hub, which is the nearest of all 20.

    By CSLS a partner has 1.2 − (.65 + .6 + 8·.1)/10 − (.6 + 9·.1)/10, the hub 1.3 − (same) − .65.
    """
    cosine = np.full((20, 21), 0.1)
    np.fill_diagonal(cosine, 0.6)
    cosine[:, 20] = 0.65
    left, right = (side.ravel() for side in np.mgrid[:20, 20:41])
    language, item = np.repeat([0, 1], [20, 21]), np.arange(41)
    nodes = Nodes(np.eye(41), np.eye(41), language, ("de", "en"), item, item)
    found = near_pairs(nodes, Alike(left, right, cosine.ravel()))
    assert (cosine.argmax(axis=1) == 20).all()
    assert sorted(zip(found.left.tolist(), found.right.tolist(), strict=True)) == [
        (i, i + 20) for i in range(20)
    ]


def test_twins_are_found_and_their_weights_say_how_sure_they_are():
    nodes = twins(300, noise=0.5, seed=3)
    found = near_pairs(nodes, alike(nodes))
    right = found.right - found.left == 300
    assert 0.3 < right.mean() < 1
    assert found.weight[right].mean() > found.weight[~right].mean() + 0.05


def test_same_pairs_by_hand():
    """Item 5 is in three languages: 3 pairs; item 6 in two: 1; item 7 in one."""
    item, language = np.array([5, 6, 5, 7, 5, 6]), np.array([2, 1, 0, 0, 1, 2])
    nodes = Nodes(np.eye(6), np.eye(6), language, ("a", "b", "c"), item, item)
    found = same_pairs(nodes)
    assert sorted(zip(found.left.tolist(), found.right.tolist(), strict=True)) == [
        (1, 5),
        (2, 0),
        (2, 4),
        (4, 0),
    ]
    assert found.weight.tolist() == [1] * 4


@settings(max_examples=100)
@given(st.integers(0, 30), st.integers(1, 4), st.integers(1, 8), st.integers(0, 2**31))
def test_same_pairs_are_those_of_a_loop(n, many, items, seed):
    nodes = random_nodes(n, many, items, seed=seed)
    found = same_pairs(nodes)
    expected = {
        (i, j)
        for i in range(len(nodes))
        for j in range(len(nodes))
        if nodes.item[i] == nodes.item[j] and nodes.language[i] < nodes.language[j]
    }
    assert len(found) == len(expected)
    assert set(zip(found.left.tolist(), found.right.tolist(), strict=True)) == expected


def test_cosines_are_those_of_single_rows_and_zero_for_zero_rows():
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=(2, 9, 5)).astype(np.float32)
    one[3] = 0
    left, right = rng.integers(0, 9, size=(2, 50))
    expected = [
        0.0 if i == 3 else np.dot(one[i], other[j]) / np.linalg.norm(one[i]) / np.linalg.norm(other[j])
        for i, j in zip(left, right, strict=True)
    ]
    assert (left == 3).any()
    np.testing.assert_allclose(cosines(one, left, other, right), expected, atol=1e-6)


def test_parts_and_sums_of_pairs():
    nodes, candidates = by_hand()
    inside = candidates.within(nodes.item != 3)
    assert [inside.left.tolist(), inside.right.tolist()] == [[0, 1, 2], [4, 4, 5]]
    assert len(near_pairs(nodes, candidates.within(np.zeros(6, bool)))) == 0
    more = NO_PAIRS.and_(Pairs(np.array([1]), np.array([4]), np.array([0.5]))).and_(NO_PAIRS)
    assert (more.left.tolist(), more.right.tolist(), more.weight.tolist()) == ([1], [4], [0.5])
