"""Lists of numbers of different lengths, as the arrays that a network takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from xlingual.arrays import Ints


def bags(numbers: Sequence[Sequence[int]]) -> tuple[Ints, Ints]:
    """Return the numbers of all texts one after the other, int64 [all], and where each begins, int64 [b]."""
    sizes = np.array([len(text) for text in numbers], dtype=np.int64)
    flat = np.fromiter((number for text in numbers for number in text), np.int64, int(sizes.sum()))
    return flat, np.cumsum(sizes) - sizes


def padded(pieces: Sequence[Mapping[str, Sequence[int]]], padding: int) -> tuple[Ints, ...]:
    """Return tokens, mask and, where there are any, types of texts, int64 [b, longest] each.

    A text without tokens is one token of padding: attention needs one that counts.
    """
    lengths = [max(1, len(piece["input_ids"])) for piece in pieces]
    shape = (len(pieces), max(lengths, default=1))
    mask = (np.arange(shape[1]) < np.array(lengths).reshape(-1, 1)).astype(np.int64)
    found = [np.full(shape, padding, dtype=np.int64), mask]
    typed = bool(pieces) and "token_type_ids" in pieces[0]
    if typed:
        found.append(np.zeros(shape, dtype=np.int64))
    for row, piece in enumerate(pieces):
        size = len(piece["input_ids"])
        found[0][row, :size] = piece["input_ids"]
        if typed:
            found[2][row, :size] = piece["token_type_ids"]
    return tuple(found)


def padded_numbers(texts: Sequence[Sequence[int]]) -> tuple[Ints, Ints]:
    """Return numbers int64 [b, longest], 0 behind the end of a text, and lengths int64 [b]."""
    lengths = np.array([len(text) for text in texts], dtype=np.int64)
    found = np.zeros((len(texts), int(lengths.max(initial=0))), dtype=np.int64)
    for row, text in enumerate(texts):
        found[row, : len(text)] = text
    return found, lengths
