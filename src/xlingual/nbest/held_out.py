"""Choices on sentences that took no part in tuning: by cross-validation, or on other lists."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from xlingual.arrays import Ints
from xlingual.errors import InputError
from xlingual.nbest.choice import first_best
from xlingual.nbest.lists import NBestLists
from xlingual.nbest.mira import Mira
from xlingual.nbest.pro import Pro
from xlingual.nbest.runs import tuned
from xlingual.nbest.standardize import scales, within_list_spread
from xlingual.nbest.weights import scored
from xlingual.streams import stream


def cross_validated(
    lists: NBestLists, of: Ints, settings: Mira | Pro, *, folds: int, seed: int, run: int, standardize: bool
) -> Ints:
    """Return a row for each list, [s], chosen by weights that were tuned on the other folds.

    `seed` divides the sentences, `run` is the seed of the tunings; `of` are BLEU counts [n, 10].
    """
    chosen = np.zeros(len(lists), dtype=np.int64)
    for held_out, others in divisions(len(lists), folds, seed):
        rows = lists.rows_of(held_out)
        here, there = lists.take(others), lists.take(held_out)
        best = transferred(here, of[lists.rows_of(others)], there, settings, run, standardize)
        chosen[held_out] = rows[best]
    return chosen


def transferred(
    lists: NBestLists, of: Ints, other: NBestLists, settings: Mira | Pro, run: int, standardize: bool
) -> Ints:
    """Return the rows that weights tuned on `lists` choose in `other`, [s of other]."""
    scale = scales(within_list_spread(lists), standardize)
    found = tuned(lists, of, scale, settings, run)
    return first_best(scored(other, scale, np.array(found.weights)), other.offsets)


def divisions(sentences: int, folds: int, seed: int) -> Iterator[tuple[Ints, Ints]]:
    """Yield the sentences of each fold and all others, both ascending; folds are drawn with the seed."""
    if not 2 <= folds <= sentences:
        raise InputError(f"folds must be from 2 to the number of lists, {sentences:,}: found {folds}")
    shuffled = stream(seed, "nbest folds").permutation(sentences)
    for part in np.array_split(shuffled, folds):
        held_out = np.sort(part)
        yield held_out, np.setdiff1d(np.arange(sentences), held_out)
