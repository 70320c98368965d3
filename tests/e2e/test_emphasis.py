"""Options of figures on the command line: they are checked before any work, and reach the page."""

from __future__ import annotations

import json
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

refused = SimpleNamespace(**run_path(str(Path(__file__).with_name("refusals.py")))).refused

IMAGES = ("--image-encoder", "vectors:img.npy", "--threads", "1", "--no-store")
ENCODERS = ("--text-encoder", "v/*.{lang}.npy", "--text-encoder", "random")
VALIDATE = ("validate", "bkr", "s", "--pair", "en-de", "--seeds", "3", *ENCODERS, *IMAGES)
BKR = ("evaluate", "bkr", "s", *ENCODERS, *IMAGES, "--no-examples")


def test_a_validation_and_its_report_highlight_encoders(xlingual: Any, work: Path) -> None:
    shown = ("--highlight", "good", "--highlight", "random", "--seed-shown", "2")
    done = xlingual(*VALIDATE, *shown, "--out", "v1", "--report")
    assert done.code == 0, done.err
    page = Path("v1/report.html").read_text(encoding="utf-8")
    assert page.count('class="mark w0"') > 1 and 'class="mark above muted"' in page and "seed 2" in page
    kept = json.loads(Path("v1/validation.json").read_text(encoding="utf-8"))
    assert kept["run"]["highlight"] == ["good", "random"] and "highlight" not in kept["request"]
    assert xlingual("report", "v1", *shown, "--out", "again.html").code == 0
    assert Path("again.html").read_text(encoding="utf-8") == page
    assert xlingual("report", "v1", "--out", "plain.html").code == 0
    assert 'class="mark w0"' not in Path("plain.html").read_text(encoding="utf-8")
    refused(xlingual("report", "v1", "--highlight", "goood", "--out", "x.html"), "Did you mean 'good'?")
    refused(xlingual("report", "v1", "--seed-shown", "3", "--out", "x.html"), "seeds 0 to 2")
    refused(xlingual("report", "v1", "--seed-shown", "all", "--out", "x.html"), "nor 'mean'")
    assert not Path("x.html").exists()


def test_options_of_figures_are_checked_before_any_work(xlingual: Any, work: Path) -> None:
    refused(
        xlingual(*VALIDATE, "--highlight", "good"), "--highlight is for the report: add --out DIR --report"
    )
    given = ("--out", "never", "--report")
    refused(xlingual(*VALIDATE, "--highlight", "best", *given), "no such encoder here", "bad, good, random")
    refused(xlingual(*BKR, "--annotate", "en-fr", *given), "no such language pair here", "en-de, en-es")
    refused(xlingual(*BKR, "--pairs", "en-de,de-en", "--annotate", "en-es", *given), "There are en-de, de-en")
    assert not Path("never").exists()


def test_an_evaluation_and_its_report_name_pairs(xlingual: Any, work: Path) -> None:
    done = xlingual(*BKR, "--annotate", "en-es,de-en", "--out", "r", "--report")
    assert done.code == 0, done.err
    page = Path("r/report.html").read_text(encoding="utf-8")
    assert page.count("name pair-name") == 4 and "en → es, good:" in page  # on a wide page and a narrow one
    assert xlingual("report", "r", "--annotate", "en-es,de-en", "--out", "again.html").code == 0
    assert Path("again.html").read_text(encoding="utf-8") == page
