"""`onnx:`: a graph of ONNX as an encoder of texts or images, by onnxruntime and without torch.

Without `pool` the vector is the output `sentence_embedding` or `text_embeds` (`image_embeds`); else what the
settings of sentence-transformers in the folder say; else `pooler_output`; else the mean of the last hidden
state. `output` names another one of the graph's outputs.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from xlingual.arrays import Ints, Vectors
from xlingual.encoders.base import Encoder
from xlingual.encoders.checkpoints import (
    check_reader,
    checkpoint_digest,
    kind_of_folder,
    model_folder,
    modules,
    read_json,
)
from xlingual.encoders.decoding import encode_images
from xlingual.encoders.network import NetworkEncoder
from xlingual.encoders.network_images import by_shape, image_processor, refuse_text_options
from xlingual.encoders.options import BATCH, KIND, POOL, TEXT, TRAINED_ON, Option, not_empty
from xlingual.encoders.prompts import Prompts
from xlingual.encoders.runtime import distinct_rows, is_out_of_memory, loading, require
from xlingual.encoders.scheme import IMAGES, TEXTS, Context, Scheme
from xlingual.encoders.tokens import Features, TextTokens, chosen_limit
from xlingual.errors import InputError, listed
from xlingual.models.batches import padded
from xlingual.records import Encoded, Images, Texts

if TYPE_CHECKING:
    from PIL.Image import Image

SCHEME = Scheme(
    "onnx",
    (TEXTS, IMAGES),
    "a folder with an ONNX graph and its tokenizer or image processor",
    __name__,
    argument="DIR",
    options=(
        BATCH,
        *TEXT,
        POOL,
        Option("file", not_empty, None, "the graph, where the folder has several"),
        Option("output", not_empty, None, "the output that is read, where the graph has several"),
        TRAINED_ON,
        KIND,
    ),
    extra="onnx",
)
PROVIDERS = ("CUDAExecutionProvider", "CPUExecutionProvider")  # the first that is installed
_TYPES = {"tensor(float)": "float32", "tensor(double)": "float64", "tensor(float16)": "float16"}
_LOCATION = re.compile(rb"\x0a\x08location\x12([\x01-\x7f])")  # protobuf's key and length of a path
_INPUTS = ("input_ids", "attention_mask", "token_type_ids", "position_ids")
_POOLED = ("sentence_embedding", "text_embeds", "image_embeds", "pooler_output")
_HIDDEN = ("last_hidden_state", "token_embeddings")
_AFTER_PADDING = ("roberta", "camembert", "mpnet", "longformer")  # their positions begin behind the padding's
_MODES = {"mean": "mean", "mean_tokens": "mean", "cls": "cls", "cls_token": "cls", "lasttoken": "last"}


class OnnxEncoder(NetworkEncoder):
    """A graph and its settings in a folder; it uses as many threads as onnxruntime chooses."""

    names: tuple[str, ...]  # of graphs, the first that is there is taken
    settings: tuple[str, ...]  # files that count besides the graph
    inputs: tuple[str, ...]

    def __init__(self, folder: Path, options: Mapping[str, Any], who: str) -> None:
        super().__init__(folder, {"dtype": "float32", "device": None, **options}, who)
        kind_of_folder(who, folder, heads=False)  # the graph itself has its head, or not
        self.pool, file = options["pool"], options["file"]
        graphs = sorted(path for place in (folder, folder / "onnx") for path in place.glob("*.onnx"))
        usual = [place / name for name in self.names for place in (folder, folder / "onnx")]
        choice = [path for path in usual if path in graphs] or graphs[: len(graphs) == 1]
        if file is not None:
            choice = [folder / file] if (folder / file).is_file() and ".." not in Path(file).parts else []
        if not choice:
            listing = listed(path.relative_to(folder) for path in graphs) or "none: export the model first"
            raise InputError(
                f"{who}: no {file or self.names[-1]} in the folder, which has the graphs: {listing}; name "
                "one with file="
            )
        self.path = choice[0]

    def files_digest(self) -> str:
        """Hash the graph, the files beside it that hold its weights, as it names them, and the settings."""
        names: set[str] = set()
        with self.path.open("rb") as handle:
            if self.path.stat().st_size:
                with mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) as content:
                    places = [(match.end(), match[1][0]) for match in _LOCATION.finditer(content)]
                    names = {content[at : at + size].decode("utf-8", "replace") for at, size in places}
        weights = sorted(self.path.parent / name for name in names)
        if missing := [path.name for path in weights if not path.is_file()]:
            raise InputError(f"{self.who}: the weights of {self.path.name} are missing: {listed(missing)}")
        settings = filter(Path.is_file, (self.folder / name for name in self.settings))
        return checkpoint_digest(self.folder, [self.path, *weights, *settings])

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
                raise self.failed("cannot be loaded", error) from error
        names = [slot.name for slot in session.get_inputs()]
        more = [name for name in names if name not in self.inputs]
        if more and (self.inputs == _INPUTS or names != more or "input_ids" in more):  # one image: any name
            kind = "texts" if self.inputs == _INPUTS else "images"
            raise InputError(
                f"{self.who}: the graph needs the input {listed(more)}, which {kind} do not give: export the "
                f"part of the model that takes {kind} alone, or name its file with file="
            )
        return session

    def failed(self, problem: str, error: Exception) -> InputError:
        """Make the error for a graph that fails."""
        return InputError(f"{self.who}: {self.path.name} {problem} ({' '.join(str(error).split())[:200]})")

    def outputs_of(self, *dimensions: int) -> list[str]:
        """List the outputs with so many dimensions that may be read, those of usual names first."""
        shapes = {slot.name: slot.shape or () for slot in self.session.get_outputs()}
        name = self.options["output"]
        if name is not None and name not in shapes:
            raise InputError(
                f"{self.who}: output={name}: {self.path.name} has the outputs {listed(shapes)}: to read an "
                "inner layer, export the model with it as an output"
            )
        readable = [name] if name is not None else [output for output in shapes if output != "logits"]
        alike = [output for output in readable if len(shapes[output]) in dimensions]
        return [*(output for output in (*_POOLED, *_HIDDEN) if output in alike), *alike]

    def output_for(self, pool: str, outputs: Sequence[str]) -> str:
        """Choose the first of the outputs that a way of pooling reads; InputError where there is none."""
        if outputs:
            return outputs[0]
        form = "one vector for each row" if pool == "pooler" else "a vector for each token or place"
        names = listed(slot.name for slot in self.session.get_outputs())
        raise InputError(
            f"{self.who}: pool={pool} needs an output with {form}; the graph has {names}: choose another "
            "pool, or export the graph with that output"
        )

    def run_graph(self, arrays: Mapping[str, np.ndarray], output: str) -> np.ndarray:
        """Compute an output, float32; numbers are converted to the types of the inputs."""
        slots = self.session.get_inputs()
        typed = {
            slot.name: arrays[slot.name].astype(_TYPES.get(slot.type, slot.type[7:-1])) for slot in slots
        }
        try:
            (answer,) = self.session.run([output], typed)
        except Exception as error:
            if is_out_of_memory(error) or is_out_of_memory(RuntimeError(str(error))):
                raise MemoryError from error
            raise self.failed("failed", error) from error
        return np.asarray(answer, dtype=np.float32)


class OnnxTexts(OnnxEncoder):
    """A graph that reads tokens."""

    opens_images = False
    names = ("text_model.onnx", "model.onnx")
    inputs = _INPUTS
    settings = (
        *("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "config.json"),
        *("sentence_bert_config.json", "modules.json", "1_Pooling/config.json"),
    )

    def __init__(self, folder: Path, options: Mapping[str, Any], who: str) -> None:
        super().__init__(folder, options, who)
        self.prompts = Prompts.of(options)
        self.by_role = self.prompts.by_role
        if not (folder / "tokenizer.json").is_file():
            raise InputError(
                f"{who}: no tokenizer.json in the folder: save it with AutoTokenizer.from_pretrained(NAME)"
                ".save_pretrained(FOLDER)"
            )

    @property
    def content(self) -> tuple[str, ...]:
        """All of a row that its vector depends on."""
        return ("text", "role") if self.by_role else ("text",)

    @cached_property
    def identity(self) -> str:
        """A hash of the graph, its weights, tokenizer and settings, and the options that change vectors."""
        return f"onnx:{self.digest}?{self.stated('pool', 'max_length', 'output')}{self.prompts}"

    @cached_property
    def output(self) -> tuple[str, str]:
        """The output that is read, and how one vector is made of it: pooler, mean, cls or last."""
        ready, hidden, pool = self.outputs_of(2), self.outputs_of(3), self.pool
        if pool is None and ready and (self.options["output"] or ready[0] in _POOLED[:2]):
            return ready[0], "pooler"
        settings = read_json(self.folder / "1_Pooling" / "config.json") if pool is None else {}
        if settings:
            modes = [name for name, on in settings.items() if name.startswith("pooling_mode_") and on is True]
            named = [name.removeprefix("pooling_mode_") for name in modes] or [
                str(settings.get("pooling_mode"))
            ]
            types = {kind.rpartition(".")[2] for _, kind in modules(self.folder)}
            more = sorted(types - {"Transformer", "Pooling", "Normalize"})
            if len(named) != 1 or named[0] not in _MODES or more:
                raise InputError(
                    f"{self.who}: the model pools or goes on ({listed(more or named)}) in a way that is not "
                    "in the graph: export it with an output sentence_embedding, or give pool="
                )
            pool = _MODES[named[0]]
        pool = pool or ("pooler" if ready else "mean")
        return self.output_for(pool, ready if pool == "pooler" else hidden), pool

    @cached_property
    def tokens(self) -> TextTokens:
        """The tokenizer, with how many tokens the graph reads."""
        from transformers import PreTrainedTokenizerFast

        with self.unchanged(), loading(self.who):
            tokenizer = PreTrainedTokenizerFast.from_pretrained(self.folder, local_files_only=True)
            config = read_json(self.folder / "config.json")
            stated = read_json(self.folder / "sentence_bert_config.json").get("max_seq_length")
        names = [slot.name for slot in self.session.get_inputs()]
        tokenizer.model_input_names = [name for name in _INPUTS[::2] if name in names]
        positions = config.get("max_position_embeddings")
        positions = positions if isinstance(positions, int) and positions > 0 else None
        if positions and any(part in str(config.get("model_type")) for part in _AFTER_PADDING):
            positions -= int(config.get("pad_token_id") or 0) + 1
        stated = stated if isinstance(stated, int) and stated > 0 else None
        limit = chosen_limit(self.who, tokenizer, self.options["max_length"], positions, stated)
        return TextTokens(tokenizer, limit, self.who)

    def encode_noting(self, batch: Texts, /) -> Encoded:
        """Give float32 [n, d], and which texts were cut; a text without tokens has the zero vector."""
        prompt = self.prompts.before(batch.role)
        distinct, index = distinct_rows(batch.text)
        pieces = self.tokens.pieces([prompt + text for text in distinct])
        (output, _), slots = self.output, self.session.get_outputs()
        dim = next(slot.shape[-1] for slot in slots if slot.name == output)
        vectors = self.batches.run(
            pieces.lengths,
            lambda rows: self._run([pieces.features[row] for row in rows.tolist()]),
            dim if isinstance(dim, int) else 0,
        )
        vectors[pieces.lengths == 0] = 0
        return Encoded(vectors[index], pieces.truncated[index])

    def _run(self, pieces: Sequence[Features]) -> Vectors:
        columns: tuple[Ints, ...] = padded(pieces, self.tokens.tokenizer.pad_token_id or 0)
        arrays = dict(zip(_INPUTS, columns, strict=False))
        ids, mask = columns[:2]
        arrays["position_ids"] = np.broadcast_to(np.arange(ids.shape[1]), ids.shape)
        arrays.setdefault("token_type_ids", np.zeros_like(ids))
        output, pool = self.output
        answer = self.run_graph(arrays, output)
        if pool == "pooler":
            return np.asarray(answer.reshape(len(answer), -1))
        if pool == "mean":
            weight = mask[:, :, None].astype(np.float32)
            return np.asarray((answer * weight).sum(axis=1) / weight.sum(axis=1))
        return np.asarray(answer[np.arange(len(answer)), 0 if pool == "cls" else mask.sum(axis=1) - 1])


class OnnxImages(OnnxEncoder):
    """A graph that takes `pixel_values` [n, 3, height, width]; equal bytes are encoded once."""

    content = ("bytes",)
    names = ("vision_model.onnx", "model.onnx")
    settings = ("preprocessor_config.json", "processor_config.json")
    inputs = ("pixel_values",)

    def __init__(self, folder: Path, options: Mapping[str, Any], who: str) -> None:
        super().__init__(folder, options, who)
        refuse_text_options(who, options)
        check_reader(who, folder, images=True)

    @cached_property
    def identity(self) -> str:
        """A hash of the graph, its weights and the settings, and how its output is pooled."""
        return f"onnx:images:{self.digest}?pool={self.pool}&{self.stated('output')}"

    @cached_property
    def output(self) -> str:
        """The output that is read."""
        ready, maps = self.outputs_of(2), self.outputs_of(3, 4)
        ready += [name for name in _POOLED if name in maps]  # a map of one place
        offered = {None: ready + maps, "pooler": ready}.get(self.pool, maps)
        return self.output_for(self.pool or "mean", offered)

    def encode(self, batch: Images, /) -> Vectors:
        """Give float32 [n, d]; raise InputError naming the first row whose image is absent or broken."""
        with self.unchanged(), loading(self.who):
            processor = image_processor(self.folder)

        def prepare(image: Image) -> np.ndarray:
            return np.asarray(processor(images=[image], return_tensors="np")["pixel_values"][0])

        def run(images: Sequence[np.ndarray]) -> Vectors:
            return by_shape(images, lambda image: image.shape, self._run)

        return encode_images(batch, prepare, run, self.batches)

    def _run(self, images: Sequence[np.ndarray]) -> Vectors:
        """Give [n, d] of an output [n, d], of tokens [n, tokens, d] or of a map [n, d, height, width]."""
        answer = self.run_graph({self.session.get_inputs()[0].name: np.stack(images)}, self.output)
        if self.pool == "cls" and answer.ndim == 4:
            raise InputError(f"{self.who}: pool=cls: the output is a map without a first token; use mean")
        if answer.ndim == 3:
            return np.asarray(answer[:, 0] if self.pool == "cls" else answer.mean(axis=1))
        return np.asarray(answer.mean(axis=(2, 3)) if answer.ndim == 4 else answer)


def build(argument: str, options: Mapping[str, Any], context: Context) -> Encoder:
    """Make the encoder for a spec; the graph is found, but not loaded."""
    who = f"onnx:{argument}"
    require(who, "onnx", "onnxruntime", "transformers")
    make = OnnxImages if context.kind == IMAGES else OnnxTexts
    return make(model_folder(who, argument), options, who)
