"""Tasks of MTEB made of pools and manifests, and results as MTEB's own files, with the real library."""

import json
import random

import pytest

mteb = pytest.importorskip("mteb")
sentence_transformers = pytest.importorskip("sentence_transformers")

from mteb.cache import ResultCache  # noqa: E402
from mteb.results import TaskResult  # noqa: E402

from xlingual import (  # noqa: E402
    Manifest,
    backretrieval,
    crosslingual_retrieval,
    multilingual_pool,
    write_scenes,
)
from xlingual.data.pools.mix import mix_pool  # noqa: E402
from xlingual.integrations.exports import mteb_results, write_mteb_results  # noqa: E402
from xlingual.integrations.mteb import mteb_task  # noqa: E402


class Plain:
    """The model as MTEB calls it."""

    identity = "plain"
    by_role = True

    def __init__(self, model):
        self.model = model

    def encode(self, texts):
        kind = {"query": self.model.encode_query, "candidate": self.model.encode_document}
        return kind.get(texts.role, self.model.encode)(list(texts.text))


@pytest.fixture(scope="module")
def models(checkpoints):
    """Give a model without prompts, and one with prompts of queries and documents."""
    return {
        kind: sentence_transformers.SentenceTransformer(str(checkpoints(kind)), device="cpu")
        for kind in ("sentence_plain", "sentence_bert")
    }


@pytest.fixture(scope="module")
def manifest(tmp_path_factory):
    path = write_scenes(
        tmp_path_factory.mktemp("scenes") / "data", n=60, languages=["en", "de", "es"], seed=3
    )
    return Manifest.read(path)


@pytest.fixture(scope="module")
def distinct():
    """Give texts that are all different, so that nothing ties."""
    draw = random.Random(4)
    words = ["lamp", "red", "chair", "table", "water", "glass", "blue", "green", "small", "tall"]
    rows = [
        {"id": f"{i}", "lang": tag, "text": f"{tag} {i} {' '.join(draw.choices(words, k=6))}", "item": i}
        for i in range(60)
        for tag in ("en", "de", "es")
    ]
    return Manifest.of(rows)


def scores(model, task):
    found = mteb.evaluate(model, task, cache=None, show_progress_bar=False)
    return {one["hf_subset"]: one for one in found[0].scores["test"]}


@pytest.mark.parametrize("kind", ["sentence_plain", "sentence_bert"])
def test_a_pool_has_the_same_numbers_in_mteb(models, kind, distinct, tmp_path):
    model = models[kind]
    pool = mix_pool(distinct)
    results = multilingual_pool(
        pool,
        text_encoders={"m": Plain(model)},
        measures=["AP", "Success@10", "R@10", "RR@10", "nDCG@10"],
        store=None,
    )
    own = {line.measure: line.value for line in results.summary if line.source is None}
    assert all(entry.n_tied == 0 for entry in results.entries)
    found = scores(model, mteb_task(pool.write(tmp_path / "pool")))["default"]
    for theirs, ours in (
        ("map_at_1000", "AP"),
        ("hit_rate_at_10", "Success@10"),
        ("recall_at_10", "R@10"),
        ("mrr_at_10", "RR@10"),
        ("ndcg_at_10", "nDCG@10"),
    ):
        assert found[theirs] == pytest.approx(own[ours], abs=1e-6)
    assert found["main_score"] == found["map_at_1000"] and 0.01 < own["AP"] < 0.99
    assert found["languages"] == ["eng-Latn", "deu-Latn", "spa-Latn"]


def test_a_manifest_has_a_subset_for_each_pair(models, distinct):
    model = models["sentence_plain"]
    task = mteb_task(distinct, "Scenes", pairs="en-de,es-en", sample=40, seed=2)
    assert task.metadata.name == "Scenes" and task.metadata.main_score == "hit_rate_at_10"
    found = scores(model, task)
    results = crosslingual_retrieval(
        distinct,
        text_encoders={"m": Plain(model)},
        pairs="en-de,es-en",
        sample=40,
        seed=2,
        measures=["R@10", "RR@10"],
        store=None,
    )
    for entry in results.entries:
        theirs = {"R@10": "hit_rate_at_10", "RR@10": "mrr_at_10"}[entry.measure]
        assert found[f"{entry.source}-{entry.target}"][theirs] == pytest.approx(entry.value, abs=1e-6)
    assert found["es-en"]["languages"] == ["spa-Latn", "eng-Latn"]


def test_results_are_read_by_mteb(manifest, tmp_path):
    results = backretrieval(
        manifest, text_encoders=["chargram", "random:?dim=8"], image_encoder="pixels", store=None
    )
    named = {"model": "org/chargram", "name": "scenes"}
    (path,) = write_mteb_results(results, tmp_path / "results", "chargram", **named)
    folder = tmp_path / "results" / "org__chargram" / "no_revision_available"
    assert path == folder / "Backretrieval-scenes.json"
    read = TaskResult.from_disk(path)
    assert read.task_name == "Backretrieval-scenes" and read.date is not None
    own = {
        (s.source, s.target): s.value
        for s in results.summary
        if (s.encoder, s.measure) == ("chargram", "R@10")
    }
    assert read.get_score() == pytest.approx(own[None, None], abs=1e-12)
    assert read.get_score(languages=["deu-Latn"]) == pytest.approx(
        sum(value for pair, value in own.items() if "de" in pair) / 4, abs=1e-12
    )
    assert sorted(read.languages) == ["deu", "eng", "spa"]
    read.to_disk(tmp_path / "again.json")
    again = TaskResult.from_disk(tmp_path / "again.json")
    assert again.get_score() == pytest.approx(read.get_score(), abs=1e-6)
    kept = ResultCache(tmp_path).load_results(require_model_meta=False, validate_and_filter=False)
    table = kept.to_dataframe()
    assert table["org/chargram"].tolist() == [pytest.approx(own[None, None], abs=1e-6)]


def test_results_of_a_pool_are_one_subset(manifest):
    pool = mix_pool(manifest)
    results = multilingual_pool(pool, text_encoders="chargram", store=None, views=False, name="Answers")
    (found,) = mteb_results(results).values()
    read = TaskResult.from_dict(json.loads(json.dumps(found)))
    assert read.task_name == "MultilingualPool-Answers" and read.hf_subsets == ["default"]
    assert read.get_score() == next(line.value for line in results.summary if line.source is None)
