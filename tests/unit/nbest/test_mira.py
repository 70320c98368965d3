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
from xlingual.nbest.bleu import corpus_bleu
from xlingual.nbest.choice import first_best, model_scores
from xlingual.nbest.mira import BACKGROUNDS, Mira, mira
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


def orders(sentences, epochs, seed):
    random, order = stream(seed, "mira order"), np.arange(sentences)
    for _ in range(epochs):
        random.shuffle(order)
        yield order.tolist()


def check(data, seed=0, **given):
    chosen = Mira(epochs=6, **given)
    found = mira(*data, chosen, seed=seed)
    sentences = len(data[2]) - 1
    passed = orders(sentences, 6, seed) if chosen.shuffle else [range(sentences)] * 6
    weights, bleu, epoch, history = slow.mira(
        as_lists(*data),
        passed,
        BACKGROUNDS[chosen.background],
        C=chosen.C,
        decay=chosen.decay,
        average=chosen.average,
    )
    np.testing.assert_allclose(found.weights, weights, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.history, history, rtol=1e-9)
    assert found.bleu == pytest.approx(bleu, rel=1e-9) and found.epoch == epoch
    return found


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("shuffle", [True, False])
def test_weight_for_weight(seed, shuffle):
    found = check(drawn(seed), seed, shuffle=shuffle)
    assert np.abs(found.weights).max() > 0 and sum(found.updates) > 10


@pytest.mark.parametrize(
    "given",
    [
        {"background": "paper"},
        {"average": "updates"},
        {"C": 10.0},
        {"C": 1e-5},
        {"decay": 0.5},
        {"decay": 1.0},
    ],
)
def test_weight_for_weight_with_other_settings(given):
    check(drawn(11), **given)


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.integers(1, 3), st.integers(1, 12))
def test_weight_for_weight_with_ties_and_duplicates(seed, kinds, features):
    check(drawn(seed, sentences=8, features=features, kinds=kinds), seed)


def test_duplicates_of_hypotheses_do_not_change_the_weights():
    features, of, offsets = drawn(3)
    twice = mira(np.repeat(features, 2, axis=0), np.repeat(of, 2, axis=0), offsets * 2, Mira(epochs=4))
    once = mira(features, of, offsets, Mira(epochs=4))
    assert twice.weights.tolist() == once.weights.tolist() and twice.bleu == once.bleu


def test_the_order_within_lists_does_not_matter_without_ties():
    features, of, offsets = drawn(4, largest=6)
    of[:, 9] = 8 + np.arange(len(of)) % 6  # other reference lengths: no two of a list gain the same
    random = np.random.default_rng(0)
    moved = np.concatenate([random.permutation(np.arange(a, b)) for a, b in pairwise(offsets)])
    assert moved.tolist() != list(range(len(moved)))
    found = mira(features[moved], of[moved], offsets, Mira(epochs=5))
    assert found.weights.tolist() == mira(features, of, offsets, Mira(epochs=5)).weights.tolist()


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


def test_one_feature_decides():
    random = np.random.default_rng(5)
    n, size = 40, 6
    _, of, _ = drawn(5, n * size, 1)
    of[:, 9] = of[:, 8]
    offsets = np.arange(n + 1) * size
    quality = of[:, 0] / of[:, 4]
    features = random.normal(size=(n * size, 4))
    features[:, 2] = -5 * quality  # the smaller the better
    found = mira(features, of, offsets)
    assert found.weights[2] < 0
    assert np.abs(found.weights[2]) > 3 * np.abs(np.delete(found.weights, 2)).max()
    tuned = first_best(model_scores(features.T, found.weights), offsets)
    assert found.bleu == pytest.approx(corpus_bleu(of[tuned].sum(axis=0), smooth=False))
    assert (quality[tuned] > quality[offsets[:-1]]).mean() > 0.5


def test_single_precision_follows_double():
    data = drawn(6, sentences=40)
    single = mira(*data, Mira(epochs=2, precision="float32"))
    double = mira(*data, Mira(epochs=2))
    np.testing.assert_allclose(single.weights, double.weights, rtol=1e-3, atol=1e-5)
    assert single.weights.tolist() != double.weights.tolist()
    assert single.weights.astype(np.float32).astype(np.float64).tolist() == single.weights.tolist()


def test_a_seed_is_an_order_and_shuffling_can_be_left_out():
    data = drawn(7)
    assert mira(*data, seed=1).weights.tolist() == mira(*data, seed=1).weights.tolist()
    assert mira(*data, seed=1).weights.tolist() != mira(*data, seed=2).weights.tolist()
    fixed = Mira(shuffle=False)
    assert mira(*data, fixed, seed=1).weights.tolist() == mira(*data, fixed, seed=2).weights.tolist()


def test_the_best_epoch_is_kept_and_the_first_of_equal_ones():
    found = mira(*drawn(8, sentences=60), Mira(epochs=15, C=0.5))
    assert found.bleu == max(found.history)
    assert found.epoch == found.history.index(found.bleu) + 1


def test_start_weights_and_lists_that_teach_nothing():
    features, of, _ = drawn(9)
    alone = np.arange(len(features) + 1)  # lists of one hypothesis
    found = mira(features, of, alone, Mira(epochs=2))
    assert found.weights.tolist() == [0] * 5 and found.updates == (0, 0) and found.epoch == 1
    start = np.arange(5.0)
    assert mira(features, of, alone, Mira(epochs=2), start=start).weights.tolist() == start.tolist()
    equal = np.zeros_like(features)  # hope and fear of equal features: no step can help
    assert mira(equal, of, drawn(9)[2], Mira(epochs=2)).weights.tolist() == [0] * 5


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"C": 0}, "C, the largest step of MIRA, must be above 0"),
        ({"C": float("nan")}, "C, the largest step"),
        ({"decay": 1.1}, "decay must be above 0 and at most 1"),
        ({"epochs": 0}, "epochs must be 1 or more"),
        ({"background": "zeros"}, "background must be ones or paper: found 'zeros'"),
        ({"precision": "float16"}, "precision must be float64 or float32"),
    ],
)
def test_settings_are_checked(given, words):
    with pytest.raises(InputError, match=words):
        Mira(**given)
