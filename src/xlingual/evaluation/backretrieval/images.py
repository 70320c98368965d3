"""Images in Backretrieval: whether they are enough, differ at all, and are shown by one item each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xlingual.arrays import distinct_values
from xlingual.data.check import MANY, shared_images, shared_sentence
from xlingual.data.images import items_of_images, near_equal, sketched
from xlingual.embed.sides import ImageIndex
from xlingual.errors import InputError, parameter, warn
from xlingual.evaluation.pair_run import PairRun, PairTask
from xlingual.measures import RankMeasure, RecallAt
from xlingual.ranking import one_library_thread
from xlingual.ranking.similarity import DECIMALS

NEAR_IDENTICAL = 0.005  # median cosine distance of two images, below which all look the same
_BACKGROUND = 300  # images whose distances from each other are the background


def images_of(run: PairRun) -> tuple[str, str, ImageIndex]:
    """Return name and identity of the image encoder, and the images of all tasks.

    Near-duplicates are looked for on the way, and near-equal images that many items show.
    """
    name, identity, index = run.images()
    points, image = distinct_values(index.points), np.append(index.points, -1)[index.code]
    image = np.where(image < 0, image, np.searchsorted(points, image))
    parts = [index.pool.vectors.take(points[at : at + 4096]) for at in range(0, len(points), 4096)]
    unit = [sketched(part.stored(np.arange(len(part))) * part.inverse_norms[:, None]) for part in parts]
    equal = near_equal(np.concatenate(unit), items_of_images(image, run.manifest.item), MANY)
    if shared := shared_images(run.manifest, np.append(equal, -1)[image]):
        warn(f"{run.manifest.source}: {shared_sentence(shared)}")
    run.join_near_duplicates(index)
    return name, identity, index


def refuse_small_pools(
    images: ImageIndex, tasks: Sequence[PairTask], measures: Sequence[RankMeasure]
) -> None:
    """Raise InputError where every query would be a hit: k is not below the number of distinct images."""
    depth = max((m.k for m in measures if isinstance(m, RecallAt)), default=0)
    for task in tasks:
        count = len(distinct_values(images.code[task.sample.pool]))
        if depth >= count:
            raise InputError(
                f"R@{depth} needs more than {depth} distinct source images, pair "
                f"{task.source}-{task.target} has {count} (items with both languages are divided between "
                "sources and targets): every query would be a hit; give more items, "
                f"a smaller k ({parameter('measures', ['R@k'])}), or name other pairs ({parameter('pairs')})"
            )


def usual_distance(images: ImageIndex) -> float | None:
    """Compute the median cosine distance of two images, of at most 300; None for fewer than two."""
    lines = np.linspace(0, len(images) - 1, min(len(images), _BACKGROUND)).astype(np.int64)
    if len(lines) < 2:
        return None
    vectors = images.pool.vectors.take(images.points[lines])
    unit = vectors.stored(np.arange(len(lines))) * vectors.inverse_norms[:, None]
    with one_library_thread():  # threads of a library wait busily for more after a product
        cosine = (unit @ unit.T)[np.triu_indices(len(lines), 1)]
    return abs(round(float(np.median(1 - cosine)), DECIMALS))  # the same with any number of threads
