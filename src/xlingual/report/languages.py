"""English names of language codes, for sentences: "it" in the middle of one reads as a word."""

from __future__ import annotations

# ISO 639-1, of languages that multilingual test sets have.
_NAMES = """
af Afrikaans, am Amharic, ar Arabic, az Azerbaijani, be Belarusian, bg Bulgarian, bn Bengali, ca Catalan,
cs Czech, cy Welsh, da Danish, de German, el Greek, en English, eo Esperanto, es Spanish, et Estonian,
eu Basque, fa Persian, fi Finnish, fr French, ga Irish, gl Galician, gu Gujarati, ha Hausa, he Hebrew,
hi Hindi, hr Croatian, hu Hungarian, hy Armenian, id Indonesian, ig Igbo, is Icelandic, it Italian,
ja Japanese, jv Javanese, ka Georgian, kk Kazakh, km Khmer, kn Kannada, ko Korean, ky Kyrgyz, lo Lao,
lt Lithuanian, lv Latvian, mk Macedonian, ml Malayalam, mn Mongolian, mr Marathi, ms Malay, mt Maltese,
my Burmese, ne Nepali, nl Dutch, no Norwegian, pa Punjabi, pl Polish, pt Portuguese, qu Quechua,
ro Romanian, ru Russian, rw Kinyarwanda, sd Sindhi, si Sinhala, sk Slovak, sl Slovenian, so Somali,
sq Albanian, sr Serbian, sv Swedish, sw Swahili, ta Tamil, te Telugu, tg Tajik, th Thai, tl Tagalog,
tr Turkish, uk Ukrainian, ur Urdu, uz Uzbek, vi Vietnamese, xh Xhosa, yo Yoruba, zh Chinese, zu Zulu
"""
NAMES = {code: name for code, _, name in (one.strip().partition(" ") for one in _NAMES.split(","))}


def named(code: str) -> str:
    """Return the language's English name with its code, the code in quotation marks where it has none here.

    >>> named("it"), named("zh-Hans"), named("l1")
    ('Italian (it)', 'Chinese (zh-Hans)', "'l1'")
    """
    name = NAMES.get(code.replace("_", "-").partition("-")[0].lower())
    return f"'{code}'" if name is None else f"{name} ({code})"
