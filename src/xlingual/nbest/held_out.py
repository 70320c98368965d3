"""One run of a tuner, whichever it is, and its choices on sentences that took no part in it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.errors import InputError
from xlingual.nbest.bleu import corpus_bleu
from xlingual.nbest.choice import first_best
from xlingual.nbest.lists import NBestLists
from xlingual.nbest.mira import Mira, mira
from xlingual.nbest.pro import Pro, pro
from xlingual.nbest.weights import Tuning, scored
from xlingual.streams import stream

_LARGEST = {"float64": 1e100, "float32": 1e12}  # features whose squares can still be added up


def draws(settings: Mira | Pro, lists: NBestLists) -> bool:
    """Return whether chance has a part in tuning, so that runs with other seeds differ."""
    return settings.shuffle if isinstance(settings, Mira) else settings.draws(lists.offsets)


def tuned(lists: NBestLists, of: Ints, scale: Floats, settings: Mira | Pro, seed: int) -> Tuning:
    """Return one run of the tuner on features divided by `scale` [f], for BLEU counts [n, 10]."""
    features = lists.features / scale
    precision = settings.precision if isinstance(settings, Mira) else "float64"
    for name, size in zip(lists.names, np.abs(features).max(axis=0), strict=True):
        if size > _LARGEST[precision]:
            raise InputError(
                f"feature {name!r} has values up to {size:.3g}, too large to compute with in {precision}: "
                "divide it, or use --standardize"
            )
    if isinstance(settings, Mira):
        found = mira(features, of, lists.offsets, settings, seed=seed)
        weights, epoch = found.weights, found.epoch
    else:
        weights, epoch = pro(features, of, lists.offsets, settings, seed=seed), None
    chosen = first_best(scored(lists, scale, weights), lists.offsets)
    return Tuning(seed, weights.tolist(), float(corpus_bleu(of[chosen].sum(axis=0))), epoch)


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
    scale = lists.scale(standardize)
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
