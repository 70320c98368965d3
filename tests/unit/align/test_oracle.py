"""The oracle: whether the way back from the nearest image finds the own image among the first ten."""

import numpy as np
import pytest
from tests.planted import twins

from xlingual.align.nodes import Nodes
from xlingual.align.oracle import Oracle, oracle
from xlingual.align.pairs import NO_PAIRS, Alike, alike


def with_images(nodes, image):
    return Nodes.of_rows(nodes.text, image, nodes.language, nodes.languages, nodes.item, nodes.fold)


def naive(nodes, candidates):
    """The hits of all nodes of the first language, one after the other; no ties."""
    image = nodes.image.astype(float) - nodes.image.astype(float).mean(axis=0)
    image /= np.linalg.norm(image, axis=1, keepdims=True)
    hits = []
    for i in nodes.of(0):
        j = max(candidates.right[candidates.left == i], key=lambda j, i=i: image[i] @ image[j])
        above = sum(image[j] @ image[k] > image[j] @ image[i] for k in nodes.of(0))
        hits.append(above < 10)
    return hits


def crowded(seed):
    """60 German nodes with random images, and 5 English ones, so that some 12 share a nearest."""
    nodes = twins(60, seed=seed)
    image = np.random.default_rng(seed).normal(size=(120, 6)).astype(np.float32)
    return with_images(nodes, image).take(np.arange(65))


@pytest.mark.parametrize("seed", range(3))
def test_equal_to_a_loop(seed):
    nodes = crowded(seed)
    candidates = alike(nodes, kept=100)
    found, hits = oracle(nodes, candidates, 0), naive(nodes, candidates)
    assert found.value == pytest.approx(np.mean(hits))
    assert 0.3 < found.value < 1
    assert found.chance == pytest.approx(10 / 60)
    assert found.standard_error == pytest.approx((max(np.var(hits), 10 / 60 * 50 / 60) / 60) ** 0.5)


def test_twins_find_their_way_back():
    nodes = twins(100, noise=0.05)
    assert oracle(nodes, alike(nodes), 0).value > 0.95


def test_images_that_are_all_equal_are_at_chance():
    nodes = with_images(twins(50), np.ones((100, 3), np.float32))
    found = oracle(nodes, alike(nodes), 0)
    assert found.value == pytest.approx(found.chance) == pytest.approx(0.2)


def test_a_handful_of_images_is_all_chance():
    nodes = twins(6)
    found = oracle(nodes, alike(nodes), 0)
    assert found.value == found.chance == 1


def test_without_candidates_nothing_is_found():
    nodes = twins(20)
    assert oracle(nodes, Alike(NO_PAIRS.left, NO_PAIRS.right, NO_PAIRS.weight), 0) == Oracle(0, 0, 1)


def test_the_order_of_nodes_does_not_matter():
    nodes = crowded(0)
    other = nodes.take(np.random.default_rng(1).permutation(len(nodes)))
    one, two = (oracle(each, alike(each, kept=100), 0) for each in (nodes, other))
    assert one.value == pytest.approx(two.value) and 0.3 < one.value < 1
