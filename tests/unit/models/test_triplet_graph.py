"""The ONNX graph of a Triplet: the vectors of the network, run by a program of its own."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

from xlingual.models.triplet import Triplet, TripletConfig  # noqa: E402
from xlingual.workflows.export.onnx import triplet_graph  # noqa: E402


def run(config, network, title, body):
    weights = {name: weight.numpy() for name, weight in network.state_dict().items()}
    model = triplet_graph(config, weights, {"scaling": config.scaling})
    onnx.checker.check_model(model, full_check=True)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    assert [given.name for given in session.get_inputs()] == ["title", "body"]
    assert session.get_modelmeta().custom_metadata_map == {"scaling": config.scaling}
    return session.run(["vector"], {"title": title, "body": body})[0]


@pytest.mark.parametrize("scaling", ["unit", "raw"])
@pytest.mark.parametrize("separate", [False, True])
@pytest.mark.parametrize("n", [0, 1, 40])
def test_vectors_are_those_of_the_network(scaling, separate, n):
    config = TripletConfig(12, hidden_dim=30, out_dim=20, scaling=scaling, separate_towers=separate)
    network = Triplet(config, seed=1).eval()
    title, body = np.random.default_rng(0).standard_normal((2, n, 12)).astype(np.float32)
    with torch.no_grad():
        expected = network(torch.tensor(title), torch.tensor(body)).numpy()
    found = run(config, network, title, body)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    if n > 1:
        assert np.ptp(found, axis=0).max() > 0.1
        swapped = run(config, network, body, title)
        alike = np.allclose(swapped, np.hstack([found[:, 20:], found[:, :20]]), atol=1e-5)
        assert alike != separate


def test_a_half_without_numbers_stays_zero():
    config = TripletConfig(2, hidden_dim=1, out_dim=1)
    network = Triplet(config, seed=None)
    for name, weight in network.named_parameters():
        weight.data.fill_(0 if name.endswith("bias") else 1)
    network.eval()
    title = np.array([[-1, 0], [1, 2], [0, 0], [1e-30, 0]], dtype=np.float32)
    found = run(config, network, title, title[::-1].copy())
    np.testing.assert_allclose(found[:3, 0], [0, 1, 0], atol=1e-6)
    assert np.isfinite(found).all()
