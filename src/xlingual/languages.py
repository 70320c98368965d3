"""What is known of languages by their tags: the English name, the scripts, the direction of writing."""

from __future__ import annotations

# By scripts (Unicode's names for them; the usual one of a language first): the code and English name of
# languages that multilingual data has, of all that are written from right to left (CLDR), and old codes.
_WRITTEN_IN = {
    "LATIN": """af Afrikaans, ca Catalan, cs Czech, cy Welsh, da Danish, de German, en English,
        eo Esperanto, es Spanish, et Estonian, eu Basque, fi Finnish, fr French, ga Irish, gl Galician,
        ha Hausa, hr Croatian, hu Hungarian, id Indonesian, ig Igbo, is Icelandic, it Italian,
        jv Javanese, lt Lithuanian, lv Latvian, ms Malay, mt Maltese, nl Dutch, no Norwegian, pl Polish,
        pt Portuguese, qu Quechua, ro Romanian, rw Kinyarwanda, sk Slovak, sl Slovenian, so Somali,
        sq Albanian, sv Swedish, sw Swahili, tl Tagalog, tr Turkish, vi Vietnamese, xh Xhosa, yo Yoruba,
        zu Zulu""",
    "CYRILLIC": """ab Abkhazian, ba Bashkir, be Belarusian, bg Bulgarian, cv Chuvash, kk Kazakh,
        ky Kyrgyz, mk Macedonian, mn Mongolian, os Ossetian, ru Russian, tg Tajik, tt Tatar,
        uk Ukrainian""",
    "CYRILLIC LATIN": "az Azerbaijani, bs Bosnian, sh Serbo-Croatian, sr Serbian, uz Uzbek",
    "CJK HIRAGANA KATAKANA": "ja Japanese",
    "CJK BOPOMOFO": "wuu Wu Chinese, yue Cantonese, zh Chinese",
    "HANGUL CJK": "ko Korean",
    "ARABIC": """acm Mesopotamian Arabic, aeb Tunisian Arabic, ajp South Levantine Arabic,
        apc Levantine Arabic, ar Arabic, arq Algerian Arabic, ary Moroccan Arabic, arz Egyptian Arabic,
        ckb Central Kurdish, fa Persian, glk Gilaki, lrc Northern Luri, mzn Mazanderani,
        pnb Western Panjabi, prs Dari, ps Pashto, sd Sindhi, skr Saraiki, ug Uyghur, ur Urdu""",
    "ARABIC DEVANAGARI": "ks Kashmiri",
    "LATIN ARABIC": "ku Kurdish",
    "DEVANAGARI": "hi Hindi, mr Marathi, ne Nepali, sa Sanskrit",
    "GURMUKHI ARABIC": "pa Punjabi",
    "HEBREW": "he Hebrew, iw Hebrew, ji Yiddish, yi Yiddish",
    "SYRIAC": "syr Syriac",
    "SYRIAC HEBREW IMPERIAL": "arc Aramaic",
    "THAANA": "dv Dhivehi",
    "NKO": "nqo N'Ko",
    "AVESTAN": "ae Avestan",
    "INSCRIPTIONAL": "pal Pahlavi",
    "THAI": "th Thai",
    "GREEK": "el Greek",
    "ARMENIAN": "hy Armenian",
    "GEORGIAN": "ka Georgian",
    "BENGALI": "as Assamese, bn Bengali",
    "TAMIL": "ta Tamil",
    "TELUGU": "te Telugu",
    "KANNADA": "kn Kannada",
    "MALAYALAM": "ml Malayalam",
    "GUJARATI": "gu Gujarati",
    "SINHALA": "si Sinhala",
    "ORIYA": "or Odia",
    "ETHIOPIC": "am Amharic, ti Tigrinya",
    "KHMER": "km Khmer",
    "LAO": "lo Lao",
    "MYANMAR": "my Burmese",
    "TIBETAN": "bo Tibetan, dz Dzongkha",
}
_ROWS = [
    (*one.strip().partition(" ")[::2], tuple(scripts.split()))
    for scripts, languages in _WRITTEN_IN.items()
    for one in languages.split(",")
]
_NAMES = {code: name for code, name, _ in _ROWS}
_SCRIPTS = {code: scripts for code, _, scripts in _ROWS}
_SCRIPTS_OF_SUBTAGS = {
    "latn": ("LATIN",),
    "cyrl": ("CYRILLIC",),
    "hans": ("CJK", "BOPOMOFO"),
    "hant": ("CJK", "BOPOMOFO"),
    "jpan": ("CJK", "HIRAGANA", "KATAKANA"),
    "kore": ("HANGUL", "CJK"),
    "deva": ("DEVANAGARI",),
    "grek": ("GREEK",),
    "thai": ("THAI",),
    "adlm": ("ADLAM",),
    "arab": ("ARABIC",),
    "aran": ("ARABIC",),
    "hebr": ("HEBREW",),
    "mand": ("MANDAIC",),
    "mend": ("MENDE",),
    "nkoo": ("NKO",),
    "rohg": ("HANIFI",),
    "samr": ("SAMARITAN",),
    "syrc": ("SYRIAC",),
    "thaa": ("THAANA",),
    "yezi": ("YEZIDI",),
}
_FROM_THE_RIGHT = frozenset(
    {"ADLAM", "ARABIC", "AVESTAN", "HANIFI", "HEBREW", "INSCRIPTIONAL", "MANDAIC", "MENDE", "NKO"}
    | {"SAMARITAN", "SYRIAC", "THAANA", "YEZIDI"}
)


