"""Objects of users as encoders: functions, objects with `encode`, arrays, models of sentence-transformers.

No library is imported to recognise its objects: classes are known by their names and modules.
"""

from __future__ import annotations

import inspect
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

import numpy as np

from xlingual.encoders.base import Encoder
from xlingual.encoders.scheme import Prompts
from xlingual.errors import InputError, XlingualError
from xlingual.forms import array_of, as_other, dense, joined_vectors, refuse_bytes
from xlingual.images import read_bytes
from xlingual.records import Encoded, Texts

_AT_ONCE = 256  # images whose bytes are held at a time
# what an object may state, and as what: of another type it says something else
_STATED: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("by_role", "depends_on_batch", "trained_on_images"), bool),
    **dict.fromkeys(("space", "compares_by", "origin"), str),
    "content": object,  # checked where it is used
    "languages": (tuple, list),
    "fitted_on": AbstractSet,
}
_CONTENT = {"texts": ("text", "language", "role", "context", "fields"), "images": ("bytes",)}


@dataclass(frozen=True)
class WithOptions:
    """An object and its options; what `xlingual.encoder` makes."""

    entry: Any
    options: Mapping[str, Any] = field(default_factory=dict)


def encoder(
    model: object,
    *,
    identity: str | None = None,
    prompt: str | None = None,
    query_prompt: str | None = None,
    candidate_prompt: str | None = None,
    dim: int | None = None,
) -> Any:  # noqa: ANN401  (taken wherever an encoder is)
    """Give a model or a function options, as a spec has them behind its question mark.

    Args:
        model: a SentenceTransformer, a function of a list of texts, or an object with `encode`.
        identity: name, revision and all else that changes its vectors; they are then kept in the store.
        prompt: put before every text.
        query_prompt: put before queries (the sources of a language pair, questions), instead of `prompt`.
        candidate_prompt: put before candidates (the targets, answers), instead of `prompt`.
        dim: keep the first dimensions only (Matryoshka); cosines are of what is kept.

    Raises:
        InputError: the model is a spec, or `dim` is no number of dimensions.

    """
    options = {name: value for name, value in locals().items() if name != "model" and value is not None}
    if isinstance(model, str):
        raise InputError(f"encoder: {model[:80]!r} is a spec: write its options behind a question mark")
    if dim is not None and (isinstance(dim, bool) or not isinstance(dim, int) or dim < 1):
        raise InputError(f"encoder: dim must be a whole number of at least 1, found {dim!r}")
    if isinstance(model, WithOptions):
        return replace(model, options={**model.options, **options})
    return WithOptions(model, options)


def adopt(entry: object, kind: str = "texts") -> Encoder:
    """Make an encoder of texts or images of an object; an `Encoder` is one already."""
    entry, options = (entry.entry, entry.options) if isinstance(entry, WithOptions) else (entry, {})
    if isinstance(entry, type):
        raise InputError(f"{entry.__name__} is a class: make an object of it, for example {entry.__name__}()")
    if is_a(entry, "sentence_transformers", "SentenceTransformer", "SparseEncoder", "MultiVectorEncoder"):
        loaded = import_module("xlingual.encoders.loaded")  # which imports this module
        return cast("Encoder", loaded.adapter_of(entry, kind, **options))
    if options and (isinstance(entry, Encoder) or is_vectors(entry)):
        raise InputError(
            f"encoder: {', '.join(options)}: a {type(entry).__name__} takes no options: give a function, an "
            "object with encode, or a SentenceTransformer"
        )
    if isinstance(entry, Encoder):
        if type(entry).encode is Encoder.encode and type(entry).encode_noting is Encoder.encode_noting:
            raise InputError(f"{type(entry).__name__} has neither encode nor encode_noting: give it one")
        return entry
    if is_vectors(entry):
        from xlingual.encoders.vectors import GivenVectors

        return GivenVectors(entry if isinstance(entry, Mapping) else {"": entry})
    identity = getattr(entry, "identity", None)
    if identity is not None and (not isinstance(identity, str) or not identity):
        raise InputError(f"the identity of {name_of(entry)} must be a non-empty str, found {identity!r}")
    return Wrapped(entry, kind, **options)


def is_a(entry: object, library: str, *names: str) -> bool:
    """Tell whether the object's class, or one that it inherits from, is one of a library's by name.

    >>> from collections import OrderedDict
    >>> is_a(OrderedDict(), "collections", "OrderedDict")
    True
    """
    return any(
        kind.__name__ in names and f"{kind.__module__}.".startswith(f"{library}.")
        for kind in type(entry).__mro__
    )


def is_vectors(entry: object) -> bool:
    """Tell whether the object is an array or a tensor [n, d], or such for each language."""
    if isinstance(entry, Mapping):
        return bool(entry) and all(isinstance(tag, str) and is_vectors(entry[tag]) for tag in entry)
    return getattr(entry, "ndim", None) == 2 and hasattr(entry, "shape") and hasattr(entry, "dtype")


