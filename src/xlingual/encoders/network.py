"""`st:` and `hf:` for texts: networks as sentence-transformers runs them, from folders or loaded.

`st:` is a model with its own modules and prompts: dense, sparse (SPLADE) or with a vector for each token
(ColBERT). `hf:` is a bare network of transformers, whose hidden states are pooled to one vector:

    mean     over all tokens but padding
    cls      the first token
    last     the last token
    pooler   what the network's own head makes of the first token

A network for texts and images has a projection of its own in place of these. Equal texts are encoded once,
and texts of like length together, the longest first.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from xlingual.arrays import Ints, Vectors
from xlingual.encoders.base import Encoder
from xlingual.encoders.checkpoints import (
    DENSE,
    SPARSE,
    TOKENS,
    Watch,
    check_tokenizer,
    check_weights,
    checkpoint_digest,
    kind_of_folder,
    kind_of_modules,
    model_files,
    model_folder,
    read_json,
    refuse_kind,
    trained_on_images,
)
from xlingual.encoders.objects import is_a
from xlingual.encoders.options import DIM, KIND, MODEL, POOL, PROMPT_NAMES, TEXT, TRAINED_ON
from xlingual.encoders.prompts import Prompts, named_prompts
from xlingual.encoders.runtime import (
    choose_device,
    device_part,
    distinct_rows,
    in_parts,
    loading,
    refuse_random,
    require,
    running,
    too_large,
    unless_out_of_memory,
    warn_halved,
)
from xlingual.encoders.scheme import IMAGES, TEXTS, Context, Scheme
from xlingual.encoders.tokens import check_room, check_vocabulary, chosen_limit, position_limit, stated_limit
from xlingual.errors import InputError
from xlingual.forms import COSINE, DOT, MAXSIM, MEAN_MAXSIM, OtherVectors, SparseVectors, TokenVectors
from xlingual.records import Encoded, Texts

ST_OPTIONS = (*MODEL, *TEXT, *PROMPT_NAMES, DIM, TRAINED_ON, KIND)
HF_OPTIONS = (*MODEL, *TEXT, POOL, DIM, TRAINED_ON, KIND)
ST = "models of sentence-transformers, sparse and multi-vector too, for texts; (CLIP) for images"
HF = "models of transformers: BERT-like for texts, ResNet, ViT, CLIP and the like for images"
SCHEMES = (
    Scheme("st", (TEXTS, IMAGES), ST, __name__, "NAME_OR_PATH", ST_OPTIONS, extra="st"),
    Scheme("hf", (TEXTS, IMAGES), HF, __name__, "NAME_OR_PATH", HF_OPTIONS, extra="st"),
)
_POOLS = {"mean": "mean", "cls": "cls", "last": "lasttoken"}
METHODS = {"query": "encode_query", "candidate": "encode_document"}
_LENGTHS = {"query": "query_length", "candidate": "document_length"}
ROUTES = ("query_length", "document_length", "query_expansion")
_COMPARED = {SPARSE: (DOT, COSINE), TOKENS: (MAXSIM, MEAN_MAXSIM)}
_DOCUMENT = ("document", "passage", "corpus")  # names of prompts; the first one that is not empty counts
_SETTINGS = "config_sentence_transformers.json"


class NetworkEncoder(Encoder):
    """A network in a folder, loaded when it is first used; `options` are those of its scheme."""

    origin = "general"

    def __init__(self, folder: Path, options: Mapping[str, Any], who: str) -> None:
        self.folder, self.options, self.who = folder, options, who
        self._watch = Watch()

    @property
    def digest(self) -> str:
        """16 digits that change with every file that its vectors depend on, as they were at first."""
        return self._watch.digest("", self._files_digest)[:16]

    def _files_digest(self) -> str:
        return checkpoint_digest(self.folder, model_files(self.folder, modules=self.who.startswith("st:")))

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """Raise InputError where a file changes inside: the digest must be of the files that are read."""
        self._watch.digest("", self._files_digest)
        yield
        self._watch.check("", self._files_digest, f"{self.who}: a file of the model")

    def stated(self, *names: str) -> str:
        """Write the options of these names that are given, as an identity has them."""
        return "&".join(f"{name}={self.options[name]}" for name in names if self.options[name] is not None)

    def stated_device(self) -> str:
        """Write what an identity says of the device."""
        return device_part(self.options["device"], self.options["dtype"], self.who)


class TextNetwork(Encoder):
    """Texts through a model of sentence-transformers, with a prompt before them by their role."""

    origin = "general"
    opens_images = False
    who: str
    kind: str  # DENSE, SPARSE or TOKENS
    model: Any
    prompts: Prompts
    batch: int
    has_routes: bool  # whether queries and documents go different ways, prompts apart

    @property
    def content(self) -> tuple[str, ...]:
        """All of a row that its vector depends on."""
        return ("text", "role") if self.by_role else ("text",)

    @property
    def by_role(self) -> bool:  # type: ignore[override]
        """Whether queries and documents have different prompts, or go different ways."""
        return self.prompts.by_role or self.has_routes or self.kind != DENSE

    def encode_noting(self, batch: Texts, /) -> Encoded:
        """Give the vectors in the model's own form, and which texts were cut."""
        return in_parts(self._encoded, batch)

    def _encoded(self, batch: Texts) -> Encoded:
        prompt = self.prompts.before(batch.role)
        texts, index = distinct_rows(batch.text)
        counts, limit = self._token_counts(texts, batch.role, prompt)
        read = np.flatnonzero(counts)
        vectors = self._vectors([texts[i] for i in read], batch.role, prompt)
        if len(read) < len(texts):  # a text without tokens has no direction
            whole = np.zeros((len(texts), vectors.shape[1]), dtype=np.float32)
            whole[read] = vectors
            vectors = whole
        return Encoded(vectors[index], (counts > limit)[index])

    def _token_counts(self, texts: Sequence[str], role: str | None, prompt: str) -> tuple[Ints, float]:
        """Count the tokens of texts, and find how many are read.

        A text so short that no normalisation lets it reach the limit counts as 1.
        """
        tokenizer, first = getattr(self.model, "tokenizer", None), self.model[0]
        counts = np.ones(len(texts), dtype=np.int64)
        limit = getattr(first, _LENGTHS.get(role or "", ""), None) or getattr(
            self.model, "max_seq_length", None
        )
        if not callable(tokenizer) or not isinstance(limit, int) or not texts:
            return counts, np.inf
        empty = len(tokenizer(prompt, verbose=False)["input_ids"])
        around = 0
        if "message" in getattr(first, "modality_config", ()):  # the words of a chat around the text
            around = int(first.preprocess([""], prompt=prompt)["input_ids"].shape[-1]) - empty
        room = (limit - empty - around) / 4  # bytes of a character, or letters it is taken apart into
        long = [
            i
            for i, text in enumerate(texts)
            if empty == 0 or len(text) > room or not unicodedata.is_normalized("NFKC", text)
        ]
        if long:
            numbers = tokenizer([prompt + texts[i] for i in long], truncation=False, verbose=False)[
                "input_ids"
            ]
            counts[long] = [len(row) + around for row in numbers]
        return counts if self.kind == DENSE else np.maximum(counts, 1), limit

    def _vectors(self, texts: list[str], role: str | None, prompt: str) -> Any:  # noqa: ANN401
        """Encode texts in batches; of half the size, and so on, where memory runs out."""
        if self.kind == DENSE and not texts:
            return np.zeros((0, self.dim or 0), dtype=np.float32)
        size, refused = self.batch, 0
        while True:
            run = partial(model_vectors, self.model, self.kind, texts, role, prompt=prompt, batch_size=size)
            with running(self.who):
                vectors = unless_out_of_memory(run)
            if vectors is not None:
                break
            if size == 1:
                raise too_large(self.who, "a single text")
            refused, size = refused or size, size // 2
        if refused:
            self.batch = size
            warn_halved(self.who, refused, size)
        if self.kind == DENSE and self.dim not in (None, vectors.shape[1]):
            raise InputError(
                f"{self.who}: gives {vectors.shape[1]} dimensions where its settings say {self.dim}: do its "
                "files belong together? Fetch it again"
            )
        return vectors

    @property
    def dim(self) -> int | None:
        """Number of dimensions, None where the model does not say."""
        dim = self.model.get_embedding_dimension()
        return None if dim is None else int(dim)

    def check_model(self, model: Any, dim: int | None) -> None:  # noqa: ANN401
        """Raise InputError where a model is of another kind, or has fewer dimensions than are asked for."""
        if self.kind != DENSE:
            allowed, compared_by = _COMPARED[self.kind], str(model.similarity_fn_name)
            if compared_by not in allowed:
                raise InputError(
                    f"{self.who}: compares by {compared_by}, which is a distance and not ranked here: set "
                    f"its similarity_fn_name to {' or '.join(map(repr, allowed))}"
                )
            return
        if kind := kind_of_modules(type(part).__module__ for part in model.modules()):
            refuse_kind(self.who, kind)
        whole = whole_dim(model)
        if dim is not None and whole is not None and dim > whole:
            raise InputError(f"{self.who}: dim={dim}, but the model's vectors have {whole} dimensions")


