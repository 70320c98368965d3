"""Choices on held-out sentences, the paired bootstrap, and what features gain."""

from __future__ import annotations

import numpy as np
import pytest

from xlingual import InputError
from xlingual.nbest.ablation import ablate, paired_bootstrap
from xlingual.nbest.bleu import corpus_bleu, list_counts, sentence_bleu
from xlingual.nbest.lists import NBestLists
from xlingual.nbest.mira import Mira, mira
from xlingual.nbest.tune import cross_validated, divisions

WORDS = np.array(["ein", "das", "haus", "und", "baum", "ist"])
FAST = Mira(epochs=2)


def made(seed=0, sentences=25):
    """Return lists of 1 to 5 hypotheses; "sim" follows their BLEU, "d" is noise."""
    random = np.random.default_rng(seed)
    references = [" ".join(random.choice(WORDS, 6)) for _ in range(sentences)]
    sizes = random.integers(1, 6, sentences)
    texts = [
        " ".join(np.where(random.random(6) < 0.4, random.choice(WORDS, 6), reference.split()))
        for reference, size in zip(references, sizes, strict=True)
        for _ in range(size)
    ]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    lists = NBestLists(texts, random.normal(size=(len(texts), 1)), np.zeros(len(texts)), offsets, (("d", 1),))
    gain = sentence_bleu(list_counts(lists, [references]))
    return lists.with_features({"sim": gain / 30 + 0.1 * random.normal(size=len(texts))}), [references]


def test_some_of_the_lists():
    lists, _ = made()
    chosen = np.array([7, 0, 24])
    taken = lists.take(chosen)
    expected = [range(lists.offsets[i], lists.offsets[i + 1]) for i in chosen]
    rows = [row for part in expected for row in part]
    assert lists.rows_of(chosen).tolist() == rows
    assert taken.hypotheses == [lists.hypotheses[row] for row in rows]
    np.testing.assert_array_equal(taken.features, lists.features[rows])
    assert taken.sizes.tolist() == [len(part) for part in expected]


def test_folds_hold_every_sentence_once():
    parts = list(divisions(25, 4, 3))
    assert sorted(np.concatenate([held_out for held_out, _ in parts]).tolist()) == list(range(25))
    for held_out, others in parts:
        assert sorted([*held_out, *others]) == list(range(25)) and 6 <= len(held_out) <= 7
    assert [p[0].tolist() for p in divisions(25, 4, 4)] != [p[0].tolist() for p in parts]


def test_each_sentence_is_chosen_for_by_the_other_folds():
    lists, references = made()
    of = list_counts(lists, references)
    rows = cross_validated(lists, of, FAST, folds=5, seed=1, run=2, standardize=False)
    for held_out, others in divisions(len(lists), 5, 1):
        known = np.concatenate([np.arange(lists.offsets[i], lists.offsets[i + 1]) for i in others])
        offsets = np.concatenate([[0], np.cumsum(lists.sizes[others])])
        weights = mira(lists.features[known], of[known], offsets, FAST, seed=2).weights
        for i in held_out:
            scores = lists.features[lists.offsets[i] : lists.offsets[i + 1]] @ weights
            assert rows[i] == lists.offsets[i] + int(np.argmax(scores))


def test_the_paired_bootstrap_by_loops():
    lists, references = made(1)
    of = list_counts(lists, references)
    first, second = of[lists.offsets[1:] - 1][None], of[lists.offsets[:-1]][None]
    found = paired_bootstrap(first, second, samples=400, seed=5)
    assert found.value == pytest.approx(
        float(corpus_bleu(first[0].sum(axis=0)) - corpus_bleu(second[0].sum(axis=0)))
    )
    random = np.random.default_rng(0)
    drawn = []
    for _ in range(2000):
        rows = random.integers(0, len(lists), len(lists))
        drawn.append(
            float(corpus_bleu(first[0, rows].sum(axis=0)) - corpus_bleu(second[0, rows].sum(axis=0)))
        )
    low, high = np.quantile(drawn, [0.025, 0.975])
    assert found.ci.low == pytest.approx(low, abs=0.15 * (high - low))
    assert found.ci.high == pytest.approx(high, abs=0.15 * (high - low))
    share = np.mean(np.abs(np.array(drawn) - np.mean(drawn)) >= abs(found.value))
    assert found.p == pytest.approx(share, abs=0.08)


def test_two_equal_choices_do_not_differ():
    lists, references = made(2)
    of = list_counts(lists, references)[lists.offsets[:-1]][None]
    found = paired_bootstrap(of, of)
    assert (found.value, found.ci.low, found.ci.high, found.p) == (0, 0, 0, 1)


def test_the_feature_that_helps_is_distinguished_from_noise():
    lists, references = made(3, sentences=80)
    found = ablate(lists, references, FAST, folds=4, tunings=2)
    assert [row.without for row in found.rows] == [["d"], ["sim"]]
    noise, sim = (row.gain for row in found.rows)
    assert sim.value > 5 and sim.ci.low > 0 and sim.p < 0.01
    assert noise.ci.low < 0.5 < sim.ci.low
    assert found.bleu.n == 2 and found.judged == "4-fold cross-validation"
    assert found.bounds.random.mean < found.bleu.mean < found.bounds.oracle


def test_other_lists_are_judged_on():
    lists, references = made(4, sentences=60)
    other = made(5, sentences=40)
    found = ablate(lists, references, FAST, other=other, without=[["sim"]], tunings=1)
    of = list_counts(*other)
    weights = mira(lists.features, list_counts(lists, references), lists.offsets, FAST).weights
    scores = other[0].features @ weights
    rows = [
        a + int(np.argmax(scores[a:b])) for a, b in zip(other[0].offsets, other[0].offsets[1:], strict=False)
    ]
    assert found.bleu.mean == pytest.approx(float(corpus_bleu(of[rows].sum(axis=0))))
    with pytest.raises(InputError, match="have other features"):
        ablate(lists, references, FAST, other=(other[0].keep_features(["sim"]), other[1]))
