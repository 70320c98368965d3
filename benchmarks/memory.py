"""Memory beside the vectors in a whole Backretrieval of 100,000 items, and what a million would take.

Each size is a process of its own. Memory grows with the number of items, as there is no matrix: a line
through two sizes gives that of a million. Vectors have few dimensions, so that it takes minutes; `python -m
benchmarks.memory 100000 768 2048` takes the dimensions of the speed benchmark.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.backretrieval import evaluate
from benchmarks.timed import report
from benchmarks.vectors import two_languages

N, MILLION = 100_000, 1_000_000
GIB = 1 << 30
GOALS = {N: GIB, MILLION: 4 * GIB}


def peak() -> int:
    """Return the largest resident size of this process so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def stored(folder: Path, name: str, n: int, d: int) -> np.ndarray:
    """Write random vectors [2n, d] to a mapped file, and read them: mapped pages count as resident."""
    rng = np.random.default_rng(len(name))
    array = np.lib.format.open_memmap(folder / f"{name}.npy", mode="w+", dtype=np.float32, shape=(2 * n, d))
    for start in range(0, 2 * n, 10_000):
        rows = array[start : start + 10_000]
        rows[:] = rng.standard_normal(rows.shape, dtype=np.float32)
    array.sum()
    return array


def measured(n: int, text_dim: int, image_dim: int) -> int:
    """Evaluate in this process, and return the bytes that were added at most."""
    evaluate(two_languages(50), *np.random.default_rng(0).standard_normal((2, 100, 8), dtype=np.float32))
    manifest = two_languages(n)
    with tempfile.TemporaryDirectory() as folder:
        dims = {"texts": text_dim, "images": image_dim}
        texts, images = (stored(Path(folder), name, n, d) for name, d in dims.items())
        before = peak()
        entry = evaluate(manifest, texts, images, examples=False).entries[0]
        added = peak() - before
    assert abs(entry.value - entry.chance) < 5 * (entry.chance / n) ** 0.5, entry  # random vectors: chance
    return added


def in_a_child(n: int, *dims: int) -> int:
    """Measure one size in a process of its own."""
    code = f"from benchmarks.memory import measured; print(measured({n}, *{dims}))"
    python = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(python, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return int(done.stdout.split()[-1])


def main(n: int = N, text_dim: int = 32, image_dim: int = 64) -> None:
    """Print the memory of two sizes, and that of a million by the line through both."""
    half, whole = (in_a_child(size, text_dim, image_dim) for size in (n // 2, n))
    of_an_item = (whole - half) / (n - n // 2)
    sizes = {n // 2: half, n: whole, MILLION: whole + of_an_item * (MILLION - n)}
    rows = [
        [f"{size:,} × {size:,}", round(memory / 2**20), GOALS[size] // 2**20 if size in GOALS else None]
        for size, memory in sizes.items()
    ]
    title = f"Memory beside the vectors, {text_dim}-d texts, {image_dim}-d images"
    report(f"{title}; {of_an_item:,.0f} bytes an item", ["job", "MiB", "goal"], rows)


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:] if word.isdigit()))
