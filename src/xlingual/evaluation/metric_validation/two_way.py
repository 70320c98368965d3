"""Two-way bootstrap of agreement: other families of encoders, and other items.

After Deutsch, Dror and Roth 2021 ("A Statistical Analysis of Summarization Evaluation Metrics Using
Resampling Methods", TACL): systems and inputs are both samples, and both are drawn again. What is drawn as a
system is a *family* of encoders, with all its members. Items are drawn in linearised form: an encoder's score
moves by influence·(w − 1), where w counts how often each cluster was drawn.

Coefficients are of scores [..., E] for many reweightings of the encoders at once; the weight of an encoder is
how often it counts. One that is not defined (all encoders equal) is NaN here; callers turn it into a
reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from xlingual.arrays import Floats
from xlingual.results import Interval
from xlingual.streams import stream

LEVEL = 0.95
_DIGITS = 12  # scores that differ by less, relative to the largest, are equal: sums in another order
_CELLS = 4_000_000  # of a block of comparisons of encoders
FEWEST_ENCODERS = 3
FEWEST_FAMILIES = 5  # of fewer, over a third of the draws hold fewer than three encoders
MOST_DEGENERATE = 0.1  # share of replicates that may be undefined
_BLOCK = 4_000_000  # cells of a block of drawn items
_ONE_SIGMA = (0.158655, 0.841345)  # of a normal distribution: one standard deviation below and above
_CALM = 1e-9  # a spread of nothing


def pearson(x: Floats, y: Floats, weight: Floats | None = None) -> Floats:
    """Return Pearson's correlation [...] of scores [..., E]."""
    x, y = _scaled(x), _scaled(y)
    share = _share(x, weight)
    dx = x - np.sum(share * x, axis=-1, keepdims=True)
    dy = y - np.sum(share * y, axis=-1, keepdims=True)
    squares = np.sum(share * dx * dx, axis=-1), np.sum(share * dy * dy, axis=-1)
    norm = np.sqrt(squares[0] * squares[1])
    least = 10.0**-_DIGITS  # scores are at most 1 in size here
    varies = (np.sqrt(squares[0]) > least) & (np.sqrt(squares[1]) > least)
    with np.errstate(invalid="ignore", divide="ignore"):
        r = np.sum(share * dx * dy, axis=-1) / norm
    return np.where(varies, np.clip(r, -1, 1), np.nan)


def spearman(x: Floats, y: Floats, weight: Floats | None = None) -> Floats:
    """Return Spearman's correlation [...]: Pearson's of midranks."""
    return pearson(midranks(x, weight), midranks(y, weight), weight)


def accuracy(x: Floats, y: Floats, weight: Floats | None = None) -> Floats:
    """Return the share [...] of pairs of encoders in the same order by both; a tie counts as a tie.

    Copies of one encoder are no pair.
    """

    def of_block(a: Floats, b: Floats, w: Floats) -> Floats:
        same = np.sign(a[:, :, None] - a[:, None, :]) == np.sign(b[:, :, None] - b[:, None, :])
        pairs = w[:, :, None] * w[:, None, :] * ~np.eye(a.shape[-1], dtype=bool)
        total = np.sum(pairs, axis=(1, 2))
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(np.sum(pairs * same, axis=(1, 2)) / total)

    return _by_block(of_block, without_rounding(x), without_rounding(y), weight)


def midranks(x: Floats, weight: Floats | None = None) -> Floats:
    """Return the mean ranks [..., E] that equal scores share, less one half; copies take ranks too."""

    def of_block(a: Floats, _: Floats, w: Floats) -> Floats:
        above = a[:, :, None] - a[:, None, :]
        return np.asarray(np.sum(w[:, None, :] * ((above > 0) + 0.5 * (above == 0)), axis=2))

    rounded = without_rounding(x)
    return _by_block(of_block, rounded, rounded, weight)


def constant(x: Floats) -> bool:
    """Return whether all scores [E] are equal."""
    return bool(np.ptp(without_rounding(x)) == 0)


