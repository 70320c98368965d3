"""Names set apart in sentences.

A system may be called "a", as the command's help does, so names are marked where a sentence is made instead
of being looked for in it afterwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xlingual.visible import visible

if TYPE_CHECKING:
    from rich.text import Text

_OPEN, _CLOSE = "\x02", "\x03"
_SHORT = 2  # letters; a name as short as that could be read as a word


def said(name: str) -> str:
    """Return the name, marked as one."""
    return f"{_OPEN}{_without_marks(name)}{_CLOSE}"


def quoted(text: str) -> str:
    """Return words that somebody else wrote, without marks."""
    return _without_marks(text)


def plain(sentence: str) -> str:
    """Return the sentence without marks; very short names get quotation marks.

    >>> plain(f"more with {said('a')} than with {said('labse')}")
    'more with ‘a’ than with labse'
    """
    return "".join(f"‘{part}’" if name and len(part) <= _SHORT else part for part, name in _parts(sentence))


def for_page(sentence: str) -> Any:  # noqa: ANN401  (Markup)
    """Return the sentence escaped, with the names isolated: they may be of any script."""
    from markupsafe import Markup

    pieces = (
        Markup("<bdi>{}</bdi>").format(part) if name else _unbroken(part) for part, name in _parts(sentence)
    )
    return Markup("").join(pieces)


def for_terminal(sentence: str) -> Text:
    """Return the sentence with the names in bold type, and very short ones in quotation marks."""
    from rich.text import Text

    shown = Text()
    for part, name in _parts(sentence):
        shown.append(plain(said(part)) if name else part, style="bold" if name else None)
    return shown


def _parts(sentence: str) -> list[tuple[str, bool]]:
    """Return the pieces of a sentence, each with whether it is a name."""
    found = []
    for i, piece in enumerate(sentence.split(_OPEN)):
        name, closed, rest = piece.partition(_CLOSE)
        found += [(name, True), (rest, False)] if i and closed else [(piece, False)]
    return [(part, name) for part, name in found if part]


def _unbroken(text: str) -> str:
    """Return the text with spaces that no line breaks at before "%" and around "p = "."""
    text = text.replace(" %", "\u00a0%")
    return text.replace("p = ", "p\u00a0=\u00a0").replace("p < ", "p\u00a0<\u00a0")


def _without_marks(text: str) -> str:
    return visible(text.replace(_OPEN, "").replace(_CLOSE, ""))
