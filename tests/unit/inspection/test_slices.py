"""Slices that fail: planted ones stand first, chance gives few, and the numbers are those of plain loops."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xlingual.inspection.slices import LEAST, Feature, Values, difference_of, find_slices, slices_of


def world(seed, n=240, languages=2, labels=(4, 3, 5)):
    """Return values and features that say nothing of them."""
    rng = np.random.default_rng(seed)
    item, language = np.repeat(np.arange(n), languages), np.tile(np.arange(languages), n)
    hit = (rng.random(len(item)) < 0.6).astype(float)
    features = [
        Feature(f"f{number}", [str(label) for label in range(k)], rng.integers(0, k, n)[item])
        for number, k in enumerate(labels)
    ]
    return of_hits(hit, item, language), features


def of_hits(hit, item, language):
    mean = np.bincount(language, hit) / np.bincount(language)
    return Values(hit, hit - mean[language], item, language)


def test_a_damaged_part_stands_first_and_alone():
    values, features = world(1)
    inside = features[0].code == 2
    hit = np.where(inside, 0.0, values.value)
    found = find_slices(of_hits(hit, values.cluster, values.language), features, shuffles=199)
    assert [one.slice.conditions for one in found.found] == [(("f0", "2"),)]
    (first,) = found.found
    assert first.p == 1 / 200
    assert set(first.slice.rows.tolist()) == set(np.flatnonzero(inside).tolist())
    assert first.overlaps
    for other, shared in first.overlaps:
        assert shared == np.isin(other.rows, first.slice.rows).mean()


def test_two_causes_are_two_slices():
    values, features = world(3, n=600)
    parts = [features[0].code == 2, features[1].code == 0]
    hit = np.where(parts[0] | parts[1], 0.0, values.value)
    found = find_slices(of_hits(hit, values.cluster, values.language), features, shuffles=199)
    assert {one.slice.conditions for one in found.found[:2]} == {(("f0", "2"),), (("f1", "0"),)}


def test_a_part_of_two_features_is_found_as_such():
    values, features = world(4, n=900)
    inside = (features[0].code == 1) & (features[2].code == 3)
    hit = np.where(inside, 0.0, values.value)
    found = find_slices(of_hits(hit, values.cluster, values.language), features, shuffles=199)
    assert found.found[0].slice.conditions == (("f0", "1"), ("f2", "3"))


def test_chance_lists_a_slice_in_few_data_sets():
    """At the level .05, 40 data sets or more of 400 would come by chance once in 20,000 times."""
    listed = 0
    for seed in range(400):
        values, features = world(seed, n=60)
        listed += bool(find_slices(values, features, shuffles=39, seed=seed).found)
    assert 0 < listed < 40


def test_better_slices_are_not_listed():
    values, features = world(5)
    hit = np.where(features[0].code == 2, 1.0, values.value)
    hit = np.where(features[0].code == 3, np.maximum(hit, 0), hit)
    found = find_slices(of_hits(hit, values.cluster, values.language), features[:1], shuffles=199)
    assert (("f0", "2"),) not in [one.slice.conditions for one in found.found]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_slices_are_those_of_a_plain_search(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(60, 160))
    cluster = rng.integers(0, n // 2, n)
    features = [
        Feature(name, ["a", "b", "c"], rng.integers(-1, 3, n), alone=name != "language")
        for name in ("one", "two", "language")
    ]
    expected = set()
    for parts in (*((one,) for one in features if one.alone), *combinations(features, 2)):
        labels = np.stack([part.code for part in parts])
        for code in np.unique(labels, axis=1).T:
            inside = (labels == code[:, None]).all(axis=0)
            sizes = [len(set(cluster[side])) for side in (inside, ~inside)]
            if (code >= 0).all() and LEAST <= inside.sum() <= n - LEAST and min(sizes) >= 10:
                expected.add(frozenset(np.flatnonzero(inside).tolist()))
    found = list(slices_of(features, cluster))
    assert {frozenset(one.rows.tolist()) for one in found} == expected
    assert len(found) == len(expected)
    for one in found:
        assert (np.diff(one.rows) > 0).all()
        assert len(one.conditions) <= 2


def test_the_difference_is_to_texts_of_the_same_language():
    """All texts of one language are worse; a slice that has more of them is not worse for that."""
    values, _ = world(6, n=400)
    hit = np.where(values.language == 1, 0.0, 1.0)
    rng = np.random.default_rng(0)
    inside = rng.random(len(hit)) < np.where(values.language == 1, 0.8, 0.2)
    slices = list(slices_of([Feature("f", ["out", "in"], inside.astype(np.int64))], values.cluster))
    within = next(one for one in slices if one.conditions[0][1] == "in")
    difference, ci = difference_of(of_hits(hit, values.cluster, values.language), within)
    assert difference == pytest.approx(0, abs=1e-12)
    assert ci.low <= difference <= ci.high
    changed = np.where(inside, hit - 0.25, hit)
    difference, _ = difference_of(of_hits(changed, values.cluster, values.language), within)
    assert difference == pytest.approx(-0.25)


def test_clusters_move_whole():
    """Where a value is that of its cluster, texts that share it are one piece of evidence."""
    rng = np.random.default_rng(0)
    listed = 0
    for seed in range(200):
        cluster = np.repeat(np.arange(40), 12)
        hit = (rng.random(40) < 0.5).astype(float)[cluster]
        part = rng.integers(0, 3, 40)[cluster]
        values = of_hits(hit, cluster, np.zeros(len(cluster), dtype=np.int64))
        found = find_slices(values, [Feature("f", ["a", "b", "c"], part)], shuffles=39, seed=seed)
        listed += bool(found.found)
    assert listed < 24  # tests of single texts would list a slice in more than half of them


def test_texts_without_an_equal_are_fixed():
    values, features = world(7, n=100)
    odd = Values(values.value, values.above, np.zeros_like(values.cluster), values.language)
    found = find_slices(odd, features, shuffles=19)
    assert (found.n_slices, found.found) == (0, ())
    assert found.fixed == 1.0


def test_a_slice_is_compared_with_texts_of_its_language():
    """The letters of a language, which a few of its texts do not use, are no slice; half of it is one."""
    language = np.repeat([0, 1], 200)
    script = Feature("script", ["a", "b"], np.where((language == 1) & (np.arange(400) % 40 > 0), 1, 0))
    half = Feature("half", ["a", "b"], np.where((language == 1) & (np.arange(400) % 2 > 0), 1, 0))
    cluster = np.arange(400)
    assert [one.conditions for one in slices_of([script], cluster)] == [
        (("script", "a"),),
        (("script", "b"),),
    ]
    assert list(slices_of([script], cluster, language)) == []
    assert len(list(slices_of([half], cluster, language))) == 2
