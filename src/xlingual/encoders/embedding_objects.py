"""Objects of LangChain, LlamaIndex and Haystack, and two encoders side by side, one for each role."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from types import SimpleNamespace
from typing import Any

import numpy as np

from xlingual.arrays import Vectors
from xlingual.encoders.base import Encoder, adopt
from xlingual.encoders.batching import distinct_rows
from xlingual.encoders.objects import has, in_words, parameters, unnamed
from xlingual.errors import InputError
from xlingual.forms import array_of, refuse_bytes
from xlingual.records import Encoded, Texts

Embed = Callable[[list[str]], Sequence[Any]]


class EmbeddingObject(Encoder):
    """An object that embeds lists of texts, and perhaps queries in another way; equal texts go to it once.

    Texts without a role are embedded as candidates (documents).
    """

    origin = "general"
    has_own_identity = False  # a name of a model says nothing of its version

    def __init__(self, target: Any, candidates: Embed, queries: Embed | None = None) -> None:  # noqa: ANN401
        self.target, self._candidates, self._queries = target, candidates, queries
        self.by_role = queries is not None

    @property
    def identity(self) -> str:
        """Its class, the name of its model where it has one, and what results call it."""
        own = unnamed(self.target, self.label)
        model = next((name for name in map(self._named, ("model_name", "model", "model_id")) if name), "")
        return f"{own}@{model}" if model else own

    def _named(self, attribute: str) -> str:
        found = getattr(self.target, attribute, None)
        return found if isinstance(found, str) else ""

    def encode(self, batch: Texts, /) -> Vectors:
        """Return float32 [n, d]; raise InputError where the object fails, or returns anything else."""
        distinct, index = distinct_rows(batch.text)
        embed = self._queries if batch.role == "query" and self._queries else self._candidates
        who = type(self.target).__name__
        try:
            given = array_of(list(embed(list(distinct))))
            found = given.astype(np.float32)
        except (InputError, MemoryError):
            raise
        except Exception as error:
            raise InputError(f"{who}: embedding {len(distinct):,} texts failed: {in_words(error)}") from error
        refuse_bytes(given, f"{who}: returned")
        if found.ndim != 2 or len(found) != len(distinct):
            raise InputError(
                f"{who}: returned shape {found.shape} for {len(distinct):,} texts; expected a vector for each"
            )
        return found[index]


class ByRole(Encoder):
    """Two encoders of one space: one for queries, the other for candidates and texts without a role."""

    origin = "general"
    by_role = True

    def __init__(self, queries: Encoder, candidates: Encoder) -> None:
        self.queries, self.candidates = queries, candidates

    @property
    def identity(self) -> str:
        """Both identities."""
        for part, role in ((self.queries, "query"), (self.candidates, "candidate")):
            part.label = f"{self.label}-{role}" if self.label else role
        return f"query={self.queries.identity}&candidate={self.candidates.identity}"

    @property
    def has_own_identity(self) -> bool:  # type: ignore[override]
        """Whether both have one."""
        return self.queries.has_own_identity and self.candidates.has_own_identity

    @property
    def compares_by(self) -> str | None:  # type: ignore[override]
        """How the model of candidates compares vectors: an order depends on their lengths."""
        return self.candidates.compares_by

    @property
    def content(self) -> tuple[str, ...] | None:
        """What the vectors of either depend on, where both are known."""
        both = [self.queries.content, self.candidates.content]
        if not all(both):
            return None
        return (*dict.fromkeys(name for part in both for name in part or ()), "role")

    def encode_noting(self, batch: Texts, /) -> Encoded:
        """Return float32 [n, d], and which texts were cut."""
        return (self.queries if batch.role == "query" else self.candidates).encode_noting(batch)

    def notes(self) -> list[str]:
        """Return those of both."""
        return [*self.queries.notes(), *self.candidates.notes()]


def adapter_of(entry: Any, kind: str) -> Encoder:  # noqa: ANN401  (of any library)
    """Return the encoder; raise InputError where images are asked for."""
    if kind != "texts":
        raise InputError(
            f"{type(entry).__name__} embeds texts: for images give a CLIP-style SentenceTransformer, "
            "vectors, or an object with encode(images)"
        )
    if isinstance(entry, Mapping):
        for role, one in entry.items():
            if isinstance(one, str | PathLike):
                raise InputError(
                    f"the encoder for the role {role!r} is the text {str(one)[:60]!r}: give an object, as "
                    "xlingual.encoders.text_encoders([SPEC], languages=[…]) makes them of specs"
                )
        return ByRole(*(adopt(entry[role]) for role in ("query", "candidate")))
    if has(entry, "embed_documents"):
        return EmbeddingObject(entry, entry.embed_documents, _each(entry.embed_query))
    if has(entry, "get_text_embedding_batch"):
        return EmbeddingObject(entry, entry.get_text_embedding_batch, _each(entry.get_query_embedding))
    return EmbeddingObject(entry, _of_haystack(entry))


def _each(embed: Callable[[str], Any]) -> Embed:
    return lambda texts: [embed(text) for text in texts]


def _of_haystack(entry: Any) -> Embed:  # noqa: ANN401
    """Return the function that runs a component of Haystack; it is warmed up before its first texts."""
    warm: list[bool] = []

    def run(texts: list[str]) -> Sequence[Any]:
        if not warm and has(entry, "warm_up"):
            entry.warm_up()
        warm.append(True)
        if "text" in parameters(entry.run):
            return [entry.run(text=text)["embedding"] for text in texts]
        document = getattr(sys.modules.get("haystack"), "Document", _document)
        return [
            one.embedding
            for one in entry.run(documents=[document(content=text) for text in texts])["documents"]
        ]

    return run


def _document(content: str) -> SimpleNamespace:
    """Return what a document embedder reads, for one that is written without Haystack."""
    return SimpleNamespace(content=content, meta={}, embedding=None)
