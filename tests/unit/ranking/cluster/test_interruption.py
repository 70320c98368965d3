"""Ctrl-C while Ray works: it is put off, not lost."""

import os
import signal
import threading

import pytest

from xlingual.ranking.cluster import interruption
from xlingual.ranking.cluster.interruption import held_back


def press():
    os.kill(os.getpid(), signal.SIGINT)


def work(*steps):
    """Do the steps while interruptions are held back; `None` asks for one."""
    with held_back() as interrupted:
        for step in steps:
            (step or interrupted)()


def test_it_is_raised_where_it_is_asked_for():
    reached = []
    steps = [None, press, press, lambda: reached.append("after"), None, lambda: reached.append("never")]
    with pytest.raises(KeyboardInterrupt):
        work(*steps)  # a key press that comes twice is one
    assert reached == ["after"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_within_another_one_it_waits_for_the_outer_one():
    reached = []
    with pytest.raises(KeyboardInterrupt):
        work(lambda: work(press), lambda: reached.append("between"), None)
    assert reached == ["between"]


def test_who_insists_is_heard_at_once(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(interruption.time, "monotonic", lambda: now[0])
    reached = []
    with pytest.raises(KeyboardInterrupt):
        work(press, lambda: now.__setitem__(0, 3.0), press, lambda: reached.append("never"))
    assert reached == []


def test_other_handlers_and_threads_are_left_alone():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with held_back() as interrupted:
            press()
            interrupted()
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
    found = []

    def elsewhere():
        with held_back():
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert found == [before]
