"""Reports: verdict, tables and figures in HTML, a terminal and texts, from result files only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from xlingual.report.blocks import Page
from xlingual.report.leaders import BoardRow, leaderboard
from xlingual.report.marking import plain
from xlingual.report.pages import PAGES, page_of

__all__ = [
    "BoardRow",
    "Page",
    "as_html",
    "in_notebook",
    "leaderboard",
    "page_of",
    "verdict",
    "write_report",
]


def write_report(
    found: Any,  # noqa: ANN401
    path: str | Path,
    *,
    title: str | None = None,
) -> None:
    """Write what was found as one HTML file, atomically.

    `found` is a record of results (or several Results), a comparison, a validation and so on. The file loads
    nothing from anywhere and runs no script; equal findings give equal bytes. Raises InputError where there
    is nothing to report, or the file cannot be written.
    """
    from xlingual.report.render import html

    html.write(page_of(found, title=title), path)


def as_html(found: Any, *, title: str | None = None) -> str:  # noqa: ANN401
    """Return the page of what was found as HTML."""
    from xlingual.report.render import html

    return html.render(page_of(found, title=title))


def in_notebook(found: Any) -> str | None:  # noqa: ANN401
    """Return what a notebook shows of what was found; it loads nothing and runs no script.

    None for a value without a page: a notebook then shows it as Python does.
    """
    from xlingual.report.render import html

    return html.fragment(page_of(found)) if type(found).__name__ in PAGES else None


def verdict(found: Any) -> list[str]:  # noqa: ANN401
    """Return what the numbers say as plain sentences, the most important first.

    Raises InputError for a value without a page.
    Where several runs or language pairs are judged apart, the first sentence about each begins with its name.
    """
    return [plain(sentence) for finding in page_of(found).verdict for sentence in finding.named]
