"""Measures: value objects with a canonical name, parsed and printed both ways.

Measures know no back end: they turn `RankCounts` into a number for each query, and those into one.
"""

from __future__ import annotations

import re
from typing import TypeAlias

from xlingual.errors import InputError, did_you_mean
from xlingual.measures.rank import MedianRank, PictureSimilarity, RecallAt, ReciprocalRank

RankMeasure: TypeAlias = RecallAt | ReciprocalRank | MedianRank
Measure: TypeAlias = RankMeasure | PictureSimilarity

__all__ = [
    "Measure",
    "MedianRank",
    "PictureSimilarity",
    "RankMeasure",
    "RecallAt",
    "ReciprocalRank",
    "parse_measure",
]

_PLAIN: dict[str, Measure] = {
    m.name.lower(): m for m in (ReciprocalRank(), MedianRank(), PictureSimilarity())
}
_ALIASES = {"mrr": "rr", "median-rank": "medr", "reciprocal-rank": "rr"}
_RECALL = re.compile(r"(?:r|recall|hit|success)@(\d+)")


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
        known = ["R@10", "R@1", "RR", "MedR", "SIM"]
        raise InputError(
            f"unknown measure {name!r}: expected R@k with k of at least 1, RR, MedR or SIM."
            + did_you_mean(name.upper(), known)
        )
    return measure
