"""Objects that people already have: what those of each library look like, and the module that adapts them.

No library is imported to recognise its objects: classes are known by their names and modules, interfaces by
their methods. The first row of `KINDS` that fits counts.
"""

from __future__ import annotations

import inspect
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


def parameters(function: Any) -> tuple[str, ...]:  # noqa: ANN401  (anything that can be called)
    """Return the names of a function's parameters, () where they are not known."""
    try:
        return tuple(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return ()


def is_array(entry: object) -> bool:
    """Return whether the object is a table of numbers: an array or a tensor of two dimensions."""
    return getattr(entry, "ndim", None) == 2 and hasattr(entry, "shape") and hasattr(entry, "dtype")


def is_table(entry: object) -> bool:
    """Return whether the object holds a vector for each line, in whatever form.

    An array; rows in a list; a column of vectors, or a data frame of numbers; an index of FAISS.
    """
    if is_array(entry) or has(entry, "reconstruct_n"):
        return True
    if isinstance(entry, list | tuple):
        return bool(entry) and _is_row(entry[0])
    is_column = has(entry, "to_numpy") and (hasattr(entry, "dtype") or hasattr(entry, "columns"))
    return is_column or (has(entry, "to_pylist") and is_a(entry, "pyarrow", "Array", "ChunkedArray"))


def _is_row(value: object) -> bool:
    if isinstance(value, list | tuple):
        return bool(value) and isinstance(value[0], int | float)
    return getattr(value, "ndim", None) == 1 and hasattr(value, "dtype")


def _is_haystack(entry: object) -> bool:
    return has(entry, "run") and bool({"text", "documents"} & set(parameters(getattr(entry, "run", None))))


def _is_mteb(entry: object) -> bool:
    return has(entry, "encode") and "task_metadata" in parameters(getattr(entry, "encode", None))


def _is_vectors(entry: object) -> bool:
    if not isinstance(entry, Mapping):
        return is_table(entry)
    tables = (is_table(value) or isinstance(value, str | PathLike) for value in entry.values())
    return bool(entry) and all(isinstance(tag, str) for tag in entry) and all(tables)


def _is_by_role(entry: object) -> bool:
    return isinstance(entry, Mapping) and set(entry) == {"query", "candidate"}


_HERE = "xlingual.encoders."
_ST = "sentence_transformers"
_WRAP = (
    "give the folder that it was saved in, with its tokenizer, as the spec hf:FOLDER?pool=mean, or wrap it "
    "with SentenceTransformer (its modules Transformer and Pooling)"
)
# objects that can be called and give no vectors of texts: why, and what to take instead
REFUSED: tuple[tuple[Callable[[Any], bool], str], ...] = (
    (
        lambda it: is_a(it, _ST, "CrossEncoder") or is_a(it, "mteb", "CrossEncoderWrapper"),
        "a CrossEncoder scores pairs of texts and gives no vectors: give a SentenceTransformer instead, or "
        "xlingual.reranker(model, system=NAME), which orders the first results of another system",
    ),
    (
        lambda it: is_a(it, "transformers", "Pipeline"),
        f"a pipeline of transformers gives a vector for each token, or none: {_WRAP}",
    ),
    (
        lambda it: is_a(it, "transformers", "PreTrainedModel") and not has(it, "encode"),
        f"a model of transformers reads token numbers, not texts, and says not how to pool: {_WRAP}",
    ),
)
KINDS: tuple[ObjectKind, ...] = (
    ObjectKind(
        "an encoder with options of its own (xlingual.encoder)",
        lambda it: isinstance(it, WithOptions),
        f"{_HERE}with_options",
    ),
    ObjectKind(
        "SparseEncoder and MultiVectorEncoder (sentence-transformers)",
        lambda it: is_a(it, _ST, "SparseEncoder", "MultiVectorEncoder"),
        f"{_HERE}sentence_transformer_kinds",
    ),
    ObjectKind(
        "SentenceTransformer",
        lambda it: is_a(it, _ST, "SentenceTransformer"),
        f"{_HERE}sentence_transformer_objects",
    ),
    ObjectKind(
        "StaticEmbedding (sentence-transformers)",
        lambda it: is_a(it, _ST, "StaticEmbedding"),
        f"{_HERE}sentence_transformer_objects",
    ),
    ObjectKind(
        "StaticModel (model2vec)",
        lambda it: is_a(it, "model2vec", "StaticModel"),
        f"{_HERE}model2vec_objects",
    ),
    ObjectKind("encoders of MTEB (EncoderProtocol)", _is_mteb, f"{_HERE}mteb_objects"),
    ObjectKind(
        "Embeddings (LangChain)",
        lambda it: has(it, "embed_query", "embed_documents"),
        f"{_HERE}embedding_objects",
    ),
    ObjectKind(
        "BaseEmbedding (LlamaIndex)",
        lambda it: has(it, "get_query_embedding", "get_text_embedding_batch"),
        f"{_HERE}embedding_objects",
    ),
    ObjectKind("text and document embedders (Haystack)", _is_haystack, f"{_HERE}embedding_objects"),
    ObjectKind('{"query": encoder, "candidate": encoder}', _is_by_role, f"{_HERE}embedding_objects"),
    ObjectKind(
        "{language: vectors or path}, or one table of vectors (an array and the like)",
        _is_vectors,
        f"{_HERE}vector_objects",
    ),
    ObjectKind(
        "a function of a list of texts",
        lambda it: callable(it) and not isinstance(it, type) and not hasattr(it, "encode"),
        f"{_HERE}function_objects",
    ),
)


def kind_of(entry: object) -> ObjectKind | None:
    """Return the first row of the table that the object fits, None where none does."""
    return next((row for row in KINDS if row.fits(entry)), None)


def refusal(entry: object) -> str | None:
    """Return why an object is no encoder, though it may be called, and what to take instead; else None."""
    if isinstance(entry, Mapping) and not (_is_by_role(entry) or _is_vectors(entry)):
        return _why_no_encoder(entry)
    return next((why for fits, why in REFUSED if fits(entry)), None)


def one_role(entry: Mapping[Any, Any]) -> str | None:
    """Return what to say of a mapping that has an encoder for one of the two roles only."""
    if set(entry) not in ({"query"}, {"candidate"}):
        return None
    (role,) = entry
    return f'an encoder for the role {role!r} alone: give both, as in {{"query": A, "candidate": B}}'


def _why_no_encoder(entry: Mapping[Any, Any]) -> str:
    """Return what is wrong with a mapping that is neither two encoders nor vectors by language."""
    wanted = (
        'expected {"query": A, "candidate": B}, or for each language a path, or vectors (an array [n, d], '
        "rows in a list, a column of vectors, an index of FAISS)"
    )
    for tag, value in entry.items():
        if not (is_table(value) or isinstance(value, str | PathLike)):
            shape = f" and the shape {value.shape}" if hasattr(value, "shape") else ""
            kind = f"{type(value).__name__}{shape}"
            return one_role(entry) or f"the value of {tag!r} is of the type {kind}: {wanted}"
    return f"a mapping {'whose keys are no texts' if entry else 'that is empty'}: {wanted}"


def is_one(entry: object, languages: Any = ()) -> bool:  # noqa: ANN401  (a sequence of tags)
    """Return whether the object is one encoder, not a list or a mapping of several.

    A mapping from names is several encoders; one whose names are all languages of the data, to arrays or
    paths, is one.
    """
    if not isinstance(entry, Mapping):
        if isinstance(entry, list | tuple):
            return is_table(entry)
        return hasattr(entry, "encode") or kind_of(entry) is not None or refusal(entry) is not None
    if _is_vectors(entry) and all(tag in languages for tag in entry):
        return all(is_table(value) or _is_file(value) for value in entry.values())
    return _is_by_role(entry) and not any(isinstance(value, str | PathLike) for value in entry.values())


def _is_file(value: object) -> bool:
    return str(value).partition("?")[0].endswith(SUFFIXES) and ":" not in str(value)


def unnamed(entry: object, label: str) -> str:
    """Return the identity of an object that has none: its class or function, and what results call it."""
    kind = entry if hasattr(entry, "__qualname__") else type(entry)
    own = f"python:{getattr(kind, '__module__', '')}.{getattr(kind, '__qualname__', '')}"
    usual = (type(entry).__name__, getattr(entry, "__name__", ""), getattr(entry, "name", ""))
    return own if not label or label in usual else f"{own}#{label}"


def name_of(entry: object) -> str:
    """Return what results call an object that nobody names: its own name, or that of its class.

    Names are printable words; a function's is that in its definition, and two encoders by role have that of
    the one for queries.
    """
    entry = entry.entry if isinstance(entry, WithOptions) else entry
    if isinstance(entry, Mapping) and _is_by_role(entry) and not is_table(entry["query"]):
        return name_of(entry["query"])
    for given in (getattr(entry, "name", None), getattr(entry, "__name__", None)):
        if isinstance(given, str) and given and given != "<lambda>":
            return given
    return "vectors" if isinstance(entry, Mapping) or is_table(entry) else type(entry).__name__


def in_words(error: BaseException) -> str:
    """Return an error as part of a sentence, at most 200 characters."""
    message = " ".join(str(error).split())
    return f"{type(error).__name__}: {message[:200]}".removesuffix(": ")
