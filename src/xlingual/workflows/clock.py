"""Seconds of the stages of a command, and its progress."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from xlingual.evaluation.run import Progress


class Clock:
    """Seconds of each stage, and progress."""

    def __init__(self, progress: Progress | None) -> None:
        self.seconds: dict[str, float] = {}
        self._report = progress or (lambda *_: None)

    def of(self, what: str) -> Callable[[int, int], None]:
        """Return the progress of one piece of work."""
        return partial(self._report, what)

    @contextmanager
    def stage(self, name: str, what: str | None = None) -> Iterator[None]:
        """Count the time of the block."""
        began = time.perf_counter()
        if what is not None:
            self._report(what, 0, 1)
        yield
        if what is not None:
            self._report(what, 1, 1)
        self.seconds[name] = time.perf_counter() - began