class Network(NetworkEncoder, TextNetwork):
    """A folder by `st:` or `hf:`."""

    def __init__(self, folder: Path, options: Mapping[str, Any], who: str) -> None:
        super().__init__(folder, options, who)
        st = self.is_st = who.startswith("st:")
        self.kind = kind_of_folder(who, folder, *((SPARSE, TOKENS) if st else ()))
        if self.kind != DENSE and options["dim"] is not None:
            raise InputError(f"{who}: dim={options['dim']} is of dense vectors: leave it out")
        settings = read_json(folder / "config.json")
        if not st and not settings:
            raise InputError(
                f"{who}: no config.json of transformers in this folder; a model of sentence-transformers is "
                "written st:NAME_OR_PATH"
            )
        two_towers = "text_config" in settings and "vision_config" in settings
        self.pool = options.get("pool") or ("features" if two_towers else "mean")
        if two_towers and options.get("pool"):
            raise InputError(f"{who}: a network for texts and images has its own pooling: leave pool out")
        parts = (folder, *(path for path in folder.glob("*") if st and path.is_dir()))
        self.trained_on_images = any(trained_on_images(read_json(part / "config.json")) for part in parts)
        check_weights(who, folder, modules=st)
        check_tokenizer(who, folder, modules=st)
        self.batch, self.has_routes = options["batch"], st and _has_routes(folder)
        self.prompts = Prompts.of(options)
        if st:
            stated = read_json(folder / _SETTINGS)
            model = prompts_of(_prompts_in(folder, stated), stated.get("default_prompt_name"))
            named = named_prompts(who, options, _prompts_in(folder, stated))
            self.prompts = Prompts.of({**options, **named}, model if options["prompts"] == "model" else None)

    @cached_property
    def identity(self) -> str:
        """A hash of the model's files, the prompts and the options that change vectors."""
        names = "" if self.is_st else f"pool={self.pool}&"
        options = f"{names}{self.stated('dim', 'dtype', 'max_length')}{self.stated_device()}"
        return f"{'st' if self.is_st else 'hf'}:{self.digest}?{options}{self.prompts}"

    @property
    def compares_by(self) -> str | None:  # type: ignore[override]
        """How the model's settings say that its vectors are compared."""
        stated = read_json(self.folder / _SETTINGS).get("similarity_fn_name") if self.is_st else None
        return stated if isinstance(stated, str) and self.kind == DENSE else None

    @cached_property
    def model(self) -> Any:  # noqa: ANN401
        """The model, read from the files that the identity is of."""
        import sentence_transformers
        import torch

        device = str(choose_device(self.options["device"], self.who))
        local = {"local_files_only": True, "trust_remote_code": False}
        weights = {"use_safetensors": True, "dtype": getattr(torch, self.options["dtype"])}
        library = getattr(sentence_transformers, self.kind, None)
        if library is None:
            version = sentence_transformers.__version__
            raise InputError(
                f"{self.who}: is a {self.kind}, which the installed sentence-transformers {version} does not "
                "know: pip install -U sentence-transformers"
            )
        with self.unchanged(), loading(self.who) as messages:
            if self.is_st:
                model = library(str(self.folder), device=device, model_kwargs=weights, **local)
            else:
                model = library(modules=self._modules(weights | local, local), device=device)
        if self.kind == DENSE and self.options["dim"] is not None:
            model.truncate_dim = self.options["dim"]
        self.check_model(model, self.options["dim"])
        network = getattr(model[0], "auto_model", None)
        family = getattr(getattr(network, "config", None), "model_type", "?")
        unread = () if self.pool == "pooler" else ("pooler.",)
        refuse_random(self.who, messages, family, *unread)
        if network is not None:
            check_vocabulary(self.who, getattr(model, "tokenizer", None), network)
        self._set_length(model, network)
        return model.to(weights["dtype"]).eval()

    def _modules(self, weights: Mapping[str, Any], local: Mapping[str, Any]) -> list[Any]:
        """Load a bare network, and add its pooling where it gives a vector for each token."""
        library = import_module("sentence_transformers.models")
        more: dict[str, Any] = {}
        if self.pool == "pooler":
            head = {"method": "forward", "method_output_name": "pooler_output"}
            more = {"modality_config": {"text": head}, "module_output_name": "sentence_embedding"}
        body = library.Transformer(
            str(self.folder),
            model_kwargs=dict(weights),
            processor_kwargs=dict(local),
            config_kwargs=dict(local),
            **more,
        )
        if self.pool == "features":
            if str(body.config.model_type).startswith("siglip"):  # trained on full length, without a mask
                body.processing_kwargs = {"text": {"padding": "max_length"}}
                body.tokenizer.model_input_names = ["input_ids"]
            return [body]
        pools = {
            "mean": True,
            "cls": body.tokenizer is not None and body.tokenizer.cls_token is not None,
            "last": True,
            "pooler": getattr(body.auto_model, "pooler", None) is not None,
        }
        has = [pool for pool, there in pools.items() if there]
        if self.pool not in has:
            raise InputError(f"{self.who}: the model has no pool={self.pool}; it has {', '.join(has)}")
        if self.pool == "pooler":
            return [body]
        return [body, library.Pooling(body.get_embedding_dimension(), pooling_mode=_POOLS[self.pool])]

    def _set_length(self, model: Any, network: Any) -> None:  # noqa: ANN401
        """Set how many tokens are read at once: the option, but never more than the network can read."""
        tokenizer = getattr(model, "tokenizer", None)
        asked, stated = self.options["max_length"], stated_limit(tokenizer)
        if network is None:
            if asked is not None:
                raise InputError(f"{self.who}: the model reads texts of any length: leave max_length out")
            return
        best = chosen_limit(self.who, asked, position_limit(network, network.config), stated)
        if best is not None and best != stated:
            model.max_seq_length = best
        if asked is not None and callable(tokenizer):
            check_room(self.who, tokenizer, asked)


