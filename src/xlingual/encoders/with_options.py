"""`xlingual.encoder`: an object with options of its own, such as prompts; a spec has them behind `?`."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import Any, cast
from urllib.parse import quote

import numpy as np

from xlingual.encoders.base import Adapter, Encoder, adopt
from xlingual.encoders.objects import WithOptions, kind_of
from xlingual.encoders.prompts import Prompts
from xlingual.encoders.python_function import CONTENT
from xlingual.encoders.scheme import IMAGES
from xlingual.errors import InputError, listed
from xlingual.forms import dense
from xlingual.records import Encoded, Texts

_NAMED = ("prompt_name", "query_prompt_name", "candidate_prompt_name")
_NATIVE = ("loaded",)  # modules whose objects know these options themselves


def encoder(
    model: object,
    *,
    identity: str | None = None,
    prompt: str | None = None,
    query_prompt: str | None = None,
    candidate_prompt: str | None = None,
    prompt_name: str | None = None,
    query_prompt_name: str | None = None,
    candidate_prompt_name: str | None = None,
    dim: int | None = None,
    batch: int | None = None,
) -> Any:  # noqa: ANN401  (taken wherever an encoder is)
    """Return an object as an encoder with options, as a spec has them behind its question mark.

    Args:
        model: a SentenceTransformer, or any other object that is taken as an encoder.
        identity: name, revision and all else that changes its vectors; they are then kept in the store.
        prompt: put before every text.
        query_prompt: put before queries (the sources of a language pair, questions), instead of `prompt`.
        candidate_prompt: put before candidates (the targets, answers), instead of `prompt`.
        prompt_name: the name of one of the prompts of a SentenceTransformer, instead of `prompt`.
        query_prompt_name: the same for queries; by default "query".
        candidate_prompt_name: the same for candidates; by default "document", "passage" or "corpus".
        dim: keep the first dimensions only (Matryoshka); cosines are of what is kept.
        batch: texts at a time, of a SentenceTransformer.

    Raises:
        InputError: an option is none of these, or does not go with the object.

    """
    given = {name: value for name, value in locals().items() if name != "model" and value is not None}
    if isinstance(model, str):
        raise InputError(
            f"encoder: {model[:80]!r} is a spec: write its options behind a question mark, as in "
            "st:NAME?dim=256&query_prompt=query: "
        )
    if dim is not None and (isinstance(dim, bool) or not isinstance(dim, int) or dim < 1):
        raise InputError(f"encoder: dim must be a whole number of at least 1, found {dim!r}")
    if isinstance(model, WithOptions):
        return replace(model, options={**model.options, **given})
    return WithOptions(model, given)


def adapter_of(entry: WithOptions, kind: str) -> Encoder:
    """Return the encoder of an object with its options."""
    known, options = kind_of(entry.entry), dict(entry.options)
    if known is not None and known.module.rpartition(".")[2] in _NATIVE:
        return cast("Encoder", import_module(known.module).adapter_of(entry.entry, kind, **options))
    if foreign := [name for name in (*_NAMED, "batch") if name in options]:
        raise InputError(
            f"encoder: {listed(foreign)} is for a SentenceTransformer, and this is a "
            f"{type(entry.entry).__name__}: give the prompt itself (prompt=, query_prompt=, …)"
        )
    if kind == IMAGES and (texts := [name for name in options if "prompt" in name]):
        raise InputError(f"encoder: {texts[0]} is for texts, and this one encodes images: leave it out")
    return OptionsOnTop(adopt(entry.entry, kind), options, kind)


class OptionsOnTop(Adapter):
    """Any encoder with prompts before its texts, fewer dimensions, or an identity that the user gives."""

    def __init__(self, base: Encoder, options: dict[str, Any], kind: str) -> None:
        super().__init__(base)
        self.kind = kind
        names = ("prompt", "query_prompt", "candidate_prompt")
        self.prompts = Prompts.of({name: options.get(name) for name in names})
        self.dim, self.given = options.get("dim"), options.get("identity")

    @property
    def identity(self) -> str:
        """The identity given, else that of the encoder, with the options."""
        self.base.label = self.label
        own = self.base.identity if self.given is None else f"named:{quote(self.given, safe='/:@+,.=&?-_')}"
        options = (f"&dim={self.dim}" if self.dim else "") + str(self.prompts)
        return f"{own}#{options[1:]}" if options else own

    @property
    def has_own_identity(self) -> bool:  # type: ignore[override]
        """Whether the user gave an identity, or the encoder has one."""
        return self.given is not None or self.base.has_own_identity

    @property
    def by_role(self) -> bool:  # type: ignore[override]
        """Whether a text has another vector as a query than as a candidate."""
        return self.prompts.by_role or self.base.by_role

    @property
    def content(self) -> tuple[str, ...] | None:
        """What the encoder says; where the identity is given, all of a row."""
        known = self.base.content
        if known is None and self.given is not None:
            known = CONTENT[self.kind]
        return (*known, "role") if known and self.prompts.by_role and "role" not in known else known

    def encode_noting(self, batch: Any, /) -> Encoded:  # noqa: ANN401
        """Return float32 [n, dim], and which texts were cut."""
        if isinstance(batch, Texts):
            prompt = self.prompts.before(batch.role)
            batch = replace(batch, text=[prompt + text for text in batch.text]) if prompt else batch
        found = self.base.encode_noting(batch)
        if self.dim is None:
            return found
        vectors = np.asarray(dense(found.vectors, "encoder", f"dim={self.dim}"))
        if vectors.ndim == 2 and vectors.shape[1] < self.dim:
            raise InputError(f"encoder: dim={self.dim}, but the vectors have {vectors.shape[1]} dimensions")
        return Encoded(vectors[:, : self.dim], found.truncated)
