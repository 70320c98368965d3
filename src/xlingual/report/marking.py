"""Names set apart in sentences and cells.

A system may have a name like "a", as in the command's help, so names are marked where a text is made, not
searched for afterwards. Every renderer shows the marks in its own way.
"""

from __future__ import annotations

from xlingual.visible import visible

_OPEN, _CLOSE = "\x02", "\x03"
_SHORT = 2  # letters; a name as short as that could be read as a word


def marked(name: str) -> str:
    """Return the name, marked as one."""
    return f"{_OPEN}{quoted(name)}{_CLOSE}"


def quoted(text: str) -> str:
    """Return a text that users wrote, without marks."""
    return visible(text.replace(_OPEN, "").replace(_CLOSE, ""))


def against(first: str, second: str) -> str:
    """Return "b against a" with both names marked."""
    return f"{marked(first)} against {marked(second)}"


def bare(text: str) -> str:
    """Return the text without marks."""
    return "".join(part for part, _ in parts(text)).replace("\u00a0", " ")


def plain(sentence: str) -> str:
    """Return the sentence without marks; very short names get quotation marks.

    >>> plain(f"more with {marked('a')} than with {marked('labse')}")
    'more with ‘a’ than with labse'
    """
    shown = "".join(in_quotes(part) if name else part for part, name in parts(sentence))
    return shown.replace("\u00a0", " ")


def in_quotes(name: str) -> str:
    """Return a name as a sentence without other marks shows it: in quotation marks if it is very short."""
    return f"‘{name}’" if len(name) <= _SHORT else name


def parts(text: str) -> list[tuple[str, bool]]:
    """Return the pieces of a text, each with whether it is a name."""
    if _OPEN not in text:
        return [(text, False)]
    found = []
    for i, piece in enumerate(text.split(_OPEN)):
        name, closed, rest = piece.partition(_CLOSE)
        found += [(name, True), (rest, False)] if i and closed else [(piece, False)]
    return [(part, name) for part, name in found if part]


def unbroken(text: str) -> str:
    """Return the text with spaces before "%" and in "p = " that a page breaks no line at."""
    text = text.replace(" %", "\u00a0%")
    return text.replace("p = ", "p\u00a0=\u00a0").replace("p < ", "p\u00a0<\u00a0")
