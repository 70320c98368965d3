"""`st:`: models of sentence-transformers; texts here, images in `sentence_transformer_images`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import numpy as np

from xlingual.arrays import Ints, Vectors
from xlingual.encoders.base import Encoder
from xlingual.encoders.batching import distinct_rows, in_batches
from xlingual.encoders.checkpoints import (
    check_dense,
    check_tokenizer,
    check_weights,
    kind_of_modules,
    model_folder,
    read_json,
    refuse_kind,
    trained_on_images,
    user_path,
)
from xlingual.encoders.decoding import refuse_text_options
from xlingual.encoders.networks import NetworkEncoder, TextNetworkEncoder
from xlingual.encoders.prompts import Prompts, named_prompts
from xlingual.encoders.remote_code import OPTION, checked, pinned_commit, say
from xlingual.encoders.scheme import IMAGES, Context
from xlingual.encoders.tokens import (
    Pieces,
    TextTokens,
    check_pieces,
    check_vocabulary,
    chosen_limit,
    embedding_rows,
    stated_limit,
)
from xlingual.encoders.torch_runtime import (
    choose_device,
    loading,
    randomly_initialized,
    refuse_random,
    require,
    running,
    torch_dtype,
)
from xlingual.encoders.transformer_text import position_limit
from xlingual.errors import InputError
from xlingual.records import Encoded, Texts

_SETTINGS = "config_sentence_transformers.json"
_DOCUMENT = ("document", "passage", "corpus")  # names of prompts; the first one that is not empty counts


class SentenceTransformerEncoder(TextNetworkEncoder):
    """A model of sentence-transformers, used as the library does.

    Questions and candidates get the prompts that the model's settings have for queries and documents, unless
    the options say otherwise, and texts without a role the default prompt. Equal texts are encoded once.
    """

    def __init__(self, folder: Path, options: Mapping[str, Any], who: str) -> None:
        own = model_prompts(folder) if options["prompts"] == "model" else None
        super().__init__(folder, {**options, **named_prompts(who, options, prompts_in(folder))}, who, own)
        parts = (folder, *(path for path in folder.glob("*") if path.is_dir()))
        self.trained_on_images = any(trained_on_images(read_json(part / "config.json")) for part in parts)
        check_weights(who, folder, modules=True)
        check_tokenizer(who, folder, modules=True)

    @cached_property
    def content(self) -> tuple[str, ...]:
        """All of a row that its vector depends on."""
        return ("text", "role") if self._has_routes else super().content

    @property
    def by_role(self) -> bool:  # type: ignore[override]
        """Whether queries and documents have different prompts, or go different ways."""
        return "role" in self.content

    @cached_property
    def identity(self) -> str:
        """A hash of the model's files, the prompts and the options that change vectors."""
        options = self.stated("dim", "dtype", "max_length", OPTION)
        return f"st:{self.digest}?{options}{self.stated_device()}{self.prompts}"

    @property
    def compares_by(self) -> str | None:  # type: ignore[override]
        """How the model's settings say that its vectors are compared."""
        return similarity_in(self.folder)

    @cached_property
    def model(self) -> Any:  # noqa: ANN401  (a SentenceTransformer)
        """The model, read from the files that the identity is of."""
        from sentence_transformers import SentenceTransformer

        device, dtype = choose_device(self.options["device"], self.who), torch_dtype(self.options["dtype"])
        runs_code = self.runs_code
        if runs_code:
            say(self.who, self.options)
        with self.unchanged(), loading(self.who) as messages:
            model = SentenceTransformer(
                str(self.folder),
                device=str(device),
                local_files_only=True,
                trust_remote_code=runs_code,
                truncate_dim=self.options["dim"],
                model_kwargs={"use_safetensors": True, "dtype": dtype},
            )
        if kind := kind_of_modules(type(part).__module__ for part in model.modules()):
            refuse_kind(self.who, kind)
        network = getattr(model[0], "auto_model", None)
        kind = getattr(getattr(network, "config", None), "model_type", "?")
        refuse_random(self.who, randomly_initialized(messages), kind)
        check_vocabulary(self.who, getattr(model, "tokenizer", None), embedding_rows(network))
        self._check_dim(model)
        self._set_length(model, network)
        return model.to(dtype).eval()

    @cached_property
    def tokens(self) -> TextTokens | None:
        """The model's tokenizer with its limit; None where the model has no tokenizer of transformers."""
        tokenizer = getattr(self.model, "tokenizer", None)
        if not callable(tokenizer):
            return None
        limit = self.limit(tokenizer)
        if "message" not in getattr(self.model[0], "modality_config", ()):
            return TextTokens(tokenizer, limit, self.who)
        around = self.model.preprocess([""])["input_ids"].shape[-1] - len(tokenizer("")["input_ids"])
        return TextTokens(tokenizer, limit and limit - around, self.who)

    def limit(self, tokenizer: Any) -> int | None:  # noqa: ANN401
        """Return how many tokens of a text are read."""
        return stated_limit(tokenizer)

    def _encoded(self, batch: Texts) -> Encoded:
        prompt = self.prompts.before(batch.role)
        distinct, index = distinct_rows(batch.text)
        pieces = self._pieces(distinct, prompt)
        dim, size = int(_dimension(self.model) or 0), self.options["batch"]

        def run(rows: Ints) -> Vectors:
            return self._encode([distinct[int(i)] for i in rows], prompt, batch.role)

        vectors = in_batches(pieces.lengths, size, run, who=self.who, dim=dim, memory=self.memory)
        if vectors.shape[1] != dim:
            raise InputError(
                f"{self.who}: gives {vectors.shape[1]} dimensions where its settings say {dim}: do its "
                "files belong together? Fetch it again"
            )
        return Encoded(vectors[index], pieces.truncated[index])

    def _pieces(self, texts: Sequence[str], prompt: str) -> Pieces:
        if self.tokens is not None:
            pieces = self.tokens.pieces([prompt + text for text in texts])
            check_pieces(
                self.who, pieces.features, embedding_rows(getattr(self.model[0], "auto_model", None))
            )
            return pieces
        characters = [{"input_ids": [0] * len(text)} for text in texts]  # they give the lengths
        return Pieces(characters, np.zeros(len(texts), dtype=np.bool_))

    def _encode(self, texts: list[str], prompt: str, role: str | None) -> Vectors:
        """Return the library's vectors of whole texts."""
        named = {"query": "encode_query", "candidate": "encode_document"}.get(role or "", "encode")
        encode = getattr(self.model, named, self.model.encode)  # by role since 5.0 of the library
        options = {"prompt": prompt, "batch_size": len(texts), "show_progress_bar": False}
        with running(self.who):
            return _as_numpy(encode(texts, convert_to_tensor=True, **options))

    @cached_property
    def _has_routes(self) -> bool:
        """Whether the model treats queries and documents in different ways, prompts apart."""
        path = self.folder / "modules.json"
        listing = path.read_text(encoding="utf-8") if path.is_file() else ""
        settings = read_json(self.folder / "sentence_bert_config.json")
        by_task = map(settings.get, ("query_length", "document_length", "query_expansion"))
        return "Router" in listing or "Asym" in listing or any(prompt is not None for prompt in by_task)

    def _check_dim(self, model: Any) -> None:  # noqa: ANN401
        wanted = self.options["dim"]
        model.truncate_dim, own = None, model.truncate_dim
        has, model.truncate_dim = _dimension(model), own
        if wanted is not None and has is not None and wanted > has:
            raise InputError(f"{self.who}: dim={wanted}, but the model's vectors have {has} dimensions")

    def _set_length(self, model: Any, network: Any) -> None:  # noqa: ANN401
        """Set how many tokens are read at once: the option, but never more than the network can read."""
        limit = None if network is None else position_limit(network, network.config)
        wanted, stated = self.options["max_length"], stated_limit(getattr(model, "tokenizer", None))
        if wanted is not None and network is None:
            raise InputError(f"{self.who}: the model reads texts of any length: leave max_length out")
        best = chosen_limit(self.who, wanted, limit, stated)
        if best is not None and best != stated:
            model.max_seq_length = best