def name_of(entry: object) -> str:
    """Name an object that nobody names: by its own name, or that of its class."""
    entry = entry.entry if isinstance(entry, WithOptions) else entry
    for name in (getattr(entry, "name", None), getattr(entry, "__name__", None)):
        if isinstance(name, str) and name and name != "<lambda>":
            return name
    return "vectors" if is_vectors(entry) else type(entry).__name__


def unnamed(entry: object, label: str) -> str:
    """Identify an object that has no identity: by its class or function, and what results call it."""
    kind = entry if hasattr(entry, "__qualname__") else type(entry)
    place = f"python:{getattr(kind, '__module__', '')}.{getattr(kind, '__qualname__', '')}"
    usual = (type(entry).__name__, getattr(entry, "__name__", ""), getattr(entry, "name", ""))
    return place if not label or label in usual else f"{place}#{label}"


class Wrapped(Encoder):
    """A function, or an object with `encode`: what it returns is checked, what it raises is one line.

    An object gets the batch, and a list of strings where its parameter is annotated so. A function gets a
    list (of the bytes of at most 256 images), and the batch where its parameter is annotated so. Vectors are
    kept where there is an identity and `content` is stated, or `keep` says that the user vouches for them.
    """

    content: tuple[str, ...] | None = None
    depends_on_batch = False
    fitted_on: frozenset[bytes] = frozenset()
    languages: tuple[str, ...] | None = None

    def __init__(
        self,
        target: Any,  # noqa: ANN401  (of any class)
        kind: str = "texts",
        *,
        who: str = "",
        keep: bool | None = None,
        identity: str | None = None,  # as the user states it
        whole_identity: str | None = None,  # as it is written
        dim: int | None = None,
        **prompts: str,
    ) -> None:
        self.target, self.kind, self._who, self._dim = target, kind, who, dim
        for name, expected in _STATED.items():
            value = getattr(target, name, None)
            if value is not None and isinstance(value, expected):
                setattr(self, name, value)
        self.prompts = Prompts.of(prompts)
        self.by_role = self.by_role or self.prompts.by_role
        if prompts and kind == "images":
            raise InputError(f"encoder: {next(iter(prompts))} is for texts, and this encodes images")
        named = identity and f"named:{quote(identity, safe='/:@+,.=&?-_')}"
        self._identity = whole_identity or named or getattr(target, "identity", None)
        self.has_own_identity = self._identity is not None
        self._call, self._whole = _callable(target, f"{who}: " if who else "")
        if keep is False:
            self.content = None
        elif self.content is None and (keep or identity is not None):
            self.content = _CONTENT[kind] if self._whole else _CONTENT[kind][:1]
        if self.content and self.prompts.by_role:
            self.content = tuple(dict.fromkeys((*self.content, "role")))

    @property
    def who(self) -> str:
        """What messages call it."""
        return self._who or f"{self.kind.removesuffix('s')} encoder {self.label or name_of(self.target)!r}"

    @property
    def identity(self) -> str:
        """The stated one, else its class or function and what results call it; with its options."""
        options = (f"&dim={self._dim}" if self._dim else "") + str(self.prompts)
        return (self._identity or unnamed(self.target, self.label)) + (f"#{options[1:]}" if options else "")

    def encode_noting(self, batch: Any, /) -> Encoded:  # noqa: ANN401
        """Give what the function returns, checked: float32 [n, d], sparse rows or token vectors."""
        if not len(batch):  # one empty text has the dimensions
            first = Texts([""], [""], [""], role=batch.role) if self.kind == "texts" else None
            dim = 0 if first is None else self.encode(first).shape[1]
            return Encoded(np.empty((0, dim), dtype=np.float32))
        if isinstance(batch, Texts) and (prompt := self.prompts.before(batch.role)):
            batch = replace(batch, text=[prompt + text for text in batch.text])
        cut = None
        if self._whole or isinstance(batch, Texts):
            answer = self._run(batch if self._whole else list(batch.text))
            if isinstance(answer, Encoded):
                answer, cut = answer.vectors, answer.truncated
            vectors = self._checked(answer, batch.ids)
        else:
            rows = list(zip(batch.source, batch.ids, strict=True))
            parts = []
            for part in (rows[start : start + _AT_ONCE] for start in range(0, len(rows), _AT_ONCE)):
                content = [read_bytes(source, row=row) for source, row in part]
                parts.append(self._checked(self._run(content), [row for _, row in part]))
            if len(dims := {part.shape[1] for part in parts}) > 1:
                raise InputError(f"{self.who}: returned vectors of several dimensions: {sorted(dims)}")
            vectors = joined_vectors(parts)
        if self._dim is not None:
            vectors = dense(vectors, self.who, f"dim={self._dim}")
            if vectors.shape[1] < self._dim:
                raise InputError(f"{self.who}: dim={self._dim}: vectors have {vectors.shape[1]} dimensions")
            vectors = vectors[:, : self._dim]
        return Encoded(vectors, cut)

    def _run(self, argument: object) -> Any:  # noqa: ANN401
        name = getattr(self._call, "__name__", "the function")
        what = "the batch (a parameter for texts is annotated list[str])" if self._whole else "a list"
        with failures(self.who, f"{name}, called with {what},"):
            return self._call(argument)

    def _checked(self, answer: Any, ids: Sequence[str]) -> Any:  # noqa: ANN401  (AnyVectors)
        """Make float32 [n, d] of what came back; of texts it may be sparse rows or token vectors."""
        if self.kind == "texts" and (other := as_other(answer, self.who, ids)) is not None:
            return other
        with failures(self.who, "making numbers of what it returned"):
            array = array_of(answer)
        if array.dtype.kind not in "fiub" or array.ndim != 2 or len(array) != len(ids):
            what = f"{type(answer).__name__} of {array.dtype}"
            what = f"shape {array.shape}" if array.dtype.kind in "fiub" else what
            raise InputError(
                f"{self.who}: returned {what} for {len(ids)} {self.kind}; expected numbers of shape "
                f"({len(ids)}, d), one row for each; a vector for each token is a list of arrays [tokens, d]"
            )
        refuse_bytes(array, f"{self.who}: returned")
        return array.astype(np.float32, copy=False)


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter] | None:
    """List the parameters of a function; None of some that are not written in Python."""
    for as_objects in (True, False):  # annotations in quotes may hold, and raise, anything
        with suppress(Exception):
            return list(inspect.signature(function, eval_str=as_objects).parameters.values())
    return None


