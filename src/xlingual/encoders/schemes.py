"""The table of schemes, made of those that stand in the files of encoders, and those of other packages.

A package lists `NAME = "package.module:object"` in the entry-point group `xlingual.encoders`, where the
object is a `Scheme` called NAME. The list of installed packages is read only where a spec names a scheme that
is not built in, or where all schemes are listed.
"""

from __future__ import annotations

from collections.abc import Mapping
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
from xlingual.encoders.objects import failures
from xlingual.encoders.options import Option, amount, one_of
from xlingual.encoders.scheme import LISTS, Scheme
from xlingual.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_RUN = Scheme(
    "run",
    (LISTS,),
    "what a search engine returned: TREC run, JSON lines, Parquet, ranx' JSON",
    "xlingual.evaluation.run_systems",
    argument="FILE",
    options=(
        Option(
            "order", one_of("score", "rank"), None, "field that orders candidates: score where both are there"
        ),
        Option("latency", amount, None, "latency of a query in milliseconds, if the file has none"),
    ),
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


def plugins() -> dict[str, EntryPoint]:
    """Find the schemes of installed packages by name; built-in names stay what they are."""
    from importlib.metadata import entry_points

    entries = entry_points(group="xlingual.encoders")
    return {entry.name: entry for entry in entries if entry.name not in SCHEMES}


def scheme_of(name: str) -> Scheme:
    """Look up a scheme, built in or of an installed package; raise InputError where it cannot be used."""
    if name in SCHEMES:
        return SCHEMES[name]
    others = plugins()
    if name not in others:
        raise InputError(f"unknown scheme {name!r}.{did_you_mean(name, [*SCHEMES, *others])}")
    with failures(name, f"loading the plug-in {others[name].value}"):
        scheme = others[name].load()
    if not isinstance(scheme, Scheme) or scheme.name != name:
        raise InputError(f"{name}: {others[name].value} is no xlingual.encoders.Scheme of that name")
    return scheme
