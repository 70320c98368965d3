"""Language tags from what exports and corpora write: "EN", "english", "en_GB", "deu_Latn", "ger"."""

from __future__ import annotations

import re
from functools import cache

from xlingual.languages import name_of, names, scripts_of

# ISO 639: the code of three letters and that of two letters, which BCP 47 wants wherever there is one
_SHORT = """
    aar:aa abk:ab ave:ae afr:af aka:ak amh:am arg:an ara:ar asm:as ava:av aym:ay aze:az bak:ba
    bel:be bul:bg bis:bi bam:bm ben:bn bod:bo bre:br bos:bs cat:ca che:ce cha:ch cos:co cre:cr
    ces:cs chu:cu chv:cv cym:cy dan:da deu:de div:dv dzo:dz ewe:ee ell:el eng:en epo:eo spa:es
    est:et eus:eu fas:fa ful:ff fin:fi fij:fj fao:fo fra:fr fry:fy gle:ga gla:gd glg:gl grn:gn
    guj:gu glv:gv hau:ha heb:he hin:hi hmo:ho hrv:hr hat:ht hun:hu hye:hy her:hz ina:ia ind:id
    ile:ie ibo:ig iii:ii ipk:ik ido:io isl:is ita:it iku:iu jpn:ja jav:jv kat:ka kon:kg kik:ki
    kua:kj kaz:kk kal:kl khm:km kan:kn kor:ko kau:kr kas:ks kur:ku kom:kv cor:kw kir:ky lat:la
    ltz:lb lug:lg lim:li lin:ln lao:lo lit:lt lub:lu lav:lv mlg:mg mah:mh mri:mi mkd:mk mal:ml
    mon:mn mar:mr msa:ms mlt:mt mya:my nau:na nob:nb nde:nd nep:ne ndo:ng nld:nl nno:nn nor:no
    nbl:nr nav:nv nya:ny oci:oc oji:oj orm:om ori:or oss:os pan:pa pli:pi pol:pl pus:ps por:pt
    que:qu roh:rm run:rn ron:ro rus:ru kin:rw san:sa srd:sc snd:sd sme:se sag:sg sin:si slk:sk
    slv:sl smo:sm sna:sn som:so sqi:sq srp:sr ssw:ss sot:st sun:su swe:sv swa:sw tam:ta tel:te
    tgk:tg tha:th tir:ti tuk:tk tgl:tl tsn:tn ton:to tur:tr tso:ts tat:tt twi:tw tah:ty uig:ug
    ukr:uk urd:ur uzb:uz ven:ve vie:vi vol:vo wln:wa wol:wo xho:xh yid:yi yor:yo zha:za zho:zh
    zul:zu
"""
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
    pairs = (pair.partition(":") for pair in f"{_SHORT} {_OTHER}".split())
    return {other: code for other, _, code in pairs}


@cache
def _by_name() -> dict[str, str]:
    english = {name.casefold().replace(" ", "-"): code for code, name in names().items()}
    return english | {word: tag for word, _, tag in (pair.rpartition(":") for pair in _OWN_NAMES.split())}
