"""`st:` and `hf:` for texts: networks as sentence-transformers runs them, from folders or loaded.

`st:` is a model with its own modules and prompts: dense, sparse (SPLADE) or with a vector for each token
(ColBERT). `hf:` is a bare network of transformers, whose hidden states are pooled to one vector (mean over
all tokens but padding, the first token, the last one). A network for texts and images has a projection of
its own in place of these. Equal texts are encoded once, and texts of like length together.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    check_reader,
    check_weights,
    checkpoint_digest,
    kind_of_folder,
    kind_of_modules,
    model_folder,
    module_folders,
    read_json,
    refuse_kind,
    trained_on_images,
)
from xlingual.encoders.objects import is_a
from xlingual.encoders.runtime import (
    Batches,
    choose_device,
    device_part,
    distinct_rows,
    loading,
    refuse_random,
    require,
    running,
)
from xlingual.encoders.scheme import (
    BATCH,
    DEVICE,
    DIM,
    DTYPE,
    IMAGES,
    KIND,
    MAX_LENGTH,
    POOL,
    PROMPTS,
    REVISION,
    TEXTS,
    TRAINED_ON,
    Context,
    Prompts,
    Scheme,
)
from xlingual.encoders.tokens import check_room, check_vocabulary, chosen_limit, position_limit
from xlingual.errors import InputError
from xlingual.forms import COSINE, DOT, MAXSIM, MEAN_MAXSIM, OtherVectors, SparseVectors, TokenVectors
from xlingual.records import Encoded, Texts

_OPTIONS = (BATCH, DEVICE, DTYPE, REVISION, *PROMPTS, MAX_LENGTH, DIM, TRAINED_ON, KIND)
ST = "models of sentence-transformers, sparse and multi-vector too, for texts; (CLIP) for images"
HF = "models of transformers: BERT-like for texts, ResNet, ViT, CLIP and the like for images"
SCHEMES = (
    Scheme("st", (TEXTS, IMAGES), ST, __name__, "NAME_OR_PATH", _OPTIONS, extra="st"),
    Scheme("hf", (TEXTS, IMAGES), HF, __name__, "NAME_OR_PATH", (*_OPTIONS, POOL), extra="st"),
)
_POOLS = {"mean": "mean", "cls": "cls", "last": "lasttoken"}
METHODS = {"query": "encode_query", "candidate": "encode_document"}
_LENGTHS = {"query": "query_length", "candidate": "document_length"}
ROUTES = ("query_length", "document_length", "query_expansion")
_COMPARED = {SPARSE: (DOT, COSINE), TOKENS: (MAXSIM, MEAN_MAXSIM)}
_DOCUMENT = ("document", "passage", "corpus")  # names of prompts; the first one that is not empty counts
SETTINGS = "config_sentence_transformers.json"


class NetworkEncoder(Encoder):
    """A network in a folder, loaded when it is first used; `options` are those of its scheme."""

    origin = "general"

    def __init__(self, folder: Path, options: Mapping[str, Any], who: str) -> None:
        self.folder, self.options, self.who = folder, options, who
        self.is_st, self.batches = who.startswith("st:"), Batches(options["batch"], who)

    def files(self) -> Iterable[Path] | None:
        """List the files that its vectors depend on; None: `checkpoints.model_files`."""
        return None

    @cached_property
    def digest(self) -> str:
        """16 digits that change with every file that its vectors depend on, as they were at first."""
        return checkpoint_digest(self.folder, self.files())[:16]

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """Raise InputError where a file changes inside: the digest must be of the files that are read."""
        first = self.digest
        yield
        if checkpoint_digest(self.folder, self.files())[:16] != first:
            raise InputError(f"{self.who}: a file of the model changed while it was read: start again")

    def stated(self, *names: str) -> str:
        """Write for an identity the options of these names that are given, and the device if it counts."""
        stated = "&".join(f"{name}={self.options[name]}" for name in names if self.options[name] is not None)
        return stated + device_part(self.options["device"], self.options["dtype"], self.who)

    @property
    def compares_by(self) -> str | None:  # type: ignore[override]
        """How the settings of a dense model of sentence-transformers say that its vectors are compared."""
        stated = read_json(self.folder / SETTINGS).get("similarity_fn_name") if self.is_st else None
        return stated if isinstance(stated, str) and getattr(self, "kind", DENSE) == DENSE else None

    def loaded_st(self, kind: str = DENSE, **more: Any) -> Any:  # noqa: ANN401  (a SentenceTransformer)
        """Load a model of sentence-transformers of the kind from the folder: no code, no pickles."""
        import sentence_transformers
        import torch

        return getattr(sentence_transformers, kind)(
            str(self.folder),
            device=str(choose_device(self.options["device"], self.who)),
            local_files_only=True,
            trust_remote_code=False,
            model_kwargs={"use_safetensors": True, "dtype": getattr(torch, self.options["dtype"])},
            **more,
        )


class TextNetwork(Encoder):
    """Texts through a model of sentence-transformers, with a prompt before them by their role."""

    origin = "general"
    who: str
    kind: str  # DENSE, SPARSE or TOKENS
    model: Any
    prompts: Prompts
    batches: Batches
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
        prompt = self.prompts.before(batch.role)
        texts, index = distinct_rows(batch.text)
        counts, limit = self._token_counts(texts, batch.role, prompt)
        rows = np.flatnonzero(counts)  # a text without tokens has no direction
        vectors: Any = None
        if self.kind == DENSE and not len(rows):
            vectors = np.zeros((0, self.model.get_embedding_dimension() or 0), dtype=np.float32)
        while vectors is None:
            size, read = self.batches.size, [texts[row] for row in rows]
            run = partial(
                model_vectors, self.model, self.kind, read, batch.role, prompt=prompt, batch_size=size
            )
            with running(self.who):
                vectors = self.batches.attempt(run, size)
        if len(rows) < len(texts):
            whole = np.zeros((len(texts), vectors.shape[1]), dtype=np.float32)
            whole[rows] = vectors
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
        room = (limit - empty) / 4  # bytes of a character, or letters it is taken apart into
        long = [
            i
            for i, text in enumerate(texts)
            if empty == 0 or len(text) > room or not unicodedata.is_normalized("NFKC", text)
        ]
        if long:
            numbers = tokenizer([prompt + texts[i] for i in long], truncation=False, verbose=False)
            counts[long] = [len(row) for row in numbers["input_ids"]]
        return counts if self.kind == DENSE else np.maximum(counts, 1), limit

    def check_model(self, model: Any, dim: int | None) -> None:  # noqa: ANN401
        """Raise InputError where a model is of another kind, or has fewer dimensions than are asked for."""
        allowed = _COMPARED.get(self.kind)
        if allowed and (name := str(model.similarity_fn_name)) not in allowed:
            raise InputError(
                f"{self.who}: compares by {name}, which is a distance and not ranked here: set its "
                f"similarity_fn_name to {' or '.join(map(repr, allowed))}"
            )
        if not allowed and (kind := kind_of_modules(type(part).__module__ for part in model.modules())):
            refuse_kind(self.who, kind)
        if dim is not None and self.kind != DENSE:
            raise InputError(f"{self.who}: dim={dim} is of dense vectors: leave it out")
        whole = None if dim is None else whole_dim(model)
        if dim is not None and whole is not None and dim > whole:
            raise InputError(f"{self.who}: dim={dim}, but the model's vectors have {whole} dimensions")


class Network(NetworkEncoder, TextNetwork):
    """A folder by `st:` or `hf:`."""

    def __init__(self, folder: Path, options: Mapping[str, Any], who: str) -> None:
        super().__init__(folder, options, who)
        self.kind = kind_of_folder(who, folder, *((SPARSE, TOKENS) if self.is_st else ()))
        if self.kind != DENSE and options["dim"] is not None:
            raise InputError(f"{who}: dim={options['dim']} is of dense vectors: leave it out")
        settings = read_json(folder / "config.json")
        if not self.is_st and not settings:
            raise InputError(
                f"{who}: no config.json of transformers in this folder; a model of sentence-transformers is "
                "written st:NAME_OR_PATH"
            )
        two_towers = "text_config" in settings and "vision_config" in settings
        self.pool = options.get("pool") or ("features" if two_towers else "mean")
        if two_towers and options.get("pool"):
            raise InputError(f"{who}: a network for texts and images has its own pooling: leave pool out")
        check_weights(who, folder)
        check_reader(who, folder)
        parts = module_folders(folder)
        self.trained_on_images = any(trained_on_images(read_json(part / "config.json")) for part in parts)
        self.has_routes, own = False, None
        if self.is_st:
            listing = folder / "modules.json"
            routed = listing.is_file() and re.search("Router|Asym", listing.read_text(encoding="utf-8"))
            reading = read_json(folder / "sentence_bert_config.json")
            self.has_routes = bool(routed) or any(reading.get(name) is not None for name in ROUTES)
            stated = read_json(folder / SETTINGS)
            named = stated.get("prompts") or {}
            if not isinstance(named, dict):
                raise InputError(f"{folder / SETTINGS}: prompts must be an object of names and texts")
            own = prompts_of(named, stated.get("default_prompt_name"))
        self.prompts = Prompts.of(options, own)

    @cached_property
    def identity(self) -> str:
        """A hash of the model's files, the prompts and the options that change vectors."""
        scheme = "st" if self.is_st else "hf"
        pool = "" if self.is_st else f"pool={self.pool}&"
        return f"{scheme}:{self.digest}?{pool}{self.stated('dim', 'dtype', 'max_length')}{self.prompts}"

    @cached_property
    def model(self) -> Any:  # noqa: ANN401
        """The model, read from the files that the identity is of."""
        import torch

        with self.unchanged(), loading(self.who) as messages:
            model = self.loaded_st(self.kind) if self.is_st else self._pooled()
        self.check_model(model, self.options["dim"])
        if self.options["dim"] is not None:
            model.truncate_dim = self.options["dim"]
        network, tokenizer = getattr(model[0], "auto_model", None), getattr(model, "tokenizer", None)
        family = getattr(getattr(network, "config", None), "model_type", "?")
        refuse_random(self.who, messages, family)
        asked = self.options["max_length"]
        if network is not None:
            check_vocabulary(self.who, tokenizer, network)
            limit = chosen_limit(self.who, tokenizer, asked, position_limit(network, network.config))
            if limit is not None:
                model.max_seq_length = limit
            if asked is not None and callable(tokenizer):
                check_room(self.who, tokenizer, asked)
        elif asked is not None:
            raise InputError(f"{self.who}: the model reads texts of any length: leave max_length out")
        return model.to(getattr(torch, self.options["dtype"])).eval()

    def _pooled(self) -> Any:  # noqa: ANN401  (a SentenceTransformer)
        """Load a bare network, and add its pooling where it gives a vector for each token."""
        import torch
        from sentence_transformers import SentenceTransformer

        library = import_module("sentence_transformers.models")
        local = {"local_files_only": True, "trust_remote_code": False}
        weights = {"use_safetensors": True, "dtype": getattr(torch, self.options["dtype"]), **local}
        body = library.Transformer(
            str(self.folder), model_kwargs=weights, processor_kwargs=dict(local), config_kwargs=local
        )
        modules = [body]
        if self.pool in _POOLS:
            if self.pool == "cls" and getattr(body.tokenizer, "cls_token", None) is None:
                raise InputError(
                    f"{self.who}: pool=cls: the model has no first token of its own: write pool=mean"
                )
            modules.append(library.Pooling(body.get_embedding_dimension(), pooling_mode=_POOLS[self.pool]))
        elif str(body.config.model_type).startswith("siglip"):  # trained on full length, without a mask
            body.processing_kwargs = {"text": {"padding": "max_length"}}
            body.tokenizer.model_input_names = ["input_ids"]
        device = str(choose_device(self.options["device"], self.who))
        return SentenceTransformer(modules=modules, device=device)


