"""Passes over texts that samples share: seeds overlap, so one product of their union serves all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

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
    """Whether one pass over the union of areas (sources, targets) is cheaper than one for each."""
    sources, targets = (len(distinct_values(np.concatenate(side))) for side in zip(*areas, strict=True))
    return len(areas) == 1 or sources * targets <= sum(len(rows) * len(columns) for rows, columns in areas)


def corrected(similarity: TextSimilarity, offsets: Offsets | None) -> Similarity:
    """Lower the scores of a similarity by offsets, where there are some."""
    return similarity if offsets is None else Corrected(similarity, offsets)


def part_of(progress: Progress | None, done: int, parts: int) -> Progress | None:
    """Report the progress of one of several parts, of which so many are done, as a part of the whole."""
    if progress is None or parts == 1:
        return progress
    steps = 1000  # of each
    return lambda now, total: progress(done * steps + steps * now // max(total, 1), parts * steps)


def two_passes(progress: Progress | None, repair: Banked | None) -> tuple[Progress | None, Progress | None]:
    """Report the progress of the pass for a correction of hubs, and that of the ranking."""
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
        """Look up the numbers of the distinct vectors of a sample's sources and targets."""
        return (
            self._sources.code[np.searchsorted(self._source_rows, sample.source)],
            self._targets.code[np.searchsorted(self._target_rows, sample.target)],
        )

    def weights(self, codes: Ints) -> Ints:
        """Count the targets, of these codes, that have each distinct vector, int64 [u]."""
        return np.bincount(codes, minlength=self.similarity.shape[1]).astype(np.int64)


# what sees the scores of a pass, and the answer after it; what asks for one sample of a union
Request: TypeAlias = tuple[Watcher, Callable[[], Any]]
Asks: TypeAlias = Callable[[TextUnion, Sample], Request]


def answered(
    vectors: TextSides,
    asked: Sequence[tuple[Sample, Asks]],
    *,
    ranker: Ranker,
    tally: Tally,
    repair: Banked | None = None,
    progress: Progress | None = None,
) -> list[Any]:
    """Answer requests about samples of one language pair, from as few products as possible."""
    of_sample: dict[int, list[int]] = {}
    for number, (sample, _) in enumerate(asked):
        of_sample.setdefault(id(sample), []).append(number)
    areas = [(asked[numbers[0]][0].source, asked[numbers[0]][0].target) for numbers in of_sample.values()]
    groups = [list(range(len(asked)))] if one_pass(areas) else list(of_sample.values())
    answers: dict[int, Any] = {}
    for done, group in enumerate(groups):
        before, during = two_passes(part_of(progress, done, len(groups)), repair)
        union = TextUnion(vectors, [asked[number][0] for number in group], ranker, repair, before)
        requests = [asked[number][1](union, asked[number][0]) for number in group]
        scores = corrected(union.similarity, union.offsets)
        rank(scores, [watcher for watcher, _ in requests], ranker, progress=during)
        answers |= {number: result() for number, (_, result) in zip(group, requests, strict=True)}
        tally.add(union.similarity)
    return [answers[number] for number in range(len(asked))]
