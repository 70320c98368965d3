"""The encoding of a text file: UTF-8, or the one that the user gave, or a guess.

A guess is made only of files that are not UTF-8, from the texts in them: under the right encoding the letters
outside ASCII of a cell are those of one language. How many cells are so is the confidence of the guess; a
file without a guess that is good enough is refused.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from xlingual.errors import InputError, parameter

UTF8 = "utf-8-sig"  # with or without a byte order mark
LEAST = 0.8  # confidence at which a guess is taken
_SAMPLE = 1 << 23  # bytes that a guess is made from
_MOST_CELLS = 5_000
_BLOCK = 1 << 20
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# For each encoding, in the order in which they are preferred, the letters outside ASCII of languages that are
# written in it. A cell fits where one of the alphabets has all of its letters.
_ALPHABETS: Mapping[str, tuple[str, ...]] = {
    "cp1252": (
        "äöüß",
        "àâæçéèêëîïôœùûüÿ",
        "áéíñóúü",
        "àéèìíîòóùú",
        "áâãàçéêíóôõúü",
        "áéèëïíóöüúç",
        "åäöéü",
        "æøåéèêòôó",
        "áðéíóúýþæö",
        "àçéèíïòóúü",
        "éèêëïîôöñçàâü",
        "äöõüšž",
        "ëç",
    ),
    "cp1250": ("ąćęłńóśźż", "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "áéíóöőúüű", "ăâîşţ", "čćđšž"),
    "cp1251": (
        "абвгдеёжзийклмнопрстуфхцчшщъыьэюя",
        "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя",
        "абвгдеёжзійклмнопрстуўфхцчшыьэюя",
        "абвгдђежзијклљмнњопрстћуфхцчџшѓќѕ",
    ),
    "cp1253": ("αβγδεζηθικλμνξοπρστυφχψωςάέήίόύώϊϋΐΰ",),
    "cp1254": ("çğıöşüâîûi̇",),
}
_EAST_ASIAN = ("cp949", "cp932", "gb18030", "big5")
_PUNCTUATION = frozenset("„“”‚‘’‹›«»–—…•·°®©™€£¥§¶†‡±×÷²³¹µ¼½¾ªº¿¡´¨¸¬¦¯\u00a0\u00ad№")
_WITHIN_WORDS = frozenset("’‘´·\u00ad–—…\u00a0®™©“”„»«º°")  # may touch letters on both sides
_KANA = re.compile("[\u3041-\u30ff]")
_CELL_ENDS = re.compile(r'[,;\t\r\n|"]+')


class Encoding(NamedTuple):
    """A name that Python knows, and its confidence: None where nothing was guessed."""

    name: str
    confidence: float | None = None


def find_encoding(path: Path, given: str | None = None) -> Encoding:
    """Return the encoding in which all of a file can be read; raise InputError where none is known."""
    if given is not None:
        name = _known(given)
        place = _undecodable(path, name)
        if place is not None:
            raise InputError(
                f"{path}, line {_line(path, place)} is not {given} text: give the right one with "
                f"{parameter('encoding')}"
            )
        return Encoding(name)
    with path.open("rb") as file:
        head = file.read(1 << 12)
    name = next((name for mark, name in _MARKS if head.startswith(mark)), None) or _wide(head) or UTF8
    place = _undecodable(path, name)
    if place is None:
        return Encoding(name)
    if name != UTF8:
        raise InputError(f"{path} begins as {name.upper()} but is damaged: save the file again as UTF-8")
    return _guessed(path, _line(path, place))


def _known(given: str) -> str:
    """Return the name of the encoding as Python knows it."""
    try:
        found = codecs.lookup(given.strip())
        b"aaaa".decode(found.name, errors="ignore")  # which refuses encodings of anything but text
    except (LookupError, ValueError, UnicodeError):
        raise InputError(
            f"{parameter('encoding', given[:40])}: no such encoding: give one such as "
            "utf-8, utf-16, cp1252 or gb18030"
        ) from None
    return UTF8 if found.name in ("utf-8", "utf-8-sig") else found.name


def _wide(head: bytes) -> str | None:
    """Return UTF-16 without a mark, where every other byte of mostly Latin text is zero."""
    if b"\0" not in head:
        return None
    even, odd = head[::2].count(0), head[1::2].count(0)
    if max(even, odd) < len(head) / 8 or min(even, odd) > max(even, odd) / 4:
        return None
    return "utf-16-le" if odd > even else "utf-16-be"


def _undecodable(path: Path, name: str) -> int | None:
    """Return about where the first byte is that an encoding does not know; None where it knows all."""
    decoder = codecs.getincrementaldecoder(name)()
    place = 0
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                decoder.decode(block)
                place += len(block)
        decoder.decode(b"", final=True)
    except UnicodeError as error:
        return max(0, place - len(decoder.getstate()[0]) + getattr(error, "start", 0))
    return None


def _line(path: Path, place: int) -> int:
    with path.open("rb") as file:
        return file.read(place).count(b"\n") + 1


def _guessed(path: Path, line: int) -> Encoding:
    with path.open("rb") as file:
        found = guesses(file.read(_SAMPLE))
    best = max(found, key=lambda name: found[name], default=None)  # the first of equal ones
    if best is not None and found[best] >= LEAST and _undecodable(path, best) is None:
        return Encoding(best, found[best])
    like = f" (like {best}, with a confidence of {found[best]:.2f})" if best and found[best] >= 0.2 else ""
    raise InputError(
        f"{path}, line {line} is not UTF-8 text{like}: save the file as UTF-8, or say what it is with "
        f"{parameter('encoding')}"
    )


def guesses(sample: bytes) -> dict[str, float]:
    """Return the confidence of each encoding that has a text for all bytes of a sample.

    It is the share of different cells with letters outside ASCII that fit, and counts one cell more that
    does not. A file that is mostly UTF-8 is damaged, and in no other encoding.
    """
    sound = sample.decode("utf-8", errors="ignore")
    if 2 * (len(sound.encode()) - sum(map(str.isascii, sound))) > sum(byte > 127 for byte in sample):
        return {}
    found = {}
    for name in (*_ALPHABETS, *_EAST_ASIAN):
        try:
            text = codecs.getincrementaldecoder(name)().decode(sample)
        except UnicodeError:
            continue
        cells = [cell for cell in dict.fromkeys(_CELL_ENDS.split(text)) if not cell.isascii()][:_MOST_CELLS]
        fits = _fits_east_asian if name in _EAST_ASIAN else _fits_alphabet
        if name == "cp932" and 2 * sum(_KANA.search(cell) is not None for cell in cells) < len(cells):
            continue
        found[name] = sum(fits(cell, name) for cell in cells) / (len(cells) + 1)
    return found


def _fits_alphabet(cell: str, encoding: str) -> bool:
    letters = set()
    latin = encoding not in ("cp1251", "cp1253")
    for place, sign in enumerate(cell):
        if sign.isascii():
            continue
        before = cell[place - 1] if place else " "
        after = cell[place + 1] if place + 1 < len(cell) else " "
        if sign.isalpha() and sign not in "ªºµ":
            if before.islower() and sign.isupper():
                return False  # as in "grÃ¶ÃŸe"
            if not latin and any(beside.isascii() and beside.isalpha() for beside in (before, after)):
                return False  # as in "grцЯe"
            letters.add(sign.lower())
        elif sign not in _PUNCTUATION or (sign not in _WITHIN_WORDS and before.isalpha() and after.isalpha()):
            return False
    return any(letters <= alphabet for alphabet in _alphabets(encoding))


@cache
def _alphabets(encoding: str) -> tuple[frozenset[str], ...]:
    return tuple(map(frozenset, _ALPHABETS[encoding]))


def _fits_east_asian(cell: str, encoding: str) -> bool:
    """Return whether a cell is of common characters of the language that an encoding is used for."""
    wide = [sign for sign in cell if not sign.isascii()]
    if encoding == "cp949":
        return all(("가" <= sign <= "힣" and _is_common(sign, "euc_kr")) or _is_sign(sign) for sign in wide)
    charset = {"cp932": "shift_jis", "gb18030": "gb2312", "big5": "big5"}[encoding]
    return all(_is_common(sign, charset) for sign in wide)


def _is_sign(sign: str) -> bool:
    return "\u3000" <= sign <= "〿" or "！" <= sign <= "～" or sign in _PUNCTUATION


@cache
def _is_common(sign: str, charset: str) -> bool:
    """Return whether a character is among the first, frequent ones of a character set, or is punctuation."""
    if _is_sign(sign):
        return True
    try:
        code = sign.encode(charset)
    except UnicodeEncodeError:
        return False
    last = {"gb2312": 0xF7, "big5": 0xC6, "shift_jis": 0x9F, "euc_kr": 0xC8}[charset]
    return len(code) == 2 and code[0] <= last
