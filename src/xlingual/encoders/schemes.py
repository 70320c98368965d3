"""The table of schemes, made of those that stand in the files of encoders, and those of other packages.

A package lists `NAME = "package.module:object"` in the entry-point group `xlingual.encoders`, where the
object is a `Scheme` called NAME. The list of installed packages is read only where a spec names a scheme that
is not built in, or where all schemes are listed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

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
from xlingual.encoders.options import Option, amount, one_of
from xlingual.encoders.scheme import LISTS, Scheme
from xlingual.errors import InputError, XlingualError, did_you_mean

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


SCHEMES: Mapping[str, Scheme] = {
    scheme.name: scheme
    for scheme in (
        vectors.SCHEME,
        *small.SCHEMES,
        random.SCHEME,
        *ngrams.SCHEMES,
        bm25.SCHEME,
        lsa.SCHEME,
        *network.SCHEMES,
        onnx.SCHEME,
        wordvec.SCHEME,
        translate.SCHEME,
        concat.SCHEME,
        trained.SCHEME,
        api.SCHEME,
        python_function.SCHEME,
        Scheme(
            "run",
            (LISTS,),
            "what a search engine returned: TREC run, JSON lines, Parquet, ranx' JSON",
            "xlingual.evaluation.run_systems",
            argument="FILE",
            options=(
                Option(
                    "order",
                    one_of("score", "rank"),
                    None,
                    "field that orders candidates if both are present: score",
                ),
                Option("latency", amount, None, "latency of a query in milliseconds, if the file has none"),
            ),
        ),
        *transform.SCHEMES,
        pixels.SCHEME,
    )
}


class KnownSchemes(Collection[str]):
    """The names of all schemes; installed packages are read only for a word that is not built in."""

    def __contains__(self, name: object) -> bool:
        if name in SCHEMES:
            return True
        return isinstance(name, str) and bool(re.fullmatch(r"[A-Za-z][\w+-]+", name)) and name in plugins()

    def __iter__(self) -> Iterator[str]:
        return iter([*SCHEMES, *plugins()])

    def __len__(self) -> int:
        return len([*SCHEMES, *plugins()])


def plugins() -> dict[str, EntryPoint]:
    """Return the schemes of installed packages by name; built-in names stay what they are."""
    from importlib.metadata import entry_points

    entries = entry_points(group="xlingual.encoders")
    return {entry.name: entry for entry in entries if entry.name not in SCHEMES}


def scheme_of(name: str) -> Scheme:
    """Return a scheme, built in or of an installed package; raise InputError where it cannot be used."""
    if name in SCHEMES:
        return SCHEMES[name]
    if (entry := plugins().get(name)) is None:
        raise InputError(f"unknown scheme {name!r}.{did_you_mean(name, KnownSchemes())}")
    try:
        scheme = entry.load()
    except (Exception, SystemExit) as error:
        raise InputError(f"{name}: loading the plug-in {entry.value} failed: {in_words(error)}") from error
    if not isinstance(scheme, Scheme) or scheme.name != name:
        raise InputError(f"{name}: the plug-in {entry.value} is no xlingual.encoders.Scheme of that name")
    return scheme


def in_words(error: BaseException) -> str:
    """Return an error on one line: its kind, and its message."""
    message = " ".join(str(error).split())
    return message if isinstance(error, XlingualError) else f"{type(error).__name__}: {message}".rstrip(": ")
