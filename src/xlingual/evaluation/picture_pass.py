"""Passes over pictures: which source pictures are ranked against which target pictures, and together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from xlingual.arrays import distinct_values
from xlingual.evaluation.picture_space import PictureSpace
from xlingual.evaluation.setup import Task, one_pass
from xlingual.ranking import Cosine, PictureScores, Progress
from xlingual.records import Ints


@dataclass(frozen=True)
class Sides:
    """One set of source pictures against one set of target pictures; several tasks may share it."""

    sources: Ints  # distinct pictures, sorted
    targets: Ints  # distinct pictures, sorted
    target_texts: Ints  # [targets] how many target texts show each
    tasks: list[int]


def sides_of(pictures: PictureSpace, tasks: Sequence[Task]) -> list[Sides]:
    """Gather tasks with the same source pictures and target pictures: their ranking is the same."""
    found: dict[tuple[bytes, bytes, bytes], Sides] = {}
    for number, task in enumerate(tasks):
        sources = distinct_values(pictures.code[task.sample.pool])
        targets, texts = np.unique(pictures.code[task.sample.target], return_counts=True)
        key = (sources.tobytes(), targets.tobytes(), texts.tobytes())
        found.setdefault(key, Sides(sources, targets, texts.astype(np.int64), [])).tasks.append(number)
    return list(found.values())


def grouped(sides: Sequence[Sides], tasks: Sequence[Task]) -> list[list[Sides]]:
    """Return groups of sides that share one product: the seeds of a language pair, where that is cheaper."""
    by_pair: dict[tuple[str, str], list[Sides]] = {}
    for side in sides:
        by_pair.setdefault(tasks[side.tasks[0]].pair, []).append(side)
    groups: list[list[Sides]] = []
    for several in by_pair.values():
        together = one_pass([(side.sources, side.targets) for side in several])
        groups += [several] if together else [[side] for side in several]
    return groups


class PicturePass:
    """The pictures of some sides in one similarity: rows are target pictures, columns source pictures.

    Rows and columns are distinct *points*: different pictures may share a vector.
    """

    def __init__(
        self, pictures: PictureSpace, sides: Sequence[Sides], progress: Progress | None = None
    ) -> None:
        self.sides, self._pictures = sides, pictures
        self._code = pictures.points
        self._rows = distinct_values(self._code[np.concatenate([side.targets for side in sides])])
        self._columns = distinct_values(self._code[np.concatenate([side.sources for side in sides])])
        self.similarity = pictures.between(self._rows, self._columns, progress)

    @property
    def has_vectors(self) -> bool:
        """Whether some rows and columns can be ranked alone; a function has given all scores."""
        return isinstance(self.similarity, Cosine)

    def among(self, rows: Ints, columns: Ints) -> PictureScores | None:
        """Return the similarity of some rows and columns alone; None where a function gave all scores."""
        if not self.has_vectors:
            return None
        return self._pictures.between(self._rows[rows], self._columns[columns])

    def rows(self, pictures: Ints) -> Ints:
        """Return the rows of target pictures."""
        return np.searchsorted(self._rows, self._code[pictures])

    def columns(self, pictures: Ints) -> Ints:
        """Return the columns of source pictures."""
        return np.searchsorted(self._columns, self._code[pictures])
