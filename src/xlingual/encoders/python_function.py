"""`python:`: a function, class or object of the user's own as an encoder."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any, cast
from urllib.parse import quote

import numpy as np

from xlingual.arrays import Vectors
from xlingual.encoders.base import Wrapped
from xlingual.encoders.loading import failures, is_file, load_function, source_digest
from xlingual.encoders.objects import unnamed
from xlingual.encoders.options import Option, not_empty
from xlingual.encoders.own_similarity import OwnSimilarity, is_similarity, own_similarity
from xlingual.encoders.scheme import IMAGES, TEXTS, Context, Scheme
from xlingual.encoders.takes import is_batch, parameters_of
from xlingual.errors import InputError
from xlingual.forms import array_of, as_other, joined_vectors, refuse_bytes, type_in_words
from xlingual.images import read_bytes
from xlingual.records import Encoded, Images, Texts

SCHEME = Scheme(
    "python",
    (TEXTS, IMAGES),
    "a function or class of your own, on the import path or in a file",
    __name__,
    argument="MODULE:FUNCTION",
    options=(
        Option(
            "revision",
            not_empty,
            None,
            "version of your code: vectors are stored only if you give it",
        ),
    ),
)

__all__ = ["PythonFunction", "build", "identity_of", "load_function"]

_AT_ONCE = 256  # images whose bytes are held at a time
CONTENT = {TEXTS: ("text", "language", "role", "context", "fields"), IMAGES: ("bytes",)}


class PythonFunction(Wrapped):
    """Calls a user's function; checks what it returns, and turns its errors into one line.

    What is called, `target`: an object with a method `encode` gets the batch, as any encoder does. So does a
    function whose parameter is annotated `Texts` or `Images`, or that has a true attribute `takes_batch`.
    Any other function gets a list: of the texts, or of the bytes of at most 256 images at a time. Abilities
    of `Encoder` that the object has are used.

    Only with a `revision` it has `content`, so that its vectors are kept: nobody but the user knows when a
    function gives other vectors, since it may read other files.
    """

    identity = ""
    has_own_identity = True

    def __init__(self, target: object, argument: str, *, kind: str, revision: str | None = None) -> None:
        super().__init__(target)
        self.argument, self.kind, self.revision = argument, kind, revision
        self._call, self._whole_batch = _callable(target, self.who)
        self._dim: int | None = None
        self.identity = identity_of(target, argument, revision)  # of the source as it is now

    @property
    def who(self) -> str:
        """What messages call it."""
        return f"python:{self.argument}"

    @property
    def content(self) -> tuple[str, ...] | None:
        """The content that the object states, else all of its input; None where nothing is to be kept."""
        if self.revision is None or self.depends_on_batch:
            return None
        given = CONTENT[self.kind] if self._whole_batch or self.kind == IMAGES else ("text",)
        return super().content or given  # checked when it is used

    def encode(self, batch: Texts | Images, /) -> Vectors:
        """Return what the function returns, checked: float32 [n, d], sparse rows or token vectors."""
        if self._whole_batch:
            return self._vectors(self._run(self._call, batch), len(batch))
        found: list[Vectors] = []
        if isinstance(batch, Texts) and len(batch):
            found = [self._vectors(self._run(self._call, list(batch.text)), len(batch))]
        elif isinstance(batch, Images):
            rows = list(zip(batch.source, batch.ids, strict=True))
            for part in (rows[start : start + _AT_ONCE] for start in range(0, len(rows), _AT_ONCE)):
                given = [read_bytes(source, row=row) for source, row in part]
                found.append(self._vectors(self._run(self._call, given), len(given)))
        elif self._dim is None:  # no text at all: another batch has the dimensions
            self._vectors(self._run(self._call, [""]), 1)
        if found:
            return cast("Vectors", joined_vectors(found))
        return np.empty((0, self._dim or 0), dtype=np.float32)

    def encode_noting(self, batch: Texts, /) -> Encoded:
        """Return the same, and which texts were cut, where the object notes it."""
        if not callable(getattr(self.target, "encode_noting", None)):
            return Encoded(self.encode(batch))
        found = self._run(self.target.encode_noting, batch)
        if not isinstance(found, Encoded):
            raise InputError(f"{self.who}: encode_noting must return Encoded, not {_type(found)}")
        return Encoded(self._vectors(found.vectors, len(batch)), found.truncated)

    def _run(self, function: Callable[[Any], Any], given: object) -> Any:  # noqa: ANN401
        with failures(self.who, "the function"):
            return function(given)

    def _vectors(self, found: Any, count: int) -> Vectors:  # noqa: ANN401
        """Return float32 [count, d] of what came back; raise InputError where it is anything else.

        Of texts it may be sparse rows or token vectors.
        """
        if self.kind != IMAGES and (other := as_other(found, self.who)) is not None:
            return cast("Vectors", other)
        with failures(self.who, "making numbers of what it returned"):
            array = array_of(found)
        if array.dtype.kind not in "fiub" or array.ndim != 2 or len(array) != count:
            of_objects = type_in_words(array) if hasattr(found, "dtype") else _type(found)
            what = f"shape {array.shape}" if array.dtype.kind in "fiub" else of_objects
            raise InputError(
                f"{self.who}: returned {what} for {count} {self.kind}; expected numbers of shape "
                f"({count}, d), one row for each"
            )
        refuse_bytes(array, f"{self.who}: returned")
        if self._dim not in (None, array.shape[1]):
            raise InputError(f"{self.who}: returned {array.shape[1]} dimensions, and {self._dim} before")
        self._dim = array.shape[1]
        return array.astype(np.float32)


def build(argument: str, options: Mapping[str, Any], context: Context) -> PythonFunction | OwnSimilarity:
    """Return the encoder for a spec; for images also a similarity, where the function takes two batches."""
    found = load_function(argument)
    if isinstance(found, type):
        with failures(f"python:{argument}", f"making an object of {found.__name__}"):
            found = found()
    if context.kind == IMAGES and is_similarity(found):
        own = identity_of(found, argument, options["revision"])
        return own_similarity(found, own, f"python:{argument}")
    return PythonFunction(found, argument, kind=context.kind, revision=options["revision"])


def identity_of(target: object, argument: str, revision: str | None) -> str:
    """Return where a user's object is, a hash of its source, the revision, and its own identity, if any."""
    where, _, name = argument.rpartition(":")
    place = PurePath(where).name if is_file(where) else where
    parts = {
        "source": source_digest(argument, target),
        "revision": revision,
        "own": getattr(target, "identity", None),
    }
    given = "&".join(f"{key}={_safe(value)}" for key, value in parts.items() if value)
    return f"python:{_safe(place)}:{_safe(name)}" + (f"?{given}" if given else "")


