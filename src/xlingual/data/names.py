"""The names that runs call texts by: "language:id", or the id alone where that is one text's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import islice
from urllib.parse import quote

import numpy as np

from xlingual.arrays import Ints

UNKNOWN, AMBIGUOUS = -1, -2  # in place of a row
_UNSAFE = re.compile(r"[\s%\x00-\x20\x7f-\xa0\u2028\u2029]")  # some programs end lines and fields at more
_LOOKED_AT = 100  # unknown names


class Names:
    """The names of n rows, each with a language and an id that no other row of its language has."""

    def __init__(self, languages: Sequence[str], ids: Sequence[str]) -> None:
        self.languages, self._ids = languages, ids

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def ids(self) -> Sequence[str]:
        """The ids alone, without their languages [n]."""
        return self._ids

    def rows(self, names: Sequence[str], language: str | None = None) -> Ints:
        """Return the row of each name, int64; `UNKNOWN` where there is none.

        With `language` an id alone is one of that language. Without it, one that several languages have is
        `AMBIGUOUS`.
        """
        return np.array([self._row(name, language) for name in names], dtype=np.int64)

    def _row(self, name: str, language: str | None) -> int:
        if (row := self._whole.get(name)) is not None:
            return row
        if language is not None:
            return self._whole.get(f"{language}:{escaped(name)}", UNKNOWN)
        return self._alone.get(name, UNKNOWN)

    @cached_property
    def _whole(self) -> dict[str, int]:
        pairs = zip(self.languages, self._ids, strict=True)
        return {f"{tag}:{escaped(own)}": row for row, (tag, own) in enumerate(pairs)}

    @cached_property
    def _alone(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for row, own in enumerate(self._ids):
            for name in {own, escaped(own)}:
                found[name] = AMBIGUOUS if name in found else row
        return found


def zeros_hint(unknown: Iterable[str], known: Iterable[str]) -> str:
    """Return a hint where names are unknown since they, or those of the data, lost zeros at their beginning.

    >>> zeros_hint(["en:7"], ["006", "007"])
    "; 'en:7' may be '007': did the ids lose their leading zeros?"
    >>> zeros_hint(["8"], ["006", "007"])
    ''
    """
    wanted = {_without_zeros(name): name for name in islice(unknown, _LOOKED_AT)}
    wanted = {number: name for number, name in wanted.items() if number[:1].isdigit()}
    for own in known if wanted else ():
        name = wanted.get(_without_zeros(own))
        if name is not None and name.rpartition(":")[2] != own.rpartition(":")[2]:
            return f"; {name!r} may be {own!r}: did the ids lose their leading zeros?"
    return ""


def _without_zeros(name: str) -> str:
    """Return the id of a name, without zeros that stand before a digit."""
    bare = name.rpartition(":")[2]
    rest = bare.lstrip("0")
    return rest if rest[:1].isdigit() else "0" if bare and not rest else bare


def escaped(name: str) -> str:
    """Return the name with white space, control characters and % as %XX, so that it can be undone."""
    return _UNSAFE.sub(lambda found: quote(found.group(), safe=""), name)
