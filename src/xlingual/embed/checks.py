"""Whether vectors can be used, and warnings about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from xlingual.arrays import Ints, Rows
from xlingual.encoders.base import Encoder
from xlingual.errors import InputError, listed, warn
from xlingual.forms import (
    OtherVectors,
    SparseVectors,
    TokenVectors,
    array_of,
    as_other,
    is_dense,
    refuse_bytes,
    type_in_words,
)
from xlingual.records import Texts, digest

_BLOCK = 4096


def checked(vectors: Any, count: int, who: str, ids: Sequence[str]) -> Any:  # noqa: ANN401  (AnyVectors)
    """Return the vectors as a float array [count, d], or as sparse rows or token vectors of `count` texts.

    Sparse matrices of scipy and lists of arrays [tokens, d] become those. Raises InputError where vectors
    are anything else.
    """
    if isinstance(vectors, Rows) and len(vectors) == count:
        return cast(np.ndarray, vectors)  # rows of files, which their encoder has checked
    if (other := as_other(vectors, who, ids)) is not None:
        return _checked_other(other, count, who, ids)
    array = array_of(vectors)
    if array.dtype.kind not in "fiu":
        raise InputError(f"{who} returned {type_in_words(array)}; expected numbers [n, d]")
    refuse_bytes(array, f"{who} returned")
    if array.ndim != 2 or len(array) != count or array.shape[1] == 0:
        tokens = (
            "; for a vector for each token return a list of arrays [tokens, d]" if array.ndim == 3 else ""
        )
        raise InputError(f"{who} returned an array of shape {array.shape}; expected ({count}, d){tokens}")
    if array.dtype not in (np.float16, np.float32):
        array = array.astype(np.float32)
    for start in range(0, count, _BLOCK):
        bad = np.flatnonzero(~np.isfinite(array[start : start + _BLOCK]).all(axis=1))
        if len(bad):
            row = start + int(bad[0])
            raise InputError(
                f"{who}: the vector of {ids[row]!r} (row {row + 1}) holds NaN or infinity; embed it again"
            )
    return array


def _checked_other(vectors: OtherVectors, count: int, who: str, ids: Sequence[str]) -> OtherVectors:
    if len(vectors) != count or vectors.shape[1] == 0:
        raise InputError(f"{who} returned {vectors.what} of shape {vectors.shape}; expected ({count}, d)")
    if isinstance(vectors, TokenVectors):
        sizes = vectors.sizes
        if vectors.bounds[0] != 0 or (sizes < 0).any() or vectors.bounds[-1] != len(vectors.vectors):
            raise InputError(
                f"{who} returned token vectors with bounds that do not fit: expected numbers that rise from "
                f"0 to {len(vectors.vectors)}, the number of all tokens"
            )
        vectors = replace(vectors, vectors=np.asarray(vectors.vectors, dtype=np.float32))
    else:
        vectors = SparseVectors.of(vectors.matrix, vectors.compared_by)
    if len(bad := vectors.bad_rows()):
        row = int(bad[0])
        raise InputError(
            f"{who}: the vector of {ids[row]!r} (row {row + 1}) holds NaN or infinity; embed it again"
        )
    return vectors


def zero_rows(vectors: Any) -> Ints:  # noqa: ANN401  (AnyVectors)
    """Return the rows that are all zero, or have no tokens, ascending."""
    if isinstance(vectors, SparseVectors | TokenVectors):
        return vectors.zero()
    blocks = [vectors[start : start + _BLOCK].any(axis=1) for start in range(0, len(vectors), _BLOCK)]
    return np.flatnonzero(~np.concatenate(blocks)) if blocks else np.empty(0, dtype=np.int64)


def warn_of_zeros(
    vectors: Any,  # noqa: ANN401
    who: str,
    what: str,
    named: Callable[[int], str],
    said: str = Encoder.zero_vector,
) -> None:
    """Warn of vectors that are all zero; `named` gives the name of a row, `said` is what it has."""
    zero = zero_rows(vectors).tolist()
    if zero:
        more = f" and {len(zero) - 3} more" if len(zero) > 3 else ""
        warn(
            f"{who}: {len(zero)} of {len(vectors)} {what} have {said} "
            f"({listed(map(named, zero[:3]), 3)}{more}): they are similar to nothing and scored as ties"
        )


_COMPARISONS = {
    "dot": "the dot product",
    "euclidean": "the Euclidean distance",
    "manhattan": "the Manhattan distance",
}
_BY_LENGTH = ("dot", "euclidean")  # these rank vectors of one length as the cosine does
_UNEVEN = 1e-3  # how far lengths of vectors may differ, of the longest: half precision rounds less


def warn_of_similarity(vectors: Any, compares_by: str | None, who: str) -> None:  # noqa: ANN401  (AnyVectors)
    """Warn where the cosine ranks these candidates otherwise than the model's own comparison would.

    Where all have one length, the dot product and the Euclidean distance rank as the cosine does.
    """
    if compares_by not in _COMPARISONS or not is_dense(vectors):
        return
    why = f"the model is made to be compared by {_COMPARISONS[compares_by]} ({compares_by!r})"
    if compares_by in _BY_LENGTH:
        shortest, longest = _lengths(vectors)
        if longest - shortest <= _UNEVEN * longest:
            return
        why += ", and its vectors differ in length"  # no numbers: a training loop says it once, not each time
    warn(
        f"{who}: {why}. They are ranked by the cosine here, which may be another order: these are not the "
        f"scores of a search by {_COMPARISONS[compares_by]}"
    )


def _lengths(vectors: Any) -> tuple[float, float]:  # noqa: ANN401  (an array or Rows)
    """Return the least and the largest length of vectors that are not all zero; 1 and 1 without one."""
    found = [
        np.linalg.norm(np.asarray(vectors[start : start + _BLOCK], dtype=np.float64), axis=1)
        for start in range(0, len(vectors), _BLOCK)
    ]
    lengths = np.concatenate(found) if found else np.empty(0)
    lengths = lengths[lengths > 0]
    return (float(lengths.min()), float(lengths.max())) if len(lengths) else (1.0, 1.0)


def cut_by_language(cut: Any, languages: Sequence[str]) -> dict[str, int] | None:  # noqa: ANN401  (bool [n])
    """Return how many texts of each language were cut; None where the encoder does not note it."""
    if cut is None:
        return None
    counts = Counter(languages[row] for row in np.flatnonzero(cut).tolist())
    return {language: counts[language] for language in dict.fromkeys(languages)}


def cut_in_sides(*sides: tuple[Texts, Any]) -> tuple[dict[str, int] | None, int]:
    """Return how many texts of each language were cut (bool [n]), and how many there are.

    A text (id, language and words) of both sides counts once. Without a cut text all are not counted: 0.
    """
    noted = [(texts, cut) for texts, cut in sides if cut is not None]
    if not noted:
        return None, 0
    found = {
        digest(texts.ids[row], texts.language[row], texts.text[row]): texts.language[row]
        for texts, cut in noted
        for row in np.flatnonzero(cut).tolist()
    }
    counts = Counter(found.values())
    count = len(frozenset().union(*(texts.row_digests() for texts, _ in sides))) if found else 0
    return {tag: counts[tag] for texts, _ in noted for tag in dict.fromkeys(texts.language)}, count


def warn_of_cut_texts(cut: Mapping[str, int] | None, who: str, count: int) -> None:
    """Warn of texts that were longer than what an encoder reads, counted by language."""
    if some := {language: amount for language, amount in (cut or {}).items() if amount}:
        each = listed((f"{language} {amount:,}" for language, amount in some.items()), 20)
        warn(
            f"{who}: {sum(some.values()):,} of {count:,} texts were longer than it reads and were cut "
            f"({each}): their ends count for nothing"
        )
