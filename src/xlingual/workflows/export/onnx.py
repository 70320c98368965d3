"""A Triplet as an ONNX file, which takes the vectors of titles and bodies."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from xlingual.arrays import Vectors
from xlingual.encoders.torch_runtime import require
from xlingual.encoders.trained_triplet import TripletNetwork
from xlingual.errors import InputError
from xlingual.files import atomic_file, make_folder
from xlingual.models.folder import ModelFolder
from xlingual.streams import stream
from xlingual.workflows.export.about import about, check_same

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from xlingual.models.triplet_config import TripletConfig

INPUTS, OUTPUT = ("title", "body"), "vector"
_OPSET, _IR = 17, 8  # read by onnxruntime 1.12 and later
_ROWS = 32  # texts that the graph is tried on


def export_onnx(folder: ModelFolder, network: TripletNetwork, out: Path, replace: bool) -> float:
    """Write the graph to the file `out`; return the largest difference of its vectors."""
    check_file(out, replace)
    given = _tried(network.config.base_dim)
    expected = network.represent(*given)
    weights = {name: tensor.float().numpy() for name, tensor in folder.weights().items()}
    model = triplet_graph(network.config, weights, about(folder, network))
    return write_graph(out, model, dict(zip(INPUTS, given, strict=True)), expected, network.who)


def check_file(out: Path, replace: bool) -> None:
    """Raise InputError where a graph cannot be written to `out`, or a package is missing."""
    require("an export to ONNX", "export", "onnx")
    if out.suffix != ".onnx" or out.is_dir():
        raise InputError(f"--out {out}: an ONNX graph is a file: give a name that ends in .onnx")
    if out.exists() and not replace:
        raise InputError(f"--out {out} is there already: --force replaces it")


def write_graph(
    out: Path,
    model: Any,  # noqa: ANN401  (an onnx.ModelProto)
    given: Mapping[str, NDArray[Any]],
    expected: Vectors,
    who: str,
) -> float:
    """Write a graph whose answer to its inputs is what is expected; return the largest difference."""
    import onnx

    onnx.checker.check_model(model)
    difference = check_same(f"the graph of {who}", _run(model, given), expected)
    make_folder(out.parent)
    with atomic_file(out) as temporary:
        temporary.write_bytes(model.SerializeToString())
    return difference


def _tried(dim: int) -> tuple[Vectors, Vectors]:
    """Return the vectors that the graph is tried on, of titles and of bodies: random ones, and zero."""
    title, body = stream(0, "export").standard_normal((2, _ROWS, dim)).astype(np.float32)
    title[0] = body[0] = body[1] = 0
    return title, body


def _run(model: object, given: Mapping[str, NDArray[Any]]) -> Vectors:
    """Run the graph as ONNX itself defines it."""
    from onnx.reference import ReferenceEvaluator

    answers: Any = ReferenceEvaluator(model).run(None, dict(given))
    return np.asarray(answers[0], dtype=np.float32)


def triplet_graph(
    config: TripletConfig, weights: Mapping[str, NDArray[np.float32]], about: Mapping[str, str]
) -> Any:  # noqa: ANN401  (an onnx.ModelProto)
    """Return the graph of a Triplet.

    Inputs `title` and `body`, float32 [n, base]; output `vector`, float32 [n, 2·out], title before body.
    Halves have unit length where the model's scaling is `unit`; a zero half stays zero. `weights` are named
    as in `model.safetensors`; `about` goes into the graph's metadata.
    """
    from onnx import TensorProto, helper, numpy_helper

    nodes = [*_tower(INPUTS[0], config.towers[0], config), *_tower(INPUTS[1], config.towers[-1], config)]
    nodes.append(helper.make_node("Concat", [f"{name}.half" for name in INPUTS], [OUTPUT], axis=1))
    stored = [numpy_helper.from_array(value, name) for name, value in weights.items()]
    if config.scaling == "unit":
        stored += [constant("zero", 0.0), constant("one", 1.0), constant("last", -1)]
    shapes = [(name, config.base_dim) for name in INPUTS], [(OUTPUT, 2 * config.out_dim)]
    inputs, outputs = (
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", dim]) for name, dim in part]
        for part in shapes
    )
    return finished(helper.make_graph(nodes, config.recipe, inputs, outputs, stored), about)


def finished(graph: Any, about: Mapping[str, str]) -> Any:  # noqa: ANN401  (an onnx.ModelProto)
    """Return the model of a graph, with `about` in its metadata."""
    from onnx import helper

    model = helper.make_model(
        graph, producer_name="xlingual", ir_version=_IR, opset_imports=[helper.make_opsetid("", _OPSET)]
    )
    helper.set_model_props(model, dict(about))
    return model


def _tower(view: str, tower: str, config: TripletConfig) -> list[Any]:
    """Return the nodes from a view's vectors to its half of the output."""
    from onnx import helper

    def node(kind: str, inputs: list[str], output: str, **more: Any) -> Any:  # noqa: ANN401
        return helper.make_node(kind, inputs, [output], **more)

    def dense(layer: str, given: str, made: str) -> list[Any]:
        names = [f"towers.{tower}.{layer}.{part}" for part in ("weight", "bias")]
        sums = f"{made}.sums"
        return [node("Gemm", [given, *names], sums, transB=1), node("Relu", [sums], made)]

    end = f"{view}.half" if config.scaling == "raw" else f"{view}.second"
    nodes = [*dense("first", view, f"{view}.first"), *dense("second", f"{view}.first", end)]
    if config.scaling == "raw":
        return nodes
    return [
        *nodes,
        node("Mul", [end, end], f"{view}.squares"),
        node("ReduceSum", [f"{view}.squares", "last"], f"{view}.square", keepdims=1),
        node("Greater", [f"{view}.square", "zero"], f"{view}.there"),
        node("Where", [f"{view}.there", f"{view}.square", "one"], f"{view}.divided"),
        node("Sqrt", [f"{view}.divided"], f"{view}.length"),
        node("Div", [end, f"{view}.length"], f"{view}.half"),
    ]


def constant(name: str, value: float) -> Any:  # noqa: ANN401
    """Return a stored number: float32 scalar, or int64 [1] for an axis."""
    import numpy as np
    from onnx import numpy_helper

    array = np.array([value], np.int64) if isinstance(value, int) else np.array(value, np.float32)
    return numpy_helper.from_array(array, name)
