"""Hashed words and character n-grams of many texts at once, without a loop over n-grams.

The features are those of scikit-learn's `HashingVectorizer(alternate_sign=False)`, with `analyzer="char_wb"`
for n-grams: these lie within words, and the blanks around a word count as characters. A feature is the
absolute value of the MurmurHash3 (Appleby; 32 bits, seed 0) of the UTF-8, modulo the number of features. A
word that stands in several texts of a block is hashed once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from xlingual.arrays import Ints

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Words32: TypeAlias = NDArray[np.uint32]
Hashed: TypeAlias = Callable[[Sequence[str], int], tuple[Ints, Words32]]

MOST_TEXTS = 4096  # of a block
_CHARACTERS = 1 << 19  # of a block

_FIRST, _SECOND, _ADDED = np.uint32(0xCC9E2D51), np.uint32(0x1B873593), np.uint32(0xE6546B64)
_LAST = (np.uint32(0x85EBCA6B), np.uint32(0xC2B2AE35))
_TAIL = (0, 0xFF, 0xFFFF, 0xFFFFFF)  # which bits of four bytes belong to a rest of 0 to 3 bytes


def blocks(texts: Sequence[str]) -> Iterator[slice]:
    """Yield slices of texts, one after another, each with a bounded number of characters."""
    ends = np.cumsum(np.fromiter(map(len, texts), dtype=np.int64, count=len(texts)))
    start = 0
    while start < len(texts):
        before = ends[start - 1] if start else 0
        stop = int(np.searchsorted(ends, before + _CHARACTERS, side="right"))
        stop = min(max(stop, start + 1), start + MOST_TEXTS)
        yield slice(start, stop)
        start = stop


def counts(words: Sequence[Sequence[str]], features: int, hashed: Hashed) -> csr_matrix:
    """Return how often each feature is in each text, sparse float64 [texts, features], indices sorted.

    A text is its words; `hashed(words, features)` returns the features of distinct words: (bounds, features),
    those of word w from bounds[w] to bounds[w + 1]. `features` is a power of two; texts × features is at most
    2³².
    """
    from scipy.sparse import csr_matrix

    flat = list(chain.from_iterable(words))
    code = {word: number for number, word in enumerate(dict.fromkeys(flat))}
    lengths = np.fromiter(map(len, words), dtype=np.int64, count=len(words))
    word = np.fromiter(map(code.__getitem__, flat), dtype=np.int64, count=len(flat))
    bounds, feature = hashed(list(code), features)
    each = (bounds[1:] - bounds[:-1])[word]  # features of each word of each text
    ends = np.cumsum(each)
    place = np.arange(int(each.sum())) + np.repeat(bounds[:-1][word] - ends + each, each)
    row = np.repeat(np.repeat(np.arange(len(words), dtype=np.uint32), lengths), each)
    keys = np.sort(row * np.uint32(features) + feature[place])
    first = np.flatnonzero(np.diff(keys, prepend=keys[:1] + np.uint32(1)))
    times = np.diff(first, append=len(keys)).astype(np.float64)
    kept = keys[first]
    indptr = np.searchsorted(kept, np.arange(len(words) + 1, dtype=np.uint64) * np.uint64(features))
    columns = (kept & np.uint32(features - 1)).astype(np.int32)
    return csr_matrix((times, columns, indptr), shape=(len(words), features))


def hashed_words(words: Sequence[str], features: int) -> tuple[Ints, Words32]:
    """Return (bounds, the feature of each word)."""
    encoded = [word.encode() for word in words]
    length = np.fromiter(map(len, encoded), dtype=np.int64, count=len(words))
    joined = np.frombuffer(b"".join(encoded) + bytes(4), dtype=np.uint8)
    return np.arange(len(words) + 1), murmur3(joined, np.cumsum(length) - length, length, features)


def hashed_ngrams(words: Sequence[str], features: int, n: tuple[int, int]) -> tuple[Ints, Words32]:
    """Return (bounds, the features of the n-grams of each word with a blank before and after it).

    A word that is shorter than the shortest n-gram, with its blanks, is one itself.
    """
    joined = f" {'  '.join(words)} "
    length = np.fromiter(map(len, words), dtype=np.int64, count=len(words)) + 2
    start = np.cumsum(length) - length  # of each word, in characters
    encoded = np.frombuffer(joined.encode() + bytes(4), dtype=np.uint8)
    byte = np.append(np.flatnonzero((encoded[:-4] & 0xC0) != 0x80), len(encoded) - 4)  # of each character
    sizes = range(n[0], n[1] + 1)
    count = np.stack(
        [np.maximum(length - size + 1, size == n[0]) for size in sizes], axis=1
    )  # [words, sizes]
    bounds = np.concatenate([[0], np.cumsum(count.sum(axis=1))])
    feature = np.empty(bounds[-1], dtype=np.uint32)
    before = bounds[:-1].copy()  # where a word's n-grams of the size begin
    for size, here in zip(sizes, count.T, strict=True):
        within = np.arange(int(here.sum())) - np.repeat(np.cumsum(here) - here, here)
        low = within + np.repeat(start, here)
        high = low + np.repeat(np.minimum(length, size), here)
        feature[within + np.repeat(before, here)] = murmur3(
            encoded, byte[low], byte[high] - byte[low], features
        )
        before += here
    return bounds, feature


def murmur3(encoded: NDArray[np.uint8], start: Ints, length: Ints, features: int) -> Words32:
    """Return |MurmurHash3| modulo `features` (a power of two) of spans of bytes, uint32 [spans].

    Four bytes have to follow the last span.
    """
    four = np.ndarray((len(encoded) - 3,), np.dtype("<u4"), encoded.data, strides=(1,))  # from each byte on
    result = np.empty(len(start), dtype=np.uint32)
    for size in np.flatnonzero(np.bincount(length)).tolist():
        spans = np.flatnonzero(length == size)
        at, value = start[spans], np.zeros(len(spans), dtype=np.uint32)
        for offset in range(0, size - size % 4, 4):
            value ^= _mixed(four[at + offset])
            value = _rotated(value, 13) * np.uint32(5) + _ADDED
        if size % 4:
            value ^= _mixed(four[at + (size - size % 4)] & np.uint32(_TAIL[size % 4]))
        value ^= np.uint32(size)
        value = (value ^ value >> np.uint32(16)) * _LAST[0]
        value = (value ^ value >> np.uint32(13)) * _LAST[1]
        value ^= value >> np.uint32(16)
        result[spans] = np.where(value >> np.uint32(31), -value, value)  # the absolute value of an int32
    return result & np.uint32(features - 1)


def _mixed(block: Words32) -> Words32:
    return _rotated(block * _FIRST, 15) * _SECOND


def _rotated(value: Words32, bits: int) -> Words32:
    return value << np.uint32(bits) | value >> np.uint32(32 - bits)
