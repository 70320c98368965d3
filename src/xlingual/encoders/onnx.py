"""`onnx:`: a graph of ONNX as an encoder of texts; of images: `onnx_images`. Without torch."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from xlingual.arrays import Vectors
from xlingual.encoders.base import Encoder
from xlingual.encoders.batching import distinct_rows, in_batches
from xlingual.encoders.checkpoints import read_json, user_path
from xlingual.encoders.networks import TextNetworkEncoder
from xlingual.encoders.onnx_graph import OnnxGraph, find_graph, graph_files
from xlingual.encoders.scheme import IMAGES, Context
from xlingual.encoders.tokens import Features, TextTokens, chosen_limit, padded
from xlingual.encoders.torch_runtime import require
from xlingual.encoders.weights import checkpoint_digest
from xlingual.errors import InputError, listed
from xlingual.records import Encoded, Texts

_NAMES = ("text_model.onnx", "model.onnx")
_INPUTS = ("input_ids", "attention_mask", "token_type_ids", "position_ids")
_POOLED = ("sentence_embedding", "text_embeds", "pooler_output")
_HIDDEN = ("last_hidden_state", "token_embeddings")
# settings that count besides tokenizer.json and the graph
SETTINGS = (
    *("tokenizer_config.json", "special_tokens_map.json", "config.json", "sentence_bert_config.json"),
    *("modules.json", "1_Pooling/config.json"),
)
_AFTER_PADDING = ("roberta", "camembert", "mpnet", "longformer")  # their positions begin behind the padding's
_NO_LIMIT = 10**6  # tokenizers without a limit say 10³⁰


class OnnxEncoder(TextNetworkEncoder):
    """A graph that reads tokens.

    Without `pool` the vector is the output `sentence_embedding` or `text_embeds`; else what the settings of
    sentence-transformers in the folder say; else the output `pooler_output`; else the mean of the tokens.
    `output` names another value, of an inner layer too.
    """

    has_head = False  # the graph itself has it

    def __init__(self, folder: Path, options: Mapping[str, Any], who: str) -> None:
        super().__init__(folder, options, who)
        self.path = find_graph(folder, options["file"], _NAMES, who)

    @cached_property
    def identity(self) -> str:
        """A hash of the graph, its weights, tokenizer and settings, and the options that change vectors."""
        return f"onnx:{self.digest}?{self.stated('pool', 'max_length', 'output')}{self.prompts}"

    def _files_digest(self) -> str:
        settings = (self.folder / name for name in ("tokenizer.json", *SETTINGS))
        files = [*graph_files(self.path, self.who), *filter(Path.is_file, settings)]
        return checkpoint_digest(self.folder, files)

    @cached_property
    def graph(self) -> OnnxGraph:
        """The graph, which takes nothing but texts."""
        with self.unchanged():
            graph = OnnxGraph(self.path, self.who, self.options["output"])
            graph.refuse_other_inputs(_INPUTS, "texts")
        return graph

    @cached_property
    def output(self) -> tuple[str, str]:
        """The output that is read, and how one vector is made of it: pooler, mean, cls or last."""
        with self.unchanged():
            return choose_output(self.graph, self.options["pool"], self.folder, self.who)

    @cached_property
    def tokens(self) -> TextTokens:
        """The tokenizer, with how many tokens the graph reads."""
        with self.unchanged():
            limit = length_limit(self.folder, self.options["max_length"], self._made_for, self.who)
            tokenizer = OnnxTokenizer(self.folder, "token_type_ids" in self.graph.inputs, self.who)
        return TextTokens(tokenizer, limit, self.who)

    def _encoded(self, batch: Texts) -> Encoded:
        """Return the same for a part of the texts; equal texts are encoded once."""
        prompt = self.prompts.before(batch.role)
        distinct, index = distinct_rows(batch.text)
        pieces = self.tokens.pieces([prompt + text for text in distinct])
        vectors = in_batches(
            pieces.lengths,
            self.graph.batch_size(self.options["batch"]),
            lambda which: self._run([pieces.features[int(i)] for i in which]),
            who=self.who,
            dim=self.graph.outputs[self.output[0]].shape[-1] or 0,  # where the graph does not say
            memory=self.memory,
        )
        return Encoded(vectors[index], pieces.truncated[index])

    @property
    def _made_for(self) -> int | None:
        """The number of tokens that the graph is made for; None where it takes any."""
        shape = self.graph.inputs["input_ids"].shape if "input_ids" in self.graph.inputs else ()
        return shape[1] if len(shape) > 1 else None

    def _run(self, pieces: Sequence[Features]) -> Vectors:
        """Return float32 [n, d] for pieces of any lengths; one without tokens has the zero vector."""
        feeds = padded(pieces, self.tokens.tokenizer.pad_token_id, self._made_for or 0)
        mask = feeds["attention_mask"]
        feeds["position_ids"] = np.broadcast_to(np.arange(mask.shape[1]), mask.shape)
        output, pool = self.output
        vectors = pooled(
            self.graph.run({name: feeds[name] for name in self.graph.inputs}, output), mask, pool
        )
        vectors[[not piece["input_ids"] for piece in pieces]] = 0
        return vectors


def pooled(answer: np.ndarray, mask: np.ndarray, pool: str) -> Vectors:
    """Return [n, d] for an output [n, d] (pooler) or [n, tokens, d], with the mask of tokens [n, tokens]."""
    if pool == "pooler":
        return answer.reshape(len(answer), -1)
    if pool == "cls":
        return answer[:, 0].copy()
    if pool == "last":
        return np.asarray(answer[np.arange(len(answer)), mask.sum(axis=1) - 1])
    weight = mask[:, :, None].astype(np.float32)
    return np.asarray((answer * weight).sum(axis=1) / weight.sum(axis=1))


def choose_output(graph: OnnxGraph, pool: str | None, folder: Path, who: str) -> tuple[str, str]:
    """Return the output that is read, and how: "pooler" is one vector for each text."""
    ready, hidden = graph.outputs_of(_POOLED, 2), graph.outputs_of(_HIDDEN, 3)
    if pool is None:
        if ready and (graph.named or ready[0] in _POOLED[:2]):
            return ready[0], "pooler"
        pool = _sentence_transformers(folder, who) or ("pooler" if ready else "mean")
    offered, wanted = hidden, "a vector for each token"
    if pool == "pooler":
        offered, wanted = ready, "one vector for each text"
    if not offered:
        raise InputError(
            f"{who}: pool={pool} needs an output with {wanted}; the graph has {listed(graph.outputs)}: "
            "choose another pool, or export the graph with that output"
        )
    return offered[0], pool


def _sentence_transformers(folder: Path, who: str) -> str | None:
    """Return how the settings of sentence-transformers pool; None where there are none."""
    path = folder / "1_Pooling" / "config.json"
    if not path.is_file():
        return None
    try:
        modules = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
        types = [str(module["type"]).rpartition(".")[2] for module in modules]
        settings = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise InputError(
            f"{who}: modules.json or 1_Pooling/config.json cannot be read ({error}): fetch the model again"
        ) from None
    known_modes = {
        "mean": "mean",
        "mean_tokens": "mean",
        "cls": "cls",
        "cls_token": "cls",
        "lasttoken": "last",
    }
    modes = [name for name, on in settings.items() if name.startswith("pooling_mode_") and on is True]
    named = [name.removeprefix("pooling_mode_") for name in modes] or [str(settings.get("pooling_mode"))]
    chosen_modes = [known_modes.get(name) for name in named]
    more = sorted(set(types) - {"Transformer", "Pooling", "Normalize"})
    if len(chosen_modes) != 1 or chosen_modes[0] is None or more:
        raise InputError(
            f"{who}: the model pools or goes on ({listed(more or modes)}) in a way that is not in the graph: "
            "export it with an output sentence_embedding, or say pool= to leave that out"
        )
    return chosen_modes[0]


def build(argument: str, options: Mapping[str, Any], context: Context) -> Encoder:
    """Return the encoder for a spec; the graph is found, but not loaded."""
    who = f"onnx:{argument}"
    folder = user_path(who, argument)
    require(who, "onnx", "onnxruntime", *(() if context.kind == IMAGES else ("tokenizers",)))
    if context.kind == IMAGES:
        from xlingual.encoders.onnx_images import OnnxImages

        return OnnxImages(folder, options, who)
    return OnnxEncoder(folder, options, who)


class OnnxTokenizer:
    """A fast tokenizer that is called as one of transformers is: what `TextTokens` needs, and no more."""

    def __init__(self, folder: Path, typed: bool, who: str) -> None:
        from tokenizers import Tokenizer

        path = folder / "tokenizer.json"
        if not path.is_file():
            raise InputError(
                f"{who}: no tokenizer.json in the folder: save it with AutoTokenizer.from_pretrained(NAME)"
                ".save_pretrained(FOLDER)"
            )
        try:
            self._tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises plain Exception
            raise InputError(f"{who}: tokenizer.json cannot be read ({str(error)[:200]})") from error
        padding = self._tokenizer.padding or {}
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self.pad_token_id: int = padding.get("pad_id", self._pad(read_json(folder / "tokenizer_config.json")))
        self.model_input_names = ("input_ids", "token_type_ids") if typed else ("input_ids",)

    def __call__(
        self,
        texts: str | Sequence[str],
        *,
        add_special_tokens: bool = True,
        truncation: bool = False,
        max_length: int | None = None,
        **_: Any,  # noqa: ANN401  (what only tokenizers of transformers know)
    ) -> dict[str, Any]:
        """Return numbers by name: of one text a list, of several texts a list of lists."""
        if truncation and max_length is not None:
            self._tokenizer.enable_truncation(max_length)
        try:
            rows = [texts] if isinstance(texts, str) else list(texts)
            found = self._tokenizer.encode_batch(rows, add_special_tokens=add_special_tokens)
        finally:
            self._tokenizer.no_truncation()
        columns = {"input_ids": [row.ids for row in found], "token_type_ids": [row.type_ids for row in found]}
        chosen = {name: columns[name] for name in self.model_input_names}
        return {name: rows[0] for name, rows in chosen.items()} if isinstance(texts, str) else chosen

    def _pad(self, settings: dict[str, Any]) -> int:
        """Return the number of the padding token; 0 where there is none, since padding is masked."""
        named = settings.get("pad_token")
        tokens = (named.get("content") if isinstance(named, dict) else named, "[PAD]", "<pad>")
        numbers = (self._tokenizer.token_to_id(token) for token in tokens if isinstance(token, str))
        return next((int(number) for number in numbers if number is not None), 0)


def length_limit(folder: Path, wanted: int | None, made_for: int | None, who: str) -> int | None:
    """Return how many tokens are read at once: `wanted`, else the smallest limit of the settings.

    `made_for` is the number of tokens that the graph is made for, where it is made for one.
    """
    config = read_json(folder / "config.json")
    positions = config.get("max_position_embeddings")
    if isinstance(positions, int) and any(part in str(config.get("model_type")) for part in _AFTER_PADDING):
        positions -= int(config.get("pad_token_id") or 0) + 1
    can = [limit for limit in (positions, made_for) if isinstance(limit, int) and limit > 0]
    limits = (
        read_json(folder / "tokenizer_config.json").get("model_max_length"),
        read_json(folder / "sentence_bert_config.json").get("max_seq_length"),
    )
    known = (int(limit) for limit in limits if limit and limit < _NO_LIMIT)
    return chosen_limit(who, wanted, min(can, default=None), *known)
