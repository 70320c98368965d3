"""Language tags: what counts as one, and whether a text is in a script of its language."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

from xlingual.errors import InputError
from xlingual.languages import name_of

TAG = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")
SHORT_TAG = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*")
_REGIONAL = re.compile(r"([A-Za-z]{2,3})-(?:[A-Za-z]{2}|[0-9]{3})")
# A tag as some programs write it, with an underscore: zh_Hant, pt_BR.
UNDERSCORED = re.compile(r"[a-z]{2,3}_([A-Z][a-z]{3}|[A-Z]{2})")

_DENSE = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO")


def check_tags(tags: Iterable[str], source: str) -> None:
    """Raise InputError where two tags differ only in case."""
    for alike in differing_in_case(tags):
        raise InputError(f"{source}: {case_problem(alike)}")


def differing_in_case(tags: Iterable[str]) -> list[list[str]]:
    """Return the tags that differ only in case, those that are alike together."""
    seen: dict[str, dict[str, None]] = {}
    for tag in tags:
        seen.setdefault(tag.lower(), {})[tag] = None
    return [list(alike) for alike in seen.values() if len(alike) > 1]


def case_problem(alike: Sequence[str]) -> str:
    """Return the problem of tags that differ only in case, and the remedy."""
    return f"the languages {' and '.join(map(repr, alike))} differ only in case: write one of them"


def regional_variants(tags: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs of a tag and the same tag with a region: `en` and `en-US`.

    >>> regional_variants(["en", "zh", "zh-Hant", "en-US"])
    [('en', 'en-US')]
    """
    known = {tag.lower(): tag for tag in tags}
    matches = ((_REGIONAL.fullmatch(tag), tag) for tag in tags)
    return [(known[match[1].lower()], tag) for match, tag in matches if match and match[1].lower() in known]


def tag_problem(tag: str) -> str | None:
    """Return why a string is not a language tag and what to do, or None where it is one."""
    if TAG.fullmatch(tag):
        return None
    head, _, last = tag.rpartition("_")
    if len(head) > 3 and SHORT_TAG.fullmatch(last) and name_of(last):  # text_en, as columns are named
        return f"{tag!r:.60} is not a language tag: write {last!r}"
    if TAG.fullmatch(tag.replace("_", "-")):
        return f"{tag!r} is not a language tag: write {tag.replace('_', '-')!r}"
    return f"{tag!r:.60} is not a language tag: write one such as 'en', 'pt-BR' or 'zh-Hant'"


@lru_cache(maxsize=65536)
def script_of(character: str) -> str | None:
    """Return the script of a letter in capitals ("LATIN", "CJK"); None for anything but a letter."""
    if not character.isalpha():
        return None
    words = unicodedata.name(character, "").replace("-", " ").split()
    forms = ("FULLWIDTH", "HALFWIDTH", "MODIFIER", "MATHEMATICAL", "SUPERSCRIPT")
    return next((word for word in words if word not in forms), None)


def in_other_script(text: str, scripts: tuple[str, ...]) -> bool:
    """Return whether most letters of the text (three different ones at least) are of other scripts.

    Brands, models and units are written in Latin letters everywhere: where the rest is in a script of the
    language, Latin letters count as foreign only from ten times as many on. A letter of a script with
    thousands or with syllables is worth three.
    """
    lower = text.lower()
    found = [script for script in map(script_of, set(lower)) if script is not None]
    foreign = [script for script in found if script not in scripts]
    if len(foreign) < 3 or 2 * len(foreign) <= len(found):
        return False
    if 2 * foreign.count("LATIN") <= len(foreign):
        return True
    every = [script_of(letter) for letter in lower]
    own = sum(3 if script in _DENSE else 1 for script in every if script in scripts)
    return 10 * own < every.count("LATIN")