def build(argument: str, options: Mapping[str, Any], context: Context) -> Encoder:
    """Make the encoder for a spec; the model is found, and fetched where need be, but not loaded."""
    who, name = f"{context.scheme}:{argument}", argument
    make: type[NetworkEncoder] = Network
    require(who, "st", "torch", "transformers", "sentence_transformers")
    if context.kind == IMAGES:
        for option in (*PROMPTS, MAX_LENGTH, POOL, *([DIM] if context.scheme == "hf" else [])):
            if options.get(option.name) is not None:
                raise InputError(f"{who}: {option.name} is an option for texts: leave it out for images")
        images = import_module("xlingual.encoders.network_images")
        make = images.SentenceTransformerImages if context.scheme == "st" else images.HuggingFaceImages
    elif context.scheme == "st" and re.fullmatch(r"[^/\\]+", argument) and not Path(argument).exists():
        name = f"sentence-transformers/{argument}"  # the library's own models may be written without owner
    return make(model_folder(who, name, options["revision"], "st"), options, who)


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
        tokens = method(texts, convert_to_numpy=True, **options)
        return TokenVectors.of(tokens, str(model.similarity_fn_name))
    if kind == SPARSE:
        from scipy.sparse import coo_array

        more = {"convert_to_sparse_tensor": True, "save_to_cpu": True, **options}
        rows = method(texts, convert_to_tensor=True, **more).coalesce()
        places, values = rows.indices().numpy(), rows.values().float().numpy()
        matrix = coo_array((values, tuple(places)), shape=tuple(rows.shape))
        return SparseVectors.of(matrix, str(model.similarity_fn_name))
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
