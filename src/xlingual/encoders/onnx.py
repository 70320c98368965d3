"""`onnx:`: a graph of ONNX as an encoder of texts, by onnxruntime and without torch.

The vector is `sentence_embedding`, `text_embeds` or `pooler_output`, else the only output but `logits`. Where
it has one for each token, `pool` says how they become one (mean, cls, last).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from xlingual.arrays import Vectors
from xlingual.encoders.base import Encoder
from xlingual.encoders.checkpoints import kind_of_folder, model_folder, module_folders
from xlingual.encoders.network import NetworkEncoder
from xlingual.encoders.runtime import distinct_rows, is_out_of_memory, loading, require
from xlingual.encoders.scheme import (
    BATCH,
    KIND,
    MAX_LENGTH,
    POOL,
    PROMPTS,
    TEXTS,
    TRAINED_ON,
    Context,
    Prompts,
    Scheme,
)
from xlingual.encoders.tokens import Features, TextTokens, chosen_limit
from xlingual.errors import InputError, listed
from xlingual.models.texts import padded
from xlingual.records import Encoded, Texts

SCHEME = Scheme(
    "onnx",
    (TEXTS,),
    "a folder with an ONNX graph and its tokenizer",
    __name__,
    argument="DIR",
    options=(BATCH, *PROMPTS, MAX_LENGTH, POOL, TRAINED_ON, KIND),
    extra="onnx",
)
PROVIDERS = ("CUDAExecutionProvider", "CPUExecutionProvider")  # the first that is installed
_TYPES = {"tensor(float)": "float32", "tensor(double)": "float64", "tensor(float16)": "float16"}
_INPUTS = ("input_ids", "attention_mask", "token_type_ids", "position_ids")
_POOLED = ("sentence_embedding", "text_embeds", "pooler_output")
_HIDDEN = ("last_hidden_state", "token_embeddings")


class OnnxTexts(NetworkEncoder):
    """A graph and its tokenizer in a folder; it uses as many threads as onnxruntime chooses."""

    def __init__(self, folder: Path, options: Mapping[str, Any], who: str) -> None:
        super().__init__(folder, {"dtype": "float32", "device": None, **options}, who)
        kind_of_folder(who, folder, heads=False)  # the graph itself has its head, or not
        self.pool, self.prompts = options["pool"], Prompts.of(options)
        self.by_role = self.prompts.by_role
        graphs = sorted(path for place in (folder, folder / "onnx") for path in place.glob("*.onnx"))
        usual = [path for name in ("text_model.onnx", "model.onnx") for path in graphs if path.name == name]
        choice = usual or graphs[: len(graphs) == 1]
        if not choice or not (folder / "tokenizer.json").is_file():
            listing = listed(path.relative_to(folder) for path in graphs) or "none"
            raise InputError(
                f"{who}: expected model.onnx and tokenizer.json in the folder, which has the graphs: "
                f"{listing}: optimum-cli export onnx --model NAME FOLDER writes both"
            )
        self.path = choice[0]

    @property
    def content(self) -> tuple[str, ...]:
        """All of a row that its vector depends on."""
        return ("text", "role") if self.by_role else ("text",)

    @cached_property
    def identity(self) -> str:
        """A hash of the graph, its weights, tokenizer and settings, and the options that change vectors."""
        return f"onnx:{self.digest}?{self.stated('pool', 'max_length')}{self.prompts}"

    def files(self) -> Iterable[Path]:
        """List the graph and all files but graphs beside it, which may hold its weights, and the settings."""
        places = {self.path.parent, *module_folders(self.folder)}
        files = {path for place in places if place.is_dir() for path in place.iterdir() if path.is_file()}
        unread = {path for path in files if path.suffix in (".onnx", ".md") or path.name.startswith(".")}
        return {self.path} | (files - unread)

    @cached_property
    def session(self) -> Any:  # noqa: ANN401  (an InferenceSession)
        """The graph, loaded."""
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4  # failures come as exceptions
        usable = [name for name in PROVIDERS if name in onnxruntime.get_available_providers()]
        with self.unchanged():
            try:
                session = onnxruntime.InferenceSession(self.path, options, providers=usable)
            except Exception as error:  # onnxruntime's exceptions have no common base
                raise self._failed("cannot be loaded", error) from error
        if more := [slot.name for slot in session.get_inputs() if slot.name not in _INPUTS]:
            raise InputError(
                f"{self.who}: the graph needs the input {listed(more)}, which texts do not give: export the "
                "part of the model that takes texts alone"
            )
        return session

    def _failed(self, problem: str, error: Exception) -> InputError:
        return InputError(f"{self.who}: {self.path.name} {problem} ({' '.join(str(error).split())[:200]})")

    @cached_property
    def output(self) -> tuple[str, int]:
        """The output that is read, and its number of dimensions d, 0 where that is free."""
        shapes = {slot.name: list(slot.shape or ()) for slot in self.session.get_outputs()}
        tokens = [name for name in (*_HIDDEN, *shapes) if len(shapes.get(name, ())) == 3]
        rows = [name for name in (*_POOLED, *shapes) if len(shapes.get(name, ())) == 2 and name != "logits"]
        for name in tokens if self.pool else rows:
            dim = shapes[name][-1]
            return name, dim if isinstance(dim, int) else 0
        raise InputError(
            f"{self.who}: {self.path.name} has the outputs {listed(shapes)}: choose with pool= (mean, cls or "
            "last) how tokens become one vector, or export the model with one vector for each text"
        )

    @cached_property
    def tokens(self) -> TextTokens:
        """The tokenizer, with how many tokens are read: `max_length`, or as many as its settings allow."""
        from transformers import PreTrainedTokenizerFast

        with self.unchanged(), loading(self.who):
            tokenizer = PreTrainedTokenizerFast.from_pretrained(self.folder, local_files_only=True)
        names = [slot.name for slot in self.session.get_inputs()]
        tokenizer.model_input_names = [name for name in _INPUTS[::2] if name in names]
        limit = chosen_limit(self.who, tokenizer, self.options["max_length"], None)
        return TextTokens(tokenizer, limit, self.who)

    def encode_noting(self, batch: Texts, /) -> Encoded:
        """Give float32 [n, d], and which texts were cut; a text without tokens has the zero vector."""
        prompt = self.prompts.before(batch.role)
        distinct, index = distinct_rows(batch.text)
        pieces = self.tokens.pieces([prompt + text for text in distinct])
        vectors = self.batches.run(
            pieces.lengths,
            lambda rows: self._run([pieces.features[row] for row in rows.tolist()]),
            self.output[1],
        )
        vectors[pieces.lengths == 0] = 0
        return Encoded(vectors[index], pieces.truncated[index])

    def _run(self, pieces: Sequence[Features]) -> Vectors:
        """Compute the vectors of texts; numbers are converted to the types of the inputs."""
        columns = padded(pieces, self.tokens.tokenizer.pad_token_id or 0)
        ids, mask = columns[:2]
        arrays = dict(zip(_INPUTS, columns, strict=False))
        arrays.setdefault("token_type_ids", np.zeros_like(ids))
        arrays["position_ids"] = np.broadcast_to(np.arange(ids.shape[1]), ids.shape)
        slots = {slot.name: _TYPES.get(slot.type, slot.type[7:-1]) for slot in self.session.get_inputs()}
        try:
            typed = {name: arrays[name].astype(kind) for name, kind in slots.items()}
            (answer,) = self.session.run([self.output[0]], typed)
        except Exception as error:
            if is_out_of_memory(error) or is_out_of_memory(RuntimeError(str(error))):
                raise MemoryError from error
            raise self._failed("failed", error) from error
        answer = np.asarray(answer, dtype=np.float32)  # [n, d], or of tokens [n, tokens, d]
        if self.pool is None:
            return answer
        if self.pool == "mean":
            weight = mask[:, :, None].astype(np.float32)
            return np.asarray((answer * weight).sum(axis=1) / weight.sum(axis=1))
        return np.asarray(answer[np.arange(len(answer)), 0 if self.pool == "cls" else mask.sum(axis=1) - 1])


def build(argument: str, options: Mapping[str, Any], context: Context) -> Encoder:
    """Make the encoder for a spec; the graph is found, but not loaded."""
    who = f"onnx:{argument}"
    require(who, "onnx", "onnxruntime", "transformers")
    return OnnxTexts(model_folder(who, argument), options, who)
