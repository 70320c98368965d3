"""How hard scenes are: encoders must differ, the measures must tell them apart, and nothing may saturate."""

from urllib.parse import quote

import pytest

from xlingual.data.manifest import Manifest
from xlingual.demo_data.scenes import write_scenes
from xlingual.evaluation.backretrieval import backretrieval
from xlingual.evaluation.crosslingual_retrieval import crosslingual_retrieval

PAIRS = "en-de,ja-en"
ORDER = ["random", "chargram", "lsa-25", "lsa-100", "lsa-1000"]  # from the worst to the best


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    path = write_scenes(
        tmp_path_factory.mktemp("scenes"), n=2000, languages=["en", "de", "es", "ja", "ar"], seed=0
    )
    test = Manifest.read(path, split="test")
    fit = f"fit={quote(str(path), safe='/')}%23train"
    encoders = ["random:?dim=64", f"chargram:?{fit}"]
    encoders += [f"lsa-{pairs}=lsa:?pairs={pairs}&{fit}" for pairs in (25, 100, 1000)]
    truth = crosslingual_retrieval(test, text_encoders=encoders, pairs=PAIRS)
    back = backretrieval(test, text_encoders=encoders, image_encoder="pixels", pairs=PAIRS, examples=False)
    return {task: _by_encoder(results) for task, results in (("xlr", truth), ("bkr", back))}


def _by_encoder(results):
    rows = {}
    for entry in results.entries:
        if entry.measure == "R@10":
            rows.setdefault(entry.encoder, []).append(entry)
    assert {len(entries) for entries in rows.values()} == {2}
    return rows


def _mean(entries, name="value"):
    return sum(getattr(entry, name) for entry in entries) / len(entries)


def _normalized(entries):
    value, chance, oracle = (_mean(entries, name) for name in ("value", "chance", "oracle"))
    return (value - chance) / (oracle - chance)


@pytest.mark.slow
def test_truth_spans_a_wide_range_and_does_not_saturate(found):
    truth = {encoder: _mean(entries) for encoder, entries in found["xlr"].items()}
    assert truth["random"] < 0.02  # chance is 0.01
    assert 0.6 <= truth["lsa-1000"] < 0.95
    assert truth["lsa-1000"] - truth["random"] >= 0.5


@pytest.mark.slow
def test_backretrieval_tells_good_encoders_from_bad_ones(found):
    assert 0.5 <= _mean(found["bkr"]["random"], "oracle") <= 0.95
    normalized = {encoder: _normalized(entries) for encoder, entries in found["bkr"].items()}
    assert 0.2 <= normalized["lsa-1000"] <= 0.5
    assert normalized["lsa-25"] + 0.05 < normalized["lsa-100"] < normalized["lsa-1000"] - 0.05
    assert abs(normalized["random"]) < 0.03
    assert abs(normalized["chargram"]) < 0.05


@pytest.mark.slow
def test_backretrieval_and_truth_order_the_encoders_alike(found):
    for task in ("xlr", "bkr"):
        good = [encoder for encoder in ORDER if encoder != "chargram"]  # spelling alone is near chance
        assert sorted(good, key=lambda encoder: _mean(found[task][encoder])) == good
        assert _mean(found[task]["chargram"]) < _mean(found[task]["lsa-25"])
