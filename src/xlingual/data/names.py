"""The names that runs call texts by: "language:id", or the id alone where that is one text's."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from urllib.parse import quote

import numpy as np

from xlingual.arrays import Ints

UNKNOWN, AMBIGUOUS = -1, -2  # in place of a row
_UNSAFE = re.compile(r"[\s%\x00-\x20\x7f-\xa0\u2028\u2029]")  # some programs end lines and fields at more


class Names:
    """The names of n rows, each with a language and an id that no other row of its language has."""

    def __init__(self, languages: Sequence[str], ids: Sequence[str]) -> None:
        self.languages, self._ids = languages, ids

    def __len__(self) -> int:
        return len(self._ids)

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


def escaped(name: str) -> str:
    """Return the name with white space, control characters and % as %XX, so that it can be undone."""
    return _UNSAFE.sub(lambda found: quote(found.group(), safe=""), name)
