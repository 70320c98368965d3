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
from typing import Any

import numpy as np

from xlingual.arrays import Vectors
from xlingual.encoders.base import Encoder
from xlingual.encoders.checkpoints import (
    check_processor,
    checkpoint_digest,
    kind_of_folder,
    read_json,
    user_path,
)
from xlingual.encoders.decoding import encode_images
from xlingual.encoders.network import NetworkEncoder
from xlingual.encoders.network_images import by_shape, image_processor, refuse_text_options
from xlingual.encoders.options import BATCH, KIND, POOL, TEXT, TRAINED_ON, Option, not_empty
from xlingual.encoders.prompts import Prompts
from xlingual.encoders.runtime import (
    Memory,
    distinct_rows,
    in_batches,
    in_parts,
    is_out_of_memory,
    loading,
    require,
)
from xlingual.encoders.scheme import IMAGES, TEXTS, Context, Scheme
from xlingual.encoders.tokens import Features, TextTokens, chosen_limit, padded, stated_limit
from xlingual.errors import InputError, did_you_mean, listed
from xlingual.records import Encoded, Images, Texts

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

    def __init__(self, folder: Path, options: Mapping[str, Any], who: str) -> None:
        super().__init__(folder, {"dtype": "float32", "device": None, **options}, who)
        if not folder.is_dir():
            raise InputError(
                f"{who}: no such folder: give the folder that has the graph (.onnx) and its settings"
            )
        kind_of_folder(who, folder, heads=False)  # the graph itself has its head, or not
        self.memory, self.path = Memory(), self._find()

    def _find(self) -> Path:
        """Find the graph: the one named, else the first of `names`, else the only one in the folder."""
        folder, file = self.folder, self.options["file"]
        graphs = sorted(path for place in (folder, folder / "onnx") for path in place.glob("*.onnx"))
        listing = listed(path.relative_to(folder) for path in graphs) or "none"
        if file is not None:
            if not (folder / file).is_file() or ".." in Path(file).parts:
                raise InputError(
                    f"{self.who}: file={file} is not in the folder, which has the graphs: {listing}"
                )
            return Path(folder / file)
        usual = [place / name for name in self.names for place in (folder, folder / "onnx")]
        choice = [path for path in usual if path in graphs] or graphs[: len(graphs) == 1]
        if not choice:
            remedy = "name one with file=" if graphs else "export the model to ONNX first"
            raise InputError(
                f"{self.who}: no {self.names[-1]} in the folder, which has the graphs: {listing}; {remedy}"
            )
        return choice[0]

    def _files_digest(self) -> str:
        """Hash the graph, the files beside it that hold its weights, as it names them, and the settings."""
        with self.path.open("rb") as handle:
            try:
                with mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) as content:
                    places = [(match.end(), match[1][0]) for match in _LOCATION.finditer(content)]
                    names = {
                        content[start : start + size].decode("utf-8", "replace") for start, size in places
                    }
            except ValueError:
                raise InputError(f"{self.who}: {self.path.name} is empty: export the model again") from None
        beside = sorted(self.path.parent / name for name in names)
        if missing := [path.name for path in beside if not path.is_file()]:
            raise InputError(
                f"{self.who}: {self.path.name} keeps its weights in {listed(missing)}, which is not beside it"
            )
        settings = filter(Path.is_file, (self.folder / name for name in self.settings))
        return checkpoint_digest(self.folder, [self.path, *beside, *settings])

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
                raise InputError(
                    f"{self.who}: {self.path.name} cannot be loaded ({_brief(error)})"
                ) from error
        inputs = [slot.name for slot in session.get_inputs()]
        if others := self.other_inputs(inputs):
            kind = "texts" if "input_ids" in self.expected else "images"
            raise InputError(
                f"{self.who}: the graph needs the input {listed(others)}, which {kind} do not give: export "
                f"the part of the model that takes {kind} alone, or name its file with file="
            )
        return session

    expected: tuple[str, ...] = _INPUTS

    def other_inputs(self, names: list[str]) -> list[str]:
        """List the inputs that are not given."""
        return [name for name in names if name not in self.expected]

    @cached_property
    def shapes(self) -> dict[str, tuple[int | None, ...]]:
        """The shape of each output that may be read, None where a length is free."""
        slots = {slot.name: _shape(slot) for slot in self.session.get_outputs()}
        name = self.options["output"]
        if name is None:
            return {output: shape for output, shape in slots.items() if output != "logits"}
        if name not in slots:
            raise InputError(
                f"{self.who}: output={name}: {self.path.name} has no such output.{did_you_mean(name, slots)} "
                f"It has {listed(slots)}: to read an inner layer, export the model with it as an output"
            )
        return {name: slots[name]}

    def outputs_of(self, *dimensions: int) -> list[str]:
        """List the outputs with so many dimensions, those of usual names first."""
        alike = [name for name, shape in self.shapes.items() if len(shape) in dimensions]
        return [*(name for name in (*_POOLED, *_HIDDEN) if name in alike), *alike]

    def refuse_pool(self, pool: str) -> InputError:
        """Make the error for a way of pooling that no output has."""
        names = listed(slot.name for slot in self.session.get_outputs())
        what = "one vector for each row" if pool == "pooler" else "a vector for each token or place"
        return InputError(
            f"{self.who}: pool={pool} needs an output with {what}; the graph has {names}: choose another "
            "pool, or export the graph with that output"
        )

    def run_graph(self, feeds: Mapping[str, np.ndarray], output: str) -> np.ndarray:
        """Compute an output, float32; numbers are converted to the types of the inputs.

        A graph made for batches of one size gets the last row again to fill them. Raises MemoryError where
        memory runs out; InputError where the graph fails otherwise.
        """
        count = len(next(iter(feeds.values())))
        rows = np.minimum(np.arange(self.batch_size(count)), count - 1)
        kinds = {slot.name: _TYPES.get(slot.type, slot.type[7:-1]) for slot in self.session.get_inputs()}
        typed = {name: values[rows].astype(kinds[name]) for name, values in feeds.items()}
        try:
            (answer,) = self.session.run([output], typed)
        except Exception as error:
            if is_out_of_memory(error) or is_out_of_memory(RuntimeError(str(error))):
                raise MemoryError from error
            raise InputError(f"{self.who}: the graph failed ({_brief(error)})") from error
        return np.asarray(answer, dtype=np.float32)[:count]

    def batch_size(self, most: int) -> int:
        """Find how many rows the graph takes at a time: `most`, unless it is made for one size."""
        sizes = (next(iter(_shape(slot)), None) for slot in self.session.get_inputs())
        return next((size for size in sizes if size), most)


