"""What changes the vectors of a network changes its digest, or makes that it has none."""

from functools import partial

import pytest

torch = pytest.importorskip("torch")

from xlingual.encoders.loaded import model_digest  # noqa: E402


class Processor:
    """A processor of images, as a library has them."""

    __module__ = "transformers.processing"

    def __init__(self, mean):
        self.mean = mean

    def to_dict(self):
        return {"image_mean": self.mean, "_name": id(self)}


def network(**attributes):
    torch.manual_seed(0)
    made = torch.nn.Sequential(torch.nn.Linear(40, 40), torch.nn.GELU())
    for name, value in attributes.items():
        setattr(made[1], name, value)
    return made


def test_equal_networks_have_one_digest():
    assert model_digest(network()) == model_digest(network()) is not None
    others = [network().double(), network(act=torch.tanh), network(act=torch.relu)]
    others += [network(processor=Processor(mean)) for mean in (0.5, 0.4)]
    assert len({model_digest(made) for made in (network(), *others)}) == 6
    assert model_digest(network(processor=Processor(0.5))) == model_digest(others[3])


@pytest.mark.filterwarnings("ignore")
def test_what_may_compute_anything_has_none():
    class Own(Processor):
        __module__ = "own"

    hooked, sparse, moved = network(), network(), network()
    hook = hooked[0].register_forward_pre_hook(lambda *_: None)
    sparse.register_buffer("mask", torch.eye(3).to_sparse())
    moved[0].forward = moved[1].forward
    quantised = torch.ao.quantization.quantize_dynamic(network(), {torch.nn.Linear})
    functions = [{"forward": torch.tanh}, {"act": lambda values: values}, {"act": partial(torch.tanh)}]
    for made in (hooked, sparse, moved, quantised, *(network(**more) for more in functions)):
        assert model_digest(made) is None
    assert model_digest(network(processor=Own(0.5))) is None
    hook.remove()
    assert model_digest(hooked) == model_digest(network())
