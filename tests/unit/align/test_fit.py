"""Fitting: planted maps are found, the language that others come to stays, rounds find more pairs."""

import numpy as np
import pytest
from tests.planted import TAGS, rotation, twins

from xlingual.align.fit import CCA, CENTRE, NONE, Options, Settings, applied, fit, language_means, tags
from xlingual.align.nodes import Nodes
from xlingual.align.pairs import NO_PAIRS, Alike, alike
from xlingual.transforms.affine import unit_rows

NOBODY = Alike(NO_PAIRS.left, NO_PAIRS.right, NO_PAIRS.weight)
TO_FIRST = Options(to=0)
EXACT = {"noise": 0.0, "apart": 0.0}


def partners_found(nodes, map, things):
    """The share of things in the second language whose nearest text in the first is their own."""
    text = unit_rows(applied(nodes, map))
    scores = text[nodes.of(1)] @ text[nodes.of(0)].T
    return (scores.argmax(axis=1) == np.arange(things)).mean()


def in_both(things=50, dim=4, languages=3, missing=None):
    """Nodes of items with texts in several languages, those of the second and third turned, no noise."""
    rng = np.random.default_rng(0)
    said = rng.normal(size=(things, dim))
    text = np.concatenate([said @ rotation(dim, code) if code else said for code in range(languages)])
    item, language = np.tile(np.arange(things), languages), np.repeat(np.arange(languages), things)
    kept = np.ones(len(item), bool) if missing is None else ~missing(item, language)
    image = rng.normal(size=(len(item), dim))
    return Nodes.of_rows(
        *(each[kept].astype(np.float32) for each in (text, image)),
        language[kept],
        TAGS,
        item[kept],
        item[kept],
    )


def test_settings_have_names():
    assert Settings(NONE).name == "none" and Settings(CENTRE).name == "centre"
    assert Settings("ridge", 0.02).name == "ridge?penalty=0.02"
    assert Settings("procrustes").name == "procrustes?penalty=0"


def test_none_leaves_vectors_and_centring_takes_their_means():
    nodes = twins()
    none = fit(nodes, alike(nodes), Settings(NONE), TO_FIRST)
    assert np.array_equal(applied(nodes, none.map), nodes.text) and len(none.near) == 0
    centred = applied(nodes, fit(nodes, alike(nodes), Settings(CENTRE), TO_FIRST).map)
    for code in (0, 1):
        assert np.abs(nodes.text[nodes.of(code)].mean(axis=0)).max() > 0.05
        assert np.abs(centred[nodes.of(code)].mean(axis=0)).max() < 1e-6
    means = language_means(nodes)
    np.testing.assert_allclose(centred, nodes.text - means[nodes.language], atol=1e-6)
    assert tags(nodes)[::120] == ["de", "en"]


@pytest.mark.parametrize("settings", [Settings("procrustes"), Settings("ridge", 1e-9)])
def test_a_planted_rotation_is_found_from_images_alone(settings):
    """Twins share no item and, but for the images, nothing that texts alone could show."""
    nodes = twins(turned=True, **EXACT)
    found = fit(nodes, alike(nodes), settings, TO_FIRST)
    np.testing.assert_allclose(found.map.of("en")[0], rotation(8, 1).T, atol=1e-3)
    np.testing.assert_allclose(found.map.of("de")[0], np.eye(8), atol=1e-12)
    assert partners_found(nodes, fit(nodes, alike(nodes), Settings(CENTRE), TO_FIRST).map, 120) < 0.1
    assert partners_found(nodes, found.map, 120) == 1
    assert (found.near.right - found.near.left == 120).all() and len(found.near) == 120


@pytest.mark.parametrize("kind", ["ridge", "procrustes"])
def test_spaces_that_are_the_same_stay_the_same(kind):
    nodes = twins(**EXACT)
    found = fit(nodes, alike(nodes), Settings(kind, 0.02), TO_FIRST)
    for tag in ("de", "en"):
        np.testing.assert_allclose(found.map.of(tag)[0], np.eye(8), atol=1e-5)


@pytest.mark.parametrize(
    "settings", [Settings("procrustes", 0.005), Settings("ridge", 0.005), Settings(CCA, 0.5)]
)
def test_partners_are_nearer_than_by_centring(settings):
    nodes = twins(things=200, turned=True, seed=2)
    found = fit(nodes, alike(nodes), settings, TO_FIRST)
    assert partners_found(nodes, found.map, 200) > 0.25
    assert partners_found(nodes, fit(nodes, alike(nodes), Settings(CENTRE), TO_FIRST).map, 200) < 0.05


