"""What experiments share: runs that are kept, and means over seeds and queries with their intervals.

A run trains with one seed and gives a value for each query of a test set. Seeds and queries both are samples:
an interval counts both (two-way clustering), so it says where the mean would land for other seeds *and* other
queries.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from xlingual.results import Interval, Results
from xlingual.stats import mean_interval

PERCENT = 100.0


@dataclass(frozen=True)
class Values:
    """A measure's value for each query, and the cluster that each query belongs to."""

    value: list[float]
    cluster: list[int]


def values_of(results: Results) -> dict[str, Values]:
    """Return the values of each (task, source, target, measure) of results with one encoder."""
    columns = ("task", "source", "target", "measure")
    rows = results.per_query.select([*columns, "cluster", "value"]).to_pylist()
    found: dict[str, Values] = {}
    for row in rows:
        own = found.setdefault(" ".join(row[name] for name in columns), Values([], []))
        own.value.append(row["value"])
        own.cluster.append(row["cluster"])
    return found


def kept_run(path: Path, run: Callable[[], Mapping[str, Values]]) -> dict[str, Values]:
    """Return what a run gave; it is made once, and read from its file from then on."""
    if not path.exists():
        found = {name: [own.value, own.cluster] for name, own in run().items()}
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(found))
    content = json.loads(path.read_text())
    return {name: Values(*own) for name, own in content.items()}


def mean_of(runs: Iterable[Sequence[Values]]) -> tuple[float, Interval]:
    """Return (mean, interval) over seeds of the mean over `parts` of each run (both directions, say)."""
    return _mean([list(parts) for parts in runs])


def difference(
    first: Sequence[Sequence[Values]], second: Sequence[Sequence[Values]]
) -> tuple[float, Interval]:
    """Return (mean, interval) of first − second, query by query; run i of both has the same seed."""
    signed = []
    for one, other in zip(first, second, strict=True):
        parts = []
        for a, b in zip(one, other, strict=True):
            if a.cluster != b.cluster:
                raise ValueError("the runs answer different queries")
            parts.append(Values((np.array(a.value) - np.array(b.value)).tolist(), a.cluster))
        signed.append(parts)
    return _mean(signed)


def _mean(runs: Sequence[Sequence[Values]]) -> tuple[float, Interval]:
    values, seeds, clusters = [], [], []
    for seed, parts in enumerate(runs):
        for part in parts:
            weight = 1 / (
                len(parts) * len(part.value)
            )  # parts count alike, whatever their numbers of queries
            n_all = sum(len(p.value) for p in parts)
            values.append(np.array(part.value) * weight * n_all)
            seeds.append(np.full(len(part.value), seed))
            clusters.append(np.array(part.cluster))
    value = np.concatenate(values)
    ways = [np.concatenate(clusters)] + ([np.concatenate(seeds)] if len(runs) > 1 else [])
    return float(value.mean()), mean_interval(value, ways)


def shown(found: tuple[float, Interval], factor: float = PERCENT, digits: int = 1) -> str:
    """Return "42.0 [40.1, 43.9]"."""
    value, ci = found
    low, high = factor * ci.low, factor * ci.high
    return f"{factor * value:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]".replace("-", "−")


def marked(gap: tuple[float, Interval], digits: int = 1) -> str:
    """Return a difference as `shown` does, in bold where its interval excludes zero."""
    mark = "**" if gap[1].low > 0 or gap[1].high < 0 else ""
    return f"{mark}{shown(gap, digits=digits)}{mark}"


def table(title: str, rows: Sequence[Sequence[str]]) -> None:
    """Print rows as a table of Markdown, the first of them its head."""
    print(f"\n### {title}\n")
    for place, row in enumerate(rows):
        print("| " + " | ".join(row) + " |")
        if place == 0:
            print("|" + "---|" * len(row))
