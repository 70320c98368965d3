"""What exact Backretrieval costs, on paper: from constants to a table, so that both can be checked.

Each constant says where it comes from: measured (by which benchmark), datasheet, or assumed. Two passes are
counted: texts (nearest target of each source) and pictures (ranks of own pictures, the ten nearest sources
of each target, the nearest target of each source). `python -m benchmarks.growth` holds the same formulas
against measured times; `python -m benchmarks.estimate 1e7 384 512` takes another N and other dimensions.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

from benchmarks.spectra import IMAGE_DECAY, IMAGE_SHIFT, TEXT_DECAY
from benchmarks.vectors import spectrum
from xlingual.ranking import Cosine, Counts, Cpu, Top, Transposed, UnitVectors

FLOAT32, FLOAT16 = 4, 2  # bytes
HOUR = 3600.0


@dataclass(frozen=True)
class Constant:
    """A number, its unit, and where it comes from."""

    value: float
    unit: str
    source: str


MEASURED = {  # on one core of an AMD EPYC (Zen 5), numpy 2.4 with OpenBLAS
    "core rate": Constant(1.22e11, "FLOP/s", "measured: ranking_speed, bare float32 product, 128 to 2048-d"),
    "texts, per pair": Constant(0.4e-9, "s", "measured: growth, beside the product"),
    "pictures, per pair": Constant(3.0e-9, "s", "measured: growth, beside the product"),
    "rest, per item": Constant(40e-6, "s", "measured: growth, checks, statistics and tables"),
    "home memory, per item": Constant(4e3, "bytes", "measured: growth, of what gathers the answer"),
}


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
    Gpu("A100 80 GB SXM", 312e12, 19.5e12, 9.7e12, 2.039e12, 80e9),
    Gpu("H100 80 GB SXM", 989e12, 67e12, 34e12, 3.35e12, 80e9),
    Gpu("H200 141 GB SXM", 989e12, 67e12, 34e12, 4.8e12, 141e9),
)
ASSUMED = {
    "share of the matrix peak": Constant(0.6, "", "assumed: large tiles, fp16 and float32 alike"),
    "share of the bandwidth": Constant(0.8, "", "assumed"),
    "texts, tile bytes per pair": Constant(14, "bytes", "counted: score written, max, compare, list"),
    "pictures, tile bytes per pair": Constant(36, "bytes", "counted: two compares and sums, two lists"),
    "fp16 bound": Constant(4.2e-4, "", "derived: ranking, screen and decide in fp16 (unit vectors)"),
    "float32 bound": Constant(5e-6, "", "derived: half the band at 2048-d"),
    "link": Constant(50e9, "bytes/s", "datasheet: PCIe 5 × 16 has 64e9; assumed 80 %"),
    "network": Constant(12.5e9, "bytes/s", "datasheet: 100 Gbit/s a node"),
    "gpus per node": Constant(8, "", "assumed"),
    "shard": Constant(2e6, "rows", "chosen"),
}
TEXT_DIM, IMAGE_DIM = 768, 2048
COUNT_BYTES, LINE_BYTES = 16, 33  # of a part, for each pair counted and each candidate listed: `parts_hold`
TOP = 10


def core_seconds(pairs: float, d: int, rate: float, per_pair: float) -> float:
    """Return the time of a pass on one core: the product, and what the reductions take of each pair."""
    return pairs * (2 * d / rate + per_pair)


@dataclass(frozen=True)
class GpuPass:
    """Seconds of one pass on one accelerator, by what they go into."""

    product: float
    tiles: float  # reductions read the tile from memory
    narrow: float  # undecided pairs in float32, gathered
    decide: float  # what is left, in float64, gathered

    @property
    def total(self) -> float:
        """All of it, one after the other."""
        return self.product + self.tiles + self.narrow + self.decide


def gpu_pass(gpu: Gpu, pairs: float, d: int, tile_bytes: float, undecided: tuple[float, float]) -> GpuPass:
    """Return what a pass in certified fp16 takes; `undecided` are shares after fp16 and after float32."""
    share, bandwidth = (ASSUMED[f"share of the {what}"].value for what in ("matrix peak", "bandwidth"))
    moved = gpu.bandwidth * bandwidth
    gathered = pairs * 2 * d * FLOAT32 / moved  # both vectors of every pair, none found in a cache
    return GpuPass(
        pairs * 2 * d / (gpu.half * share),
        pairs * tile_bytes / moved,
        undecided[0] * gathered,
        undecided[1] * max(gathered, pairs * 2 * d / gpu.double),
    )


def gpu_pass_single(gpu: Gpu, pairs: float, d: int, tile_bytes: float, undecided: float) -> GpuPass:
    """Return what a pass in float32 takes."""
    whole = gpu_pass(gpu, pairs, d, tile_bytes, (0.0, undecided))
    share = ASSUMED["share of the matrix peak"].value
    return GpuPass(pairs * 2 * d / (gpu.single * share), whole.tiles, 0.0, whole.decide)


def undecided_shares(
    d: int, decay: float, shift: float, n: int = 20_000, asked: int = 400
) -> dict[str, tuple[float, float]]:
    """Return the shares of pairs within the fp16 and the float32 bound of their query's threshold.

    Thresholds are scores of a random candidate (an encoder that has learnt nothing: the most pairs are
    near it), of the 100th nearest, and of the nearest (`Top`).
    """
    vectors = spectrum(np.random.default_rng(0), n + asked, d, shift, decay).astype(np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    scores = vectors[:asked] @ vectors[asked:].T
    ordered = np.partition(scores, (n - 100, n - 1), axis=1)
    bounds = [ASSUMED[f"{precision} bound"].value for precision in ("fp16", "float32")]
    found = {}
    for name, threshold in (
        ("random", scores[:, 0]),
        ("100th", ordered[:, n - 100]),
        ("nearest", ordered[:, n - 1]),
    ):
        gap = np.abs(scores - threshold[:, None])
        shares = [max(0.0, ((gap <= bound).sum() - asked) / scores.size) for bound in bounds]
        found[name] = (shares[0], shares[1])
    return found


def parts_hold(n: int = 4096, d: int = 16) -> tuple[float, float]:
    """Return the bytes that a part of the picture pass keeps, for each row and for each column.

    Measured on real parts, so that the constants follow the code.
    """
    rng = np.random.default_rng(0)
    rows, columns = (UnitVectors(rng.standard_normal((n, d), dtype=np.float32)) for _ in range(2))
    similarity, own = Cosine(rows, columns), np.arange(n)
    reductions = [Counts.of(similarity, own, own), Top(TOP, (n, n)), Transposed(Top(1, (n, n)))]
    Cpu().scan(similarity, reductions)
    sizes = [sum(array.nbytes for array in reduction.state().values()) / n for reduction in reductions]
    assert abs(sizes[0] - COUNT_BYTES) < 1, sizes
    assert abs(sizes[1] - TOP * LINE_BYTES) < 1, sizes
    assert abs(sizes[2] - LINE_BYTES) < 1, sizes
    return sizes[0] + sizes[1], sizes[2]


def shown(seconds: float) -> str:
    """Return a time in words."""
    for unit, size in (("years", 8766 * HOUR), ("days", 24 * HOUR), ("h", HOUR), ("min", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.3g} {unit}"
    return f"{seconds:.2g} s"


def shown_bytes(count: float) -> str:
    """Return a size in words."""
    for unit, size in (("PB", 1e15), ("TB", 1e12), ("GB", 1e9)):
        if count >= size:
            return f"{count / size:,.3g} {unit}"
    return f"{count / 1e6:,.3g} MB"


def one_core(n: float, dims: tuple[int, int]) -> float:
    """Return the seconds of a whole evaluation on one core."""
    rate = MEASURED["core rate"].value
    passes = (
        core_seconds(n * n, d, rate, MEASURED[f"{what}, per pair"].value)
        for what, d in zip(("texts", "pictures"), dims, strict=True)
    )
    return sum(passes) + n * MEASURED["rest, per item"].value


def one_gpu(gpu: Gpu, n: float, dims: tuple[int, int], shares) -> tuple[GpuPass, GpuPass]:
    """Return the text pass and the picture pass of one accelerator."""
    return (
        gpu_pass(gpu, n * n, dims[0], ASSUMED["texts, tile bytes per pair"].value, shares["texts"]["nearest"]),
        gpu_pass(
            gpu, n * n, dims[1], ASSUMED["pictures, tile bytes per pair"].value, shares["pictures"]["random"]
        ),
    )


def main(n: float = 1e8, text_dim: float = TEXT_DIM, image_dim: float = IMAGE_DIM) -> None:
    """Print the constants, the work, and what it takes."""
    dims = (int(text_dim), int(image_dim))
    for name, constant in {**MEASURED, **ASSUMED}.items():
        print(f"{name:32s} {constant.value:10.3g} {constant.unit:8s} {constant.source}")
    shares = {
        "texts": undecided_shares(dims[0], TEXT_DECAY, 0.0),
        "pictures": undecided_shares(dims[1], IMAGE_DECAY, IMAGE_SHIFT),
    }
    print("\nundecided pairs, synthetic vectors with the spectra of real ones (spectra), after fp16 and float32")
    for what, by_threshold in shares.items():
        row = ", ".join(f"{name} {a:.2%} and {b:.1e}" for name, (a, b) in by_threshold.items())
        print(f"   {what:10s} threshold: {row}")
    _print_work(n, dims)
    _print_gpus(n, dims, shares)
    _print_moved(n, dims)
    print(f"\nby N, {dims[0]}-d texts, {dims[1]}-d pictures: one core | 32 cores | one {GPUS[1].name} | 64 of them")
    for size in (1e4, 1e5, 1e6, 1e7, 1e8):
        core, gpu = one_core(size, dims), sum(p.total for p in one_gpu(GPUS[1], size, dims, shares))
        home = size * MEASURED["rest, per item"].value
        print(
            f"   {size:.0e}  {shown(core):>12s} {shown((core - home) / 32 + home):>12s} "
            f"{shown(gpu + home):>12s} {shown(gpu / 64 + home):>12s}"
            f"   memory beside vectors {shown_bytes(size * MEASURED['home memory, per item'].value)}"
        )


def _print_work(n: float, dims: tuple[int, int]) -> None:
    flop = [2 * n * n * d for d in dims]
    print(f"\nN = {n:.0e}: {n * n:.0e} pairs a pass; {flop[0]:.3g} + {flop[1]:.3g} = {sum(flop):.3g} FLOP")
    print(f"   one core, float32: {shown(one_core(n, dims))} ({one_core(n, dims) / HOUR:,.0f} core-hours)")


def _print_gpus(n: float, dims: tuple[int, int], shares) -> None:
    print("   GPU-hours, certified fp16: product + tiles + narrowing + float64 (float32 throughout)")
    for gpu in GPUS:
        passes = one_gpu(gpu, n, dims, shares)
        single = (
            gpu_pass_single(
                gpu,
                n * n,
                dims[0],
                ASSUMED["texts, tile bytes per pair"].value,
                shares["texts"]["nearest"][1],
            ),
            gpu_pass_single(
                gpu,
                n * n,
                dims[1],
                ASSUMED["pictures, tile bytes per pair"].value,
                shares["pictures"]["random"][1],
            ),
        )
        for what, certified, plain in zip(("texts", "pictures"), passes, single, strict=True):
            parts = " + ".join(
                f"{seconds / HOUR:.1f}"
                for seconds in (certified.product, certified.tiles, certified.narrow, certified.decide)
            )
            print(
                f"   {gpu.name:16s} {what:9s} {parts} = {certified.total / HOUR:.0f} ({plain.total / HOUR:.0f})"
            )


def _print_moved(n: float, dims: tuple[int, int]) -> None:
    shard = ASSUMED["shard"].value
    per_row, per_column = parts_hold()
    tasks = (n / shard) ** 2
    network = sum(tasks * 2 * shard * d * FLOAT32 for d in dims)
    nodes = ASSUMED["network"].value
    stored = sum(2 * n * d * FLOAT32 for d in dims)
    gpu = GPUS[1]
    print(f"   shards of {shard:.0e} rows: {tasks:,.0f} tasks a pass")
    print(
        f"   read from shared storage: {shown_bytes(network)}, {shown(network / nodes)} of one node's network "
        f"at {nodes / 1e9:g} GB/s"
    )
    for what, d in zip(("texts", "pictures"), dims, strict=True):
        resident = gpu.memory / 2 / (d * (FLOAT16 + FLOAT32))
        moved = max(1.0, n / resident) * n * d * (FLOAT16 + FLOAT32)
        print(
            f"   {what}: {resident:.2g} queries stay on one {gpu.name}; streamed to it {shown_bytes(moved)}, "
            f"{shown(moved / ASSUMED['link'].value)} of its link, beside the work"
        )
    print(f"   stored: vectors {shown_bytes(stored)} in float32, {shown_bytes(stored / 2)} in float16")
    parts = tasks * shard * (per_row + per_column)
    print(
        f"   parts of the picture pass: {shown_bytes(parts / tasks)} each; {shown_bytes(parts)} if all were kept, "
        f"{shown_bytes(n * (per_row + per_column))} merged"
    )
    print(f"   memory at home: {shown_bytes(n * MEASURED['home memory, per item'].value)}")


if __name__ == "__main__":
    main(*(float(argument) for argument in sys.argv[1:]))