def build(argument: str, options: Mapping[str, Any], context: Context) -> Encoder:
    """Make the encoder for a spec; the model is found, and fetched where need be, but not loaded."""
    who, name = f"{context.scheme}:{argument}", argument
    make: type[NetworkEncoder] = Network
    require(who, "st", "torch", "transformers", "sentence_transformers")
    if context.kind == IMAGES:
        images = import_module("xlingual.encoders.network_images")
        images.refuse_text_options(who, options)
        make = images.SentenceTransformerImages if context.scheme == "st" else images.HuggingFaceImages
    elif context.scheme == "st" and re.fullmatch(r"[^/\\]+", argument) and not Path(argument).exists():
        name = f"sentence-transformers/{argument}"  # the library's own models may be written without owner
    encoder: Encoder = make(model_folder(who, name, options["revision"], "st"), options, who)
    return encoder


def kind_of_model(model: object) -> str:
    """Find whether a loaded model gives dense, sparse or token vectors."""
    return next((kind for kind in _COMPARED if is_a(model, "sentence_transformers", kind)), DENSE)


def model_vectors(
    model: Any,  # noqa: ANN401
    kind: str,
    texts: list[str],
    role: str | None,
    **options: Any,  # noqa: ANN401
) -> Vectors | OtherVectors:
    """Encode texts by the model's method for their role, in its own form; `options` are the method's."""
    method = getattr(model, METHODS.get(role or "", "encode"), model.encode)
    options = {"show_progress_bar": False, **options}
    if kind == TOKENS:
        tokens = [
            np.asarray(row, dtype=np.float32) for row in method(texts, convert_to_numpy=True, **options)
        ]
        vectors = TokenVectors.of(tokens)
        return TokenVectors(vectors.vectors, vectors.bounds, str(model.similarity_fn_name))
    if kind == SPARSE:
        from scipy.sparse import coo_array

        rows = method(
            texts, convert_to_tensor=True, convert_to_sparse_tensor=True, save_to_cpu=True, **options
        )
        rows = rows.coalesce()
        places, values = rows.indices().numpy(), rows.values().float().numpy()
        matrix = SparseVectors.of(coo_array((values, tuple(places)), shape=tuple(rows.shape))).matrix
        return SparseVectors(matrix, str(model.similarity_fn_name))
    dense = method(texts, convert_to_tensor=True, **options)
    dense = dense.float().cpu().numpy() if hasattr(dense, "cpu") else dense  # subclasses may give arrays
    return np.asarray(dense, dtype=np.float32)


