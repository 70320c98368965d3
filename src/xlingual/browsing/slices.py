"""Slices to look at: those that fail, as inspection finds them, and every part of every property of texts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xlingual.inspection.inspect import Inspected


@dataclass(frozen=True)
class ShownSlice:
    """A slice: its key in addresses, the group it is listed under, and what it is called."""

    key: str
    group: str
    label: str


class Slices:
    """All slices of the texts of a manifest of n rows."""

    def __init__(self, inspected: Inspected, n: int) -> None:
        self._n, self._rows = n, inspected.rows
        self._features = list(inspected.features)
        self._weak = [one.slices for one in inspected.looked]
        self.shown: list[ShownSlice] = []
        for number, one in enumerate(inspected.looked):
            for place, (words, _) in enumerate(one.slices):
                self.shown.append(
                    ShownSlice(f"w{number}.{place}", f"Worse than the rest: {one.encoder}", words)
                )
        for number, feature in enumerate(self._features):
            used = np.unique(feature.code[feature.code >= 0]).tolist()
            for part in used:
                self.shown.append(ShownSlice(f"f{number}.{part}", feature.name, str(feature.labels[part])))
        self._known = {one.key: one for one in self.shown}

    def get(self, key: str) -> ShownSlice | None:
        """Return the slice with a key, None where there is none."""
        return self._known.get(key)

    def named(self, words: str) -> ShownSlice | None:
        """Return the slice that is called so, "property: part" or the words of a slice that fails."""
        for one in self.shown:
            if words in (one.key, one.label if one.key[0] == "w" else f"{one.group}: {one.label}"):
                return one
        return None

    def mask(self, key: str) -> np.ndarray:
        """Return which rows a slice holds, bool [n]; none where there is no such slice."""
        found = np.zeros(self._n, dtype=bool)
        if key not in self._known:
            return found
        number, part = (int(one) for one in key[1:].split("."))
        if key[0] == "w":
            found[self._weak[number][part][1]] = True
        else:
            found[self._rows[self._features[number].code == part]] = True
        return found

    def weak_of(self, row: int) -> list[str]:
        """Return the words of the slices that fail and hold a row."""
        found = [words for own in self._weak for words, rows in own if row in rows]
        return list(dict.fromkeys(found))
