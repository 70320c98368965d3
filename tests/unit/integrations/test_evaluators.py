"""Evaluators for the loop of sentence-transformers, on a stand-in of it; interop has the real library."""

import csv
import importlib.util
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import xlingual.integrations
from xlingual import Manifest, backretrieval, crosslingual_retrieval, multilingual_pool, write_scenes
from xlingual.data.pools.mix import mix_pool
from xlingual.encoders import Encoder, image_encoder


class Base:
    """The library's evaluator, as far as ours uses it."""

    def __init__(self):
        self.greater_is_better, self.primary_metric = True, None

    def prefix_name_to_metrics(self, metrics, name):
        return {f"{name}_{key}": value for key, value in metrics.items()} if name else metrics

    def store_metrics_in_model_card_data(self, model, metrics, epoch, steps):
        model.card.append((self, metrics, epoch, steps))

    @property
    def description(self):
        return type(self).__name__.removesuffix("Evaluator")


def loaded(monkeypatch, place):
    for name in (
        "sentence_transformers",
        "sentence_transformers.base",
        "sentence_transformers.base.evaluation",
    ):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, place, SimpleNamespace(SentenceEvaluator=Base))
    path = Path(xlingual.integrations.__path__[0], "sentence_transformers.py")
    spec = importlib.util.spec_from_file_location("evaluators_on_a_stand_in", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def ours(monkeypatch):
    return loaded(monkeypatch, "sentence_transformers.base.evaluation")


class Model:
    """A model: vectors of letters; it writes down how it was called."""

    def __init__(self, size=23):
        self.size, self.calls, self.card = size, [], []

    def _vectors(self, kind, texts, given):
        self.calls.append((kind, len(texts), given))
        text = [given.get("prompt", "") + text for text in texts]
        return np.array([np.bincount([ord(x) % self.size for x in one], minlength=self.size) for one in text])

    def encode(self, texts, **given):
        return self._vectors("plain", texts, given)

    def encode_query(self, texts, **given):
        return self._vectors("query", texts, given)

    def encode_document(self, texts, **given):
        return self._vectors("document", texts, given)


class Counted(Encoder):
    """Pixels, and how many images were encoded."""

    identity = "counted-pixels"
    content = ("bytes",)

    def __init__(self):
        self.n, (_, self.pixels) = 0, image_encoder("pixels")

    def encode(self, batch):
        self.n += len(batch)
        return self.pixels.encode(batch)


@pytest.fixture(scope="module")
def manifest(tmp_path_factory):
    path = write_scenes(
        tmp_path_factory.mktemp("scenes") / "data", n=40, languages=["en", "de", "es"], seed=3
    )
    return Manifest.read(path)


@pytest.fixture(scope="module")
def several():
    rows = [
        {"id": f"{item}{tag}{n}", "lang": tag, "text": f"{tag} {item} {n}", "item": item}
        for item in range(30)
        for tag, texts in (("en", 1), ("de", 2))
        for n in range(texts)
    ]
    return Manifest.of(rows)


def test_values_and_intervals_are_those_of_the_functions(ours, manifest):
    pool, model = mix_pool(manifest), Model()
    encoder = SimpleNamespace(encode=lambda batch: model.encode(batch.text))
    pixels = {"image_encoder": "pixels"}
    for kind, function, data, options in (
        (ours.BackretrievalEvaluator, backretrieval, manifest, {"seeds": 2, **pixels}),
        (ours.CrosslingualRetrievalEvaluator, crosslingual_retrieval, manifest, {"measures": ["RR"]}),
        (ours.MultilingualPoolEvaluator, multilingual_pool, pool, {}),
    ):
        evaluator = kind(data, **options)
        metrics = evaluator(model)
        expected = function(data, text_encoders={"m": encoder}, store=None, **options).summary
        assert list(metrics.values()) == [line.value for line in expected]
        assert [line.ci for line in evaluator.results.summary] == [line.ci for line in expected]


def test_the_primary_metric_is_known_before_the_first_call(ours, several, manifest):
    for data, options, primary in (
        (several, {"pairs": "en-de"}, "xlr_success@10"),
        (several, {"pairs": "de-en"}, "xlr_r@10"),
        (several, {"pairs": "en-de", "texts_per_item": 1, "measures": "Success@5"}, "xlr_r@5"),
        (manifest, {}, "xlr_r@10"),
    ):
        evaluator = ours.CrosslingualRetrievalEvaluator(data, **options)
        assert evaluator.primary_metric == primary and primary in evaluator(Model())
    assert ours.BackretrievalEvaluator(manifest, "pixels", measures="SIM").primary_metric == "bkr_sim"
    ours.CrosslingualRetrievalEvaluator(several, pairs="en-de", sample=10_000, seeds=2)


def test_images_are_encoded_once(ours, manifest, tmp_path):
    images = Counted()
    evaluator = ours.BackretrievalEvaluator(manifest, images, store=tmp_path, sample=15, pairs="en-de,es-en")
    encoded = images.n
    first, second, other = (evaluator(model) for model in (Model(), Model(), Model(size=5)))
    assert first == second != other
    assert 30 <= images.n == encoded <= 40
    again = ours.BackretrievalEvaluator(manifest, images, store=tmp_path, sample=15, pairs="en-de,es-en")
    counted = images.n
    assert again(Model()) == first and images.n == counted


def test_texts_are_encoded_by_role_with_their_prompts_and_equal_ones_once(ours, manifest, tmp_path):
    model = Model()
    given = {"batch_size": 7, "truncate_dim": 16, "query_prompt": "q: ", "corpus_prompt_name": "passage"}
    evaluator = ours.MultilingualPoolEvaluator(mix_pool(manifest), **given)
    evaluator(model)
    kinds = {kind: (n, options) for kind, n, options in model.calls}
    assert set(kinds) == {"query", "document"}
    pool = mix_pool(manifest)
    assert kinds["query"][0] == len(set(pool.questions.text)) and kinds["document"][0] == len(
        set(pool.candidates.text)
    )
    shared = {"convert_to_tensor": True, "batch_size": 7, "show_progress_bar": False, "truncate_dim": 16}
    assert kinds["query"][1] == {**shared, "prompt": "q: "}
    assert kinds["document"][1] == {**shared, "prompt_name": "passage"}
    told = evaluator.get_config_dict()
    assert told == {
        "task": "multilingual-pool",
        "data": pool.digest[:12],
        "truncate_dim": 16,
        "query_prompt": "q: ",
        "corpus_prompt_name": "passage",
    }
    assert ours.MultilingualPoolEvaluator(pool.write(tmp_path / "pool")).data.digest == pool.digest


def test_a_csv_file_has_a_line_for_each_call(ours, manifest, tmp_path):
    evaluator = ours.CrosslingualRetrievalEvaluator(manifest, "shop", pairs="en-de")
    values = [
        evaluator(Model(size), str(tmp_path / "eval"), epoch, 5)["shop_xlr_r@10"]
        for size, epoch in ((23, 1), (9, 2))
    ]
    path = tmp_path / "eval" / "CrosslingualRetrieval_evaluation_shop_results.csv"
    assert path.name == evaluator.csv_file
    lines = list(csv.DictReader(path.open(newline="")))
    assert [(line["epoch"], line["steps"], float(line["xlr_r@10"])) for line in lines] == [
        ("1", "5", values[0]),
        ("2", "5", values[1]),
    ]
    wider = ours.CrosslingualRetrievalEvaluator(manifest, "shop", measures=["R@10", "RR"], pairs="en-de")
    wider(Model(), str(tmp_path / "eval"), 3)
    _header, *_rest = csv.reader(path.open(newline=""))
    ours.CrosslingualRetrievalEvaluator(manifest, "none", write_csv=False)(Model(), str(tmp_path / "eval"))
    assert len(list((tmp_path / "eval").iterdir())) == 1


def test_data_in_memory_are_taken_with_their_columns(ours, several):
    rows = [
        {
            "number": str(row),
            "lang": several.languages[several.language[row]],
            "words": several.text[row],
            "item": i,
        }
        for row, i in enumerate(several.item.tolist())
    ]
    options = {"id_column": "number", "text_column": "words", "pairs": "en-de"}
    evaluator = ours.CrosslingualRetrievalEvaluator(rows, **options)
    assert evaluator(Model()) == ours.CrosslingualRetrievalEvaluator(several, pairs="en-de")(Model())
    assert "id_column" not in evaluator.get_config_dict()


def test_versions_before_6_have_the_base_class_elsewhere(monkeypatch, manifest):
    module = loaded(monkeypatch, "sentence_transformers.evaluation")
    assert issubclass(module.BackretrievalEvaluator, Base)
