"""A pass by Ray on all cores of this machine against one thread, by the clock on the wall.

`python -m benchmarks.ray_cores 80000` takes another number of queries and candidates.
"""

from __future__ import annotations

import os
import sys
import time
from functools import partial

from benchmarks.ranking import WAY_BACK, answers, check, watchers
from benchmarks.timed import Job, measure
from benchmarks.vectors import sides
from xlingual.ranking import CPU, Cosine, UnitVectors
from xlingual.ranking.ray import Ray


def main(n: int = 40_000, d: int = 256) -> None:
    """Print seconds and ratio; Ray starts before."""
    vectors, ray = sides(n, d), Ray()
    similarity, few = (Cosine(*map(UnitVectors, each)) for each in (vectors, sides(500, d)))
    answers(few, watchers(few)[WAY_BACK], ray)
    ask, right = watchers(similarity)[WAY_BACK], partial(check, *vectors)
    jobs = [Job("one thread", partial(answers, similarity, ask, CPU), None, check=right)]
    jobs.append(Job("Ray", partial(answers, similarity, ask, ray), "one thread", check=right))
    measure(f"{n:,} × {n:,}, {d} dimensions, {os.cpu_count()} cores", jobs, 2, time.perf_counter)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
