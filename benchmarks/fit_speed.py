"""Fitting a transform on many vectors, read from a file: against the bare product of its rows.

`python -m benchmarks fit_speed` fits centring and whitening by language on 1,000,000 × 768 vectors of four
languages that lie in a file, and times the sum of x·xᵀ alone; moments are asserted to equal those of numpy.
`python -m benchmarks.fit_speed 100000 384` takes fewer.
"""

from __future__ import annotations

import sys
import time
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.timed import table
from xlingual.transforms import methods
from xlingual.transforms.moments import FitData

TAGS = ("de", "en", "hi", "zh")
ROWS = 8192


def main(n: int = 1_000_000, dim: int = 768) -> None:
    """Write the file, fit, and print the times."""
    rng = np.random.default_rng(0)
    with TemporaryDirectory() as folder:
        path = f"{folder}/vectors.npy"
        made = np.lib.format.open_memmap(path, "w+", np.float32, (n, dim))
        for start in range(0, n, ROWS):
            block = rng.normal(size=(min(ROWS, n - start), dim)).astype(np.float32)
            made[start : start + ROWS] = block / np.linalg.norm(block, axis=1, keepdims=True)
        made.flush()
        vectors = np.load(path, mmap_mode="r")
        languages = [TAGS[row % 4] for row in range(n)]
        begin = time.process_time()
        product = np.zeros((dim, dim))
        for start in range(0, n, ROWS):
            x = vectors[start : start + ROWS].astype(np.float64)
            product += x.T @ x
        bare = time.process_time() - begin
        data = FitData(vectors, languages)
        begin = time.process_time()
        moments = data.moments
        counted = time.process_time() - begin
        fits = {}
        for name, fit in (
            ("centre", methods.centre),
            ("whiten", methods.whiten),
            ("lir:3", lambda d: methods.lir(d, 3)),
        ):
            begin = time.process_time()
            fit(data)
            fits[name] = time.process_time() - begin
        second = sum(part.count * part.second for part in moments.values())
        np.testing.assert_allclose(second, product, rtol=1e-4, atol=1e-6 * n)
        rows = [["what", "seconds of processor time", "times the bare product"]]
        times = {"x·xᵀ of all rows": bare, "moments by language, unit length": counted, **fits}
        rows += [[what, f"{seconds:.2f}", f"{seconds / bare:.2f}"] for what, seconds in times.items()]
        table(f"{n:,} × {dim} vectors in a file, {len(TAGS)} languages", rows)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
