"""The probability that two encoders are in the right order: logistic, in two features, without intercept.

    logit p = w₁ · L(z) · log(1 + best/.02) + w₂ · L(z of SIM),    L(x) = sign(x) · log(1 + |x|)

z is the gap of the two BkR in standard errors, `best` the leader's BkR above chance. Both weights are at
least 0, so p rises with either gap, and exchanging the two encoders gives 1 − p.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec
import numpy as np

from xlingual.arrays import Floats
from xlingual.results.order_confidence import OrderBasis, OrderBin

PATH = Path(__file__).parent / "fitted.json"
FEATURES = ("gap of BkR × resolution", "gap of SIM")
STEP = 0.02  # of BkR above chance, about a standard error of 365 queries


def resolution(best: Floats) -> Floats:
    """Return log(1 + best/.02), 0 for a leader below chance."""
    found: Floats = np.log1p(np.maximum(best, 0.0) / STEP)
    return found


def damped(z: Floats) -> Floats:
    """Return sign(z) · log(1 + |z|)."""
    found: Floats = np.sign(z) * np.log1p(np.abs(z))
    return found


def features(z: Floats, z_sim: Floats, best: Floats) -> Floats:
    """Return the features [n, 2] of n pairs."""
    return np.column_stack([damped(z) * resolution(best), damped(z_sim)])


def expit(x: Floats) -> Floats:
    """Return 1/(1 + exp(−x))."""
    found: Floats = 0.5 * (1 + np.tanh(0.5 * np.asarray(x)))
    return found


@cache
def fitted() -> OrderBasis:
    """Return what the benchmark fitted."""
    return msgspec.json.decode(PATH.read_bytes(), type=OrderBasis)


def probability(basis: OrderBasis, z: float, z_sim: float, best: float) -> float:
    """Return p for one pair; beyond what was seen, gaps and `best` count as the largest seen."""
    gaps = np.clip([z, z_sim], -basis.most_z, basis.most_z)
    of_one = features(gaps[:1], gaps[1:], np.array([min(best, basis.most_best)]))
    return float(expit(of_one @ np.array(basis.coefficients))[0])


def bin_of(basis: OrderBasis, p: float, leader: bool) -> OrderBin:
    """Return the bin of a probability, among those of leaders and others or those of other neighbours."""
    return next(one for one in reversed(basis.bins) if one.leader == leader and p >= one.low)
