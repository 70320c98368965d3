"""`xlingual show`: what it prints can be typed again, and gives the same result digest."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import pytest

refused = SimpleNamespace(**run_path(str(Path(__file__).with_name("refusals.py")))).refused

XLR = ("evaluate", "xlr", "s", "--pairs", "en-de,de-en", "--threads", "1")
TWO = ("--text-encoder", "v/good.{lang}.npy", "--text-encoder", "poor.one=v/bad.{lang}.npy")


@pytest.fixture
def shown(xlingual: Any) -> Any:
    """Return what `show --json` says of a path."""

    def of(path: str) -> Any:
        done = xlingual("show", path, "--json")
        assert done.code == 0, done.err
        return json.loads(done.out)

    return of


@pytest.mark.parametrize(
    "options",
    [
        ("--sample-size", "40", "--or-fewer", "--measure", "R@1", "--measure", "RR", "--seed", "3"),
        ("--preset", "paper", "--seeds", "2"),
        ("--no-examples", "--cluster", "near-duplicates"),
    ],
)
def test_the_command_line_gives_the_same_digest(xlingual: Any, shown: Any, options: tuple[str, ...]) -> None:
    encoder = ("--text-encoder", "ours=v/good.{lang}.npy")
    done = xlingual(*XLR, *encoder, *options, "--out", "r")
    assert done.code == 0, done.err
    first = shown("r")
    words = shlex.split(first["command_line"])
    assert words[0] == "xlingual" and words[-2:] == ["--out", "r"]
    done = xlingual(*words[1:-1], "again", "--threads", "2", "--quiet")
    assert done.code == 0, done.err
    again = shown("again")
    assert (again["digest"], again["request"], again["provenance"]) == (
        first["digest"],
        first["request"],
        first["provenance"],
    )


def test_who_is_derived_from_whom(xlingual: Any, shown: Any) -> None:
    assert xlingual(*XLR, *TWO, "--out", "r", "--report").code == 0
    assert "How this was made" in Path("r/report.html").read_text(encoding="utf-8")
    assert xlingual("compare", "r", "--out", "c", "--quiet").code == 0
    assert xlingual("gate", "r#good", "r#poor.one", "--margin", "0.01", "--out", "g", "--quiet").code == 0
    assert xlingual("plan", "r", "--effect", "0.05", "--out", "p").code == 0
    origin = {"kind": "xlingual/results/1", "digest": shown("r")["digest"], "path": "r/results.json"}
    for folder in "cgp":
        found = shown(folder)
        assert found["provenance"]["derived_from"] == [origin]
        assert shlex.split(found["command_line"])[1] == {"c": "compare", "g": "gate", "p": "plan"}[folder]
    text = " ".join(xlingual("show", "g").out.split())
    assert "g/gate.json is a gate, made by xlingual" in text and "It was made from 1 result." in text
    assert "xlingual gate 'r#good' 'r#poor.one' --margin 0.01 --out g" in text
    for form in ("markdown", "csv", "latex"):
        assert xlingual("show", "r", "--format", form).code == 0


def test_secrets_and_paths_are_as_given(xlingual: Any, shown: Any, work: Path) -> None:
    assert xlingual(*XLR, *TWO, "--out", "r").code == 0
    assert str(work) not in Path("r/results.json").read_text(encoding="utf-8")
    assert str(Path.home()) not in Path("r/results.json").read_text(encoding="utf-8")


def test_what_is_no_result_is_refused(xlingual: Any, work: Path) -> None:
    refused(xlingual("show", "none"), "none is missing")
    refused(xlingual("show", "s"), "holds no file of results")
    Path("x.json").write_text('{"schema": "of/another/1"}')
    refused(xlingual("show", "x.json"), "of/another/1", "expected 'xlingual/KIND/NUMBER'")