def prompts_of(named: Mapping[str, str | None], default: str | None) -> Prompts:
    """Choose the prompts by role among those that a model names; `default` is the name of its default one.

    As in the library, the default prompt is not for queries and documents.
    """
    texts = {str(name): str(text or "") for name, text in named.items()}
    document = next((texts[name] for name in _DOCUMENT if texts.get(name)), "")
    return Prompts(texts.get(str(default), "") if default else "", texts.get("query", ""), document)


def _prompts_in(folder: Path, settings: Mapping[str, Any]) -> dict[str, str | None]:
    listed = settings.get("prompts") or {}
    if not isinstance(listed, dict):
        raise InputError(
            f"{folder / _SETTINGS}: prompts must be an object of names and texts, "
            f"found {type(listed).__name__}: fetch the model again"
        )
    return listed


def _has_routes(folder: Path) -> bool:
    path = folder / "modules.json"
    listing = path.read_text(encoding="utf-8") if path.is_file() else ""
    settings = read_json(folder / "sentence_bert_config.json")
    by_task = any(settings.get(name) is not None for name in ROUTES)
    return "Router" in listing or "Asym" in listing or by_task


def similarity_of(model: Any) -> str | None:  # noqa: ANN401  (a SentenceTransformer)
    """Find how a loaded model compares vectors; None where that is not known."""
    name = getattr(model, "similarity_fn_name", None)
    name = getattr(name, "value", name)  # an enumeration
    return name if isinstance(name, str) else None


def whole_dim(model: Any) -> int | None:  # noqa: ANN401  (a SentenceTransformer)
    """Find how many dimensions a model's modules give, before the library cuts any off."""
    cut, model.truncate_dim = model.truncate_dim, None
    dim, model.truncate_dim = model.get_embedding_dimension(), cut
    return None if dim is None else int(dim)
