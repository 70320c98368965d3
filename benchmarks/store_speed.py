"""The store: a million vectors of 768 dimensions open in under a second and are read at the speed of memory.

What is compared with is numpy's gather from one memory-mapped .npy, which checks nothing; the store reads a
thousand files and checks every row. All files are in the system's cache; times are processor time. Needs 7 GB
of disk and memory; `python -m benchmarks.store_speed 100000` takes fewer rows.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from xlingual.records import Encoded
from xlingual.store import Store

ROWS = 1_000_000
DIM = 768
SHARD = 1024
OPENING = 1.0  # seconds
# of the time of one map; shuffled is the usual case, since long texts are encoded first
RATIOS = {"in order": 3.0, "shuffled": 1.7}
REPEATS = 3


def keys_of(start: int, stop: int) -> list[bytes]:
    """Return keys as random as digests, the same ones at any time."""
    raw = np.random.default_rng(1).bytes(16 * stop)
    return [raw[16 * row : 16 * row + 16] for row in range(start, stop)]


def fill(root: Path, path: Path, rows: int) -> float:
    """Write the same vectors to a store and to one .npy; return how many rows a second the store took."""
    rng = np.random.default_rng(0)
    collection = Store(root).collection("benchmark")
    mapped = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(rows, DIM))
    keys, spent = keys_of(0, rows), 0.0
    for start in range(0, rows, SHARD):
        block = rng.standard_normal((min(SHARD, rows - start), DIM), dtype=np.float32)
        mapped[start : start + SHARD] = block
        begun = time.process_time()
        collection.add(keys[start : start + SHARD], Encoded(block))
        spent += time.process_time() - begun
    return rows / spent


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the processor seconds that a piece of work takes at its best, and its answer."""
    best, answer = np.inf, None
    for _ in range(REPEATS):
        answer = None  # room for the next one
        begun = time.process_time()
        answer = work()
        best = min(best, time.process_time() - begun)
    return best, answer


def assert_equal(found: np.ndarray, array: np.ndarray, rows: np.ndarray) -> None:
    """Assert that what was found are these rows of the array."""
    for start in range(0, len(rows), SHARD):
        assert np.array_equal(found[start : start + SHARD], array[rows[start : start + SHARD]])


def main(rows: int = ROWS) -> None:
    """Print the times and assert limits and answers."""
    with tempfile.TemporaryDirectory() as folder:
        root, path = Path(folder, "store"), Path(folder, "vectors.npy")
        writing = fill(root, path, rows)
        keys = keys_of(0, rows)
        opening, first = timed(lambda: Store(root).collection("benchmark").find(keys[-1:]))
        assert first.tolist() == [rows - 1]
        collection = Store(root).collection("benchmark")
        finding, numbers = timed(lambda: collection.find(keys))
        assert (numbers == np.arange(rows)).all()
        print(
            f"{rows:,} × {DIM}: written at {writing:,.0f} rows/s, opened in {opening:.2f} s, all keys found "
            f"in {finding:.2f} s"
        )
        ratios = {}
        shuffled = np.random.default_rng(2).permutation(rows)
        for order, wanted in (("in order", numbers), ("shuffled", shuffled)):
            mapped, found = timed(lambda wanted=wanted: np.load(path, mmap_mode="r")[wanted])
            del found
            ours, found = timed(lambda wanted=wanted: collection.read(wanted).vectors)
            assert_equal(found, np.load(path, mmap_mode="r"), wanted)
            ratios[order] = ours / mapped
            print(f"   read {order}: {ours:.2f} s, one map {mapped:.2f} s, ratio {ratios[order]:.2f}")
            del found
    assert opening < OPENING
    assert all(ratios[order] < limit for order, limit in RATIOS.items()), ratios


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
