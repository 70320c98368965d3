"""Ctrl-C that a library has swallowed is repeated."""

import signal
import threading

import click
import pytest

from xlingual.cli import interruption, main, screen


def swallowed():
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        return
    pytest.fail("the signal was not raised")


@pytest.mark.parametrize("quiet", [True, False])
def test_it_is_repeated_when_the_work_goes_on(quiet):
    with interruption.remembered(), screen.progress(quiet) as progress:
        progress("ranking", 0, 2)
        swallowed()
        with pytest.raises(KeyboardInterrupt):
            progress("ranking", 1, 2)


def test_the_usual_handler_comes_back():
    with interruption.remembered():
        assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    interruption.repeat()


def test_other_handlers_and_threads_are_left_alone():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with interruption.remembered():
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
    seen = []

    def work():
        with interruption.remembered():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_request_to_end_is_an_interruption(monkeypatch, capsys, number, code):
    ended = []

    def work(**_):
        try:
            signal.raise_signal(number)
        finally:
            ended.append("in order")

    monkeypatch.setattr(main.xlingual, "main", work)
    assert main.run([]) == code
    assert (ended, capsys.readouterr().err) == (["in order"], "error: interrupted\n")
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


@pytest.mark.parametrize(
    ("hint", "more"), [("out keeps what is trained", "out keeps what is trained\n"), (None, "")]
)
def test_how_the_work_goes_on_is_said_after_the_error(monkeypatch, capsys, hint, more):
    @click.command()
    def trains():
        with interruption.explained(lambda: hint):
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(main.LazyGroup, "resolve_command", lambda *_: ("trains", trains, []))
    assert main.run(["trains"]) == 130
    assert capsys.readouterr().err == f"error: interrupted\n{more}"


def test_asked_twice_to_end_it_ends_at_once():
    with interruption.remembered():
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_another_handler_of_the_end_is_left_alone():
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with interruption.remembered():
            assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)
