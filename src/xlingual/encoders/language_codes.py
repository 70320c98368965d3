"""From a language tag (`de`, `pt-BR`) to the code by which a translation model knows the language."""

from __future__ import annotations

import re
from collections.abc import Sequence

# ISO 639-1 → the ISO 639-3 code of NLLB: of a macrolanguage the member that is most written
_TABLE = """
af:afr am:amh ar:arb as:asm az:azj be:bel bg:bul bn:ben bo:bod bs:bos ca:cat cs:ces cy:cym da:dan
de:deu dz:dzo el:ell en:eng eo:epo es:spa et:est eu:eus fa:pes fi:fin fo:fao fr:fra ga:gle gd:gla
gl:glg gn:grn gu:guj ha:hau he:heb hi:hin hr:hrv ht:hat hu:hun hy:hye id:ind ig:ibo is:isl it:ita
ja:jpn jv:jav ka:kat kk:kaz km:khm kn:kan ko:kor ku:kmr ky:kir lb:ltz lo:lao lt:lit lv:lvs mg:plt
mk:mkd ml:mal mn:khk mr:mar ms:zsm mt:mlt my:mya nb:nob ne:npi nl:nld nn:nno no:nob ny:nya om:gaz
or:ory pa:pan pl:pol ps:pbt pt:por rn:run ro:ron ru:rus rw:kin sa:san sd:snd si:sin sk:slk sl:slv
sm:smo sn:sna so:som sq:als sr:srp st:sot su:sun sv:swe sw:swh ta:tam te:tel tg:tgk th:tha ti:tir
tk:tuk tl:tgl tr:tur ts:tso tt:tat ug:uig uk:ukr ur:urd uz:uzn vi:vie wo:wol xh:xho yi:ydd yo:yor
zh:zho zu:zul
"""
_THREE_LETTERS = dict(pair.split(":") for pair in _TABLE.split())


def code_of(tag: str, codes: Sequence[str]) -> str | None:
    """Return the code for the language of a tag; None where the model has none.

    The code itself comes first, then codes whose language is the same; of several (`zho_Hans`, `zho_Hant`)
    the one that has another part of the tag, else the first.

    >>> code_of("de", ["deu_Latn", "eng_Latn"]), code_of("zh-Hant", ["zho_Hans", "zho_Hant"])
    ('deu_Latn', 'zho_Hant')
    """
    wanted = _parts(tag)
    for code in codes:
        if _parts(code) == wanted:
            return code
    languages = {wanted[0], _THREE_LETTERS.get(wanted[0], wanted[0])}
    same = [code for code in codes if _parts(code)[0] in languages]
    finer = [code for code in same if set(_parts(code)[1:]) & set(wanted[1:])]
    return next(iter(finer or same), None)


def _parts(code: str) -> list[str]:
    return re.split("[-_]", code.strip("<>_").lower())
