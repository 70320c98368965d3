"""Instructions: Markdown without anything that could do harm; the palette."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import xlingual.serving as serving
from xlingual.study.server.title import read_title, render

from xlingual.errors import InputError
from xlingual.report.colours import contrast
from xlingual.study.folder import TITLE_FILE

STYLE = (Path(serving.__file__).parent / "static" / "shared.css").read_text(encoding="utf-8")


def test_the_first_heading_is_the_title():
    made = render("# Soup *and* bread\n\nRate **all**.\n\n- one\n", "fallback")
    assert made.text == "Soup and bread"
    assert made.html == "<p>Rate <strong>all</strong>.</p>\n<ul>\n<li>one</li>\n</ul>\n"


def test_without_a_heading_the_study_s_title_stands():
    assert render("Just text\n\n# Later", "The study").text == "The study"
    assert render("", "The study").html == ""


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>", "a <img src=x onerror=alert(1)> b", "[x](javascript:alert(1))",
        "![x](http://evil.example/x.png)", "[x](data:text/html,hi)", "<style>*{}</style>", "[x](vbscript:x)",
    ],
)  # fmt: skip
def test_nothing_harmful_gets_through(hostile):
    html = render(hostile, "t").html
    tags = re.findall(r"<(\w+)([^>]*)>", html)
    assert {name for name, _ in tags} <= {"p", "a"}
    assert not any("javascript" in more or "data:" in more or "vbscript" in more for _, more in tags)


def test_links_tell_nothing_of_where_they_were_followed():
    assert 'rel="noopener noreferrer"' in render("[x](https://example.org)", "t").html


def test_files_that_cannot_be_shown(tmp_path):
    assert "how relevant" in read_title(tmp_path, "t").html
    (tmp_path / TITLE_FILE).write_bytes(b"\xff")
    with pytest.raises(InputError, match="not UTF-8"):
        read_title(tmp_path, "t")
    (tmp_path / TITLE_FILE).write_bytes(b"x" * 200_000)
    with pytest.raises(InputError, match="200000 bytes"):
        read_title(tmp_path, "t")


def palettes():
    """Return the light and the dark palette of the style sheet."""
    blocks = re.findall(r":root \{(.*?)\}", STYLE, re.S)[:2]
    return [dict(re.findall(r"--([\w-]+): #([0-9a-f]{6})\b", block)) for block in blocks]


TEXT = [
    ("ink", "card"), ("ink", "ground"), ("ink", "soft"), ("muted", "card"), ("muted", "ground"),
    ("muted", "soft"),
    ("on-accent", "accent"), ("accent", "card"), ("accent", "ground"), ("accent", "tint"), ("ink", "tint"),
    ("good", "card"), ("good", "ground"), ("bad", "card"), ("bad", "ground"), ("bad", "bad-tint"),
]  # fmt: skip


@pytest.mark.parametrize("dark", [False, True])
def test_the_palette_meets_wcag_aa(dark):
    colours = {name: tuple(bytes.fromhex(code)) for name, code in palettes()[dark].items()}
    for ink, ground in TEXT:
        assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)
    for edge, ground in [("accent", "card"), ("accent", "ground"), ("accent", "line"), ("field", "card")]:
        assert contrast(colours[edge], colours[ground]) >= 3, (edge, ground)
