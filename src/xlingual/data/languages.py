"""Language tags: what counts as one, what exports and corpora write for one, and the script of a text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from importlib.resources import files

from xlingual.errors import InputError
from xlingual.languages import name_of, names, scripts_of

TAG = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")
# a tag as other programs write it: zh_Hant, pt_BR, eng_Latn
_UNDERSCORED = re.compile(r"[a-z]{2,3}_([A-Z][a-z]{3}|[A-Z]{2})")
_WITH_SCRIPT = re.compile(r"[a-z]{3}-[A-Z][a-z]{3}")  # eng-Latn, as MTEB writes it
_PARTS = re.compile(r"(?P<language>[a-z]{2,3})(?:-(?P<script>[a-z]{4}))?(?:-(?P<region>[a-z]{2}|[0-9]{3}))?")
_CHINESE = {"CN": "zh-Hans", "SG": "zh-Hans", "TW": "zh-Hant", "HK": "zh-Hant", "MO": "zh-Hant"}
_DENSE = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO")
_UNKNOWN = ("und", "Zyyy")  # of ISO: a language, a script that is not determined

# Bibliographic codes, codes that were replaced, and single languages that are meant by their macrolanguage.
_OTHER = """
    alb:sq arm:hy baq:eu bur:my chi:zh cze:cs dut:nl fre:fr geo:ka ger:de gre:el ice:is mac:mk mao:mi
    may:ms per:fa rum:ro slo:sk tib:bo wel:cy iw:he in:id ji:yi
    arb:ar cmn:zh pes:fa zsm:ms lvs:lv ekk:et khk:mn npi:ne ory:or swh:sw uzn:uz azj:az plt:mg als:sq pbt:ps
    gaz:om ydd:yi
"""
_FURTHER = """
    fil quz ceb ckb yue wuu arz ary acm apc ajp aeb arq ast bho scn szl vec war
"""  # codes of three letters that have no shorter one


@cache
def tag_of(word: str, *, any_code: bool = False) -> str | None:
    """Return the BCP 47 tag that a code or an English name of a language means; None where there is none.

    A script is left out where the language is usually written in it, but for Chinese. With `any_code` every
    code of three letters is one of a language: for the names of a corpus' own files.

    >>> [tag_of(word) for word in ("EN", "english", "en_GB", "deu_Latn", "zho_Hans", "zh_TW", "n/a")]
    ['en', 'en', 'en-GB', 'de', 'zh-Hans', 'zh-Hant', None]
    """
    plain = re.sub(r"[\s_]+", "-", word.strip().casefold())
    by_name, codes = _codes()
    match = _PARTS.fullmatch(plain)
    if plain in by_name or match is None:
        return by_name.get(plain)
    language = codes.get(match["language"], match["language"])
    is_language = name_of(language) or language in codes.values() or language in _FURTHER.split()
    if not is_language and not (any_code and len(language) == 3):
        return None
    script, region = (match["script"] or "").title(), (match["region"] or "").upper()
    if language == "zh" and region in _CHINESE and not script:
        return _CHINESE[region]
    usual, named = scripts_of(language), scripts_of(f"{language}-{script}")
    if script and language != "zh" and name_of(language) and usual and named and usual[0] == named[0]:
        script = ""
    return "-".join(filter(None, (language, script, region)))


@cache
def _codes() -> tuple[dict[str, str], dict[str, str]]:
    """Return the tag of each name of a language, and of each other code."""
    english = {name.casefold().replace(" ", "-"): code for code, name in names().items()}
    others = {other: code for other, _, code in (pair.partition(":") for pair in _OTHER.split())}
    longer = {code: tag for tag, (code, _) in _iso_codes().items() if len(tag) == 2 and tag not in others}
    return english, longer | others


def usual_tag(tag: str) -> str:
    """Return the tag that a code with an underscore, or with three letters and a script, means.

    Any other tag stays as it is.

    >>> [usual_tag(tag) for tag in ("eng_Latn", "eng-Latn", "zh_TW", "pt_BR", "zh-TW", "EN")]
    ['en', 'en', 'zh-Hant', 'pt-BR', 'zh-TW', 'EN']
    """
    return tag_of(tag) or tag if _UNDERSCORED.fullmatch(tag) or _WITH_SCRIPT.fullmatch(tag) else tag


def language_code(tag: str) -> str:
    """Return the language and script of a tag as MTEB writes them: the code of three letters and the script.

    >>> language_code("de"), language_code("zh-Hant"), language_code("pt_BR"), language_code("l1")
    ('deu-Latn', 'zho-Hant', 'por-Latn', 'und-Zyyy')
    """
    first, *subtags = tag.replace("_", "-").split("-")
    code = (first.lower(), _UNKNOWN[1]) if len(first) == 3 and first.isalpha() else _UNKNOWN
    language, usual = _iso_codes().get(first.lower(), code)
    script = next((part.title() for part in subtags if len(part) == 4 and part.isalpha()), usual)
    return f"{language}-{script}"


@cache
def _iso_codes() -> dict[str, tuple[str, str]]:
    """Return the ISO 639-3 code and the usual script of each tag."""
    text = files("xlingual.data").joinpath("language_codes.txt").read_text(encoding="utf-8")
    rows = (line.split() for line in text.splitlines() if not line.startswith("#"))
    return {tag: (language, script) for tag, language, script in rows}


def check_tags(tags: Iterable[str], source: str) -> None:
    """Raise InputError where two tags differ only in case."""
    for alike in differing_in_case(tags):
        raise InputError(f"{source}: {case_problem(alike)}")


def differing_in_case(tags: Iterable[str]) -> list[list[str]]:
    """Return the tags that differ only in case, those that are alike together."""
    spellings: dict[str, dict[str, None]] = {}
    for tag in tags:
        spellings.setdefault(tag.lower(), {})[tag] = None
    return [list(alike) for alike in spellings.values() if len(alike) > 1]


def case_problem(alike: Sequence[str]) -> str:
    """Return the problem of tags that differ only in case, and the remedy."""
    return f"the languages {' and '.join(map(repr, alike))} differ only in case: write one of them"


def tag_problem(tag: str) -> str | None:
    """Return why a string is not a language tag and what to do, or None where it is one."""
    hyphens = tag.replace("_", "-")
    example = f"{hyphens!r}" if TAG.fullmatch(hyphens) else "one such as 'en', 'pt-BR' or 'zh-Hant'"
    return None if TAG.fullmatch(tag) else f"{tag!r:.60} is not a language tag: write {example}"


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
    letters = [script for script in map(script_of, set(lower)) if script is not None]
    foreign = [script for script in letters if script not in scripts]
    if len(foreign) < 3 or 2 * len(foreign) <= len(letters):
        return False
    if 2 * foreign.count("LATIN") <= len(foreign):
        return True
    every = [script_of(letter) for letter in lower]
    usual = sum(3 if script in _DENSE else 1 for script in every if script in scripts)
    return 10 * usual < every.count("LATIN")
