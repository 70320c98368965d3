"""A text of an export without HTML, control characters and spare blanks, and what was changed in it."""

from __future__ import annotations

import html
import re
import unicodedata

ENTITIES, TAGS, CONTROLS = "HTML entities", "HTML tags", "control characters"
BLANKS, FORM = "whitespace", "Unicode form (NFC)"

_NAMES = (
    "a abbr address article aside b big blockquote body br button caption center cite code col dd div dl dt "
    "em figure font footer form h[1-6] head header hr html i iframe img input label li link main meta nav ol "
    "p pre q s section small span strike strong sub sup table tbody td tfoot th thead title tr tt u ul video"
).replace(" ", "|")
_HIDDEN = re.compile(r"(?is)<!--.*?-->|<(script|style)\b[^>]*>.*?</\1\s*>")


def _tags(names: str) -> re.Pattern[str]:
    """Return the pattern of tags; one letter and further words are no tag without "=": a<b and c>d."""
    short = "|".join(name for name in names.split("|") if len(name) == 1)
    long = "|".join(name for name in names.split("|") if len(name) > 1)
    return re.compile(
        rf"(?i)</?(?:(?:{long})(?:\s[^<>]*)?|(?:{short})(?:\s+[\w:@.-]+\s*=(?!=)[^<>]*|\s*))/?>"
    )


_BREAK = _tags("br|p|div|li|ul|ol|tr|table|h[1-6]|hr|dt|dd|section|article")
_TAG = _tags(_NAMES)
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
# Joiners (U+200C, U+200D) and marks of direction are left: scripts and emoji need them.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u200b\u2060\ufeff\ufffe\uffff]")
_ROUNDS = 3  # texts that were escaped twice


def clean(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the clean text, and the kinds of what was changed in it.

    Tags that begin a line, a paragraph or an entry of a list become line breaks, others nothing. Line breaks
    are kept, one at a time.

    >>> clean("<p>Red &amp; warm</p>")
    ('Red & warm', ('HTML tags', 'HTML entities'))
    """
    kinds: dict[str, None] = {}
    for _ in range(_ROUNDS):
        before = text
        if "<" in text:
            text = _TAG.sub("", _BREAK.sub("\n", _HIDDEN.sub(" ", text)))
            kinds |= {TAGS: None} if text != before else {}
        if "&" in text:
            plain = _ENTITY.sub(lambda match: html.unescape(match[0]), text)
            kinds |= {ENTITIES: None} if plain != text else {}
            text = plain
        if text == before:
            break
    plain = _CONTROL.sub("", text)
    if plain != text:
        kinds[CONTROLS] = None
    composed = unicodedata.normalize("NFC", plain)
    if composed != plain:
        kinds[FORM] = None
    lines = (" ".join(line.split()) for line in composed.splitlines())
    spaced = "\n".join(line for line in lines if line)
    if spaced != composed and TAGS not in kinds:
        kinds[BLANKS] = None
    return spaced, tuple(kinds)
