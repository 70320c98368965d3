import re

import pytest

from xlingual.visible import csv_text, visible, visible_json, visible_line, without_commands


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x07", r"\x1b[31mred\x07"),
        ("one\r\ntwo\u2028three\x85", r"one\x0d\x0atwo\u2028three\x85"),
        ("\u202eturned\u202c \u2067x\u2069", r"\u202eturned\u202c \u2067x\u2069"),
        ("half \ud83d", r"half \ud83d"),
        ("שלום, 世界 🏽‍ é \u200e", "שלום, 世界 🏽‍ é \u200e"),
        ("\u2068isolated\u2069 and \u2069not", "\u2068isolated\u2069 and \\u2069not"),
    ],
)
def test_what_a_program_obeys_is_shown(text, shown):
    assert visible(text) == shown
    assert visible(shown) == shown


def test_some_may_be_kept():
    assert visible("a\n\x1bb", keep="\n") == "a\n\\x1bb"


def test_json_means_the_same():
    text = '["\x9b\u202e\ud800 é"]'
    assert visible_json(text) == '["\\u009b\\u202e\\ud800 é"]'


@pytest.mark.parametrize("line", ["::error::x", "  ::set-output name=a::b", "a ##[error]b", "##vso[task.x]"])
def test_no_line_is_a_command_to_a_ci_system(line):
    shown = without_commands(f"first\n{line}\nlast")
    assert not re.search(r"^\s*::|##\[|##vso", shown, re.MULTILINE)
    assert shown.count("\n") == 2
    assert without_commands("a::b") == "a::b"


def test_a_line_is_one_line():
    assert visible_line("::error::a\n\u2028b\tc") == r"\x3a:error::a b c"


@pytest.mark.parametrize(
    "text", ["=1+1", "+a", "-b", "@c", "'=1", "''-", "::error::", "＝1", "plain", "'quoted'", ""]
)
def test_a_spreadsheet_computes_nothing(text):
    guarded = csv_text(text)
    assert not guarded.startswith(("=", "+", "-", "@", "::", "＝"))
    assert guarded in (text, f"'{text}")
    assert csv_text("\t=1") == r"\x09=1"
