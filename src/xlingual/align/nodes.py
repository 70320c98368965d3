"""Nodes: what an item says in a language, one vector of its texts and one of its images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from xlingual.arrays import Ints, Vectors
from xlingual.transforms.affine import unit_rows


@dataclass(frozen=True)
class Nodes:
    """n nodes: the texts of an item in a language, as the mean of their unit vectors, with their images.

    Items that share an image are one. `fold` is the same for items that share a text, too: they are never
    divided. All vectors have unit length, or are zero.
    """

    text: Vectors  # [n, d]
    image: Vectors  # [n, e]
    language: Ints  # [n], an index into `languages`
    languages: tuple[str, ...]
    item: Ints  # [n]
    fold: Ints  # [n]

    def __len__(self) -> int:
        return len(self.item)

    @property
    def dim(self) -> int:
        """The dimensions of a text's vector."""
        return int(self.text.shape[1])

    def of(self, code: int) -> Ints:
        """Return the nodes of a language, ascending."""
        return np.flatnonzero(self.language == code)

    def take(self, nodes: Ints) -> Nodes:
        """Return some of the nodes; items keep their numbers."""
        return replace(
            self,
            text=self.text[nodes],
            image=self.image[nodes],
            language=self.language[nodes],
            item=self.item[nodes],
            fold=self.fold[nodes],
        )

    @classmethod
    def of_rows(
        cls,
        text: Vectors,
        image: Vectors,
        language: Ints,
        languages: Sequence[str],
        item: Ints,
        fold: Ints,
    ) -> Nodes:
        """Return the nodes of rows: vectors of texts [r, d] and of images [r, e], and codes [r].

        Rows with a zero vector of text or image are left out: nothing is known of them.
        """
        text, image = unit_rows(text), unit_rows(image)
        known = np.flatnonzero(text.any(axis=1) & image.any(axis=1))
        keys = np.stack([item[known], language[known]], axis=1)
        _, first, place = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        order, place = np.argsort(first), place.reshape(-1)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        row = known[first[order]]
        texts, images = (_means(each[known], rank[place], len(row)) for each in (text, image))
        found = cls(texts, images, language[row], tuple(languages), item[row], fold[row])
        return found.take(np.flatnonzero(found.text.any(axis=1) & found.image.any(axis=1)))


def _means(vectors: Vectors, place: Ints, n: int) -> Vectors:
    """Return float32 [n, d] of unit length: the mean of the rows of each place."""
    if n == len(vectors):
        found = np.empty_like(vectors)
        found[place] = vectors
        return found
    from scipy.sparse import csr_array

    sums = csr_array((np.ones(len(place)), (place, np.arange(len(place)))), shape=(n, len(place))) @ vectors
    return unit_rows(sums)
