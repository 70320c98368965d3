"""Batches of rows of like length, and what to do when one does not fit into memory."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from xlingual.arrays import Ints, Vectors
from xlingual.errors import InputError, warn
from xlingual.forms import joined_vectors
from xlingual.records import Encoded, Texts

T = TypeVar("T")
LIKE = 0.75  # rows shorter than this part of their batch's longest one would be padding for the most part
PART = 16_384  # texts whose tokens are held at once
# messages of the libraries that memory ran out, besides their own exceptions
_SIGNS = ("out of memory", "not enough memory", "can't allocate memory", "failed to allocate", "alloc_failed")


class Memory:
    """The batch size that fits into memory, as an encoder has learnt it from batches that did not fit.

    `cells`, the rows of a batch times the length of its longest one, is None until a batch did not fit.
    """

    def __init__(self) -> None:
        self.cells: int | None = None

    def rows(self, most: int, length: int) -> int:
        """Return how many rows, 1 to `most`, a batch may have whose longest one has this length."""
        return most if self.cells is None else max(1, min(most, self.cells // max(1, length)))

    def halve(self, rows: int, length: int) -> int:
        """Remember that so many rows did not fit; return half of them."""
        self.cells = rows // 2 * max(1, length)
        return rows // 2


def in_batches(
    lengths: Sequence[int] | Ints,
    batch_size: int,
    run: Callable[[Ints], Any],
    *,
    who: str,
    dim: int = 0,
    memory: Memory | None = None,
) -> Vectors:
    """Return float32 [n, d]: what `run(rows)` returns for batches of at most `batch_size` rows, in order.

    `lengths[i]` is the length of row i (tokens, characters, pixels; equal numbers keep their order). Rows go
    from the longest to the shortest, and a batch ends early before a row of less than `LIKE` times the length
    of its first one: a batch holds little padding, and what needs the most memory is tried first. Where a
    batch does not fit, it is halved, no later one is larger than that (in rows times length), and a
    DataWarning names the size that worked; where even one row does not fit, InputError. An encoder that gives
    its `memory` each time keeps what was learnt for later calls, and warns only when it learns anew. `who`
    begins both messages, `dim` is the d of an empty answer: `run` is never called without rows.
    """
    length = np.asarray(lengths, dtype=np.int64)
    order = np.argsort(-length, kind="stable")
    memory = memory or Memory()
    answer, start, refused, size = np.zeros((0, dim), dtype=np.float32), 0, 0, 0
    while start < len(order):
        longest = int(length[order[start]])
        rows = order[start : start + memory.rows(batch_size, longest)]
        rows = rows[length[rows] >= LIKE * longest]
        vectors = _unless_out_of_memory(run, rows)
        if vectors is None:
            refused = refused or len(rows)
            if len(rows) == 1:
                raise InputError(
                    f"{who}: out of memory with a single row (of length {longest}): lower max_length, choose "
                    "dtype=float16, a smaller model or device=cpu"
                )
            size = memory.halve(len(rows), longest)
            continue
        if start == 0:
            answer = np.empty((len(order), vectors.shape[1]), dtype=np.float32)
        answer[rows] = vectors
        start += len(rows)
    if refused:
        warn(f"{who}: a batch of {refused} did not fit into memory, one of {size} did: write batch={size}")
    return answer


def in_parts(encode: Callable[[Texts], Encoded], batch: Texts, size: int = PART) -> Encoded:
    """Return what `encode` returns for parts of at most `size` texts, as one: few tokens are held at once."""
    if len(batch) <= size:
        return encode(batch)
    rows = np.arange(len(batch))
    parts = [encode(batch.take(rows[start : start + size])) for start in range(0, len(batch), size)]
    return Encoded(
        joined_vectors([part.vectors for part in parts]), np.concatenate([part.truncated for part in parts])
    )


def distinct_rows(rows: Iterable[T]) -> tuple[list[T], Ints]:
    """Return the distinct rows in the order of their first places, and which of them each row is, [n].

    >>> distinct_rows(["b", "a", "b"])[0]
    ['b', 'a']
    """
    number: dict[T, int] = {}
    index = np.array([number.setdefault(row, len(number)) for row in rows], dtype=np.int64)
    return list(number), index


def rows_by_language(batch: Texts) -> list[tuple[str, Ints]]:
    """Return each language of a batch, in the order of their first texts, with its rows."""
    tags, code = distinct_rows(batch.language)
    return [(tag, np.flatnonzero(code == number)) for number, tag in enumerate(tags)]


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an exception of numpy, torch or onnxruntime says that memory ran out."""
    out_of_memory = isinstance(error, RuntimeError) and any(sign in str(error).lower() for sign in _SIGNS)
    return out_of_memory or isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"


def _unless_out_of_memory(run: Callable[[Ints], Any], rows: Ints) -> Vectors | None:
    """Return what `run` returns, or None where memory ran out."""
    try:
        return np.asarray(run(rows))
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
    # only here, where the exception no longer holds the frames that hold the tensors, is memory given back
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()
    return None
