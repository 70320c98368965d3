"""Vectors in files that are larger than what is copied: how much of the program's own memory they take.

Two languages of n texts, and images: from the manifest to the first tile of texts, where all vectors have
been gone through once. Pages of the mapped files are the system's, and are given up when it needs them; they
are printed apart. `python -m benchmarks.memory_of_files 500000 128` takes a minute.
"""

from __future__ import annotations

import re
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

from xlingual import Manifest, arrays
from xlingual.evaluation.pair_run import PairRun
from xlingual.evaluation.passes import TextUnion
from xlingual.evaluation.run import Options
from xlingual.ranking import CPU
from xlingual.ranking import vectors as unit_vectors
from xlingual.ranking.tiles import Device

TILE = (1024, 4096)


def resident() -> dict[str, int]:
    """Return the resident bytes of this process: its own ("Anon") and pages of files ("File")."""
    status = Path("/proc/self/status").read_text()
    return {kind: int(size) * 1024 for kind, size in re.findall(r"Rss(Anon|File):\s+(\d+) kB", status)}


def write(path: Path, n: int, d: int, seed: int) -> None:
    """Write random vectors [n, d], two of them equal."""
    rng = np.random.default_rng(seed)
    array = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n, d))
    for start in range(0, n, 10_000):
        array[start : start + 10_000] = rng.standard_normal((min(10_000, n - start), d), dtype=np.float32)
    array[1] = array[0]


def main(n: int = 200_000, d: int = 128) -> None:
    """Print what vectors took at each stage, and assert that most of them stayed in the files."""
    arrays.IN_MEMORY = unit_vectors.CACHE_BYTES = 1 << 20  # so that a small test is as a large one
    rows = [{"id": f"{lang}{i}", "lang": lang, "text": str(i)} for i in range(n) for lang in ("en", "de")]
    manifest = Manifest.of([row | {"item": f"{row['lang']}{i}"} for i, row in enumerate(rows)])
    del rows
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder, size = Path(name), 4 * n * d
        for seed, (lang, count) in enumerate((("en", n), ("de", n), ("images", 2 * n))):
            write(folder / f"{lang}.npy", count, d, seed)
        spec = f"vectors:{folder}/images.npy"
        run = PairRun("backretrieval", manifest, Options(pairs="en-de"), matching=False, image_spec=spec)
        run.prepare(f"vectors:{folder}/{{lang}}.npy")
        before = resident()
        print(f"{n:,} texts of each language, {d} dimensions: {4 * size / 2**20:,.0f} MiB of vectors")
        images = run.images()[2]
        reported("images", before)
        assert len(images.points) == 2 * n - 1  # two are equal
        for _, vectors in run.encoded():
            sample = run.tasks[0].sample
            union = TextUnion(vectors, [sample], CPU)
            rows_of_tile, columns = (slice(0, min(length, n - 1)) for length in TILE)
            scores = union.similarity.panel(columns, Device())(rows_of_tile, None)
            assert abs(scores[3, 5] * 1e9 - union.similarity.keys(np.array([3]), np.array([5]))[0]) < 2000
            own = reported("texts, first tile", before)
    assert own < size, f"{own:,} bytes for {4 * size:,} of vectors"  # numbers of rows, codes, one tile


def reported(what: str, before: dict[str, int]) -> int:
    """Print what has been added since, and return the program's own part in bytes."""
    more = {kind: size - before[kind] for kind, size in resident().items()}
    own, files = (more[kind] / 2**20 for kind in ("Anon", "File"))
    print(f"   {what:18} own memory {own:6.0f} MiB, pages of files {files:6.0f} MiB")
    return more["Anon"]


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
