"""Transforms in words, from their specs."""

from __future__ import annotations

import re

_WORDS = {
    "centre": "centring",
    "standardize": "standardizing",
    "whiten": "whitening",
    "all-but-the-top": "removing the first {} directions of all texts",
    "lir": "removing the first {} directions of each language (LIR)",
    "lsar": "removing {} directions between languages (LSAR)",
    "pca": "{} principal components",
    "delta": "moving to one language",
    "procrustes": "rotating to one language",
    "ridge": "mapping to one language",
    "cca": "{} canonical directions",
}
_CORRECTIONS = {
    "csls": "CSLS",
    "inverted-softmax": "inverted softmax",
}
_PIVOTS = {
    "none": "no map",
    "centre": "centring of each language",
    "ridge": "a ridge map towards the identity",
    "procrustes": "a rotation",
    "cca": "a map by canonical correlations",
}
_BY = {"centre", "standardize", "whiten"}
_STEP = re.compile(r"([\w-]+):([^:?]*)(?:\?([^:]*))?(?:::|$)")


def in_words(spec: str) -> str:
    """Return the words of a chain of transforms without fit=, the last applied first in the spec.

    >>> in_words("lir:2::centre:?by=all")
    'centring all texts together, then removing the first 2 directions of each language (LIR)'
    """
    steps = [] if spec == "none" else [_step(*found) for found in _STEP.findall(spec)][::-1]
    return ", then ".join(steps) or "the encoder as it is"


def repaired_by(spec: str, similarity: str) -> str:
    """Return the words of transforms and of how vectors are compared.

    >>> repaired_by("none", "csls?k=10")
    'CSLS (k=10)'
    """
    name, _, options = similarity.partition("?")
    if name == "cosine":
        return in_words(spec)
    correction = _CORRECTIONS.get(name, name) + (f" ({options.replace('&', ', ')})" if options else "")
    return correction if spec == "none" else f"{in_words(spec)}, with {correction}"


def map_in_words(name: str) -> str:
    """Return a map in words.

    >>> map_in_words("ridge?penalty=0.02")
    'a ridge map towards the identity (penalty 0.02)'
    """
    kind, _, options = name.partition("?")
    penalty = re.sub(r"^penalty=", "penalty " if kind != "cca" else "shrinkage ", options)
    return _PIVOTS.get(kind, kind) + (f" ({penalty})" if penalty else "")


def _step(name: str, argument: str, options: str) -> str:
    words = _WORDS.get(name, name).format(argument)
    if name in _BY:
        words += " all texts together" if "by=all" in options else " each language"
    if shrink := re.search(r"shrink=([\d.]+)", options):
        words += f" (shrunk by {shrink[1]})"
    return words.replace("the first 1 directions", "the first direction").replace(
        "1 directions", "1 direction"
    )
