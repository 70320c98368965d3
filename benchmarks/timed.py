"""The harness of benchmarks: processor time of one process, with the libraries of linear algebra on one thread.

Jobs take turns, several times, and the least time of each counts: other work on the machine only adds. Ratios are to
another job of the same run, most often to the bare product: numpy multiplies the same vectors in blocks of 1,024
rows and keeps nothing. Answers are compared with an independent computation in the first turn.
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
TURNS = 5


@dataclass(frozen=True)
class Job:
    """Something to time; `base` names the job that its ratio is to, `check` asserts that its answer is right."""

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


def measure(title: str, jobs: Sequence[Job], turns: int = TURNS) -> dict[str, float]:
    """Time the jobs, check their answers, and print them as a table; return the least seconds of each."""
    seconds: dict[str, list[float]] = {job.name: [] for job in jobs}
    with threadpool_limits(limits=1):
        for turn in range(turns):
            for job in jobs:
                begun = time.process_time()
                answer = job.run()
                seconds[job.name].append(time.process_time() - begun)
                if turn == 0 and job.check is not None:
                    job.check(answer)
    least = {name: min(times) for name, times in seconds.items()}
    if "--json" in sys.argv:
        rows = [
            {"job": job.name, "seconds": least[job.name], "ratio": ratio(job, least), "goal": job.goal} for job in jobs
        ]
        print(json.dumps({"title": title, "turns": turns, "load": os.getloadavg()[0], "jobs": rows}))
    else:
        lines = [[job.name, f"{least[job.name]:.3f}", *numbers(ratio(job, least), job.goal)] for job in jobs]
        table(f"{title} ({turns} turns)", [["job", "seconds", "ratio", "goal"], *lines])
    return least


def ratio(job: Job, least: dict[str, float]) -> float | None:
    """Divide the time of a job by that of its base."""
    return None if job.base is None else least[job.name] / least[job.base]


def numbers(*values: float | None) -> list[str]:
    """Write numbers with two decimals, and "" where there is none."""
    return ["" if value is None else f"{value:.2f}" for value in values]


def table(title: str, rows: Sequence[Sequence[str]]) -> None:
    """Print rows below each other, the first of them the head; the first column to the left, others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    print(f"\n{title}\n")
    for first, *others in rows:
        cells = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
        print("   ".join((first.ljust(widths[0]), *cells)).rstrip())
