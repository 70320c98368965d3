"""The recipe: what is right in a batch, its loss, and that a small model learns what its regime allows."""

from pathlib import Path
from runpy import run_path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from xlingual.encoders.trained import CANDIDATE, QUERY  # noqa: E402
from xlingual.errors import InputError  # noqa: E402
from xlingual.models.configs import DualEncoderConfig  # noqa: E402
from xlingual.models.dual_encoder import DualEncoder  # noqa: E402
from xlingual.models.texts import bags  # noqa: E402
from xlingual.training.loop import FitOptions, fit  # noqa: E402
from xlingual.training.recipes.dual_encoder import (  # noqa: E402
    DualRecipe,
    VectorInputs,
    encoded,
    inverse_document_frequency,
    word_features,
    word_inputs,
)
from xlingual.training.recipes.dual_options import DualOptions  # noqa: E402
from xlingual.training.recipes.softmax import softmax_loss  # noqa: E402

made = run_path(str(Path(__file__).with_name("parallel_data.py")))
full, parallel = made["full"], made["parallel"]


def recipe_of(data, **changes):
    options = DualOptions(**({"batch": 4, "dim": 8, "buckets": 64, "dropout": 0.0} | changes))
    features = word_features(data, options)
    config = DualEncoderConfig(
        "words", dim=8, features=len(features), ngrams=options.ngrams, buckets=features.buckets, dropout=0.0
    )
    return DualRecipe(DualEncoder(config), data, word_inputs(data, features, False), options)


def test_the_loss_is_that_of_the_texts_of_the_batch():
    data = full(6, 3)
    recipe = recipe_of(data, regime="x-y", sub_batch=2)
    (batch, *_) = recipe.batches(1)
    model = recipe.model
    questions = model.encode(QUERY, *recipe.inputs.of(QUERY, batch.asked))
    answers = model.encode(CANDIDATE, *recipe.inputs.of(CANDIDATE, batch.answered))
    found, expected = recipe.loss(batch), softmax_loss(questions, answers, 20.0, sub_batch=2)
    assert torch.allclose(found.value, expected.value) and found.count == 1
    assert found.parts["right"] == expected.right / 4 and found.parts["scale"] == pytest.approx(20)
    assert recipe.rows(batch) == [f"q{i}" for i in batch.question]


def test_an_epoch_may_have_any_number_of_steps():
    data = full(4, 2)
    assert recipe_of(data, regime="x-x").steps(1) == 2
    recipe = recipe_of(data, regime="x-x", steps=5)
    assert recipe.steps(1) == 5 == len(list(recipe.batches(1)))
    both = [batch.asked.tolist() for epoch in (1, 2) for batch in recipe.batches(epoch)]
    natural = recipe_of(data, regime="x-x")
    assert both == [batch.asked.tolist() for epoch in range(1, 6) for batch in natural.batches(epoch)]


def test_the_features_of_some_texts():
    data = full(4, 2)
    features = word_features(data, DualOptions(buckets=64))
    inputs = word_inputs(data, features, False)
    for rows in ([], [3], [5, 0, 5]):
        found = inputs.of(CANDIDATE, np.array(rows, dtype=np.int64))
        lists = [features.of(data.answers.text[row], data.answers.language[row]) for row in rows]
        assert [part.tolist() for part in found] == [part.tolist() for part in bags(lists)]


def test_frequent_features_weigh_less():
    data = full(10, 2)
    features = word_features(data, DualOptions(ngrams=None))
    weights = inverse_document_frequency(data, features, False)
    (often,), (seldom,) = features.of("question", "en"), features.of("th", "en")
    assert weights[often] == pytest.approx(np.log(41 / 21) + 1) and seldom == 1
    assert weights[1] == pytest.approx(np.log(41) + 1)


def test_words_are_counted_in_the_training_questions_only():
    data = full(4, 2)
    part = data.take(np.array([0]))
    known = word_features(part, DualOptions(ngrams=None)).vocabulary.words
    assert "0" in known and "7" not in known and "de" in known
    with pytest.raises(InputError, match="no word occurs 99 times or more"):
        word_features(data, DualOptions(ngrams=None, threshold=99))


def crossed(n=24, size=2, seed=0):
    """Return data and vectors in which each language turns the space its own way."""
    data, draws = full(n, size), np.random.default_rng(seed)
    meaning = draws.standard_normal((n, 6))
    turns = [np.linalg.qr(draws.standard_normal((6, 6)))[0] for _ in range(size)]
    vectors = np.concatenate([meaning @ turn for turn in turns]).reshape(size, n, 6).transpose(1, 0, 2)
    flat = vectors.reshape(n * size, 6).astype(np.float32)
    return data, VectorInputs({QUERY: flat, CANDIDATE: flat})


def across(model, inputs, data):
    """Return how often the answer of the other language is the first among those of that language."""
    every = np.arange(len(data.answers))
    questions = encoded(model, inputs, QUERY, every)
    scores = questions[0::2] @ encoded(model, inputs, CANDIDATE, every)[1::2].T
    return float((scores.argmax(axis=1) == np.arange(len(scores))).mean())


def test_x_y_aligns_languages_and_x_x_mono_cannot(tmp_path):
    data, inputs = crossed()
    found = {}
    for regime in ("x-y", "x-x-mono"):
        model = DualEncoder(DualEncoderConfig("vectors", dim=6, hidden=64))
        recipe = DualRecipe(model, data, inputs, DualOptions(regime=regime, batch=16))
        options = FitOptions(epochs=25, rate=2e-2, threads=1, device="cpu")
        fitted = fit(recipe, options, tmp_path / regime, settings={})
        found[regime] = across(fitted.model, inputs, data)
    assert found["x-y"] > 0.9 > 0.5 > found["x-x-mono"]
