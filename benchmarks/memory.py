"""Memory beside the vectors at N = 100,000: stays under a GiB, because there is no matrix.

The vectors have few dimensions so that it takes minutes; `python -m benchmarks.memory 768 2048` takes the
dimensions of the speed benchmark and a good part of an hour.
"""

from __future__ import annotations

import resource
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.vectors import Given, two_languages
from xlingual import backretrieval

N = 100_000
LIMIT = 1 << 30


def peak() -> int:
    """Return the largest resident size of this process so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def stored(folder: Path, name: str, d: int) -> np.ndarray:
    """Return random vectors [2N, d] in a memory-mapped file: pages of it are the system's, not ours."""
    rng = np.random.default_rng(len(name))
    array = np.lib.format.open_memmap(folder / f"{name}.npy", mode="w+", dtype=np.float32, shape=(2 * N, d))
    for start in range(0, 2 * N, 10_000):
        array[start : start + 10_000] = rng.standard_normal((10_000, d), dtype=np.float32)
    return array


def main(text_dim: int = 32, image_dim: int = 64) -> None:
    """Print the extra memory of one evaluation and assert the limit."""
    manifest = two_languages(N)
    with tempfile.TemporaryDirectory() as folder:
        texts = stored(Path(folder), "texts", text_dim)
        images = stored(Path(folder), "images", image_dim)
        texts.sum(), images.sum()  # mapped pages count as resident: have them before the measurement
        before = peak()
        results = backretrieval(
            manifest,
            text_encoders={"given": Given(texts)},
            image_encoder=Given(images, "images"),
            pairs="en-de",
            threads=1,
            examples=False,
        )
        extra = peak() - before
    entry = results.entries[0]
    assert abs(entry.value - entry.chance) < 5 * (entry.chance / N) ** 0.5, entry  # random vectors: chance
    print(f"N {N:,}, {text_dim}-d texts, {image_dim}-d images: extra memory {extra / 2**20:.0f} MiB")
    print("   " + ", ".join(f"{stage} {s:.0f} s" for stage, s in results.timings.items()))
    assert extra < LIMIT


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
