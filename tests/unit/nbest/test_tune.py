"""Tuning, weights as a file, applying them, and the bounds of lists."""

from __future__ import annotations

import json

import numpy as np
import pytest

from xlingual import DataWarning, InputError
from xlingual.nbest.bleu import corpus_bleu, list_counts, sentence_bleu
from xlingual.nbest.lists import NBestLists
from xlingual.nbest.mira import Mira
from xlingual.nbest.tune import Weights, choices_without_weights, random_choices, tune

pytest.importorskip("sacrebleu")

WORDS = np.array(["ein", "das", "haus", "und", "baum", "ist", "da", "."])
SENTENCES, SIZE = 40, 6
FAST = Mira(epochs=5)


def made(seed=0, features=3, sentences=SENTENCES):
    """Return lists whose feature "good" follows their BLEU, and references."""
    random = np.random.default_rng(seed)
    references = [" ".join(random.choice(WORDS, 8)) for _ in range(sentences)]
    texts = []
    for reference in references:
        for _ in range(SIZE):
            words = np.array(reference.split())
            wrong = random.random(8) < random.random()
            words[wrong] = random.choice(WORDS, wrong.sum())
            texts.append(" ".join(words))
    offsets = np.arange(sentences + 1) * SIZE
    lists = NBestLists(
        texts,
        random.normal(size=(len(texts), features)),
        random.normal(size=len(texts)),
        offsets,
        (("d", 1), ("tm", features - 1)),
    )
    good = sentence_bleu(list_counts(lists, [references])) / 20 + random.normal(size=len(texts)) * 0.5
    return lists.with_features({"good": good}), [references]


def test_a_tuning_gains_and_lies_between_the_bounds():
    lists, references = made()
    found = tune(lists, references, FAST)
    assert found.features == ["d", "tm[0]", "tm[1]", "good"]
    assert [one.seed for one in found.tunings] == [0, 1, 2] and found.bleu.n == 3
    bounds = found.bounds
    assert bounds.anti_oracle < bounds.random.mean < found.bleu.mean < bounds.oracle
    assert bounds.decoder < found.bleu.mean
    assert found.tunings[0].weights[3] == max(found.tunings[0].weights)
    of = list_counts(lists, references)
    for number, one in enumerate(found.tunings):  # what is reported is what applying gives
        assert one.bleu == pytest.approx(float(corpus_bleu(of[found.choose(lists, number)].sum(axis=0))))


def test_bounds_by_loops():
    lists, references = made(1)
    of = list_counts(lists, references)
    gain, choices = sentence_bleu(of), choices_without_weights(lists, of)
    for number, begin in enumerate(lists.offsets[:-1]):
        rows = range(begin, begin + SIZE)
        assert choices["oracle"][number] == max(rows, key=lambda row: gain[row])
        assert choices["anti-oracle"][number] == min(rows, key=lambda row: gain[row])
        assert choices["decoder's choice"][number] == max(rows, key=lambda row: lists.scores[row])
    drawn = random_choices(lists.offsets, 2000, 0)
    assert ((drawn >= lists.offsets[:-1]) & (drawn < lists.offsets[1:])).all()
    shares = np.bincount(drawn.ravel()) / 2000
    assert len(shares) == len(gain) and np.abs(shares - 1 / SIZE).max() < 0.05


def test_scales_of_features_do_not_matter_when_standardised():
    lists, references = made(2)
    factors = np.array([1024.0, 2.0**-20, 1.0, 8.0])  # powers of two: exactly the same numbers within
    scaled = NBestLists(lists.hypotheses, lists.features * factors, lists.scores, lists.offsets, lists.groups)
    one, other = (tune(which, references, FAST, standardize=True) for which in (lists, scaled))
    assert one.tunings == other.tunings
    np.testing.assert_array_equal(np.array(one.scale) * factors, other.scale)
    assert one.choose(lists).tolist() == other.choose(scaled).tolist()
    assert tune(scaled, references, FAST).tunings != one.tunings


@pytest.mark.parametrize("standardize", [True, False])
def test_features_that_never_differ_are_reported_and_get_no_weight(standardize):
    lists, references = made(4)
    lists = lists.with_features({"length": lists.sentence * 0.1, "one": np.ones(len(lists.hypotheses))})
    with pytest.warns(DataWarning, match="length, one has one value"):
        found = tune(lists, references, FAST, standardize=standardize)
    assert found.tunings[0].weights[4:] == [0, 0] and found.scale[4:] == [1, 1]
    assert "length" in found.warnings[0]


def test_weights_come_back_from_their_file(tmp_path):
    lists, references = made(7)
    found = tune(lists, references, FAST, standardize=True, lowercase=True, seed=4)
    found.write(tmp_path / "w.json")
    assert Weights.read(tmp_path / "w.json") == found
    content = json.loads((tmp_path / "w.json").read_text())
    assert content["schema"] == "xlingual/rerank-weights/1"
    assert content["weights"] == dict(zip(found.features, found.tunings[0].weights, strict=True))
    assert content["settings"]["bleu"] == "nrefs:1|case:lc|tok:none|smooth:exp"
    assert content["settings"]["C"] == 0.01 and content["settings"]["standardize"] is True
    assert [one["seed"] for one in content["tunings"]] == [4, 5, 6]


@pytest.mark.parametrize(
    "change", [{"schema": "xlingual/plan/1"}, {"tunings": []}, {"scale": [0.0, 1, 1, 1]}]
)
def test_damaged_weights_are_refused(tmp_path, change):
    (tmp_path / "w.json").write_text(json.dumps(tune(*made(8), FAST).to_dict() | change))
    with pytest.raises(InputError):
        Weights.read(tmp_path / "w.json")


def test_cross_validation_is_beside_the_tunings(tmp_path):
    lists, references = made(11)
    found = tune(lists, references, FAST, folds=4)
    assert found.cross_validated.n == 3 and found.cross_validated.mean < found.bounds.oracle
    assert found.cross_validated.mean > found.bounds.random.mean
    assert found.tunings == tune(lists, references, FAST).tunings
    found.write(tmp_path / "w.json")
    assert Weights.read(tmp_path / "w.json") == found


def test_features_too_large_to_compute_with_are_refused():
    lists, references = made(12)
    large = lists.with_features({"large": np.arange(len(lists.hypotheses)) * 1e200})
    with pytest.raises(InputError, match=r"feature 'large' has values up to 2\.39e\+202, too large"):
        tune(large, references, FAST)
    assert tune(large, references, FAST, standardize=True).tunings
    weights = tune(lists, references, FAST)
    weights.tunings[0].weights[0] = 1e308
    with pytest.raises(InputError, match="too large to be added up"):
        weights.choose(lists)
    with pytest.raises(InputError, match="for other features"):
        weights.choose(large)
