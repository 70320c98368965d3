"""Passes that samples share: seeds drawn from one set overlap, so one product of their union serves all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xlingual.arrays import Ints, distinct_values
from xlingual.data.samples import Sample
from xlingual.embed import TextVectors
from xlingual.ranking import Cosine


def one_pass(areas: Sequence[tuple[Ints, Ints]]) -> bool:
    """Return whether one pass over the union of areas (sources, targets) is cheaper than one for each."""
    union = len(distinct_values(np.concatenate([sources for sources, _ in areas]))) * len(
        distinct_values(np.concatenate([targets for _, targets in areas]))
    )
    return len(areas) == 1 or union <= sum(len(sources) * len(targets) for sources, targets in areas)


class TextUnion:
    """The similarity of all sources with all targets of some samples, equal vectors collapsed."""

    def __init__(self, vectors: TextVectors, samples: Sequence[Sample]) -> None:
        self._source_rows = distinct_values(np.concatenate([sample.source for sample in samples]))
        self._target_rows = distinct_values(np.concatenate([sample.target for sample in samples]))
        self.sources, self.targets = vectors.pool(self._source_rows), vectors.pool(self._target_rows)
        self.similarity = Cosine(self.sources.vectors, self.targets.vectors)

    def codes(self, sample: Sample) -> tuple[Ints, Ints]:
        """Return the numbers of the distinct vectors of a sample's sources and targets."""
        return (
            self.sources.code[np.searchsorted(self._source_rows, sample.source)],
            self.targets.code[np.searchsorted(self._target_rows, sample.target)],
        )
