"""The layers of a Triplet as an ONNX graph: vectors of titles and bodies in, the model's vectors out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from xlingual.models.triplet_config import TripletConfig

INPUTS, OUTPUT = ("title", "body"), "vector"
_OPSET, _IR = 17, 8  # read by onnxruntime 1.12 and later


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
        stored += [_constant("zero", 0.0), _constant("one", 1.0), _constant("last", -1)]
    shapes = [(name, config.base_dim) for name in INPUTS], [(OUTPUT, 2 * config.out_dim)]
    inputs, outputs = (
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", dim]) for name, dim in part]
        for part in shapes
    )
    graph = helper.make_graph(nodes, config.recipe, inputs, outputs, stored)
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


def _constant(name: str, value: float) -> Any:  # noqa: ANN401
    """Return a stored number: float32 scalar, or int64 [1] for an axis."""
    import numpy as np
    from onnx import numpy_helper

    array = np.array([value], np.int64) if isinstance(value, int) else np.array(value, np.float32)
    return numpy_helper.from_array(array, name)
