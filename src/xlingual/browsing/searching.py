"""Finding texts by their words among very many: case, width and compatible forms make no difference."""

from __future__ import annotations

from unicodedata import normalize

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.manifest import Manifest

LONGEST = 300  # characters that are searched for
_WORDS = 10


def folded(text: str) -> str:
    """Return a text as it is compared.

    >>> folded("Straße ＡＢＣ")
    'strasse abc'
    """
    return normalize("NFKC", text).casefold()


class TextSearch:
    """Finds the texts of a manifest that hold all words of a query, anywhere within their own words."""

    def __init__(self, data: Manifest) -> None:
        import pyarrow as pa

        self._data = data
        self._texts = pa.array([folded(text) for text in data.text], pa.large_string())
        self._ids = {folded(own): row for row, own in reversed(list(enumerate(data.ids)))}

    def mask(self, words: str) -> np.ndarray:
        """Return which texts hold all words, bool [n]; an id finds the text that has it."""
        import pyarrow.compute as pc

        asked = folded(words[:LONGEST])
        found = np.ones(len(self._data), dtype=bool)
        for word in asked.split()[:_WORDS]:
            held = pc.match_substring(self._texts, word)
            found &= held.to_numpy(zero_copy_only=False)
        if (own := self._ids.get(asked.strip())) is not None:
            found[own] = True
        return found

    def find(self, words: str) -> Ints:
        """Return the rows that are found: equal texts first, then what begins so, then short ones."""
        import pyarrow as pa
        import pyarrow.compute as pc

        asked = folded(words[:LONGEST]).strip()
        if not asked:
            return np.empty(0, dtype=np.int64)
        rows = np.flatnonzero(self.mask(words))
        texts = self._texts.take(pa.array(rows))
        equal = pc.equal(texts, asked).to_numpy(zero_copy_only=False)
        begins = pc.starts_with(texts, asked).to_numpy(zero_copy_only=False)
        length = pc.utf8_length(texts).to_numpy()
        order = np.lexsort((rows, length, ~begins, ~equal))
        return rows[order]

    def equal(self, text: str, language: str) -> int | None:
        """Return the row of a text of a language that reads the same, None where there is none."""
        for row in self.find(text).tolist():
            if self._data.text[row] != text:
                continue
            if self._data.languages[self._data.language[row]] == language:
                return int(row)
        return None
