"""Vectors of images: the distinct ones of a manifest, each encoded once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.manifest import Manifest
from xlingual.embed.checks import warn_of_similarity, warn_of_zeros
from xlingual.embed.encoding import Progress, VectorSource, encode
from xlingual.encoders import Encoder
from xlingual.encoders.decoding import SKIP, BrokenImagesError, broken, counted
from xlingual.errors import InputError, warn
from xlingual.images import ImageSource, missing_files, read_bytes
from xlingual.ranking import Cosine, Pool, identical_rows
from xlingual.records import Images, digest
from xlingual.store import Store

_MEND = (
    "every row needs a vector: mend them, or leave their rows out of the manifest; xlingual data check lists "
    "them"
)


@dataclass(frozen=True)
class ImageIndex:
    """The distinct images of a manifest: `code[row]` is the image of a text row, -1 where not embedded.

    Images are distinct when their bytes differ; where there are no bytes, when their vectors differ.
    `pool.code[image]` is the distinct *vector* of an image: different images may have equal vectors.
    """

    code: Ints  # [rows of the manifest]
    pool: Pool

    def __len__(self) -> int:
        return len(self.pool.code)

    @property
    def points(self) -> Ints:
        """The distinct vector of each image."""
        return self.pool.code

    def between(
        self, rows: Ints, columns: Ints, progress: Callable[[int, int], None] | None = None
    ) -> Cosine:
        """Return the cosine of distinct vectors: `rows` are the queries, `columns` the candidates."""
        vectors = self.pool.vectors
        return Cosine(vectors.take(rows), vectors.take(columns))


def embed_images(
    manifest: Manifest,
    name: str,
    encoder: Encoder,
    rows: Ints,
    *,
    store: Store | None = None,
    progress: Progress | None = None,
    shown: bool = True,
) -> ImageIndex:
    """Return the distinct images of the text rows and their vectors, each encoded once.

    `shown`: reports show the images, so missing files are reported (DataWarning); an encoder that
    opens images refuses them itself.
    """
    images, vectors, same = _encoded(manifest, name, encoder, rows, store, progress, SKIP)
    if shown and len(missing := missing_files(images.source)):
        first = f"{str(images.source[missing[0]])!r}, shown by {images.ids[missing[0]]!r}"
        warn(
            f"{len(missing)} of {len(images)} image files are missing (first: {first}): reports show a "
            "placeholder for them"
        )
    pool = Pool.of(vectors)
    image = _distinct_images(_identical(vectors, pool.code), images.source)
    _, representative, number = np.unique(image, return_index=True, return_inverse=True)
    code = np.full(len(manifest), -1, dtype=np.int64)
    code[rows] = number[same]
    return ImageIndex(code, pool.take(representative))


def image_vectors(
    manifest: Manifest,
    name: str,
    encoder: Encoder,
    rows: Ints,
    *,
    store: Store | None = None,
    progress: Progress | None = None,
) -> np.ndarray:
    """Return the vectors [n, d] of the images of text rows, one for each row.

    No row is left out, since the position of a vector says whose it is: a broken image is an InputError.
    """
    _, vectors, same = _encoded(manifest, name, encoder, rows, store, progress, _MEND)
    return vectors[same]


def _encoded(
    manifest: Manifest,
    name: str,
    encoder: Encoder,
    rows: Ints,
    store: Store | None,
    progress: Progress | None,
    remedy: str,
) -> tuple[Images, np.ndarray, Ints]:
    """Return images of the rows, their vectors [m, d], and which of them each row shows [n].

    A row whose image has bytes or a path is represented by the first row that shows the same.
    """
    slot = manifest.image[rows]
    key = np.where(slot >= 0, slot, len(manifest.image_source) + np.arange(len(rows)))
    _, first, same = np.unique(key, return_index=True, return_inverse=True)
    images = manifest.images(rows[first])
    vector_source = VectorSource(f"image encoder {name!r}", "encoding images", store, progress)
    several = images.singles() if encoder.opens_images else None  # a file has one vector of an item
    try:
        vectors = encode(encoder, images if several is None else several[0], vector_source).vectors
        warn_of_similarity(vectors, encoder.compares_by, vector_source.who)
        if several is not None:
            vectors = _means(vectors, several[1])
    except BrokenImagesError as error:  # it counts those of one piece only
        opened = images if several is None else several[0]
        reasons = broken(opened)
        if not reasons:
            raise
        text = counted(next(iter(reasons.values())), len(reasons), opened, remedy)
        raise InputError(text) from error
    warn_of_zeros(vectors, vector_source.who, "images", lambda row: repr(images.ids[row]))
    return images, vectors, same


def _means(vectors: np.ndarray, row: Ints) -> np.ndarray:
    """Return float32 [n, d]: the mean of the unit vectors of each row, `row` [m] ascending.

    That of a single vector is itself, as it is.
    """
    count = np.bincount(row)
    first = np.cumsum(count) - count
    found = np.asarray(vectors[first], dtype=np.float32)
    for number in np.flatnonzero(count > 1).tolist():
        part = np.asarray(vectors[first[number] : first[number] + count[number]], dtype=np.float64)
        length = np.linalg.norm(part, axis=1, keepdims=True)
        found[number] = (part / np.where(length > 0, length, 1.0)).mean(axis=0)
    return found


def _identical(vectors: np.ndarray, equal: Ints) -> Ints:
    """Return one number per distinct row of vectors; only those that have equal codes need to be compared."""
    shared, found = np.flatnonzero(np.bincount(equal)[equal] > 1), np.arange(len(equal))
    first, code = identical_rows(vectors, shared)
    found[shared] = shared[first[code]]
    return found


def _distinct_images(vector_code: Ints, sources: Sequence[ImageSource | None]) -> Ints:
    """Return one number per distinct image, for images in which equal vectors have equal codes.

    Only images whose vectors are equal need their bytes compared.
    """
    shared = np.flatnonzero(np.bincount(vector_code)[vector_code] > 1)
    first: dict[Any, int] = {}
    image = np.arange(len(sources))  # the first one that is the same
    for i, code in zip(shared.tolist(), vector_code[shared].tolist(), strict=True):
        image[i] = first.setdefault((code, _content(sources[i])), i)
    return image


def _content(source: ImageSource | None) -> bytes | None:
    """Return a digest of an image's bytes, or None where there are none to read."""
    if isinstance(source, tuple):
        parts = [_content(part) for part in source]
        return None if None in parts else digest(*filter(None, parts))
    if source is None or (isinstance(source, Path) and not source.is_file()):
        return None
    return digest(read_bytes(source))
