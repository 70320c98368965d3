"""Names that tell nothing: ids of texts and names of pictures, drawn at random."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xlingual.streams import stream
from xlingual.study.records import Shown

_LETTERS = np.array(list("abcdefghijklmnopqrstuvwxyz0123456789"))
_LENGTH = 12  # letters of an id: 62 random bits


@dataclass(frozen=True)
class Candidate:
    """A text of the data: `key` is its name there, `picture` that of its picture, unique in all the data."""

    key: str
    text: str
    language: str
    picture: str | None = None


class Names:
    """Draws ids of texts and names of pictures; a picture that several texts share has one name."""

    def __init__(self, seed: int, content: str) -> None:
        self._random = stream(seed, f"study ids {content}")
        self._taken: set[str] = set()
        self._picture: dict[str, str] = {}

    def fresh(self) -> str:
        """Return an id that was not drawn before."""
        while True:
            name = "".join(_LETTERS[self._random.integers(len(_LETTERS), size=_LENGTH)])
            if name not in self._taken:
                self._taken.add(name)
                return name

    def shown(self, candidate: Candidate) -> Shown:
        """Return what raters see of a candidate."""
        image = None
        if candidate.picture is not None:
            image = self._picture.setdefault(candidate.picture, "") or f"{self.fresh()}.webp"
            self._picture[candidate.picture] = image
        return Shown(self.fresh(), candidate.text, candidate.language, image)

    def pictures(self) -> dict[str, str]:
        """Return the picture of each file, in the order of the files' names."""
        return {file: picture for picture, file in sorted(self._picture.items(), key=lambda pair: pair[1])}
