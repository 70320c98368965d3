"""Which captions and pictures are ranked against each other, and which of them belong together."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.manifest import Manifest
from xlingual.embed import PictureIndex
from xlingual.errors import DataWarning, InputError
from xlingual.evaluation.ragged import members
from xlingual.stats.components import Links, components


@dataclass(frozen=True)
class Slice:
    """Captions of one language and pictures that are ranked against each other, each a pool of its own.

    `texts` [n] are rows of the manifest and `pictures` [m] numbers of distinct pictures, in the manifest's
    order; `text` and `picture` [p] are places in them: the pairs that belong together.
    """

    texts: Ints
    pictures: Ints
    text: Ints
    picture: Ints


@dataclass(frozen=True)
class Shown:
    """The distinct pictures of a manifest, by the items that show them."""

    item: Ints  # [p] with `picture`: each pair of an item and a picture that one of its rows shows
    picture: Ints  # [p]
    first_row: Ints  # [pictures] the first row that shows each
    node: Ints  # [pictures] what makes pictures and captions dependent
    row_node: Ints  # [rows of the manifest]

    @classmethod
    def of(cls, manifest: Manifest, pictures: PictureIndex) -> Shown:
        """Return the pictures of a manifest's rows."""
        rows = np.flatnonzero(pictures.code >= 0)
        code = pictures.code[rows]
        item, picture = np.unique(np.stack([manifest.item[rows], code]), axis=1)
        first = rows[np.unique(code, return_index=True)[1]]
        row_node, node = _dependent(manifest, item, picture, len(pictures))
        return cls(item, picture, first, node, row_node)

    def slices(self, manifest: Manifest, rows: Ints, size: int | None, language: str) -> list[Slice]:
        """Return the captions `rows` with their pictures: one slice, or consecutive ones of `size` pictures.

        Every text takes part in the slices that hold a picture of its item. An incomplete last slice is left
        out with a warning. Raises InputError where there are fewer pictures than `size`.
        """
        text, at = members(self.item, manifest.item[rows])
        picture = self.picture[at]
        shown = np.unique(picture)
        shown = shown[np.argsort(self.first_row[shown], kind="stable")]
        if size is None:
            return [_slice(rows, text, picture, shown)]
        whole = len(shown) // size
        if whole == 0:
            raise InputError(
                f"--fold {size} needs {size} pictures with texts in {language!r}, there are {len(shown)}: "
                "give a smaller size, or leave --fold out"
            )
        if left := len(shown) % size:
            warnings.warn(
                f"--fold {size}: the last {left} of {len(shown)} pictures with texts in {language!r} make no "
                "whole slice and are left out",
                DataWarning,
                stacklevel=2,
            )
        parts = (shown[start : start + size] for start in range(0, whole * size, size))
        return [_slice(rows, text, picture, part) for part in parts]


def _slice(rows: Ints, text: Ints, picture: Ints, shown: Ints) -> Slice:
    """Return the slice of the pictures `shown`, from pairs (rows[text], picture)."""
    kept = np.isin(picture, shown)
    texts, place = np.unique(text[kept], return_inverse=True)
    order = np.argsort(shown, kind="stable")
    return Slice(rows[texts], shown, place, order[np.searchsorted(shown[order], picture[kept])])


def _dependent(manifest: Manifest, item: Ints, picture: Ints, n_pictures: int) -> tuple[Ints, Ints]:
    """Return a node for each row and each picture: the same where they are linked in any way.

    Linked are the texts of a cluster, the texts of an item, and an item and the pictures it shows.
    """
    n_clusters = int(manifest.cluster.max()) + 1
    pictures_from = n_clusters + manifest.n_items
    left = np.concatenate([manifest.cluster, n_clusters + item])
    right = np.concatenate([n_clusters + manifest.item, pictures_from + picture])
    node = components(pictures_from + n_pictures, Links(left, right, np.zeros(len(left))))
    return node[manifest.cluster], node[pictures_from:]


def rows_with_pictures(manifest: Manifest, opens: bool, usable: np.ndarray | None) -> Ints:
    """Return the rows of which a picture, or the vector of one, is to be had.

    `opens` tells whether the image encoder opens pictures; one that has vectors needs none: without any
    picture in the manifest, every row has a vector. Raises InputError where there are no pictures.
    """
    if not manifest.has_pictures and not opens:
        return np.arange(len(manifest))
    having = manifest.picture >= 0
    if not having.any():
        raise InputError(
            f"{manifest.source} has no pictures: name their column (--image-column), or give their vectors "
            "(--image-encoder vectors:PATH)"
        )
    return np.flatnonzero(having if usable is None else having & usable)


def captions(manifest: Manifest, rows: Ints, languages: Sequence[str], named: bool) -> dict[str, Ints]:
    """Return the rows of each language whose item shows a picture of the rows `rows`.

    Other texts are counted in one warning. A language without any is refused if the languages were `named`,
    and else left out, with a warning.
    """
    with_picture = np.isin(manifest.item, manifest.item[rows])
    every = {language: manifest.rows_of(language) for language in languages}
    found = {language: own[with_picture[own]] for language, own in every.items() if with_picture[own].any()}
    for language in (language for language in every if language not in found):
        told = f"no text in {language!r} belongs to an item with a picture"
        if named or len(languages) == 1:
            raise InputError(f"{manifest.source}: {told}: choose other --languages")
        warnings.warn(f"{told}: the language is left out", DataWarning, stacklevel=2)
    if not found:
        raise InputError(f"{manifest.source}: no text belongs to an item with a picture")
    asked = sum(len(every[language]) for language in found)
    without = asked - sum(map(len, found.values()))
    if without:
        warnings.warn(
            f"{without} of {asked} texts take no part: their item has no picture", DataWarning, stacklevel=2
        )
    return found
