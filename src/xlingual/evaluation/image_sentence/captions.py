"""Which captions and images are ranked against each other, which belong together, and both directions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.manifest import Manifest
from xlingual.data.near_texts import Links, components
from xlingual.errors import InputError, parameter, warn
from xlingual.evaluation.numbers import Subject
from xlingual.evaluation.rankings import IMAGE
from xlingual.ragged import members


def both_ways(language: str) -> tuple[Subject, Subject]:
    """Return the two directions of a language: sentence → image, image → sentence."""
    return Subject(language, IMAGE), Subject(IMAGE, language)


@dataclass(frozen=True)
class Slice:
    """Captions of one language and images that are ranked against each other, as one pool.

    `texts` [n] are rows of the manifest and `images` [m] numbers of distinct images, in the manifest's
    order; `text` and `image` [p] are places in them: the pairs that belong together.
    """

    texts: Ints
    images: Ints
    text: Ints
    image: Ints


@dataclass(frozen=True)
class ShownImages:
    """The distinct images of a manifest, by the items that show them."""

    item: Ints  # [p] with `image`: each pair of an item and an image that one of its rows shows
    image: Ints  # [p]
    code: Ints  # [rows of the manifest] the image that each row shows, -1 for none
    first_row: Ints  # [images] the first row that shows each
    image_cluster: Ints  # [images] cluster ids: images and captions of one are dependent
    row_cluster: Ints  # [rows of the manifest]

    @classmethod
    def of(cls, manifest: Manifest, code_of: Ints) -> ShownImages:
        """Return the images of a manifest's rows: `code_of` [rows] is the number of each, -1 for none."""
        rows = np.flatnonzero(code_of >= 0)
        code = code_of[rows]
        item, image = np.unique(np.stack([manifest.item[rows], code]), axis=1)
        first = rows[np.unique(code, return_index=True)[1]]
        row_cluster, image_cluster = _dependent(manifest, item, image, len(first))
        return cls(item, image, code_of, first, image_cluster, row_cluster)

    def slices(self, manifest: Manifest, rows: Ints, size: int | None, language: str) -> list[Slice]:
        """Return the captions `rows` with their images: one slice, or consecutive ones of `size` images.

        Every text takes part in the slices that hold an image of its item. An incomplete last slice is left
        out with a warning. Raises InputError where there are fewer images than `size`.
        """
        text, at = members(self.item, manifest.item[rows])
        image = self.image[at]
        chosen = np.unique(image)
        chosen = chosen[np.argsort(self.first_row[chosen], kind="stable")]
        if size is None:
            return [_slice(rows, text, image, chosen)]
        whole = len(chosen) // size
        if whole == 0:
            raise InputError(
                f"{parameter('fold')}: slices of {size} need {size} images with texts in {language!r}, there "
                f"are {len(chosen)}: give a smaller size, or leave it out"
            )
        if left := len(chosen) % size:
            warn(
                f"{parameter('fold')} of {size}: the last {left} of {len(chosen)} images with texts in "
                f"{language!r} make no whole slice and are left out"
            )
        parts = (chosen[start : start + size] for start in range(0, whole * size, size))
        return [_slice(rows, text, image, part) for part in parts]


def _slice(rows: Ints, text: Ints, image: Ints, chosen: Ints) -> Slice:
    """Return the slice of the images `chosen`, from pairs (rows[text], image)."""
    kept = np.isin(image, chosen)
    texts, place = np.unique(text[kept], return_inverse=True)
    order = np.argsort(chosen, kind="stable")
    return Slice(rows[texts], chosen, place, order[np.searchsorted(chosen[order], image[kept])])


def _dependent(manifest: Manifest, item: Ints, image: Ints, n_pictures: int) -> tuple[Ints, Ints]:
    """Return a cluster id for each row and each image: the same where they are linked in any way.

    Linked are the texts of a cluster, the texts of an item, and an item and the images it shows.
    """
    n_clusters = int(manifest.cluster.max()) + 1
    images_from = n_clusters + manifest.n_items
    left = np.concatenate([manifest.cluster, n_clusters + item])
    right = np.concatenate([n_clusters + manifest.item, images_from + image])
    cluster = components(images_from + n_pictures, Links(left, right, np.zeros(len(left))))
    return cluster[manifest.cluster], cluster[images_from:]


def rows_with_images(manifest: Manifest, opens: bool, usable: np.ndarray | None) -> Ints:
    """Return the rows that have an image, or the vector of one.

    `opens`: whether the image encoder opens images. One that reads vectors needs none: without any image in
    the manifest, every row has a vector. Raises InputError where there are no images.
    """
    if not manifest.has_images and not opens:
        return np.arange(len(manifest))
    having = manifest.image >= 0
    if not having.any():
        raise InputError(
            f"{manifest.source} has no images: name their column ({parameter('image_column')}), or give "
            f"their vectors ({parameter('image_encoders', 'vectors:PATH')})"
        )
    return np.flatnonzero(having if usable is None else having & usable)


def captions(manifest: Manifest, rows: Ints, languages: Sequence[str], named: bool) -> dict[str, Ints]:
    """Return the rows of each language whose item shows an image of the rows `rows`.

    Other texts are counted in one warning. A language without any is refused if the languages were `named`,
    and else left out, with a warning.
    """
    with_image = np.isin(manifest.item, manifest.item[rows])
    every = {language: manifest.rows_of(language) for language in languages}
    found = {language: own[with_image[own]] for language, own in every.items() if with_image[own].any()}
    for language in (language for language in every if language not in found):
        problem = f"no text in {language!r} belongs to an item with an image"
        if named or len(languages) == 1:
            raise InputError(
                f"{manifest.source}: {problem}: choose other languages ({parameter('languages')})"
            )
        warn(f"{problem}: the language is left out")
    if not found:
        raise InputError(f"{manifest.source}: no text belongs to an item with an image")
    n_texts = sum(len(every[language]) for language in found)
    without = n_texts - sum(map(len, found.values()))
    if without:
        warn(f"{without} of {n_texts} texts take no part: their item has no image")
    return found
