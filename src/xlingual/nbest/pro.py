"""PRO, pairwise ranking optimisation (Hopkins and May 2011): a classifier learns which of two is the better.

For each sentence pairs of hypotheses are drawn; those whose sentence BLEU+1 differs by at least `threshold`
count, and of these the `keep` that differ most. Each gives Δf = f(better) − f(worse) as a positive and −Δf as
a negative example; logistic regression without intercept gives the weights.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.errors import InputError, warn
from xlingual.nbest.bleu import sentence_bleu_plus_one
from xlingual.streams import stream


@dataclass(frozen=True)
class Pro:
    """The settings of PRO; the defaults are the paper's."""

    pairs: int = 5000  # drawn for each sentence; where a list has no more, all of them are taken
    keep: int = 50  # of them, those that differ most
    threshold: float = 0.05  # of BLEU+1, 0 to 1: pairs that differ by less say nothing
    l2: float = 1.0  # weight of ‖w‖²/2 beside the sum of the losses

    def __post_init__(self) -> None:
        if self.pairs < 1 or self.keep < 1:
            raise InputError(f"PRO needs 1 pair or more: found pairs {self.pairs}, keep {self.keep}")
        if not 0 <= self.threshold < 1 or not 0 < self.l2 < float("inf"):
            raise InputError(
                f"PRO needs a threshold from 0 to 1 and l2 above 0: found {self.threshold} and {self.l2}"
            )

    def draws(self, offsets: Ints) -> bool:
        """Return whether chance has a part: whether a list has more pairs than are taken."""
        sizes = np.diff(offsets)
        return bool((sizes * (sizes - 1) // 2 > self.pairs).any())


def pro(
    features: Floats, bleu_counts: Ints, offsets: Ints, settings: Pro | None = None, *, seed: int = 0
) -> Floats:
    """Return weights [f] for features [n, f] and BLEU counts [n, 10] of lists at `offsets` [s + 1].

    Raises InputError where no two hypotheses of a list differ enough.
    """
    settings = settings or Pro()
    better, worse = sampled_pairs(sentence_bleu_plus_one(bleu_counts), offsets, settings, seed)
    if not len(better):
        raise InputError(
            f"no two hypotheses of a list differ by {settings.threshold} of sentence BLEU+1: check that the "
            "references are those of these lists, or tune with mira"
        )
    return _logistic(features[better] - features[worse], settings.l2)


def sampled_pairs(gain: Floats, offsets: Ints, settings: Pro, seed: int) -> tuple[Ints, Ints]:
    """Return the rows of the better and of the worse hypothesis of each pair to learn from, [p] each."""
    random = stream(seed, "pro pairs")
    better, worse = [], []
    for begin, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        left, right = _drawn(end - begin, settings.pairs, random)
        difference = gain[begin + left] - gain[begin + right]
        most = np.argsort(-np.abs(difference), kind="stable")[: settings.keep]
        most = most[(np.abs(difference[most]) >= settings.threshold) & (difference[most] != 0)]
        won = difference[most] > 0
        better.append(begin + np.where(won, left[most], right[most]))
        worse.append(begin + np.where(won, right[most], left[most]))
    return np.concatenate(better), np.concatenate(worse)


def _drawn(size: int, most: int, random: np.random.Generator) -> tuple[Ints, Ints]:
    """Return all pairs of a list, or so many drawn at random (a pair may then be drawn twice)."""
    if size * (size - 1) // 2 <= most:
        left, right = np.triu_indices(size, 1)
        return left, right
    left = random.integers(0, size, most)
    right = (left + random.integers(1, size, most)) % size
    return left, right


def _logistic(differences: Floats, l2: float) -> Floats:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    examples = np.concatenate([differences, -differences])
    labels = np.repeat([1, 0], len(differences))
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        try:
            model = LogisticRegression(C=1 / l2, fit_intercept=False, max_iter=10_000).fit(examples, labels)
        except ConvergenceWarning:
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = LogisticRegression(C=1 / l2, fit_intercept=False, max_iter=10_000).fit(examples, labels)
            unfinished = True
        else:
            unfinished = False
    if unfinished:
        warn("PRO's regression did not converge: the features are of very different size; use --standardize")
    weights: Floats = model.coef_[0].astype(np.float64)
    return weights