def model_prompts(folder: Path) -> Prompts:
    """Return the prompts that a model's settings have: for queries, for documents, and by default.

    As in the library, the default prompt is not for queries and documents.
    """
    return prompts_of(prompts_in(folder), read_json(folder / _SETTINGS).get("default_prompt_name"))


def prompts_in(folder: Path) -> dict[str, str | None]:
    """Return the prompts that a model's settings name."""
    listed = read_json(folder / _SETTINGS).get("prompts") or {}
    if not isinstance(listed, dict):
        raise InputError(
            f"{folder / _SETTINGS}: prompts must be an object of names and texts, "
            f"found {type(listed).__name__}: fetch the model again"
        )
    return listed


def similarity_in(folder: Path) -> str | None:
    """Return how a model's settings say that its vectors are compared; None where they do not."""
    found = read_json(folder / _SETTINGS).get("similarity_fn_name")
    return found if isinstance(found, str) else None


def similarity_of(model: Any) -> str | None:  # noqa: ANN401  (a SentenceTransformer)
    """Return how a loaded model compares vectors; None where that is not known."""
    found = getattr(model, "similarity_fn_name", None)
    found = getattr(found, "value", found)  # an enumeration
    return found if isinstance(found, str) else None


def prompts_of(named: Mapping[str, str | None], default: str | None) -> Prompts:
    """Return the prompts by role of those that a model names, and of the name of its default one."""
    known = {str(name): str(text or "") for name, text in named.items()}
    document = next((known[name] for name in _DOCUMENT if known.get(name)), "")
    return Prompts(known.get(default or "", ""), known.get("query", ""), document)


def _dimension(model: Any) -> int | None:  # noqa: ANN401
    read = getattr(model, "get_embedding_dimension", None) or model.get_sentence_embedding_dimension
    return cast("int | None", read())


def _as_numpy(vectors: Any) -> Vectors:  # noqa: ANN401  (a tensor)
    return np.asarray(vectors.float().cpu().numpy())


def build(argument: str, options: Mapping[str, Any], context: Context) -> Encoder:
    """Return the encoder for a spec; the model is found, and fetched where need be, but not loaded."""
    who = f"st:{argument}"
    require(who, "st", "torch", "transformers", "sentence_transformers")
    kind: type[NetworkEncoder] = SentenceTransformerEncoder
    if context.kind == IMAGES:
        refuse_text_options(who, options)
        kind = import_module(f"{__name__}_images").SentenceTransformerImages
    # the library's own models of texts may be written without their owner's name
    elif "/" not in argument and "\\" not in argument and not Path(argument).exists():
        argument = f"sentence-transformers/{argument}"
    code = None if user_path(who, argument).is_dir() else pinned_commit(who, options)
    revision = code or options["revision"]
    folder = model_folder(who, argument, revision, "st", with_code=code is not None)
    if context.kind != IMAGES:
        kinds = import_module("xlingual.encoders.sentence_transformer_kinds")
        if check_dense(who, folder, taken=kinds.ModelFolder.kinds) is not None:
            kind = kinds.ModelFolder
    return checked(kind(folder, options, who), code)
