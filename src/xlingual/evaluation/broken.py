"""Rows whose pictures cannot be opened, left out of the samples where that is asked for (`--skip-broken`)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from xlingual.data.manifest import Manifest
from xlingual.encoders.decoding import broken
from xlingual.errors import DataWarning, InputError


def counted_out(asked: np.ndarray, part: np.ndarray) -> dict[str, int]:
    """Return how many of the rows asked for, bool [n], take no part, as results keep it; {} where all do."""
    left_out = int((asked & ~part).sum())
    return {"texts": left_out, "of": int(asked.sum())} if left_out else {}


def usable_rows(manifest: Manifest, languages: Sequence[str]) -> np.ndarray:
    """Return for each text row, bool [n], whether its picture can be opened; rows of other languages can.

    Each picture is opened once. A DataWarning counts the rows that cannot take part and names the first.
    Raises InputError where no row is left.
    """
    rows = np.concatenate([manifest.rows_of(language) for language in languages])
    rows.sort()
    with_picture = rows[manifest.picture[rows] >= 0]
    slots, first = np.unique(manifest.picture[with_picture], return_index=True)
    reasons = broken(manifest.pictures(with_picture[first]))
    usable = np.ones(len(manifest), dtype=bool)
    usable[rows] = (manifest.picture[rows] >= 0) & ~np.isin(manifest.picture[rows], slots[list(reasons)])
    left_out = rows[~usable[rows]]
    if not len(left_out):
        return usable
    without = len(rows) - len(with_picture)
    counted = [f"{without} have no picture"] if without else []
    if reasons:
        pictures = "a picture" if len(reasons) == 1 else f"{len(reasons)} pictures"
        counted.append(
            f"{len(left_out) - without} show {pictures} that cannot be opened (first: "
            f"{next(iter(reasons.values()))})"
        )
    told = f"{len(left_out)} of {len(rows)} texts take no part (--skip-broken): {', '.join(counted)}"
    if len(left_out) == len(rows):
        raise InputError(f"{told}; nothing is left to evaluate")
    warnings.warn(told, DataWarning, stacklevel=3)
    return usable
