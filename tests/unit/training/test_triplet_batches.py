"""What every batch of an epoch keeps to."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch")

from xlingual.training.recipes.triplet import TripletBatches

items = st.lists(st.integers(0, 12), min_size=2, max_size=60).map(np.array)


@given(items, st.integers(2, 20), st.integers(0, 9), st.integers(1, 5))
def test_each_text_comes_once_and_no_negative_is_of_its_own_item(item, size, seed, epoch):
    sampler = TripletBatches(item, size, seed)
    batches = list(sampler.batches(epoch))
    assert len(batches) == sampler.steps()
    rows = np.concatenate([part for part, _ in batches])
    assert len(np.unique(rows)) == len(rows)
    assert len(rows) == len(item) - (len(item) % size == 1)
    for part, negative in batches:
        assert len(part) <= size and (negative < len(part)).all()
        own = item[part]
        for place, other in enumerate(negative.tolist()):
            if other < 0:
                assert (own == own[place]).all()
            else:
                assert own[other] != own[place]


def test_epochs_differ_and_negatives_are_uniform():
    sampler = TripletBatches(np.arange(4), 4, 0)
    counts = np.zeros((4, 4))
    for epoch in range(1, 1501):
        ((rows, negative),) = sampler.batches(epoch)
        counts[rows, rows[negative]] += 1
    assert not counts.diagonal().any()
    assert np.abs(counts[~np.eye(4, dtype=bool)] - 500).max() < 5 * np.sqrt(1500 / 3 * 2 / 3)
