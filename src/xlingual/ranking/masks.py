"""Parts of tiles, and masks of them: where they are true, and how many of each row, with their weights."""

from __future__ import annotations

import numpy as np

from xlingual.arrays import Ints


def row_sums(mask: np.ndarray) -> Ints:
    """Return the number of true values in each row, int64 [rows], counted eight columns at a time."""
    padded = mask.shape[1] // 8 * 8
    words = np.ascontiguousarray(mask[:, :padded]).view(np.uint64)
    rest: Ints = mask[:, padded:].sum(axis=1, dtype=np.int64)
    sums: Ints = rest + np.bitwise_count(words).sum(axis=1, dtype=np.int64)
    return sums


def extra(mask: np.ndarray, weight: Ints | None) -> Ints | int:
    """Return what columns of a weight over one add to the row sums."""
    if weight is None:
        return 0
    heavy = np.flatnonzero(weight != 1)
    sums = mask[:, heavy].astype(np.float64) @ (weight[heavy] - 1.0)  # whole numbers: nothing is rounded
    return sums.astype(np.int64)


def places(mask: np.ndarray) -> tuple[Ints, Ints]:
    """Return np.nonzero(mask), walked along memory: a transposed tile is read as fast as a plain one."""
    if mask.flags.c_contiguous:
        i, j = np.divmod(np.flatnonzero(mask), mask.shape[1])
    else:
        j, i = np.divmod(np.flatnonzero(mask.T), mask.shape[0])
    return i, j


def chosen(scores: np.ndarray, rows: Ints | slice | None, columns: Ints | None) -> np.ndarray:
    """Return some rows and columns of scores; None: all."""
    if rows is not None:
        scores = scores[rows]  # rows first: whole rows are copied fast
    if columns is None:
        return scores
    return scores.take(columns, axis=1) if scores.flags.c_contiguous else scores[:, columns]