class OnnxTexts(OnnxEncoder):
    """A graph that reads tokens."""

    opens_images = False
    names = ("text_model.onnx", "model.onnx")
    settings = (
        *("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "config.json"),
        *("sentence_bert_config.json", "modules.json", "1_Pooling/config.json"),
    )

    def __init__(self, folder: Path, options: Mapping[str, Any], who: str) -> None:
        super().__init__(folder, options, who)
        self.prompts = Prompts.of(options)

    @property
    def content(self) -> tuple[str, ...]:
        """All of a row that its vector depends on."""
        return ("text", "role") if self.by_role else ("text",)

    @property
    def by_role(self) -> bool:  # type: ignore[override]
        """Whether queries and candidates have different prompts."""
        return self.prompts.by_role

    @cached_property
    def identity(self) -> str:
        """A hash of the graph, its weights, tokenizer and settings, and the options that change vectors."""
        return f"onnx:{self.digest}?{self.stated('pool', 'max_length', 'output')}{self.prompts}"

    @cached_property
    def output(self) -> tuple[str, str]:
        """The output that is read, and how one vector is made of it: pooler, mean, cls or last."""
        ready, hidden, pool = self.outputs_of(2), self.outputs_of(3), self.options["pool"]
        if pool is None:
            if ready and (self.options["output"] or ready[0] in _POOLED[:2]):
                return ready[0], "pooler"
            with self.unchanged():
                pool = self._stated_pool() or ("pooler" if ready else "mean")
        offered = ready if pool == "pooler" else hidden
        if not offered:
            raise self.refuse_pool(pool)
        return offered[0], pool

    def _stated_pool(self) -> str | None:
        """Find how the settings of sentence-transformers pool; None where there are none."""
        settings = read_json(self.folder / "1_Pooling" / "config.json")
        if not settings:
            return None
        listing = self.folder / "modules.json"
        types = re.findall(r'"type":\s*"([\w.]+)"', listing.read_text("utf-8") if listing.is_file() else "")
        modes = [name for name, on in settings.items() if name.startswith("pooling_mode_") and on is True]
        named = [name.removeprefix("pooling_mode_") for name in modes] or [str(settings.get("pooling_mode"))]
        more = sorted({name.rpartition(".")[2] for name in types} - {"Transformer", "Pooling", "Normalize"})
        if len(named) != 1 or named[0] not in _MODES or more:
            raise InputError(
                f"{self.who}: the model pools or goes on ({listed(more or named)}) in a way that is not in "
                "the graph: export it with an output sentence_embedding, or say pool= to leave that out"
            )
        return _MODES[named[0]]

    @cached_property
    def tokens(self) -> TextTokens:
        """The tokenizer, with how many tokens the graph reads."""
        path = self.folder / "tokenizer.json"
        if not path.is_file():
            raise InputError(
                f"{self.who}: no tokenizer.json in the folder: save it with AutoTokenizer"
                ".from_pretrained(NAME).save_pretrained(FOLDER)"
            )
        from transformers import PreTrainedTokenizerFast

        with self.unchanged(), loading(self.who):
            tokenizer = PreTrainedTokenizerFast.from_pretrained(self.folder, local_files_only=True)
            config = read_json(self.folder / "config.json")
            stated = read_json(self.folder / "sentence_bert_config.json").get("max_seq_length")
        names = [slot.name for slot in self.session.get_inputs()]
        tokenizer.model_input_names = [name for name in _INPUTS[::2] if name in names]
        positions = config.get("max_position_embeddings")
        if isinstance(positions, int) and any(
            part in str(config.get("model_type")) for part in _AFTER_PADDING
        ):
            positions -= int(config.get("pad_token_id") or 0) + 1
        can = [limit for limit in (positions, self._width) if isinstance(limit, int) and limit > 0]
        limits = (stated_limit(tokenizer), stated if isinstance(stated, int) else None)
        limit = chosen_limit(self.who, self.options["max_length"], min(can, default=None), *limits)
        return TextTokens(tokenizer, limit, self.who)

    @property
    def _width(self) -> int | None:
        """The number of tokens that the graph is made for; None where it takes any."""
        shapes = [_shape(slot) for slot in self.session.get_inputs() if slot.name == "input_ids"]
        return shapes[0][1] if shapes and len(shapes[0]) > 1 else None

    def encode_noting(self, batch: Texts, /) -> Encoded:
        """Give float32 [n, d], and which texts were cut."""
        return in_parts(self._encoded, batch)

    def _encoded(self, batch: Texts) -> Encoded:
        prompt = self.prompts.before(batch.role)
        distinct, index = distinct_rows(batch.text)
        pieces = self.tokens.pieces([prompt + text for text in distinct])
        vectors = in_batches(
            pieces.lengths,
            self.batch_size(self.options["batch"]),
            lambda rows: self._run([pieces.features[int(i)] for i in rows]),
            who=self.who,
            dim=self.shapes[self.output[0]][-1] or 0,  # 0 where the graph does not say
            memory=self.memory,
        )
        return Encoded(vectors[index], pieces.truncated[index])

    def _run(self, pieces: Sequence[Features]) -> Vectors:
        """Give float32 [n, d] for pieces of any lengths; one without tokens has the zero vector."""
        feeds = padded(pieces, self.tokens.tokenizer.pad_token_id or 0, self._width or 0)
        mask = feeds["attention_mask"]
        feeds["position_ids"] = np.broadcast_to(np.arange(mask.shape[1]), mask.shape)
        output, pool = self.output
        answer = self.run_graph({slot.name: feeds[slot.name] for slot in self.session.get_inputs()}, output)
        if pool == "pooler":
            vectors = answer.reshape(len(answer), -1)
        elif pool == "mean":
            weight = mask[:, :, None].astype(np.float32)
            vectors = (answer * weight).sum(axis=1) / weight.sum(axis=1)
        else:
            vectors = answer[np.arange(len(answer)), 0 if pool == "cls" else mask.sum(axis=1) - 1]
        vectors[[not piece["input_ids"] for piece in pieces]] = 0
        return np.asarray(vectors)


class OnnxImages(OnnxEncoder):
    """A graph that takes `pixel_values` [n, 3, height, width]; equal bytes are encoded once."""

    content = ("bytes",)
    names = ("vision_model.onnx", "model.onnx")
    settings = ("preprocessor_config.json", "processor_config.json")
    expected = ("pixel_values",)

    def __init__(self, folder: Path, options: Mapping[str, Any], who: str) -> None:
        super().__init__(folder, options, who)
        refuse_text_options(who, options)
        check_processor(who, folder)

    def other_inputs(self, names: list[str]) -> list[str]:
        """List the inputs that are not given; a single one may have any name."""
        return [] if len(names) == 1 and names[0] != "input_ids" else super().other_inputs(names)

    @cached_property
    def identity(self) -> str:
        """A hash of the graph, its weights and the settings, and how its output is pooled."""
        return f"onnx:images:{self.digest}?pool={self.options['pool']}&{self.stated('output')}"

    @cached_property
    def processor(self) -> Any:  # noqa: ANN401  (of transformers)
        """What prepares images, read from the settings that the identity is of."""
        with self.unchanged(), loading(self.who):
            return image_processor(self.folder)

    @cached_property
    def output(self) -> str:
        """The output that is read."""
        pool = self.options["pool"]
        names = [self.outputs_of(2), self.outputs_of(3, 4)]
        pooled = [name for name in _POOLED if name in names[1]]  # a map of one place
        offered = {None: names[0] + pooled + names[1], "pooler": names[0] + pooled}.get(pool, names[1])
        if not offered:
            raise self.refuse_pool(pool or "mean")
        return offered[0]

    def encode(self, batch: Images, /) -> Vectors:
        """Give float32 [n, d]; raise InputError naming the first row whose image is absent or broken."""
        processor, size = self.processor, self.batch_size(self.options["batch"])
        return encode_images(
            batch,
            lambda image: np.asarray(processor(images=[image], return_tensors="np")["pixel_values"][0]),
            lambda images: by_shape(images, lambda image: image.shape, self._run),
            batch_size=size,
            who=self.who,
            memory=self.memory,
        )

    def _run(self, images: Sequence[np.ndarray]) -> Vectors:
        """Give [n, d] of an output [n, d], of tokens [n, tokens, d] or of a map [n, d, height, width]."""
        answer = self.run_graph({self.session.get_inputs()[0].name: np.stack(images)}, self.output)
        cls = self.options["pool"] == "cls"
        if cls and answer.ndim == 4:
            raise InputError(f"{self.who}: pool=cls: the output is a map without a first token; use mean")
        if answer.ndim == 3:
            return np.asarray(answer[:, 0] if cls else answer.mean(axis=1))
        return np.asarray(answer.mean(axis=(2, 3)) if answer.ndim == 4 else answer)


def build(argument: str, options: Mapping[str, Any], context: Context) -> Encoder:
    """Make the encoder for a spec; the graph is found, but not loaded."""
    who = f"onnx:{argument}"
    require(who, "onnx", "onnxruntime", "transformers")
    make = OnnxImages if context.kind == IMAGES else OnnxTexts
    return make(user_path(who, argument), options, who)


def _shape(slot: Any) -> tuple[int | None, ...]:  # noqa: ANN401  (of onnxruntime)
    return tuple(length if isinstance(length, int) and length > 0 else None for length in slot.shape or ())


def _brief(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
