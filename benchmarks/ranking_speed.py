"""The ranker against the bare float32 product of the same tiles, faiss' flat index and usearch's exact search.

All on one thread, on the same vectors, in one run; processor time. A peer finds the nearest candidates only:
it does not count ties, and it decides by float32 scores. `python -m benchmarks.ranking_speed 50000 256` takes
another number of vectors on each side, and other dimensions.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.vectors import spectrum
from xlingual.ranking import (
    Cosine,
    Counts,
    Cpu,
    Reduction,
    Top,
    Transposed,
    UnitVectors,
    one_library_thread,
)
from xlingual.ranking import reference as plain
from xlingual.ranking.scan import Plan
from xlingual.records import Ints

N, DIMS = 20_000, (128, 768)
ROUNDS = 3
CHECKED = 200  # queries held against the float64 matrix
FEWER = 20  # usearch answers every 20th query, and its time is scaled
CLOSE = 1e-6  # peers may prefer another candidate whose score is that near
LIMITS = {"Top(1)": 1.35, "Counts": 1.5}  # of the bare product's time, at 768 dimensions


def sides(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Return unit vectors of n queries and n candidates: what both mean, and what is each one's own."""
    rng = np.random.default_rng(0)
    meaning = spectrum(rng, n, d)
    vectors = [meaning + 0.7 * spectrum(rng, n, d) for _ in range(2)]
    queries, candidates = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in vectors)
    return queries, candidates


def bare(similarity: Cosine) -> float:
    """Return the seconds of the product, tile by tile as the ranker makes them; nothing is kept."""
    plan = Plan(similarity.shape)
    memory = np.empty(plan.size[0] * plan.size[1], dtype=np.float32)
    begun = time.process_time()
    for rows in plan.row_blocks:
        for columns in plan.column_blocks:
            shape = (rows.stop - rows.start, columns.stop - columns.start)
            similarity.tile(rows, columns, memory[: shape[0] * shape[1]].reshape(shape))
    return time.process_time() - begun


def ranked(similarity: Cosine, make: Callable[[], list[Reduction]]) -> float:
    """Return the seconds of a pass, with what is asked for and the last decisions."""
    begun = time.process_time()
    reductions = make()
    Cpu().scan(similarity, reductions)
    for reduction in reductions:
        inner = reduction.inner if isinstance(reduction, Transposed) else reduction
        if isinstance(inner, Top):
            inner.result()
    return time.process_time() - begun


def by_faiss(queries: np.ndarray, candidates: np.ndarray, k: int) -> tuple[float, Ints]:
    """Return (seconds, the nearest candidate) by an exact flat index; filling it is not timed."""
    import faiss

    faiss.omp_set_num_threads(1)
    index = faiss.IndexFlatIP(candidates.shape[1])
    index.add(candidates)
    begun = time.process_time()
    found = index.search(queries, k)[1]
    return time.process_time() - begun, found[:, 0]


def by_usearch(queries: np.ndarray, candidates: np.ndarray, k: int) -> tuple[float, Ints]:
    """Return (seconds, the nearest candidate) by usearch's exact search, from a part of the queries."""
    from usearch.index import MetricKind, search

    begun = time.process_time()
    found = search(candidates, queries[::FEWER], k, MetricKind.IP, exact=True, threads=1)
    return (time.process_time() - begun) * FEWER, np.asarray(found.keys)[:, 0].astype(np.int64)


def assert_right(similarity: Cosine, queries: np.ndarray, candidates: np.ndarray) -> Ints:
    """Assert that the ranker agrees with the float64 matrix; return each query's best key."""
    n = len(queries)
    own = np.arange(n)
    nearest, counts, ten = Top(1, (n, n)), Counts.of(similarity, own, own), Top(10, (n, n))
    Cpu().scan(similarity, [nearest, counts, ten])
    rows = np.linspace(0, n - 1, CHECKED).astype(np.int64)
    keys = plain.keys(queries[rows], candidates)
    above, tied = plain.counts(keys, np.arange(CHECKED), rows)
    np.testing.assert_array_equal(counts.above[rows], above)
    np.testing.assert_array_equal(counts.tied[rows], tied)
    for top, k in ((nearest.result(), 1), (ten.result(), 10)):
        for row, wanted in zip(rows, plain.top(keys, k), strict=True):
            lines = top.query == row
            found = zip(top.candidate[lines], top.above[lines], top.tied[lines], strict=True)
            assert sorted(map(tuple, found)) == sorted(wanted), row
    best = nearest.result()
    first = np.searchsorted(best.query, own)
    return similarity.exact(own, best.candidate[first])


def assert_close(similarity: Cosine, best: Ints, rows: Ints, found: Ints) -> int:
    """Assert that a peer's nearest candidates are as near as the nearest; return how many are others."""
    gap = best[rows] - similarity.exact(rows, found)
    assert (gap >= 0).all(), "a peer found a nearer one"
    assert gap.max() * 1e-9 < CLOSE, gap.max()
    return int((gap > 0).sum())


def main(n: int = N, *dims: int) -> None:
    """Print, for each number of dimensions, the ratios to the bare product."""
    for d in dims or DIMS:
        queries, candidates = sides(n, d)
        similarity = Cosine(UnitVectors(queries), UnitVectors(candidates))
        own, shape = np.arange(n), (n, n)
        with one_library_thread():
            best = assert_right(similarity, queries, candidates)
            asked: dict[str, Callable[[], list[Reduction]]] = {
                "Top(1)": lambda shape=shape: [Top(1, shape)],
                "Top(10)": lambda shape=shape: [Top(10, shape)],
                "Counts": lambda own=own, s=similarity: [Counts.of(s, own, own)],
                "Top(1) + Counts": lambda own=own, s=similarity: [Top(1, s.shape), Counts.of(s, own, own)],
                "way back: Counts, Top(10), Top(1) of the columns": lambda own=own, s=similarity: [
                    Counts.of(s, own, own),
                    Top(10, s.shape),
                    Transposed(Top(1, s.shape)),
                ],
            }
            times: dict[str, list[float]] = {"bare product": []}
            for _ in range(ROUNDS):
                times["bare product"].append(bare(similarity))
                for name, make in asked.items():
                    times.setdefault(name, []).append(ranked(similarity, make))
                for k in (1, 10):
                    for name, peer, step in (("faiss", by_faiss, 1), ("usearch", by_usearch, FEWER)):
                        seconds, found = partial(peer, k=k)(queries, candidates)
                        times.setdefault(f"{name}, k = {k}", []).append(seconds)
                        others = assert_close(similarity, best, own[::step], found)
        product = np.array(times["bare product"])
        rate = 2 * n * n * d / np.median(product) / 1e9
        print(f"{n:,} × {n:,}, {d}-d, one thread, median of {ROUNDS}: bare product {rate:.0f} GFLOP/s")
        ratios = {name: float(np.median(np.array(one) / product)) for name, one in times.items()}
        for name, ratio in ratios.items():
            per_pair = (ratio - 1) * np.median(product) / n**2 * 1e9
            print(f"   {name:50s} {np.median(times[name]):7.2f} s  {ratio:6.2f} times  {per_pair:+7.3f} ns a pair")
        print(f"   ranks equal float64; where a peer's nearest is another one ({others}), it is within {CLOSE:g}")
        if d == 768:
            assert all(ratios[name] <= limit for name, limit in LIMITS.items()), ratios


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
