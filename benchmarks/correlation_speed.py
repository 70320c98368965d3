"""What CORR of one encoder and seed costs, part by part, against scipy's ranks; the ranks must be equal.

It says why a whole validation (`validation_speed`) is not faster: what numpy needs for the bare product, for
the bare sort of so many numbers, and for the sums of influence that intervals are made of.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import rankdata
from threadpoolctl import threadpool_limits

from benchmarks.validation_speed import POOL, SEEDS, TEXT_DIM, N, unit
from benchmarks.vectors import spectrum
from xlingual.evaluation.distance_correlation import RankedTables, SamplePairs
from xlingual.ranking import UNIT, UnitVectors
from xlingual.stats import RankedTable, influence_sums, spearman

RUNS = 5
LEAST = 3.0


def seconds(work: Callable[[], Any], runs: int = RUNS) -> tuple[float, Any]:
    """Return the least processor time of some runs, and what the work returns."""
    least, found = np.inf, None
    for _ in range(runs):
        begun = time.process_time()
        found = work()
        least = min(least, time.process_time() - begun)
    return 1e3 * least, found


def by_scipy(texts: np.ndarray, images: np.ndarray) -> tuple[np.ndarray, float]:
    """Return twice the mean ranks of text scores, from 1, and the correlation of these ranks with images'."""
    ranks = rankdata(texts)
    return 2 * ranks - 1, float(np.corrcoef(ranks, rankdata(images))[0, 1])


def picked(order: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the sorted pairs of a sample out of all pairs of the pool, sorted once for all samples."""
    member = np.zeros((POOL, POOL), dtype=bool)
    member[np.ix_(rows, columns)] = True
    found: np.ndarray = order[member.ravel()[order]]
    return found


def main() -> None:
    """Print the parts, and assert that ranks and correlation are scipy's and cost a part of its time."""
    rng = np.random.default_rng(0)
    meaning = spectrum(rng, POOL, 64) * 2
    noise = 0.5 * rng.standard_normal(meaning.shape, dtype=np.float32)
    texts = np.concatenate([meaning + noise, spectrum(rng, POOL, TEXT_DIM - 64)], axis=1)
    drawn = [rng.permutation(POOL) for _ in range(SEEDS)]
    sides = [(np.sort(order[:N]), np.sort(order[N : 2 * N])) for order in drawn]
    rows, columns = sides[0]
    with threadpool_limits(limits=1):
        wide = [unit(v.astype(np.float64)) for v in (texts, meaning)]
        product, _ = seconds(
            lambda: RankedTables(UnitVectors(texts).take, sides, [SamplePairs((N, N))] * SEEDS)
        )
        bare, _ = seconds(lambda: wide[0] @ wide[0].copy().T)
        keys = [np.rint((v @ v.T) / UNIT).astype(np.int32) for v in wide]
        room = np.empty(N * N, dtype=np.int64)
        x, y = (RankedTable.within(each, rows, columns, room) for each in keys)
        rank, _ = seconds(lambda: RankedTable.within(keys[0], rows, columns, room))
        shuffled = rng.permutation(N * N) << 22
        sort, _ = seconds(lambda: np.sort(shuffled))
        pair, rho = seconds(lambda: spearman(RankedTable(x.twice), y))
        influence, _ = seconds(lambda: influence_sums(x, y, rho, (N, N)))
        slow, (twice, wanted) = seconds(
            lambda: by_scipy(*(k[np.ix_(rows, columns)].ravel() for k in keys)), 1
        )
        order = np.argsort(keys[0].ravel(), kind="stable")
        pick, chosen = seconds(lambda: picked(order, rows, columns), 2)
    in_order = np.sort(keys[0][np.ix_(rows, columns)].ravel())
    assert (keys[0].ravel()[chosen] == in_order).all()
    ours = product / SEEDS + rank + pair + influence
    print(f"CORR of an encoder and seed, {N:,} × {N:,} pairs, {SEEDS} seeds of {POOL:,} × {POOL:,}, in ms:")
    print(f"   product in float64, a seed's part: {product / SEEDS:.0f} (numpy's alone {bare / SEEDS:.0f})")
    print(f"   ranks: {rank:.0f} (numpy's sort of as many whole numbers alone {sort:.0f}; instead of it")
    print(f"      picking the sample's pairs out of all of the pool, sorted before: {pick:.0f})")
    print(f"   correlation: {pair:.0f}; sums of influence, for intervals: {influence:.0f}")
    print(f"   in all {ours:.0f}; scipy's ranks of texts and images, and their correlation: {slow:.0f}")
    same = int(np.count_nonzero(x.twice == twice))
    print(f"{same:,} of {N * N:,} ranks are scipy's; the correlations differ by {abs(rho - wanted):.0e}")
    assert same == N * N
    assert abs(rho - wanted) < 1e-12
    print(f"ratio {slow / ours:.1f} (at least {LEAST:g})")
    assert slow / ours >= LEAST


if __name__ == "__main__":
    main()
