"""What every task needs first: language pairs, samples, encoders, measures, threads."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from xlingual.data.manifest import Manifest
from xlingual.data.samples import Sample, Sampler, read_splits, resolve_pairs
from xlingual.errors import DataWarning, InputError
from xlingual.records import Ints

Report: TypeAlias = Callable[[str, int, int], None]  # progress: what, done, of all


@dataclass(frozen=True)
class Options:
    """Options that all tasks share; see the command line's help for their meaning."""

    pairs: str | Sequence[str] | None = None
    sample_size: int | None = None
    splits: str | os.PathLike[str] | None = None
    seeds: int = 1
    seed: int = 0
    threads: int = 1
    progress: Report | None = None

    def report(self, what: str, done: int, total: int) -> None:
        """Tell how far the work is, where somebody listens."""
        if self.progress is not None:
            self.progress(what, done, total)


@dataclass(frozen=True)
class Task:
    """One sample of one language pair."""

    source: str
    target: str
    sample: Sample

    @property
    def pair(self) -> tuple[str, str]:
        """(source, target) languages."""
        return self.source, self.target


@dataclass
class Timings:
    """Seconds spent, by stage, and other figures about the run."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time of the block to a stage."""
        start = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


def make_tasks(manifest: Manifest, options: Options, *, matching: bool) -> tuple[list[Task], Sampler]:
    """Return a task for each language pair and seed, pairs in order, and the sampler that made them.

    With several pairs named by default, a pair for which no sample can be drawn is left out with a warning;
    a pair that was asked for must be possible.
    """
    splits = None if options.splits is None else read_splits(options.splits, manifest.n_items)
    if splits is not None and (options.sample_size is not None or options.seeds != 1):
        raise InputError("--splits fixes samples and seeds: leave out --sample-size and --seeds")
    sampler = Sampler(
        manifest, size=options.sample_size, splits=splits, seeds=options.seeds, seed=options.seed
    )
    tasks: list[Task] = []
    problems: list[str] = []
    for source, target in resolve_pairs(options.pairs, manifest.languages):
        try:
            samples = (sampler.matching if matching else sampler.non_matching)(source, target)
        except InputError as error:
            if options.pairs is not None or options.sample_size is not None or splits is not None:
                raise
            problems.append(f"{source}-{target} is left out: {error}")
            continue
        tasks += [Task(source, target, sample) for sample in samples]
    if not tasks:
        raise InputError(problems[0].partition("left out: ")[2])
    for problem in problems:
        warnings.warn(problem, DataWarning, stacklevel=3)
    return tasks, sampler


def rows_of_tasks(tasks: Sequence[Task]) -> Ints:
    """Return all text rows that any task uses, in the order of the manifest."""
    rows = [side for task in tasks for side in (task.sample.source, task.sample.target)]
    return np.unique(np.concatenate(rows))


def by_pair(tasks: Sequence[Task]) -> dict[tuple[str, str], list[int]]:
    """Return the numbers of the tasks of each language pair."""
    found: dict[tuple[str, str], list[int]] = {}
    for number, task in enumerate(tasks):
        found.setdefault(task.pair, []).append(number)
    return found


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Collect the data warnings raised inside, and pass each on to the caller's own handling afterwards."""
    told: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)
        try:
            yield told
        finally:
            told += list(dict.fromkeys(str(w.message) for w in caught if issubclass(w.category, DataWarning)))
    for warning in caught:
        if not issubclass(warning.category, DataWarning):
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    for text in told:
        warnings.warn(text, DataWarning, stacklevel=4)
