"""The harness of benchmarks: processor time of one process, with libraries of linear algebra on one thread.

Jobs take turns, and the least time of each counts: other work on the machine only adds. Ratios are to another
job of the run, most often to the bare product: numpy multiplies the same vectors in blocks of 1,024 rows and
keeps nothing. Answers are compared with an independent computation in the first turn.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

PRODUCT = "bare product"
BLOCK = 1024  # rows


@dataclass(frozen=True)
class Job:
    """Something to time; its ratio is to the job `base`, and `check` asserts that its answer is right."""

    name: str
    run: Callable[[], Any]
    base: str | None = PRODUCT
    goal: float | None = None
    check: Callable[[Any], None] | None = None


def product(*sides: tuple[np.ndarray, np.ndarray]) -> Job:
    """Make the bare product of each pair of queries [n, d] and candidates [m, d]."""

    def multiply() -> None:
        for queries, candidates in sides:
            room = np.empty((BLOCK, len(candidates)), dtype=queries.dtype)
            for start in range(0, len(queries), BLOCK):
                rows = queries[start : start + BLOCK]
                np.matmul(rows, candidates.T, out=room[: len(rows)])

    return Job(PRODUCT, multiply, base=None)


def measure(
    title: str, jobs: Sequence[Job], turns: int = 5, clock: Callable[[], float] = time.process_time
) -> None:
    """Time the jobs, check their answers, and print a table of the least seconds."""
    seconds: dict[str, list[float]] = {job.name: [] for job in jobs}
    with threadpool_limits(limits=1):
        for turn in range(turns):
            for job in jobs:
                begun = clock()
                answer = job.run()
                seconds[job.name].append(clock() - begun)
                if turn == 0 and job.check is not None:
                    job.check(answer)
    least = {name: min(times) for name, times in seconds.items()}
    ratios = [least[job.name] / least[job.base] if job.base else None for job in jobs]
    rows = [[job.name, least[job.name], ratio, job.goal] for job, ratio in zip(jobs, ratios, strict=True)]
    report(
        f"{title}; {turns} turns, load {os.getloadavg()[0]:.1f}", ["job", "seconds", "ratio", "goal"], rows
    )


def report(title: str, heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print rows as a table; as JSON where the command line says --json."""
    if "--json" in sys.argv:
        print(json.dumps({"title": title, "rows": [dict(zip(heads, row, strict=True)) for row in rows]}))
    else:
        table(title, [heads, *([written(value) for value in row] for row in rows)])


def written(value: str | float | None) -> str:
    """Write a number with three digits, a whole one with all; "" for none."""
    if value is None or isinstance(value, str):
        return value or ""
    return f"{value:,}" if isinstance(value, int) else f"{value:.3g}"


def table(title: str, rows: Sequence[Sequence[str]]) -> None:
    """Print rows below each other, the first of them the head, in aligned columns."""
    first, *others = (max(map(len, column)) for column in zip(*rows, strict=True))
    print(f"\n{title}\n")
    for name, *cells in rows:
        print("   ".join((name.ljust(first), *map(str.rjust, cells, others))).rstrip())
