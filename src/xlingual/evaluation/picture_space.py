"""What Backretrieval has to know of pictures: which are distinct, and how alike any two of them are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from xlingual.data.manifest import Manifest
from xlingual.encoders.decoding import distinct
from xlingual.encoders.own_similarity import OwnSimilarity
from xlingual.ranking import GivenScores, PictureScores
from xlingual.records import Ints, Pictures


class PictureSpace(Protocol):
    """Distinct pictures and their similarity: by vectors (`embed.PictureIndex`) or by a function."""

    @property
    def code(self) -> Ints:
        """The picture of each text row of the manifest, -1 where it has none here."""

    @property
    def points(self) -> Ints:
        """The point of each picture: pictures of one point are alike to every other in the same way."""

    def between(
        self, rows: Ints, columns: Ints, progress: Callable[[int, int], None] | None = None
    ) -> PictureScores:
        """Return the similarity of points: `rows` are the queries, `columns` the candidates."""


@dataclass(frozen=True)
class ComparedPictures:
    """Pictures that a function compares; each is a point of its own.

    Pictures are distinct when their bytes differ; where there are no bytes, each row's is one.
    """

    code: Ints  # [rows of the manifest]
    pictures: Pictures  # the distinct ones
    function: OwnSimilarity

    @property
    def points(self) -> Ints:
        """The point of each picture: itself."""
        return np.arange(len(self.pictures))

    def between(
        self, rows: Ints, columns: Ints, progress: Callable[[int, int], None] | None = None
    ) -> GivenScores:
        """Return the similarity of pictures; the function is called here, once for each pair."""
        kept: dict[int, Pictures] = {}  # the rows' batch stays, with its opened images, for all columns

        def scores(queries: Ints, candidates: Ints) -> np.ndarray:
            first = int(queries[0])
            if first not in kept:
                kept.clear()
                kept[first] = self.pictures.take(rows[queries])
            return self.function.similarity(kept[first], self.pictures.take(columns[candidates]))

        return GivenScores((len(rows), len(columns)), scores, progress=progress)


def compared_pictures(manifest: Manifest, function: OwnSimilarity, rows: Ints) -> ComparedPictures:
    """Return the distinct pictures of the text rows, to be compared by a function."""
    pictures = manifest.pictures(rows)
    first, number = distinct(pictures)
    code = np.full(len(manifest), -1, dtype=np.int64)
    code[rows] = number
    return ComparedPictures(code, pictures.take(first), function)
