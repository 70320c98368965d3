"""Spearman's correlation of two tables of distances [S, T], with rows and columns as the samples.

The pairs of a table are not independent: those of one row share a source, those of one column a target. Each
pair's influence on the correlation, summed by rows and by columns, gives residuals for `intervals.interval`
(the linearised form of resampling rows and columns: Owen 2007, "The pigeonhole bootstrap").
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xlingual.records import Floats, Ints


@dataclass(frozen=True)
class RankedTable:
    """Midranks of the n scores of a table, scaled to (0, 1), and the order that sorts them.

    Ranked once, a table of picture distances serves every encoder.
    """

    midrank: Floats  # [n]
    order: Ints  # [n] positions of the scores, ascending

    @classmethod
    def of(cls, scores: np.ndarray) -> RankedTable:
        """Rank the scores [n]; equal scores share their mean rank."""
        order = np.argsort(scores, kind="stable")
        ordered = scores[order]
        changes = np.flatnonzero(np.diff(ordered) != 0) + 1
        bounds = np.concatenate([[0], changes, [len(scores)]])
        middle = (bounds[:-1] + bounds[1:]) / 2
        midrank = np.empty(len(scores))
        midrank[order] = np.repeat(middle, np.diff(bounds)) / len(scores)
        return cls(midrank, order)


def spearman(x: RankedTable, y: RankedTable) -> float | None:
    """Return Spearman's correlation, the Pearson correlation of midranks; None where a side is constant."""
    a, b = x.midrank - 0.5, y.midrank - 0.5
    norm = float(np.sqrt(np.dot(a, a) * np.dot(b, b)))
    return float(np.dot(a, b) / norm) if norm > 0 else None


def spearman_influence(x: RankedTable, y: RankedTable, rho: float) -> Floats:
    """Return each pair's influence on the correlation, float64 [n], mean zero.

    With ranks F, G in (0, 1) a pair acts three times: by its own product of ranks, and by moving the ranks
    of the pairs above it in x and in y (Croux and Dehon 2010, "Influence functions of the Spearman …").
    """
    a, b = x.midrank - 0.5, y.midrank - 0.5
    scale_x, scale_y = float(np.mean(a * a)), float(np.mean(b * b))
    moved = _mean_above(x, b) + _mean_above(y, a)
    product = a * b + moved
    # the ranks' own spread varies only through ties; without ties these two terms are constant
    spread = rho / 2 * (a * a * np.sqrt(scale_y / scale_x) + b * b * np.sqrt(scale_x / scale_y))
    spread_moved = rho * (
        _mean_above(x, a) * np.sqrt(scale_y / scale_x) + _mean_above(y, b) * np.sqrt(scale_x / scale_y)
    )
    influence: Floats = (product - spread - spread_moved) / np.sqrt(scale_x * scale_y)
    influence -= influence.mean()
    return influence


def _mean_above(table: RankedTable, values: Floats) -> Floats:
    """Return, for each pair, the mean over all pairs of value · (1[ranked above] + ½ · 1[tied])."""
    midrank = table.midrank[table.order]
    starts = np.flatnonzero(np.diff(midrank, prepend=-1.0))
    ends = np.append(starts[1:], len(midrank))
    above = np.append(np.cumsum(values[table.order][::-1])[::-1], 0.0)  # the sum from each place on
    out = np.empty(len(midrank))
    out[table.order] = np.repeat((above[starts] + above[ends]) / 2, ends - starts) / len(midrank)
    return out
