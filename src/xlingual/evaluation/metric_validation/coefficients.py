"""Coefficients of agreement over encoders, their two-way bootstrap, and the intervals from its replicates.

After Deutsch, Dror and Roth 2021 ("A Statistical Analysis of Summarization Evaluation Metrics Using
Resampling Methods", TACL): systems and inputs are both samples, and both are drawn again. A system is here a
*family* of encoders, drawn with all its members. Items are drawn in linearised form: an encoder's score
moves by influence·(w − 1), where w counts how often each cluster was drawn.

Coefficients are of scores [..., E]; the weight of an encoder is how often it counts. A coefficient that is
not defined (all encoders equal) is NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from xlingual.arrays import Floats
from xlingual.results import Interval
from xlingual.streams import stream

LEVEL = 0.95
METHOD = "two-way bootstrap, Zou 2007"
FEWEST_ENCODERS = 3
FEWEST_FAMILIES = 5  # of fewer, over a third of the draws hold fewer than three encoders
MOST_DEGENERATE = 0.1  # share of replicates that may be undefined
_DIGITS = 12  # scores that differ by less, relative to the largest, are equal: sums in another order
_CELLS = 4_000_000  # of a block of drawn items
_ONE_SIGMA = (0.158655, 0.841345)  # of a normal distribution: one standard deviation below and above
_CALM = 1e-9  # a spread of nothing
_ROUNDING = 1e-12
_NARROWER = np.linspace(0, 1, 201)  # narrower intervals, by their t as a share of the usual t


def pearson(x: Floats, y: Floats, weight: Floats | None = None) -> Floats:
    """Correlate scores [..., E] as Pearson does."""
    x, y = _scaled(x), _scaled(y)
    weight = np.ones(x.shape[-1]) if weight is None else weight
    share = weight / np.sum(weight, axis=-1, keepdims=True)
    dx, dy = (a - np.sum(share * a, axis=-1, keepdims=True) for a in (x, y))
    squares = np.sum(share * dx * dx, axis=-1), np.sum(share * dy * dy, axis=-1)
    varies = np.sqrt(np.minimum(*squares)) > 10.0**-_DIGITS  # scores are at most 1 in size here
    with np.errstate(invalid="ignore", divide="ignore"):
        r = np.sum(share * dx * dy, axis=-1) / np.sqrt(squares[0] * squares[1])
    return np.where(varies, np.clip(r, -1, 1), np.nan)


def spearman(x: Floats, y: Floats, weight: Floats | None = None) -> Floats:
    """Correlate midranks."""
    return pearson(midranks(x, weight), midranks(y, weight), weight)


def accuracy(x: Floats, y: Floats, weight: Floats | None = None) -> Floats:
    """Count the share of pairs of encoders in the same order by both; a tie counts as a tie.

    Copies of one encoder are no pair.
    """
    x, y = without_rounding(x), without_rounding(y)
    weight = np.ones(x.shape[-1]) if weight is None else weight
    same, total = np.zeros(()), np.zeros(())
    for j in range(x.shape[-1]):
        at = slice(j, j + 1)
        pairs = weight * weight[..., at] * (np.arange(x.shape[-1]) != j)
        agree = np.sign(x - x[..., at]) == np.sign(y - y[..., at])
        same, total = same + np.sum(pairs * agree, axis=-1), total + np.sum(pairs, axis=-1)
    return np.asarray(same / total)


def midranks(x: Floats, weight: Floats | None = None) -> Floats:
    """Rank scores, less one half; equal ones share the mean of their ranks, copies take ranks too."""
    x = without_rounding(x)
    weight = np.ones(x.shape[-1]) if weight is None else weight
    ranks = np.zeros(())
    for j in range(x.shape[-1]):
        at = slice(j, j + 1)
        ranks = ranks + weight[..., at] * ((x > x[..., at]) + 0.5 * (x == x[..., at]))
    return ranks


def without_rounding(x: Floats) -> Floats:
    """Put scores in units of the largest, without the digits that rounding makes."""
    return np.round(_scaled(x), _DIGITS)


def _scaled(x: Floats) -> Floats:
    x = np.asarray(x, dtype=np.float64)
    scale = np.max(np.abs(x), axis=-1, keepdims=True)
    return np.asarray(x / np.where(scale > 0, scale, 1.0))


Coefficient = Callable[[Floats, Floats, Floats | None], Floats]
KINDS: Mapping[str, Coefficient] = {"pearson": pearson, "spearman": spearman, "accuracy": accuracy}


class NoIntervalError(ValueError):
    """There is no interval; the text says why, as a note."""


def draw_items(influences: Sequence[Floats], seed: int, replicates: int) -> Floats:
    """Draw the changes of scores on other items, float64 [B, rows], for influences [rows] of [clusters].

    Rows of as many clusters are moved by the same draws. Rows without influences do not move.
    """
    moved = np.zeros((replicates, len(influences)))
    for n in sorted({len(row) for row in influences} - {0}):
        rows = [i for i, row in enumerate(influences) if len(row) == n]
        matrix = np.stack([influences[i] for i in rows]).T  # [clusters, rows]
        rng = stream(seed, "agreement items")
        step = max(_CELLS // n, 1)
        for start in range(0, replicates, step):
            size = min(step, replicates - start)
            draws = rng.multinomial(n, np.full(n, 1 / n), size)
            moved[start : start + size, rows] = (draws - 1.0) @ matrix
    return moved


def draw_families(families: Sequence[str], seed: int, replicates: int) -> Floats:
    """Draw families with replacement: how often each encoder counts [B, E].

    Draws of fewer than three distinct encoders are drawn again. Raises NoIntervalError for fewer than five
    families.
    """
    names, code = np.unique(np.asarray(families), return_inverse=True)
    n = len(names)
    if n < FEWEST_FAMILIES:
        count = "1 family is" if n == 1 else f"{n} families are"
        raise NoIntervalError(
            f"no interval: {count} too few to draw from, at least {FEWEST_FAMILIES} are needed"
        )
    rng = stream(seed, "agreement families")
    weight = np.zeros((replicates, len(code)))
    few = np.arange(replicates)
    while len(few):  # at most .0976 of the draws, those of five families of one encoder
        weight[few] = rng.multinomial(n, np.full(n, 1 / n), len(few))[:, code]
        few = few[np.count_nonzero(weight[few], axis=1) < FEWEST_ENCODERS]
    return weight


@dataclass(frozen=True)
class FisherZ:
    """A coefficient on Fisher's scale: its intervals are tanh(z ± t·s), t of families − 1 degrees."""

    kind: str
    value: float  # on its own scale
    center: float
    error: float
    n_families: int
    method: str

    @classmethod
    def of(cls, kind: str, value: float, replicates: Floats, n_encoders: int, n_families: int) -> FisherZ:
        """Compute the standard error s of a coefficient's z from its replicates.

        s is half the distance between the 16th and the 84th percentile of the replicates' z: a few replicates
        of nearly collinear encoders do not move it as they would a standard deviation. √(F/(F − 1)) makes up
        for what drawing from few families loses. Where (nearly) no replicate differs, the variance is that of
        independent normal data (Fieller, Hartley and Pearson 1957). Raises NoIntervalError where there is
        none.
        """
        defined = replicates[np.isfinite(replicates)]
        lost = 1 - len(defined) / len(replicates)
        if lost > MOST_DEGENERATE:
            raise NoIntervalError(f"no interval: undefined in {lost:.0%} of the replicates")
        low, high = np.quantile(z_of(kind, defined, n_encoders), _ONE_SIGMA)
        error = float(high - low) / 2 * float(np.sqrt(n_families / (n_families - 1)))
        method = f"z ± t·s, two-way bootstrap: {n_families} families, items"
        if error <= _CALM:
            if kind == "pearson":
                raise NoIntervalError("no interval: no replicate differs")
            numerator, less = {"spearman": (1.06, 3), "accuracy": (0.437, 4)}[kind]
            error = float(np.sqrt(numerator / (n_families - less)))  # there are five families at least
            method = f"Fisher z, {n_families} families"
        return cls(kind, value, float(z_of(kind, np.array(value), n_encoders)), error, n_families, method)

    def ends(self, t: Floats) -> tuple[Floats, Floats]:
        """Compute both ends for each t, on the coefficient's own scale; they enclose the value."""
        low, high = np.tanh(self.center - t * self.error), np.tanh(self.center + t * self.error)
        if self.kind == "accuracy":
            low, high = (low + 1) / 2, (high + 1) / 2
        return np.minimum(low, self.value), np.maximum(high, self.value)

    @property
    def t(self) -> float:
        """The t of intervals at the usual level."""
        from scipy.special import stdtrit

        return float(stdtrit(self.n_families - 1, 0.5 + LEVEL / 2))

    @property
    def interval(self) -> Interval:
        """The interval tanh(z ± t·s) at the usual level."""
        low, high = self.ends(np.array(self.t))
        return Interval(float(low), float(high), LEVEL, self.method)


