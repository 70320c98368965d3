"""The languages that METEOR has a stemmer for, by the first part of their tag."""

from __future__ import annotations

STEMMERS = {
    "ar": "arabic",
    "da": "danish",
    "de": "german",
    "en": "porter",  # nltk's own choice
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "it": "italian",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
}


def code_of(language: str) -> str:
    """Return the language's key in STEMMERS, whether it has one or not."""
    code = language.lower().replace("_", "-").partition("-")[0]
    return "no" if code in ("nb", "nn") else code


def has_meteor(language: str) -> bool:
    """Return whether METEOR can be computed for translations into the language."""
    return code_of(language) in STEMMERS
