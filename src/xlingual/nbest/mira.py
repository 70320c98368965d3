"""k-best batch MIRA (Cherry and Foster 2012), with the conventions of Moses.

For each sentence, with b(h) = BLEU of (h + background) × reference length of (h + background):

- hope = argmax w·f(h) + b(h), fear = argmax w·f(h) − b(h);
- where they are two hypotheses and b(hope) > b(fear): loss = b(hope) − b(fear) − w·Δf with Δf = f(hope) −
  f(fear). If loss > 0, w += min(C, loss/‖Δf‖²)·Δf. In either case background = decay·background +
  counts(hope).

After each epoch the mean of w over all sentences seen so far chooses the best hypothesis of every list; the
epoch whose choice has the best corpus BLEU (unsmoothed) is kept. The first index wins every tie.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.errors import InputError
from xlingual.nbest.bleu import COLUMNS, LENGTH, MATCHES, REFERENCE, TOTALS, corpus_bleu
from xlingual.nbest.choice import first_best, model_scores
from xlingual.streams import stream

# counts that the background begins with: Moses has one of each, the paper's program one sentence of four
# words that was translated perfectly
BACKGROUNDS = {"ones": (1,) * COLUMNS, "paper": (4, 3, 2, 1, 4, 3, 2, 1, 4, 4)}
PRECISIONS = ("float64", "float32")
AVERAGES = ("sentences", "updates")


@dataclass(frozen=True)
class Mira:
    """The settings of MIRA; the defaults are those of Moses, in double precision."""

    C: float = 0.01  # the largest step
    decay: float = 0.999  # of the background, at each sentence that adds to it
    epochs: int = 60
    shuffle: bool = True  # the sentences, before each epoch
    background: str = "ones"
    precision: str = "float64"
    average: str = "sentences"  # that the mean of weights is over; "updates": those with a step

    def __post_init__(self) -> None:
        if not 0 < self.C < float("inf"):
            raise InputError(f"C, the largest step of MIRA, must be above 0, such as 0.01: found {self.C}")
        if not 0 < self.decay <= 1:
            raise InputError(f"decay must be above 0 and at most 1, such as 0.999: found {self.decay}")
        if self.epochs < 1:
            raise InputError(f"epochs must be 1 or more: found {self.epochs}")
        for name, known in (("background", BACKGROUNDS), ("precision", PRECISIONS), ("average", AVERAGES)):
            if getattr(self, name) not in known:
                raise InputError(f"{name} must be {' or '.join(known)}: found {getattr(self, name)!r}")


@dataclass(frozen=True)
class Tuned:
    """Weights and how they came about."""

    weights: Floats  # [f], float64
    bleu: float  # corpus BLEU of the choice on the lists they were tuned on, 0 to 100
    epoch: int  # the one that was kept, counted from 1
    history: Sequence[float] = ()  # BLEU after each epoch
    updates: Sequence[int] = ()  # steps in each epoch


def mira(
    features: Floats,
    bleu_counts: Ints,
    offsets: Ints,
    settings: Mira | None = None,
    *,
    seed: int = 0,
    start: Floats | None = None,
) -> Tuned:
    """Return weights [f] for features [n, f] and BLEU counts [n, 10] of lists at `offsets` [s + 1].

    `seed` sets the order of the sentences in each epoch; `start` are weights to begin with, else zeros.
    """
    settings = settings or Mira()
    kind = np.dtype(settings.precision)
    columns = np.ascontiguousarray(features.T, dtype=kind)  # [f, n]
    state = _State(
        columns, np.ascontiguousarray(bleu_counts.T, dtype=kind), offsets.tolist(), settings, start
    )
    random = stream(seed, "mira order")
    order = np.arange(len(offsets) - 1)
    best: Tuned | None = None
    history, updates = [], []
    for epoch in range(1, settings.epochs + 1):
        if settings.shuffle:
            random.shuffle(order)
        updates.append(state.epoch(order.tolist()))
        mean = state.mean()
        chosen = first_best(model_scores(columns, mean), offsets)
        history.append(float(corpus_bleu(bleu_counts[chosen].sum(axis=0), smooth=False)))
        if best is None or history[-1] > best.bleu:
            best = Tuned(mean.astype(np.float64), history[-1], epoch)
    assert best is not None  # epochs ≥ 1
    return Tuned(best.weights, best.bleu, best.epoch, tuple(history), tuple(updates))


class _State:
    """Weights, their sum over sentences, and the background, during a pass over the sentences."""

    def __init__(
        self, columns: Floats, bleu_counts: Floats, offsets: list[int], settings: Mira, start: Floats | None
    ) -> None:
        kind = columns.dtype
        self.columns, self.bleu_counts, self.offsets = columns, bleu_counts, offsets
        self.weights = np.zeros(len(columns), kind) if start is None else np.array(start, kind)
        self.total = np.zeros_like(self.weights)  # of the weights after each of `added` sentences
        self.seen = self.added = 0
        self.background = np.array(BACKGROUNDS[settings.background], kind)
        self.C, self.decay = kind.type(settings.C), kind.type(settings.decay)
        self.per_update = settings.average == "updates"
        # where a count would decay to 0 in the end its logarithm would be no number
        self.least = np.finfo(kind).tiny

    def epoch(self, order: list[int]) -> int:
        """Pass over the sentences in this order; return the number of steps."""
        steps = 0
        for sentence in order:
            stepped = self.sentence(self.offsets[sentence], self.offsets[sentence + 1])
            steps += stepped
            self.seen += stepped or not self.per_update
        return steps

    def mean(self) -> Floats:
        """Return the mean of the weights over all sentences so far."""
        self._add_up()
        return self.total / self.weights.dtype.type(self.seen) if self.seen else self.weights.copy()

    def sentence(self, begin: int, end: int) -> bool:
        """Take the step of one sentence, whose hypotheses are these rows; return whether there was one."""
        if end - begin < 2:
            return False
        columns, bleu_counts = self.columns[:, begin:end], self.bleu_counts[:, begin:end]
        scores = model_scores(columns, self.weights)
        gain = background_bleu(bleu_counts, self.background)
        hope, fear = int((scores + gain).argmax()), int((scores - gain).argmax())
        if hope == fear or not gain[hope] > gain[fear]:
            return False
        difference = columns[:, hope] - columns[:, fear]
        loss = gain[hope] - gain[fear] - np.add.accumulate(difference * self.weights)[-1]
        stepped = bool(loss > 0)
        if stepped:
            self._add_up()
            length = np.add.accumulate(difference * difference)[-1]
            size = min(self.C, loss / length) if length > 0 else self.C
            self.weights = self.weights + difference * size
        self.background = np.maximum(self.background * self.decay + bleu_counts[:, hope], self.least)
        return stepped

    def _add_up(self) -> None:
        """Bring the sum up to date: all that was seen since then was seen with the present weights."""
        self.total = self.total + self.weights * self.weights.dtype.type(self.seen - self.added)
        self.added = self.seen


def background_bleu(bleu_counts: Floats, background: Floats) -> Floats:
    """Return b of hypotheses, [n] for counts [10, n]: BLEU with the background × reference length with it."""
    summed = bleu_counts + background[:, None]
    logs = np.log(summed[:LENGTH])
    mean = np.add.reduce(logs[MATCHES] - logs[TOTALS], axis=0) / 4
    brevity = np.minimum(1 - summed[REFERENCE] / summed[LENGTH], 0)
    found: Floats = np.exp(mean + brevity) * summed[REFERENCE]
    return found
