"""Choosing: a map where there is something to gain, none where images say nothing or nothing is amiss."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.planted import twins

from xlingual.align import choose as choosing
from xlingual.align.choose import CANDIDATES, FOLDS, MARGIN, PLAIN, Tried, choose, folds, log_ranks, part_of
from xlingual.align.fit import CCA, CENTRE, Options, Settings
from xlingual.align.nodes import Nodes
from xlingual.align.pairs import Pairs, alike

SOME = (Settings(CENTRE), Settings("ridge", 0.02), Settings("procrustes", 0.02))
OPTIONS = Options(to=0)


def shuffled(nodes, seed):
    """The same nodes with images of others."""
    order = np.random.default_rng([seed, 7]).permutation(len(nodes))
    return Nodes(nodes.text, nodes.image[order], nodes.language, nodes.languages, nodes.item, nodes.fold)


def chosen(nodes, **options):
    return choose(nodes, alike(nodes), Options(0, **options), SOME)


def naive_log_rank(nodes, text, i, j):
    """log(1 + place) of j among the texts of its language, seen from i; ties share their places."""
    above = tied = 0
    for k in nodes.of(int(nodes.language[j])):
        if nodes.item[k] != nodes.item[i]:
            difference = float(text[i] @ text[k]) - float(text[i] @ text[j])
            above += difference > 1e-6
            tied += abs(difference) <= 1e-6
    return np.log1p(above + max(tied - 1, 0) / 2)


def test_log_ranks_by_hand():
    """From German 0: English 4 is before 3: place 1. From English 3: both German texts tie: place 1/2."""
    text = np.array([[1, 0], [1, 0], [0, 1], [0.6, 0.8], [0.8, 0.6]], np.float32)
    item, language = np.arange(5), np.array([0, 0, 2, 1, 1])
    nodes = Nodes(text, text, language, ("de", "en", "zh"), item, item)
    found = log_ranks(nodes, text, Pairs(np.array([0]), np.array([3]), np.ones(1)))
    assert found == pytest.approx((np.log(2) + np.log(1.5)) / 2)


@settings(max_examples=80)
@given(st.integers(4, 25), st.integers(1, 5), st.integers(1, 3), st.integers(0, 2**31))
def test_log_ranks_are_those_of_loops(n, items, dim, seed):
    """With equal vectors, zero vectors, and items with texts in both languages."""
    rng = np.random.default_rng(seed)
    text = rng.choice([-1.0, 0.0, 1.0], size=(n, dim))
    text = (text / np.maximum(np.linalg.norm(text, axis=1, keepdims=True), 1)).astype(np.float32)
    language, item = np.arange(n) % 2, rng.integers(0, items, n)
    nodes = Nodes(text, text, language, ("de", "en"), item, item)
    left, right = np.meshgrid(nodes.of(0), nodes.of(1))
    apart = item[left.ravel()] != item[right.ravel()]
    pairs = Pairs(left.ravel()[apart], right.ravel()[apart], np.ones(apart.sum()))
    expected = [
        (naive_log_rank(nodes, text, i, j) + naive_log_rank(nodes, text, j, i)) / 2
        for i, j in zip(pairs.left, pairs.right, strict=True)
    ]
    np.testing.assert_allclose(log_ranks(nodes, text, pairs), expected)


def test_blocks_change_no_rank(monkeypatch):
    nodes = twins(40)
    pairs = Pairs(np.arange(40), np.arange(40, 80), np.ones(40))
    whole = log_ranks(nodes, nodes.text, pairs)
    monkeypatch.setattr(choosing, "_CELLS", 50)
    assert log_ranks(nodes, nodes.text, pairs).tolist() == whole.tolist()


def test_a_map_is_chosen_where_languages_lie_apart():
    found = chosen(twins(150, turned=True))
    assert found[0].settings.kind in ("ridge", "procrustes") and found[0].helps and found[0].fall > 0.3
    assert {one.settings for one in found} == {PLAIN, *SOME}
    helps = [one.helps for one in found]
    assert helps == sorted(helps, reverse=True) and found[helps.index(False)].settings == PLAIN
    falls = [one.fall for one in found if one.helps]
    assert falls == sorted(falls, reverse=True)
    assert len({one.pairs for one in found}) == 1  # all are judged by the same pairs
    (plain,) = (one for one in found if one.settings == PLAIN)
    assert plain.fall == plain.standard_error == 0 and not plain.helps


@pytest.mark.parametrize("turned", [False, True])
def test_images_that_are_shuffled_choose_nothing(turned):
    """Of twelve shuffles, at most two choose a map: by chance some do."""
    first = [chosen(shuffled(twins(60, turned=turned, seed=seed), seed))[0].settings for seed in range(12)]
    assert sum(one == PLAIN for one in first) >= 10


@pytest.mark.parametrize("seed", range(3))
def test_spaces_that_are_the_same_stay_as_they_are(seed):
    found = choose(
        *(lambda nodes: (nodes, alike(nodes)))(twins(90, noise=0.0, apart=0.0, seed=seed)), OPTIONS
    )
    assert found[0].settings == PLAIN
    assert len(found) == len(CANDIDATES)


def test_a_gain_within_chance_is_none():
    images = 0.16, 0.1, 3.1
    assert Tried(SOME[0], 0.16, 0.1, 50, *images).helps and not Tried(SOME[0], 0.15, 0.1, 50, *images).helps
    assert not Tried(SOME[0], 0.16, 0.1, 50, 0.15, 0.1, 3.1).helps  # by images alone it does not
    assert not Tried(SOME[0], 0.1, 0.0, 1, *images).helps  # one pair says nothing
    assert not Tried(SOME[0], 0.16, 0.1, 50, 0.1, 0.0, 3.1).helps
    assert not Tried(SOME[0], 0.16, 0.1, 50, 0.16, 0.1, 3.0).helps  # images say nothing of the texts
    assert MARGIN == 1.5


def test_what_images_alone_say_orders_the_maps_that_help():
    assert Tried(SOME[0], 0.2, 0.1, 50, 0.3, 0.1).score == pytest.approx(0.2 + 4 * 0.3)


def test_the_standard_error_is_over_items():
    """Falls 1, 0, 1 with votes 1, 1, 2 of items 0, 0, 1: mean .75; residuals −.125 and .125 → √(.03125·2)."""
    falls = np.array([[1.0, 0, 1], [0.0, 0, 0]]), np.array([1.0, 1, 2]), np.array([0, 0, 1])
    found = choosing._judged([falls])
    assert found.fall == pytest.approx([0.75, 0])
    assert found.error == pytest.approx([0.25, 0])
    assert found.pairs == 3
    empty = np.zeros((2, 0)), np.zeros(0), np.zeros(0, dtype=np.int64)
    assert choosing._judged([empty]) == ([0, 0], [0, 0], 0)


def test_folds_never_divide_what_belongs_together():
    nodes = twins(60)
    group = np.arange(120) // 3
    nodes = Nodes(nodes.text, nodes.image, nodes.language, nodes.languages, nodes.item, group)
    found = folds(nodes, 0)
    assert all(len(set(found[group == each])) == 1 for each in range(40))
    assert np.bincount(found[::3]).tolist() in ([14, 13, 13], [13, 14, 13], [13, 13, 14])
    assert found.tolist() == folds(nodes, 0).tolist() != folds(nodes, 1).tolist()


def test_parts_have_their_candidates():
    nodes = twins(30)
    candidates = alike(nodes)
    keep = np.arange(60) % 2 == 0
    part, inside = part_of(nodes, candidates, keep)
    expected = {
        (nodes.item[i], nodes.item[j])
        for i, j in zip(candidates.left, candidates.right, strict=True)
        if keep[i] and keep[j]
    }
    assert {(part.item[i], part.item[j]) for i, j in zip(inside.left, inside.right, strict=True)} == expected
    assert len(part) == 30


def test_many_nodes_are_looked_at_in_part(monkeypatch):
    monkeypatch.setattr(choosing, "MOST", 25)
    nodes = twins(60)
    seen = choosing._drawn(nodes, 0)
    assert [int(seen[nodes.of(code)].sum()) <= 25 for code in (0, 1)] == [True, True]
    assert 25 in [int(seen[nodes.of(code)].sum()) for code in (0, 1)]
    few = nodes.take(np.flatnonzero(seen))
    assert choosing._drawn(few, 0).all()


def test_the_same_seed_chooses_the_same_and_order_does_not_matter():
    nodes = twins(60, seed=3)
    order = np.random.default_rng(0).permutation(len(nodes))
    one, same, other = (chosen(each) for each in (nodes, nodes, nodes.take(order)))
    assert one == same
    assert [each.settings for each in one] == [each.settings for each in other]
    assert [each.fall for each in one] == pytest.approx([each.fall for each in other], abs=1e-4)
    assert one != chosen(nodes, seed=1)


def test_pairs_of_one_item_alone_can_judge():
    nodes = twins(80, turned=True)
    thing = np.tile(np.arange(80), 2)
    nodes = Nodes(nodes.text, nodes.image, nodes.language, nodes.languages, thing, thing)
    found = chosen(nodes, near=False)
    assert found[0].helps and found[0].pairs == 80
    neither = chosen(nodes, near=False, same=False)
    assert neither[0].settings == PLAIN and neither[0].pairs == 0


def test_canonical_correlations_are_left_out_where_they_would_take_too_long(monkeypatch):
    monkeypatch.setattr(choosing, "CCA_DIMS", 15)
    nodes = twins(45)  # 2 × 8 dimensions
    tried = (Settings("ridge", 0.1), Settings(CCA, 0.8))
    found = choose(nodes, alike(nodes), OPTIONS, tried)
    assert {one.settings.kind for one in found} == {"none", "ridge"}
    asked = choose(nodes, alike(nodes), OPTIONS, tried[1:])
    assert {one.settings.kind for one in asked} == {"none", CCA}


def test_progress_counts_all_maps_of_all_folds():
    said = []
    nodes = twins(45)
    choose(nodes, alike(nodes), OPTIONS, SOME[:1], lambda done, total: said.append((done, total)))
    assert said == [(done, 2 * FOLDS) for done in range(1, 2 * FOLDS + 1)]
