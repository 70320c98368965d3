"""Checksums: of rows of vectors at the speed of memory, and of everything else in a file."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

_AT_ONCE = 32_768  # words worked on at a time: they stay in the processor's cache


def row_checksums(vectors: NDArray[Any], keys: Words) -> Words:
    """Return uint64 [n] for vectors [n, d] and their keys [n, 2].

    A row that stands at another key's place has a wrong one.
    """
    return row_sums(vectors) ^ key_sums(keys)


def key_sums(keys: Words) -> Words:
    """Return uint64 [n] for keys [n, 2]."""
    return keys[:, 0] ^ _mixed(keys[:, 1])


def row_sums(vectors: NDArray[Any]) -> Words:
    """Return uint64 [n] for vectors [n, d], one after the other in memory.

    The sum over the words of a row, upper halves folded into lower ones, times odd weights, modulo 2^64. One
    changed word always changes it, since folding is one-to-one; so do any two changed bits. Without folding
    two changed signs would not: 2^63 times an odd weight is the same for any weight. Of a folded word a bit
    changes at least one of the lower 32, and there weights differ between the words.
    """
    size = next(size for size in (8, 4, 2) if vectors.shape[1] * vectors.itemsize % size == 0)
    words = vectors.view(f"<u{size}").astype(np.uint64, copy=False)
    weights = _weights(words.shape[1])
    sums: Words = np.empty(len(words), dtype=np.uint64)
    step = max(1, _AT_ONCE // max(1, words.shape[1]))
    room = np.empty((min(step, len(words)), words.shape[1]), dtype=np.uint64)
    for start in range(0, len(words), step):
        part = words[start : start + step]
        folded = room[: len(part)]
        np.right_shift(part, np.uint64(32), out=folded)
        np.bitwise_xor(part, folded, out=folded)
        np.einsum("ij,j->i", folded, weights, out=sums[start : start + step])
    return sums


@lru_cache(maxsize=8)
def _weights(count: int) -> Words:
    """Return odd numbers of 64 bits, the same ones at any time."""
    return _mixed(np.arange(1, count + 1, dtype=np.uint64)) | np.uint64(1)


def _mixed(numbers: Words) -> Words:
    """Return the numbers scattered over 64 bits (the finaliser of splitmix64, Steele and others 2014)."""
    z = numbers * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Words = z ^ (z >> np.uint64(31))
    return mixed


def key_words(keys: bytes) -> Words:
    """Return keys of 16 bytes each, joined, as words [n, 2]."""
    return np.frombuffer(keys, dtype="<u8").astype(np.uint64, copy=False).reshape(-1, 2)
