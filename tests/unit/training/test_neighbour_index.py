"""Neighbours among all texts, against sorting."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("torch")

from xlingual.errors import InputError
from xlingual.models.triplet import Triplet, TripletConfig
from xlingual.training.recipes.neighbour_index import NeighbourIndex, mapped_pairs, nearest
from xlingual.training.recipes.text_pairs import TextPairs
from xlingual.training.recipes.triplet_options import TripletOptions


def pairs(n, languages=3, items=None, dim=6, seed=0):
    rng = np.random.default_rng(seed)
    title, body = rng.standard_normal((2, n, dim)).astype(np.float32)
    item = np.arange(n) if items is None else rng.integers(0, items, n)
    tags = tuple(f"l{i}" for i in range(languages))
    return TextPairs(title, body, tags, np.arange(n) % languages, item, np.arange(n).astype(str))


@given(st.integers(0, 10**6), st.integers(3, 30), st.integers(1, 3), st.integers(1, 4), st.integers(2, 30))
@settings(max_examples=50, deadline=None)
def test_nearest_equals_sorting(seed, n, languages, k, items):
    given_pairs = pairs(n, min(languages, n), items, seed=seed)
    found = nearest(given_pairs, given_pairs.title, given_pairs.body, k)
    title = given_pairs.title.astype(float)
    body = given_pairs.body.astype(float)
    title /= np.linalg.norm(title, axis=1, keepdims=True)
    body /= np.linalg.norm(body, axis=1, keepdims=True)
    for row in range(n):
        for code in range(len(given_pairs.languages)):
            others = [
                n
                for n in np.argsort(-(body[row] @ title.T), kind="stable")
                if given_pairs.language[n] == code and given_pairs.item[n] != given_pairs.item[row]
            ]
            expected = others[:k] if len(others) >= k else [-1] * k
            assert found[row, code].tolist() == expected


def test_an_index_is_made_anew_every_so_many_epochs_and_survives_an_interruption(tmp_path):
    given_pairs = pairs(40)
    options = TripletOptions(beta=0.1, neighbours=2, neighbours_from="index", refresh=2)
    model, other = (Triplet(TripletConfig(6, 8, 8), seed) for seed in (0, 1))
    index = NeighbourIndex(given_pairs, options, tmp_path)
    first = index.of_epoch(1, model)
    assert np.array_equal(first, nearest(given_pairs, *mapped_pairs(model, given_pairs), 2))
    assert np.array_equal(index.of_epoch(2, other), first)
    assert np.array_equal(NeighbourIndex(given_pairs, options, tmp_path).of_epoch(2, other), first)
    third = index.of_epoch(3, other)
    assert not np.array_equal(third, first)
    assert [path.name for path in (tmp_path / "checkpoint").iterdir()] == ["neighbours.3.npy"]
    (tmp_path / "checkpoint" / "neighbours.3.npy").unlink()
    with pytest.raises(InputError, match=r"neighbours\.3\.npy.*cannot be read.*train again"):
        NeighbourIndex(given_pairs, options, tmp_path).of_epoch(4, model)


def test_neighbours_by_base_vectors_do_not_depend_on_the_model(tmp_path):
    given_pairs = pairs(40)
    options = TripletOptions(beta=0.1, neighbours=2, neighbours_from="index", neighbours_by="base", refresh=3)
    found = NeighbourIndex(given_pairs, options, tmp_path).of_epoch(5, Triplet(TripletConfig(6, 8, 8)))
    assert np.array_equal(found, nearest(given_pairs, given_pairs.title, given_pairs.body, 2))
    assert not list(tmp_path.iterdir())
