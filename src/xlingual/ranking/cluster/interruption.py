"""Ctrl-C that waits until Ray's code has returned: an exception within that can end the program."""

from __future__ import annotations

import atexit
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_INSISTS = 2.0  # seconds after which a second Ctrl-C is not held back: one key press may come twice


@contextmanager
def held_back() -> Iterator[Callable[[], None]]:
    """Give a function that raises KeyboardInterrupt if there was an interruption; within, nothing else does.

    What was not asked for by the end is raised there. Handlers of SIGINT are put off in the main thread;
    who ignores it goes on doing so.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield lambda: None
        return
    handler, first = before, list[float]()

    def put_off(number: int, frame: FrameType | None) -> None:
        if first and time.monotonic() - first[0] > _INSISTS:
            handler(number, frame)
        first.append(time.monotonic())

    def look() -> None:
        if first:
            first.clear()
            handler(signal.SIGINT, None)

    signal.signal(signal.SIGINT, put_off)
    try:
        yield look
    finally:
        signal.signal(signal.SIGINT, before)
    look()


def deaf_at_exit() -> None:
    """Leave Ctrl-C unheard while the program ends: Ray's processes are being ended then."""
    atexit.unregister(_deaf)
    atexit.register(_deaf)  # what is registered last runs first: before Ray's own


def _deaf() -> None:
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
