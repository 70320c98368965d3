"""What a notebook shows of findings: the verdict, and what a terminal would show, styled for itself alone."""

from __future__ import annotations

from typing import Any

from xlingual.report.pages import PAGES, page_of
from xlingual.report.render import html


def as_html(found: Any) -> str | None:  # noqa: ANN401  (a record)
    """Return HTML for a cell's output; nothing in it reaches beyond the cell, and no script runs.

    None for what has no page: a notebook then shows it as Python does.
    """
    return html.fragment(page_of(found)) if type(found).__name__ in PAGES else None
