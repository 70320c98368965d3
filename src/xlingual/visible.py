r"""Characters that only programs see, made visible: control characters, line ends, changes of direction.

Names of encoders, languages, labels and files come from other people's data. Shown as they are, an escape
sequence works in the terminal, a line end begins a new line (`::error::…` in the log of a CI system,
`\input{…}` after a comment in LaTeX), and a change of direction turns the rest of a line around.
"""

from __future__ import annotations

import re

# C0 and C1, line and paragraph separators, half characters; embeddings, overrides and isolates of direction
# and the marks that turn what follows them. The left-to-right mark changes nothing in a line from the left.
_DIRECTIONS = "\u061c\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
_UNSEEN = re.compile(f"[\x00-\x1f\x7f-\x9f{_DIRECTIONS}]")
_UNSEEN_IN_JSON = re.compile(f"[\x7f-\x9f{_DIRECTIONS}]")  # JSON has its own way with the others
_ISOLATED = re.compile("\u2068([^\u2066-\u2069]*)\u2069")
_COMMAND = re.compile(r"^([^\S\n]*):(?=:)|#(?=#(?:\[|vso|teamcity))", re.MULTILINE)
_FORMULA = re.compile(r"'*(?:[=+\-@＝＋－＠]|::)")  # or, in the log of a CI system, a command


def visible(text: str, *, keep: str = "") -> str:
    r"""Return the text with such characters as \xNN or \uNNNN, but those of `keep`.

    A pair of isolates stays: the text between them reorders nothing outside.

    >>> visible("red\x1b[31m\nline")
    'red\\x1b[31m\\x0aline'
    """
    if not _UNSEEN.search(text):
        return text
    parts = _ISOLATED.split(text)  # every second part is isolated
    shown = [_UNSEEN.sub(lambda found: found[0] if found[0] in keep else _escape(found[0]), p) for p in parts]
    return "".join(f"\u2068{part}\u2069" if place % 2 else part for place, part in enumerate(shown))


def visible_value(value: object) -> object:
    """Return the value of an expression of an HTML template, with control characters visible in texts.

    Line ends stay: HTML makes spaces of them. What a filter has made safe (Markup) is left as it is.
    """
    return visible(value, keep="\n\t") if type(value) is str else value


def visible_json(text: str) -> str:
    r"""Return JSON that means the same, with such characters as \uNNNN."""
    return _UNSEEN_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def visible_line(text: str) -> str:
    r"""Return the text as one visible line that no CI system takes for a command.

    >>> visible_line("  ::error::no\n  such")
    '\\x3a:error::no such'
    """
    return without_commands(visible(" ".join(text.split())))


def without_commands(text: str) -> str:
    r"""Return lines so that none is a command to a CI system: `::error::…`, `##vso[…`.

    >>> without_commands("a\n ::error::b")
    'a\n \\x3a:error::b'
    """
    return _COMMAND.sub(lambda found: "\\x23" if found[0] == "#" else f"{found[1]}\\x3a", text)


def csv_text(text: str) -> str:
    """Return text that a spreadsheet shows, not computes: what could be a formula gets an apostrophe.

    >>> csv_text("=1+1"), csv_text("a=b"), csv_text("'=1")
    ("'=1+1", 'a=b', "''=1")
    """
    text = visible(text)
    return f"'{text}" if _FORMULA.match(text) else text


def _escape(character: str) -> str:
    number = ord(character)
    return f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}"