def _callable(target: Any, start: str) -> tuple[Callable[[Any], Any], bool]:  # noqa: ANN401
    """Choose what to call, and whether with the whole batch; raise InputError where nothing fits."""
    encode = getattr(target, "encode", None)
    if not callable(encode) and (not callable(target) or hasattr(target, "forward")):  # a network of torch
        raise InputError(
            f"{start}expected an encoder: a spec, a path, a function of a list of texts, an object with a "
            "method encode(texts), a SentenceTransformer, or {language: array [n, d]}; found a value of the "
            f"type {type(target).__name__}"
        )
    function: Callable[[Any], Any] = encode if callable(encode) else target
    parameters = _parameters(function)
    if parameters is None:
        return function, function is encode
    required = [each.name for each in parameters if each.default is each.empty and each.kind not in (2, 4)]
    if not parameters or parameters[0].kind > 2 or len(required) > 1:
        raise InputError(
            f"{start}must take one thing, a list of texts or images; parameters without a default: "
            f"{', '.join(required) or 'none'}"
        )
    annotation = parameters[0].annotation
    words = f"{getattr(annotation, '__name__', '')} {annotation}"
    by_default = function is encode and not re.search(r"\bstr\b", words)
    return function, by_default or re.search(r"\b(Texts|Images)\b", words) is not None


@contextmanager
def failures(who: str, doing: str) -> Iterator[None]:
    """Turn what a user's code raises into one InputError that names the error and the user's line.

    The program's own errors, and running out of memory, pass as they are.
    """
    try:
        yield
    except (XlingualError, MemoryError):
        raise
    except (Exception, SystemExit) as error:
        raise InputError(f"{who}: {doing} failed{_place(error)}: {in_words(error)}") from error


def in_words(error: BaseException) -> str:
    """Write an error on one line: its kind, and at most 300 characters of its message."""
    text = " ".join((error.msg if isinstance(error, SyntaxError) else str(error)).split())
    line = text if len(text) <= 300 else f"{text[:299]}…"
    return line if isinstance(error, XlingualError) else f"{type(error).__name__}: {line}".removesuffix(": ")


def _place(error: BaseException) -> str:
    """Write " at FILE:LINE": the deepest line outside installed packages, else the deepest of all."""
    frames = traceback.extract_tb(error.__traceback__)
    places = [(frame.filename, frame.lineno) for frame in frames]
    places = [place for place in places if not place[0].startswith(("<frozen", str(Path(__file__).parent)))]
    if isinstance(error, SyntaxError) and error.filename:
        places = [(error.filename, error.lineno)]
    users = [place for place in places if _INSTALLED.isdisjoint(Path(place[0]).parts)]
    for file, line in (users or places)[-1:]:
        with suppress(ValueError):  # it does not lie below the current folder
            return f" at {Path(file).resolve().relative_to(Path.cwd())}:{line}"
        return f" at {file}:{line}"
    return ""


_INSTALLED = {"site-packages", "dist-packages", f"python{sys.version_info[0]}.{sys.version_info[1]}"}
