"""What `make gpu` measures: a pass on a GPU against bare products there, up to a million against a million.

`python -m benchmarks.gpu cpu 500` runs the same code on tensors of the processor. Times are of the clock on
the wall. A million vectors of 768 dimensions a side need some 16 GB of the machine's memory.
"""

import sys
import time
from functools import partial

import numpy as np

from benchmarks.ranking import WAY_BACK, answers, check, watchers
from benchmarks.timed import BLOCK, PRODUCT, Job, measure
from benchmarks.vectors import sides
from xlingual.errors import XlingualError
from xlingual.ranking import Cosine, Torch, UnitVectors

SIZES, DIM = (8_000, 100_000, 1_000_000), 768


def multiply(queries: np.ndarray, candidates: np.ndarray, device: str) -> None:
    """Move the vectors to the device, and multiply them there, a block of queries at a time."""
    import torch

    left, right = (torch.from_numpy(side).to(device) for side in (queries, candidates))
    for rows in left.split(BLOCK):
        product = rows @ right.T
    float(product[0, 0])  # waits for the products


def main(device: str = "cuda", *sizes: int) -> None:
    """Print the seconds and ratios of each size; where there is no such device, end with status 1."""
    try:
        ranker = Torch(device)
    except XlingualError as error:
        sys.exit(f"error: the benchmark of a GPU did not run: {error}")
    for n in sizes or SIZES:
        vectors = sides(n, DIM)
        similarity = Cosine(*map(UnitVectors, vectors))
        run = partial(answers, similarity, watchers(similarity)[WAY_BACK], ranker)
        jobs = [Job(PRODUCT, partial(multiply, *vectors, device), None)]
        jobs.append(Job(WAY_BACK, run, check=partial(check, *vectors)))
        measure(f"{n:,} × {n:,}, {DIM} dimensions, {device}", jobs, 3, time.perf_counter)


if __name__ == "__main__":
    main(*sys.argv[1:2], *map(int, sys.argv[2:]))
