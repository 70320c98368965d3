"""What a notebook shows of findings: the verdict, and what a terminal would show, styled for itself alone."""

from __future__ import annotations

from typing import Any

from xlingual.report.pages import page_of
from xlingual.report.render import html


def as_html(found: Any) -> str:  # noqa: ANN401  (a record that has a page)
    """Return HTML for a cell's output; nothing in it reaches beyond the cell, and no script runs."""
    return html.fragment(page_of(found))
