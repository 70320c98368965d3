"""`onnx:`: a graph of ONNX as an encoder of texts or images, by onnxruntime and without torch.

The vector is `output`, else `sentence_embedding`, `text_embeds`, `image_embeds` or `pooler_output`, else the
only output but `logits`. Where it has one for each token, `pool` says how they become one (mean, cls, last);
those of the places of an image are averaged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from xlingual.arrays import Vectors
from xlingual.encoders.base import Encoder
from xlingual.encoders.checkpoints import (
    check_reader,
    checkpoint_digest,
    kind_of_folder,
    model_folder,
    module_folders,
)
from xlingual.encoders.decoding import encode_images
from xlingual.encoders.network import NetworkEncoder
from xlingual.encoders.network_images import image_processor, refuse_text_options
from xlingual.encoders.runtime import distinct_rows, is_out_of_memory, loading, require, running
from xlingual.encoders.scheme import (
    BATCH,
    IMAGES,
    KIND,
    POOL,
    TEXT,
    TEXTS,
    TRAINED_ON,
    Context,
    Option,
    Prompts,
    Scheme,
    not_empty,
)
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
_INPUTS = ("input_ids", "attention_mask", "token_type_ids", "position_ids")
_POOLED = ("sentence_embedding", "text_embeds", "image_embeds", "pooler_output")
_HIDDEN = ("last_hidden_state", "token_embeddings")


class OnnxEncoder(NetworkEncoder):
    """A graph and its settings in a folder; it uses as many threads as onnxruntime chooses."""

    names: tuple[str, ...]  # of graphs, the first that is there is taken
    inputs: tuple[str, ...]
    dimensions: tuple[int, ...]  # of an output without pool

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
        """Hash the graph and all files but graphs beside it, which may hold its weights, and the settings."""
        places = {self.path.parent, *module_folders(self.folder)}
        files = {path for place in places if place.is_dir() for path in place.iterdir() if path.is_file()}
        unread = {path for path in files if path.suffix in (".onnx", ".md") or path.name.startswith(".")}
        return checkpoint_digest(self.folder, {self.path} | (files - unread))

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

    @cached_property
    def output(self) -> tuple[str, int]:
        """The output that is read, and its number of dimensions, the last of which is free or d."""
        shapes = {slot.name: slot.shape or () for slot in self.session.get_outputs()}
        usual = [name for name in (*_POOLED, *shapes) if name in shapes and name != "logits"]
        if self.pool is not None:  # of tokens
            usual = [name for name in (*_HIDDEN, *shapes) if len(shapes.get(name, ())) == 3]
        name = self.options["output"] or next(iter(usual), "")
        if name not in shapes or len(shapes[name]) not in ((3,) if self.pool else self.dimensions):
            raise InputError(
                f"{self.who}: {self.path.name} has the outputs {listed(shapes)}: choose one with output=, of "
                "tokens with pool= (mean, cls or last), or export the model with one vector for each row"
            )
        return name, len(shapes[name])

    def run_graph(self, arrays: Mapping[str, np.ndarray]) -> np.ndarray:
        """Compute the output, float32; numbers are converted to the types of the inputs."""
        slots = self.session.get_inputs()
        typed = {
            slot.name: arrays[slot.name].astype(_TYPES.get(slot.type, slot.type[7:-1])) for slot in slots
        }
        try:
            (answer,) = self.session.run([self.output[0]], typed)
        except Exception as error:
            if is_out_of_memory(error) or is_out_of_memory(RuntimeError(str(error))):
                raise MemoryError from error
            raise self.failed("failed", error) from error
        return np.asarray(answer, dtype=np.float32)


class OnnxTexts(OnnxEncoder):
    """A graph that reads tokens."""

    names = ("text_model.onnx", "model.onnx")
    inputs = _INPUTS
    dimensions = (2,)

    def __init__(self, folder: Path, options: Mapping[str, Any], who: str) -> None:
        super().__init__(folder, options, who)
        self.prompts = Prompts.of(options)
        self.by_role = self.prompts.by_role
        if self.pool == "pooler":
            raise InputError(f"{who}: pool=pooler: write output=pooler_output")
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
        dims = {slot.name: slot.shape[-1] for slot in self.session.get_outputs() if slot.shape}
        dim = dims[self.output[0]]
        vectors = self.batches.run(
            pieces.lengths,
            lambda rows: self._run([pieces.features[row] for row in rows.tolist()]),
            dim if isinstance(dim, int) else 0,
        )
        vectors[pieces.lengths == 0] = 0
        return Encoded(vectors[index], pieces.truncated[index])

    def _run(self, pieces: Sequence[Features]) -> Vectors:
        columns = padded(pieces, self.tokens.tokenizer.pad_token_id or 0)
        ids, mask = columns[:2]
        arrays = dict(zip(_INPUTS, columns, strict=False))
        arrays.setdefault("token_type_ids", np.zeros_like(ids))
        arrays["position_ids"] = np.broadcast_to(np.arange(ids.shape[1]), ids.shape)
        answer = self.run_graph(arrays)
        if self.pool is None:
            return answer
        if self.pool == "mean":
            weight = mask[:, :, None].astype(np.float32)
            return np.asarray((answer * weight).sum(axis=1) / weight.sum(axis=1))
        return np.asarray(answer[np.arange(len(answer)), 0 if self.pool == "cls" else mask.sum(axis=1) - 1])


class OnnxImages(OnnxEncoder):
    """A graph that takes `pixel_values` [n, 3, height, width]; equal bytes are encoded once."""

    content = ("bytes",)
    names = ("vision_model.onnx", "model.onnx")
    inputs = ("pixel_values",)
    dimensions = (2, 3, 4)  # [n, d], of tokens [n, tokens, d], or of a map [n, d, height, width]

    def __init__(self, folder: Path, options: Mapping[str, Any], who: str) -> None:
        super().__init__(folder, options, who)
        refuse_text_options(who, options)
        check_reader(who, folder, images=True)

    @cached_property
    def identity(self) -> str:
        """A hash of the graph, its weights and the settings, and the output."""
        return f"onnx:images:{self.digest}?{self.stated('output')}"

    def encode(self, batch: Images, /) -> Vectors:
        """Give float32 [n, d]; raise InputError naming the first row whose image is absent or broken."""
        with self.unchanged(), loading(self.who):
            processor = image_processor(self.folder)

        def prepare(image: Image) -> np.ndarray:
            return np.asarray(processor(images=[image], return_tensors="np")["pixel_values"])

        def run(images: Sequence[np.ndarray]) -> Vectors:
            with running(self.who):
                pixels = np.concatenate(images)
            answer = self.run_graph({self.session.get_inputs()[0].name: pixels})
            places: dict[int, tuple[int, ...]] = {2: (), 3: (1,), 4: (2, 3)}
            return np.asarray(answer.mean(axis=places[self.output[1]]))

        return encode_images(batch, prepare, run, self.batches)


def build(argument: str, options: Mapping[str, Any], context: Context) -> Encoder:
    """Make the encoder for a spec; the graph is found, but not loaded."""
    who = f"onnx:{argument}"
    require(who, "onnx", "onnxruntime", "transformers")
    make = OnnxImages if context.kind == IMAGES else OnnxTexts
    return make(model_folder(who, argument), options, who)
