"""How time and memory of exact Backretrieval grow with N: 10,000 to a million, with fitted exponents.

Each size is measured in a process of its own and kept in `out/growth/growth.csv` (a size that is there is
not measured again), with a figure beside it. Time is processor time on one thread. Vectors have the spectra
of real ones (`spectra`) and are memory-mapped; memory is what comes on top of them. In every run ranks of
single queries are held against float64, and times against the formula of `estimate`.

    python -m benchmarks.growth                                            # 10,000, 30,000 and 100,000
    python -m benchmarks.growth 300000 1000000                             # 20 minutes; 3 to 4 hours
    python -m benchmarks.growth --dims 768 2048 10000 30000
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np
from scipy.stats import t as student

from benchmarks.estimate import core_seconds
from benchmarks.memory import peak
from benchmarks.spectra import IMAGE_DECAY, IMAGE_SHIFT, TEXT_DECAY
from benchmarks.vectors import Given, spectrum, two_languages

SIZES, DIMS = (10_000, 30_000, 100_000), (128, 256)
SHARED = 32  # dimensions that texts and pictures share: so the encoder is no random one
BLOCK = 10_000
CHECKED = 40  # queries held against float64
REPEATED = 30_000  # sizes up to this one are measured three times; their medians count
CALIBRATED = 30_000  # constants of the formula are taken from this size
NEAR = 0.15  # the formula may be off by so much


@dataclass(frozen=True)
class Run:
    """What one size took."""

    n: int
    text_dim: int
    image_dim: int
    texts: float  # s: the pass over texts
    pictures: float  # s: the pass over pictures
    rest: float  # s: checks, statistics, tables
    bare_texts: float  # s: the float32 product alone, from a few tiles
    bare_pictures: float
    memory: float  # bytes beside the vectors
    decided: float  # share of the pairs that were scored in float64
    value: float

    @property
    def dims(self) -> tuple[int, int]:
        """Dimensions of texts and of pictures."""
        return self.text_dim, self.image_dim


class Timed:
    """A ranker that notes what each pass takes."""

    def __init__(self, inner) -> None:
        self.inner, self.seconds = inner, []

    def scan(self, similarity, reductions, *, progress=None) -> None:
        """Let every reduction see every pair once."""
        begun = time.process_time()
        self.inner.scan(similarity, reductions, progress=progress)
        self.seconds.append(time.process_time() - begun)

    def about(self) -> dict[str, str | int | float]:
        """Return what ranked."""
        return self.inner.about()


def stored(folder: Path, n: int, dims: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Write 2n text vectors and as many picture vectors to memory-mapped files, and read them once."""
    rng = np.random.default_rng(n)
    texts, images = (
        np.lib.format.open_memmap(folder / f"{name}.npy", mode="w+", dtype=np.float32, shape=(2 * n, d))
        for name, d in zip(("texts", "images"), dims, strict=True)
    )
    for start in range(0, 2 * n, BLOCK):
        rows = slice(start, min(start + BLOCK, 2 * n))
        texts[rows] = spectrum(rng, rows.stop - start, dims[0], decay=TEXT_DECAY)
        images[rows] = spectrum(rng, rows.stop - start, dims[1], IMAGE_SHIFT, IMAGE_DECAY)
        images[rows, :SHARED] += texts[rows, :SHARED]
    texts.sum(), images.sum()  # mapped pages count as resident: have them before the measurement
    return texts, images


def bare(raw: np.ndarray, n: int, tiles: int = 12) -> float:
    """Return the seconds that the float32 product of n × n pairs takes, from a few of the ranker's tiles."""
    from xlingual.ranking import one_library_thread
    from xlingual.ranking.scan import Plan

    height, width = Plan((n, n)).size
    left, right = np.array(raw[:height]), np.array(raw[n : n + width])
    out = np.empty((len(left), len(right)), dtype=np.float32)
    with one_library_thread():
        np.matmul(left, right.T, out=out)
        begun = time.process_time()
        for _ in range(tiles):
            np.matmul(left, right.T, out=out)
    return (time.process_time() - begun) / tiles * n * n / out.size


