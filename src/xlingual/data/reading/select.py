"""Choosing rows of a manifest's table: `--split NAME` and `--rows A:B`, or `PATH#NAME` and `PATH#A:B`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

import numpy as np

from xlingual.arrays import Ints
from xlingual.columns import Lookup
from xlingual.data.reading.textrows import TextRows
from xlingual.errors import InputError, did_you_mean, listed

_SLICE = re.compile(r"\s*(-?[0-9]{1,18})?\s*:\s*(-?[0-9]{1,18})?\s*")


class NoSplitsError(InputError):
    """A split is asked for of data that have none; `n_rows` are those that there are."""

    def __init__(self, source: str, split: str, n_rows: int) -> None:
        super().__init__(f"{source} has no column 'split': leave --split {split} out, or use --rows A:B")
        self.source, self.n_rows = source, n_rows


def choose(rows: TextRows, splits: Lookup[str] | None, split: str | None, range_text: str | None) -> Ints:
    """Return the chosen rows of the table, ascending; `splits` holds the split of each row of the table."""
    chosen = np.full(rows.n_table_rows, range_text is None)
    if range_text is not None:
        chosen[parse_rows(range_text)] = True
        if not chosen.any():
            raise InputError(
                f"the rows {range_text} choose nothing: {rows.source} has rows 0 to {rows.n_table_rows - 1}"
            )
    if split is not None:
        if splits is None:
            raise NoSplitsError(rows.source, split, rows.n_table_rows)
        if split not in splits.words:
            raise no_split(rows.source, split, splits.words)
        chosen &= splits.codes == splits.words.index(split)
        if not chosen.any():
            raise InputError(f"{rows.source}: no row of the split {split!r} lies within --rows {range_text}")
    return np.flatnonzero(chosen)


def no_split(source: str, split: str, splits: Iterable[str]) -> InputError:
    """Return the error for a split that is not there; rows without one have the split ""."""
    known = [name for name in splits if name]
    return InputError(
        f"{source} has no split {split!r}.{did_you_mean(split, known)} Its splits: {listed(known, 20)}"
    )


def parse_rows(text: str) -> slice:
    """Return the slice that "A:B" means: rows A to B - 1, counted from 0, from the end where negative.

    >>> parse_rows("363:")
    slice(363, None, None)
    """
    match = _SLICE.fullmatch(text)
    if match is None:
        raise InputError(f"--rows {text!r}: write A:B, as in 0:1000 (rows 0 to 999), ':1000' or '363:'")
    first, last = (int(part) if part else None for part in match.groups())
    return slice(first, last)


def split_reference(text: str) -> tuple[str, str | None, str | None]:
    """Return the path, the split and the rows of "PATH#split" or "PATH#A:B".

    A file whose own name holds "#" is found as it is.
    """
    path, mark, split = text.rpartition("#")
    if not mark or os.path.exists(text):
        return text, None, None
    if not path or not split:
        raise InputError(f"{text!r}: write PATH#split or PATH#A:B, as in products.parquet#train or #0:60")
    return (path, None, split) if _SLICE.fullmatch(split) else (path, split, None)
