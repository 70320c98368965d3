"""Whether an encoder's texts lie as their images do: what sees encoders that know looks, and not meaning."""

from __future__ import annotations

import numpy as np

from xlingual.arrays import Floats, Vectors
from xlingual.data.samples import Sample
from xlingual.embed import ImageIndex
from xlingual.evaluation.run import TextSides
from xlingual.ranking import one_library_thread
from xlingual.streams import stream

MOST = 150  # sources that are compared
_FLAT = 1e-12  # variance that rounding leaves


class Looks:
    """The images of some sources of a sample, to compare the texts of each encoder with them."""

    def __init__(self, images: ImageIndex, sample: Sample) -> None:
        rows = sample.source
        if len(rows) > MOST:
            rows = np.sort(stream(sample.seed, "order confidence: looks").permutation(rows)[:MOST])
        self._rows = rows
        points = images.pool.vectors.rows[images.points[images.code[rows]]]
        self._images = centred(images.pool.vectors.raw[points])

    def of(self, vectors: TextSides) -> float | None:
        """Return the correlation of the cosines of source texts with those of their images.

        Over all pairs of the sources. None where vectors are no dense rows, or all cosines are equal.
        """
        side = vectors.queries
        if not isinstance(side.vectors, np.ndarray):
            return None
        return correlation(centred(side.vectors[side.position[self._rows]]), self._images)


def centred(vectors: Vectors) -> Floats:
    """Return the cosines of n rows to each other less their mean, [n, n] with a diagonal of 0."""
    rows = np.asarray(vectors, dtype=np.float64)
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    unit = rows / np.where(length > 0, length, 1.0)
    with one_library_thread():  # the number of threads must not change the rounding of products
        found: Floats = unit @ unit.T
    n = len(rows)
    np.fill_diagonal(found, 0.0)
    found -= found.sum() / max(n * (n - 1), 1)
    np.fill_diagonal(found, 0.0)
    return found


def correlation(one: Floats, other: Floats) -> float | None:
    """Return Pearson's correlation of two arrays of `centred`; None where either does not vary."""
    with one_library_thread():
        sizes, product = (np.vdot(one, one), np.vdot(other, other)), np.vdot(one, other)
    if min(sizes) < _FLAT * one.size:
        return None
    return float(product / np.sqrt(sizes[0] * sizes[1]))
