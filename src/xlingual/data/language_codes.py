"""ISO codes of languages; MTEB writes a tag as the code of three letters and the script: deu-Latn."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

_UNKNOWN = ("und", "Zyyy")  # of ISO: a language, a script that is not determined


def language_code(tag: str) -> str:
    """Return the language and script of a tag.

    >>> language_code("de"), language_code("zh-Hant"), language_code("pt_BR"), language_code("l1")
    ('deu-Latn', 'zho-Hant', 'por-Latn', 'und-Zyyy')
    """
    first, *subtags = tag.replace("_", "-").split("-")
    known = iso_codes().get(first.lower())
    if known is None and len(first) == 3 and first.isalpha():
        known = (first.lower(), _UNKNOWN[1])
    language, usual = known or _UNKNOWN
    script = next((part.title() for part in subtags if len(part) == 4 and part.isalpha()), usual)
    return f"{language}-{script}"


@cache
def iso_codes() -> dict[str, tuple[str, str]]:
    """Return the ISO 639-3 code and the usual script of each tag."""
    text = files("xlingual.data").joinpath("language_codes.txt").read_text(encoding="utf-8")
    rows = (line.split() for line in text.splitlines() if not line.startswith("#"))
    return {tag: (language, script) for tag, language, script in rows}
