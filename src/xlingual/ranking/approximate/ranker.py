"""The ranker that scores only what an index finds."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np

from xlingual.arrays import Ints, Vectors
from xlingual.errors import InputError, MissingExtraError
from xlingual.extras import missing
from xlingual.ranking.approximate.feeding import Found, feed_counts, feed_top
from xlingual.ranking.approximate.index import BLOCK, Index, build
from xlingual.ranking.approximate.search import Search
from xlingual.ranking.counts import Counts
from xlingual.ranking.cpu import Cpu
from xlingual.ranking.ranker import Ranker
from xlingual.ranking.scan import Progress, Reduction, Tile, Transposed, one_library_thread
from xlingual.ranking.similarity import Cosine, Similarity
from xlingual.ranking.top import Top
from xlingual.ranking.vectors import UnitVectors

LEAST = 30_000  # candidates below which exact ranking is as fast (benchmarks/approximate.py)
_DEEP = 100  # so many times the depth are candidates, too: to find more of them takes longer than to rank all


@dataclass(frozen=True)
class Approximate:
    """Ranks by search: of each query the `depth` best candidates that an index finds are scored exactly.

    What is not found is taken to be below. So a target's own score is exact, and how many stand above it a
    lower bound, of at most about `depth`: R@k with k ≤ depth and nearest neighbours are known, ranks
    are not. `inner` ranks exactly what an index does not serve: similarities that are no cosine, groups of
    fewer than `least` candidates (None: 30,000, or a hundred times the depth where that is more), and the
    `check` queries of each task by which the evaluations measure what the search costs in accuracy.
    `candidates` is the size of the uniform sample of candidates from which they estimate median
    ranks and percentiles.
    """

    inner: Ranker = field(default_factory=Cpu)
    depth: int = 20
    search: Search = field(default_factory=Search)
    check: int = 1000
    candidates: int = 10_000
    least: int | None = None
    threads: int = 1
    _kept: dict[str, Any] = field(default_factory=dict, init=False, compare=False, repr=False)  # last index

    def __post_init__(self) -> None:
        if missing("ann"):
            raise MissingExtraError("approximate ranking", "ann")
        for name, least in (("depth", 1), ("check", 100), ("candidates", 100)):
            if getattr(self, name) < least:
                raise InputError(f"approximate ranking: {name} must be {least} at least")

    @property
    def fewest(self) -> int:
        """The number of candidates below which all are ranked."""
        return max(LEAST, _DEEP * self.depth) if self.least is None else max(self.least, 1)

    def about(self) -> dict[str, str | int | float]:
        """Return what ranked."""
        index = self._kept.get("about", {})
        return {**self.inner.about(), "search": str(self.search), "depth": self.depth, **index}

    def scan(
        self, similarity: Similarity, reductions: Sequence[Reduction], *, progress: Progress | None = None
    ) -> None:
        """Let every reduction see the pairs that a search finds; all pairs where that is not worth it."""
        searches: dict[tuple[bool, bytes], _Search] = {}
        exact: list[Reduction] = []
        for reduction in reductions:
            turned = isinstance(reduction, Transposed)
            request: Any = reduction.inner if isinstance(reduction, Transposed) else reduction
            if not isinstance(similarity, Cosine) or self._few(similarity, request, turned):
                exact.append(reduction)
                continue
            self._refuse_deep(request)
            key = (turned, b"" if request.columns is None else request.columns.tobytes())
            searches.setdefault(key, _Search(similarity, turned, request.columns)).requests.append(request)
        total = len(searches) + bool(exact)
        for done, search in enumerate(searches.values()):
            search.run(self, _share(progress, done, total))
        if exact:
            self.inner.scan(similarity, exact, progress=_share(progress, total - 1, total))

    def _few(self, similarity: Cosine, request: Any, turned: bool) -> bool:  # noqa: ANN401  (a reduction)
        """Return whether so few candidates are ranked that an index is not worth it."""
        if not isinstance(request, Top | Counts):
            raise InputError(
                "approximate ranking finds the best candidates of a query, this evaluation needs all of "
                "them: leave out the approximate ranker"
            )
        columns = similarity.shape[0 if turned else 1] if request.columns is None else len(request.columns)
        return columns < self.fewest

    def _refuse_deep(self, request: Top | Counts) -> None:
        if isinstance(request, Top) and request.k > self.depth:
            raise InputError(
                f"the {request.k} best candidates are asked for, the search finds {self.depth}: "
                f"raise the depth to {request.k} at least"
            )

    def index(self, vectors: UnitVectors) -> Index:
        """Return the index over some vectors; the last one is kept, for the next pass over the same."""
        known = self._kept.get("raw")
        if known is not None and known() is vectors.raw and np.array_equal(self._kept["rows"], vectors.rows):
            kept: Index = self._kept["index"]
            return kept
        self._kept.clear()  # before the next is built: two need not be in memory
        index = build(vectors, self.search, self.threads)
        self._kept.update(raw=weakref.ref(vectors.raw), rows=vectors.rows, index=index, about=index.about())
        return index


class _Search:
    """One index, and the reductions that are fed from it."""

    def __init__(self, similarity: Cosine, turned: bool, members: Ints | None) -> None:
        self.requests: list[Top | Counts] = []
        self._looked_at, self._lock = 0, Lock()  # blocks run side by side
        self._similarity, self._turned, self._members = similarity, turned, members
        sides = (similarity.queries, similarity.candidates)
        self._queries, self._candidates = sides[::-1] if turned else sides

    def run(self, ranker: Approximate, progress: Progress | None) -> None:
        """Search for every query that a request needs."""
        with one_library_thread():
            index = ranker.index(self._indexed())
            wanted = self._wanted()
            starts = range(0, len(self._queries), BLOCK)

            def block(low: int) -> list[Top | Counts]:
                return self._block(index, ranker.depth, wanted, low)

            with ThreadPoolExecutor(max(ranker.threads, 1)) as executor:
                for low, parts in zip(starts, executor.map(block, starts), strict=True):
                    for request, part in zip(self.requests, parts, strict=True):
                        request.merge([part])  # type: ignore[list-item]  # of the same class
                    if progress is not None:
                        progress(min(low + BLOCK, len(self._queries)), len(self._queries))
        self._similarity.screened += self._looked_at

    def _indexed(self) -> UnitVectors:
        if self._members is None:
            return self._candidates
        return UnitVectors(self._candidates.raw, self._candidates.rows[self._members])

    def _found(self, index: Index, query: Ints, vectors: Vectors, depth: int) -> Found:
        candidate, score, looked_at = index.find(vectors, depth)
        with self._lock:
            self._looked_at += looked_at
        if self._members is not None:
            candidate = np.where(candidate < 0, -1, self._members[np.maximum(candidate, 0)])
        return Found(query, candidate, score, self._similarity.band, self._exact)

    def _wanted(self) -> np.ndarray:
        """Return which queries some request needs, bool [n]."""
        wanted = np.zeros(len(self._queries), dtype=bool)
        for request in self.requests:
            if isinstance(request, Counts):
                wanted[request.query] = True
            else:
                wanted[slice(None) if request.queries is None else request.queries] = True
        return wanted

    def _exact(self, query: Ints, candidate: Ints) -> Ints:
        return self._similarity.exact(*((candidate, query) if self._turned else (query, candidate)))

    def _block(self, index: Index, depth: int, wanted: np.ndarray, low: int) -> list[Top | Counts]:
        """Return the parts of a block of queries."""
        high = min(low + BLOCK, len(self._queries))
        everything = slice(0, len(self._candidates))
        parts = [request.within(slice(low, high), everything) for request in self.requests]
        directed = self._queries.inverse_norms[low:high] > 0
        query = low + np.flatnonzero(wanted[low:high] & directed)
        if len(query):
            found = self._found(index, query, self._queries.screen(low, high)[query - low], depth)
            for part in parts:
                feed_top(part, found) if isinstance(part, Top) else feed_counts(part, found)
        for zero in (low + np.flatnonzero(wanted[low:high] & ~directed)).tolist():
            scores = np.zeros((1, len(self._candidates)), dtype=np.float32)  # an index cannot order them
            for part in parts:
                part.update(Tile(scores, zero, 0, self._similarity.band, self._exact))
        return parts


def _share(progress: Progress | None, done: int, total: int) -> Progress | None:
    """Return the progress of one of several passes as a part of that of all."""
    if progress is None:
        return None
    steps = 1000
    return lambda now, of: progress(done * steps + steps * now // max(of, 1), total * steps)
