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
    assert model_digest(network().double()) != model_digest(network())


@pytest.mark.parametrize("register", ["register_forward_hook", "register_forward_pre_hook"])
def test_hooks(register):
    made = network()
    hook = getattr(made[0], register)(lambda *_: None)
    assert model_digest(made) is None
    hook.remove()
    assert model_digest(made) is not None


def test_methods_of_the_object():
    made = network()
    made[0].forward = made[1].forward
    assert model_digest(made) is None
    assert model_digest(network(forward=torch.tanh)) is None  # in place of the method of the class
    assert model_digest(network(act=lambda values: values)) is None
    assert model_digest(network(act=partial(lambda values: values))) is None


def test_functions_of_the_libraries():
    names = [torch.tanh, torch.relu, partial(torch.nn.functional.gelu, approximate="tanh")]
    made = [network(act=function) for function in names]
    assert len({model_digest(one) for one in made}) == 3


@pytest.mark.filterwarnings("ignore")
def test_quantised_networks_and_state_that_is_no_plain_tensor():
    class Odd(torch.nn.Linear):
        __module__ = "torch.odd"

        def get_extra_state(self):
            return (torch.ones(2000),)

    quantised = torch.ao.quantization.quantize_dynamic(network(), {torch.nn.Linear})
    assert model_digest(quantised) is None and model_digest(torch.nn.Sequential(Odd(2, 2))) is None
    sparse = network()
    sparse.register_buffer("mask", torch.eye(3).to_sparse())
    assert model_digest(sparse) is None


def test_settings_of_images():
    made = [network(processor=Processor(mean)) for mean in (0.5, 0.5, 0.4)]
    digests = [model_digest(one) for one in made]
    assert digests[0] == digests[1] != digests[2]

    class Own(Processor):
        __module__ = "own"

    assert model_digest(network(processor=Own(0.5))) is None
