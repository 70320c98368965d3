"""The request of `compress`."""

from __future__ import annotations

from typing import Annotated, Literal

from xlingual.requests.ranking import Ranking
from xlingual.requests.record import Request, option
from xlingual.requests.shared import (
    Cluster,
    EqualIds,
    Keeping,
    ManifestOptions,
    Output,
    PoolLanguages,
)
from xlingual.requests.values import AboveZero, Natural, Positive, Share, comma_list, pair_list


def whole_numbers(text: str) -> list[int | str]:
    """Return the numbers of "32,64"; what is none stays a text, which the check names."""
    return [int(word) if word.isdecimal() else word for word in comma_list(text)]


class CompressRequest(Request, frozen=True, kw_only=True):
    """Measure what smaller vectors lose, by language pair."""

    command = "compress"
    first = ("text_encoder", "fit", "dims", "dtypes", "reduce", "rescore", "delta")

    data: ManifestOptions
    languages: PoolLanguages = None
    equal_ids: EqualIds = None
    text_encoder: Annotated[
        str, option("Text encoder whose vectors to compress. See: xlingual encoders.", metavar="SPEC")
    ]
    fit: Annotated[
        str | None,
        option(
            "Texts to fit PCA and the levels of int8 on; they must not be evaluated.",
            metavar="FILE#SPLIT",
            otherwise="none: PCA and int8 are left out",
        ),
    ] = None
    dims: Annotated[
        tuple[Positive, ...],
        option(
            "Numbers of dimensions to try.",
            metavar="32,64,…",
            otherwise="all dimensions, and up to four halvings",
            reads=whole_numbers,
        ),
    ] = ()
    dtypes: Annotated[
        tuple[str, ...],
        option(
            "Types of numbers to try: f32, f16, int8, binary.",
            names=("--dtype",),
            metavar="f16,int8,…",
            otherwise="all",
            reads=comma_list,
        ),
    ] = ()
    reduce: Annotated[
        tuple[str, ...],
        option(
            "How dimensions are reduced: truncate (keep the first ones), pca.",
            metavar="truncate,pca",
            otherwise="both",
            reads=comma_list,
        ),
    ] = ()
    rescore: Annotated[
        Natural,
        option(
            "Also try binary vectors whose first N candidates are re-ranked with the full vector of the "
            "query; 0: do not try.",
            metavar="N",
        ),
    ] = 100
    delta: Annotated[
        AboveZero,
        option("Largest acceptable loss: a language pair that loses more counts as harmed.", metavar="D"),
    ] = 0.01
    alpha: Annotated[Share, option("Chance that any form is wrongly accepted, over all forms together.")] = (
        0.05
    )
    pairs: Annotated[
        tuple[str, ...] | None,
        option(
            "Language pairs, query-answer.",
            names=("--pairs", "--pair"),
            metavar="en-de,…",
            otherwise="all",
            reads=pair_list,
        ),
    ] = None
    measure: Annotated[
        str | None,
        option(
            "The measure: R@k, Success@k or RR of a manifest.",
            metavar="NAME",
            otherwise="R@10; AP for a pool",
        ),
    ] = None
    candidate_text: Annotated[
        Literal["sentence", "sentence+context"], option("Text of a pool's candidates that is encoded.")
    ] = "sentence"
    cluster: Cluster = "declared"
    replicates: Annotated[Positive, option("Random sign flips of each test.", metavar="N")] = 1999
    seed: Annotated[Natural, option("Seed of the random numbers.")] = 0
    keeping: Keeping
    ranking: Ranking
    output: Output
