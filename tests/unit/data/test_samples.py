"""Who serves on which side when items are scarce; the rest of the sampler is tested with the evaluations."""

import numpy as np
import pytest

from xlingual.data.manifest import Manifest
from xlingual.data.samples import Sampler


def lopsided():
    """Return 100 items in both languages, and 1000 more in English only."""
    rows = [{"id": f"b{i}", "text_en": f"en {i}", "text_de": f"de {i}"} for i in range(100)]
    rows += [{"id": f"e{i}", "text_en": f"only {i}", "text_de": None} for i in range(1000)]
    return Manifest.of(rows)


@pytest.mark.parametrize("size", [1, 50, 80, 100])
def test_the_scarce_side_gets_the_shared_items_it_needs(size):
    manifest = lopsided()
    for source, target in (("en", "de"), ("de", "en")):
        (sample,) = Sampler(manifest, sample=size).non_matching(source, target)
        assert len(sample.source) == len(sample.target) == size
        items = manifest.item[sample.source], manifest.item[sample.target]
        assert len(np.intersect1d(*items)) == 0


def test_without_a_size_shared_items_are_halved():
    (sample,) = Sampler(lopsided()).non_matching("en", "de")
    assert (len(sample.source), len(sample.target)) == (1050, 50)


def several():
    """Return 30 items with one to three English and one or two German texts each."""
    return Manifest.of(
        [
            {"id": f"{tag}{i}.{c}", "lang": tag, "text": f"{tag} {i} {c}", "item": i}
            for i in range(30)
            for tag, count in (("en", 1 + i % 3), ("de", 1 + i % 2), ("fr", 1))
            for c in range(count)
        ]
    )


def draws(manifest, texts, **options):
    sampler = Sampler(manifest, texts_per_item=texts, seeds=3, **options)
    return [*sampler.non_matching("en", "de"), *sampler.matching("en", "de")]


@pytest.mark.parametrize("options", [{}, {"sample": 9}, {"sample": 9, "queries": 4}])
def test_texts_of_an_item_are_drawn_and_nothing_else_changes(options):
    manifest = several()
    for one, two, every in zip(*(draws(manifest, n, **options) for n in (1, 2, "all")), strict=True):
        for side in ("target", "pool"):
            first, second, rows = (getattr(sample, side) for sample in (one, two, every))
            assert set(first) <= set(second) <= set(rows)
            for sample, most in ((first, 1), (second, 2)):
                item, count = np.unique(manifest.item[sample], return_counts=True)
                of_all, there = np.unique(manifest.item[rows], return_counts=True)
                assert item.tolist() == of_all.tolist()
                assert count.tolist() == np.minimum(there, most).tolist()
                assert (np.diff(sample) > 0).all()
    for same, every in zip(draws(manifest, 3, **options), draws(manifest, "all", **options), strict=True):
        for side in ("source", "target", "pool"):
            assert getattr(same, side).tolist() == getattr(every, side).tolist()


def test_an_item_has_the_same_text_in_every_pair_and_another_one_by_seed():
    manifest = several()
    sampler = Sampler(manifest, texts_per_item=1, seeds=20)
    with_de, with_fr = (sampler.matching("en", target) for target in ("de", "fr"))
    assert [s.source.tolist() for s in with_de] == [s.source.tolist() for s in with_fr]
    chosen = np.array([s.source for s in with_de])  # [seeds, items]
    assert {len(set(rows)) for rows in chosen.T} == {1, 2, 3}  # every text of an item has its turn


@pytest.mark.parametrize(
    ("size", "apart", "same"), [(10, 10, 10), (80, 80, 80), (101, 100, 100), (9999, 100, 100)]
)
def test_a_pair_with_fewer_items_gives_what_it_has(size, apart, same):
    sampler = Sampler(lopsided(), sample=size)
    for source, target in (("en", "de"), ("de", "en")):
        (one,), (two,) = sampler.non_matching(source, target), sampler.matching(source, target)
        assert (len(one.source), len(one.target)) == (apart, apart)
        assert (len(two.source), len(two.target)) == (same, same)
        assert sampler.described(source, target) == str(apart)
        assert sampler.described(source, target, matching=True) == str(same)


def test_the_largest_sample_is_what_the_data_give():
    rng = np.random.default_rng(0)
    for _ in range(60):
        both, one, two = rng.integers(0, 9, 3)
        rows = [{"id": f"b{i}", "text_en": f"en {i}", "text_de": f"de {i}"} for i in range(both)]
        rows += [{"id": f"e{i}", "text_en": f"e {i}", "text_de": None} for i in range(one)]
        rows += [{"id": f"d{i}", "text_en": None, "text_de": f"d {i}"} for i in range(two)]
        if both + one == 0 or both + two == 0 or (both == 1 and one == two == 0):
            continue
        manifest = Manifest.of(rows)
        (found,) = Sampler(manifest, sample=99).non_matching("en", "de")
        size = len(found.source)
        (again,) = Sampler(manifest, sample=size).non_matching("en", "de")
        assert len(found.target) == size and found.source.tolist() == again.source.tolist()
        (more,) = Sampler(manifest, sample=size + 1).non_matching("en", "de")
        assert more.source.tolist() == again.source.tolist()
