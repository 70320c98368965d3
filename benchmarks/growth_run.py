"""One size of `growth`: exact Backretrieval of synthetic vectors, its time and its memory."""

from __future__ import annotations

import json
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from xlingual.ranking.scan import TilePlan

from benchmarks.memory import peak
from benchmarks.spectra import IMAGE_DECAY, IMAGE_SHIFT, TEXT_DECAY
from benchmarks.vectors import Given, spectrum, two_languages
from xlingual import backretrieval
from xlingual.ranking import Cpu, one_library_thread

SHARED = 32  # dimensions that texts and images share: so the encoder is no random one
BLOCK = 10_000
CHECKED = 40  # queries compared with float64
REPEATED = 30_000  # sizes up to this one are measured three times; their medians count


@dataclass(frozen=True)
class Run:
    """What one size took."""

    n: int
    text_dim: int
    image_dim: int
    threads: int
    texts: float  # s: the pass over texts
    images: float  # s: the pass over images
    rest: float  # s: checks, statistics, tables
    bare_texts: float  # s: the float32 product alone, from a few tiles
    bare_images: float
    memory: float  # bytes beside the vectors
    decided: float  # share of the pairs that were scored in float64
    value: float

    @property
    def dims(self) -> tuple[int, int]:
        """Dimensions of texts and of images."""
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
    """Write 2n text vectors and as many image vectors to memory-mapped files, and read them once."""
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
    height, width = TilePlan((n, n)).size
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


def measure(n: int, text_dim: int, image_dim: int, threads: int = 1) -> None:
    """Measure one size, and print it as a line of JSON."""
    manifest, few = two_languages(n), two_languages(50)
    rng = np.random.default_rng(0)
    warm = [Given(rng.standard_normal((100, 8), dtype=np.float32), name) for name in ("warm", "up")]
    backretrieval(few, text_encoders={"warm": warm[0]}, image_encoder=warm[1], pairs="en-de")  # imports
    with tempfile.TemporaryDirectory() as folder:
        texts, images = stored(Path(folder), n, (text_dim, image_dim))
        before, times = peak(), []
        for _ in range(3 if n <= REPEATED else 1):
            products = bare(texts, n), bare(images, n)
            ranker, begun = Timed(Cpu(threads=threads)), time.process_time()
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
        *(n, text_dim, image_dim, threads, *np.median(times, axis=0).tolist(), memory),
        decided=counted["pairs_decided"] / counted["pairs_screened"],
        value=results.entries[0].value,
    )
    print(json.dumps(asdict(run)))
