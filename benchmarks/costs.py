"""What passes over all pairs cost: constants with their sources, and the formulas that use them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from benchmarks.vectors import spectrum

FLOAT32, FLOAT16 = 4, 2  # bytes


@dataclass(frozen=True)
class Constant:
    """A number, its unit, and where it comes from."""

    value: float
    unit: str
    source: str


MEASURED = {  # on one core of an AMD EPYC (Zen 5); numpy 2.4 with OpenBLAS 0.3.31, faiss 1.15
    "core rate": Constant(
        1.25e11, "FLOP/s", "measured: bare float32 product, 768 and 2048-d; 1.0e11 at 128-d"
    ),
    "texts, per pair": Constant(0.4e-9, "s", "measured: growth, beside the product"),
    "images, per pair": Constant(3.0e-9, "s", "measured: growth, beside the product"),
    "rest, per item": Constant(22e-6, "s", "measured: growth: checks, statistics, tables"),
    "memory": Constant(3.3e8, "bytes", "measured: growth: tiles, and float32 copies of unit vectors"),
    "memory, per item": Constant(2.3e3, "bytes", "measured: growth: of the process that gathers the answer"),
    "uneven lists": Constant(1.3, "", "measured: faiss IVF-flat, vectors looked at against equal lists"),
}
ASSUMED = {
    "share of the matrix peak": Constant(0.6, "", "assumed: large tiles, fp16 and float32 alike"),
    "share of the bandwidth": Constant(0.8, "", "assumed"),
    "texts, tile bytes": Constant(14, "/pair", "counted: write, maximum, compare, list"),
    "images, tile bytes": Constant(36, "/pair", "counted: write, compare and sum twice, two lists"),
    "lists, share of the rate": Constant(0.5, "", "assumed: small products, one for each list"),
    "link": Constant(50e9, "bytes/s", "datasheet: PCIe 5 × 16 has 64e9; 80 % assumed"),
    "network": Constant(12.5e9, "bytes/s", "datasheet: 100 Gbit/s for each node"),
    "shard": Constant(2e6, "rows", "chosen"),
}


def value(name: str) -> float:
    """Return a constant."""
    return (MEASURED | ASSUMED)[name].value


@dataclass(frozen=True)
class Gpu:
    """An accelerator by its datasheet: dense rates, without sparsity."""

    name: str
    half: float  # FLOP/s, fp16 with float32 sums
    single: float  # FLOP/s, float32 without TF32
    double: float  # FLOP/s
    bandwidth: float  # bytes/s of its memory
    memory: float  # bytes


GPUS = (
    Gpu("A100 80 GB", 312e12, 19.5e12, 9.7e12, 2.039e12, 80e9),
    Gpu("H100 80 GB", 989e12, 67e12, 34e12, 3.35e12, 80e9),
    Gpu("H200 141 GB", 989e12, 67e12, 34e12, 4.8e12, 141e9),
)


@dataclass(frozen=True)
class Pass:
    """One pass over n × n pairs of d-dimensional vectors, and the pairs that low precision leaves open."""

    name: str  # "texts" or "images"
    n: float
    d: int
    after_half: float = 0.0  # share of the pairs undecided after fp16
    after_single: float = 0.0  # after float32

    @property
    def pairs(self) -> float:
        """How many scores there are."""
        return self.n * self.n

    @property
    def flop(self) -> float:
        """Multiplications and additions of the product."""
        return 2 * self.d * self.pairs


def memory(n: float) -> float:
    """Return the bytes beside the vectors that the process takes which gathers the answer."""
    return value("memory") + n * value("memory, per item")


def core_seconds(work: Pass, rate: float | None = None, per_pair: float | None = None) -> float:
    """Return the time of a pass on one core: the product, and what the reductions take of each pair."""
    rate = value("core rate") if rate is None else rate
    per_pair = value(f"{work.name}, per pair") if per_pair is None else per_pair
    return work.flop / rate + work.pairs * per_pair


def gpu_seconds(work: Pass, gpu: Gpu, half: bool = True) -> dict[str, float]:
    """Return what a pass on an accelerator takes, by what it goes into.

    Undecided pairs are gathered one by one; both vectors of each are taken to come from memory, none from a
    cache, so that "narrowing" and "deciding" are upper bounds.
    """
    moved = gpu.bandwidth * value("share of the bandwidth")
    gathered = work.pairs * 2 * work.d * FLOAT32 / moved
    peak = (gpu.half if half else gpu.single) * value("share of the matrix peak")
    return {
        "product": work.flop / peak,
        "tiles": work.pairs * value(f"{work.name}, tile bytes") / moved,
        "narrowing": work.after_half * gathered if half else 0.0,
        "deciding": work.after_single * max(gathered, work.flop / gpu.double),
    }


def list_seconds(work: Pass) -> float:
    """Return the time of an inverted file on one core: 4·√n lists; a query looks at 4·√lists of them.

    Filling it (each vector to its nearest centre, k-means on 40 vectors a list in 10 rounds) is a product,
    and so is looking: the queries that look through one list do so together.
    """
    lists = 4 * math.sqrt(work.n)
    share = min(1.0, 4 / math.sqrt(lists) * value("uneven lists"))
    fill = lists * (work.n + 10 * 40 * lists)
    look = work.n * (lists + share * work.n / value("lists, share of the rate"))
    return 2 * work.d * (fill + look) / value("core rate")


def bounds(unit: np.ndarray) -> tuple[float, float]:
    """Return the errors that are allowed for in fp16 and in float32: rounding of the vectors, and of sums.

    Rounding is that of these unit vectors [n, d], the largest of both sides; sums are taken to err by the
    proven d·2⁻²³ on tensor cores and d·2⁻²⁴ in float32, though they err by some √d.
    """
    d = unit.shape[1]
    residual = np.linalg.norm(unit - unit.astype(np.float16), axis=1).max()
    return float(2 * residual + 1.25 * d * 2.0**-23), 2.0**-23 + d * 2.0**-24


def undecided(d: int, decay: float, shift: float, n: int = 20_000, asked: int = 400) -> dict[str, tuple]:
    """Return the shares of pairs that lie within these bounds of their query's threshold.

    The threshold is the score of a random candidate (an encoder that has learnt nothing: most pairs are near
    it), of the 100th nearest, or of the nearest (`Top`). Synthetic vectors of this decay (`spectra`).
    """
    vectors = spectrum(np.random.default_rng(0), n + asked, d, shift, decay).astype(np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    scores = vectors[:asked] @ vectors[asked:].T
    ordered = np.partition(scores, (n - 100, n - 1), axis=1)
    found = {}
    for name, threshold in (
        ("random", scores[:, 0]),
        ("100th", ordered[:, n - 100]),
        ("nearest", ordered[:, n - 1]),
    ):
        gap = np.abs(scores - threshold[:, None])
        found[name] = tuple(
            max(0.0, ((gap <= bound).sum() - asked) / scores.size) for bound in bounds(vectors)
        )
    return found
