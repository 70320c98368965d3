"""Texts made safe for Markdown, LaTeX and XML; `xlingual.visible` has spreadsheets."""

from __future__ import annotations

import re

from xlingual.visible import visible

_MARKDOWN = re.compile(r"([\\`*_\[\]|~#@])")
_LINK = re.compile(r"^:(?=:)|:(?=//)")  # the beginning of a GitHub workflow command, and of a link
_NOT_XML = re.compile("[\ufffe\uffff]")
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "−": "$-$",
    "–": "--",
    "<": "$<$",
    "→": r"$\to$",
    "±": r"$\pm$",
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
}


def markdown_text(text: str) -> str:
    """Return text that Markdown and HTML show as it is, in one line."""
    text = visible(" ".join(text.split()))
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _LINK.sub(r"\:", _MARKDOWN.sub(r"\\\1", text))


def latex_text(text: str) -> str:
    r"""Return text that LaTeX sets as it is, in one line; no command to a CI system can begin it.

    >>> latex_text("50 %\n\\input{x}")
    '50 \\% \\textbackslash{}input\\{x\\}'
    """
    text = visible(" ".join(text.split()))
    return "".join(_LATEX.get(letter, letter) for letter in text).replace("::", ":{}:")


def latex_comment(text: str) -> str:
    """Return a line of LaTeX that is a comment as a whole."""
    return f"% {visible(' '.join(text.split()))}"


def xml_text(text: str) -> str:
    """Return the text with visible control characters, which XML cannot hold."""
    return _NOT_XML.sub("�", visible(text, keep="\n"))
