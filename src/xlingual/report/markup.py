"""Texts made safe for Markdown, XML and spreadsheets."""

from __future__ import annotations

import re

_MARKDOWN = re.compile(r"([\\`*_\[\]|~#@])")
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def markdown_text(text: str) -> str:
    """Return text that Markdown and HTML show as it is, in one line."""
    text = " ".join(text.split())
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKDOWN.sub(r"\\\1", text)


def csv_text(text: str) -> str:
    """Return text that a spreadsheet shows, not computes: a formula's first character gets an apostrophe.

    >>> csv_text("=1+1"), csv_text("a=b")
    ("'=1+1", 'a=b')
    """
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def xml_text(text: str) -> str:
    """Return the text without characters that XML cannot hold, such as control characters."""
    return _NOT_XML.sub("�", text)
