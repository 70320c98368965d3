"""The nearest candidates of each query, kept with the results: what people look at where a query fails.

Samples of a language pair overlap, so the first one says it for all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.arrow import from_numpy
from xlingual.evaluation.lists import Lists
from xlingual.evaluation.numbers import Subject
from xlingual.evaluation.perquery import looked_up, repeated, words_of
from xlingual.ragged import groups, members, spans
from xlingual.ranking import UNIT, Cosine, Offsets, TextSimilarity, TopK

if TYPE_CHECKING:
    import pyarrow as pa

KEPT = 10  # of each query
DECIMALS = 5  # of scores
_AT_ONCE = 64  # queries whose neighbours are scored together: their vectors fit in a cache


@dataclass(frozen=True)
class Neighbours:
    """The first candidates of queries, ordered by query, then best first; parallel arrays [e].

    `above` candidates score higher, `tied` the same, itself included. Where more tie for the last place than
    there is room for, some of them are listed.
    """

    query: Ints
    candidate: Ints
    above: Ints
    tied: Ints
    score: Floats  # as the evaluation compares; NaN where a search system gave none


@dataclass(frozen=True)
class Scores:
    """The scores of pairs of vectors, less offsets where there are some: to look at, not to decide."""

    similarity: TextSimilarity
    offsets: Offsets | None = None

    def __call__(self, query: Ints, candidate: Ints) -> Floats:
        """Return the scores of pairs (query[i], candidate[i]), ordered by query."""
        if not isinstance(self.similarity, Cosine) or self.offsets is not None:
            keys = self.similarity.keys(query, candidate)
            keys = keys if self.offsets is None else self.offsets.keys(keys, candidate)
            scores: Floats = (keys * UNIT).astype(np.float64)
            return scores
        # cosines in float32, each query's together: its vector is read once
        cosines = np.empty(len(query))
        first, size = groups(query)
        width = int(size.max(initial=1))
        lines = np.minimum(np.arange(width), size[:, None] - 1) + first[:, None]  # the last is repeated
        for low in range(0, len(first), _AT_ONCE):
            part = lines[low : low + _AT_ONCE]
            left = self.similarity.queries.screened(query[part[:, 0]])
            right = self.similarity.candidates.screened(candidate[part].ravel()).reshape(*part.shape, -1)
            cosines[part] = np.matmul(right, left[:, :, None])[:, :, 0]
        return cosines


def neighbours_of(
    top: TopK, scores: Callable[[Ints, Ints], Floats], query_code: Ints, candidate_code: Ints, k: int = KEPT
) -> Neighbours:
    """Return the first `k` candidates of queries, from those of their distinct vectors.

    `query_code` [n] and `candidate_code` [m] are the vectors that queries and candidates have; `scores` gives
    the scores of pairs of vectors.
    """
    lines = first_lines(top.query, k)
    query, candidate = top.query[lines], top.candidate[lines]
    score = np.round(scores(query, candidate), DECIMALS)
    order = np.argsort(candidate_code, kind="stable")
    size = np.bincount(candidate_code)
    first = np.cumsum(size) - size
    # of a vector that more texts share: some of them
    line, place = spans(first[candidate], np.minimum(size[candidate], k))
    line = line[(room := first_lines(query[line], k))]
    text = order[place[room]]
    owner, at = members(query[line], query_code)
    line, text = line[at], text[at]
    return Neighbours(owner, text, top.above[lines][line], top.tied[lines][line], score[line])


def listed_neighbours(lists: Lists, k: int = KEPT) -> Neighbours:
    """Return the first `k` candidates of each list of a search system."""
    above, tied = lists.places
    kept = first_lines(lists.query, k)
    score = np.full(len(kept), np.nan) if lists.score is None else np.round(lists.score[kept], DECIMALS)
    return Neighbours(lists.query[kept], lists.candidate[kept], above[kept], tied[kept], score)


def first_lines(query: Ints, k: int) -> Ints:
    """Return the places of the first k lines of each query; lines are ordered by query."""
    return np.flatnonzero(np.arange(len(query)) - np.repeat(*groups(query)) < k)


@dataclass
class NeighbourTable:
    """Collects the nearest candidates of encoders."""

    task: str
    _labels: list[tuple[str, str, str, int]] = field(default_factory=list)
    _blocks: list[tuple[Ints, Ints, Neighbours]] = field(default_factory=list)

    def add(
        self, encoder: str, subject: Subject, found: Neighbours, query_rows: Ints, candidate_rows: Ints
    ) -> None:
        """Add what an encoder found; `query_rows` [n] and `candidate_rows` [m] are rows of the manifest."""
        self._labels.append((encoder, subject.source, subject.target, subject.seed))
        self._blocks.append((query_rows[found.query], candidate_rows[found.candidate], found))

    def table(self, queries: Sequence[str], candidates: Sequence[str] | None = None) -> dict[str, pa.Table]:
        """Return the table by its name, nothing where nothing was added; names are those of the rows."""
        import pyarrow as pa

        if not self._blocks:
            return {}
        lengths = [len(found.query) for _, _, found in self._blocks]
        columns = {"task": repeated([self.task] * len(lengths), lengths)}
        for place, name in enumerate(("encoder", "source", "target")):
            columns[name] = repeated([str(labels[place]) for labels in self._labels], lengths)
        columns["seed"] = from_numpy(np.repeat([labels[3] for labels in self._labels], lengths), pa.int64())
        of_query = words_of(queries)
        words = {"query": of_query, "neighbour": of_query if candidates is None else words_of(candidates)}
        for place, name in enumerate(words):
            columns[name] = looked_up(np.concatenate([block[place] for block in self._blocks]), *words[name])
        for name in ("above", "tied"):
            numbers = np.concatenate([getattr(found, name) for _, _, found in self._blocks])
            columns[name] = from_numpy(numbers, pa.int64())
        score = np.concatenate([found.score for _, _, found in self._blocks])
        columns["score"] = from_numpy(score.astype(np.float32), pa.float32(), mask=np.isnan(score))
        return {"neighbours": pa.table(columns)}
