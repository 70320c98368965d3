"""Whether images have neighbours at all: what the oracle, which is high for pure noise too, does not say.

The oracle takes the target whose image is nearest to the query's own. Of two images that are nearest to each
other by luck alone each still finds the other, so images without any likeness have an oracle near 1. A
*look-alike* shows the difference: from a query go to another source image, the nearest; from there to its
nearest target; from there back. Only where neighbours of neighbours are neighbours is the query's own image
among the first K again more often than by chance.
"""

from __future__ import annotations

import numpy as np

from xlingual.arrays import Ints, distinct_values
from xlingual.data.samples import Sample
from xlingual.embed.sides import ImageIndex
from xlingual.errors import warn
from xlingual.evaluation.backretrieval.nearest import Nearest
from xlingual.ranking import Ranker, Top, one_library_thread, rank
from xlingual.ranking.similarity import DECIMALS

NEAR_IDENTICAL = 0.005  # median cosine distance of two images, below which all look the same
_BACKGROUND = 300  # images whose distances from each other are the background


def look_alikes(images: ImageIndex, sample: Sample, ranker: Ranker) -> Nearest:
    """Return, in the place of an encoder's nearest texts, a target for each query's nearest other image."""
    points = images.points
    pool, n_images = np.unique(
        points[distinct_values(images.code[sample.pool])], return_counts=True
    )  # several images may have one vector
    queries, query = np.unique(points[images.code[sample.source]], return_inverse=True)
    own = np.searchsorted(pool, queries)
    similarity = images.between(queries, pool)
    top = Top(2, similarity.shape, cap=2)
    rank(similarity, [top], ranker)
    found = top.result()
    other = found.candidate != own[found.query]
    nearest = own.copy()
    nearest[found.query[other][::-1]] = found.candidate[other][::-1]  # the first line of each query stays
    nearest = np.where(n_images[own] > 1, own, nearest)
    position = _nearest_target(images, pool[nearest], sample, ranker)[query]
    n = len(sample.source)
    return Nearest(np.arange(n), position, np.ones(n), np.ones(n, dtype=np.int64))


def _nearest_target(images: ImageIndex, points: Ints, sample: Sample, ranker: Ranker) -> Ints:
    """Return the position among the targets of a text whose image is nearest to each point."""
    asked, which = np.unique(points, return_inverse=True)
    targets, position = np.unique(images.points[images.code[sample.target]], return_index=True)
    similarity = images.between(asked, targets)
    top = Top(1, similarity.shape, cap=1)
    rank(similarity, [top], ranker)
    found = top.result()
    nearest = np.zeros(len(asked), dtype=np.int64)
    nearest[found.query] = found.candidate
    return position[nearest][which]


def usual_distance(images: ImageIndex) -> float | None:
    """Return the median cosine distance of two images, of at most 300; None for fewer than two."""
    lines = np.linspace(0, len(images) - 1, min(len(images), _BACKGROUND)).astype(np.int64)
    if len(lines) < 2:
        return None
    vectors = images.pool.vectors.take(images.points[lines])
    unit = vectors.stored(np.arange(len(lines))) * vectors.inverse_norms[:, None]
    with one_library_thread():  # threads of a library wait busily for more after a product
        cosine = (unit @ unit.T)[np.triu_indices(len(lines), 1)]
    return abs(round(float(np.median(1 - cosine)), DECIMALS))  # the same with any number of threads


def warn_of_near_identical(distance: float | None) -> None:
    """Warn where the image encoder sees hardly a difference between any two images."""
    if distance is not None and distance < NEAR_IDENTICAL:
        warn(
            "to the image encoder all images look nearly the same (the median cosine distance of two is "
            f"{distance:.2g}): neither BkR nor its oracle tells anything, even where the oracle is high; see "
            "xlingual data check MANIFEST --image-encoder SPEC"
        )
