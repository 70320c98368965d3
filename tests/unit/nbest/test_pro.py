"""PRO: which pairs are learnt from, and that the regression is at its optimum."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest

from xlingual import DataWarning, InputError
from xlingual.nbest.bleu import counts, sentence_bleu_plus_one
from xlingual.nbest.pro import Pro, pro, sampled_pairs

WORDS = np.array(["ein", "haus", "und", "baum", "ist", "da"])


def drawn(sentences=20, size=6, features=3, seed=0):
    random = np.random.default_rng(seed)
    texts = [" ".join(random.choice(WORDS, 5)) for _ in range(sentences * size)]
    references = [[" ".join(random.choice(WORDS, 5)) for _ in range(sentences)]]
    of = counts(texts, np.repeat(np.arange(sentences), size), references)
    return random.normal(size=(len(texts), features)), of, np.arange(sentences + 1) * size


def test_the_pairs_that_differ_most_are_learnt_from():
    _, of, offsets = drawn()
    gain = sentence_bleu_plus_one(of)
    better, worse = sampled_pairs(gain, offsets, Pro(keep=4, threshold=0.05), 0)
    expected = []
    for begin, end in pairwise(offsets.tolist()):
        pairs = sorted(
            combinations(range(begin, end), 2), key=lambda pair: -abs(gain[pair[0]] - gain[pair[1]])
        )
        expected += [
            (i, j) if gain[i] > gain[j] else (j, i) for i, j in pairs[:4] if abs(gain[i] - gain[j]) >= 0.05
        ]
    assert list(zip(better.tolist(), worse.tolist(), strict=True)) == expected
    assert (gain[better] > gain[worse]).all()


def test_the_regression_is_at_its_optimum():
    features, of, offsets = drawn()
    settings = Pro(keep=5, l2=2.0)
    weights = pro(features, of, offsets, settings)
    better, worse = sampled_pairs(sentence_bleu_plus_one(of), offsets, settings, 0)
    difference = features[better] - features[worse]
    # loss: Σ log(1 + exp(−w·Δ)) over each pair and its mirror, + l2/2·‖w‖²; its gradient is 0 at the optimum
    gradient = -2 * (difference / (1 + np.exp(difference @ weights))[:, None]).sum(axis=0) + 2 * weights
    np.testing.assert_allclose(gradient, 0, atol=2e-2)
    assert np.abs(weights).max() > 0.01


def test_one_feature_decides():
    features, of, offsets = drawn()
    features[:, 1] = -3 * sentence_bleu_plus_one(of)
    weights = pro(features, of, offsets)
    assert weights[1] < 0 and abs(weights[1]) > 3 * np.abs(np.delete(weights, 1)).max()


def test_chance_has_a_part_only_where_a_list_has_more_pairs():
    features, of, offsets = drawn()
    assert not Pro().draws(offsets) and Pro(pairs=14).draws(offsets)
    assert pro(features, of, offsets, seed=0).tolist() == pro(features, of, offsets, seed=1).tolist()
    few = Pro(pairs=6)
    assert (
        pro(features, of, offsets, few, seed=0).tolist() == pro(features, of, offsets, few, seed=0).tolist()
    )
    assert (
        pro(features, of, offsets, few, seed=0).tolist() != pro(features, of, offsets, few, seed=1).tolist()
    )


def test_lists_without_a_difference_are_refused():
    features, of, offsets = drawn()
    with pytest.raises(InputError, match=r"no two hypotheses of a list differ by 0\.05 of sentence BLEU"):
        pro(features, np.zeros_like(of), offsets)


def test_settings_are_checked():
    with pytest.raises(InputError, match="1 pair or more"):
        Pro(pairs=0)
    with pytest.raises(InputError, match="l2 above 0"):
        Pro(l2=0)


def test_a_regression_that_does_not_converge_says_so(monkeypatch):
    from sklearn import linear_model
    from sklearn.linear_model import LogisticRegression

    monkeypatch.setattr(
        linear_model, "LogisticRegression", lambda **given: LogisticRegression(**{**given, "max_iter": 1})
    )
    with pytest.warns(DataWarning, match="did not converge.*--standardize"):
        pro(*drawn())
