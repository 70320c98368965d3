"""Which tasks are ranked by a search, which measures that can tell, and which queries are checked exactly."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.samples import Sample
from xlingual.errors import DataWarning, InputError, listed
from xlingual.evaluation.pair_run import Task
from xlingual.evaluation.run import Options
from xlingual.measures import (
    MedianRank,
    PictureSimilarity,
    RankMeasure,
    RecallAt,
    RecallShare,
    Success,
    SuccessAt,
    SuccessShare,
)
from xlingual.ranking import Ranker
from xlingual.ranking.approximate import Approximate
from xlingual.stats.checked import Stratum
from xlingual.streams import stream

ENOUGH = 0.95  # recall of a search below which the run warns


def approximate(options: Options, measures: Sequence[RankMeasure]) -> Approximate | None:
    """Return the ranker where it is an approximate one; refuse what it cannot tell."""
    ranker = options.given_ranker
    if not isinstance(ranker, Approximate):
        return None
    if options.queries is not None:
        raise InputError(
            "--queries asks few queries exactly, a search all of them nearly: leave out --queries, or "
            "--approximate"
        )
    for measure in measures:
        if isinstance(measure, RecallAt | SuccessAt) and measure.k > ranker.depth:
            raise InputError(
                f"{measure.name} needs the {measure.k} best candidates, the search finds {ranker.depth}: "
                f"raise --depth to {measure.k}, or rank exactly"
            )
        if not isinstance(measure, RecallAt | RecallShare | Success | MedianRank):
            raise InputError(
                f"{measure.name} needs the exact rank of every query, and a search finds only the best "
                "candidates: leave out --approximate, or take R@k"
            )
    return ranker


def exact_only(ranker: Ranker | None, task: str) -> None:
    """Raise InputError for a task that approximate ranking cannot serve."""
    if isinstance(ranker, Approximate):
        raise InputError(
            f"{task} is ranked exactly: approximate ranking is for backretrieval and crosslingual-retrieval, "
            "which measure its error in every run; leave out the approximate ranker"
        )


def checked_queries(ranker: Approximate, task: Task, *, pictures: bool) -> Ints | None:
    """Return the positions of the sources that are evaluated exactly too; None: all are, it is as fast.

    A task is searched where its targets, or with `pictures` its sources, are `ranker.fewest` or more.
    """
    n = len(task.sample.source)
    if max(len(task.sample.target), n if pictures else 0) < ranker.fewest:
        return None
    drawn = stream(task.sample.seed, f"checked queries {task.source}-{task.target}")
    return np.sort(drawn.choice(n, min(ranker.check, n), replace=False))


def queries_of(ranker: Approximate, tasks: Sequence[Task], *, pictures: bool) -> dict[int, Ints]:
    """Return the checked queries of each task that is searched; warn of those that are ranked exactly."""
    found = {number: checked_queries(ranker, task, pictures=pictures) for number, task in enumerate(tasks)}
    small = dict.fromkeys(f"{t.source}-{t.target}" for n, t in enumerate(tasks) if found[n] is None)
    if small:
        warnings.warn(
            f"ranked exactly after all: {listed(small)}, where a search is not worth it (fewer than "
            f"{ranker.fewest:,} candidates)",
            DataWarning,
            stacklevel=3,
        )
    return {number: queries for number, queries in found.items() if queries is not None}


def checked_sample(task: Task, queries: Ints) -> Sample:
    """Return the sample with the checked queries alone, and all its targets."""
    return replace(task.sample, source=task.sample.source[queries])


def by_sample(ranker: Approximate, measure: RankMeasure | PictureSimilarity, pool: int) -> bool:
    """Tell whether a measure looks deeper than a search, so that a sample of the pool tells it."""
    return isinstance(measure, MedianRank) or (
        isinstance(measure, RecallShare | SuccessShare) and measure.k(pool) > ranker.depth
    )


def stratum(
    task: Task, measure: RankMeasure | PictureSimilarity, found: np.ndarray, queries: Ints, exact: np.ndarray
) -> Stratum:
    """Return what the checked queries say about the values `found` [n]; `exact` [checked] are the true ones.

    A query can differ by the range of the measure; of picture similarities by the range of those found.
    """
    low, high = measure.bounds
    if isinstance(measure, PictureSimilarity):
        ends = np.concatenate([found, exact])
        low, high = (float(ends.min()), float(ends.max())) if np.ptp(ends) > 0 else (low, high)
    name = (task.source, task.target, task.sample.seed)
    return Stratum(name, found[queries] - exact, len(found), high - low)


def conditions(ranker: Approximate, *, sampled: bool) -> dict[str, str]:
    """Return the conditions of a signature: numbers of another search are not comparable."""
    found = {"search": str(ranker.search), "depth": str(ranker.depth)}
    return {**found, "drawn": str(ranker.candidates)} if sampled else found


@dataclass(frozen=True)
class Recall:
    """How much a search found of what it should have, by the checked queries of a task."""

    task: Task
    found: float
    checked: int
    candidates: int  # among which it searched


def warn_of_misses(what: str, encoder: str, recalls: Sequence[Recall], ranker: Approximate) -> None:
    """Warn, once for all tasks of an encoder, where a search misses much of what it should find."""
    few = [recall for recall in recalls if recall.found < ENOUGH]
    if not few:
        return
    worst = min(few, key=lambda recall: recall.found)
    probes = ranker.search.probes_of(worst.candidates, ranker.depth)
    others = "" if len(few) == 1 else f"; {len(few)} of {len(recalls)} samples are below {100 * ENOUGH:.0f} %"
    pair = f"{worst.task.source}-{worst.task.target}"
    warnings.warn(
        f"{encoder}, {pair}: the search finds only {100 * worst.found:.1f} % of {what} ({worst.checked:,} "
        f"queries checked{others}): raise --probes (about {probes} now) until it is {100 * ENOUGH:.0f} % at "
        "least, or leave out --approximate",
        DataWarning,
        stacklevel=3,
    )
