"""One run of a tuner, whichever it is."""

from __future__ import annotations

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.errors import InputError
from xlingual.nbest.bleu import corpus_bleu
from xlingual.nbest.choice import first_best
from xlingual.nbest.lists import NBestLists
from xlingual.nbest.mira import Mira, mira
from xlingual.nbest.pro import Pro, pro
from xlingual.nbest.weights import Tuning, scored

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
    epoch: int | None = None
    if isinstance(settings, Mira):
        found = mira(features, of, lists.offsets, settings, seed=seed)
        weights, epoch = found.weights, found.epoch
    else:
        weights = pro(features, of, lists.offsets, settings, seed=seed)
    chosen = first_best(scored(lists, scale, weights), lists.offsets)
    return Tuning(seed, weights.tolist(), float(corpus_bleu(of[chosen].sum(axis=0))), epoch)