def test_a_rotation_keeps_angles_within_a_language():
    nodes = twins()
    map = fit(nodes, alike(nodes), Settings("procrustes", 0.02), TO_FIRST).map
    matrix, _ = map.of("en")
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(8), atol=1e-10)


def test_more_rounds_find_more_right_pairs():
    """The share of right pairs, with texts beside images, is above that of images alone."""
    nodes = twins(things=300, noise=0.6, turned=True, seed=1)
    candidates = alike(nodes)
    right = []
    for rounds in (1, 5):
        near = fit(nodes, candidates, Settings("procrustes", 0.0, rounds), TO_FIRST).near
        right.append(int((near.right - near.left == 300).sum()))
    assert right[1] > 1.2 * right[0] > 0


def test_pairs_of_one_item_give_the_map_exactly():
    nodes = in_both()
    options = Options(to=0, near=False)
    found = fit(nodes, NOBODY, Settings("procrustes"), options)
    assert len(found.near) == 0
    for code, tag in enumerate(TAGS):
        expected = rotation(4, code).T if code else np.eye(4)
        np.testing.assert_allclose(found.map.of(tag)[0], expected, atol=1e-3)


def test_a_language_comes_to_another_by_way_of_a_third_where_languages_come_jointly():
    """Items 0 … 24 have no Chinese text, 25 … 49 no German one: Chinese meets English alone."""
    nodes = in_both(
        missing=lambda item, language: (language == 2) & (item < 25) | (language == 0) & (item > 24)
    )
    jointly, alone = (
        fit(nodes, NOBODY, Settings("procrustes"), Options(to=0, near=False, jointly=each)).map
        for each in (True, False)
    )
    # half of the texts of each have means of their own, so that the maps are only nearly exact
    np.testing.assert_allclose(jointly.of("zh")[0], rotation(4, 2).T, atol=0.35)
    np.testing.assert_allclose(alone.of("zh")[0], np.eye(4))
    np.testing.assert_allclose(alone.of("en")[0], rotation(4, 1).T, atol=0.35)
    assert np.abs(rotation(4, 2).T - np.eye(4)).max() > 0.7


@pytest.mark.parametrize("settings", [Settings("ridge", 0.02), Settings("procrustes"), Settings(CCA, 0.8)])
def test_a_language_without_pairs_is_only_centred(settings):
    nodes = in_both()
    alone = np.where(nodes.language == 2, nodes.item + 1000, nodes.item)
    nodes = Nodes(nodes.text, nodes.image, nodes.language, nodes.languages, alone, alone)
    map = fit(nodes, NOBODY, settings, Options(to=0, near=False)).map
    matrix, offset = map.of("zh")
    np.testing.assert_allclose(matrix, np.eye(4))
    np.testing.assert_allclose(offset, -nodes.text[nodes.of(2)].mean(axis=0, dtype=float), atol=1e-6)
    assert np.abs(map.of("en")[0] - np.eye(4)).max() > 0.1


def test_without_any_pair_all_are_only_centred():
    nodes = twins()
    found = fit(nodes, NOBODY, Settings("ridge", 0.1), TO_FIRST)
    centred = fit(nodes, NOBODY, Settings(CENTRE), TO_FIRST)
    np.testing.assert_allclose(applied(nodes, found.map), applied(nodes, centred.map), atol=1e-6)


@pytest.mark.parametrize(
    "settings", [Settings("ridge", 0.02), Settings("procrustes", 0.02), Settings(CCA, 0.8)]
)
def test_the_order_of_nodes_and_of_languages_does_not_matter(settings):
    nodes = twins(languages=3, seed=4)
    order = np.random.default_rng(0).permutation(len(nodes))
    other = nodes.take(order)
    other = Nodes(other.text, other.image, 2 - other.language, other.languages[::-1], other.item, other.fold)
    one, two = (
        applied(each, fit(each, alike(each), settings, Options(to=to)).map)
        for each, to in ((nodes, 0), (other, 2))
    )
    scores, again = (unit_rows(each) @ unit_rows(each).T for each in (one[order], two))
    np.testing.assert_allclose(scores, again, atol=1e-4)


def test_the_length_of_image_vectors_does_not_matter():
    nodes = twins(seed=4)
    scaled = Nodes.of_rows(
        7 * nodes.text, 3 * nodes.image, nodes.language, nodes.languages, nodes.item, nodes.fold
    )
    one, other = (fit(each, alike(each), Settings("ridge", 0.02), TO_FIRST).map for each in (nodes, scaled))
    np.testing.assert_allclose(one.matrix, other.matrix, atol=1e-5)
