"""What exact Backretrieval costs, on paper: from constants to a table, so that both can be checked.

Each constant (`costs.py`) says where it comes from: measured, datasheet, counted or assumed. Two passes are
counted: texts (nearest target of each source) and images (ranks of own images, the ten nearest sources
of each target, the nearest target of each source). `python -m benchmarks.growth` holds the same formulas
against measured times; `python -m benchmarks.estimate 1e7 384 512` takes another N and other dimensions.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from benchmarks.costs import (
    ASSUMED,
    FLOAT16,
    FLOAT32,
    GPUS,
    MEASURED,
    Gpu,
    Pass,
    core_seconds,
    gpu_seconds,
    list_seconds,
    memory,
    undecided,
    value,
)
from benchmarks.spectra import IMAGE_DECAY, IMAGE_SHIFT, TEXT_DECAY
from xlingual.ranking import Cosine, Counts, Cpu, Top, Transposed, UnitVectors

N, TEXT_DIM, IMAGE_DIM, TOP = 1e8, 768, 2048, 10
HOUR = 3600.0
COUNT_BYTES, LINE_BYTES = 16, 33  # of a part: for each pair counted, for each candidate listed
CORES, MANY = 32, 64  # of the table by N


def part_bytes(n: int = 4096, d: int = 16) -> tuple[float, float]:
    """Return the bytes that a part of the image pass keeps, for each row and for each column.

    Taken from real parts, and compared with what is reckoned with.
    """
    rng = np.random.default_rng(0)
    rows, columns = (UnitVectors(rng.standard_normal((n, d), dtype=np.float32)) for _ in range(2))
    similarity, own = Cosine(rows, columns), np.arange(n)
    reductions = [Counts.of(similarity, own, own), Top(TOP, (n, n)), Transposed(Top(1, (n, n)))]
    Cpu().scan(similarity, reductions)
    sizes = [sum(array.nbytes for array in reduction.state().values()) / n for reduction in reductions]
    np.testing.assert_allclose(sizes, [COUNT_BYTES, TOP * LINE_BYTES, LINE_BYTES], rtol=0.01)
    return sizes[0] + sizes[1], sizes[2]


def time_of(seconds: float) -> str:
    """Return a time in words."""
    for unit, size in (("years", 8766 * HOUR), ("days", 24 * HOUR), ("h", HOUR), ("min", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:.2g} {unit}" if seconds < 100 * size else f"{seconds / size:.0f} {unit}"
    return f"{seconds:.2g} s" if seconds < 100 else f"{seconds:.0f} s"


def size_of(count: float) -> str:
    """Return a number of bytes in words."""
    for unit, size in (("PB", 1e15), ("TB", 1e12), ("GB", 1e9)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count / 1e6:.3g} MB"


def print_shares(dims: tuple[int, int]) -> dict[str, dict[str, tuple]]:
    """Print and return the shares of undecided pairs, by pass and threshold."""
    shares = {
        "texts": undecided(dims[0], TEXT_DECAY, 0.0),
        "images": undecided(dims[1], IMAGE_DECAY, IMAGE_SHIFT),
    }
    print("\nundecided after fp16, and after float32, by threshold (proven bounds; synthetic vectors)")
    for what, by_threshold in shares.items():
        row = "; ".join(f"{name} {half:.2%}, {single:.3%}" for name, (half, single) in by_threshold.items())
        print(f"   {what:9s} {row}")
    return shares


def print_gpus(passes: Sequence[Pass]) -> None:
    """Print GPU-hours of each pass, in certified fp16 and in float32."""
    print("\nGPU-hours   product + tiles + narrowing + deciding; in brackets: float32 instead of fp16")
    for gpu in GPUS:
        for work in passes:
            half, single = (gpu_seconds(work, gpu, half) for half in (True, False))
            parts = " + ".join(f"{seconds / HOUR:5.1f}" for seconds in half.values())
            whole, other = sum(half.values()) / HOUR, sum(single.values()) / HOUR
            print(f"   {gpu.name:12s} {work.name:9s} {parts} = {whole:5.0f}   ({other:.0f})")


def print_moved(passes: Sequence[Pass], gpu: Gpu) -> None:
    """Print what moves between memories and machines, and what is kept."""
    n, shard, network = passes[0].n, value("shard"), value("network")
    tasks = (n / shard) ** 2
    read = sum(tasks * 2 * shard * work.d * FLOAT32 for work in passes)
    print(f"\nshards of {shard:.0e} rows: {tasks:,.0f} tasks for each pass")
    print(f"   read from shared storage {size_of(read)}: {time_of(read / network)} of one node's network")
    for work in passes:
        bytes_a_row = work.d * (FLOAT16 + FLOAT32)
        resident = min(n, gpu.memory / 2 / bytes_a_row)
        moved = n / resident * n * bytes_a_row
        print(
            f"   {work.name}: {resident:.2g} queries stay on one {gpu.name}; {size_of(moved)} of candidates "
            f"pass by: {time_of(moved / value('link'))} of its link, beside the work"
        )
    stored = sum(2 * n * work.d * FLOAT32 for work in passes)
    row, column = part_bytes()
    parts = tasks * shard * (row + column)
    print(f"   vectors: {size_of(stored)} in float32, {size_of(stored / 2)} in float16")
    print(
        f"   parts of the image pass: {size_of(parts / tasks)} each, {size_of(parts)} if all were kept, "
        f"{size_of(n * (row + column))} when merged"
    )
    print(f"   memory of the process that gathers: {size_of(memory(n))}")


def print_by_n(passes: Sequence[Pass], gpu: Gpu) -> None:
    """Print whole evaluations by N: exact on cores and accelerators, and by inverted files on cores."""
    print(
        f"\n         one core  {CORES} cores  1 {gpu.name}  {MANY} of them  "
        f"inverted files, {CORES} cores  memory"
    )
    for n in (1e4, 1e5, 1e6, 1e7, 1e8):
        sized = [replace(work, n=n) for work in passes]
        home = n * value("rest, per item")
        core = sum(core_seconds(work) for work in sized)
        device = sum(sum(gpu_seconds(work, gpu).values()) for work in sized)
        lists = sum(list_seconds(work) for work in (*sized, sized[1]))  # images: there, and back
        times = [core + home, core / CORES + home, device + home, device / MANY + home, lists / CORES + home]
        print(
            f"   {n:.0e} "
            + " ".join(f"{time_of(seconds):>11s}" for seconds in times)
            + f"  {size_of(memory(n)):>8s}"
        )


def main(n: float = N, text_dim: float = TEXT_DIM, image_dim: float = IMAGE_DIM) -> None:
    """Print the constants, the work, and what it takes."""
    dims = (int(text_dim), int(image_dim))
    for name, constant in (MEASURED | ASSUMED).items():
        print(f"{name:26s} {constant.value:10.3g} {constant.unit:8s} {constant.source}")
    for gpu in GPUS:
        print(
            f"{gpu.name:26s} datasheet: {gpu.half / 1e12:.0f}, {gpu.single / 1e12:g} and "
            f"{gpu.double / 1e12:g} TFLOP/s in fp16 (dense), float32, float64; {gpu.bandwidth / 1e12:g} TB/s"
        )
    shares = print_shares(dims)
    for threshold in ("random", "100th"):
        passes = [
            Pass("texts", n, dims[0], *shares["texts"]["nearest"]),
            Pass("images", n, dims[1], *shares["images"][threshold]),
        ]
        if threshold == "random":
            flop = sum(work.flop for work in passes)
            cores = sum(core_seconds(work) for work in passes)
            print(f"\nN = {n:.0e}, {dims[0]}-d texts, {dims[1]}-d images: {passes[0].pairs:.0e} pairs a pass")
            print(f"   {flop:.3g} FLOP; one core {time_of(cores)}, {cores / HOUR:,.0f} core-hours")
            print_moved(passes, GPUS[1])
        print(f"\nthresholds of images: {threshold}")
        print_gpus(passes)
        print_by_n(passes, GPUS[1])


if __name__ == "__main__":
    main(*(float(argument) for argument in sys.argv[1:]))
