"""The difference in BLEU of two ways to choose, by the paired bootstrap over sentences (Koehn 2004)."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from msgspec import Struct

from xlingual.arrays import Floats, Ints
from xlingual.nbest.bleu import corpus_bleu
from xlingual.results.values import Interval, Number, Share, about
from xlingual.streams import stream

SAMPLES = 1000
LEVEL = 0.95


class Difference(Struct, frozen=True):
    """First minus second, in BLEU points."""

    value: Annotated[Number, about("In BLEU points.")]
    ci: Annotated[Interval, about("Of a paired bootstrap of sentences.")]
    p: Annotated[Share, about("Of no difference, two-sided.")]


def paired_bootstrap(first: Ints, second: Ints, *, samples: int = SAMPLES, seed: int = 0) -> Difference:
    """Return the difference of mean BLEU for counts [r, s, 10] of r tunings of each way, paired.

    The interval holds the middle 95 % of the differences of resampled sentences; p is the share whose
    distance from their mean is at least the difference, (c + 1)/(samples + 1).
    """
    sentences = first.shape[1]
    random = stream(seed, "nbest paired bootstrap")
    times = random.multinomial(sentences, np.full(sentences, 1 / sentences), size=samples).astype(np.float64)
    value = float(_mean_bleu(first.sum(axis=1)) - _mean_bleu(second.sum(axis=1)))
    drawn = _mean_bleu(_resampled(times, first)) - _mean_bleu(_resampled(times, second))
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    reached = int((np.abs(drawn - drawn.mean()) >= abs(value)).sum())
    ci = Interval(float(low), float(high), LEVEL, f"paired bootstrap of sentences, {samples} resamples")
    return Difference(value, ci, (reached + 1) / (samples + 1))


def _resampled(times: Floats, of: Ints) -> Floats:
    """Return the summed counts of resamples, [r, samples, 10]: whole numbers, exact in float64."""
    return np.stack([times @ one for one in of.astype(np.float64)])


def _mean_bleu(summed: Floats | Ints) -> Floats:
    """Return the mean over tunings, [...] for counts [r, ..., 10]."""
    found: Floats = corpus_bleu(summed).mean(axis=0)
    return found
