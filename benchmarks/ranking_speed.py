"""The ranker against the bare float32 product of its tiles, faiss' flat index and usearch's exact search.

All on one thread, on the same vectors, in one run; processor time. A peer finds the nearest candidates only:
it does not count ties, and it decides by float32 scores. `python -m benchmarks.ranking_speed 50000 256` takes
another number of vectors on each side, and other dimensions. Peers that are not installed (`pip install
faiss-cpu usearch`) are left out.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np
from xlingual.ranking.scan import TilePlan

from benchmarks.vectors import spectrum
from xlingual.arrays import Ints
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

N, DIMS = 20_000, (128, 768)
ROUNDS = 3
CHECKED = 200  # queries compared with the float64 matrix
FEWER = 20  # usearch answers every 20th query, and its time is scaled
CLOSE = 1e-6  # peers may prefer another candidate whose score is that near
PRODUCT = "bare product"
WAY_BACK = "Counts + Top(10) + Top(1) of the columns"  # what Backretrieval asks of images
LIMITS = {"Top(1)": 1.15, "Counts": 1.2, WAY_BACK: 1.3}  # of the bare product's time, at 768 dimensions


def sides(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Return unit vectors of n queries and n candidates: what both mean, and what is each one's own."""
    rng = np.random.default_rng(0)
    meaning = spectrum(rng, n, d)
    vectors = [meaning + 0.7 * spectrum(rng, n, d) for _ in range(2)]
    queries, candidates = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in vectors)
    return queries, candidates


def bare(similarity: Cosine) -> float:
    """Return the seconds of the product, tile by tile as the ranker makes them; nothing is kept."""
    plan = TilePlan(similarity.shape)
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
        for row, own_keys in zip(rows, keys, strict=True):
            best = np.flatnonzero(own_keys >= np.partition(own_keys, -k)[-k])  # the k best and their ties
            wanted = [(i, (own_keys > own_keys[i]).sum(), (own_keys == own_keys[i]).sum()) for i in best]
            lines = top.query == row
            found = zip(top.candidate[lines], top.above[lines], top.tied[lines], strict=True)
            assert sorted(found) == sorted(wanted), row
    found = nearest.result()
    first = np.searchsorted(found.query, own)
    return similarity.exact(own, found.candidate[first])


def assert_close(similarity: Cosine, best: Ints, rows: Ints, found: Ints) -> int:
    """Assert that a peer's nearest candidates are as near as the nearest; return how many are others."""
    gap = best[rows] - similarity.exact(rows, found)
    assert (gap >= 0).all(), "a peer found a nearer one"
    assert gap.max() * 1e-9 < CLOSE, gap.max()
    return int((gap > 0).sum())


def requests(similarity: Cosine) -> dict[str, Callable[[], list[Reduction]]]:
    """Return what is timed: names, and what makes the reductions of a pass."""
    own, shape = np.arange(similarity.shape[0]), similarity.shape

    def counts() -> Counts:
        return Counts.of(similarity, own, own)

    return {
        "Top(1)": lambda: [Top(1, shape)],
        "Top(10)": lambda: [Top(10, shape)],
        "Counts": lambda: [counts()],
        "Top(1) + Counts": lambda: [Top(1, shape), counts()],
        WAY_BACK: lambda: [counts(), Top(10, shape), Transposed(Top(1, shape[::-1]))],
    }


def timed(similarity: Cosine, queries: np.ndarray, candidates: np.ndarray, best: Ints) -> dict[str, float]:
    """Return the seconds of one round, by what was timed; peers' answers are compared with the best keys."""
    seconds = {PRODUCT: bare(similarity)}
    for name, make in requests(similarity).items():
        seconds[name] = ranked(similarity, make)
    own = np.arange(len(queries))
    for name, peer, rows in (("faiss", by_faiss, own), ("usearch", by_usearch, own[::FEWER])):
        for k in (1, 10) if find_spec(name) else ():
            seconds[f"{name}, k = {k}"], found = peer(queries, candidates, k)
            others = assert_close(similarity, best, rows, found)
            if others:
                print(f"   {name} prefers another candidate to the nearest for {others} queries")
    return seconds


def main(n: int = N, *dims: int) -> None:
    """Print, for each number of dimensions, the ratios to the bare product."""
    for d in dims or DIMS:
        queries, candidates = sides(n, d)
        similarity = Cosine(UnitVectors(queries), UnitVectors(candidates))
        with one_library_thread():
            best = assert_right(similarity, queries, candidates)
            rounds = [timed(similarity, queries, candidates, best) for _ in range(ROUNDS)]
        product = float(np.median([one[PRODUCT] for one in rounds]))
        print(
            f"{n:,} × {n:,}, {d}-d, one thread, medians of {ROUNDS} rounds: bare product "
            f"{2 * n * n * d / product / 1e9:.0f} GFLOP/s"
        )
        ratios = {}
        for name in rounds[0]:
            ratios[name] = float(np.median([one[name] / one[PRODUCT] for one in rounds]))
            seconds = float(np.median([one[name] for one in rounds]))
            beside = (seconds - product) / n**2 * 1e9
            print(f"   {name:42s} {seconds:8.2f} s  {ratios[name]:6.2f} times  {beside:+7.2f} ns a pair")
        if d == 768:
            assert all(ratios[name] <= limit for name, limit in LIMITS.items()), ratios


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
