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
        return len(self.ids)

    @property
    def ids(self) -> Sequence[str]:
        """The ids alone, without their languages [n]."""
        return self._ids

    def rows(self, names: Sequence[str], language: str | None = None) -> Ints:
        """Return the row of each name, int64; `UNKNOWN` where there is none.

        With `language` an id alone is one of that language. Without it, one that several languages have is
        `AMBIGUOUS`.
        """
        whole = self._whole
        rows = [whole.get(name) for name in names]
        for place, name in enumerate(names):
            if rows[place] is None and language is None:
                rows[place] = self._alone.get(name, UNKNOWN)
            elif rows[place] is None:
                rows[place] = whole.get(f"{language}:{escaped(name)}", UNKNOWN)
        return np.array(rows, dtype=np.int64)

    @cached_property
    def _whole(self) -> dict[str, int]:
        pairs = zip(self.languages, self.ids, strict=True)
        return {f"{tag}:{escaped(name)}": row for row, (tag, name) in enumerate(pairs)}

    @cached_property
    def _alone(self) -> dict[str, int]:
        rows: dict[str, int] = {}
        for row, name in enumerate(self.ids):
            for spelling in {name, escaped(name)}:
                rows[spelling] = AMBIGUOUS if spelling in rows else row
        return rows


def escaped(name: str) -> str:
    """Return the name with white space, control characters and % as %XX, so that it can be undone."""
    return _UNSAFE.sub(lambda match: quote(match.group(), safe=""), name)
