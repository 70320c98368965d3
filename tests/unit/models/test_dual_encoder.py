"""The towers of a dual encoder, and the features of texts."""

import math
import zlib
from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")

from xlingual.models.configs import DualEncoderConfig  # noqa: E402
from xlingual.models.dual_encoder import DualEncoder  # noqa: E402
from xlingual.models.texts import (  # noqa: E402
    TextFeatures,
    Vocabulary,
    bags,
    padded,
)

WORDS = DualEncoderConfig("words", dim=6, features=10, dropout=0.5)
VECTORS = DualEncoderConfig("vectors", dim=4, hidden=3)


def taken(*texts):
    return tuple(torch.from_numpy(part) for part in bags(texts))


def test_a_text_is_the_weighted_sum_of_its_features():
    model = DualEncoder(WORDS).eval()
    weights = [float(i) for i in range(1, 11)]
    model.set_weights(weights)
    found = model.encode("query", *taken([3, 5], [], [7]))
    table = model.question.words.weight
    expected = torch.nn.functional.normalize(4 * table[3] + 6 * table[5], dim=0)
    assert torch.allclose(found[0], expected, atol=1e-6)
    assert not found[1].any() and torch.allclose(found[2].norm(), torch.tensor(1.0))


def test_a_text_without_features_has_a_finite_gradient():
    model = DualEncoder(replace(WORDS, hidden=4))
    found = model.encode("query", *taken([], [1]))
    found.sum().backward()
    assert all(torch.isfinite(weight.grad).all() for weight in model.parameters() if weight.grad is not None)


def test_a_tower_over_vectors_begins_as_the_encoder_below():
    model = DualEncoder(VECTORS).eval()
    vectors = torch.tensor([[3.0, 0.0, 4.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    found = model.encode("candidate", vectors)
    assert torch.allclose(found, torch.tensor([[0.6, 0.0, 0.8, 0.0], [0.0, 0.0, 0.0, 0.0]]), atol=1e-6)
    with torch.no_grad():
        model.question.layer.second.bias.fill_(1.0)
    found = model.encode("candidate", vectors).detach()
    assert float(found[0, 1]) > 0.3 and not found[1].any()


def test_towers_are_shared_unless_separate():
    shared, separate = DualEncoder(WORDS), DualEncoder(replace(WORDS, separate=True))
    assert sum(weight.numel() for weight in shared.parameters()) * 2 - 1 == sum(
        weight.numel() for weight in separate.parameters()
    )
    separate.eval()
    batch = taken([1, 2], [3])
    assert torch.equal(separate.encode("query", *batch), separate.encode("candidate", *batch))
    with torch.no_grad():
        separate.answer.words.weight.add_(1.0)
    assert not torch.equal(separate.encode("query", *batch), separate.encode("candidate", *batch))


def test_weights_follow_from_the_seed_alone():
    one, same, other = DualEncoder(WORDS, 3), DualEncoder(WORDS, 3), DualEncoder(WORDS, 4)
    before = torch.random.get_rng_state()
    DualEncoder(WORDS, 5)
    assert torch.equal(before, torch.random.get_rng_state())
    assert torch.equal(one.question.words.weight, same.question.words.weight)
    assert not torch.equal(one.question.words.weight, other.question.words.weight)


def test_the_scale_has_a_limit():
    model = DualEncoder(WORDS)
    assert float(model.scale.detach()) == pytest.approx(20)
    with torch.no_grad():
        model.log_scale.fill_(math.log(1000))
    assert float(model.scale.detach()) == pytest.approx(100)


@pytest.mark.parametrize(
    "change",
    [
        {"tower": "gru"},
        {"features": 0},
        {"ngrams": (3, 5)},
        {"buckets": 4},
        {"dropout": 1.0},
        {"scale": 0.0},
        {"scale": 101.0},
        {"dim": 0},
        {"tower": "vectors"},
    ],
)
def test_configurations_that_clash(change):
    with pytest.raises(ValueError):
        replace(WORDS, **change)


def test_features_of_words_and_n_grams():
    vocabulary = Vocabulary(("two", "dogs"))
    assert TextFeatures(vocabulary).of("Two dogs, two cats!", "en") == [2, 3, 1]
    features = TextFeatures(vocabulary, (3, 4), 50)
    assert len(features) == 54

    def hashed(gram):
        return 4 + zlib.crc32(gram.encode()) % 50

    assert features.of("two", "en") == list(
        dict.fromkeys([2, *map(hashed, ["<tw", "two", "wo>", "<two", "two>"])])
    )
    assert features.of("at", "en") == list(dict.fromkeys(map(hashed, ["<at", "at>", "<at>"])))
    assert features.of("?!", "en") == []
    with pytest.raises(ValueError, match="go together"):
        TextFeatures(vocabulary, (3, 4))


def test_padding():
    tokens, mask, types = padded(
        [
            {"input_ids": [5, 6, 7], "token_type_ids": [0, 0, 1]},
            {"input_ids": [], "token_type_ids": []},
            {"input_ids": [8], "token_type_ids": [0]},
        ],
        9,
    )
    assert tokens.tolist() == [[5, 6, 7], [9, 9, 9], [8, 9, 9]]
    assert mask.tolist() == [[1, 1, 1], [1, 0, 0], [1, 0, 0]] and types.tolist()[0] == [0, 0, 1]
    assert len(padded([{"input_ids": [1]}], 0)) == 2
    assert [part.tolist() for part in bags([])] == [[], []]