def without_rounding(x: Floats) -> Floats:
    """Return the scores [..., E] in units of the largest, without the digits that rounding makes."""
    return np.round(_scaled(x), _DIGITS)


def _scaled(x: Floats) -> Floats:
    x = np.asarray(x, dtype=np.float64)
    scale = np.max(np.abs(x), axis=-1, keepdims=True)
    return np.asarray(x / np.where(scale > 0, scale, 1.0))


def _share(x: Floats, weight: Floats | None) -> Floats:
    if weight is None:
        return np.full(x.shape[-1], 1 / x.shape[-1])
    total = np.sum(weight, axis=-1, keepdims=True)
    return np.asarray(weight / np.where(total > 0, total, 1.0))


def _by_block(
    function: Callable[[Floats, Floats, Floats], Floats], x: Floats, y: Floats, weight: Floats | None
) -> Floats:
    """Return function(x, y, weight) of leading axes put into one and cut into blocks that fit into memory."""
    n = x.shape[-1]
    given = np.ones(n) if weight is None else weight
    wide = np.broadcast_shapes(x.shape, y.shape, given.shape)
    rows = [np.broadcast_to(a, wide).reshape(-1, n) for a in (x, y, given)]
    step = max(_CELLS // (n * n), 1)
    starts = range(0, len(rows[0]), step)
    out = np.concatenate([function(*(a[start : start + step] for a in rows)) for start in starts])
    return out.reshape(wide[:-1] + out.shape[1:])


Coefficient = Callable[[Floats, Floats, Floats | None], Floats]
KINDS: Mapping[str, Coefficient] = {"pearson": pearson, "spearman": spearman, "accuracy": accuracy}


class NoIntervalError(ValueError):
    """There is no interval; the text says why, as a note."""


@dataclass(frozen=True)
class Drawn:
    """Replicates: how often each encoder counts [B, E], and the number of its families."""

    weight: Floats
    n_families: int


def draw_items(influences: Sequence[Floats], seed: int, replicates: int) -> Floats:
    """Return the changes of scores on other items: float64 [B, rows] for influences [rows] of [clusters].

    Rows of as many clusters are moved by the same draws. Rows without influences do not move.
    """
    moved = np.zeros((replicates, len(influences)))
    for n in sorted({len(row) for row in influences} - {0}):
        rows = [i for i, row in enumerate(influences) if len(row) == n]
        matrix = np.stack([influences[i] for i in rows]).T  # [clusters, rows]
        rng = stream(seed, "agreement items")
        step = max(_BLOCK // n, 1)
        for start in range(0, replicates, step):
            size = min(step, replicates - start)
            drawn = rng.multinomial(n, np.full(n, 1 / n), size)
            moved[start : start + size, rows] = (drawn - 1.0) @ matrix
    return moved


def draw_families(families: Sequence[str], seed: int, replicates: int) -> Drawn:
    """Return replicates in which families are drawn with replacement, those of too few encoders drawn again.

    Every replicate has three distinct encoders or more. Raises NoIntervalError for fewer than five families.
    """
    names, code = np.unique(np.asarray(families), return_inverse=True)
    n = len(names)
    if n < 2:
        raise NoIntervalError("no interval: all encoders are of one family")
    if n < FEWEST_FAMILIES:
        raise NoIntervalError(
            f"no interval: {n} families are too few to draw from, at least {FEWEST_FAMILIES} are needed"
        )
    rng = stream(seed, "agreement families")
    weight = np.zeros((replicates, len(code)))
    few = np.arange(replicates)
    while len(few):  # at most .0976 of the draws, those of five families of one encoder
        weight[few] = rng.multinomial(n, np.full(n, 1 / n), len(few))[:, code]
        few = few[np.count_nonzero(weight[few], axis=1) < FEWEST_ENCODERS]
    return Drawn(weight, n)


def replicated(kind: str, x: Floats, y: Floats, drawn: Drawn) -> Floats:
    """Return the coefficient [B] of scores [B, E]; NaN where a replicate leaves it undefined."""
    return KINDS[kind](x, y, drawn.weight)


@dataclass(frozen=True)
class OnZ:
    """A coefficient on Fisher's scale: its intervals are tanh(z ± t·s), t of families − 1 degrees."""

    kind: str
    value: float  # on its own scale
    center: float
    error: float
    n_families: int
    method: str

    def ends(self, t: Floats) -> tuple[Floats, Floats]:
        """Return both ends for each t, on the coefficient's own scale; they enclose the value."""
        low, high = np.tanh(self.center - t * self.error), np.tanh(self.center + t * self.error)
        if self.kind == "accuracy":
            low, high = (low + 1) / 2, (high + 1) / 2
        return np.minimum(low, self.value), np.maximum(high, self.value)


def on_z(kind: str, value: float, replicates: Floats, n_encoders: int, n_families: int) -> OnZ:
    """Return a coefficient with the standard error s of its z, by the replicates.

    s is half the distance between the 16th and the 84th percentile of the replicates' z: a few replicates of
    nearly collinear encoders do not move it as they would a standard deviation. √(F/(F − 1)) makes up for
    what drawing from few families loses. A share p of pairs is transformed as the correlation 2p − 1.
    Coefficients at a bound are moved inside by half of the smallest step that ranks of so many encoders can
    make; where that leaves the value outside, the end is moved to it. Where (nearly) no replicate differs,
    the variance is that of independent normal data. Raises NoIntervalError where there is none.
    """
    ok = replicates[np.isfinite(replicates)]
    lost = 1 - len(ok) / len(replicates)
    if lost > MOST_DEGENERATE:
        raise NoIntervalError(f"no interval: undefined in {lost:.0%} of the replicates")
    z, center = transformed(kind, ok, n_encoders), float(transformed(kind, np.array(value), n_encoders))
    low, high = np.quantile(z, _ONE_SIGMA)
    error = float(high - low) / 2 * float(np.sqrt(n_families / (n_families - 1)))
    method = f"z ± t·s, two-way bootstrap: {n_families} families, items"
    if error <= _CALM:
        if kind == "pearson":
            raise NoIntervalError("no interval: no replicate differs")
        error, method = _normal_error(kind, n_families), f"Fisher z, {n_families} families"
    return OnZ(kind, value, center, error, n_families, method)


def z_interval(kind: str, value: float, replicates: Floats, n_encoders: int, n_families: int) -> Interval:
    """Return tanh(z ± t·s) at the usual level; raises NoIntervalError where there is none."""
    found = on_z(kind, value, replicates, n_encoders, n_families)
    low, high = found.ends(np.array(usual_t(n_families)))
    return Interval(float(low), float(high), LEVEL, found.method)


def usual_t(n_families: int) -> float:
    """Return t of intervals at the usual level."""
    from scipy.special import stdtrit

    return float(stdtrit(n_families - 1, 0.5 + LEVEL / 2))


def transformed(kind: str, value: Floats, n_encoders: int) -> Floats:
    """Return Fisher's z of coefficients, those at a bound moved inside."""
    n = n_encoders
    half_step = {"pearson": 1e-9, "spearman": 6 / (n**3 - n), "accuracy": 2 / (n * (n - 1))}[kind]
    r = 2 * value - 1 if kind == "accuracy" else value
    return np.asarray(np.arctanh(np.clip(r, half_step - 1, 1 - half_step)))


def _normal_error(kind: str, n: int) -> float:
    """Return the standard error of z in normal data (Fieller, Hartley and Pearson 1957)."""
    numerator, less = {"spearman": (1.06, 3), "accuracy": (0.437, 4)}[kind]
    if n <= less:
        raise NoIntervalError(f"no interval: no replicate differs, and {n} families are too few")
    return float(np.sqrt(numerator / (n - less)))
