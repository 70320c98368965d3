"""Texts made safe for Markdown and XML."""

from __future__ import annotations

import re

_MARKDOWN = re.compile(r"([\\`*_\[\]|~#@])")
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def markdown_text(text: str) -> str:
    """Return text that Markdown and HTML show as it is, in one line."""
    text = " ".join(text.split())
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKDOWN.sub(r"\\\1", text)


def xml_text(text: str) -> str:
    """Return the text without characters that XML cannot hold, such as control characters."""
    return _NOT_XML.sub("�", text)
