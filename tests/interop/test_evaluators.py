"""Evaluators in the library's own loop: trainer, sequence of evaluators, model card and CSV files."""

import csv

import numpy as np
import pytest

sentence_transformers = pytest.importorskip("sentence_transformers")
pytest.importorskip("accelerate")
datasets = pytest.importorskip("datasets")

from sentence_transformers.base.evaluation import SentenceEvaluator, SequentialEvaluator  # noqa: E402
from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss  # noqa: E402

from xlingual import (  # noqa: E402
    Manifest,
    backretrieval,
    crosslingual_retrieval,
    multilingual_pool,
    write_scenes,
)
from xlingual.data.pools.mix import mix_pool  # noqa: E402
from xlingual.encoders import Encoder, image_encoder  # noqa: E402
from xlingual.errors import DataWarning  # noqa: E402
from xlingual.integrations.sentence_transformers import (  # noqa: E402
    BackretrievalEvaluator,
    CrosslingualRetrievalEvaluator,
    MultilingualPoolEvaluator,
)


@pytest.fixture
def model(checkpoints):
    return sentence_transformers.SentenceTransformer(str(checkpoints("sentence_bert")), device="cpu")


@pytest.fixture(scope="module")
def manifest(tmp_path_factory):
    path = write_scenes(tmp_path_factory.mktemp("scenes") / "data", n=60, languages=["en", "de"], seed=3)
    return Manifest.read(path)


class Counted(Encoder):
    """Pixels, and how many images were encoded."""

    identity = "counted-pixels"

    def __init__(self):
        self.n, (_, self.pixels) = 0, image_encoder("pixels")

    def encode(self, batch):
        self.n += len(batch)
        return self.pixels.encode(batch)


class Plain:
    """A person's own wrapper of a model, to compare with."""

    identity = "plain"
    by_role = True

    def __init__(self, model):
        self.model = model

    def encode(self, texts):
        kind = {"query": self.model.encode_query, "candidate": self.model.encode_document}
        return kind.get(texts.role, self.model.encode)(list(texts.text))


def test_the_trainer_calls_them_and_images_are_encoded_once(model, manifest, tmp_path):
    images = Counted()
    by_images = BackretrievalEvaluator(manifest, images, "scenes", pairs="en-de", sample=30, store=None)
    by_matches = CrosslingualRetrievalEvaluator(manifest, "scenes", batch_size=8)
    rows = [manifest.rows_of(tag) for tag in ("en", "de")]
    pairs = {
        name: [manifest.text[row] for row in own]
        for name, own in zip(("anchor", "positive"), rows, strict=True)
    }
    trainer = sentence_transformers.SentenceTransformerTrainer(
        model=model,
        args=sentence_transformers.SentenceTransformerTrainingArguments(
            str(tmp_path / "out"),
            num_train_epochs=2,
            per_device_train_batch_size=20,
            learning_rate=1e-2,
            eval_strategy="epoch",
            save_strategy="epoch",
            load_best_model_at_end=True,
            metric_for_best_model=f"eval_{by_images.primary_metric}",
            report_to=[],
            use_cpu=True,
        ),
        train_dataset=datasets.Dataset.from_dict(pairs),
        loss=MultipleNegativesRankingLoss(model),
        evaluator=[by_matches, by_images],
    )
    trainer.train()
    found = [line for line in trainer.state.log_history if "eval_scenes_bkr_r@10" in line]
    assert [line["epoch"] for line in found] == [1.0, 2.0]
    assert found[0]["eval_scenes_xlr_r@10"] != found[1]["eval_scenes_xlr_r@10"]
    assert found[0]["eval_sequential_score"] == found[0]["eval_scenes_bkr_r@10"]
    assert images.n == 60  # of both samples, in the first evaluation
    best = max(line["eval_scenes_bkr_r@10"] for line in found)
    assert trainer.state.best_metric == best
    with (tmp_path / "out" / "eval" / by_images.csv_file).open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert [float(line["bkr_r@10"]) for line in lines] == [line["eval_scenes_bkr_r@10"] for line in found]
    assert list(lines[0])[:3] == ["epoch", "steps", "en-de_bkr_r@10"]

    model.save_pretrained(str(tmp_path / "saved"))
    card = (tmp_path / "saved" / "README.md").read_text(encoding="utf-8")
    assert "<code>xlingual.integrations.sentence_transformers.BackretrievalEvaluator</code>" in card
    assert "**bkr_r@10**" in card and '"image_encoder": "Counted"' in card
    assert any("bkr_r@10" in one.metric_type for one in huggingface_results(card))


def huggingface_results(text):
    from huggingface_hub import ModelCard

    return ModelCard(text).data.eval_results


def test_values_are_those_of_the_functions(model, manifest):
    pool = mix_pool(manifest)
    cases = (
        (
            BackretrievalEvaluator(manifest, "pixels", seeds=2, sample=25, measures=("RR", "R@3")),
            backretrieval,
            {"image_encoder": "pixels", "seeds": 2, "sample": 25, "measures": ("RR", "R@3")},
            manifest,
        ),
        (
            CrosslingualRetrievalEvaluator(manifest, measures=("MedR",)),
            crosslingual_retrieval,
            {"measures": ("MedR",)},
            manifest,
        ),
        (
            MultilingualPoolEvaluator(pool, measures=("AP", "Success@10")),
            multilingual_pool,
            {"measures": ("AP", "Success@10")},
            pool,
        ),
    )
    for evaluator, function, options, data in cases:
        assert isinstance(evaluator, SentenceEvaluator)
        metrics = evaluator(model)
        expected = function(data, text_encoders={"m": Plain(model)}, store=None, **options)
        found = [(s.source, s.target, s.measure, s.value, s.ci) for s in evaluator.results.summary]
        assert found == [(s.source, s.target, s.measure, s.value, s.ci) for s in expected.summary]
        assert list(metrics.values()) == [s.value for s in expected.summary]
        assert evaluator.primary_metric in metrics
        assert np.isfinite(list(metrics.values())).all()


def test_a_sequence_of_them_scores_the_last(model, manifest, tmp_path):
    one, two = BackretrievalEvaluator(manifest, "pixels"), CrosslingualRetrievalEvaluator(manifest)
    both = SequentialEvaluator([one, two])(model, str(tmp_path))
    assert both["sequential_score"] == both["xlr_r@10"]
    assert {"en-de_bkr_r@10", "bkr_sim", "en-de_xlr_r@10"} <= set(both)
    assert {path.name for path in tmp_path.iterdir()} == {one.csv_file, two.csv_file}


def test_prompts_of_queries_and_candidates_reach_the_model(model, manifest):
    pool = mix_pool(manifest)
    own = MultilingualPoolEvaluator(pool, corpus_prompt="passage: ")(model)  # as the model's own has it
    none = MultilingualPoolEvaluator(pool, query_prompt="", corpus_prompt="")(model)
    assert own == MultilingualPoolEvaluator(pool, query_prompt_name="query")(model)
    assert none != own


def test_a_model_made_for_the_dot_product_is_warned_of(checkpoints, manifest):
    model = sentence_transformers.SentenceTransformer(str(checkpoints("sentence_plain")), device="cpu")
    model.similarity_fn_name = "dot"
    evaluator = CrosslingualRetrievalEvaluator(manifest, pairs="en-de")
    with pytest.warns(DataWarning, match="^text encoder 'model': .*compared by 'dot'"):
        evaluator(model)
    assert any("compared by 'dot'" in text for text in evaluator.results.warnings)
