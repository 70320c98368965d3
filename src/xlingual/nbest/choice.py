"""Choosing a hypothesis of each list: the best by weights, and the bounds of what weights can reach."""

from __future__ import annotations

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.nbest.bleu import sentence_bleu
from xlingual.nbest.lists import NBestLists
from xlingual.streams import stream


def first_best(scores: Floats, offsets: Ints) -> Ints:
    """Return the row of the highest score of each list, [s]; the first of equal ones.

    >>> first_best(np.array([1.0, 3, 3, 0, 0]), np.array([0, 3, 5]))
    array([1, 3])
    """
    most = np.maximum.reduceat(scores, offsets[:-1])
    rows = np.flatnonzero(scores == np.repeat(most, np.diff(offsets)))
    return rows[np.searchsorted(rows, offsets[:-1])]


def model_scores(columns: Floats, weights: Floats) -> Floats:
    """Return Σ weight·feature for features [f, n], added up in the order of the features.

    A sum of rows has one order whatever the number of hypotheses; a matrix product has not, and a last bit
    that differs decides between hypotheses that are all but level.
    """
    found: Floats = np.add.reduce(columns * weights[:, None], axis=0)
    return found


def decoder_best(lists: NBestLists) -> Ints:
    """Return the decoder's own choice, [s]: its highest score, the first of equal ones."""
    return first_best(lists.scores, lists.offsets)


def oracle(bleu_counts: Ints, offsets: Ints) -> Ints:
    """Return the rows with the best sentence BLEU, [s], for counts [n, 10]; the first of equal ones.

    Not the greatest corpus BLEU that the lists hold, but near it.
    """
    return first_best(sentence_bleu(bleu_counts), offsets)


def anti_oracle(bleu_counts: Ints, offsets: Ints) -> Ints:
    """Return the rows with the worst sentence BLEU, [s]; the first of equal ones."""
    return first_best(-sentence_bleu(bleu_counts), offsets)


def random_choices(offsets: Ints, draws: int, seed: int) -> Ints:
    """Return rows drawn at random, each hypothesis of a list with equal chance, [draws, s]."""
    random = stream(seed, "nbest random choice")
    sizes = np.diff(offsets)
    return offsets[:-1] + random.integers(0, sizes, size=(draws, len(sizes)))
