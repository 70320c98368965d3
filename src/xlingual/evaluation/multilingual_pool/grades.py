"""What an answer is worth in nDCG: its grade in the pool, times that of its language."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.pools.pool import MultilingualPool
from xlingual.errors import InputError, parameter
from xlingual.measures import NDCG, PoolMeasure

MOST = 50
_PART = re.compile(r"\s*(own|other)\s*=\s*(\d{1,9})\s*")


@dataclass(frozen=True)
class LanguageGrades:
    """What an answer in the question's language is worth, and one in another."""

    own: int = 1
    other: int = 1

    def of(self, pool: MultilingualPool) -> Ints:
        """Return the grade of each relevant pair, int64 [p]: that of the pool times that of the language."""
        question, candidate = pool.relevant
        own = pool.questions.language[question] == pool.candidates.language[candidate]
        return pool.grades * np.where(own, self.own, self.other)

    def condition(self, pool: MultilingualPool, measure: PoolMeasure) -> dict[str, str]:
        """Return the condition of a signature: none where all answers are worth the same."""
        if not isinstance(measure, NDCG):
            return {}
        parts = []
        if (pool.grades != 1).any():  # they are not in the digest of the pool
            parts.append(hashlib.blake2b(pool.grades.astype("<i8").tobytes(), digest_size=4).hexdigest())
        if self != EQUAL:
            parts.append(f"own={self.own},other={self.other}")
        return {"grades": "*".join(parts)} if parts else {}


EQUAL = LanguageGrades()


def language_grades(
    given: str | Mapping[str, int] | None, policy: str, measures: Iterable[PoolMeasure]
) -> LanguageGrades:
    """Return the grades of "own=2,other=1" or {"own": 2, "other": 1}, all 1 where none are given.

    Raises InputError for anything else, and for grades that no measure would use.
    """
    if given is None:
        return EQUAL
    text = given if isinstance(given, str) else ",".join(f"{name}={grade}" for name, grade in given.items())
    parts = [_PART.fullmatch(part) for part in text.split(",")]
    found = {part[1]: int(part[2]) for part in parts if part is not None}
    if None in parts or len(found) < len(parts) or set(found) != {"own", "other"}:
        raise InputError(
            f"{parameter('grades', text)}: expected two whole numbers, what an answer in the question's "
            "language is worth and what one in another, as in own=2,other=1"
        )
    if 0 in found.values():
        raise InputError(
            f"{parameter('grades', text)}: an answer that is worth 0 is none: give 1 at least; where only "
            f"answers in the question's language count, use {parameter('policy', 'prefer-own')}"
        )
    if max(found.values()) > MOST:
        raise InputError(f"{parameter('grades', text)}: {MOST} is the most, divide both numbers")
    if policy != "agnostic":
        raise InputError(
            f"{parameter('grades', text)}: with the policy {policy!r} answers in other languages count as "
            "wrong, whatever they are worth: leave one of them out"
        )
    if not any(isinstance(measure, NDCG) for measure in measures):
        raise InputError(
            f"{parameter('grades', text)} changes nDCG, which is not among the measures: add it "
            f"({parameter('measures', 'nDCG@10')}), or leave the grades out"
        )
    return LanguageGrades(**found)
