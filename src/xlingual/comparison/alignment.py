"""Checks before encoders are compared: they answered the same queries, and the numbers are theirs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from xlingual.arrays import distinct_values, numbered
from xlingual.comparison.references import LabelledEncoder
from xlingual.comparison.rows import QueryBlock
from xlingual.errors import InputError, listed
from xlingual.results import Entry
from xlingual.results.views import ImageSentenceViews

Key = tuple[str, str, str, str, int]  # task, measure, source, target, seed
_ROUNDED = 1e-6  # a mean in another order of adding differs by far less


def check_means(
    member: LabelledEncoder,
    own: Mapping[Key, Entry],
    block: QueryBlock,
    wanted: tuple[str, str],
    pairs: Sequence[tuple[str, str]],
) -> None:
    """Raise InputError where a number is not the mean of its queries."""
    seeds, place = distinct_values(block.seed), numbered(block.seed)
    code = block.pair * len(seeds) + place
    count, total = np.bincount(code), np.bincount(code, weights=block.value)
    means = {
        (*pairs[i // len(seeds)], int(seeds[i % len(seeds)])): float(total[i] / count[i])
        for i in np.flatnonzero(count).tolist()
    }
    for (task, measure, source, target, seed), entry in own.items():
        folds = isinstance(entry.views, ImageSentenceViews) and entry.views.folds
        if (task, measure) != wanted or (source, target) not in pairs or folds:
            continue
        if entry.value is None:
            continue
        mean = means.get((source, target, seed), math.nan)
        if not math.isclose(mean, entry.value, rel_tol=_ROUNDED, abs_tol=_ROUNDED):
            raise InputError(
                f"{member.folder / 'per_query.parquet'} does not belong to results.json, where "
                f"{entry.encoder}, {measure} ({source}-{target}, seed {seed}), is {entry.value:.6g}: "
                f"the mean over its queries is {mean:.6g}; copy the whole folder of results again, or run "
                "it again"
            )


def check_same(
    first: LabelledEncoder,
    one: QueryBlock,
    second: LabelledEncoder,
    other: QueryBlock,
    pairs: Sequence[tuple[str, str]],
) -> None:
    """Raise InputError where two encoders did not answer the same queries."""
    same = len(one.query) == len(other.query) and (one.query == other.query).all()
    same = same and np.array_equal(one.pair, other.pair) and np.array_equal(one.seed, other.seed)
    between = f"{first.folder}#{first.encoder} and {second.folder}#{second.encoder}"
    remedy = "evaluate both on the same data with the same options"
    for number, pair in enumerate(() if same else pairs):
        seeds = [sorted(set(block.seed[block.pair == number].tolist())) for block in (one, other)]
        if seeds[0] != seeds[1]:
            raise InputError(
                f"{between} have different seeds for {'-'.join(pair)}: {listed(seeds[0])} against "
                f"{listed(seeds[1])}: {remedy}"
            )
    if not same:
        ids = [
            set(zip(b.pair.tolist(), b.seed.tolist(), b.query.tolist(), strict=True)) for b in (one, other)
        ]
        apart = sorted(ids[0] ^ ids[1], key=str)
        example = (
            f", such as {apart[0][2]!r} ({'-'.join(pairs[apart[0][0]])}, seed {apart[0][1]})" if apart else ""
        )
        raise InputError(f"{between} did not answer the same queries: {len(apart)} differ{example}: {remedy}")
    if not np.array_equal(one.own, other.own):
        raise InputError(
            f"{between} count different queries as dependent (cluster): evaluate both with the same manifest "
            "and --cluster-column"
        )
