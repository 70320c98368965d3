"""Ctrl-C that is heard even where a library swallows it.

An import in an extension module (of pandas by pyarrow, say) may take the exception for its own failure and go
on. The signal is therefore remembered, and repeated when the work next tells how far it is.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class _Remembering:
    """A handler of SIGINT that raises KeyboardInterrupt and knows that it was called."""

    def __init__(self) -> None:
        self.called = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self.called = True
        raise KeyboardInterrupt


@contextmanager
def remembered() -> Iterator[None]:
    """Remember an interruption within; other programs' handlers, and other threads, are left alone."""
    own = threading.current_thread() is threading.main_thread()
    if not own or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, _Remembering())
    try:
        yield
    except Exception:
        repeat()  # what a swallowed interruption left half done may fail in any way
        raise
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def repeat() -> None:
    """Raise KeyboardInterrupt where there was an interruption, which has not ended the work."""
    handler = signal.getsignal(signal.SIGINT)
    if isinstance(handler, _Remembering) and handler.called:
        raise KeyboardInterrupt