def nearest(vectors: np.ndarray, query: np.ndarray, low: int, high: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (best row, its score) among rows low to high for unit queries [q, d], in float64."""
    best, place = np.full(len(query), -np.inf), np.zeros(len(query), dtype=np.int64)
    for start in range(low, high, BLOCK):
        scores = query @ unit(vectors[start : min(start + BLOCK, high)]).T
        here = scores.argmax(axis=1)
        found = scores[np.arange(len(query)), here]
        place, best = np.where(found > best, here + start, place), np.maximum(found, best)
    return place, best


def unit(vectors: np.ndarray) -> np.ndarray:
    """Return float64 unit vectors."""
    wide = vectors.astype(np.float64)
    return wide / np.linalg.norm(wide, axis=1, keepdims=True)


def assert_ranks(texts: np.ndarray, images: np.ndarray, n: int, above: np.ndarray) -> None:
    """Assert that single queries' ranks are those of a plain float64 evaluation."""
    rows = np.linspace(0, n - 1, CHECKED).astype(np.int64)
    target, _ = nearest(texts, unit(texts[rows]), n, 2 * n)
    start_from, own = unit(images[target]), unit(images[rows])
    threshold = np.rint((start_from * own).sum(axis=1) * 1e9)
    higher = np.zeros(CHECKED, dtype=np.int64)
    for start in range(0, n, BLOCK):
        scores = np.rint(start_from @ unit(images[start : min(start + BLOCK, n)]).T * 1e9)
        higher += (scores > threshold[:, None]).sum(axis=1)
    np.testing.assert_array_equal(above[rows], higher)


def measure(n: int, text_dim: int, image_dim: int) -> None:
    """Measure one size, and print it as a line of JSON."""
    from xlingual import backretrieval
    from xlingual.ranking import Cpu

    manifest, few = two_languages(n), two_languages(50)
    rng = np.random.default_rng(0)
    warm = [Given(rng.standard_normal((100, 8), dtype=np.float32), name) for name in ("warm", "up")]
    backretrieval(few, text_encoders={"warm": warm[0]}, image_encoder=warm[1], pairs="en-de")  # imports
    with tempfile.TemporaryDirectory() as folder:
        texts, images = stored(Path(folder), n, (text_dim, image_dim))
        before, times = peak(), []
        for _ in range(3 if n <= REPEATED else 1):
            products = bare(texts, n), bare(images, n)
            ranker, begun = Timed(Cpu()), time.process_time()
            results = backretrieval(
                manifest,
                text_encoders={"given": Given(texts)},
                image_encoder=Given(images, "images"),
                pairs="en-de",
                ranker=ranker,
                examples=False,
            )
            whole = time.process_time() - begun
            assert len(ranker.seconds) == 2, ranker.seconds
            times.append([*ranker.seconds, whole - sum(ranker.seconds), *products])
        memory = peak() - before
        rows = results.per_query.filter(np.array(results.per_query["measure"]) == "R@10")
        assert_ranks(texts, images, n, rows["above"].to_numpy())
    counted = results.diagnostics
    run = Run(
        *(n, text_dim, image_dim, *np.median(times, axis=0).tolist(), memory),
        decided=counted["pairs_decided"] / counted["pairs_screened"],
        value=results.entries[0].value,
    )
    print(json.dumps(asdict(run)))


def measured(path: Path, sizes: Sequence[int], dims: tuple[int, int]) -> list[Run]:
    """Return the runs of these sizes and all others of these dimensions that the file has; new ones are added."""
    runs: list[Run] = []
    if path.exists():
        with path.open(newline="") as lines:
            kinds = {"n": int, "text_dim": int, "image_dim": int}
            runs = [Run(**{k: kinds.get(k, float)(v) for k, v in row.items()}) for row in csv.DictReader(lines)]
    for n in sizes:
        if any(run.n == n and run.dims == dims for run in runs):
            continue
        code = f"from benchmarks.growth import measure; measure({n}, {dims[0]}, {dims[1]})"
        done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
        runs.append(Run(**json.loads(done.stdout.splitlines()[-1])))
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, [field.name for field in fields(Run)])
            writer.writeheader()
            writer.writerows(asdict(run) for run in sorted(runs, key=lambda run: (*run.dims, run.n)))
    return sorted((run for run in runs if run.dims == dims), key=lambda run: run.n)


def exponent(n: Sequence[float], values: Sequence[float]) -> tuple[float, float]:
    """Return (slope of log value over log n, half its 95 % interval: NaN below three points)."""
    x, y = np.log(n), np.log(values)
    slope, start = np.polyfit(x, y, 1)
    free = len(x) - 2
    if free < 1:
        return float(slope), float("nan")
    error = np.sqrt(((y - slope * x - start) ** 2).sum() / free / ((x - x.mean()) ** 2).sum())
    return float(slope), float(student.ppf(0.975, free) * error)


