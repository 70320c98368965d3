"""A Triplet as an ONNX file, which takes the vectors of titles and bodies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from xlingual.arrays import Vectors
from xlingual.encoders.torch_runtime import require
from xlingual.encoders.trained_triplet import TripletNetwork
from xlingual.errors import InputError
from xlingual.files import atomic_file, make_folder
from xlingual.models.folder import ModelFolder
from xlingual.models.triplet_graph import INPUTS, triplet_graph
from xlingual.streams import stream
from xlingual.workflows.export.about import about, check_same

_ROWS = 32  # texts that the graph is tried on


def export_onnx(folder: ModelFolder, network: TripletNetwork, out: Path, replace: bool) -> float:
    """Write the graph to the file `out`; return the largest difference of its vectors."""
    require("an export to ONNX", "export", "onnx")
    if out.suffix != ".onnx" or out.is_dir():
        raise InputError(f"--out {out}: an ONNX graph is a file: give a name that ends in .onnx")
    if out.exists() and not replace:
        raise InputError(f"--out {out} is there already: --force replaces it")
    import onnx

    given = _tried(network.config.base_dim)
    expected = network.represent(*given)
    weights = {name: tensor.float().numpy() for name, tensor in folder.weights().items()}
    model = triplet_graph(network.config, weights, about(folder, network))
    onnx.checker.check_model(model)
    difference = check_same(f"the graph of {network.who}", _run(model, given), expected)
    make_folder(out.parent)
    with atomic_file(out) as temporary:
        temporary.write_bytes(model.SerializeToString())
    return difference


def _tried(dim: int) -> tuple[Vectors, Vectors]:
    """Return the vectors that the graph is tried on, of titles and of bodies: random ones, and zero."""
    title, body = stream(0, "export").standard_normal((2, _ROWS, dim)).astype(np.float32)
    title[0] = body[0] = body[1] = 0
    return title, body


def _run(model: object, given: tuple[Vectors, Vectors]) -> Vectors:
    """Run the graph as ONNX itself defines it."""
    from onnx.reference import ReferenceEvaluator

    answers: Any = ReferenceEvaluator(model).run(None, dict(zip(INPUTS, given, strict=True)))
    return np.asarray(answers[0], dtype=np.float32)
