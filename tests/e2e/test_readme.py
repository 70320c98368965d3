"""What README prints under its first command is what the command prints, digit for digit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from xlingual.cli.main import run

README = Path(__file__).resolve().parents[2] / "README.md"


def words(text):
    return " ".join(text.split())


@pytest.mark.slow
def test_the_first_command_prints_the_output_shown_under_it(tmp_path, monkeypatch, capsys):
    block = re.search(r"^```\n\$ xlingual (.*)\n([^`]*)```$", README.read_text("utf-8"), re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    assert run(block[1].split()) == 0
    shown = words(block[2]).removesuffix(" …")
    assert len(shown) > 300
    assert words(capsys.readouterr().out).startswith(shown)
