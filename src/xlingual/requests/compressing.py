"""The request of `compress`."""

from __future__ import annotations

from typing import Annotated, Literal

from xlingual.requests.ranking import ExactRanking
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
        str, option("Text encoder whose vectors are made smaller. See: xlingual encoders.", metavar="SPEC")
    ]
    fit: Annotated[
        str | None,
        option(
            "Texts that PCA and the levels of int8 are fitted on; none of them may be evaluated.",
            metavar="FILE#SPLIT",
            otherwise="none: PCA and int8 are left out",
        ),
    ] = None
    dims: Annotated[
        tuple[Positive, ...],
        option(
            "Numbers of dimensions that are tried.",
            metavar="32,64,…",
            otherwise="all, halved up to four times",
            reads=whole_numbers,
        ),
    ] = ()
    dtypes: Annotated[
        tuple[str, ...],
        option(
            "Kinds of numbers that are tried: f32, f16, int8, binary.",
            names=("--dtype",),
            metavar="f16,int8,…",
            otherwise="all",
            reads=comma_list,
        ),
    ] = ()
    reduce: Annotated[
        tuple[str, ...],
        option(
            "How dimensions are left out: truncate (the first ones stay), pca.",
            metavar="truncate,pca",
            otherwise="both",
            reads=comma_list,
        ),
    ] = ()
    rescore: Annotated[
        Natural,
        option(
            "The first N candidates by binary vectors are ordered again by the query's full numbers, as a "
            "form of its own; 0: no such form.",
            metavar="N",
        ),
    ] = 100
    delta: Annotated[
        AboveZero, option("The loss from which a language pair counts as harmed.", metavar="D")
    ] = 0.01
    alpha: Annotated[
        Share, option("Chance that a form is wrongly said to be kept, over all forms together.")
    ] = 0.05
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
            otherwise="R@10; of a pool AP",
        ),
    ] = None
    candidate_text: Annotated[
        Literal["sentence", "sentence+context"], option("Text of a pool's candidates that is encoded.")
    ] = "sentence"
    cluster: Cluster = "declared"
    replicates: Annotated[Positive, option("Random sign flips of each test.", metavar="N")] = 1999
    seed: Annotated[Natural, option("Seed of the random numbers.")] = 0
    keeping: Keeping
    ranking: ExactRanking
    output: Output
