"""A Triplet as an ONNX file, which takes the vectors of titles and bodies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from xlingual.encoders.torch_runtime import require
from xlingual.errors import InputError
from xlingual.models.card import identity, signature
from xlingual.models.folder import ModelFolder
from xlingual.models.triplet_graph import INPUTS, triplet_graph
from xlingual.results.files import atomic_file, make_folder
from xlingual.streams import stream
from xlingual.workflows.export.same import check_same

if TYPE_CHECKING:
    from xlingual.encoders.triplet_network import TripletNetwork

_ROWS = 32  # vectors that the graph is tried on


def export_onnx(folder: ModelFolder, network: TripletNetwork, out: Path, replace: bool) -> float:
    """Write the graph to the file `out`; return the largest difference of its vectors."""
    require("an export to ONNX", "export", "onnx")
    if out.suffix != ".onnx" or out.is_dir():
        raise InputError(f"--out {out}: an ONNX graph is a file: give a name that ends in .onnx")
    if out.exists() and not replace:
        raise InputError(f"--out {out} is there already: --force replaces it")
    import onnx

    weights = {name: tensor.float().numpy() for name, tensor in folder.weights().items()}
    model = triplet_graph(network.config, weights, _about(folder, network))
    onnx.checker.check_model(model)
    difference = _difference(model, network)
    make_folder(out.parent)
    with atomic_file(out) as temporary:
        temporary.write_bytes(model.SerializeToString())
    return difference


def _about(folder: ModelFolder, network: TripletNetwork) -> dict[str, str]:
    """Return what the graph says of itself."""
    config, base = network.config, folder.config["base"]
    views = f"{config.title}, {config.body}" if config.split is None else f"split: {config.split}"
    return {
        "model": identity(folder),
        "signature": str(signature(folder)),
        "base": base["identity"],
        "views": views,
        "scaling": config.scaling,
    }


def _difference(model: object, network: TripletNetwork) -> float:
    """Run the graph as ONNX defines it, on random vectors and zero ones, and compare."""
    from onnx.reference import ReferenceEvaluator

    draw = stream(0, "export")
    title, body = draw.standard_normal((2, _ROWS, network.config.base_dim)).astype(np.float32)
    title[0] = body[0] = body[1] = 0
    answers: Any = ReferenceEvaluator(model).run(None, dict(zip(INPUTS, (title, body), strict=True)))
    found = np.asarray(answers[0], dtype=np.float32)
    return check_same("the graph", found, network.represent(title, body))
