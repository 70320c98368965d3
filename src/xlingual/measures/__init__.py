"""Measures: value objects with a canonical name, parsed and printed both ways.

Measures know no back end: they turn counts of who is above whom into a number for each query, and those into
one. Rank measures take the best relevant candidate of a query (`RankCounts`), target measures every relevant
one (`TargetCounts`), graded measures every judged one (`JudgedCounts`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from typing import TypeAlias

from xlingual.errors import InputError, nearest
from xlingual.measures.alignment import StrongAlignment, WeakAlignment
from xlingual.measures.graded import NDCG, Bpref, JudgedAt
from xlingual.measures.precision import (
    AveragePrecision,
    PrecisionAt,
    RecallAt,
    RecallShare,
    average_precision,
)
from xlingual.measures.rank import (
    DistanceCorrelation,
    MeanImageSimilarity,
    MedianRank,
    ReciprocalRank,
    SuccessAt,
    SuccessShare,
)

Recall: TypeAlias = RecallAt | RecallShare
Success: TypeAlias = SuccessAt | SuccessShare
# R@k is a rank measure too: where a query has one relevant candidate, set recall follows from its rank
RankMeasure: TypeAlias = Recall | Success | ReciprocalRank | MedianRank
TargetMeasure: TypeAlias = AveragePrecision | Recall | PrecisionAt
AlignmentMeasure: TypeAlias = WeakAlignment | StrongAlignment
GradedMeasure: TypeAlias = NDCG | Bpref | JudgedAt
RetrievalMeasure: TypeAlias = RankMeasure | TargetMeasure | GradedMeasure
PoolMeasure: TypeAlias = RankMeasure | TargetMeasure | AlignmentMeasure | NDCG
QueryMeasure: TypeAlias = PoolMeasure | GradedMeasure | MeanImageSimilarity  # has a value for each query
Measure: TypeAlias = QueryMeasure | DistanceCorrelation

__all__ = [
    "NDCG",
    "AlignmentMeasure",
    "AveragePrecision",
    "Bpref",
    "DistanceCorrelation",
    "GradedMeasure",
    "JudgedAt",
    "MeanImageSimilarity",
    "Measure",
    "MedianRank",
    "PoolMeasure",
    "PrecisionAt",
    "QueryMeasure",
    "RankMeasure",
    "Recall",
    "RecallAt",
    "RecallShare",
    "ReciprocalRank",
    "RetrievalMeasure",
    "StrongAlignment",
    "Success",
    "SuccessAt",
    "SuccessShare",
    "TargetMeasure",
    "WeakAlignment",
    "as_recall",
    "as_success",
    "average_precision",
    "parse_measure",
    "parse_pool_measures",
    "parse_rank_measures",
    "parse_retrieval_measures",
]

_PLAIN: dict[str, Measure] = {
    m.name.lower(): m
    for m in (
        ReciprocalRank(),
        MedianRank(),
        MedianRank(floor=True),
        MeanImageSimilarity(),
        AveragePrecision(),
        WeakAlignment(),
        StrongAlignment(),
        StrongAlignment("strict"),
        StrongAlignment("strict-own"),
        NDCG(),
        NDCG(gain="exp-log2"),
        Bpref(),
    )
}
_ALIASES = {
    "mrr": "rr",
    "median-rank": "medr",
    "median-rank/floor": "medr/floor",
    "reciprocal-rank": "rr",
    "map": "ap",
    "average-precision": "ap",
    **dict.fromkeys(("weak", "weak-alignment"), "weakalignment"),
    **{
        f"{word}{kind}": f"strongalignment{kind}"
        for word in ("strong", "strong-alignment")
        for kind in ("", "/strict", "/strict-own")
    },
}
_RECALL_WORDS = ("r", "recall")
_SUCCESS_WORDS = ("success", "hit", "hits", "hit-rate", "hitrate", "accuracy")
_WITH_CUT: dict[str, Callable[[int], Measure]] = {
    **dict.fromkeys(_RECALL_WORDS, RecallAt),
    **dict.fromkeys(_SUCCESS_WORDS, SuccessAt),
    **dict.fromkeys(("p", "precision"), PrecisionAt),
    **dict.fromkeys(("rr", "mrr", "reciprocal-rank"), ReciprocalRank),
    **dict.fromkeys(("ap", "map", "average-precision"), AveragePrecision),
    "ndcg": NDCG,
    "ndcg(dcg='exp-log2')": lambda k: NDCG(k, "exp-log2"),
    "judged": JudgedAt,
}
_WITH_SHARE: dict[str, Callable[[float], Measure]] = {
    **dict.fromkeys(_RECALL_WORDS, RecallShare),
    **dict.fromkeys(_SUCCESS_WORDS, SuccessShare),
}
_AT = re.compile(r"([a-z-]+(?:\(dcg='[a-z0-9-]+'\))?)@(\d{1,18})(/min)?")
_SHARE = re.compile(r"([a-z-]+)@(\d{1,2}(?:\.\d{1,6})?)%")
_ALL = (
    "R@k, Success@k, P@k, AP@k, AP@k/min or RR@k with k of at least 1, R@p% or Success@p% with p below 100, "
    "AP, RR, MedR, SIM, WeakAlignment, StrongAlignment, nDCG, nDCG@k, Bpref or Judged@k"
)
_RANK = "R@k, Success@k or RR@k with k of at least 1, R@p% or Success@p% with p below 100, RR or MedR"
_POOL = (
    "AP, AP@k, AP@k/min, R@k, Success@k, P@k, RR@k or nDCG@k with k of at least 1, RR, MedR, nDCG, "
    "WeakAlignment, StrongAlignment, StrongAlignment/strict or StrongAlignment/strict-own"
)
_RETRIEVAL = (
    "nDCG@k, nDCG(dcg='exp-log2')@k, Success@k, R@k, P@k, RR@k, AP@k, AP@k/min or Judged@k with k of at "
    "least 1, nDCG, AP, RR, MedR or Bpref"
)


def parse_measure(name: str | Measure) -> Measure:
    """Return the measure of a name (`R@10`, `Success@10`, `P@10`, `RR`, `MedR`, `SIM`, `AP`, `AP@20/min`).

    Letter case does not matter, and "_" is "-". Raises InputError for any other name.

    >>> parse_measure("recall@5").name, parse_measure("hit_rate@5").name, parse_measure("mAP").name
    ('R@5', 'Success@5', 'AP')
    """
    return _parse(name, _ALL)


def parse_rank_measures(
    names: str | Iterable[str | Measure], beside: Collection[Measure] = ()
) -> list[RankMeasure]:
    """Return the rank measures among the names, each once; R@10 where nothing is named.

    Measures that a task reports anyway are given as `beside` and may be named, alone too; any other is
    refused.
    """
    found: list[RankMeasure] = []
    named = _named(names, _RANK)
    for measure in named:
        if isinstance(measure, RankMeasure):
            found.append(measure)
        elif measure not in beside:
            raise InputError(
                f"{measure.name} is no measure of this task{_where(measure)}: expected R@k, Success@k, RR or "
                "MedR"
            )
    return found if named else [RecallAt(10)]


def parse_pool_measures(names: str | Iterable[str | Measure]) -> list[PoolMeasure]:
    """Return the measures of the names that work on a pool with several relevant candidates, each once.

    AP where nothing is named. Raises InputError for a measure that needs images.
    """
    found: list[PoolMeasure] = []
    for measure in _named(names, _POOL):
        if not isinstance(measure, PoolMeasure):
            raise InputError(f"{measure.name} is no measure of this task{_where(measure)}: expected {_POOL}")
        found.append(measure)
    return found or [AveragePrecision()]


def parse_retrieval_measures(names: str | Iterable[str | Measure]) -> list[RetrievalMeasure]:
    """Return the measures of the names that work on graded judgements, each once.

    nDCG@10 where nothing is named. Raises InputError for a measure that needs images or several languages.
    """
    found: list[RetrievalMeasure] = []
    for measure in _named(names, _RETRIEVAL):
        if not isinstance(measure, RetrievalMeasure):
            raise InputError(
                f"{measure.name} is no measure of this task{_where(measure)}: expected {_RETRIEVAL}"
            )
        found.append(measure)
    return found or [NDCG(10)]


def as_recall(measures: Iterable[RankMeasure]) -> list[RankMeasure]:
    """Return the measures with R@k in place of Success@k, each once.

    Where every query has one right answer the two are the same number, which is then called R@k.

    >>> [measure.name for measure in as_recall([SuccessAt(5), RecallAt(5), SuccessShare(1)])]
    ['R@5', 'R@1%']
    """
    return list(dict.fromkeys(_as_recall(measure) for measure in measures))


def as_success(measures: Iterable[RankMeasure]) -> list[RankMeasure]:
    """Return the measures with Success@k in place of R@k, each once.

    >>> [measure.name for measure in as_success([RecallAt(5), ReciprocalRank(), SuccessAt(5)])]
    ['Success@5', 'RR']
    """
    return list(dict.fromkeys(_as_success(measure) for measure in measures))


def _as_recall(measure: RankMeasure) -> RankMeasure:
    if isinstance(measure, SuccessShare):
        return RecallShare(measure.percent)
    return RecallAt(measure.k) if isinstance(measure, SuccessAt) else measure


def _as_success(measure: RankMeasure) -> RankMeasure:
    if isinstance(measure, RecallShare):
        return SuccessShare(measure.percent)
    return SuccessAt(measure.k) if isinstance(measure, RecallAt) else measure


def _named(names: str | Iterable[str | Measure], expected: str) -> list[Measure]:
    if isinstance(names, str):
        names = re.split(r"[,\s]+", names.strip())
    return list(dict.fromkeys(_parse(name, expected) for name in names))


def _parse(name: str | Measure, expected: str) -> Measure:
    """Return the measure of a name; `expected`, for the error, lists the known names."""
    if not isinstance(name, str):
        return name
    word = name.strip().lower().replace("_", "-")
    measure = _PLAIN.get(_ALIASES.get(word, word))
    if at := _AT.fullmatch(word):
        measure = _at(at[1], int(at[2]), at[3] is not None)
    elif share := _SHARE.fullmatch(word):
        known = share[1] in _WITH_SHARE and float(share[2]) >= 0.001
        measure = _WITH_SHARE[share[1]](float(share[2])) if known else None
    if measure is None:
        hint = _hint(word)
        raise InputError(f"unknown measure {name!r}: expected {expected}{hint and '.' + hint}")
    return measure


def _at(word: str, k: int, of_least: bool) -> Measure | None:
    """Return the measure of `word@k` or, with `of_least`, `word@k/min`; None where there is none."""
    kind = _WITH_CUT.get(word)
    if k < 1 or kind is None:
        return None
    if of_least:
        return AveragePrecision(k, of_least=True) if kind is AveragePrecision else None
    return kind(k)


def _hint(word: str) -> str:
    """Return " Did you mean …?" for a word such as `recall_10`, `R5`, `AP@20/mn` or `recall`."""
    match = re.fullmatch(r"([a-z-]+?)(?:@|-at-|[ -])?(\d*)(/[a-z]*)?", word)
    if match is None:
        return ""
    plain = {**{name: name for name in _PLAIN}, **_ALIASES}
    meant = nearest(match[1], [*_WITH_CUT, *plain])
    if meant is None:
        return ""
    if meant in plain and (not match[2] or meant not in _WITH_CUT):
        shown = _PLAIN[plain[meant]].name
    else:
        shown = _WITH_CUT[meant](max(int(match[2] or 10), 1)).name
        shown += "/min" if match[3] and shown.startswith("AP") else ""
    return f" Did you mean {shown!r}?"


def _where(measure: Measure) -> str:
    """Return in brackets which command has a measure that this task has not."""
    if isinstance(measure, DistanceCorrelation):
        return " (it is a separate task: evaluate corr)"
    if isinstance(measure, MeanImageSimilarity):
        return " (it needs images)"
    if isinstance(measure, Bpref | JudgedAt):
        return " (it needs candidates that were judged irrelevant: evaluate retrieval)"
    if isinstance(measure, NDCG):
        return " (it needs graded judgements: evaluate retrieval or evaluate multilingual-pool)"
    if isinstance(measure, TargetMeasure | AlignmentMeasure):
        return f" ({measure.name} needs all relevant candidates of a query: evaluate multilingual-pool)"
    return ""