def _callable(target: object, who: str) -> tuple[Callable[[Any], Any], bool]:
    """Return what to call, and whether with the whole batch; raise InputError where nothing fits."""
    encode = getattr(target, "encode", None)
    if callable(encode):
        return encode, True
    if not callable(target):
        raise InputError(
            f"{who}: is {_type(target)}; expected a function of a list of texts, or an object "
            "(or a class) with a method encode"
        )
    parameters = parameters_of(target)
    if parameters is None:  # some built-in functions have no signature
        return target, False
    by_place = [one for one in parameters if one.kind not in (one.KEYWORD_ONLY, one.VAR_KEYWORD)]
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    required = [one for one in parameters if one.default is one.empty and one.kind not in several]
    if not by_place or len(required) > 1 or any(one.kind is one.KEYWORD_ONLY for one in required):
        names = ", ".join(one.name for one in required) or "none"
        raise InputError(
            f"{who}: must take one thing, a list of texts or images; its parameters that have "
            f"no default: {names}"
        )
    return target, bool(getattr(target, "takes_batch", False)) or is_batch(by_place[0].annotation)


def _safe(text: object) -> str:
    return quote(str(text), safe="/:@+,.")


def _type(value: object) -> str:
    return f"a value of the type {type(value).__name__}"


class FunctionObject(PythonFunction):
    """A function that was given as it is, or `embed_documents` of an object; `embed_query` is for queries.

    Nothing tells when it gives other vectors, so none are kept.
    """

    has_own_identity = False

    def __init__(self, entry: Any, kind: str) -> None:  # noqa: ANN401
        self._entry, self._queries = entry, getattr(entry, "embed_query", None)
        name = getattr(entry, "__name__", type(entry).__name__)
        super().__init__(getattr(entry, "embed_documents", entry), f"the function {name!r}", kind=kind)

    @property
    def identity(self) -> str:
        """Its module and name, and what results call it."""
        return unnamed(self._entry, self.label)

    @identity.setter
    def identity(self, _: str) -> None:
        """Keep it as it is: the source of a `python:` spec says nothing of an object that is given."""

    @property
    def by_role(self) -> bool:  # type: ignore[override]
        """Whether queries are embedded in a way of their own."""
        return callable(self._queries)

    @property
    def who(self) -> str:
        """What results call it; before that is known, its name in its definition."""
        return f"{self.kind.removesuffix('s')} encoder {self.label!r}" if self.label else self.argument

    def encode(self, batch: Texts | Images, /) -> Vectors:
        """Return what the function returns for the texts, checked: float32 [n, d]."""
        if isinstance(batch, Texts) and batch.role == "query" and callable(self._queries):
            queries = [self._run(self._queries, text) for text in batch.text]
            return self._vectors(queries, len(batch)) if queries else super().encode(batch)
        return super().encode(batch)


def adapter_of(entry: Any, kind: str) -> FunctionObject:  # noqa: ANN401  (a function, or an object)
    """Return the encoder that calls the function."""
    return FunctionObject(entry, kind)
