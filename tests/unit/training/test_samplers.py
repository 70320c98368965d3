"""The instances of an epoch: a pure function of (seed, epoch) that uses every text."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlingual.training.samplers import IMAGES, BatchSampler


def firsts(*counts):
    return np.concatenate([[0], np.cumsum(counts)])


def sampler(counts, pairs=((IMAGES, "en"), (IMAGES, "de"), ("en", "de")), **options):
    names = (IMAGES, "en", "de")
    first = {name: firsts(*column) for name, column in zip(names, zip(*counts, strict=True), strict=True)}
    return BatchSampler(first, pairs, **({"batch": 3, "seed": 0} | options))


def as_lists(batches):
    return [
        (
            b.items.tolist(),
            *(b.anchor[v].tolist() for v in b.anchor),
            *(c.tolist() for c in b.contrast.values()),
        )
        for b in batches
    ]


def test_items_with_nothing_to_compare_are_counted():
    counts = [(1, 2, 1), (1, 0, 1), (0, 1, 0), (0, 2, 2)]
    assert sampler(counts).left_out == 1
    assert sampler(counts, pairs=((IMAGES, "en"), (IMAGES, "de"))).left_out == 2
    assert sampler(counts, pairs=(("en", "de"),)).left_out == 2
    assert sampler(counts, pairs=(("en", "de"),)).instances == 4


COUNTS = st.lists(st.tuples(*[st.integers(0, 4)] * 3), min_size=1, max_size=20)


@given(COUNTS, st.integers(1, 7), st.integers(0, 3), st.integers(0, 5), st.integers(0, 4))
def test_an_epoch(counts, batch, seed, epoch, contrastive):
    one = sampler(counts, batch=batch, seed=seed, contrastive=contrastive)
    draws = list(one.batches(epoch))
    assert len(draws) == one.steps()
    again = sampler(counts, batch=batch, seed=seed, contrastive=contrastive).batches(epoch)
    assert as_lists(draws) == as_lists(again)  # a pure function of seed and epoch
    sizes = [len(draw.items) for draw in draws]
    assert all(size == batch for size in sizes[:-1])
    dropped = one.instances - sum(sizes)
    assert dropped in (0, 1)
    assert dropped == 0 or one.instances % batch == 1
    for view, first in one.first.items():
        seen = np.concatenate([draw.anchor[view] for draw in draws] or [np.array([], int)])
        items = np.concatenate([draw.items for draw in draws] or [np.array([], int)])
        has = np.diff(first)[items] > 0
        assert (seen[~has] == -1).all()
        assert (np.searchsorted(first, seen[has], side="right") - 1 == items[has]).all()
        usable = np.diff(one.starts) > 0
        expected = [m for i in np.flatnonzero(usable) for m in range(first[i], first[i + 1])]
        assert len(set(expected) - set(seen.tolist())) <= dropped  # every one is used
        uses = np.bincount(seen[has], minlength=int(first[-1]))
        for i in np.flatnonzero(usable):
            of_item = uses[first[i] : first[i + 1]]
            assert not len(of_item) or np.ptp(of_item) <= 1 + dropped  # and as often as the others
    for draw in draws:
        for view, chosen in draw.contrast.items():
            assert len(set(chosen.tolist())) == len(chosen) == min(contrastive, int(one.first[view][-1]))
            assert ((chosen >= 0) & (chosen < one.first[view][-1])).all()


def test_epochs_and_seeds_differ():
    counts = [(1, 5, 3)] * 40
    base = as_lists(sampler(counts, contrastive=4).batches(0))
    assert base != as_lists(sampler(counts, contrastive=4).batches(1))
    assert base != as_lists(sampler(counts, contrastive=4, seed=1).batches(0))


def test_contrastive_members_of_each_instance():
    one = sampler([(1, 2, 2)] * 11, contrastive=10, batch=4, redraw="instance")
    for draw in one.batches(2):
        assert draw.owned
        for view, size in ((IMAGES, 10), ("en", 10), ("de", 10)):
            own = draw.contrast[view].reshape(len(draw.items), size)
            assert all(len(set(row)) == size for row in own.tolist())
            assert len({tuple(row) for row in own.tolist()}) == len(own)
    few = next(sampler([(1, 1, 1)] * 3, contrastive=10, redraw="instance").batches(0))
    assert np.sort(few.contrast["de"].reshape(3, -1)).tolist() == [[0, 1, 2]] * 3  # no more than there are
    assert not next(sampler([(1, 1, 1)] * 3, redraw="instance").batches(0)).owned  # the rest of the batch


@pytest.mark.parametrize("redraw", ["batch", "epoch", "instance"])
def test_contrastive_members_are_uniform(redraw):
    one = sampler([(1, 1, 1)] * 20, contrastive=5, batch=2, redraw=redraw)
    drawn = [draw.contrast["en"] for epoch in range(200) for draw in one.batches(epoch)]
    share = np.bincount(np.concatenate(drawn), minlength=20) / sum(map(len, drawn)) * 5
    # 5 standard errors of 2000 draws, and of the 200 that serve epochs
    assert share == pytest.approx(np.full(20, 0.25), abs=0.155 if redraw == "epoch" else 0.05)
