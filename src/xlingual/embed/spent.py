"""How long an encoder took for the texts that it really encoded."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Spent:
    """Texts and seconds of the pieces that an encoder was given: those of the store and of files are none.

    The first piece, in which many encoders load their models, counts only where there is no other.
    """

    texts: int = 0
    seconds: float = 0.0
    _first: tuple[int, float] | None = None

    def add(self, texts: int, seconds: float) -> None:
        """Count a piece."""
        if self._first is None:
            self._first = texts, seconds
        else:
            self.texts, self.seconds = self.texts + texts, self.seconds + seconds

    @property
    def per_second(self) -> float | None:
        """Texts a second, None where none was encoded."""
        texts, seconds = (self.texts, self.seconds) if self.texts else self._first or (0, 0.0)
        return texts / max(seconds, 1e-9) if texts else None
