"""Measures: value objects with a canonical name, parsed and printed both ways.

Measures know no back end: they turn `RankCounts` into a number for each query, and those into one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import TypeAlias

from xlingual.errors import InputError, nearest
from xlingual.measures.rank import (
    DistanceCorrelation,
    MedianRank,
    PictureSimilarity,
    RecallAt,
    ReciprocalRank,
)

RankMeasure: TypeAlias = RecallAt | ReciprocalRank | MedianRank
QueryMeasure: TypeAlias = RankMeasure | PictureSimilarity  # has a value for each query
Measure: TypeAlias = QueryMeasure | DistanceCorrelation

__all__ = [
    "DistanceCorrelation",
    "Measure",
    "MedianRank",
    "PictureSimilarity",
    "QueryMeasure",
    "RankMeasure",
    "RecallAt",
    "ReciprocalRank",
    "parse_measure",
    "parse_rank_measures",
]

_PLAIN: dict[str, Measure] = {
    m.name.lower(): m for m in (ReciprocalRank(), MedianRank(), PictureSimilarity())
}
_ALIASES = {"mrr": "rr", "median-rank": "medr", "reciprocal-rank": "rr"}
_SHOWN = {"rr": "RR", "medr": "MedR", "sim": "SIM"}
_RECALL = re.compile(r"(?:r|recall|hit|success)@(\d{1,18})")


def parse_measure(name: str | Measure) -> Measure:
    """Return the measure of a name (`R@10`, `RR`, `MedR`, `SIM`; letter case does not matter).

    >>> parse_measure("recall@5").name
    'R@5'
    """
    if not isinstance(name, str):
        return name
    word = name.strip().lower()
    recall = _RECALL.fullmatch(word)
    if recall and int(recall.group(1)) >= 1:
        return RecallAt(int(recall.group(1)))
    measure = _PLAIN.get(_ALIASES.get(word, word))
    if measure is None:
        raise InputError(
            f"unknown measure {name!r}: expected R@k with k of at least 1, RR, MedR or SIM.{_hint(word)}"
        )
    return measure


def _hint(word: str) -> str:
    """Return " Did you mean …?" for a word such as `MRR@10`, `R5` or `recall`."""
    match = re.fullmatch(r"([a-z-]+?)[@_ -]?(\d*)", word)
    if match is None:
        return ""
    recalls = ("r", "recall", "hit", "hits", "success")
    meant = nearest(match[1], [*recalls, *_SHOWN, *_ALIASES])
    if meant is None:
        return ""
    recall = f"R@{max(int(match[2] or 10), 1)}"
    return f" Did you mean {recall if meant in recalls else _SHOWN[_ALIASES.get(meant, meant)]!r}?"


def parse_rank_measures(
    names: str | Iterable[str | Measure], beside: Collection[Measure] = ()
) -> list[RankMeasure]:
    """Return the rank measures among the names, each once; R@10 where nothing is named.

    Measures that a task reports anyway are given as `beside` and may be named, alone too; any other is
    refused.
    """
    if isinstance(names, str):
        names = re.split(r"[,\s]+", names.strip())
    found: list[RankMeasure] = []
    named = dict.fromkeys(parse_measure(name) for name in names)
    for measure in named:
        if isinstance(measure, RankMeasure):
            found.append(measure)
        elif measure not in beside:
            own = " (it is a task of its own: evaluate corr)" if measure == DistanceCorrelation() else ""
            raise InputError(f"{measure.name} is no measure of this task{own}: expected R@k, RR or MedR")
    return found if named else [RecallAt(10)]
