"""Where the texts of pools stand in the data that they were made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.manifest import Manifest
from xlingual.data.pools.pool import Candidates, MultilingualPool, Questions

Row: TypeAlias = tuple[str, str, str]  # language, id and text


@dataclass(frozen=True)
class Places:
    """Where the questions and candidates of pools stand in the data that they were made of.

    Rows of a pool are found by their language, id and text, so that a part of it, or a pool that was mixed
    of a manifest, finds its own.
    """

    asked: Mapping[Row, int]
    answered: Mapping[Row, int]

    @classmethod
    def of(cls, data: Manifest | MultilingualPool) -> Places:
        """Return those of a pool's questions and candidates, or of a manifest's texts."""
        if not isinstance(data, Manifest):
            sides = (data.questions, data.candidates)
            return cls(*({row: i for i, row in enumerate(_rows(data, part))} for part in sides))
        tags = [data.languages[code] for code in data.language]
        items = [data.item_ids[own] for own in data.item]
        texts = list(zip(tags, items, data.ids, data.text, strict=True))
        asked = {(tag, item, text): i for i, (tag, item, _, text) in reversed(list(enumerate(texts)))}
        return cls(asked, {(tag, own, text): i for i, (tag, _, own, text) in enumerate(texts)})

    def row(self, row: Row) -> int:
        """Return which row of a manifest a text is, be it a candidate or a question of a pool mixed of it."""
        return self.answered[row] if row in self.answered else self.asked[row]

    def rows(self, pool: MultilingualPool) -> tuple[Ints, Ints]:
        """Return which rows of the data a pool's questions and candidates are."""
        asked = [self.asked[row] for row in _rows(pool, pool.questions)]
        answered = [self.answered[row] for row in _rows(pool, pool.candidates)]
        return np.array(asked, dtype=np.int64), np.array(answered, dtype=np.int64)


def _rows(pool: MultilingualPool, part: Questions | Candidates) -> list[Row]:
    tags = [pool.languages[code] for code in part.language]
    return list(zip(tags, part.ids, part.text, strict=True))
