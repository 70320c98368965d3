"""Nodes: the texts of an item in a language are one, with one image, and what is not known is left out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xlingual.align.nodes import Nodes
from xlingual.transforms.affine import unit_rows


def nodes_of(text, image, language, item, fold=None):
    language, item = np.array(language), np.array(item)
    fold = item if fold is None else np.array(fold)
    text, image = np.array(text, dtype=np.float32), np.array(image, dtype=np.float32)
    return Nodes.of_rows(text, image, language, ("de", "en", "zh"), item, fold)


def test_two_texts_of_an_item_in_a_language_are_one_node():
    """(3, 0) and (0, 5) are (1, 0) and (0, 1) at unit length; their mean has length 1 again."""
    found = nodes_of([[3, 0], [0, 5], [0, 2]], [[1, 0], [1, 0], [0, 4]], [0, 0, 1], [7, 7, 7])
    assert len(found) == 2 and found.dim == 2
    assert found.text.tolist() == [pytest.approx([0.5**0.5, 0.5**0.5]), [0, 1]]
    assert found.image.tolist() == [[1, 0], [0, 1]]
    assert found.language.tolist() == [0, 1] and found.item.tolist() == [7, 7]
    assert found.of(0).tolist() == [0] and found.of(1).tolist() == [1] and found.of(2).tolist() == []


def test_what_is_not_known_is_left_out():
    zero_text, zero_image = [[0, 0], [1, 0], [1, 0]], [[1, 0], [0, 0], [1, 1]]
    found = nodes_of(zero_text, zero_image, [0, 0, 1], [0, 1, 2])
    assert found.item.tolist() == [2]
    opposite = nodes_of([[1, 0], [-1, 0], [0, 1]], [[1, 0]] * 3, [0, 0, 0], [0, 0, 1])
    assert opposite.item.tolist() == [1]  # the mean of the two is zero
    assert len(nodes_of([[0, 0]], [[1, 0]], [0], [0])) == 0


def test_some_of_the_nodes_keep_their_numbers():
    found = nodes_of(np.eye(4), np.eye(4), [0, 1, 1, 2], [5, 6, 7, 8], [1, 1, 2, 3])
    some = found.take(np.array([3, 1]))
    assert some.item.tolist() == [8, 6] and some.fold.tolist() == [3, 1]
    assert some.languages == found.languages and some.text.tolist() == np.eye(4)[[3, 1]].tolist()
    assert some.dim == found.dim == 4


@settings(max_examples=60)
@given(st.integers(1, 30), st.integers(1, 6), st.integers(0, 2**31), st.booleans())
def test_equal_to_a_loop_over_items_and_languages(rows, items, seed, hostile):
    rng = np.random.default_rng(seed)
    text, image = rng.normal(size=(2, rows, 3)).astype(np.float32)
    if hostile:
        text[rng.random(rows) < 0.3] = 0
        image[rng.random(rows) < 0.3] = 0
        text[rng.random(rows) < 0.3] = [0, 0, 2]
    language, item = rng.integers(0, 3, rows), rng.integers(0, items, rows)
    found = nodes_of(text, image, language, item)
    expected, seen = [], []
    for row in range(rows):
        key = (item[row], language[row])
        if key in seen or not (text[row].any() and image[row].any()):
            continue
        seen.append(key)
        same = [r for r in range(rows) if (item[r], language[r]) == key and text[r].any() and image[r].any()]
        means = [unit_rows(each)[same].astype(float).mean(axis=0) for each in (text, image)]
        expected.append((key, *means))
    expected = [each for each in expected if np.linalg.norm(each[1]) > 1e-6]
    assert list(zip(found.item, found.language, strict=True)) == [key for key, _, _ in expected]
    for place, (_, own_text, own_image) in enumerate(expected):
        assert found.text[place] == pytest.approx(own_text / np.linalg.norm(own_text), abs=1e-5)
        assert found.image[place] == pytest.approx(own_image / np.linalg.norm(own_image), abs=1e-5)


def test_the_lengths_of_vectors_do_not_matter():
    rng = np.random.default_rng(0)
    text, image = rng.normal(size=(2, 20, 4))
    scale = rng.uniform(0.1, 10, size=(20, 1))
    language, item = rng.integers(0, 2, 20), rng.integers(0, 8, 20)
    one, other = (nodes_of(text * each, image * each, language, item) for each in (1, scale))
    np.testing.assert_allclose(one.text, other.text, atol=1e-6)
    np.testing.assert_allclose(one.image, other.image, atol=1e-6)
