"""Ranking by Ray with one and two workers against one thread of the processor: time, efficiency, equality.

`N=40000 python -m benchmarks ray_speed`: N queries and as many candidates. The start of Ray and the first
import in its processes are separated.
"""

from __future__ import annotations

import os
import tempfile
import time

import numpy as np

from benchmarks.vectors import spectrum
from xlingual.ranking import Cosine, Counts, Cpu, Ranker, Top, UnitVectors

DIM = 256
WORKERS = (1, 2)
SMALL = 512  # rows of the pass that starts everything


def one_pass(ranker: Ranker, queries: np.ndarray, candidates: np.ndarray) -> tuple[float, list[np.ndarray]]:
    """Return the seconds of a pass (the nearest candidate, the rank of the own one) and what it found."""
    similarity = Cosine(UnitVectors(queries), UnitVectors(candidates))
    own = np.arange(len(queries))
    top, counts = Top(1, similarity.shape), Counts.of(similarity, own, own)
    begun = time.perf_counter()
    ranker.scan(similarity, [top, counts])
    seconds = time.perf_counter() - begun
    best = top.result()
    return seconds, [best.query, best.candidate, counts.above, counts.tied]


def main() -> None:
    """Print times and efficiency; assert that every pass found the same."""
    import ray
    from xlingual.ranking.cluster import RayRanker

    n = int(os.environ.get("N", "40000"))
    rng = np.random.default_rng(0)
    queries = spectrum(rng, n, DIM).astype(np.float32)
    candidates = (queries + spectrum(rng, n, DIM)).astype(np.float32)
    cores = len(os.sched_getaffinity(0))
    print(f"{n:,} × {n:,} × {DIM}, {cores} cores")
    plain, expected = one_pass(Cpu(), queries, candidates)
    print(f"cpu, 1 thread: {plain:6.2f} s")
    times = {}
    for workers in WORKERS:
        with tempfile.TemporaryDirectory() as folder:
            ranker = RayRanker(shared=folder, cores=workers)
            begun = time.perf_counter()
            one_pass(ranker, queries[:SMALL], candidates[:SMALL])
            start = time.perf_counter() - begun
            times[workers], found = one_pass(ranker, queries, candidates)
            for ours, theirs in zip(expected, found, strict=True):
                np.testing.assert_array_equal(ours, theirs)
            again, found = one_pass(ranker, queries, candidates)
            for ours, theirs in zip(expected, found, strict=True):
                np.testing.assert_array_equal(ours, theirs)
        ray.shutdown()
        share = plain / (workers * times[workers])
        print(
            f"ray, workers {workers}: {times[workers]:6.2f} s (started in {start:.1f} s), efficiency "
            f"{share:.2f} of the bare thread; from finished parts {again:.2f} s; all equal"
        )
    print(f"two workers against one: {times[1] / times[2]:.2f} times as fast (2 at best)")


if __name__ == "__main__":
    main()
