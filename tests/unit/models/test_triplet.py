"""The network against plain numpy in float64, what its scalings mean, and how its weights begin."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from xlingual.models.configs import TripletConfig  # noqa: E402
from xlingual.models.triplet import Triplet  # noqa: E402


def vectors(n=5, dim=4, seed=0):
    return np.random.default_rng(seed).standard_normal((n, dim))


def layers(model, tower, x):
    part = {name: weight.double().numpy() for name, weight in model.towers[tower].state_dict().items()}
    hidden = np.maximum(0, x @ part["first.weight"].T + part["first.bias"])
    return np.maximum(0, hidden @ part["second.weight"].T + part["second.bias"])


def with_biases(model):
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if name.endswith("bias"):
                weight.copy_(torch.linspace(-0.3, 0.4, len(weight)))
    return model


@pytest.mark.parametrize("separate", [False, True])
@pytest.mark.parametrize("scaling", ["unit", "raw"])
def test_a_representation_is_that_of_the_definition(separate, scaling):
    config = TripletConfig(4, 7, 6, separate_towers=separate, scaling=scaling)
    model = with_biases(Triplet(config, seed=3))
    title, body = vectors(seed=1), vectors(seed=2)
    towers = ("title", "body") if separate else ("both", "both")
    halves = [layers(model, tower, given) for tower, given in zip(towers, (title, body), strict=True)]
    if scaling == "unit":
        halves = [half / np.linalg.norm(half, axis=1, keepdims=True) for half in halves]
    found = model.double().represent(torch.tensor(title), torch.tensor(body)).detach().numpy()
    np.testing.assert_allclose(found, np.concatenate(halves, axis=1), atol=1e-12)


@pytest.mark.parametrize("scaling", ["unit", "raw"])
def test_a_half_whose_outputs_are_all_zero_stays_zero(scaling):
    model = Triplet(TripletConfig(4, 5, 3, scaling=scaling))
    with torch.no_grad():
        model.towers["both"].second.bias.fill_(0)
    zero, some = torch.zeros(1, 4), torch.ones(1, 4)
    found = model.represent(zero, some)
    assert not found[:, :3].any() and torch.isfinite(found).all()
    found.sum().backward()
    assert all(torch.isfinite(weight.grad).all() for weight in model.parameters())


def test_weights_depend_on_the_seed_alone():
    config = TripletConfig(4, 5, 3)
    before = torch.random.get_rng_state()
    one, same, other = (Triplet(config, seed).state_dict() for seed in (1, 1, 2))
    assert torch.equal(before, torch.random.get_rng_state())
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert not torch.equal(one["towers.both.first.weight"], other["towers.both.first.weight"])
    assert not one["towers.both.first.bias"].any()
    apart = Triplet(TripletConfig(4, 5, 3, separate_towers=True)).state_dict()
    assert not torch.equal(apart["towers.title.first.weight"], apart["towers.body.first.weight"])
