"""What each system of an evaluation gives, and the lists that systems made of others ask of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Generic, TypeVar

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.pools.pool import MultilingualPool
from xlingual.embed import PoolVectors
from xlingual.encoders import Encoder
from xlingual.evaluation.ragged import members
from xlingual.evaluation.run import Run
from xlingual.ranking import Progress, Ranker, TextPool, TextSimilarity, Top, similarity_of
from xlingual.ranking.listed import Lists
from xlingual.ranking.scan import TILE_BYTES
from xlingual.ranking.similarity import UNIT
from xlingual.records import Texts
from xlingual.systems import ListSystem, Search
from xlingual.systems.made_of import needed

_FEW = 16  # lists of over one candidate in so many are cheaper sorted whole
V = TypeVar("V")  # the vectors of an encoder
P = TypeVar("P")  # what is searched, such as a sample


def vector_lists(
    queries: TextPool,
    candidates: TextPool,
    depth: int,
    ranker: Ranker,
    progress: Progress | None = None,
) -> Lists:
    """Return the first `depth` candidates of each query by exact scores; see `Lists.first` for ties.

    A list is settled where all that is left out ties with its last place.
    """
    similarity = similarity_of(queries.vectors, candidates.vectors)
    weights = np.bincount(candidates.code, minlength=len(candidates.vectors)).astype(np.int64)
    m = len(candidates.code)
    if depth * _FEW > m:
        found = _by_sorting(similarity, weights, depth, progress)
    else:
        top = Top(depth, similarity.shape, weights=weights, cap=depth)
        ranker.scan(similarity, [top], progress=progress)
        best = top.result()
        keys = similarity.exact(best.query, best.candidate)
        found = best.query, best.candidate, best.above, best.above + best.tied, keys
    distinct, vector, above, reach, keys = found
    settled = np.zeros(similarity.shape[0], dtype=bool)
    settled[distinct[reach == m]] = True
    kept = reach <= depth
    distinct, vector, above = distinct[kept], vector[kept], above[kept]
    score = keys[kept].astype(np.float64) * UNIT
    query, line = members(distinct, queries.code)  # texts that share a vector
    owner, candidate = members(candidates.code, vector[line])
    query, line = query[owner], line[owner]
    ended = np.zeros(len(queries.code), dtype=bool)
    return Lists(query, candidate, above[line], ended, m, score[line], settled[queries.code])


def _by_sorting(
    similarity: TextSimilarity, weights: Ints, depth: int, progress: Progress | None
) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """Return (query, candidate, above, above and tied, key) of what is among the first or ties with it.

    Rows of exact keys are sorted whole, a block at a time: quicker where lists are long for their pool.
    """
    n, width = similarity.shape
    found, height = [], max(1, TILE_BYTES // (8 * width))
    for start in range(0, n, height):
        rows = np.arange(start, min(start + height, n))
        keys = similarity.block_keys(rows, np.arange(width))
        order = np.argsort(-keys, axis=1, kind="stable")
        keys = np.take_along_axis(keys, order, axis=1)
        upto = np.cumsum(weights[order], axis=1)
        change = keys[:, 1:] != keys[:, :-1]
        edge = np.ones((len(rows), 1), dtype=bool)
        first, last = np.hstack([edge, change]), np.hstack([change, edge])
        above = np.maximum.accumulate(np.where(first, upto - weights[order], 0), axis=1)
        reach = np.where(last, upto, np.iinfo(np.int64).max)
        reach = np.minimum.accumulate(reach[:, ::-1], axis=1)[:, ::-1]
        row, column = np.nonzero(above < depth)
        at = row, column
        found.append((rows[row], order[at], above[at], reach[at], keys[at]))
        if progress is not None:
            progress(int(rows[-1]) + 1, n)
    query, candidate, above, reach, keys = (np.concatenate(column) for column in zip(*found, strict=True))
    return query, candidate, above, reach, keys


@dataclass(eq=False)
class Parts(Generic[V, P]):
    """The systems of a run, one after another: vectors of encoders, and lists of other systems.

    `encode` makes the vectors of an encoder, which are kept while a system that is made of it is still to
    come. `sides` are those of the queries and candidates of a search, `lists` what a system that returns
    lists does in it.
    """

    run: Run
    encode: Callable[[str], V]
    sides: Callable[[V, P], tuple[TextPool, TextPool]]
    lists: Callable[[str, ListSystem, P], Lists]
    _kept: dict[str, V] = field(default_factory=dict)

    def each(self) -> Iterator[tuple[str, V | None]]:
        """Yield the name and the vectors of each system; None of one that returns lists."""
        names = list(self._systems)
        for place, name in enumerate(names):
            found = self.of(name)
            if found is not None and name in needed(self._systems, names[place + 1 :]):
                self._kept[name] = found
            yield name, found
            del found
            self._keep_for(names[place + 1 :])

    def of(self, name: str) -> V | None:
        """Return the vectors of a system; of one that returns lists None, and its parts are encoded."""
        if not isinstance(self._systems[name], ListSystem):
            return self._vectors(name)
        for part in needed(self._systems, [name]):
            if not isinstance(self._systems[part], ListSystem):
                self._kept[part] = self._vectors(part)
        return None

    def whole(self, name: str, place: P) -> Lists:
        """Return the lists of a system that returns lists."""
        one = self._systems[name]
        assert isinstance(one, ListSystem)
        return self.lists(name, one, place)

    def first(self, name: str, place: P, depth: int) -> Lists:
        """Return the first results of a system in a search."""
        if isinstance(self._systems[name], ListSystem):
            return self.whole(name, place).first(depth)
        options, progress = self.run.options, self.run.progress(f"ranking texts: {name}")
        return vector_lists(*self.sides(self._vectors(name), place), depth, options.ranker, progress)

    @property
    def _systems(self) -> Mapping[str, Encoder | ListSystem]:
        return self.run.by_name

    def _vectors(self, name: str) -> V:
        return self._kept[name] if name in self._kept else self.encode(name)

    def _keep_for(self, later: Iterable[str]) -> None:
        """Forget all vectors but those that these systems need."""
        wanted = needed(self._systems, later)
        self._kept = {name: found for name, found in self._kept.items() if name in wanted}


def pool_parts(
    run: Run, pool: MultilingualPool, candidate_text: str, encode: Callable[[str], PoolVectors]
) -> Parts[PoolVectors, Search]:
    """Return the systems of a run over a pool, of which a search names queries and candidates by rows."""

    def texts(role: str, rows: Ints) -> Texts:
        whole = pool.question_texts() if role == "query" else pool.candidate_texts(candidate_text)
        return whole.take(rows)

    def lists(name: str, one: ListSystem, search: Search) -> Lists:
        def first(other: str, depth: int) -> Lists:
            return parts.first(other, replace(search, ties="expected"), depth)

        asked = replace(search, lists_of=first, texts=texts, encode=partial(run.scored, name))
        return one.lists(asked)

    def sides(vectors: PoolVectors, search: Search) -> tuple[TextPool, TextPool]:
        return (
            TextPool.of(vectors.questions, search.query_rows),
            TextPool.of(vectors.candidates, search.candidate_rows),
        )

    parts = Parts[PoolVectors, Search](run, encode, sides, lists)
    return parts
