"""k-best batch MIRA (Cherry and Foster 2012), with the conventions of Moses.

For each sentence, with b(h) = BLEU of (h + background) × reference length of (h + background):

- hope = argmax w·f(h) + b(h), fear = argmax w·f(h) − b(h);
- where they are two hypotheses and b(hope) > b(fear): loss = b(hope) − b(fear) − w·Δf with Δf = f(hope) −
  f(fear). If loss > 0, w += min(C, loss/‖Δf‖²)·Δf. In either case background = decay·background +
  counts(hope). The background begins with one of each count.

After each epoch the mean of w over all sentences seen so far chooses the best hypothesis of every list; the
epoch whose choice has the best corpus BLEU (unsmoothed) stays. The first index wins every tie.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.errors import InputError
from xlingual.nbest.bleu import COLUMNS, LENGTH, MATCHES, REFERENCE, TOTALS, corpus_bleu
from xlingual.streams import stream

_LEAST = np.finfo(np.float64).tiny  # a count that decayed to 0 would have no logarithm


@dataclass(frozen=True)
class Mira:
    """The settings of MIRA; the defaults are those of Moses."""

    C: float = 0.01  # the largest step
    decay: float = 0.999  # of the background, at each sentence that adds to it
    epochs: int = 60

    def __post_init__(self) -> None:
        if not 0 < self.C < float("inf"):
            raise InputError(f"C, the largest step of MIRA, must be above 0, such as 0.01: found {self.C}")
        if not 0 < self.decay <= 1:
            raise InputError(f"decay must be above 0 and at most 1, such as 0.999: found {self.decay}")
        if self.epochs < 1:
            raise InputError(f"epochs must be 1 or more: found {self.epochs}")


@dataclass(frozen=True)
class Tuned:
    """Weights and how they came about."""

    weights: Floats  # [f], float64
    bleu: float  # corpus BLEU of the choice on the lists they were tuned on, 0 to 100
    epoch: int  # the one whose weights these are, counted from 1
    history: Sequence[float] = ()  # BLEU after each epoch


def mira(
    features: Floats, bleu_counts: Ints, offsets: Ints, settings: Mira | None = None, *, seed: int = 0
) -> Tuned:
    """Return weights [f] for features [n, f] and BLEU counts [n, 10] of lists at `offsets` [s + 1].

    `seed` sets the order of the sentences in each epoch.
    """
    settings = settings or Mira()
    columns = np.ascontiguousarray(features.T, dtype=np.float64)  # [f, n]
    counts = np.ascontiguousarray(bleu_counts.T, dtype=np.float64)  # [10, n]
    weights, total = np.zeros(len(columns)), np.zeros(len(columns))
    background = np.ones(COLUMNS)
    random, order = stream(seed, "mira order"), np.arange(len(offsets) - 1)
    pending = 0  # sentences seen with the present weights, which `total` lacks
    best, history = Tuned(weights, -1.0, 0), []
    for epoch in range(1, settings.epochs + 1):
        random.shuffle(order)
        for sentence in order.tolist():
            rows = slice(offsets[sentence], offsets[sentence + 1])
            step, hope = _step(columns[:, rows], counts[:, rows], weights, background, settings.C)
            if hope is not None:
                background = np.maximum(background * settings.decay + hope, _LEAST)
            if step is not None:
                total, pending = total + weights * pending, 0
                weights = weights + step
            pending += 1
        total, pending = total + weights * pending, 0
        mean = total / (epoch * len(order))
        choice = first_best(model_scores(columns, mean), offsets)
        history.append(float(corpus_bleu(bleu_counts[choice].sum(axis=0), smooth=False)))
        if history[-1] > best.bleu:
            best = Tuned(mean, history[-1], epoch)
    return Tuned(best.weights, best.bleu, best.epoch, tuple(history))


def _step(
    columns: Floats, counts: Floats, weights: Floats, background: Floats, C: float
) -> tuple[Floats | None, Floats | None]:
    """Return the step of a sentence's weights, and the counts that the background gains; None: neither."""
    scores, gain = model_scores(columns, weights), background_bleu(counts, background)
    hope, fear = int((scores + gain).argmax()), int((scores - gain).argmax())
    if hope == fear or not gain[hope] > gain[fear]:
        return None, None
    difference = columns[:, hope] - columns[:, fear]
    loss = gain[hope] - gain[fear] - np.add.accumulate(difference * weights)[-1]
    if not loss > 0:
        return None, counts[:, hope]
    length = np.add.accumulate(difference * difference)[-1]
    return difference * (min(C, loss / length) if length > 0 else C), counts[:, hope]


def background_bleu(counts: Floats, background: Floats) -> Floats:
    """Return b of hypotheses, [n] for counts [10, n]: BLEU with the background × reference length with it."""
    summed = counts + background[:, None]
    logs = np.log(summed[:LENGTH])
    mean = np.add.reduce(logs[MATCHES] - logs[TOTALS], axis=0) / 4
    gain: Floats = np.exp(mean + np.minimum(1 - summed[REFERENCE] / summed[LENGTH], 0)) * summed[REFERENCE]
    return gain


def model_scores(columns: Floats, weights: Floats) -> Floats:
    """Return Σ weight·feature for features [f, n], added up in the order of the features.

    A sum of rows has one order whatever the number of hypotheses; a matrix product has not, and a last bit
    that differs decides between hypotheses that are all but level.
    """
    scores: Floats = np.add.reduce(columns * weights[:, None], axis=0)
    return scores


def first_best(scores: Floats, offsets: Ints) -> Ints:
    """Return the row of the highest score of each list, [s]; the first of equal ones.

    >>> first_best(np.array([1.0, 3, 3, 0, 0]), np.array([0, 3, 5]))
    array([1, 3])
    """
    most = np.maximum.reduceat(scores, offsets[:-1])
    rows = np.flatnonzero(scores == np.repeat(most, np.diff(offsets)))
    return rows[np.searchsorted(rows, offsets[:-1])]
