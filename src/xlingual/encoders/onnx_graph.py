"""A graph of ONNX: its files, its inputs and outputs, and running it with onnxruntime."""

from __future__ import annotations

import mmap
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from xlingual.encoders.batching import is_out_of_memory
from xlingual.encoders.onnx_values import with_output
from xlingual.errors import InputError, listed

PROVIDERS = ("CUDAExecutionProvider", "CPUExecutionProvider")  # the first that is installed
_FOLDER_OF_WEIGHTS = "session.model_external_initializers_file_folder_path"
_LOCATION = re.compile(rb"\x0a\x08location\x12([\x01-\x7f])")  # protobuf's key and length of a path


class Slot(NamedTuple):
    """An input or output: its shape (None where a length is free) and numpy's name of its numbers."""

    shape: tuple[int | None, ...]
    dtype: str


class OnnxGraph:
    """A session of onnxruntime; it uses as many threads as onnxruntime chooses (one for each core).

    `output` names the one value that is read, of an inner layer too; without it any output may be.
    """

    def __init__(self, path: Path, who: str, output: str | None = None) -> None:
        import onnxruntime

        self.who = who
        model = path if output is None else with_output(path, output, who)
        options = onnxruntime.SessionOptions()
        if model is not path:
            options.add_session_config_entry(_FOLDER_OF_WEIGHTS, str(path.parent))
        options.log_severity_level = 4  # failures come as exceptions
        usable = [name for name in PROVIDERS if name in onnxruntime.get_available_providers()]
        try:
            self._session = onnxruntime.InferenceSession(model, options, providers=usable)
        except Exception as error:  # onnxruntime's exceptions have no common base
            raise InputError(f"{who}: {path.name} cannot be loaded ({_brief(error)})") from error
        self.inputs = {slot.name: _slot(slot) for slot in self._session.get_inputs()}
        outputs = {slot.name: _slot(slot) for slot in self._session.get_outputs()}
        self.named = output is not None
        self.outputs = outputs if output is None else {output: outputs[output]}

    def run(self, feeds: Mapping[str, np.ndarray], output: str) -> np.ndarray:
        """Return an output, float32; numbers are converted to the types of the inputs.

        A graph made for batches of one size gets the last row again to fill them. Raises MemoryError where
        memory runs out; InputError where the graph fails otherwise.
        """
        count = len(next(iter(feeds.values())))
        rows = np.minimum(np.arange(self.batch_size(count)), count - 1)
        typed = {name: values[rows].astype(self.inputs[name].dtype) for name, values in feeds.items()}
        try:
            (answer,) = self._session.run([output], typed)
        except Exception as error:
            if is_out_of_memory(error) or is_out_of_memory(RuntimeError(str(error))):
                raise MemoryError from error
            raise InputError(f"{self.who}: the graph failed ({_brief(error)})") from error
        return np.asarray(answer, dtype=np.float32)[:count]

    def batch_size(self, wanted: int) -> int:
        """Return how many rows the graph takes at a time: `wanted`, unless it is made for one size."""
        return next((slot.shape[0] for slot in self.inputs.values() if slot.shape and slot.shape[0]), wanted)

    def outputs_of(self, names: Sequence[str], dimensions: int) -> list[str]:
        """Return the outputs of these names, then others with so many dimensions, but not `logits`.

        Where an output was named, that one if it has so many dimensions.
        """
        alike = [name for name, slot in self.outputs.items() if len(slot.shape) == dimensions]
        if self.named:
            return alike
        known = [name for name in names if name in self.outputs]
        return [name for name in dict.fromkeys([*known, *alike]) if name != "logits"]

    def refuse_other_inputs(self, given: Sequence[str], kind: str) -> None:
        """Raise InputError where the graph needs inputs that are not given."""
        if others := [name for name in self.inputs if name not in given]:
            raise InputError(
                f"{self.who}: the graph needs the input {listed(others)}, which {kind} do not give: export "
                f"the part of the model that takes {kind} alone, or name its file with file="
            )


def find_graph(folder: Path, file: str | None, names: Sequence[str], who: str) -> Path:
    """Return the graph: the one named, else the first of `names`, else the only one in the folder."""
    if not folder.is_dir():
        raise InputError(
            f"{who}: no such folder: give the folder that has the graph (.onnx) and its settings"
        )
    found = sorted(path for place in (folder, folder / "onnx") for path in place.glob("*.onnx"))
    listing = listed(path.relative_to(folder) for path in found) or "none"
    if file is not None:
        path = folder / file
        if not path.is_file() or ".." in Path(file).parts:
            raise InputError(f"{who}: file={file} is not in the folder, which has the graphs: {listing}")
        return path
    for name in names:
        for path in (folder / name, folder / "onnx" / name):
            if path in found:
                return path
    if len(found) != 1:
        remedy = "name one with file=" if found else "export the model to ONNX first"
        raise InputError(f"{who}: no {names[-1]} in the folder, which has the graphs: {listing}; {remedy}")
    return found[0]


def graph_files(graph: Path, who: str) -> list[Path]:
    """Return the graph and the files beside it that hold its weights, as the graph itself names them."""
    with graph.open("rb") as handle:
        try:
            with mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) as content:
                found = (
                    content[match.end() : match.end() + match[1][0]] for match in _LOCATION.finditer(content)
                )
                names = {raw.decode("utf-8", "replace") for raw in found}
        except ValueError:
            raise InputError(f"{who}: {graph.name} is empty: export the model again") from None
    if missing := sorted(name for name in names if not (graph.parent / name).is_file()):
        raise InputError(
            f"{who}: {graph.name} keeps its weights in {listed(missing)}, which is not beside it"
        )
    return [graph, *sorted(graph.parent / name for name in names)]


def _slot(node: Any) -> Slot:  # noqa: ANN401  (of onnxruntime)
    shape = tuple(length if isinstance(length, int) and length > 0 else None for length in node.shape or ())
    dtype = node.type.removeprefix("tensor(").removesuffix(")")
    return Slot(shape, {"float": "float32", "double": "float64"}.get(dtype, dtype))


def _brief(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