def names() -> dict[str, str]:
    """Return the English name of each language by its code; of two codes of one the current one is last."""
    old = ("iw", "ji")
    return {code: _NAMES[code] for code in (*old, *(code for code in _NAMES if code not in old))}


def name_of(tag: str) -> str | None:
    """Return the English name of a tag's language; None where it has none here."""
    return _NAMES.get(_subtags(tag)[0])


def named(tag: str) -> str:
    """Return the language's English name with its tag, the tag in quotation marks where it has none here.

    In the middle of a sentence "it" alone reads as a word.

    >>> named("it"), named("zh-Hans"), named("l1")
    ('Italian (it)', 'Chinese (zh-Hans)', "'l1'")
    """
    name = name_of(tag)
    return f"'{tag}'" if name is None else f"{name} ({tag})"


def scripts_of(tag: str) -> tuple[str, ...] | None:
    """Return the scripts a language is written in; None for a tag that nothing is known about.

    >>> scripts_of("sr"), scripts_of("sr-Latn"), scripts_of("tlh")
    (('CYRILLIC', 'LATIN'), ('LATIN',), None)
    """
    language, *subtags = _subtags(tag)
    named_scripts = (_SCRIPTS_OF_SUBTAGS[subtag] for subtag in subtags if subtag in _SCRIPTS_OF_SUBTAGS)
    return next(named_scripts, _SCRIPTS.get(language, ("LATIN",) if len(language) == 2 else None))


def direction(tag: str) -> str:
    """Return `rtl` or `ltr` for a language tag: by its script where it names one, else by its language.

    >>> direction("ar"), direction("az-Arab"), direction("ar-Latn"), direction("ja")
    ('rtl', 'rtl', 'ltr', 'ltr')
    """
    language, *subtags = _subtags(tag)
    script = next((subtag for subtag in subtags if len(subtag) == 4 and subtag.isalpha()), None)
    scripts = scripts_of(language) if script is None else _SCRIPTS_OF_SUBTAGS.get(script)
    return "rtl" if scripts and scripts[0] in _FROM_THE_RIGHT else "ltr"


def _subtags(tag: str) -> list[str]:
    return tag.lower().replace("_", "-").split("-")
