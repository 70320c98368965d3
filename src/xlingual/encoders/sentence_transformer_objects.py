"""A SentenceTransformer as an encoder, for texts and for images."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import Any
from urllib.parse import quote

from xlingual.arrays import Vectors
from xlingual.encoders.base import Encoder
from xlingual.encoders.batching import Memory
from xlingual.encoders.checkpoints import kind_of_modules, refuse_kind, trained_on_images
from xlingual.encoders.objects import unnamed
from xlingual.encoders.prompts import Prompts, named_prompts
from xlingual.encoders.scheme import IMAGES
from xlingual.encoders.sentence_transformer import SentenceTransformerEncoder, prompts_of, similarity_of
from xlingual.encoders.sentence_transformer_images import SentenceTransformerImages
from xlingual.encoders.state_digest import Digested, is_plain, model_digest
from xlingual.errors import InputError
from xlingual.records import Encoded, Images, Texts

_OPTIONS = {"batch": 32, "dim": None, "dtype": None, "max_length": None, "device": None}
_PROMPTS = ("prompt", "query_prompt", "candidate_prompt")


class _Given(Digested, Encoder):
    """What both kinds share: the model as it is, on its own device, and what its vectors depend on."""

    model: Any
    options: Mapping[str, Any]
    given: str | None  # the user's identity

    @property
    def has_own_identity(self) -> bool:  # type: ignore[override]
        """Whether the weights and settings tell all, or the user does."""
        return self.given is not None or is_plain(self.model)

    @property
    def compares_by(self) -> str | None:  # type: ignore[override]
        """How the model compares vectors."""
        return similarity_of(self.model)

    def identity_of(self, *further: str) -> str:
        """Return a digest of weights, tokenizer and settings, and the options that change vectors."""
        dim = self.options["dim"] or self.model.truncate_dim
        options = "".join(part for part in (f"&dim={dim}" if dim else "", *further))
        dtype = str(next((weight.dtype for weight in self.model.parameters()), "torch.float32"))
        if dtype != "torch.float32":  # below it devices round differently
            options += f"&dtype={dtype.removeprefix('torch.')}&device={self.model.device.type}"
        if self.given is not None:
            return f"named:{quote(self.given, safe='/:@+,.=&?-_')}{f'#{options[1:]}' if options else ''}"
        if not is_plain(self.model):
            return unnamed(self.model, self.label) + (f"?{options[1:]}" if options else "")
        return f"st:weights-{model_digest(self.model)}{f'?{options[1:]}' if options else ''}"

    @contextmanager
    def as_it_was(self) -> Iterator[None]:
        """Set the dimensions that are asked for, and put the model back as it was: it may be in training."""
        training, own = self.model.training, self.model.truncate_dim
        self.model.truncate_dim = self.options["dim"] or own
        try:
            yield
        finally:
            self.model.truncate_dim = own
            self.model.train(training)


class SentenceTransformerObject(_Given, SentenceTransformerEncoder):
    """A SentenceTransformer as it is, as `st:` has one that it loads: prompts by role, truncation noted."""

    def __init__(self, model: Any, options: Mapping[str, Any]) -> None:  # noqa: ANN401
        self.model, self.given = model, options.get("identity")
        self.who, self.memory, self.options = "SentenceTransformer", Memory(), {**_OPTIONS, **_plain(options)}
        if kind := kind_of_modules(type(part).__module__ for part in model.modules()):
            refuse_kind(self.who, kind)
        names, known = named_prompts(self.who, options, model.prompts or {}), dict(model.prompts or {})
        own = prompts_of(known, getattr(model, "default_prompt_name", None))
        self.prompts = Prompts.of({name: names.get(name) for name in _PROMPTS}, own)
        configs: list[Any] = [getattr(part, "config", None) for part in model.modules()]
        settings = [found.to_dict() for found in configs if callable(getattr(found, "to_dict", None))]
        self.trained_on_images = any(map(trained_on_images, settings))
        self._check_dim(model)

    @cached_property
    def identity(self) -> str:
        """A digest of weights, tokenizer and settings, the prompts, and the options that change vectors."""
        return self.identity_of(str(self.prompts))

    def limit(self, tokenizer: Any) -> int | None:  # noqa: ANN401
        """Return how many tokens of a text are read."""
        found = super().limit(tokenizer)
        own = getattr(self.model, "max_seq_length", None)
        return min((int(each) for each in (found, own) if each and each < 1e9), default=None)

    def _encoded(self, batch: Texts) -> Encoded:
        with self.as_it_was():
            return super()._encoded(batch)

    @cached_property
    def _has_routes(self) -> bool:
        first = self.model[0]
        by_task = ("query_length", "document_length", "query_expansion")
        named = {type(part).__name__ for part in self.model.modules()} & {"Router", "Asym"}
        methods = (getattr(self.model, name, None) for name in ("encode_query", "encode_document"))
        own = any(method is not None and not _is_library(method) for method in methods)
        return own or bool(named) or any(getattr(first, name, None) is not None for name in by_task)


class SentenceTransformerImageObject(_Given, SentenceTransformerImages):
    """A CLIP-style SentenceTransformer as it is, for images."""

    def __init__(self, model: Any, options: Mapping[str, Any]) -> None:  # noqa: ANN401
        if texts := [name for name in options if "prompt" in name]:
            raise InputError(f"encoder: {texts[0]} is for texts, and this one encodes images: leave it out")
        self.model = self._model = model
        self.given, self.memory = options.get("identity"), Memory()
        self.who, self.options = "SentenceTransformer", {**_OPTIONS, **_plain(options)}
        self.check_images(model)

    @cached_property
    def identity(self) -> str:
        """A digest of weights, tokenizer and settings, and the options that change vectors."""
        return self.identity_of()

    def encode(self, batch: Images, /) -> Vectors:
        """Return float32 [n, d]; raise InputError naming the first row whose image is absent or broken."""
        with self.as_it_was():
            return super().encode(batch)


def _is_library(method: Any) -> bool:  # noqa: ANN401
    return str(getattr(method, "__module__", "")).startswith("sentence_transformers.")


def _plain(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: options[name] for name in ("batch", "dim") if name in options}


def adapter_of(entry: Any, kind: str, **options: Any) -> Encoder:  # noqa: ANN401
    """Return the encoder of texts or images; `options` as `xlingual.encoder` takes them."""
    return (SentenceTransformerImageObject if kind == IMAGES else SentenceTransformerObject)(entry, options)
