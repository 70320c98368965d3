"""The expected precision at the rank of one relevant candidate: what average precision is the mean of."""

from __future__ import annotations

import numpy as np

from xlingual.measures.harmonic import harmonic_difference
from xlingual.records import Floats, Ints


def precision_at(above: Ints, tied: Ints, relevant_above: Ints, relevant_tied: Ints) -> Floats:
    """Return the expected precision at the rank of each relevant candidate, float64 [p] in 0..1.

    A candidate with G candidates above, ρ of them relevant, in a tie group of n, r of them relevant (itself
    included): c + (ρ + 1 − c(G + 1))·(H(G + n) − H(G))/n, c = (r − 1)/(n − 1) or 0: at place j of its group
    there are G + j candidates, of which ρ + 1 + c(j − 1) are expected to be relevant, and each j is equally
    likely. The mean over the R relevant candidates of a question is its average precision.
    """
    found = np.asarray((relevant_above + 1.0) / (above + 1.0), dtype=np.float64)
    several = np.flatnonzero(tied > 1)
    if len(several):  # the rest needs no harmonic numbers, and ties are rare
        G, n = above[several], tied[several]
        beside = (relevant_tied[several] - 1) / (n - 1)
        weight = relevant_above[several] + 1 - beside * (G + 1.0)
        found[several] = beside + weight * reciprocal_rank(G, n)
    return found


def reciprocal_rank(above: Ints, tied: Ints) -> Floats:
    """Return E[1/rank] = (H(G + n) − H(G))/n of a candidate with G above in a tie group of n, float64 [p]."""
    found = np.asarray(1.0 / (above + 1.0), dtype=np.float64)
    several = np.flatnonzero(tied > 1)
    if len(several):
        G, n = above[several], tied[several]
        found[several] = harmonic_difference(G, n) / n
    return found
