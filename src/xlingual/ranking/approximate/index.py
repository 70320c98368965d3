"""Indexes over unit vectors, the same with any number of threads: an inverted file, and a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol, TypeVar

import numpy as np

from xlingual.arrays import Ints, Vectors
from xlingual.ranking.approximate.search import BREADTH, LINKS, POINTS, Search
from xlingual.ranking.vectors import UnitVectors
from xlingual.streams import stream

_ENOUGH = 1 << 21  # offers kept before they are settled


class Best:
    """Keeps the `depth` best (number, score) of each of n queries, best first; number −1: none."""

    def __init__(self, n: int, depth: int) -> None:
        self.number: Ints = np.full((n, depth), -1, dtype=np.int64)
        self.score: Vectors = np.full((n, depth), -np.inf, dtype=np.float32)
        self._offers: list[tuple[Ints, Ints, Vectors]] = []
        self._waiting = 0

    def offer(self, query: Ints, first: int, scores: Vectors) -> None:
        """Take in the scores [queries, m] of candidates first … first + m − 1, each offered once."""
        i, j = np.divmod(np.flatnonzero(scores > self.score[query, -1][:, None]), scores.shape[1])
        self._offers.append((query[i], j + first, scores[i, j]))
        self._waiting += len(i)
        if self._waiting > _ENOUGH:
            self.settle()

    def settle(self) -> None:
        """Order the offered candidates; from here on only better scores than the worst kept are taken."""
        if not self._waiting:
            return
        query, number, score = (np.concatenate(parts) for parts in zip(*self._offers, strict=True))
        self._offers, self._waiting = [], 0
        present = np.flatnonzero(np.bincount(query))
        depth = self.number.shape[1]
        query = np.concatenate([query, np.repeat(present, depth)])
        number = np.concatenate([number, self.number[present].ravel()])
        score = np.concatenate([score, self.score[present].ravel()])
        order = np.argsort((query << 32) + _falling(score))  # one sort of both is the fastest
        starts = np.cumsum(np.bincount(query)[present])
        starts = np.concatenate([[0], starts[:-1]])
        kept = order[(starts[:, None] + np.arange(depth)).ravel()]
        self.number[present] = number[kept].reshape(-1, depth)
        self.score[present] = score[kept].reshape(-1, depth)


def _falling(score: Vectors) -> Ints:
    """Return whole numbers from 0 to 2³² − 1 in the opposite order of the scores."""
    bits = np.ascontiguousarray(-score).view(np.int32)  # of a float of its sign, they have its order
    signed: Ints = np.where(bits < 0, np.int32(-(2**31)) - bits - 1, bits).astype(np.int64)
    return signed + 2**31


BLOCK = 4096  # vectors assigned at a time, and queries searched together
_ROUNDS = 10  # of k-means
T = TypeVar("T")


class Index(Protocol):
    """Finds the nearest of the unit vectors it was built of."""

    size: int

    def find(self, queries: Vectors, depth: int) -> tuple[Ints, Vectors, int]:
        """Return (number, score) of the best found, best first, both [q, depth], and how many were looked at.

        Number −1: none left. Scores are float32 products of the unit vectors.
        """

    def about(self) -> dict[str, str | int | float]:
        """Return the size of the index, for readers of the results."""


def build(vectors: UnitVectors, search: Search, threads: int = 1) -> Index:
    """Return the index of a search over some vectors."""
    return InvertedFile(vectors, search, threads) if search.kind == "ivf" else Graph(vectors, search)


class InvertedFile:
    """Vectors in lists by their nearest centre; a query looks through the lists of the nearest centres.

    Queries that look through the same list do so together, in one matrix product: with as many queries as
    candidates that is several times as fast as query by query. Memory: a float32 copy of the vectors.
    """

    def __init__(self, vectors: UnitVectors, search: Search, threads: int) -> None:
        self.size, self._search = len(vectors), search
        self.centres = self._trained(vectors)
        with ThreadPoolExecutor(max(threads, 1)) as executor:
            parts = list(executor.map(lambda rows: self._nearest(vectors, rows), _blocks(self.size)))
        assigned = np.concatenate(parts)
        self._order = np.argsort(assigned, kind="stable")
        self._bounds = np.searchsorted(assigned[self._order], np.arange(len(self.centres) + 1))
        ordered = UnitVectors(vectors.raw, vectors.rows[self._order])
        self._vectors = np.empty((self.size, vectors.dim), dtype=np.float32)
        for rows in _blocks(self.size):
            self._vectors[rows] = ordered.screen(int(rows[0]), int(rows[-1]) + 1)

    def _trained(self, vectors: UnitVectors) -> Vectors:
        """Return the centres, float32 [lists, d], of a seeded sample of the vectors."""
        lists, seed = self._search.lists(self.size), self._search.seed
        drawn = np.sort(stream(seed, "index").permutation(self.size)[: lists * (POINTS + 1)])
        sample = UnitVectors(vectors.raw, vectors.rows[drawn]).screen(0, len(drawn))

        def train(faiss: Any) -> Vectors:  # noqa: ANN401  (the package)
            means = faiss.Kmeans(
                vectors.dim,
                lists,
                niter=_ROUNDS,
                seed=seed,
                spherical=True,
                min_points_per_centroid=1,
            )
            means.train(np.ascontiguousarray(sample))
            centres: Vectors = means.centroids
            return centres

        return in_one_thread(train)

    def _nearest(self, vectors: UnitVectors, rows: Ints) -> Ints:
        block = UnitVectors(vectors.raw, vectors.rows[rows]).screen(0, len(rows))
        nearest: Ints = np.argmax(block @ self.centres.T, axis=1)
        return nearest

    def find(self, queries: Vectors, depth: int) -> tuple[Ints, Vectors, int]:
        """Return (number, score, how many were looked at), see `Index`."""
        depth = min(depth, self.size)
        probes = self._search.probes_of(self.size, depth)
        near = _largest_first(queries @ self.centres.T, probes)
        best = Best(len(queries), depth)
        looked_at = 0
        for low, high in _rounds(
            probes
        ):  # the nearest lists first: what they hold rules out most of the rest
            query = np.repeat(np.arange(len(queries)), high - low)
            chosen = near[:, low:high].ravel()
            order = np.argsort(chosen, kind="stable")
            ends = np.searchsorted(chosen[order], np.arange(len(self.centres) + 1))
            for number in np.flatnonzero(np.diff(ends)).tolist():
                first, last = self._bounds[number], self._bounds[number + 1]
                asking = query[order[ends[number] : ends[number + 1]]]
                scores = queries[asking] @ self._vectors[first:last].T
                looked_at += scores.size
                best.offer(asking, first, scores)
            best.settle()
        return np.where(best.number < 0, -1, self._order[np.maximum(best.number, 0)]), best.score, looked_at

    def about(self) -> dict[str, str | int | float]:
        """Return the size of the index."""
        return {"index_vectors": self.size, "index_lists": len(self.centres)}


class Graph:
    """A graph of near vectors through which a query walks (faiss HNSW).

    It is built by one thread: with several the order of links would vary. Memory: a float32 copy of the
    vectors, and 8·LINKS bytes for each.
    """

    def __init__(self, vectors: UnitVectors, search: Search) -> None:
        self.size, self._search = len(vectors), search

        def make(faiss: Any) -> Any:  # noqa: ANN401  (the package, and an index of it)
            index = faiss.IndexHNSWFlat(vectors.dim, LINKS, faiss.METRIC_INNER_PRODUCT)
            index.hnsw.efConstruction = BREADTH
            index.hnsw.rng = faiss.RandomGenerator(search.seed)
            for rows in _blocks(self.size):
                index.add(np.ascontiguousarray(vectors.screen(int(rows[0]), int(rows[-1]) + 1)))
            return index

        self._index = in_one_thread(make)

    def find(self, queries: Vectors, depth: int) -> tuple[Ints, Vectors, int]:
        """Return (number, score, how many were looked at), see `Index`; of those looked at, those found."""
        import faiss

        faiss.omp_set_num_threads(1)  # of this thread alone
        depth = min(depth, self.size)
        breadth = max(depth, self._search.probes_of(self.size, depth))
        how: Any = faiss
        how = how.SearchParametersHNSW(efSearch=breadth)
        score, found = self._index.search(np.ascontiguousarray(queries), depth, params=how)
        return found, score, found.size

    def about(self) -> dict[str, str | int | float]:
        """Return the size of the index."""
        return {"index_vectors": self.size, "index_links": LINKS}


def _blocks(size: int) -> Iterator[Ints]:
    for low in range(0, size, BLOCK):
        yield np.arange(low, min(low + BLOCK, size))


def _largest_first(scores: Vectors, k: int) -> Ints:
    """Return the columns of the k largest scores of each row, largest first, [rows, k]."""
    columns = np.arange(scores.shape[1])[None].repeat(len(scores), 0)
    if k < scores.shape[1]:
        columns = np.argpartition(-scores, k - 1, axis=1)[:, :k]
    order = np.argsort(-np.take_along_axis(scores, columns, axis=1), axis=1, kind="stable")
    return np.take_along_axis(columns, order, axis=1)


def _rounds(probes: int) -> Iterator[tuple[int, int]]:
    """Yield (from, to) of the probes looked through between settlements: the 1st, 3 more, 12 more, and on."""
    low, step = 0, 1
    while low < probes:
        yield low, min(low + step, probes)
        low, step = low + step, 4 * step - (step == 1)


def in_one_thread(work: Callable[[Any], T]) -> T:
    """Return work(faiss), done in a separate thread that faiss uses alone.

    How many threads faiss takes is set for each thread of the program: this leaves the caller's as they are.
    """
    import faiss

    with ThreadPoolExecutor(1, initializer=faiss.omp_set_num_threads, initargs=(1,)) as own:
        return own.submit(work, faiss).result()
