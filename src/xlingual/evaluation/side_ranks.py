"""What one pass over pictures has to find out about one set of sides, and the ways back read off it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from xlingual.arrays import distinct_values
from xlingual.evaluation.nearest import Nearest, tie_cap
from xlingual.evaluation.picture_pass import PicturePass, Sides
from xlingual.evaluation.picture_space import PictureSpace
from xlingual.evaluation.setup import Task
from xlingual.ranking import Counts, Reduction, Top, TopK, Transposed, as_scores
from xlingual.records import Floats, Ints, RankCounts


@dataclass(frozen=True)
class Routes:
    """Ways from queries over target pictures back to their own: per entry its rank counts and similarity."""

    counts: RankCounts  # [e]
    similarity: Floats  # [e] of the query's own picture and the target's


class SideRanks:
    """The reductions of one set of sides: ranks of own pictures, the first K of each target, the oracle."""

    def __init__(
        self,
        over: PicturePass,
        sides: Sides,
        pictures: PictureSpace,
        tasks: Sequence[Task],
        nearest: Sequence[Sequence[Nearest]],
        depth: int,
    ) -> None:
        self.over, self.sides, self.pictures, self.tasks = over, sides, pictures, tasks
        height, width = shape = over.similarity.shape
        rows, columns = over.rows(sides.targets), over.columns(sides.sources)
        self.source_weights = np.bincount(columns, minlength=width).astype(np.int64)
        self.target_weights = np.bincount(rows, sides.target_texts, height).astype(np.int64)
        self.pairs, self._where = self._unique_pairs(nearest)
        self.counts = Counts.of(over.similarity, *np.divmod(self.pairs, width), weights=self.source_weights)
        cap = tie_cap(max(len(rows), len(columns)))
        self.top = Top(depth, shape, weights=self.source_weights, queries=distinct_values(rows), cap=cap)
        self.nearest_target = Top(
            1, (width, height), weights=self.target_weights, queries=distinct_values(columns), cap=cap
        )
        self.deep: Counts | None = None
        self.asked_alone = False  # `oracle` and `counts` are of the asked sources, and nothing is `listed`

    @property
    def reductions(self) -> list[Reduction]:
        """What the one pass has to fill."""
        return [self.counts, self.top, Transposed(self.nearest_target)]

    def source_columns(self, task: int) -> Ints:
        """Return the column of each source of a task."""
        return self.over.columns(self.pictures.code[self.tasks[task].sample.source])

    def target_rows(self, task: int) -> Ints:
        """Return the row of each target of a task."""
        return self.over.rows(self.pictures.code[self.tasks[task].sample.target])

    def _unique_pairs(self, nearest: Sequence[Sequence[Nearest]]) -> tuple[Ints, dict[tuple[int, int], Ints]]:
        """Return the pairs (target row, source column) of all encoders, each once, and where each went."""
        width = self.over.similarity.shape[1]
        keys: list[Ints] = []
        owners: list[tuple[int, int]] = []
        for task in self.sides.tasks:
            rows, columns = self.target_rows(task), self.source_columns(task)
            for encoder, found in enumerate(nearest):
                keys.append(rows[found[task].target] * width + columns[found[task].query])
                owners.append((encoder, task))
        pairs, inverse = np.unique(np.concatenate(keys), return_inverse=True)
        ends = np.cumsum([len(key) for key in keys])[:-1]
        return pairs, dict(zip(owners, np.split(inverse, ends), strict=True))

    def finish(self) -> None:
        """Decide what the screen left open."""
        self.listed: TopK = self.top.result()
        self.oracle: TopK = self.nearest_target.result()

    @property
    def is_capped(self) -> bool:
        """Whether some picture has more ties with its K-th than are listed."""
        return bool(self.listed.unlisted.any())

    def routes(self, encoder: int, task: int) -> Routes:
        """Return the way back of each entry of an encoder's nearest texts."""
        where = self._where[encoder, task]
        return Routes(
            self.rank_counts(self.counts.above[where], self.counts.tied[where]),
            as_scores(self.counts.keys_given[where]),
        )

    def oracle_counts(self) -> Counts:
        """Return the request for the ranks on the oracle's way back."""
        return Counts.of(
            self.over.similarity, self.oracle.candidate, self.oracle.query, weights=self.source_weights
        )

    def rank_counts(self, above: Ints, tied: Ints) -> RankCounts:
        """Return counts of own pictures, each the one relevant of all distinct source pictures."""
        one = np.ones(len(above), dtype=np.int64)
        return RankCounts(above, tied, one, one * len(self.sides.sources))
