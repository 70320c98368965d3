"""What a person sees in a terminal: the progress bar, warnings after it, tables of a check."""

from __future__ import annotations

import io
import re
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from xlingual.cli import console as drawing
from xlingual.cli import screen
from xlingual.errors import DataWarning, InputError


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class AtOnce:
    """A timer that does not wait."""

    def __init__(self, seconds: float, work: Callable[[], None]) -> None:
        self.start = work

    def cancel(self) -> None:
        pass

    join = cancel


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Terminal]:
    """Return a function that makes standard error a terminal, on which a progress bar is shown at once."""

    def start() -> Terminal:
        found = Terminal()
        monkeypatch.setattr(sys, "stderr", found)
        monkeypatch.setattr(screen.threading, "Timer", AtOnce)
        for name, value in (("TERM", "xterm"), ("COLUMNS", "60")):
            monkeypatch.setenv(name, value)
        return found

    return start


@pytest.mark.parametrize("fails", [False, True])
def test_warnings_follow_the_bar_one_line_each(terminal: Callable[[], Terminal], fails: bool) -> None:
    stderr = terminal()
    long = "a sentence that is wider than the terminal " * 3
    try:
        with screen.warnings_as_lines(), screen.progress(False) as progress:
            progress("ranking", 0, 1)
            for message in (long, "second", long):
                warnings.warn(message, DataWarning, stacklevel=1)
            assert "warning: " not in stderr.getvalue()
            if fails:
                raise InputError("refused")
    except InputError:
        assert fails
    assert stderr.getvalue().endswith(f"warning: {long.strip()}\nwarning: second\n")


def test_a_sentence_is_a_line_beside_the_bar(terminal: Callable[[], Terminal]) -> None:
    stderr = terminal()
    long = "encoding texts: api: about 1,234 tokens, 100 distinct texts, 7 requests, about 0.01 of a price"
    with screen.progress(False) as progress:
        progress(long, 0, -1)
        progress("encoding texts: api", 0, 100)
    assert long in stderr.getvalue()


def test_each_piece_of_work_has_a_bar_of_its_own(
    terminal: Callable[[], Terminal], monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal()
    bars, ids = [], []
    make = drawing.progress_bar
    monkeypatch.setattr(drawing, "progress_bar", lambda console: bars.append(make(console)) or bars[-1])
    with screen.progress(False) as progress:
        for what, done, total, expected in (
            ("reading", 0, 1, None),
            ("reading", 1, 1, 1),
            ("encoding", 0, 50, None),
            ("encoding", 20, 50, 50),
            ("ranking", 0, 1, None),
            ("training · epoch 1/2 · loss 3", 10, 40, 40),
            ("training · epoch 2/2 · loss 2", 30, 40, 40),
            ("reading", 0, 1, None),
        ):
            progress(what, done, total)
            (task,) = bars[0].tasks
            assert (task.description, task.completed, task.total) == (what, done, expected)
            ids.append(task.id)
    assert len(ids) == 8 and len(set(ids)) == 5  # a loss that changes goes on with the same bar


@pytest.mark.parametrize(
    ("what", "width", "left", "right"),
    [
        (
            "training · epoch 3/30 · loss 0.0123 · best 412.3",
            80,
            "training · epoch 3/30",
            "28 % · 7/s · 15:26 left",
        ),
        (
            "training · epoch 2/3 · loss 5.07 · rate 0.001 · best 172",
            80,
            "epoch 2/3",
            "28 % · 7/s · 15:26 left",
        ),
        (
            "training · epoch 13/30 · loss 0.0123 · rate 0.00012 · best 412.3",
            80,
            "epoch 13/30",
            "28 % · 15:26 left",
        ),
        (
            "training · epoch 13/30 · loss 0.0123 · rate 0.00012 · best 412.3",
            100,
            "training · epoch 13/30",
            "28 % · 7/s · 15:26 left",
        ),
    ],
)
def test_loss_rate_and_best_score_of_a_training_fit_the_terminal(
    what: str, width: int, left: str, right: str
) -> None:
    console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
    bar = drawing.progress_bar(console)
    clock = [0.0]
    bar.get_time = lambda: float(clock[0])
    line = bar.add_task(what, total=None)
    for second in (1, 2, 3):
        clock[0] = second
        bar.update(line, completed=2500 + 7 * second, total=9000)
    with console.capture() as capture:
        console.print(bar.get_renderable())
    (shown,) = capture.get().splitlines()
    assert len(shown) <= width and shown.startswith(left) and shown.rstrip().endswith(right)
    assert what[what.index("epoch") :] in shown


def test_check_shows_the_items_of_language_pairs(xlingual: Any) -> None:
    outcome = xlingual("data", "check", "s")
    assert re.search(r"items per language pair *\n", outcome.out)
    assert re.search(r"\n ?de-en +120 +60 +60 *\n", outcome.out)
    rows = "".join(f"{i},a {i},b {i},c {i},d {i}\n" for i in range(25))
    Path("m.csv").write_text(f"id,text_en,text_de,text_es,text_fr\n{rows}", encoding="utf-8")
    outcome = xlingual("data", "check", "m.csv")
    assert re.search(r"\n ?en-de +25 +13 +12", outcome.out)
