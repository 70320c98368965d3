"""Data for benchmarks: a manifest of n source and n target items, and vectors with a realistic spectrum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xlingual import Manifest


@dataclass(frozen=True)
class Given:
    """An encoder that returns vectors prepared before the clock starts, one line per item."""

    vectors: np.ndarray
    name: str = "given"

    @property
    def identity(self) -> str:
        """What the vectors are."""
        return f"given:{self.name}"

    def encode(self, batch) -> np.ndarray:
        """Return the lines of the items; the array itself where all are asked for, in order."""
        (items,) = (numbering for numbering in batch.numberings if numbering.unit == "items")
        if len(items.index) == len(self.vectors) and (np.diff(items.index) == 1).all():
            return self.vectors
        return self.vectors[items.index]


class Roles:
    """An encoder that has the vectors of both roles."""

    identity = "given"

    def __init__(self, vectors: tuple[np.ndarray, np.ndarray]) -> None:
        self.vectors = dict(zip(("query", "candidate"), vectors, strict=True))

    def encode(self, batch) -> np.ndarray:
        """Return the vectors of a role."""
        return self.vectors[batch.role]


def spectrum(rng: np.random.Generator, n: int, d: int, shift: float = 0.0, decay: float = 1.0) -> np.ndarray:
    """Return float32 [n, d] whose variances shrink like 1/i^decay, as those of real encoders do.

    What the decay of real vectors is: `python -m benchmarks spectra`.
    """
    scale = (np.arange(1, d + 1) ** (-decay / 2)).astype(np.float32)
    return (rng.standard_normal((n, d), dtype=np.float32) + np.float32(shift)) * scale


def two_languages(n: int) -> Manifest:
    """Return a manifest of n items with an English text and n others with a German one."""
    rows = [{"id": f"e{i}", "lang": "en", "text": str(i)} for i in range(n)]
    rows += [{"id": f"d{i}", "lang": "de", "text": str(i)} for i in range(n)]
    return Manifest.of(rows)


def sides(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Return unit vectors of n queries and n candidates; those of one number share their meaning."""
    rng = np.random.default_rng(0)
    meaning = spectrum(rng, n, d)
    vectors = [meaning + np.float32(0.7) * spectrum(rng, n, d) for _ in range(2)]
    queries, candidates = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in vectors)
    return queries, candidates


def keys_of(queries: np.ndarray, candidates: np.ndarray) -> np.ndarray:
    """Return the cosines of all pairs in float64, rounded to 9 decimals, as whole numbers [n, m]."""
    keys = np.empty((len(queries), len(candidates)))
    for start in range(0, len(candidates), 10_000):
        part = slice(start, start + 10_000)
        wide = [side.astype(np.float64) for side in (queries, candidates[part])]
        left, right = (v / np.maximum(np.linalg.norm(v, axis=1, keepdims=True), 1e-300) for v in wide)
        keys[:, part] = np.rint(left @ right.T * 1e9)
    return keys
