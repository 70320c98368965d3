"""k-best MIRA, weight for weight against the algorithm as it was published."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xlingual import InputError
from xlingual.nbest.mira import Mira, first_best, mira
from xlingual.streams import stream

slow = SimpleNamespace(**run_path(str(Path(__file__).with_name("slow_mira.py"))))


def drawn(seed, sentences=30, largest=8, features=5, *, kinds=None):
    """Return features, counts and offsets of lists of 1 to `largest` hypotheses.

    `kinds`: hypotheses are drawn from so many for each sentence, so that there are duplicates and ties.
    """
    random = np.random.default_rng(seed)
    sizes = random.integers(1, largest + 1, sentences)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    all_features, all_counts = [], []
    for size in sizes:
        number = kinds or size
        values = random.normal(size=(number, features)) * 3
        length = random.integers(1, 12, number)
        totals = np.maximum(length[:, None] - np.arange(4), 0)
        matches = np.sort(random.integers(0, totals + 1), axis=1)[:, ::-1]
        one = np.column_stack([np.minimum(matches, totals), totals, length, np.full(number, 8)])
        chosen = random.integers(0, number, size) if kinds else np.arange(size)
        all_features.append(values[chosen])
        all_counts.append(one[chosen])
    return np.concatenate(all_features), np.concatenate(all_counts), offsets


def as_lists(features, of, offsets):
    return [(features[begin:end].tolist(), of[begin:end].tolist()) for begin, end in pairwise(offsets)]


def check(data, seed=0, **options):
    chosen = Mira(epochs=6, **options)
    found = mira(*data, chosen, seed=seed)
    random, order, orders = stream(seed, "mira order"), np.arange(len(data[2]) - 1), []
    for _ in range(6):
        random.shuffle(order)
        orders.append(order.tolist())
    weights, bleu, epoch, history = slow.mira(as_lists(*data), orders, C=chosen.C, decay=chosen.decay)
    np.testing.assert_allclose(found.weights, weights, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.history, history, rtol=1e-9)
    assert found.bleu == pytest.approx(bleu, rel=1e-9) and found.epoch == epoch
    assert found.bleu == max(found.history) and found.epoch == found.history.index(found.bleu) + 1
    return found


@pytest.mark.parametrize("options", [{}, {"C": 10.0}, {"C": 1e-5}, {"decay": 0.5}, {"decay": 1.0}])
@pytest.mark.parametrize("seed", range(3))
def test_weight_for_weight(seed, options):
    assert np.abs(check(drawn(seed), seed, **options).weights).max() > 0


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.integers(1, 3), st.integers(1, 12))
def test_weight_for_weight_with_ties_and_duplicates(seed, kinds, features):
    check(drawn(seed, sentences=8, features=features, kinds=kinds), seed)


def test_duplicates_of_hypotheses_do_not_change_the_weights():
    features, of, offsets = drawn(3)
    twice = mira(np.repeat(features, 2, axis=0), np.repeat(of, 2, axis=0), offsets * 2, Mira(epochs=4))
    once = mira(features, of, offsets, Mira(epochs=4))
    assert twice.weights.tolist() == once.weights.tolist() and twice.bleu == once.bleu


def test_the_first_index_wins_ties():
    # two hypotheses of equal counts: with weights of 0 hope is the first of them
    of = np.array(
        [[5, 4, 3, 2, 5, 4, 3, 2, 5, 5], [5, 4, 3, 2, 5, 4, 3, 2, 5, 5], [1, 0, 0, 0, 5, 4, 3, 2, 5, 5]]
    )
    features = np.array([[1.0, 0], [0, 1.0], [0, 0]])
    found = mira(features, of, np.array([0, 3]), Mira(epochs=1))
    assert found.weights[0] > 0 == found.weights[1]
    assert mira(features[[1, 0, 2]], of, np.array([0, 3]), Mira(epochs=1)).weights[1] > 0
    assert first_best(np.array([0.0, 2, 2, 1]), np.array([0, 3, 4])).tolist() == [1, 3]


def test_a_seed_is_an_order():
    data = drawn(7)
    assert mira(*data, seed=1).weights.tolist() == mira(*data, seed=1).weights.tolist()
    assert mira(*data, seed=1).weights.tolist() != mira(*data, seed=2).weights.tolist()


@pytest.mark.parametrize("options", [{"C": 0}, {"C": float("nan")}, {"decay": 1.1}, {"epochs": 0}])
def test_settings_are_checked(options):
    with pytest.raises(InputError, match=next(iter(options))):
        Mira(**options)