def predicted(run: Run, from_run: Run) -> tuple[float, float]:
    """Return the seconds of both passes by the formula of `estimate`, with constants of another run."""
    found = []
    for what, d in zip(("texts", "pictures"), from_run.dims, strict=True):
        seconds, product = getattr(from_run, what), getattr(from_run, f"bare_{what}")
        pairs = from_run.n**2
        rate, per_pair = 2 * d * pairs / product, (seconds - product) / pairs
        found.append(core_seconds(run.n**2, run.dims[len(found)], rate, per_pair))
    return found[0], found[1]


def figure(runs: Sequence[Run], path: Path) -> None:
    """Draw times and memory over N."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    n = np.array([run.n for run in runs])
    panels, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for what, mark in (("texts", "o"), ("pictures", "s"), ("rest", "^")):
        left.loglog(n, [getattr(run, what) for run in runs], mark + "-", label=what)
    product = np.array([run.bare_texts + run.bare_pictures for run in runs])
    left.loglog(n, product, "k:", label="both bare float32 products")
    left.set(xlabel="N sources, N targets", ylabel="processor time, s")
    left.legend(frameon=False)
    right.loglog(n, [run.memory / 2**20 for run in runs], "o-", label="beside the vectors")
    right.loglog(n, [2 * run.n * sum(run.dims) * 4 / 2**20 for run in runs], "k:", label="the vectors")
    right.loglog(n, n.astype(float) ** 2 * 4 / 2**20, "--", color="0.6", label="one N × N matrix, never held")
    right.set(xlabel="N", ylabel="MiB")
    right.legend(frameon=False)
    panels.savefig(path, dpi=150)


def main(sizes: Sequence[int] = SIZES, dims: tuple[int, int] = DIMS, out: str = "out/growth") -> None:
    """Print and draw how times and memory grow; assert that the formula predicts them."""
    runs = measured(Path(out, "growth.csv"), sizes, dims)
    known = next((run for run in runs if run.n >= CALIBRATED), runs[0])
    print(f"{dims[0]}-d texts, {dims[1]}-d pictures, one thread, processor time")
    ratios = {}
    for run in runs:
        parts = predicted(run, known)
        ratios[run.n] = sum(parts) / (run.texts + run.pictures)
        per_pair = [(run.texts - run.bare_texts) / run.n**2, (run.pictures - run.bare_pictures) / run.n**2]
        print(
            f"N {run.n:9,}: texts {run.texts:8.1f} s ({run.texts / run.bare_texts:.2f} × product), pictures "
            f"{run.pictures:8.1f} s ({run.pictures / run.bare_pictures:.2f} ×), rest {run.rest:6.1f} s; "
            f"{run.memory / 2**20:6.0f} MiB; beside the product {per_pair[0] * 1e9:.2f} and "
            f"{per_pair[1] * 1e9:.2f} ns a pair; decided {run.decided:.1e}; predicted/measured {ratios[run.n]:.2f}"
        )
    if len(runs) > 1:
        for what in ("texts", "pictures", "rest", "memory"):
            slope, half = exponent([run.n for run in runs], [getattr(run, what) for run in runs])
            print(f"   {what:9s} grows as N^{slope:.2f} ± {half:.2f}")
        line = np.polyfit([run.n for run in runs], [run.memory for run in runs], 1)
        rest = np.polyfit([run.n for run in runs], [run.rest for run in runs], 1)
        print(f"   memory {line[1] / 2**20:.0f} MiB + {line[0]:.0f} bytes × N; rest {rest[0] * 1e6:.0f} µs × N")
        figure(runs, Path(out, f"growth-{dims[0]}-{dims[1]}.png"))
    beyond = {n: ratio for n, ratio in ratios.items() if n > known.n}
    assert all(abs(ratio - 1) < NEAR for ratio in beyond.values()), beyond


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("sizes", nargs="*", type=int, default=list(SIZES))
    parser.add_argument("--dims", nargs=2, type=int, default=list(DIMS))
    parser.add_argument("--out", default="out/growth")
    options = parser.parse_args()
    main(options.sizes, tuple(options.dims), options.out)
