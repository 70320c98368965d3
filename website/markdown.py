"""Small pieces of Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def cell(text: str) -> str:
    """Return a text that stands in a cell of a table: no line breaks, bars, links or HTML."""
    text = re.sub(r"\s+", " ", text).strip()
    return re.sub(r"([|\[\]])", r"\\\1", text).replace("<", "&lt;")


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; cells are Markdown already.

    >>> print(table(["a", "b"], [["1", "2"]]))
    | a | b |
    | --- | --- |
    | 1 | 2 |
    """
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in lines)


def code(text: str) -> str:
    """Return a text as code within a line; bars are escaped, as tables need it."""
    return f"`{text}`".replace("|", "\\|") if text else ""


def fence(text: str, kind: str = "text") -> str:
    """Return a block of code."""
    return f"```{kind}\n{text.rstrip()}\n```"


def page(title: str, *parts: str) -> str:
    """Return a page of parts with an empty line between each two."""
    return "\n\n".join([f"# {title}", *(part for part in parts if part)]) + "\n"


def block(kind: str, text: str) -> str:
    """Return Markdown within an HTML element of a class, which site.css knows."""
    return f'<div class="{kind}" markdown>\n\n{text}\n\n</div>'
