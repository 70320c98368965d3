"""Help of commands with many options: each stands once, under its heading."""

import re

import pytest

COMMANDS = [
    "evaluate backretrieval",
    "evaluate lareqa",
    "papers backretrieval",
    "papers backretrieval validate",
    "papers lareqa",
    "study new",
    "embed",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_options_stand_once_under_headings(xlingual, command):
    shown = xlingual(*command.split(), "--help")
    assert shown.code == 0
    names = re.findall(r"^  (?:-h, )?(--[a-z-]+)", shown.out, flags=re.M)
    assert len(names) == len(set(names))
    headings = re.findall(r"^(\S.*):$", shown.out, flags=re.M)
    assert headings[0] == "Options"
    assert len(headings) == len(set(headings)) > 2


def test_what_a_group_of_options_adds_is_under_its_heading(xlingual):
    text = xlingual("evaluate", "backretrieval", "--help").out
    ranked = text.partition("Ranking back end")[2].partition("\n\n")[0]
    for name in ("--backend", "--device", "--threads", "--address"):
        assert f"\n  {name} " in ranked
    own = text.partition("Options:")[2].partition("\n\n")[0]
    assert "\n  --text-encoder " in own
    assert "--backend" not in own
