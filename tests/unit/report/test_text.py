"""Markdown, LaTeX and CSV of a page."""

from xlingual.report.blocks import Page
from xlingual.report.render.html import render
from xlingual.report.render.text import as_text
from xlingual.report.table import Table


def page(title: str, **more: str) -> Page:
    table = Table.of_texts(title, ["name", "value"], [["a", "1"]], notes=("One row.",), where="both", **more)
    return Page.of("report", "A page", [table])


def test_a_table_without_a_title_has_no_line_for_one():
    markdown, latex = (as_text(page(""), form) for form in ("markdown", "latex"))
    assert markdown.splitlines()[0].startswith("| name | value |") and "**" not in markdown
    assert latex.split() and latex.strip().startswith("% One row.\n\\begin{tabular}{lr}")
    assert "<h3></h3>" not in render(page("")) and 'aria-label=""' not in render(page(""))
