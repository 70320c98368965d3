"""Results for MTEB and for model cards."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from xlingual import Manifest, backretrieval, image_sentence, multilingual_pool, write_scenes
from xlingual.data.languages import language_code
from xlingual.data.pools.mix import mix_pool
from xlingual.errors import InputError
from xlingual.integrations.exports import (
    metric_name,
    model_index,
    mteb_results,
    parts_of,
    write_mteb_results,
)


@pytest.fixture(scope="module")
def manifest(tmp_path_factory):
    path = write_scenes(tmp_path_factory.mktemp("scenes") / "data", n=40, languages=["en", "de"], seed=3)
    return Manifest.read(path)


@pytest.fixture(scope="module")
def results(manifest):
    return backretrieval(
        manifest,
        text_encoders={"one": "chargram", "two": "random:?dim=8"},
        image_encoder="pixels",
        measures=["RR", "R@10"],
        store=None,
    )


@pytest.fixture(scope="module")
def folder(results, tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    results.write(folder)
    return folder


def value(results, encoder, measure, source=None, target=None):
    (found,) = (
        line
        for line in results.summary
        if (line.encoder, line.measure, line.source, line.target) == (encoder, measure, source, target)
    )
    return found


def test_names_of_measures_and_languages_are_those_of_mteb():
    assert [metric_name(name) for name in ("RR@10", "P@5", "Success@1%", "MedR/floor", "WeakAlignment")] == [
        *("mrr_at_10", "precision_at_5", "hit_rate_at_1_percent", "median_rank_floor", "weak_alignment")
    ]
    tags = {"en": "eng-Latn", "zh": "zho-Hans", "sr-latn": "srp-Latn", "arz": "arz-Arab", "tlh": "tlh-Zyyy"}
    assert {tag: language_code(tag) for tag in tags} == tags


def test_mteb_has_a_subset_for_each_pair(results):
    found = mteb_results(results, "two", name="shop")
    assert list(found) == ["Backretrieval-shop"]
    scores = found["Backretrieval-shop"]["scores"]["test"]
    assert [one["hf_subset"] for one in scores] == ["en-de", "de-en"]
    line = value(results, "two", "RR", "de", "en")
    assert scores[1]["main_score"] == scores[1]["mrr"] == line.value
    assert (scores[1]["mrr_low"], scores[1]["mrr_high"]) == (line.ci.low, line.ci.high)
    assert scores[1]["languages"] == ["deu-Latn", "eng-Latn"]
    assert found["Backretrieval-shop"]["dataset_revision"] in results.entries[0].signature


def test_a_pool_and_images_with_texts_have_other_subsets(manifest):
    pool = multilingual_pool(mix_pool(manifest), text_encoders="chargram", store=None, views=False, name="a")
    (found,) = mteb_results(pool).values()
    (scores,) = found["scores"]["test"]
    assert scores["hf_subset"] == "default" and scores["languages"] == ["eng-Latn", "deu-Latn"]
    assert [part.pair for part in parts_of(pool, "chargram")] == ["", "en", "de"]
    own = SimpleNamespace(
        encode=lambda batch: np.random.default_rng(len(batch)).normal(size=(len(batch), 8)), space="own"
    )
    both = image_sentence(manifest, text_encoders={"r": own}, image_encoders=own, store=None)
    pairs = [one["hf_subset"] for one in next(iter(mteb_results(both).values()))["scores"]["test"]]
    assert len(pairs) == len(set(pairs)) and {"en-image", "image-en"} <= set(pairs)


def test_one_encoder_is_named(results, tmp_path):
    with pytest.raises(InputError, match=r"2 encoders \(one, two\): name one"):
        mteb_results(results)
    with pytest.raises(InputError, match="no encoder 'tow'"):
        model_index(results, "tow")
    (path,) = write_mteb_results(results, tmp_path, "one", model="org/one")
    assert path.parent == tmp_path / "org__one" / "no_revision_available"
    assert json.loads(path.read_text())["task_name"] == path.stem


def test_a_model_card_has_the_numbers_and_their_intervals(results, tmp_path):
    cards = pytest.importorskip("huggingface_hub")
    index = model_index(replace(results, request={**results.request, "split": "dev"}), "one", name="shop")
    path = tmp_path / "README.md"
    path.write_text("---\nlicense: mit\n---\ntext\n", encoding="utf-8")
    cards.metadata_save(path, cards.metadata_load(path) | {"model-index": index})
    card = cards.ModelCard.load(path)
    assert card.data.model_name == "one" and card.data.license == "mit" and card.text.strip() == "text"
    found = {(one.dataset_config, one.metric_type): one for one in card.data.eval_results if one.metric_name}
    line = value(results, "one", "R@10")
    assert found[None, "recall_at_10"].metric_value == line.value
    assert found[None, "recall_at_10"].dataset_split == "dev"
    name = f"BkR R@10 (95% interval {line.ci.low:.3f} to {line.ci.high:.3f})"
    assert found[None, "recall_at_10"].metric_name == name
    assert {config for config, _ in found} == {None, "en-de", "de-en"}
