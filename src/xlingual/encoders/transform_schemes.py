"""Rows of the table of schemes: maps of vectors that are fitted on texts, and smaller vectors."""

from __future__ import annotations

from xlingual.encoders.options import FIT, Option, not_empty, one_of, share
from xlingual.encoders.scheme import TEXTS, Scheme

_FIT = Option("fit", not_empty, None, f"{FIT}; required")
_BY = Option(
    "by", one_of("language", "all"), "language", "language: each by its own texts; all: by all texts"
)
_TO = Option("to", not_empty, None, "language that others are mapped to; unless given, with the most pairs")


def _transform(name: str, summary: str, *options: Option, argument: str | None = None) -> Scheme:
    """Return the row of a map of vectors that is fitted on texts."""
    return Scheme(
        name,
        (TEXTS,),
        summary,
        "xlingual.encoders.transform",
        argument=argument,
        options=(*options, _FIT),
        over="must",
    )


TRANSFORMS: tuple[Scheme, ...] = (
    _transform("centre", "vectors less the mean of their language", _BY),
    _transform("standardize", "vectors less their mean, each dimension divided by its deviation", _BY),
    _transform(
        "whiten",
        "vectors less their mean, made to vary alike in all directions",
        _BY,
        Option("shrink", share, None, "part of the covariance that is shrunk, 0 to 1; from the data (OAS)"),
    ),
    _transform(
        "all-but-the-top",
        "vectors less their mean and the K directions in which all vary most",
        argument="K or auto",
    ),
    _transform("lir", "vectors less the first K principal directions of their language", argument="K"),
    _transform(
        "lsar", "vectors less the R directions in which the means of languages differ", argument="R or auto"
    ),
    _transform("pca", "the D principal components of the vectors", argument="D"),
    _transform(
        "delta",
        "vectors of a language moved by the mean difference of translations to another",
        Option("from", not_empty, None, "language that is moved; all others unless given"),
        _TO,
    ),
    _transform("procrustes", "vectors rotated to those of their translations", _TO),
    _transform("ridge", "vectors mapped to those of their translations, linearly", _TO),
    _transform("cca", "the K directions in which translations vary together", argument="K or auto"),
)

_SMALLER = "xlingual.encoders.compressed"

COMPRESSED: tuple[Scheme, ...] = (
    Scheme(
        "truncate", (TEXTS,), "the first D dimensions of the vectors", _SMALLER, argument="D", over="must"
    ),
    Scheme(
        "quantize",
        (TEXTS,),
        "vectors of fewer bits a number: f16, int8 or binary (their signs)",
        _SMALLER,
        argument="f16, int8 or binary",
        options=(Option("fit", not_empty, None, f"{FIT}; for int8 alone, required"),),
        over="must",
    ),
)