def z_of(kind: str, value: Floats, n_encoders: int) -> Floats:
    """Compute Fisher's z of coefficients; a share p of pairs is the correlation 2p − 1.

    Coefficients at a bound are moved inside by half of the smallest step that ranks of so many encoders make.
    """
    n = n_encoders
    half_step = {"pearson": 1e-9, "spearman": 6 / (n**3 - n), "accuracy": 2 / (n * (n - 1))}[kind]
    r = 2 * value - 1 if kind == "accuracy" else value
    return np.asarray(np.arctanh(np.clip(r, half_step - 1, 1 - half_step)))


def difference_interval(one: FisherZ, two: FisherZ, c: float) -> tuple[Interval, float]:
    """Compute Zou's interval (2007) of a difference, and the two-sided p that goes with it.

    low = d − √((r₁ − l₁)² + (u₂ − r₂)² − 2c(r₁ − l₁)(u₂ − r₂)), high likewise with u₁ and l₂; c is the
    correlation of both z. With a c near 1 that need not grow with the level, so the interval holds those of
    all lower levels too. p belongs to this interval (Altman and Bland 2011): its arm towards zero is as long
    as the t of its level in standard errors, so p < .05 exactly where the 95 % interval leaves out zero.
    """
    from scipy.special import stdtr

    def arm(a: Floats, b: Floats) -> float:
        squares = a * a + b * b - 2 * min(max(c, -1.0), 1.0) * a * b
        return float(np.sqrt(np.maximum(squares, 0.0)).max())

    (low_1, high_1), (low_2, high_2) = (each.ends(one.t * _NARROWER) for each in (one, two))
    down, up = arm(one.value - low_1, high_2 - two.value), arm(high_1 - one.value, two.value - low_2)
    difference = one.value - two.value
    towards = max(down if difference > 0 else up, _ROUNDING)
    p = 2 * float(stdtr(one.n_families - 1, -one.t * abs(difference) / towards)) if difference else 1.0
    return Interval(max(difference - down, -2.0), min(difference + up, 2.0), LEVEL, METHOD), p
