"""The ONNX graph of a linear map for each language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from xlingual.transforms.affine import Affine
from xlingual.workflows.export.onnx import constant, finished

VECTORS, LANGUAGE, MAPPED = "vectors", "language", "mapped"  # inputs and output


def transform_graph(map: Affine, about: Mapping[str, str]) -> Any:  # noqa: ANN401  (an onnx.ModelProto)
    """Return the graph of a map.

    Inputs `vectors`, float32 [n, d], of any length but zero (a zero vector stays zero), and, where there is
    more than one place, `language`, int64 [n], the place of each row's language in `map.places`; output
    `mapped`, float32 [n, e]. `about` goes into the graph's metadata.
    """
    from onnx import TensorProto, helper, numpy_helper

    several = len(map.offset) > 1
    stored = {"offsets": map.arrays()["offset"]}
    nodes = [*_unit(), *_mapped(map, stored)]
    nodes.append(_node("Where", ["there", "moved", "zero"], MAPPED))
    initial = [numpy_helper.from_array(array, name) for name, array in stored.items()]
    initial += [constant("zero", 0.0), constant("one", 1.0), constant("last", -1)]
    if several:
        initial.append(constant("middle", 1))
    inputs = [helper.make_tensor_value_info(VECTORS, TensorProto.FLOAT, ["n", map.dim])]
    if several:
        inputs.append(helper.make_tensor_value_info(LANGUAGE, TensorProto.INT64, ["n"]))
    output = helper.make_tensor_value_info(MAPPED, TensorProto.FLOAT, ["n", map.offset.shape[1]])
    return finished(helper.make_graph(nodes, "transform", inputs, [output], initial), about)


def _node(kind: str, inputs: list[str], output: str, **more: Any) -> Any:  # noqa: ANN401
    from onnx import helper

    return helper.make_node(kind, inputs, [output], **more)


def _unit() -> list[Any]:
    """Return the nodes from `vectors` to `unit`; `there` says which are not zero.

    Numbers are divided by the largest one first, so that no square is too large or too small.
    """
    return [
        _node("Abs", [VECTORS], "sizes"),
        _node("ReduceMax", ["sizes"], "size", axes=[-1], keepdims=1),
        _node("Greater", ["size", "zero"], "there"),
        _node("Where", ["there", "size", "one"], "divided"),
        _node("Div", [VECTORS, "divided"], "scaled"),
        _node("Mul", ["scaled", "scaled"], "squares"),
        _node("ReduceSum", ["squares", "last"], "square", keepdims=1),
        _node("Where", ["there", "square", "one"], "lengths"),
        _node("Sqrt", ["lengths"], "length"),
        _node("Div", ["scaled", "length"], "unit"),
    ]


def _mapped(map: Affine, stored: dict[str, np.ndarray]) -> list[Any]:
    """Return the nodes from `unit` to `moved`, and store the arrays that they read.

    Where each language has a matrix, a row stands in its own part of a row of zeros, [n, s·d], which is
    multiplied by all matrices below each other: one product, with no matrix for each row.
    """
    several = len(map.offset) > 1
    nodes = [_node("Gather", ["offsets", LANGUAGE], "offset", axis=0)] if several else []
    offset, product = "offset" if several else "offsets", "unit"
    if map.matrix is not None:
        matrix = map.arrays()["matrix"]
        stored["matrix"] = matrix.reshape(-1, matrix.shape[2])
        given, product = "unit", "product"
        if len(matrix) > 1:
            stored["places"] = np.eye(len(matrix), dtype=np.float32)
            nodes += [
                _node("Gather", ["places", LANGUAGE], "own", axis=0),
                _node("Unsqueeze", ["own", "last"], "columns"),
                _node("Unsqueeze", ["unit", "middle"], "rows"),
                _node("Mul", ["columns", "rows"], "parts"),
                _node("Flatten", ["parts"], "spread", axis=1),
            ]
            given = "spread"
        nodes.append(_node("MatMul", [given, "matrix"], product))
    return [*nodes, _node("Add", [product, offset], "moved")]
