"""An index over unit vectors (faiss), the same with any number of threads: built and searched by blocks."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from xlingual.ranking.approximate.search import BREADTH, LINKS, POINTS, Search
from xlingual.ranking.vectors import UnitVectors
from xlingual.records import Ints, Vectors
from xlingual.streams import stream

BLOCK = 1024  # queries searched, and vectors added, at a time
_ROUNDS = 10  # of k-means


class Index:
    """Finds the nearest of n unit vectors.

    Memory: a float32 copy of the vectors (a graph: 8·LINKS bytes more for each).
    """

    def __init__(self, vectors: UnitVectors, search: Search, threads: int = 1) -> None:
        self.size = len(vectors)
        self._vectors, self._search = vectors, search
        make = self._inverted_file if search.kind == "ivf" else self._graph
        self._index = in_one_thread_each(make, threads)

    def find(self, queries: Vectors, depth: int) -> tuple[Ints, Vectors]:
        """Return (number, score) of the best found, best first, both [q, depth]; number −1: none left.

        Scores are float32 products of the unit vectors.
        """
        faiss = library()
        faiss.omp_set_num_threads(1)  # of this thread alone
        depth = min(depth, self.size)
        probes = self._search.probes_of(self.size, depth)
        if self._search.kind == "ivf":
            how = faiss.SearchParametersIVF(nprobe=probes)
        else:
            how = faiss.SearchParametersHNSW(efSearch=max(probes, depth))
        score, found = self._index.search(np.ascontiguousarray(queries), depth, params=how)
        return found, score

    def about(self) -> dict[str, str | int | float]:
        """Return the size of the index, for readers of the results."""
        if self._search.kind == "ivf":
            return {"index_vectors": self.size, "index_lists": self._search.lists(self.size)}
        return {"index_vectors": self.size, "index_links": LINKS}

    def _rows(self, numbers: Ints) -> Vectors:
        """Return some of the unit vectors, float32."""
        return UnitVectors(self._vectors.raw, self._vectors.rows[numbers]).screen(0, len(numbers))

    def _blocks(self) -> Iterator[Ints]:
        for low in range(0, self.size, BLOCK):
            yield np.arange(low, min(low + BLOCK, self.size))

    def _inverted_file(self, executor: ThreadPoolExecutor) -> Any:  # noqa: ANN401  (a faiss index)
        faiss = library()
        lists = self._search.lists(self.size)
        centres = faiss.IndexFlatIP(self._vectors.dim)
        index = faiss.IndexIVFFlat(centres, self._vectors.dim, lists, faiss.METRIC_INNER_PRODUCT)
        index.cp.seed, index.cp.niter, index.cp.spherical = self._search.seed, _ROUNDS, True
        index.cp.min_points_per_centroid = 1
        drawn = stream(self._search.seed, "index").permutation(self.size)[: lists * (POINTS + 1)]
        index.train(self._rows(np.sort(drawn)))
        faiss.omp_set_num_threads(1)
        nearest = executor.map(lambda block: _nearest(centres, self._rows(block)), self._blocks())
        for block, assigned in zip(self._blocks(), nearest, strict=True):
            rows = self._rows(block)
            index.add_core(len(rows), faiss.swig_ptr(rows), faiss.swig_ptr(block), faiss.swig_ptr(assigned))
        return index

    def _graph(self, _: ThreadPoolExecutor) -> Any:  # noqa: ANN401  (a faiss index)
        """Return the graph, built by one thread: several would link it in an order of their own."""
        faiss = library()
        index = faiss.IndexHNSWFlat(self._vectors.dim, LINKS, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = BREADTH
        index.hnsw.rng = faiss.RandomGenerator(self._search.seed)
        for block in self._blocks():
            index.add(self._rows(block))
        return index


def library() -> Any:  # noqa: ANN401  (its own type hints lack what is used here)
    """Return the faiss package."""
    import faiss

    return faiss


def _nearest(centres: Any, rows: Vectors) -> Ints:  # noqa: ANN401  (a faiss index)
    faiss = library()
    faiss.omp_set_num_threads(1)
    found: Ints = centres.search(rows, 1)[1].ravel()
    return found


def in_one_thread_each(work: Any, threads: int) -> Any:  # noqa: ANN401
    """Run work(executor of `threads`) in a thread of its own, with faiss held to one thread in each.

    How many threads faiss takes is set for each thread of the program: this leaves the caller's as they are.
    """
    faiss = library()
    single = faiss.omp_set_num_threads
    with (
        ThreadPoolExecutor(max(threads, 1), initializer=single, initargs=(1,)) as executor,
        ThreadPoolExecutor(1, initializer=single, initargs=(1,)) as own,
    ):
        return own.submit(work, executor).result()
