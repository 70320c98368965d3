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
from typing import Any
from urllib.parse import unquote

from xlingual.encoders.scheme import LISTS, Scheme
from xlingual.encoders.schemes import SCHEMES, KnownSchemes, scheme_of
from xlingual.errors import InputError, did_you_mean, listed
from xlingual.hidden import shown, shown_option, without_url_secrets
from xlingual.permission import refuse_scheme

SCHEME = re.compile(r"([A-Za-z][\w+.-]+):")  # two characters at least: C:\x is a drive letter, so a path
KEY = re.compile(r"[A-Za-z][\w.-]*")
EXAMPLE = "'random:?dim=64' or 'vectors:model.{lang}.npy'"


@dataclass(frozen=True)
class Spec:
    """A spec string, taken apart; `str()` prints one that parses back to it.

    `options` keeps the order in which the options were written. `scheme_for` checks the scheme, and
    `read_options` the options.
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


def parse(text: str, schemes: Collection[str] = KnownSchemes()) -> Spec:
    """Return the spec that `text` writes; raise InputError where it is malformed or has no known scheme.

    >>> parse("ours=random:?dim=8")
    Spec(name='ours', scheme='random', argument='', options=(('dim', '8'),), base=None)
    """
    top, *under = re.split("::(?!:)", text, maxsplit=1)  # in "random:::lsa" the first colon ends a scheme
    if under == [""]:
        raise InputError(f"spec {shown(text)!r}: nothing after '::'; write A::B to apply A on top of B")
    named = re.match(r"([\w.-]+)=", top)
    rest = top[named.end() :] if named else top
    if not rest.strip():
        raise InputError(f"spec {shown(text)!r} is empty: write scheme:argument, for example {EXAMPLE}")
    head, options = _head_and_options(rest, text)
    with_scheme = SCHEME.match(head)
    # a file of vectors has a suffix, so a word without one is a scheme that was mistyped
    word = with_scheme.group(1) if with_scheme else head
    if head in schemes:
        scheme, argument = head, ""
    elif with_scheme and word in schemes:
        scheme, argument = word, head[with_scheme.end() :]
    elif with_scheme or re.fullmatch(r"[\w+-]+", word):
        raise InputError(
            f"spec {shown(text)!r}: unknown scheme {word!r}.{did_you_mean(word, schemes)} Known: "
            f"{listed(sorted(schemes), 20)}; a file of vectors is written vectors:PATH, a model of "
            "sentence-transformers st:NAME"
        )
    elif not head:
        raise InputError(f"spec {shown(text)!r}: no scheme or path before '?'; write for example {EXAMPLE}")
    else:
        scheme, argument = "vectors", head
    base = parse(under[0], schemes) if under else None
    return Spec(named[1] if named else None, scheme, unquote(argument), options, base)


def _head_and_options(rest: str, text: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the part before the options, and these; a file may have a question mark in its name."""
    head, _, query = rest.partition("?")
    try:
        return head, _options(query, text)
    except InputError:
        for place in (*[mark.start() for mark in re.finditer(r"\?", rest)][1:], len(rest)):
            head, query = rest[:place], rest[place + 1 :]
            scheme = SCHEME.match(head)
            if os.path.exists(unquote(head[scheme.end() :] if scheme else head)):
                return head, _options(query, text)
        raise


def _options(query: str, text: str) -> tuple[tuple[str, str], ...]:
    pairs: list[tuple[str, str]] = []
    for part in query.split("&") if query else ():
        key, equals, value = part.partition("=")
        is_option = equals and KEY.fullmatch(key)
        if not is_option and pairs and " " in part:
            pairs[-1] = pairs[-1][0], f"{pairs[-1][1]}&{unquote(part)}"  # a value with an & in its words
        elif is_option:
            pairs.append((key, unquote(value)))
        else:
            raise InputError(f"spec {shown(text)!r}: option {shown_option(part)!r} is not written key=value")
    return tuple(pairs)


def written(value: str) -> str:
    """Return the value of an option as a spec has it: with %XX only for signs that would end it.

    >>> written("query: 5 % off & more")
    'query: 5 %25 off %26 more'
    """
    return _quoted(value, "%&")


def _quoted(text: str, special: str) -> str:
    """Percent-encode the special characters, and each colon that could be read as part of `::`."""
    text = "".join(f"%{ord(char):02X}" if char in special else char for char in text)
    return re.sub(r":(?=:|\Z)|\A:", "%3A", text)


def scheme_for(spec: Spec, kind: str) -> Scheme:
    """Return the scheme of a spec; raise InputError where it cannot encode `kind` or is used wrongly."""
    refuse_scheme(spec.scheme, dict(spec.options))
    scheme = scheme_of(spec.scheme)
    name, fit = scheme.name, listed(name for name, row in SCHEMES.items() if kind in row.takes)
    problem = ""
    if spec.base is not None and scheme.over == "no":
        problem = f"{name!r} is an encoder and cannot be applied on top of another"
    elif spec.base is None and scheme.over == "must":
        problem = f"{name} needs an encoder below it: {shown(spec)}::SPEC"
    elif kind not in scheme.takes:
        lists = LISTS in scheme.takes
        does = "returns lists of candidates, and has no vectors" if lists else f"does not encode {kind}"
        problem = f"{name!r} {does}; these encoders do: {fit}"
    elif scheme.argument and not spec.argument.strip():
        problem = f"{name}: needs an argument: {name}:{scheme.argument}"
    elif spec.argument and not scheme.argument:
        argument = without_url_secrets(spec.argument)
        problem = f"{name}: takes no argument, found {argument!r}; options are written {name}:?key=value"
    if problem:
        raise InputError(f"spec {shown(spec)!r}: {problem}")
    return scheme


def read_options(spec: Spec, scheme: Scheme, seed: int = 0, above: Spec | None = None) -> dict[str, Any]:
    """Return a value for every option of the scheme: that of the spec, else its default.

    `above` is the spec on top of this one, whose options may have been put here by mistake.
    """
    options = {option.name: option for option in scheme.options}
    values: dict[str, Any] = {}
    for key, text in spec.options:
        if key in values:
            raise InputError(f"spec {shown(spec)!r}: option {key!r} is given twice; give it once")
        if key not in options:
            hint = did_you_mean(key, options)
            has = f"its options: {listed(options)}" if options else "it has no options"
            remedy = f"{hint and '.'}{hint} ({has})"
            if above is not None and key in {option.name for option in scheme_of(above.scheme).options}:
                place = f"{above.scheme}:{without_url_secrets(above.argument)}"
                remedy = f". {key}= belongs behind {place}, before ::"
            raise InputError(f"spec {shown(spec)!r}: {scheme.name} has no option {key!r}{remedy}")
        try:
            values[key] = options[key].read(text)
        except ValueError as error:
            raise InputError(
                f"spec {shown(spec)!r}: {key} must be {error}, found {without_url_secrets(text)!r}"
            ) from None
    return {name: seed if name == "seed" else option.default for name, option in options.items()} | values
