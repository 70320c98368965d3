"""How long an encoder took for the texts that it really encoded."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class Spent:
    """Texts and seconds of the pieces that an encoder was given: those of the store and of files are none.

    The first piece, in which many encoders load their models, counts only where there is no other, or where
    candidates were prepared: then all pieces count, and the seconds of `preparing`.
    """

    texts: int = 0
    seconds: float = 0.0
    prepared: float = 0.0  # seconds
    _first: tuple[int, float] | None = None

    @contextmanager
    def preparing(self) -> Iterator[None]:
        """Count the time of the block, in which an encoder reads the candidates that it will encode."""
        start = time.perf_counter()
        yield
        self.prepared += time.perf_counter() - start

    def add(self, texts: int, seconds: float) -> None:
        """Count a piece."""
        if self._first is None:
            self._first = texts, seconds
        else:
            self.texts, self.seconds = self.texts + texts, self.seconds + seconds

    @property
    def per_second(self) -> float | None:
        """Texts a second, None where none was encoded."""
        texts, seconds = self.texts, self.seconds
        if self._first is not None and (self.prepared or not texts):
            texts, seconds = texts + self._first[0], seconds + self._first[1] + self.prepared
        return texts / max(seconds, 1e-9) if texts else None
