"""Whether an encoder still gives the vectors that were evaluated: an object in memory may be trained on.

A few vectors of each encoder are kept. They are compared where lists are made again, since numbers of one
model and lists of another do not belong together.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xlingual.errors import InputError
from xlingual.forms import AnyVectors, SparseVectors, TokenVectors, is_dense
from xlingual.results.provenance import note_vectors

_ROWS = 16  # of each part of the texts
_NOISE = 1e-3  # of a vector's length: batches of other sizes, and low precision, change vectors too


class ChangedError(InputError):
    """An encoder gives other vectors than those that were evaluated."""

    def __init__(self, who: str) -> None:
        super().__init__(
            f"{who} has changed since it was evaluated, and lists are not kept: evaluate it again, or write "
            "the results and read them with Results.read(DIR): failures(DATA) of these have all but what was "
            "retrieved"
        )


class FewVectors:
    """A few vectors of each encoder, as they were evaluated."""

    def __init__(self) -> None:
        self._of: dict[str, list[np.ndarray]] = {}

    def keep(self, who: str, *parts: AnyVectors) -> None:
        """Keep some of an encoder's vectors, unless there are some already, and note the digest of all."""
        if all(map(is_dense, parts)):
            note_vectors(who, parts)
        if who not in self._of:
            self._of[who] = [_few(part) for part in parts]

    def check(self, who: str, *parts: AnyVectors) -> None:
        """Raise ChangedError where the encoder gives others now."""
        kept = self._of.get(who, [])
        if not all(_same(old, _few(part)) for old, part in zip(kept, parts, strict=bool(kept))):
            raise ChangedError(who)


def _few(vectors: AnyVectors) -> np.ndarray:
    rows = np.unique(np.linspace(0, max(len(vectors) - 1, 0), _ROWS).astype(np.int64))
    chosen: Any = vectors[rows[: len(vectors)]]
    if isinstance(chosen, SparseVectors):
        chosen = chosen.matrix.toarray()
    elif isinstance(chosen, TokenVectors):
        chosen = chosen.vectors
    return np.array(chosen, dtype=np.float32)


def _same(old: np.ndarray, new: np.ndarray) -> bool:
    if old.shape != new.shape:
        return False
    apart, length = np.linalg.norm(old - new, axis=1), np.linalg.norm(old, axis=1)
    return bool((apart <= _NOISE * length).all())
