"""Agreement of two scores over encoders, for many reweightings of the encoders at once.

Scores are [..., E], the weight of an encoder is how often it counts. A coefficient that is not defined (all
encoders equal) is NaN here; whoever asks turns it into a reason.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from xlingual.records import Floats

_DIGITS = 12  # scores that differ by less, relative to the largest, are equal: sums in another order
_CELLS = 4_000_000  # of a block of comparisons of encoders


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

    return _by_block(of_block, even(x), even(y), weight)


def midranks(x: Floats, weight: Floats | None = None) -> Floats:
    """Return the mean ranks [..., E] that equal scores share, less one half; copies take ranks too."""

    def of_block(a: Floats, _: Floats, w: Floats) -> Floats:
        above = a[:, :, None] - a[:, None, :]
        return np.asarray(np.sum(w[:, None, :] * ((above > 0) + 0.5 * (above == 0)), axis=2))

    rounded = even(x)
    return _by_block(of_block, rounded, rounded, weight)


def constant(x: Floats) -> bool:
    """Return whether all scores [E] are equal."""
    return bool(np.ptp(even(x)) == 0)


def even(x: Floats) -> Floats:
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
    parts = [function(*(a[start : start + step] for a in rows)) for start in starts]
    out = np.concatenate(parts)
    return out.reshape(wide[:-1] + out.shape[1:])
