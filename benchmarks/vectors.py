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
    return Manifest.from_rows(rows)
