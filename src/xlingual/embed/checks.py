"""Whether vectors can be used, and warnings about them."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from xlingual.arrays import Rows
from xlingual.errors import DataWarning, InputError, listed

_BLOCK = 4096


def checked(vectors: Any, count: int, who: str, ids: Sequence[str]) -> np.ndarray:  # noqa: ANN401
    """Return the vectors as a float array [count, d]; raise InputError where they are anything else."""
    if isinstance(vectors, Rows) and len(vectors) == count:
        return cast(np.ndarray, vectors)  # rows of files, which their encoder has checked
    array = np.asarray(vectors)
    if array.dtype.kind not in "fiu":
        raise InputError(f"{who} returned {array.dtype} values; expected numbers [n, d]")
    if array.dtype == np.uint8:
        raise InputError(
            f"{who} returned bytes (uint8), as bit-packed vectors are, and a cosine of bytes means nothing: "
            "return 2.0 * np.unpackbits(vectors, axis=1) - 1 where each bit is a dimension, else float32"
        )
    if array.ndim != 2 or len(array) != count or array.shape[1] == 0:
        raise InputError(f"{who} returned an array of shape {array.shape}; expected ({count}, d)")
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


def warn_of_zeros(vectors: np.ndarray, who: str, what: str, named: Callable[[int], str]) -> None:
    """Warn of vectors that are all zero; `named` gives the name of a row."""
    blocks = [vectors[start : start + _BLOCK].any(axis=1) for start in range(0, len(vectors), _BLOCK)]
    zero = np.flatnonzero(~np.concatenate(blocks)).tolist() if blocks else []
    if zero:
        more = f" and {len(zero) - 3} more" if len(zero) > 3 else ""
        warnings.warn(
            f"{who}: {len(zero)} of {len(vectors)} {what} have an all-zero vector "
            f"({listed(map(named, zero[:3]), 3)}{more}): they are similar to nothing and scored as ties",
            DataWarning,
            stacklevel=3,
        )


def cut_by_language(cut: Any, languages: Sequence[str]) -> dict[str, int] | None:  # noqa: ANN401  (bool [n])
    """Return how many texts of each language were cut; None where the encoder does not note it."""
    if cut is None:
        return None
    counts = Counter(languages[row] for row in np.flatnonzero(cut).tolist())
    return {language: counts[language] for language in dict.fromkeys(languages)}


def warn_of_cut_texts(cut: Mapping[str, int] | None, who: str, count: int) -> None:
    """Warn of texts that were longer than what an encoder reads, counted by language."""
    if some := {language: amount for language, amount in (cut or {}).items() if amount}:
        each = listed((f"{language} {amount:,}" for language, amount in some.items()), 20)
        warnings.warn(
            f"{who}: {sum(some.values()):,} of {count:,} texts were longer than it reads and were cut "
            f"({each}): their ends count for nothing; where the spec takes long=windows, all of a "
            "text counts",
            DataWarning,
            stacklevel=3,
        )
