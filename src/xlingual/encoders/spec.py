"""Spec strings: how an encoder is written on a command line.

    [NAME=]scheme:argument[?key=value&…][::SPEC]

NAME is letters, digits, `_`, `.` and `-`, before the first colon. `A::B` applies A on top of B. A path
without a scheme means `vectors:`; the bare name of a scheme means that scheme without an argument. In the
argument and in option values `%XX` stands for a byte of UTF-8: `%3F` is `?`, `%26` is `&`, `%25` is `%`. Few
specs need it: blanks, colons, `#` and `/` stand as they are, an `&` too where a blank follows it in a value,
and a `?` in the name of a file that is there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import unquote

from xlingual.errors import InputError, did_you_mean, listed
from xlingual.hidden import shown, shown_option

_NAME = re.compile(r"([\w.-]+)=")
_SCHEME = re.compile(r"([A-Za-z][\w+.-]+):")  # two characters at least: C:\x is a drive letter, so a path
_WORD = re.compile(r"[\w+-]+")
_EXAMPLE = "'random:?dim=64' or 'vectors:model.{lang}.npy'"
_KEY = re.compile(r"[A-Za-z][\w.-]*")


@dataclass(frozen=True)
class Spec:
    """A spec string, taken apart; `str()` prints one that parses back to it.

    `options` keeps the order in which the options were written. Names of schemes and options are not checked
    here but where the schemes are known (`schemes.py`).
    """

    name: str | None
    scheme: str
    argument: str = ""
    options: tuple[tuple[str, str], ...] = ()
    base: Spec | None = None

    def __str__(self) -> str:
        name = f"{self.name}=" if self.name is not None else ""
        options = "&".join(f"{key}={written(value)}" for key, value in self.options)
        top = f"{name}{self.scheme}:{_quoted(self.argument, '%?')}" + (f"?{options}" if options else "")
        return top if self.base is None else f"{top}::{self.base}"


def parse(text: str, known_schemes: Collection[str]) -> Spec:
    """Return the spec that `text` writes; raise InputError (one line) where it is malformed.

    >>> parse("ours=random:?dim=8", {"random"})
    Spec(name='ours', scheme='random', argument='', options=(('dim', '8'),), base=None)
    """
    top, *under = re.split("::(?!:)", text, maxsplit=1)  # in "random:::lsa" the first colon ends a scheme
    below = "".join(under)
    if under and not below:
        raise InputError(f"spec {shown(text)!r}: nothing after '::'; write A::B to apply A on top of B")
    named = _NAME.match(top)
    rest = top[named.end() :] if named else top
    if not rest.strip():
        raise InputError(f"spec {shown(text)!r} is empty: write scheme:argument, for example {_EXAMPLE}")
    head, options = _head_and_options(rest, text)
    scheme, argument = _scheme_and_argument(head, text, known_schemes)
    name, argument = named[1] if named else None, unquote(argument)
    return Spec(name, scheme, argument, options, parse(below, known_schemes) if under else None)


def _head_and_options(rest: str, text: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return what stands before the options, and these; a file may have a question mark in its name."""
    head, _, query = rest.partition("?")
    try:
        return head, _options(query, text)
    except InputError:
        for place in (*[found.start() for found in re.finditer(r"\?", rest)][1:], len(rest)):
            head, query = rest[:place], rest[place + 1 :]
            written = _SCHEME.match(head)
            if os.path.exists(unquote(head[written.end() :] if written else head)):
                return head, _options(query, text)
        raise


def _scheme_and_argument(head: str, text: str, known: Collection[str]) -> tuple[str, str]:
    if head in known:
        return head, ""
    written = _SCHEME.match(head)
    if written and written.group(1) in known:
        return written.group(1), head[written.end() :]
    # a file of vectors has a suffix, so a word without one is a scheme that was mistyped
    word = written.group(1) if written else head
    if written or _WORD.fullmatch(head):
        raise InputError(
            f"spec {shown(text)!r}: unknown scheme {word!r}.{did_you_mean(word, known)} "
            f"Known: {listed(sorted(known), 20)}; a file of vectors is written vectors:PATH, a model of "
            f"sentence-transformers st:NAME"
        )
    if not head:
        raise InputError(f"spec {shown(text)!r}: no scheme or path before '?'; write for example {_EXAMPLE}")
    return "vectors", head


def _options(query: str, text: str) -> tuple[tuple[str, str], ...]:
    pairs: list[tuple[str, str]] = []
    for part in query.split("&") if query else ():
        key, equals, value = part.partition("=")
        if not (equals and _KEY.fullmatch(key)) and pairs and " " in part:
            pairs[-1] = pairs[-1][0], f"{pairs[-1][1]}&{unquote(part)}"  # a value with an & in its words
            continue
        if not equals or not _KEY.fullmatch(key):
            raise InputError(f"spec {shown(text)!r}: option {shown_option(part)!r} is not written key=value")
        pairs.append((key, unquote(value)))
    return tuple(pairs)


def written(value: str) -> str:
    """Return the value of an option as a spec has it: with %XX only for what would end it.

    >>> written("query: 5 % off & more")
    'query: 5 %25 off %26 more'
    """
    return _quoted(value, "%&")


def _quoted(text: str, special: str) -> str:
    """Percent-encode the special characters, and each colon that could be read as part of `::`."""
    text = "".join(f"%{ord(char):02X}" if char in special else char for char in text)
    return re.sub(r":(?=:|\Z)|\A:", "%3A", text)
