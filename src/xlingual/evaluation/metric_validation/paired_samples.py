"""The samples of a validation: a non-matching one for BkR, SIM and CORR, a matching one for XLR beside it.

XLR and BkR are shares of queries that find one text or image among N. So both get the same N, as far as the
items allow.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.manifest import Manifest
from xlingual.data.samples import Sampler
from xlingual.errors import InputError, listed, warn
from xlingual.evaluation.pair_run import PairTask, by_pair
from xlingual.streams import stream


def paired_samples(
    manifest: Manifest, tasks: Sequence[PairTask], sampler: Sampler, *, strict: bool
) -> tuple[list[PairTask], list[PairTask]]:
    """Return the non-matching tasks, cut where need be, and the matching task of each.

    Where no sample size is given, a pair's matching sample has as many items as its non-matching one has
    sources, or else all items with both languages; then sources and targets are cut to their number, with a
    warning. A pair without an item in both languages is left out with a warning, unless `strict` or no other
    pair is left: then InputError.
    """
    apart: list[PairTask] = []
    same: list[PairTask] = []
    problems: list[str] = []
    for (source, target), numbers in by_pair(tasks).items():
        own = [tasks[n] for n in numbers]
        one, two = (manifest.item[manifest.rows_of(language)] for language in (source, target))
        if not strict and not np.isin(one, two).any():
            problems.append(f"{source}-{target}")
            continue
        samples = sampler.matching(source, target, _n_items(manifest, own[0].sample.source))
        matching = [PairTask(source, target, sample) for sample in samples]
        apart += _cut(manifest, own, _n_items(manifest, matching[0].sample.source), sampler)
        same += matching
    if not apart:
        raise InputError(
            "no item has texts in two languages, and XLR needs matching texts: give an item column, or use "
            "evaluate backretrieval, which needs none"
        )
    if problems:
        which = f"{len(problems)} language pairs are" if len(problems) > 1 else "a language pair is"
        warn(f"{which} left out ({listed(problems, 20)}): no item has texts in both, which XLR needs")
    return apart, same


def _cut(manifest: Manifest, tasks: list[PairTask], most: int, sampler: Sampler) -> list[PairTask]:
    """Return the tasks of one pair with at most so many items on each side; those of splits as they are."""
    first = tasks[0].sample
    sizes = _n_items(manifest, first.source), _n_items(manifest, first.target)
    if sampler.splits is not None or max(sizes) <= most:
        return tasks
    source, target = tasks[0].pair
    warn(
        f"{source}-{target}: only {most} items for XLR, which needs both languages, so BkR, SIM and CORR use "
        f"as many ({sizes[0]} sources and {sizes[1]} targets would be there): all then choose among equally "
        "many"
    )
    found = []
    for task in tasks:
        sample = task.sample
        order = stream(sample.seed, "samples").permutation(manifest.n_items)  # that of the samples
        rows, others = (_first(manifest, side, order, most) for side in (sample.source, sample.target))
        found.append(PairTask(source, target, type(sample)(sample.seed, rows, others, pool=rows)))
    return found


def _first(manifest: Manifest, rows: Ints, order: Ints, most: int) -> Ints:
    """Return the rows of the first items of a sample, by a permutation of all items."""
    items = np.unique(manifest.item[rows])
    chosen = items[np.argsort(order[items], kind="stable")][:most]
    return np.asarray(rows[np.isin(manifest.item[rows], chosen)])


def _n_items(manifest: Manifest, rows: Ints) -> int:
    return len(np.unique(manifest.item[rows]))
