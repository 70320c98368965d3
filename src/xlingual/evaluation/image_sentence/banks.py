"""The adjustments of both ways between sentences and images, and the images that are training queries."""

from __future__ import annotations

from contextlib import suppress
from typing import TypeAlias

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.manifest import Manifest, read_reference
from xlingual.data.pools.reading import is_pool
from xlingual.data.reading.select import split_reference
from xlingual.embed import embed_images
from xlingual.encoders import Encoder
from xlingual.errors import InputError, parameter
from xlingual.evaluation.image_sentence.captions import rows_with_images
from xlingual.evaluation.passes import adjustments_of
from xlingual.evaluation.run import Storing
from xlingual.evaluation.similarities import Fitted
from xlingual.images import read_bytes
from xlingual.ranking import Adjustment, Bank, Banked, Cosine, HubRepair, Offsets, Progress, Ranker
from xlingual.records import digest

Repairs: TypeAlias = "tuple[HubRepair | None, HubRepair | None]"  # of sentences, of images as queries


class ImageBank:
    """The images of the training rows, which are the queries where images are ranked for sentences."""

    def __init__(self) -> None:
        self._kept: tuple[int, Bank] | None = None  # of the last encoder: systems share one

    def of(
        self, repair: Fitted, manifest: Manifest, rows: Ints, name: str, encoder: Encoder, storing: Storing
    ) -> Bank:
        """Return their vectors by an encoder.

        `rows` of the manifest show the images that are evaluated; raises InputError where one is in the bank.
        """
        if self._kept is None or self._kept[0] != id(encoder):
            training, own = _training_rows(repair, manifest, rows, encoder)
            images = embed_images(training, name, encoder, own, shown=False, **storing)
            vectors = images.pool.vectors
            self._kept = id(encoder), Bank.of(vectors.raw[vectors.rows[images.points]])
        return self._kept[1]


def _training_rows(repair: Fitted, manifest: Manifest, rows: Ints, encoder: Encoder) -> tuple[Manifest, Ints]:
    """Return the manifest that `fit=` names, and its rows that have an image."""
    where = parameter("similarity", repair.written)
    if is_pool(split_reference(repair.fit)[0]):
        raise InputError(f"{where}: a pool has no images, and images are queries too: name a manifest")
    try:
        training = read_reference(repair.fit, **manifest.columns)
        own = rows_with_images(training, encoder.opens_images, None)
    except InputError as error:
        raise InputError(f"{where}: images are queries too: {error}") from error
    if seen := _contents(training, own) & _contents(manifest, rows):
        raise InputError(
            f"{where}: {len(seen)} images of the training queries are among the images that are evaluated: "
            "choose rows with other images"
        )
    return training, own


def _contents(manifest: Manifest, rows: Ints) -> set[bytes]:
    """Return digests of the images that rows show, of those that can be read."""
    found: set[bytes] = set()
    for slot in np.unique(manifest.image[rows]).tolist():
        with suppress(InputError, OSError, TypeError):
            if slot >= 0:
                found.add(digest(read_bytes(manifest.image_source[slot])))
    return found


def both_adjustments(
    similarity: Cosine,
    sample: tuple[Ints, Ints],
    repairs: Repairs,
    ranker: Ranker,
    progress: Progress | None = None,
) -> tuple[Adjustment | None, Adjustment | None]:
    """Return the adjustment of sentences as queries, and that of images as queries.

    `similarity` is of sentences with images. Without a bank both are one, since all scores are: it takes the
    nearest of both sides.
    """
    repair, back = repairs
    if repair is None:
        return None, None
    (to_image,) = adjustments_of(similarity, [sample], repair, ranker, progress)
    if not isinstance(back, Banked):
        assert isinstance(to_image, Offsets)
        return to_image, to_image.turned
    turned = Cosine(similarity.candidates, similarity.queries)
    (to_sentence,) = back.adjustments(turned, [sample[::-1]], ranker)
    similarity.screened += turned.screened
    similarity.decided += turned.decided
    return to_image, to_sentence
