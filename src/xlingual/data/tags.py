"""Language tags from what exports and corpora write: "EN", "english", "en_GB", "deu_Latn", "ger"."""

from __future__ import annotations

import re
from functools import cache

from xlingual.data.language_codes import iso_codes
from xlingual.languages import name_of, names, scripts_of

# Bibliographic codes, codes that were replaced, and single languages that are meant by their macrolanguage.
_OTHER = """
    alb:sq arm:hy baq:eu bur:my chi:zh cze:cs dut:nl fre:fr geo:ka ger:de gre:el ice:is mac:mk mao:mi
    may:ms per:fa rum:ro slo:sk tib:bo wel:cy iw:he in:id ji:yi
    arb:ar cmn:zh pes:fa zsm:ms lvs:lv ekk:et khk:mn npi:ne ory:or swh:sw uzn:uz azj:az plt:mg als:sq pbt:ps
    gaz:om ydd:yi
"""
# Names of languages in themselves, as shops write them; the English ones are those of `languages`.
_OWN_NAMES = """
    العربية:ar български:bg català:ca čeština:cs česky:cs cymraeg:cy dansk:da deutsch:de ελληνικά:el
    español:es espanol:es castellano:es eesti:et euskara:eu فارسی:fa suomi:fi français:fr francais:fr
    galego:gl עברית:he हिन्दी:hi hrvatski:hr magyar:hu bahasa-indonesia:id íslenska:is italiano:it
    日本語:ja 한국어:ko lietuvių:lt latviešu:lv nederlands:nl norsk:no polski:pl português:pt portugues:pt
    română:ro romana:ro русский:ru slovenčina:sk slovensky:sk slovenščina:sl shqip:sq српски:sr srpski:sr
    svenska:sv kiswahili:sw ไทย:th türkçe:tr turkce:tr українська:uk اردو:ur tiếng-việt:vi 中文:zh
    简体中文:zh-Hans 繁體中文:zh-Hant simplified-chinese:zh-Hans traditional-chinese:zh-Hant
    chinese-simplified:zh-Hans chinese-traditional:zh-Hant mandarin:zh farsi:fa flemish:nl filipino:fil
    brazilian-portuguese:pt-BR british-english:en-GB american-english:en-US
"""
_FURTHER = """
    fil quz ceb ckb yue wuu arz ary acm apc ajp aeb arq ast bho scn szl vec war
"""  # codes of three letters that have no shorter one
_TAG = re.compile(
    r"(?P<language>[a-z]{2,3})(?:-(?P<script>[a-z]{4}))?(?:-(?P<region>[a-z]{2}|[0-9]{3}))?", re.IGNORECASE
)


@cache
def tag_of(word: str, *, any_code: bool = False) -> str | None:
    """Return the BCP 47 tag that a word for a language means; None where none is known.

    A script is left out where the language is usually written in it, but for Chinese. With `any_code` every
    code of three letters is one of a language: for the names of a corpus' own files.

    >>> [tag_of(word) for word in ("EN", "english", "en_GB", "deu_Latn", "zho_Hans", "srp_Latn", "n/a")]
    ['en', 'en', 'en-GB', 'de', 'zh-Hans', 'sr-Latn', None]
    """
    plain = re.sub(r"[\s_]+", "-", word.strip().casefold())
    if plain in _by_name():
        return _by_name()[plain]
    match = _TAG.fullmatch(plain)
    if match is None:
        bare = re.sub(r"-*\(.*\)$", "", plain)  # "english (uk)"
        return tag_of(bare, any_code=any_code) if bare != plain else None
    codes, language = _codes(), match["language"]
    if language in codes:
        language = codes[language]
    elif not (name_of(language) or language in codes.values() or language in _FURTHER.split()) and not (
        any_code and len(language) == 3
    ):
        return None
    script, region = (match["script"] or "").title(), (match["region"] or "").upper()
    if script and language != "zh" and _usual(language, script):
        script = ""
    return "-".join(filter(None, (language, script, region)))


def _usual(language: str, script: str) -> bool:
    """Return whether a language is known to be written in a script first of all."""
    usual, named = scripts_of(language), scripts_of(f"{language}-{script}")
    if name_of(language) is None or not usual or not named:
        return False
    return usual[0] == named[0]


@cache
def _codes() -> dict[str, str]:
    """Return the tag that another code means: of two letters, which BCP 47 wants wherever there is one."""
    others = {other: code for other, _, code in (pair.partition(":") for pair in _OTHER.split())}
    longer = {code: tag for tag, (code, _) in iso_codes().items() if len(tag) == 2 and tag not in others}
    return longer | others


@cache
def _by_name() -> dict[str, str]:
    english = {name.casefold().replace(" ", "-"): code for code, name in names().items()}
    return english | {word: tag for word, _, tag in (pair.rpartition(":") for pair in _OWN_NAMES.split())}
