"""The separator of the columns of a text file: that of its name, the one that the user gave, or a guess."""

from __future__ import annotations

import csv
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from xlingual.data.reading.delimited import delimited
from xlingual.errors import InputError, parameter

LEAST = 0.8  # confidence at which a guess is taken
_LEAD = 0.3  # … and by which it is ahead of what the file's name says
_MARKS = (",", ";", "\t", "|")
_WORDS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}
_SAMPLE = 1 << 20  # characters
_ROWS = 200
_FEW = 5  # lines


class Separator(NamedTuple):
    """A character, and its confidence: None where the user gave it or the file's name says it."""

    mark: str
    confidence: float | None = None

    @property
    def shown(self) -> str:
        """The character as a message shows it."""
        return "tab" if self.mark == "\t" else repr(self.mark)


def find_separator(
    path: Path, encoding: str, usual: str, given: str | None = None, *, least: float | None = None
) -> Separator:
    """Return the separator of the columns of a file; `usual` is the one that its name says.

    `least` is the confidence at which a guess is taken where the usual one gives a single column.
    """
    if given is not None:
        mark = _WORDS.get(given.strip().lower(), given)
        if len(mark) != 1 or mark.isalnum() or mark in "\"'\r\n\0 ":
            raise InputError(
                f"{parameter('separator', given[:40])}: say one character such as ';', ',' or '|', or tab"
            )
        return Separator(mark)
    with path.open(encoding=encoding, newline="") as file:
        sample = file.read(_SAMPLE)
    own, whole = _confidence(sample, usual)
    if whole:
        return Separator(usual)
    others = {mark: _confidence(sample, mark)[0] for mark in _MARKS if mark != usual}
    best = max(others, key=lambda mark: others[mark])
    needed = max(LEAST if own or sample.count("\n") < _FEW else LEAST / 2, own + _LEAD)
    if least is not None and not own:  # one column is no table
        needed = least
    if others[best] > 0 and others[best] >= needed:
        return Separator(best, others[best])
    return Separator(usual)


def _confidence(sample: str, mark: str) -> tuple[float, bool]:
    """Return the confidence of a separator, and whether all rows have as many fields as the header.

    It is the share of such rows, times e/(e + 1), where e counts the separators in them and in the header.
    """
    found = islice(delimited(StringIO(sample, newline=""), mark), _ROWS + 1)
    rows = [[] if isinstance(row, csv.Error) else row for _, row in found]
    if len(rows) > 2 and len(sample) == _SAMPLE and len(rows) <= _ROWS:
        rows.pop()  # may be cut
    if not rows or len(rows[0]) < 2:
        return 0.0, False
    same = sum(len(row) == len(rows[0]) for row in rows)
    evidence = same * (len(rows[0]) - 1)
    return same / len(rows) * evidence / (evidence + 1), same == len(rows)
