"""Graphs exported from torch: the vectors are those of the network itself, as `hf:` gives them."""

import warnings

import numpy as np
import pytest

from xlingual.encoders import text_encoders
from xlingual.records import Texts

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

TEXTS = ["a red chair", "", "lamp", "a very long text " * 12, "water, glass and a table", "a red chair", "!"]


class Named(torch.nn.Module):
    """A network whose inputs and outputs stand in a fixed order, as an export needs them."""

    def __init__(self, model, inputs, outputs):
        super().__init__()
        self.model, self.inputs, self.outputs = model, inputs, outputs

    def forward(self, *values):
        answer = self.model(**dict(zip(self.inputs, values, strict=True)))
        return tuple(getattr(answer, name) for name in self.outputs)


def export(model, path, feeds, outputs):
    free = {0: "n", 1: "t"} if "input_ids" in feeds else {0: "n"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter warns of what tracing fixes
        torch.onnx.export(
            Named(model.eval(), list(feeds), outputs),
            tuple(feeds.values()),
            str(path),
            input_names=list(feeds),
            output_names=outputs,
            dynamic_axes={**dict.fromkeys(feeds, free), **{name: {0: "n"} for name in outputs}},
            dynamo=False,
        )


@pytest.fixture
def exported(copied):
    """Return a function from the kind of a network to its folder, with a graph beside the weights."""

    def make(kind, outputs=("last_hidden_state",)):
        folder = copied(kind)
        model = transformers.AutoModel.from_pretrained(folder, attn_implementation="eager")
        ids = torch.tensor([[5, 6, 7, 8], [9, 8, 7, 6]])
        feeds = {"input_ids": ids, "attention_mask": torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0]])}
        if kind == "bert":
            feeds["token_type_ids"] = torch.zeros_like(ids)
        export(model, folder / "model.onnx", feeds, list(outputs))
        return folder

    return make


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("bert", "pool=mean&max_length=40"),
        ("distilbert", "pool=cls&prompt=query: &max_length=40"),
        ("xlmr", "pool=last&max_length=9"),
    ],
)
@pytest.mark.cases(2)
def test_texts_have_the_vectors_of_the_network(exported, kind, options):
    folder = exported(kind)
    specs = [f"graph=onnx:{folder}?{options}&batch=3", f"network=hf:{folder}?{options}"]
    batch = Texts(TEXTS, ["en"] * len(TEXTS), [str(i) for i in range(len(TEXTS))])
    ours, theirs = (each.encode_noting(batch) for each in text_encoders(specs, languages=["en"]).values())
    np.testing.assert_allclose(ours.vectors, theirs.vectors, atol=1e-5)
    np.testing.assert_array_equal(ours.truncated, theirs.truncated)
    assert np.ptp(theirs.vectors, axis=0).max() > 0.1
