"""Ctrl-C and SIGTERM, which end the work even where a library swallows them.

An import in an extension module (of pandas by pyarrow, say) may take the exception for its own failure and go
on. The signal is therefore remembered, and repeated when the work next reports its progress. Either
ends the work in order: vectors that were encoded are kept.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import FrameType


class Remembering:
    """A handler that raises KeyboardInterrupt and knows by which signal it was called (0: by none)."""

    def __init__(self) -> None:
        self.called = 0

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Remember the signal and interrupt."""
        self.called = number
        if number == signal.SIGTERM:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)  # asked twice it ends at once
        raise KeyboardInterrupt


@contextmanager
def remembered() -> Iterator[Remembering]:
    """Remember an interruption within; other programs' handlers, and other threads, are left alone."""
    own, handler = threading.current_thread() is threading.main_thread(), Remembering()
    if not own or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield handler
        return
    ends = signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    signal.signal(signal.SIGINT, handler)
    if ends:
        signal.signal(signal.SIGTERM, handler)
    try:
        yield handler
    except Exception:
        repeat()  # what a swallowed interruption left half done may fail in any way
        raise
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if ends:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextmanager
def explained(hint: Callable[[], str | None]) -> Iterator[None]:
    """Give an interruption a sentence about how the work goes on, which is printed after the error."""
    try:
        yield
    except KeyboardInterrupt:
        text = hint()
        raise KeyboardInterrupt(*([] if text is None else [text])) from None


def goes_on(out: Path) -> AbstractContextManager[None]:
    """Say, where a study is interrupted, that its folder keeps what is trained."""
    return explained(lambda: f"{out} keeps what is trained: the same command goes on from there")


def repeat() -> None:
    """Raise KeyboardInterrupt where there was an interruption, which has not ended the work."""
    handler = signal.getsignal(signal.SIGINT)
    if isinstance(handler, Remembering) and handler.called:
        raise KeyboardInterrupt
