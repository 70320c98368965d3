"""Whether an encoder's texts lie as their images do: what sees encoders that know looks, and not meaning."""

from __future__ import annotations

from typing import Any

import numpy as np

from xlingual.arrays import Floats
from xlingual.data.samples import Sample
from xlingual.embed import ImageIndex
from xlingual.evaluation.run import TextSides
from xlingual.streams import stream

MOST = 365  # sources that are compared


def looks(vectors: TextSides, images: ImageIndex, sample: Sample) -> float | None:
    """Return the correlation of cosines of source texts with those of their images.

    Over all pairs of up to 365 sources, drawn by the seed. None where vectors are no dense rows, where there
    are fewer than three sources, or where no cosine differs from another.
    """
    side = vectors.queries
    if not isinstance(side.vectors, np.ndarray):
        return None
    rows = sample.source
    if len(rows) > MOST:
        rows = np.sort(stream(sample.seed, "order confidence: looks").permutation(rows)[:MOST])
    if len(rows) < 3:
        return None
    raw, lines = images.pool.vectors.raw, images.pool.vectors.rows
    points = lines[images.points[images.code[rows]]]
    return correlation(np.asarray(side.vectors[side.position[rows]]), np.asarray(raw[points]))


def correlation(texts: Any, images: Any) -> float | None:  # noqa: ANN401  (vectors [n, d] and [n, e])
    """Return Pearson's correlation of the cosines of n texts with those of n images, over pairs of two."""
    upper = np.triu_indices(len(texts), 1)
    first, second = (_cosines(vectors)[upper] for vectors in (texts, images))
    if np.ptp(first) < 1e-6 or np.ptp(second) < 1e-6:
        return None
    return float(np.corrcoef(first, second)[0, 1])


def _cosines(vectors: Any) -> Floats:  # noqa: ANN401  (as above)
    rows = np.asarray(vectors, dtype=np.float64)
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    unit = rows / np.where(length > 0, length, 1.0)
    found: Floats = unit @ unit.T
    return found
