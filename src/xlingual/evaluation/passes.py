"""Passes over texts that samples share: seeds of one set overlap, so one product of their union serves all.

A request is what a task wants to know of one sample: it has a watcher of the pass, and a result after it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np

from xlingual.arrays import Ints, distinct_values
from xlingual.data.samples import Sample
from xlingual.evaluation.run import Tally, TextSides
from xlingual.ranking import (
    Banked,
    Corrected,
    Offsets,
    Progress,
    Ranker,
    Similarity,
    TextSimilarity,
    Watcher,
    rank,
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
    """The similarity of all sources with all targets of some samples, equal vectors collapsed.

    A `repair` of hubs takes a pass of its own; its offsets lower the scores of targets.
    """

    def __init__(
        self,
        vectors: TextSides,
        samples: Sequence[Sample],
        ranker: Ranker,
        repair: Banked | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._source_rows = distinct_values(np.concatenate([sample.source for sample in samples]))
        self._target_rows = distinct_values(np.concatenate([sample.target for sample in samples]))
        self._sources = vectors.queries.pool(self._source_rows)
        self._targets = vectors.candidates.pool(self._target_rows)
        self.similarity = similarity_of(self._sources.vectors, self._targets.vectors)
        self.offsets = None if repair is None else repair.offsets(self.similarity, ranker, progress)

    def codes(self, sample: Sample) -> tuple[Ints, Ints]:
        """Return the numbers of the distinct vectors of a sample's sources and targets."""
        return (
            self._sources.code[np.searchsorted(self._source_rows, sample.source)],
            self._targets.code[np.searchsorted(self._target_rows, sample.target)],
        )

    def weights(self, codes: Ints) -> Ints:
        """Return how many of a sample's targets, of these codes, have each distinct vector, int64 [u]."""
        return np.bincount(codes, minlength=self.similarity.shape[1]).astype(np.int64)

    def offsets_of(self, sample: Sample) -> Offsets | None:
        """Return the offsets of a sample's targets, where there are some."""
        return None if self.offsets is None else self.offsets.take(self.codes(sample)[1])


class Request(Protocol):
    """What is asked of a pass for one sample."""

    @property
    def watcher(self) -> Watcher:
        """What sees the scores."""

    def result(self) -> Any:  # noqa: ANN401
        """Return the answer, after the pass."""


Asked: TypeAlias = Callable[[TextUnion, Sample], Request]


def answered(
    vectors: TextSides,
    asked: Sequence[tuple[Sample, Asked]],
    *,
    ranker: Ranker,
    tally: Tally,
    repair: Banked | None = None,
    progress: Progress | None = None,
) -> list[Any]:
    """Return the answers to requests about samples of one language pair, from as few products as possible."""
    of_sample: dict[int, list[int]] = {}
    for number, (sample, _) in enumerate(asked):
        of_sample.setdefault(id(sample), []).append(number)
    areas = [(asked[numbers[0]][0].source, asked[numbers[0]][0].target) for numbers in of_sample.values()]
    groups = [list(range(len(asked)))] if one_pass(areas) else list(of_sample.values())
    answers: dict[int, Any] = {}
    for done, group in enumerate(groups):
        before, during = two_passes(part_of(progress, done, len(groups)), repair)
        union = TextUnion(vectors, [asked[number][0] for number in group], ranker, repair, before)
        requests = {number: asked[number][1](union, asked[number][0]) for number in group}
        watchers = [request.watcher for request in requests.values()]
        rank(corrected(union.similarity, union.offsets), watchers, ranker, progress=during)
        answers |= {number: request.result() for number, request in requests.items()}
        tally.add(union.similarity)
    return [answers[number] for number in range(len(asked))]
