"""Ranking with torch: certified fp16 against float32 and the processor; what the screen leaves open.

`python -m benchmarks.torch_speed N DIM DEVICE` (8000 768, and CUDA where there is one). Beside a time stand
its shares of two rates that are measured in the same run: that of bare products of the same depth, and the
peak, the best rate of large square products in that precision. With N = 1000000 it ranks a million against a
million, and compares a sample of queries with the processor. `make gpu` runs it at several sizes.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass

import numpy as np
from xlingual.ranking.torch import TorchRanker
from xlingual.ranking.torch.arithmetic import Arithmetic, exact_settings

from benchmarks.vectors import spectrum
from xlingual.errors import XlingualError
from xlingual.ranking import Cosine, Counts, Cpu, Ranker, Top, UnitVectors

N, DIM = 8000, 768
ROUNDS = 3
WHOLE = 20_000  # up to so many queries every ranker makes the whole pass
SAMPLE = 500  # queries that the processor ranks where there are more
PEAK = {  # datasheets: dense fp16 products with float32 sums, operations in a second
    "H200": 989e12,
    "H100": 989e12,
    "A100": 312e12,
    "L40": 181e12,
    "4090": 165e12,
    "L4": 121e12,
    "V100": 125e12,
    "T4": 65e12,
}


@dataclass(frozen=True)
class Found:
    """What a pass found, and how long it took."""

    seconds: float
    above: np.ndarray
    tied: np.ndarray
    nearest: np.ndarray


def sides(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Return queries and candidates; those of one number share their meaning."""
    rng = np.random.default_rng(0)
    meaning = spectrum(rng, n, d)
    both = []
    for _ in range(2):
        noise = spectrum(rng, n, d)
        noise *= np.float32(0.7)  # in place: a million vectors of 768 dimensions have 3 GB
        noise += meaning
        both.append(noise)
    return both[0], both[1]


def ranked(ranker: Ranker, similarity: Cosine, target: np.ndarray) -> Found:
    """Count for every query what is above its target, and find the nearest candidate."""
    n, m = similarity.shape
    counts, nearest = Counts.of(similarity, np.arange(n), target), Top(1, (n, m))
    begun = time.perf_counter()
    ranker.scan(similarity, [counts, nearest])
    best = nearest.result()
    return Found(time.perf_counter() - begun, counts.above, counts.tied, best.candidate)


def same(one: Found, other: Found) -> None:
    """Assert that two passes found the same."""
    for name in ("above", "tied", "nearest"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def bare(ranker: TorchRanker, d: int) -> float:
    """Return the operations in a second of bare products of depth d, in tiles as large as usual."""
    return rate(ranker, 8192 if ranker.device.type == "cuda" else 2048, d)


def peak(ranker: TorchRanker) -> float:
    """Return the operations in a second of the device at its best: bare products of large square matrices."""
    sizes = (4096, 8192) if ranker.device.type == "cuda" else (1024,)
    return max(rate(ranker, size, size) for size in sizes)


def rate(ranker: TorchRanker, size: int, depth: int) -> float:
    """Return the operations in a second of products [size, depth] · [depth, size] in the precision."""
    import torch

    arithmetic = Arithmetic(ranker.device, ranker.precision)
    on_gpu = ranker.device.type == "cuda"
    repeated = 10 if on_gpu else 1  # on a GPU the wait for the last product is shared out
    left, right = (
        torch.randn((size, arithmetic.width(depth)), device=ranker.device).to(arithmetic.dtype)
        for _ in range(2)
    )
    with exact_settings(ranker.device, ranker.threads):
        seconds = []
        for _ in range(2 * ROUNDS):
            begun = time.perf_counter()
            for _ in range(repeated):
                product = arithmetic.product(left, right)
            float(product[0, 0])  # waits for the products
            seconds.append((time.perf_counter() - begun) / repeated)
    return 2 * size * size * depth / min(seconds)


def compared(title: str, similarity: Cosine, target: np.ndarray, device: str) -> None:
    """Time each precision, print ratios and shares, and assert that all are equal."""
    print(title)
    rankers: dict[str, Ranker] = {
        f"torch {precision}": TorchRanker(device, precision=precision)
        for precision in ("fp32", "fp16", "bf16")
    }
    small = similarity.shape[0] <= WHOLE
    if small:
        rankers["cpu"] = Cpu()
    found = {name: ranked(ranker, similarity, target) for name, ranker in rankers.items()}  # warm up, too
    for _ in range(ROUNDS if small else 0):
        for name, ranker in rankers.items():
            again = ranked(ranker, similarity, target)
            same(again, found[name])
            found[name] = min(again, found[name], key=lambda one: one.seconds)
    base = found["torch fp32"].seconds
    work = 2 * similarity.shape[0] * similarity.shape[1] * similarity.queries.dim
    for name, ranker in rankers.items():
        same(found[name], found["torch fp32"])
        seconds, words = found[name].seconds, ""
        if isinstance(ranker, TorchRanker):
            about, here = ranker.about(), work / seconds
            of_depth, best = bare(ranker, similarity.queries.dim), peak(ranker)
            words = f"; {here / best:.0%} of the peak that was measured ({best / 1e12:.2f} T/s)"
            words += f", {here / of_depth:.0%} of bare products of this depth ({of_depth / 1e12:.2f} T/s)"
            sheet = next((value for key, value in PEAK.items() if key in str(about["device"])), None)
            words += f", {here / sheet:.0%} of the datasheet's" if sheet and name != "torch fp32" else ""
            words += f"; undecided {about['undecided']:.3%}, in float64 {about['decided_in_float64']:.3%}"
        print(f"   {name:10s} {seconds:8.3f} s, {base / seconds:5.2f} times as fast as fp32{words}")
    if not small:
        on_a_sample(similarity, target, found["torch fp16"])


def on_a_sample(similarity: Cosine, target: np.ndarray, found: Found) -> None:
    """Assert that the processor finds the same for some queries."""
    rows = np.unique(np.linspace(0, similarity.shape[0] - 1, SAMPLE).astype(np.int64))
    queries = UnitVectors(similarity.queries.raw, similarity.queries.rows[rows])
    plain = ranked(Cpu(), Cosine(queries, similarity.candidates), target[rows])
    same(plain, Found(0.0, found.above[rows], found.tied[rows], found.nearest[rows]))
    scaled = plain.seconds * similarity.shape[0] / len(rows)
    print(f"   equal to the processor on {len(rows)} queries; it would take {scaled:.0f} s on one thread")


def main(n: int = N, d: int = DIM, device: str | None = None) -> None:
    """Print times, ratios and shares of both problems; all answers are asserted to be equal."""
    import torch

    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    queries, candidates = sides(n, d)
    similarity = Cosine(UnitVectors(queries), UnitVectors(candidates))
    print(f"{n:,} x {n:,}, {d}-d, torch {torch.__version__} on {device}, one thread of the processor")
    if device == "cpu":
        print(
            "CPU tensors have no fast 16-bit products: fp16 and bf16 show their shares here, not their speed"
        )
    compared("each query's counterpart as target (near the top)", similarity, np.arange(n), device)
    target = np.random.default_rng(1).integers(0, n, n)
    compared("a random target (where scores are densest)", similarity, target, device)


if __name__ == "__main__":
    try:
        main(*(int(argument) for argument in sys.argv[1:3]), *sys.argv[3:4])
    except XlingualError as error:  # no such device
        sys.exit(f"error: {error}")
