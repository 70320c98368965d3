"""Smaller vectors: fewer dimensions, or fewer bits a number, as float32 vectors that rank as they would.

What a search engine would store (bytes, bits) is never made: each function gives the numbers that its codes
stand for, so that cosines of them rank as the codes do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xlingual.arrays import Floats, Vectors
from xlingual.errors import InputError
from xlingual.transforms.moments import FitData

F16, INT8, BINARY = "f16", "int8", "binary"
_STEPS = 255  # between the least and the largest code of a byte


def truncated(vectors: Vectors, dim: int) -> Vectors:
    """Return the first `dim` dimensions; raise InputError where there are fewer.

    What is left keeps most where a model was trained for it (Kusupati et al., Matryoshka representation
    learning, NeurIPS 2022).
    """
    if dim > vectors.shape[1]:
        raise InputError(f"{dim} dimensions are asked for, and the vectors have {vectors.shape[1]}")
    return np.ascontiguousarray(vectors[:, :dim])


def halved(vectors: Vectors) -> Vectors:
    """Return the numbers rounded to half precision: 16 bits each."""
    rounded: Vectors = vectors.astype(np.float16).astype(np.float32)
    return rounded


def signs(vectors: Vectors) -> Vectors:
    """Return 1 where a number is above 0, else −1: one bit each; zero vectors stay zero.

    The cosine of two such vectors is 1 − 2·h/d where their bits differ in h of d places: it ranks as the
    Hamming distance does.
    """
    found: Vectors = np.where(vectors > 0, np.float32(1), np.float32(-1))
    found[~vectors.any(axis=1)] = 0
    return found


@dataclass(frozen=True)
class Levels:
    """256 levels of each dimension, evenly spaced from the least to the largest number of calibration rows.

    A number becomes the nearest level: one beyond the ends becomes the first or the last. That is the scheme
    of `quantize_embeddings` of sentence-transformers, which takes the level below instead of the nearest.
    """

    low: Floats  # [d]
    high: Floats  # [d]

    @classmethod
    def of(cls, data: FitData) -> Levels:
        """Return the levels for the rows of `data` that are not zero; InputError where there is none."""
        pieces = [piece[piece.any(axis=1)] for _, piece in data.in_pieces(np.arange(len(data.languages)))]
        ends = [(rows.min(axis=0), rows.max(axis=0)) for rows in pieces if len(rows)]
        if not ends:
            raise InputError("all vectors of the texts that it is fitted on are zero: fit it on other texts")
        return cls(np.min([low for low, _ in ends], axis=0), np.max([high for _, high in ends], axis=0))

    def apply(self, vectors: Vectors, languages: object = None) -> Vectors:
        """Give what the levels of the vectors [n, d] stand for, float32; zero vectors stay zero.

        All languages have the same levels. Raises InputError for another d.
        """
        if vectors.shape[1] != len(self.low):
            raise InputError(
                f"fitted on vectors of {len(self.low)} dimensions, found {vectors.shape[1]}: it belongs to "
                "another encoder"
            )
        step = (self.high - self.low) / _STEPS
        away = np.asarray(vectors, dtype=np.float64) - self.low
        level = np.divide(away, step, out=np.zeros_like(away), where=step > 0)
        rounded: Vectors = (self.low + np.clip(np.rint(level), 0, _STEPS) * step).astype(np.float32)
        rounded[~vectors.any(axis=1)] = 0
        return rounded
