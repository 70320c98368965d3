"""The two directions of image–sentence ranking."""

from __future__ import annotations

from dataclasses import dataclass

from xlingual.evaluation.numbers import Subject
from xlingual.evaluation.rankings import IMAGE
from xlingual.measures.hubness import Places
from xlingual.records import RankCounts


@dataclass(frozen=True)
class RankedWay:
    """The ranks of one direction in a slice, and its first places where they are kept."""

    counts: RankCounts
    places: Places | None


def both_ways(language: str) -> tuple[Subject, Subject]:
    """Return the two directions of a language: sentence → image, image → sentence."""
    return Subject(language, IMAGE), Subject(IMAGE, language)
