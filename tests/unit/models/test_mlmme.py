"""The network against a slow one in float64, and how its weights begin."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from xlingual.models.configs import MlmmeConfig  # noqa: E402
from xlingual.models.mlmme import Mlmme  # noqa: E402
from xlingual.models.unit import unit  # noqa: E402


def config(**more):
    given = {
        "languages": ("en", "to"),  # "to" is a method of torch's modules too
        "vocabulary_sizes": {"en": 9, "to": 5},
        "picture_dim": 6,
        "word_dim": 7,
        "state_dim": 8,
        "joint_dim": 10,
    }
    return MlmmeConfig(**{**given, **more})


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def slow_state(model, language, numbers):
    """The definition, word by word."""
    part = {k: v.double().numpy() for k, v in model.sentences[f"lang_{language}"].state_dict().items()}
    words = model.words[f"lang_{language}"].weight.detach().double().numpy()
    h = np.zeros(model.config.state_dim)
    for number in numbers:
        into = np.split(part["weight_ih_l0"] @ words[number] + part["bias_ih_l0"], 3)
        back = np.split(part["weight_hh_l0"] @ h + part["bias_hh_l0"], 3)
        r, z = sigmoid(into[0] + back[0]), sigmoid(into[1] + back[1])
        h = (1 - z) * np.tanh(into[2] + r * back[2]) + z * h
    return h


def padded(texts, more=0):
    width = max(map(len, texts), default=0) + more
    numbers = torch.zeros(len(texts), width, dtype=torch.long)
    for row, text in enumerate(texts):
        numbers[row, : len(text)] = torch.tensor(text, dtype=torch.long)
    return numbers, torch.tensor([len(text) for text in texts], dtype=torch.long)


TEXTS = [[2, 3, 4], [5], [], [2, 3, 4], [2, 3], [1, 1, 8, 7, 2]]


@pytest.mark.parametrize("initial", ["paper", "vsepp"])
def test_vectors_are_those_of_the_definition(initial):
    model = Mlmme(config(initial=initial, picture_bias=True), seed=3).double().eval()
    found = model.texts("en", *padded(TEXTS)).detach().numpy()
    project = model.text.weight.detach().numpy()
    for row, text in enumerate(TEXTS):
        vector = project @ slow_state(model, "en", text)
        expected = vector / np.linalg.norm(vector) if text else np.zeros(10)
        np.testing.assert_allclose(found[row], expected, atol=1e-12)
    images = np.random.default_rng(0).normal(size=(4, 6))
    made = images @ model.picture.weight.detach().numpy().T + model.picture.bias.detach().numpy()
    np.testing.assert_allclose(
        model.images(torch.tensor(images)).detach().numpy(),
        made / np.linalg.norm(made, axis=1, keepdims=True),
        atol=1e-12,
    )


texts = st.lists(st.lists(st.integers(1, 8), max_size=6), min_size=1, max_size=7)


@given(texts, st.integers(0, 3), st.integers(0, 5))
@settings(max_examples=40, deadline=None)
def test_padding_and_company_change_nothing(some, more, garbage):
    model = Mlmme(config(), seed=1).double().eval()
    numbers, lengths = padded(some, more)
    behind = torch.arange(numbers.shape[1]) >= lengths[:, None]
    together = model.texts("en", numbers.masked_fill(behind, garbage), lengths)
    alone = torch.cat([model.texts("en", *padded([text])) for text in some])
    torch.testing.assert_close(together, alone, atol=1e-12, rtol=0)


def test_each_language_has_a_map_of_its_own():
    own = Mlmme(config(text_map="per-language"), seed=3).double().eval()
    for language in ("en", "to"):
        project = own.text[f"lang_{language}"].weight.detach().numpy()
        vector = project @ slow_state(own, language, [2, 3, 4])
        found = own.texts(language, *padded([[2, 3, 4]])).detach().numpy()[0]
        np.testing.assert_allclose(found, vector / np.linalg.norm(vector), atol=1e-12)
    assert not torch.equal(own.text["lang_en"].weight, own.text["lang_to"].weight)
    own.texts("en", *padded([[2]])).sum().backward()
    assert own.text["lang_en"].weight.grad.any() and own.text["lang_to"].weight.grad is None


def test_encoders_of_languages_share_no_parameters():
    """Equation 3 trains θ_k of each language; with one shared map a step in English moves German."""
    moved = {}
    for text_map in ("per-language", "shared"):
        model = Mlmme(config(text_map=text_map, dropout=0.0), seed=0)
        before = model.texts("to", *padded([[2, 3]])).detach()
        model.texts("en", *padded([[4]]))[:, 0].sum().backward()
        torch.optim.SGD(model.parameters(), 1.0).step()
        moved[text_map] = not torch.equal(before, model.texts("to", *padded([[2, 3]])))
    assert moved == {"per-language": False, "shared": True}


def test_what_is_zero_stays_zero_without_a_gradient_that_is_no_number():
    model = Mlmme(config(dropout=0.0), seed=0)
    vectors = torch.zeros(2, 6, requires_grad=True)
    made = model.texts("en", *padded([[], [2], []])), model.images(vectors), unit(torch.zeros(1, 3))
    assert [part.norm(dim=1).round(decimals=5).tolist() for part in made] == [[0, 1, 0], [0, 0], [0]]
    sum((part * 3).sum() for part in made).backward()
    assert vectors.grad.abs().max() == 0
    assert all(weight.grad is None or weight.grad.isfinite().all() for weight in model.parameters())
    assert model.texts("en", *padded([])).shape == (0, 10)
    assert model.texts("en", *padded([[], []])).tolist() == [[0] * 10] * 2


def test_a_length_beyond_the_type_is_no_number():
    """1e30 squared is infinite in float32: a zero vector would hide a training that runs away."""
    made = unit(torch.tensor([[1e30, 1.0], [3.0, 4.0], [0.0, 0.0]]))
    assert made[0].isnan().all()
    assert torch.allclose(made[1:], torch.tensor([[0.6, 0.8], [0.0, 0.0]]))


def test_low_precision_is_near_and_unit_vectors_are_float32():
    model = Mlmme(config(), seed=0).eval()
    exact = model.texts("en", *padded(TEXTS)), model.images(torch.ones(1, 6))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        rough = model.texts("en", *padded(TEXTS)), model.images(torch.ones(1, 6))
    for one, other in zip(exact, rough, strict=True):
        assert other.dtype == torch.float32
        assert 0 < (one - other).abs().max() < 0.02


def test_gradients_are_those_of_finite_differences():
    model = Mlmme(config(word_dim=2, state_dim=2, joint_dim=3, initial="vsepp"), seed=0).double().eval()
    words = model.words["lang_en"].weight.detach().clone().requires_grad_()
    numbers, lengths = padded([[2, 3], [3], [2, 3]])

    def made(table):
        call = torch.func.functional_call
        return call(Texts(model), {"inner.words.lang_en.weight": table}, (numbers, lengths))

    class Texts(torch.nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def forward(self, numbers, lengths):
            return self.inner.texts("en", numbers, lengths)

    assert torch.autograd.gradcheck(made, (words,))


def test_the_weights_of_the_paper():
    model = Mlmme(config(word_dim=200, state_dim=100, joint_dim=300, picture_dim=400), seed=0)
    for name, weight in model.named_parameters():
        if "bias" in name:
            assert not weight.any(), name
        elif "weight_hh" in name:
            for gate in weight.detach().chunk(3):
                torch.testing.assert_close(gate @ gate.T, torch.eye(100), atol=1e-5, rtol=0)
        else:
            drawn = weight[1:] if name.startswith("words") else weight
            assert abs(drawn.std().item() - 0.01) < 5 * 0.01 / math.sqrt(2 * drawn.numel()), name
            assert abs(drawn.mean().item()) < 5 * 0.01 / math.sqrt(drawn.numel()), name
    assert not model.words["lang_en"].weight[0].any()  # padding


def test_the_weights_of_vsepp():
    model = Mlmme(
        config(state_dim=10, word_dim=50, project_text=False, picture_bias=True, initial="vsepp"), seed=0
    )
    bounds = {"words": 0.1, "sentences": 10**-0.5, "picture": math.sqrt(6 / (6 + 10))}
    for name, weight in model.named_parameters():
        if name == "picture.bias":
            assert not weight.any()
        else:
            bound = bounds[name.partition(".")[0]]
            assert 0.8 * bound < weight.abs().max() <= bound, name


@pytest.mark.parametrize("text_map", ["shared", "per-language"])
def test_weights_depend_on_seed_and_name_alone_and_no_state_is_touched(text_map):
    state = torch.get_rng_state()
    both = Mlmme(config(text_map=text_map), seed=5).state_dict()
    one = config(languages=("en",), vocabulary_sizes={"en": 9}, text_map=text_map)
    alone, other = Mlmme(one, seed=5).state_dict(), Mlmme(one, seed=6).state_dict()
    assert torch.equal(state, torch.get_rng_state())
    assert set(alone) < set(both)
    assert all(torch.equal(both[name], weight) for name, weight in alone.items())
    assert not any(torch.equal(other[name], weight) for name, weight in alone.items() if "bias" not in name)


def test_the_first_weights_of_a_seed_never_change():
    begun = Mlmme(config(), seed=0).state_dict()
    first = [0.005030306521803141, -0.009473130106925964, -0.009239040315151215]
    np.testing.assert_allclose(begun["text.weight"][0, :3], first, atol=1e-7)


def test_one_language_without_images():
    model = Mlmme(config(languages=("en",), vocabulary_sizes={"en": 9}, picture_dim=None), seed=0)
    assert model.texts("en", *padded([[2]])).shape == (1, 10)
    with pytest.raises(ValueError, match="without images"):
        model.images(torch.zeros(1, 6))


@pytest.mark.parametrize(
    "wrong",
    [
        {"languages": ()},
        {"languages": ("en", "en")},
        {"vocabulary_sizes": {"en": 9}},
        {"word_dim": 0},
        {"picture_dim": 0},
        {"project_text": False},
        {"dropout": 1.0},
        {"initial": "other"},
        {"text_map": "other"},
        {"text_map": "per-language", "project_text": False, "state_dim": 10},
    ],
)
def test_what_does_not_fit_is_refused(wrong):
    with pytest.raises(ValueError):
        config(**wrong)
