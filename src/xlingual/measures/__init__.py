"""Measures: value objects with a canonical name, parsed and printed both ways.

Measures know no back end: they turn counts of who is above whom into a number for each query, and those into
one. Rank measures take the best relevant candidate of a query (`RankCounts`), target measures every relevant
one (`TargetCounts`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import TypeAlias

from xlingual.errors import InputError, nearest
from xlingual.measures.precision import AveragePrecision, SetRecallAt, average_precision
from xlingual.measures.rank import (
    DistanceCorrelation,
    MedianRank,
    PictureSimilarity,
    RecallAt,
    RecallShare,
    ReciprocalRank,
)

RankMeasure: TypeAlias = RecallAt | RecallShare | ReciprocalRank | MedianRank
TargetMeasure: TypeAlias = AveragePrecision | SetRecallAt
PoolMeasure: TypeAlias = RankMeasure | TargetMeasure
QueryMeasure: TypeAlias = PoolMeasure | PictureSimilarity  # has a value for each query
Measure: TypeAlias = QueryMeasure | DistanceCorrelation

__all__ = [
    "AveragePrecision",
    "DistanceCorrelation",
    "Measure",
    "MedianRank",
    "PictureSimilarity",
    "PoolMeasure",
    "QueryMeasure",
    "RankMeasure",
    "RecallAt",
    "RecallShare",
    "ReciprocalRank",
    "SetRecallAt",
    "TargetMeasure",
    "average_precision",
    "parse_measure",
    "parse_pool_measures",
    "parse_rank_measures",
]

_PLAIN: dict[str, Measure] = {
    m.name.lower(): m
    for m in (
        ReciprocalRank(),
        MedianRank(),
        MedianRank(floor=True),
        PictureSimilarity(),
        AveragePrecision(),
    )
}
_ALIASES = {
    "mrr": "rr",
    "median-rank": "medr",
    "median-rank/floor": "medr/floor",
    "reciprocal-rank": "rr",
    "map": "ap",
    "average-precision": "ap",
}
_SHOWN = {"rr": "RR", "medr": "MedR", "sim": "SIM", "ap": "AP"}
_RECALL_WORDS = ("r", "recall", "hit", "success")
_SET_RECALL_WORDS = ("setr", "set-recall", "setrecall")
_PRECISION_WORDS = ("ap", "map")
_AT = re.compile(r"([a-z-]+)@(\d{1,18})(/min)?")
_SHARE = re.compile(r"([a-z-]+)@(\d{1,2}(?:\.\d{1,6})?)%")
_ALL = "R@k, SetR@k or AP@k/min with k of at least 1, R@p% with p below 100, AP, RR, MedR or SIM"
_RANK = "R@k with k of at least 1, R@p% with p below 100, RR or MedR"
_POOL = "AP, AP@k/min, R@k or SetR@k with k of at least 1, RR or MedR"


def parse_measure(name: str | Measure) -> Measure:
    """Return the measure of a name (`R@10`, `RR`, `MedR`, `SIM`, `AP`, `AP@20/min`, `SetR@10`).

    Letter case does not matter. Raises InputError for any other name.

    >>> parse_measure("recall@5").name, parse_measure("mAP").name
    ('R@5', 'AP')
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
                f"{measure.name} is no measure of this task{_where(measure)}: expected R@k, RR or MedR"
            )
    return found if named else [RecallAt(10)]


def parse_pool_measures(names: str | Iterable[str | Measure]) -> list[PoolMeasure]:
    """Return the measures of the names that work on a pool with several relevant candidates, each once.

    AP where nothing is named. Raises InputError for a measure that needs pictures.
    """
    found: list[PoolMeasure] = []
    for measure in _named(names, _POOL):
        if not isinstance(measure, PoolMeasure):
            raise InputError(
                f"{measure.name} is no measure of this task (it needs pictures): "
                "expected AP, AP@k/min, R@k, SetR@k, RR or MedR"
            )
        found.append(measure)
    return found or [AveragePrecision()]


def _named(names: str | Iterable[str | Measure], expected: str) -> list[Measure]:
    if isinstance(names, str):
        names = re.split(r"[,\s]+", names.strip())
    return list(dict.fromkeys(_parse(name, expected) for name in names))


def _parse(name: str | Measure, expected: str) -> Measure:
    """Return the measure of a name; `expected` are the names to tell of where there is none."""
    if not isinstance(name, str):
        return name
    word = name.strip().lower()
    at = _AT.fullmatch(word)
    measure = _at(at[1], int(at[2]), at[3] is not None) if at else _PLAIN.get(_ALIASES.get(word, word))
    share = _SHARE.fullmatch(word)
    if share and share[1] in _RECALL_WORDS and float(share[2]) >= 0.001:
        measure = RecallShare(float(share[2]))
    if measure is None:
        raise InputError(f"unknown measure {name!r}: expected {expected}.{_hint(word)}")
    return measure


def _at(word: str, k: int, of_least: bool) -> Measure | None:
    """Return the measure of `word@k` or, with `of_least`, `word@k/min`; None where there is none."""
    if k < 1:
        return None
    if of_least:
        return AveragePrecision(k) if word in _PRECISION_WORDS else None
    if word in _SET_RECALL_WORDS:
        return SetRecallAt(k)
    return RecallAt(k) if word in _RECALL_WORDS else None


def _hint(word: str) -> str:
    """Return " Did you mean …?" for a word such as `MRR@10`, `R5`, `AP@20` or `recall`."""
    match = re.fullmatch(r"([a-z-]+?)[@_ -]?(\d*)(/[a-z]*)?", word)
    if match is None:
        return ""
    recalls = (*_RECALL_WORDS, "hits")
    meant = nearest(match[1], [*recalls, *_SET_RECALL_WORDS, *_SHOWN, *_ALIASES])
    if meant is None:
        return ""
    k = max(int(match[2] or 10), 1)
    if meant in recalls:
        shown = f"R@{k}"
    elif meant in _SET_RECALL_WORDS:
        shown = f"SetR@{k}"
    else:
        shown = _SHOWN[_ALIASES.get(meant, meant)]
        if shown == "AP" and match[2]:
            shown = f"AP@{k}/min"
    return f" Did you mean {shown!r}?"


def _where(measure: Measure) -> str:
    """Return in brackets which command has a measure that this task has not."""
    if isinstance(measure, DistanceCorrelation):
        return " (it is a task of its own: evaluate corr)"
    if isinstance(measure, TargetMeasure):
        return f" ({measure.name} needs all relevant candidates of a query: evaluate multilingual-pool)"
    return ""
