"""Sentences of a text without sentence breaks, by the rules of `sentencex` (Wikimedia).

They end sentences at the punctuation of many languages and know abbreviations. Thai has no such punctuation:
rules find a fifth of the ends that people marked in XQuAD-R, PyThaiNLP's trained `crfcut` half of them, and
most of what either finds is no end. So Thai needs breaks of its own.
"""

from __future__ import annotations

import re

from xlingual.errors import InputError, MissingExtraError

_SPACE = re.compile(r"[^\S\x00-\x7f]")  # whitespace beyond ASCII, such as the no-break space


def sentence_breaks(context: str, language: str) -> list[tuple[int, int]]:
    """Return [start, end) of each sentence in code points, without whitespace at its ends, none overlapping.

    Every character but whitespace lies in a sentence. Raises InputError for Thai, and MissingExtraError
    without the extra `segment`.
    """
    if language.split("-")[0].lower() == "th":
        raise InputError(
            f"Thai ({language}) has no punctuation that ends sentences, so none are found by rules: give "
            "each paragraph 'sentence_breaks'"
        )
    try:
        from sentencex import segment
    except ImportError:
        raise MissingExtraError("finding sentences in a file without sentence_breaks", "segment") from None
    # The library (1.0) takes whitespace for single bytes in some languages and panics on others: it gets
    # ASCII ones, one for one, so that offsets stay.
    plain = _SPACE.sub(lambda space: "\n" if space.group() in "\u2028\u2029" else " ", context)
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
        place = plain.find(sentence, position)
        if place >= 0:  # should the library change a character, the sentence goes on
            position = place + len(sentence)
            ends.append(position)
    breaks, start = [], 0
    for end in (*ends, len(context)):
        part = context[start:end]
        if part.strip():
            breaks.append((start + len(part) - len(part.lstrip()), start + len(part.rstrip())))
        start = max(start, end)
    return breaks
