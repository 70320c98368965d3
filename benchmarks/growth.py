"""How time and memory of exact Backretrieval grow with N: 10,000 to a million, with fitted exponents.

Each size is measured in a process of its own and kept in `out/growth/growth.csv` (a size that is there is
not measured again), with a figure beside it. Time is processor time, of all threads together. Vectors have
the spectra of real ones (`spectra`) and are memory-mapped; memory is what comes on top of them. In every run
ranks of single queries are compared with float64, and times against the formula of `costs`.

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
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path

import numpy as np
from scipy.stats import t as student

from benchmarks.costs import Pass, core_seconds
from benchmarks.growth_run import Run

STAGES = {"texts": "pass over texts", "images": "pass over images", "rest": "checks, statistics, tables"}
SIZES, DIMS = (10_000, 30_000, 100_000), (128, 256)
CALIBRATED = 30_000  # constants of the formula are taken from this size
NEAR = 0.2  # the formula may be off by so much


def measured(path: Path, sizes: Sequence[int], dims: tuple[int, int], threads: int = 1) -> list[Run]:
    """Return the runs of these dimensions that the file has, after adding these sizes to it."""
    runs: list[Run] = []
    if path.exists():
        with path.open(newline="") as lines:
            kinds = dict.fromkeys(("n", "text_dim", "image_dim", "threads"), int)
            runs = [
                Run(**{k: kinds.get(k, float)(v) for k, v in row.items()}) for row in csv.DictReader(lines)
            ]
    for n in sizes:
        if any(run.n == n and run.dims == dims for run in runs):
            continue
        code = f"from benchmarks.growth_run import measure; measure({n}, {dims[0]}, {dims[1]}, {threads})"
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
    """Return the seconds of both passes by the formula of `costs`, with constants of another run."""
    found = []
    for what, d in zip(("texts", "images"), from_run.dims, strict=True):
        seconds, product = getattr(from_run, what), getattr(from_run, f"bare_{what}")
        pairs = from_run.n**2
        rate, per_pair = 2 * d * pairs / product, (seconds - product) / pairs
        found.append(core_seconds(Pass(what, run.n, run.dims[len(found)]), rate, per_pair))
    return found[0], found[1]


def figure(runs: Sequence[Run], path: Path) -> None:
    """Draw times and memory over N."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    n = np.array([run.n for run in runs])
    panels, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for what, label in STAGES.items():
        left.loglog(n, [getattr(run, what) for run in runs], "o-", label=label)
    product = np.array([run.bare_texts + run.bare_images for run in runs])
    left.loglog(n, product, "k:", label="both bare float32 products")
    left.set(xlabel="N sources, N targets", ylabel="processor time, s")
    left.legend(frameon=False)
    right.loglog(n, [run.memory / 2**20 for run in runs], "o-", label="beside the vectors")
    right.loglog(n, [2 * run.n * sum(run.dims) * 4 / 2**20 for run in runs], "k:", label="the vectors")
    right.loglog(n, n.astype(float) ** 2 * 4 / 2**20, "--", color="0.6", label="one N × N matrix, never held")
    right.set(xlabel="N", ylabel="MiB")
    right.legend(frameon=False)
    panels.savefig(path, dpi=150)


def described(run: Run, ratio: float) -> str:
    """Return what one size took, in words; `ratio` is that of the predicted to the measured time."""
    stages = []
    for what in ("texts", "images"):
        seconds, product = getattr(run, what), getattr(run, f"bare_{what}")
        beside = (seconds - product) / run.n**2 * 1e9
        stages.append(f"{what} {seconds:.1f} s ({seconds / product:.2f} × product, {beside:+.2f} ns a pair)")
    return (
        f"N {run.n:9,}, {run.threads} thread(s): {', '.join(stages)}, rest {run.rest:.1f} s; "
        f"{run.memory / 2**20:.0f} MiB; {run.decided:.1e} of the pairs in float64; "
        f"predicted/measured {ratio:.2f}"
    )


def main(
    sizes: Sequence[int] = SIZES, dims: tuple[int, int] = DIMS, out: str = "out/growth", threads: int = 1
) -> None:
    """Print and draw how times and memory grow; assert that the formula predicts them."""
    runs = measured(Path(out, "growth.csv"), sizes, dims, threads)
    known = next((run for run in runs if run.n >= CALIBRATED), runs[0])
    print(f"{dims[0]}-d texts, {dims[1]}-d images, processor time")
    ratios = {run.n: sum(predicted(run, known)) / (run.texts + run.images) for run in runs}
    for run in runs:
        print(described(run, ratios[run.n]))
    if len(runs) > 1:
        for what in ("texts", "images", "rest", "memory"):
            slope, half = exponent([run.n for run in runs], [getattr(run, what) for run in runs])
            interval = f" [{slope - half:.2f}, {slope + half:.2f}]" if np.isfinite(half) else ""
            print(f"   {what:9s} grows as N^{slope:.2f}{interval}")
        line = np.polyfit([run.n for run in runs], [run.memory for run in runs], 1)
        rest = np.polyfit([run.n for run in runs], [run.rest for run in runs], 1)
        print(
            f"   memory {line[1] / 2**20:.0f} MiB + {line[0]:.0f} bytes × N; rest {rest[0] * 1e6:.0f} µs × N"
        )
        figure(runs, Path(out, f"growth-{dims[0]}-{dims[1]}.png"))
    beyond = {n: ratio for n, ratio in ratios.items() if n > known.n}
    assert all(abs(ratio - 1) < NEAR for ratio in beyond.values()), beyond


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("sizes", nargs="*", type=int, default=list(SIZES))
    parser.add_argument("--dims", nargs=2, type=int, default=list(DIMS))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", default="out/growth")
    options = parser.parse_args()
    main(options.sizes, tuple(options.dims), options.out, options.threads)
