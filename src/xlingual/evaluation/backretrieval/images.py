"""Images in Backretrieval: which are distinct, how alike any two are, and which are ranked in one pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from xlingual import encoders
from xlingual.arrays import Ints, distinct_values
from xlingual.embed import PictureIndex
from xlingual.encoders.decoding import distinct
from xlingual.encoders.own_similarity import OwnSimilarity
from xlingual.errors import InputError
from xlingual.evaluation.pair_run import PairRun, Task, pictured_rows
from xlingual.evaluation.passes import one_pass
from xlingual.measures import RankMeasure, RecallAt
from xlingual.ranking import Cosine, GivenScores, PictureScores, Progress
from xlingual.records import Pictures


@dataclass(frozen=True)
class ComparedPictures:
    """Pictures that a function compares; each is a point of its own.

    Pictures are distinct when their bytes differ; where there are no bytes, each row's is one.
    """

    code: Ints  # [rows of the manifest] the picture of each text row, -1 where it has none here
    pictures: Pictures  # the distinct ones
    function: OwnSimilarity

    @property
    def points(self) -> Ints:
        """The point of each picture, itself: those of one point are alike to all others in the same way."""
        return np.arange(len(self.pictures))

    def between(
        self, rows: Ints, columns: Ints, progress: Callable[[int, int], None] | None = None
    ) -> GivenScores:
        """Return the similarity of points: `rows` are the queries, `columns` the candidates.

        The function is called here, once for each pair.
        """
        kept: dict[int, Pictures] = {}  # the rows' batch stays, with its opened images, for all columns

        def scores(queries: Ints, candidates: Ints) -> np.ndarray:
            first = int(queries[0])
            if first not in kept:
                kept.clear()
                kept[first] = self.pictures.take(rows[queries])
            return self.function.similarity(kept[first], self.pictures.take(columns[candidates]))

        return GivenScores((len(rows), len(columns)), scores, progress=progress)


# distinct pictures and their similarity: by vectors, or by a function
PictureSpace: TypeAlias = PictureIndex | ComparedPictures


def picture_space(run: PairRun) -> tuple[str, str, PictureSpace]:
    """Return name and identity of the image encoder or similarity, and the pictures of all tasks.

    Near-duplicates are looked for on the way: among images, where there are vectors of them.
    """
    name, found = encoders.image_model(run.image_spec(), languages=run.languages)
    if not isinstance(found, OwnSimilarity):
        identity, index = run.identity(found), run.embedded(name, found)
        run.join_near_duplicates(index)
        return name, identity, index
    rows, code = pictured_rows(run.tasks), np.full(len(run.manifest), -1, dtype=np.int64)
    pictures = run.manifest.pictures(rows)
    first, code[rows] = distinct(pictures)
    run.join_near_duplicates()
    return name, found.identity, ComparedPictures(code, pictures.take(first), found)


@dataclass(frozen=True)
class Sides:
    """One set of source pictures against one set of target pictures; several tasks may share it."""

    sources: Ints  # distinct pictures, sorted
    targets: Ints  # distinct pictures, sorted
    target_texts: Ints  # [targets] how many target texts show each
    tasks: list[int]


def groups_of(pictures: PictureSpace, tasks: Sequence[Task]) -> list[list[Sides]]:
    """Return groups of sides that share one product: the seeds of a language pair, where that is cheaper.

    Tasks with the same source pictures and target pictures are one set of sides: their ranking is the same.
    """
    found: dict[tuple[bytes, bytes, bytes], Sides] = {}
    for number, task in enumerate(tasks):
        sources = distinct_values(pictures.code[task.sample.pool])
        targets, texts = np.unique(pictures.code[task.sample.target], return_counts=True)
        key = (sources.tobytes(), targets.tobytes(), texts.tobytes())
        found.setdefault(key, Sides(sources, targets, texts.astype(np.int64), [])).tasks.append(number)
    by_pair: dict[tuple[str, str], list[Sides]] = {}
    for side in found.values():
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
        self._pictures, self._code = pictures, pictures.points
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


def refuse_small_pools(
    pictures: PictureSpace, tasks: Sequence[Task], measures: Sequence[RankMeasure]
) -> None:
    """Raise InputError where every query would be a hit: k is not below the number of distinct pictures."""
    depth = max((m.k for m in measures if isinstance(m, RecallAt)), default=0)
    for task in tasks:
        count = len(distinct_values(pictures.code[task.sample.pool]))
        if depth >= count:
            raise InputError(
                f"R@{depth} needs more than {depth} distinct source pictures, pair "
                f"{task.source}-{task.target} has {count} (items with both languages are divided between "
                "sources and targets): every query would be a hit; give more items, "
                "a smaller k (--measure R@k), or name other pairs (--pairs)"
            )
