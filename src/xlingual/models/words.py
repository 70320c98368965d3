"""Texts to words, without any model: for the networks that are trained here, and for encoders that count.

Words are runs of letters, marks, digits and underscores of the text in Unicode form NFKC and lower case.
Everything else is left out: blanks, punctuation, apostrophes ("l'été" is "l" and "été", "don't" is "don" and
"t"), hyphens, symbols and emoji.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import cache, lru_cache
from itertools import groupby, pairwise

# languages written without spaces between words, by the first part of their tag
UNSPACED = frozenset(
    {"bo", "cmn", "dz", "ja", "jpn", "khm", "km", "lao", "lo", "lzh", "mya", "my", "tha", "th", "wuu", "yue"}
    | {"zh", "zho"}
)
SYLLABIC = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai and Lao, Burmese, Khmer
TIBETAN = "\u0f00-\u0fff"  # a mark ends each syllable, not each word
CHINESE_JAPANESE = (  # Japanese syllables and Han characters, half-width kana
    "々〆〇\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)

_FIRST_MARK = "\u0300"
_UNMARKED_WORD = re.compile(r"\w+")  # without marks the same words as `word_pattern()` finds, and faster
_MAY_BE_MARKED = re.compile(f"[{_FIRST_MARK}-\U0010ffff]")
_DOTTED_I = frozenset({"tr", "tur", "az", "aze"})  # languages in which I and İ are two letters


def normalized(text: str) -> str:
    """Return the text in Unicode form NFKC and lower case."""
    return unicodedata.normalize("NFKC", text).lower()


def is_spaced(language: str) -> bool:
    """Return whether the language of a tag (`zh-Hant`, `pt_BR`) puts spaces between words."""
    return primary(language) not in UNSPACED


@lru_cache(maxsize=1024)
def primary(language: str) -> str:
    """Return the first part of a language tag, in lower case.

    >>> primary("zh-Hant")
    'zh'
    """
    return re.split("[-_]", language.lower(), maxsplit=1)[0]


def words(text: str) -> list[str]:
    """Return the words: runs of letters, marks and digits of the normalised text."""
    return runs(normalized(text))


def runs(text: str) -> list[str]:
    """Return the runs of letters, marks and digits of the text as it is."""
    marked = not text.isascii() and _MAY_BE_MARKED.search(text)
    return (word_pattern() if marked else _UNMARKED_WORD).findall(text)


def tokens(text: str, language: str) -> list[str]:
    """Return what a network reads of a text: words, and in scripts without blanks smaller pieces.

    Each Han character and Japanese syllable is a token; Thai, Lao, Burmese and Khmer are cut into
    characters with the marks that belong to them. Tibetan has its syllables. That goes by the script, in any
    language: "iPhoneを2台" is "iphone", "を", "2", "台". The language counts for Turkish and Azerbaijani, in
    which lower case of I is ı.

    >>> tokens("Two dogs -- one BALL!", "en")
    ['two', 'dogs', 'one', 'ball']
    """
    return [
        piece
        for word in _words_of(text, language)
        for piece in (_cut(word) if _is_unspaced(word) else (word,))
    ]


def terms(text: str, language: str) -> list[str]:
    """Return what a search engine indexes of a text: words, and bigrams in scripts without blanks.

    There each two characters that follow each other are a term, one that stands alone is one itself.

    >>> terms("iPhoneを2台 買いました", "ja")
    ['iphone', 'を', '2', '台', '買い', 'いま', 'まし', 'した']
    """
    found: list[str] = []
    for word in _words_of(text, language):
        if not _is_unspaced(word):
            found.append(word)
            continue
        for unspaced, pieces in groupby(_cut(word), _is_unspaced):
            part = list(pieces)
            pairs = unspaced and len(part) > 1
            found += [one + other for one, other in pairwise(part)] if pairs else part
    return found


def _words_of(text: str, language: str) -> list[str]:
    """Return the words; lower case of I is ı in Turkish and Azerbaijani."""
    if primary(language) in _DOTTED_I:
        text = text.replace("I\u0307", "i").replace("İ", "i").replace("I", "ı")
    return words(text)


def _is_unspaced(word: str) -> bool:
    """Return whether some of its characters are in a script without blanks."""
    return not word.isascii() and _unspaced().search(word) is not None


def pretokenized_tokens(text: str) -> list[str]:
    """Return the parts of a text between blanks, as they are: letter case and signs are kept."""
    return text.split()


def _cut(word: str) -> list[str]:
    """Return the pieces of a run, where some of its characters are in a script without blanks."""
    return _pieces().findall(word)


@cache
def _unspaced() -> re.Pattern[str]:
    return re.compile(f"[{SYLLABIC}{CHINESE_JAPANESE}]")


@cache
def _pieces() -> re.Pattern[str]:
    """Return the pattern of a piece: one character and its marks in scripts without blanks, else a run."""
    without, marks = f"{SYLLABIC}{CHINESE_JAPANESE}", f"{_marks()}\u200c\u200d"
    return re.compile(f"[{without}][{marks}]*|[^{without}]+")


@cache
def word_pattern() -> re.Pattern[str]:
    r"""Return the pattern of a word: `\w` misses vowel signs and joiners, and would cut Hindi words apart."""
    return re.compile(rf"[\w{_marks()}\u200c\u200d]+")


@cache
def _marks() -> str:
    """Return the marks of Unicode as ranges of a pattern: one by one they would make it ten times as slow."""
    marks = [c for c in range(sys.maxunicode + 1) if unicodedata.category(chr(c))[0] == "M"]
    ends = [c for c, following in zip(marks, [*marks[1:], -1], strict=True) if following != c + 1]
    starts = [c for c, before in zip(marks, [-1, *marks], strict=False) if before != c - 1]
    return "".join(f"{chr(a)}-{chr(b)}" for a, b in zip(starts, ends, strict=True))
