"""How far approximate values are off, from queries that were evaluated exactly as well.

Of each sample of n queries, m are drawn at random and evaluated both ways; their differences d = approximate
− exact estimate that of all n. Gains (d > 0) and losses (d < 0), scaled by the measure's span to 0..1, have a
Wilson interval each, with the variance of a yes-or-no value: no value between 0 and 1 of that mean varies
more. So many queries without a difference never make the error certain (no difference among 1,000 still
leaves ±0.004). The two intervals are put together by the variance estimates recovered from them (MOVER: Zou
and Donner 2008), and so are the error and the interval of the value itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec
import numpy as np

from xlingual.arrays import Floats
from xlingual.results import Interval
from xlingual.stats.intervals import LEVEL, wilson

METHOD = "checked"


@dataclass(frozen=True)
class Stratum:
    """Differences [m], approximate − exact, of queries drawn from the n of one sample.

    `name` is of the sample: strata of one name are of the same queries. `weight` is what the sample counts
    for in a mean of several, `span` the most that one query can differ.
    """

    name: tuple[str, str, int]
    differences: Floats
    n: int
    span: float
    weight: float = 1.0


def error(strata: Sequence[Stratum]) -> float:
    """Return the estimated error of the approximate value."""
    return math.fsum(s.weight * float(np.mean(s.differences)) for s in strata)


def error_interval(strata: Sequence[Stratum], *, level: float = LEVEL) -> Interval:
    """Return the interval of the error of an approximate value, from the strata of its samples.

    Its width is 0 only where every query was checked. Strata of negative weight belong to a value that is
    subtracted; queries that both values get wrong alike make the interval wider than it need be.
    """
    sides = [[s for s in strata if (s.weight > 0) == positive] for positive in (True, False)]
    low = high = 0.0
    for own in filter(None, sides):
        ends = _of_one(own, level)
        low, high = math.hypot(low, ends[0]), math.hypot(high, ends[1])
    checked = max(sum(len(s.differences) for s in own) for own in sides)
    off = error(strata)
    method = f"Wilson of gains and losses, {checked:,} queries checked"
    return Interval(off - low, off + high, level, method)


def _of_one(strata: Sequence[Stratum], level: float) -> tuple[float, float]:
    """Return how far below and above its estimate the error of one value may be."""
    span = max(s.span for s in strata)
    total = sum(s.weight for s in strata)
    # With v and u for a stratum's share of the mean and what its check leaves open, Σ v²u·p(1 − p) is at most
    # max(vu)·p(1 − p) of the mean p, and equal to it where all strata are alike. Less would take "none among
    # those checked" in one stratum for as much as if the others, checked whole, had shown it.
    unknown = max(s.weight / total * (1 / len(s.differences) - 1 / s.n) for s in strata)
    gain, loss = (
        math.fsum(s.weight * float(np.mean(np.maximum(sign * s.differences, 0.0))) for s in strata)
        / (span * total)
        for sign in (1, -1)
    )
    gain_ends, loss_ends = (_ends(p, unknown, level) for p in (gain, loss))
    below = math.hypot(gain - gain_ends[0], loss_ends[1] - loss)
    above = math.hypot(gain_ends[1] - gain, loss - loss_ends[0])
    scale = span * total
    return (below * scale, above * scale) if scale > 0 else (above * -scale, below * -scale)


def _ends(p: float, unknown: float, level: float) -> tuple[float, float]:
    """Return Wilson's interval of a mean of values from 0 to 1; `unknown` is 1/the number of them."""
    if unknown <= 0:
        return p, p
    return wilson(p, min(p, 1.0) * max(1 - p, 0.0) * unknown, 1 / unknown, level)


def with_error(value: float, ci: Interval, strata: Sequence[Stratum]) -> Interval:
    """Return the interval of an approximate value that holds what the exact one would be an estimate of.

    It is the interval of value − error, and reaches the value itself.
    """
    off, ends = error(strata), error_interval(strata, level=ci.level)
    exact = value - off
    low = exact - math.hypot(value - ci.low, ends.high - off)
    high = exact + math.hypot(ci.high - value, off - ends.low)
    return msgspec.structs.replace(
        ci, low=min(low, value), high=max(high, value), method=f"{ci.method}, {METHOD}"
    )


def weighted(strata: Sequence[Stratum], weight: float) -> tuple[Stratum, ...]:
    """Return the strata with what they count for multiplied by a weight."""
    return tuple(replace(s, weight=s.weight * weight) for s in strata)
