"""Passes that samples share: seeds drawn from one set overlap, so one product of their union serves all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xlingual.arrays import Ints, distinct_values
from xlingual.data.samples import Sample
from xlingual.evaluation.run import TextSides
from xlingual.ranking import (
    Banked,
    Corrected,
    Offsets,
    Progress,
    Ranker,
    Similarity,
    TextSimilarity,
    similarity_of,
)


def one_pass(areas: Sequence[tuple[Ints, Ints]]) -> bool:
    """Return whether one pass over the union of areas (sources, targets) is cheaper than one for each."""
    union = len(distinct_values(np.concatenate([sources for sources, _ in areas]))) * len(
        distinct_values(np.concatenate([targets for _, targets in areas]))
    )
    return len(areas) == 1 or union <= sum(len(sources) * len(targets) for sources, targets in areas)


def corrected(similarity: TextSimilarity, offsets: Offsets | None) -> Similarity:
    """Return the similarity less offsets, where there are some."""
    return similarity if offsets is None else Corrected(similarity, offsets)


def part_of(progress: Progress | None, done: int, parts: int) -> Progress | None:
    """Return the progress of one of several parts, of which so many are done, as a part of that of all."""
    if progress is None or parts == 1:
        return progress
    steps = 1000  # of each
    return lambda now, total: progress(done * steps + steps * now // max(total, 1), parts * steps)


def two_passes(progress: Progress | None, repair: Banked | None) -> tuple[Progress | None, Progress | None]:
    """Return the progress of the pass for a repair, and that of the ranking."""
    parts = 1 if repair is None else 2
    return part_of(progress, 0, parts), part_of(progress, parts - 1, parts)


class TextUnion:
    """The similarity of all sources with all targets of some samples, equal vectors collapsed."""

    def __init__(self, vectors: TextSides, samples: Sequence[Sample]) -> None:
        self._source_rows = distinct_values(np.concatenate([sample.source for sample in samples]))
        self._target_rows = distinct_values(np.concatenate([sample.target for sample in samples]))
        self.sources = vectors.queries.pool(self._source_rows)
        self.targets = vectors.candidates.pool(self._target_rows)
        self.similarity = similarity_of(self.sources.vectors, self.targets.vectors)

    def codes(self, sample: Sample) -> tuple[Ints, Ints]:
        """Return the numbers of the distinct vectors of a sample's sources and targets."""
        return (
            self.sources.code[np.searchsorted(self._source_rows, sample.source)],
            self.targets.code[np.searchsorted(self._target_rows, sample.target)],
        )

    def offsets(
        self, repair: Banked | None, ranker: Ranker, progress: Progress | None = None
    ) -> Offsets | None:
        """Return the offsets of the targets by a correction of hubs, if there is one."""
        return None if repair is None else repair.offsets(self.similarity, ranker, progress)
