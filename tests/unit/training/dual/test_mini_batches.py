"""Mini-batches: less memory, the same gradient as that of the whole batch, and so the same weights."""

from pathlib import Path
from runpy import run_path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from xlingual.encoders.trained import CANDIDATE, QUERY  # noqa: E402
from xlingual.models.configs import DualEncoderConfig  # noqa: E402
from xlingual.models.dual_encoder import DualEncoder  # noqa: E402
from xlingual.training.recipes.dual_encoder import (  # noqa: E402
    DualRecipe,
    TokenInputs,
    word_features,
    word_inputs,
)
from xlingual.training.recipes.dual_options import DualOptions  # noqa: E402
from xlingual.training.recipes.softmax import softmax_loss  # noqa: E402

full = run_path(str(Path(__file__).with_name("parallel_data.py")))["full"]
BATCH = 16


def words(dropout, **changes):
    """Return a recipe on words, in float64."""
    data = full(12, 3)
    options = DualOptions(**({"batch": BATCH, "dim": 8, "buckets": 64, "dropout": dropout} | changes))
    features = word_features(data, options)
    config = DualEncoderConfig(
        "words",
        dim=8,
        features=len(features),
        ngrams=options.ngrams,
        buckets=features.buckets,
        dropout=dropout,
        hidden=4,
        separate=True,
    )
    return DualRecipe(DualEncoder(config).double(), data, word_inputs(data, features, False), options)


def network(dropout, **changes):
    """Return a recipe on a tiny network of transformers, in float64; texts have different lengths."""
    transformers = pytest.importorskip("transformers")
    data, draws = full(12, 3), np.random.default_rng(0)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = transformers.BertConfig(
            vocab_size=40,
            hidden_size=16,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=24,
            hidden_dropout_prob=dropout,
            attention_probs_dropout_prob=dropout,
        )
        made = transformers.BertModel(config)

    def pieces(count):
        lengths = draws.integers(3, 9, count)
        return [{"input_ids": draws.integers(1, 40, n).tolist()} for n in lengths]

    inputs = TokenInputs({QUERY: pieces(len(data.questions)), CANDIDATE: pieces(len(data.answers))}, 0, {})
    model = DualEncoder(DualEncoderConfig("transformer", dim=16), network=made).double()
    return DualRecipe(model, data, inputs, DualOptions(**({"batch": BATCH} | changes)))


def gradients(recipe, seed=0):
    """Return the loss of the first batch and its gradient by weight."""
    recipe.model.train()
    recipe.model.zero_grad()
    batch = next(iter(recipe.batches(1)))
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        loss = recipe.loss(batch)
        loss.value.backward()
    return loss, {n: w.grad.clone() for n, w in recipe.model.named_parameters() if w.grad is not None}


def by_hand(recipe, size, seed=0):
    """Return the same, all mini-batches encoded one after the other with everything kept."""
    recipe.model.train()
    recipe.model.zero_grad()
    pairs, options = next(iter(recipe.batches(1))), recipe.options
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        sides = [
            torch.cat(
                [
                    recipe.model.encode(role, *recipe.inputs.of(role, rows[start : start + size]))
                    for start in range(0, len(rows), size)
                ]
            )
            for role, rows in ((QUERY, pairs.asked), (CANDIDATE, pairs.answered))
        ]
        loss = softmax_loss(
            *sides, recipe.model.scale, positive=options.positive, sub_batch=options.sub_batch
        )
        loss.value.backward()
    return loss.value, {n: w.grad.clone() for n, w in recipe.model.named_parameters() if w.grad is not None}


def assert_equal(one, other):
    assert one.keys() == other.keys() and len(one) > 2
    for name, gradient in one.items():
        assert gradient.dtype == torch.float64
        assert torch.allclose(gradient, other[name], rtol=1e-10, atol=1e-13), name
    assert sum(float(gradient.abs().sum()) for gradient in one.values()) > 0


@pytest.mark.parametrize("made", [words, network])
@pytest.mark.parametrize(
    "changes",
    [{}, {"sub_batch": 6}, {"positive": "outside", "regime": "x-x-mono"}],
    ids=lambda changes: "-".join(changes) or "plain",
)
@pytest.mark.parametrize("size", [1, 5, 16])
def test_without_dropout_the_gradient_is_that_of_the_whole_batch(made, changes, size):
    loss, found = gradients(made(0.0, mini_batch=size, **changes))
    whole, expected = gradients(made(0.0, **changes))
    assert loss.value.dtype == torch.float64
    assert float(loss.value.detach()) == pytest.approx(float(whole.value.detach()), abs=1e-12)
    assert loss.parts == pytest.approx(whole.parts)
    assert_equal(found, expected)


@pytest.mark.parametrize("made", [words, network])
@pytest.mark.parametrize("changes", [{}, {"sub_batch": 8}], ids=["plain", "sub_batch"])
def test_with_dropout_both_passes_leave_out_the_same(made, changes):
    recipe = made(0.5, mini_batch=5, **changes)
    loss, found = gradients(recipe)
    value, expected = by_hand(recipe, 5)
    assert float(loss.value.detach()) == pytest.approx(float(value.detach()), abs=1e-12)
    assert_equal(found, expected)
    _, other = gradients(recipe, seed=1)
    assert any(not torch.allclose(found[name], other[name]) for name in found)


def kept_bytes(recipe):
    """Return the bytes that autograd keeps of the network between the two passes, weights left out."""
    batch = next(iter(recipe.batches(1)))
    weights = {weight.untyped_storage().data_ptr() for weight in recipe.model.parameters()}
    kept = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in weights:
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    recipe.model.train()
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss = recipe.loss(batch)
        total = sum(kept.values())
    loss.value.backward()
    return total


def test_less_is_kept_between_the_passes():
    whole, mini = kept_bytes(network(0.0)), kept_bytes(network(0.0, mini_batch=2))
    assert mini < whole / 5
