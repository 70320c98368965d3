"""Sentences of a text without sentence breaks, by rules: the package `sentencex`, and spaces in Thai.

`sentencex` (Wikimedia) ends sentences at the punctuation of many languages and knows abbreviations. Thai has
no punctuation for it: there a space may end a sentence, and more often does not, and a full stop marks an
abbreviation. What decides is written down at `_thai_ends` and `_abbreviates`.
"""

from __future__ import annotations

import re

from xlingual.errors import InputError, MissingExtraError

_THAI = r"\u0e01-\u0e3a\u0e40-\u0e4f"
_THAI_LETTER = re.compile(f"[{_THAI}]")
_ABBREVIATION = re.compile(rf"(?:^|[^{_THAI}])[{_THAI}]{{1,4}}\.$")
_SPACES = re.compile(r"\s+")
_SPACE = re.compile(r"[^\S\x00-\x7f]")  # whitespace beyond ASCII, such as the no-break space
_SHORTEST = 80  # characters of a Thai sentence that ends at a single space
_OPENING, _CLOSING = "([{“‘«「", ")]}”’»」"
# A phrase that begins with one of these words goes on with the sentence: and, or, but, which, that, by, for,
# because, from, in, of, with, as far as, is, namely, such as, including, together, therefore, then;
# or with an era, which has its year behind it.
_JOINING = (
    "และ",
    "หรือ",
    "แต่",
    "ซึ่ง",
    "ที่",
    "โดย",
    "เพื่อ",
    "เพราะ",
    "จาก",
    "ใน",
    "ของ",
    "กับ",
    "ถึง",
    "เป็น",
    "คือ",
    "ได้แก่",
    "เช่น",
    "รวม",
    "พร้อม",
    "จึง",
    "ก็",
    "ว่า",
    "พ.ศ.",
    "ค.ศ.",
    "ร.ศ.",
    "จ.ศ.",
    "ฮ.ศ.",
    "ๆ",
    "ฯ",
)


def sentence_breaks(context: str, language: str) -> list[tuple[int, int]]:
    """Return [start, end) of each sentence in code points, without whitespace at its ends, none overlapping.

    Every character but whitespace lies in a sentence. Raise MissingExtraError without the extra `segment`.
    """
    ends = _ends(context, language)
    if language.split("-")[0].lower() == "th":
        ends = [end for end in ends if not _abbreviates(context, end)]
        ends = sorted({*ends, *_thai_ends(context, ends)})
    breaks = []
    start = 0
    for end in (*ends, len(context)):
        part = context[start:end]
        if part.strip():
            breaks.append((start + len(part) - len(part.lstrip()), start + len(part.rstrip())))
        start = max(start, end)
    return breaks


def _ends(context: str, language: str) -> list[int]:
    """Return where the library begins a new sentence, ascending."""
    try:
        from sentencex import segment
    except ImportError:
        raise MissingExtraError("finding sentences in a file without sentence_breaks", "segment") from None
    # The library (1.0) takes whitespace for single bytes in some languages and panics on others: it gets
    # ASCII ones, one for one, so that offsets stay.
    plain = _SPACE.sub(lambda found: "\n" if found.group() in "\u2028\u2029" else " ", context)
    try:
        sentences = segment(language, plain)
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # pyo3's, which is no Exception
            raise
        raise InputError(
            f"sentencex fails on the text {context!r:.60} ({language}): give it sentence_breaks"
        ) from None
    ends, position = [], 0
    for sentence in sentences:
        found = plain.find(sentence, position)
        if found >= 0:  # should the library change a character, the sentence goes on
            position = found + len(sentence)
            ends.append(position)
    return ends


def _abbreviates(context: str, end: int) -> bool:
    """Return whether a Thai sentence that is to end here would end at the full stop of an abbreviation.

    That is so where letters follow the full stop at once, and where at most four Thai letters are before it:
    "พ.ศ. 2553" (a year of the Buddhist era), "ดร. " (doctor).
    """
    before = context[:end].rstrip()
    if not before.endswith("."):
        return False
    glued = len(before) == end < len(context) and not context[end].isspace()
    return glued or _ABBREVIATION.search(before[-6:]) is not None


def _thai_ends(context: str, known: list[int]) -> list[int]:
    """Return the spaces that end a Thai sentence, beside the ends that are known.

    Two spaces or a line break end one. A single space does between two Thai letters, outside brackets, where
    the sentence has at least 80 characters and what follows does not begin with a joining word.
    """
    ends = []
    start, depth, position = 0, 0, 0
    for space in _SPACES.finditer(context):
        before = context[position : space.start()]
        depth = max(0, depth + sum(before.count(mark) for mark in _OPENING))
        depth = max(0, depth - sum(before.count(mark) for mark in _CLOSING))
        position = space.end()
        start = max([start, *(end for end in known if end <= space.start())])
        certain = len(space.group()) > 1 or "\n" in space.group()
        likely = depth == 0 and space.start() - start >= _SHORTEST and _between_phrases(context, space.span())
        if certain or likely:
            ends.append(position)
            start, depth = position, 0
    return ends


def _between_phrases(context: str, space: tuple[int, int]) -> bool:
    letters = (context[space[0] - 1], context[space[1] : space[1] + 1])
    return all(map(_THAI_LETTER.match, letters)) and not context.startswith(_JOINING, space[1])
