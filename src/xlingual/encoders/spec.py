"""Spec strings: how an encoder is written on a command line; and the table of schemes.

    [NAME=]scheme:argument[?key=value&…][::SPEC]

NAME is letters, digits, `_`, `.` and `-`, before the first colon. `A::B` applies A on top of B. A path
without a scheme means `vectors:`; the bare name of a scheme means that scheme without an argument. In the
argument and in option values `%XX` stands for a byte of UTF-8: `%3F` is `?`, `%26` is `&`, `%25` is `%`. Few
specs need it: blanks, colons, `#` and `/` stand as they are.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from xlingual.encoders import (
    api,
    bm25,
    concat,
    lsa,
    network,
    ngrams,
    onnx,
    pixels,
    python_function,
    random,
    small,
    trained,
    transform,
    translate,
    vectors,
    wordvec,
)
from xlingual.encoders.scheme import LISTS, Option, Scheme, amount
from xlingual.errors import InputError, did_you_mean, listed
from xlingual.hidden import shown, shown_option, without_url_secrets
from xlingual.permission import refuse_scheme

_RUN = Scheme(
    "run",
    (LISTS,),
    "what a search engine returned: TREC run, JSON lines, Parquet, ranx' JSON",
    "xlingual.evaluation.run_systems",
    argument="FILE",
    options=(Option("latency", amount, None, "latency of a query in milliseconds"),),
)
SCHEMES: Mapping[str, Scheme] = {
    scheme.name: scheme
    for scheme in (
        *(vectors.SCHEME, *small.SCHEMES, random.SCHEME, *ngrams.SCHEMES, bm25.SCHEME),
        *(lsa.SCHEME, *network.SCHEMES, onnx.SCHEME, wordvec.SCHEME, translate.SCHEME, concat.SCHEME),
        *(trained.SCHEME, api.SCHEME, python_function.SCHEME, _RUN, *transform.SCHEMES),
        pixels.SCHEME,
    )
}


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


def parse(text: str, schemes: Collection[str] | None = None) -> Spec:
    """Take a spec apart; raise InputError where it is malformed or has no known scheme.

    >>> parse("ours=random:?dim=8")
    Spec(name='ours', scheme='random', argument='', options=(('dim', '8'),), base=None)
    """
    known = SCHEMES if schemes is None else schemes
    top, *under = re.split("::(?!:)", text, maxsplit=1)  # in "random:::lsa" the first colon ends a scheme
    named = re.match(r"([\w.-]+)=", top)
    head, _, query = (top[named.end() :] if named else top).partition("?")
    with_scheme = SCHEME.match(head)
    word = with_scheme.group(1) if with_scheme else head
    problem, scheme, argument = "", "vectors", head
    if under == [""]:
        problem = "nothing after '::'; write A::B to apply A on top of B"
    elif not head.strip():
        problem = f"no scheme or path; write scheme:argument, for example {EXAMPLE}"
    elif word in known:
        scheme, argument = word, head[with_scheme.end() :] if with_scheme else ""
    elif with_scheme or re.fullmatch(r"[\w+-]+", word):  # a file of vectors has a suffix
        problem = (
            f"unknown scheme {word!r}.{did_you_mean(word, known)} Known: {listed(sorted(known), 20)}; a "
            "file of vectors is written vectors:PATH, a model of sentence-transformers st:NAME"
        )
    options = []
    for part in query.split("&") if query and not problem else ():
        key, equals, value = part.partition("=")
        if not equals or not KEY.fullmatch(key):
            problem = f"option {shown_option(part)!r} is not written key=value (an & in a value is %26)"
        options.append((key, unquote(value)))
    if problem:
        raise InputError(f"spec {shown(text)!r}: {problem}")
    base = parse(under[0], schemes) if under else None
    return Spec(named[1] if named else None, scheme, unquote(argument), tuple(options), base)


def written(value: str) -> str:
    """Write the value of an option as a spec has it: with %XX only for signs that would end it.

    >>> written("query: 5 % off & more")
    'query: 5 %25 off %26 more'
    """
    return _quoted(value, "%&")


def _quoted(text: str, special: str) -> str:
    """Percent-encode the special characters, and each colon that could be read as part of `::`."""
    text = "".join(f"%{ord(char):02X}" if char in special else char for char in text)
    return re.sub(r":(?=:|\Z)|\A:", "%3A", text)


def scheme_for(spec: Spec, kind: str) -> Scheme:
    """Look up the scheme of a spec; raise InputError where it cannot encode `kind` or is used wrongly."""
    refuse_scheme(spec.scheme, dict(spec.options))
    if spec.scheme not in SCHEMES:
        raise InputError(f"unknown scheme {spec.scheme!r}.{did_you_mean(spec.scheme, SCHEMES)}")
    scheme = SCHEMES[spec.scheme]
    name, problem = scheme.name, ""
    if spec.base is not None and scheme.over == "no":
        problem = f"{name!r} is an encoder and cannot be applied on top of another"
    elif spec.base is None and scheme.over == "must":
        problem = f"{name} needs an encoder below it: {shown(spec)}::SPEC"
    elif kind not in scheme.takes:
        fit = listed(name for name, row in SCHEMES.items() if kind in row.takes)
        problem = f"{name!r} encodes {' and '.join(scheme.takes)}, not {kind}; these encoders do: {fit}"
    elif scheme.argument and not spec.argument.strip():
        problem = f"{name}: needs an argument: {name}:{scheme.argument}"
    elif spec.argument and not scheme.argument:
        argument = without_url_secrets(spec.argument)
        problem = f"{name}: takes no argument, found {argument!r}; options are written {name}:?key=value"
    if problem:
        raise InputError(f"spec {shown(spec)!r}: {problem}")
    return scheme


def read_options(spec: Spec, scheme: Scheme, seed: int = 0) -> dict[str, Any]:
    """Read a value for every option of the scheme: that of the spec, else its default."""
    options = {option.name: option for option in scheme.options}
    values: dict[str, Any] = {}
    for key, text in spec.options:
        problem = ""
        if key in values:
            problem = f"option {key!r} is given twice; give it once"
        elif key not in options:
            hint = did_you_mean(key, options)
            problem = f"{scheme.name} has no option {key!r}.{hint} Its options: {listed(options) or 'none'}"
        else:
            try:
                values[key] = options[key].read(text)
            except ValueError as error:
                problem = f"{key} must be {error}, found {without_url_secrets(text)!r}"
        if problem:
            raise InputError(f"spec {shown(spec)!r}: {problem}")
    return {name: seed if name == "seed" else option.default for name, option in options.items()} | values
