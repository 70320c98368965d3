"""Objects that people already have: what is taken as an encoder, and the module that adapts it.

No library is imported to recognise its objects: classes are known by their names and modules, interfaces by
their methods. The first row of `KINDS` that fits counts; any other object needs a method `encode`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

from xlingual.encoders.vectorfile import SUFFIXES


@dataclass(frozen=True)
class ObjectKind:
    """A row of the table: what is taken, how it is recognised, and the module whose `adapter_of` adapts it.

    `adapter_of(entry, kind)` gets the object and "texts" or "images".
    """

    name: str
    fits: Callable[[Any], bool]
    module: str


@dataclass(frozen=True)
class WithOptions:
    """An encoder or an object, and options of its own; what `xlingual.encoder` returns."""

    entry: Any
    options: Mapping[str, Any] = field(default_factory=dict)


def is_a(entry: object, library: str, *names: str) -> bool:
    """Return whether the object's class, or one that it inherits from, is one of a library's by name.

    >>> from collections import OrderedDict
    >>> is_a(OrderedDict(), "collections", "OrderedDict")
    True
    """
    return any(
        kind.__name__ in names and f"{kind.__module__}.".startswith(f"{library}.")
        for kind in type(entry).__mro__
    )


def has(entry: object, *methods: str) -> bool:
    """Return whether the object has these methods."""
    return all(callable(getattr(entry, name, None)) for name in methods)


def is_array(entry: object) -> bool:
    """Return whether the object is an array or a tensor of two dimensions."""
    return getattr(entry, "ndim", None) == 2 and hasattr(entry, "shape") and hasattr(entry, "dtype")


def _is_vectors(entry: object) -> bool:
    if not isinstance(entry, Mapping):
        return is_array(entry)
    tables = (is_array(value) or isinstance(value, str | PathLike) for value in entry.values())
    return bool(entry) and all(isinstance(tag, str) for tag in entry) and all(tables)


_HERE = "xlingual.encoders."
_ST = "sentence_transformers"
KINDS: tuple[ObjectKind, ...] = (
    ObjectKind(
        "an encoder with options of its own (xlingual.encoder)",
        lambda it: isinstance(it, WithOptions),
        f"{_HERE}with_options",
    ),
    ObjectKind(
        "SentenceTransformer, SparseEncoder and MultiVectorEncoder (sentence-transformers)",
        lambda it: is_a(it, _ST, "SentenceTransformer", "SparseEncoder", "MultiVectorEncoder"),
        f"{_HERE}loaded",
    ),
    ObjectKind("{language: array or path}, or one array", _is_vectors, f"{_HERE}vectors"),
    ObjectKind(
        "a function of a list of texts, or an object with embed_documents(texts)",
        lambda it: (
            has(it, "embed_documents")
            or (callable(it) and not isinstance(it, type) and not hasattr(it, "encode"))
        ),
        f"{_HERE}python_function",
    ),
)


def kind_of(entry: object) -> ObjectKind | None:
    """Return the first row of the table that the object fits, None where none does."""
    return next((row for row in KINDS if row.fits(entry)), None)


def refusal(entry: object) -> str | None:
    """Return why an object is no encoder, and what to take instead; else None."""
    if isinstance(entry, Mapping) and not _is_vectors(entry):
        return "a mapping is no encoder: expected for each language a path, or vectors (an array [n, d])"
    if is_a(entry, _ST, "CrossEncoder"):
        return "a CrossEncoder scores pairs of texts and gives no vectors: give a SentenceTransformer instead"
    if is_a(entry, "transformers", "Pipeline", "PreTrainedModel") and not has(entry, "encode"):
        return (
            "it gives no vector for a text: wrap it with SentenceTransformer (its modules Transformer and "
            "Pooling), or give the folder that it was saved in as the spec hf:FOLDER?pool=mean"
        )
    return None


def is_one(entry: object, languages: Any = ()) -> bool:  # noqa: ANN401  (a sequence of tags)
    """Return whether the object is one encoder, not a list or a mapping of several.

    A mapping from names is several encoders; one whose names are all languages of the data, to arrays or
    paths, is one.
    """
    if isinstance(entry, list | tuple):
        return False
    if not isinstance(entry, Mapping):
        return hasattr(entry, "encode") or kind_of(entry) is not None or refusal(entry) is not None
    if not _is_vectors(entry) or not all(tag in languages for tag in entry):
        return False
    return all(is_array(value) or _is_file(value) for value in entry.values())


def _is_file(value: object) -> bool:
    return str(value).endswith(SUFFIXES) and ":" not in str(value)


def unnamed(entry: object, label: str) -> str:
    """Return the identity of an object that has none: its class or function, and what results call it."""
    kind = entry if hasattr(entry, "__qualname__") else type(entry)
    own = f"python:{getattr(kind, '__module__', '')}.{getattr(kind, '__qualname__', '')}"
    usual = (type(entry).__name__, getattr(entry, "__name__", ""), getattr(entry, "name", ""))
    return own if not label or label in usual else f"{own}#{label}"


def name_of(entry: object) -> str:
    """Return what results call an object that nobody names: its own name, or that of its class.

    Names are printable words; a function's is that in its definition.
    """
    entry = entry.entry if isinstance(entry, WithOptions) else entry
    for name in (getattr(entry, "name", None), getattr(entry, "__name__", None)):
        if isinstance(name, str) and name and name != "<lambda>":
            return name
    return "vectors" if isinstance(entry, Mapping) or is_array(entry) else type(entry).__name__


def in_words(error: BaseException) -> str:
    """Return an error as part of a sentence, at most 200 characters."""
    message = " ".join(str(error).split())
    return f"{type(error).__name__}: {message[:200]}".removesuffix(": ")
