"""In which direction a language is written."""

from __future__ import annotations

# Languages written from right to left unless the tag names another script (CLDR, supplemental data).
_LANGUAGES = frozenset(
    {"ae", "aeb", "ajp", "apc", "acm", "ar", "arc", "arq", "ary", "arz", "ckb", "dv", "fa", "glk", "he", "iw"}
    | {"ji", "ks", "lrc", "mzn", "nqo", "pal", "pnb", "prs", "ps", "sd", "skr", "syr", "ug", "ur", "yi"}
)
_SCRIPTS = frozenset(
    {"adlm", "arab", "aran", "hebr", "mand", "mend", "nkoo", "rohg", "samr", "syrc", "thaa", "yezi"}
)


def direction(tag: str) -> str:
    """Return `rtl` or `ltr` for a language tag: by its script where it names one, else by its language.

    >>> direction("ar"), direction("az-Arab"), direction("ar-Latn"), direction("ja")
    ('rtl', 'rtl', 'ltr', 'ltr')
    """
    parts = tag.lower().replace("_", "-").split("-")
    scripts = [part for part in parts[1:] if len(part) == 4 and part.isalpha()]
    if scripts:
        return "rtl" if scripts[0] in _SCRIPTS else "ltr"
    return "rtl" if parts[0] in _LANGUAGES else "ltr"
