"""What was judged: queries, candidates and grades, of a pool, or of qrels and runs that name ids alone."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.pools.build import taken
from xlingual.data.pools.pool import MultilingualPool
from xlingual.errors import InputError, parameter, warn
from xlingual.evaluation.perquery import QueryRows
from xlingual.records import JudgedCounts

EXPECTED, TREC = TIES = ("expected", "trec")


@dataclass(frozen=True, eq=False)
class Judgements:
    """p judged pairs of n queries and m candidates, by query, then candidate.

    Each query has a relevant one, but with the ties of trec_eval.

    Without languages there is one, `languages` is empty, and all codes are 0.
    """

    rows: QueryRows  # names, items and clusters of the queries
    query: Ints  # [p], ascending
    candidate: Ints  # [p]
    grade: Ints  # [p]
    query_language: Ints  # [n]
    candidate_language: Ints  # [m]
    languages: tuple[str, ...]
    least: int  # grade from which a candidate is relevant
    digest: str  # of queries and candidates
    known: bool = True  # whether these are all candidates

    @property
    def n(self) -> int:
        """How many queries there are."""
        return len(self.query_language)

    @property
    def m(self) -> int:
        """How many candidates there are."""
        return len(self.candidate_language)

    @property
    def incomplete(self) -> bool:
        """Whether some candidates were judged irrelevant (0), so that the others are unjudged."""
        return bool((self.grade < 1).any())

    @property
    def several(self) -> bool:
        """Whether candidates are of several languages."""
        return len(np.unique(self.candidate_language)) > 1

    @property
    def conditions(self) -> dict[str, str]:
        """The conditions of a signature."""
        hasher = hashlib.blake2b(digest_size=6)
        for column in (self.query, self.candidate, self.grade):
            hasher.update(column.astype("<i8").tobytes())
        least = {} if self.least == 1 else {"relevant-from": str(self.least)}
        return {"data": self.digest[:12], "judgements": hasher.hexdigest(), **least}

    def by_chance(self) -> JudgedCounts:
        """Return the counts of a system to which all candidates are equal."""
        pool = np.full(self.n, self.m)
        above = np.zeros_like(self.query)
        return JudgedCounts(self.query, above, pool[self.query], self.grade, pool, pool)

    def own_lines(self) -> np.ndarray:
        """Return which pairs count among candidates of the query's own language, bool [p].

        Of a query without a relevant one there none counts.
        """
        own = self.candidate_language[self.candidate] == self.query_language[self.query]
        right = np.bincount(self.query[own & (self.grade >= self.least)], minlength=self.n) > 0
        lines: np.ndarray = own & right[self.query]
        return lines


def judgements_of(pool: MultilingualPool, least: int) -> Judgements:
    """Return the judgements of a pool."""
    q, tags = pool.questions, [pool.languages[code] for code in pool.questions.language]
    number = {key: i for i, key in enumerate(dict.fromkeys(q.key))}
    alone = len(pool.languages) == 1
    rows = QueryRows(
        [own if alone else f"{tag}/{own}" for tag, own in zip(tags, q.ids, strict=True)],
        np.array([number[key] for key in q.key], dtype=np.int64),
        list(number),
        pool.questions.cluster,
        {"language": [*tags]},
    )
    query, candidate, grade = pool.judged
    languages = (q.language, pool.candidates.language)
    return Judgements(rows, query, candidate, grade, *languages, pool.languages, least, pool.digest)


def answerable(pool: MultilingualPool, least: int, ties: str) -> MultilingualPool:
    """Return the pool of the questions that count: those that have a candidate of at least a grade.

    With the ties of trec_eval all count, the others as 0. Says how many have none.
    """
    if least < 1:
        raise InputError(f"{parameter('relevant_from')} must be at least 1, found {least}: 0 says irrelevant")
    question, _, grade = pool.judged
    kept = np.unique(question[grade >= least])
    lost = len(pool.questions) - len(kept)
    if not lost:
        return pool
    if not len(kept):
        raise InputError(
            f"{pool.source}: no judgement has a grade of {least} or more (the highest is {grade.max()}): "
            f"choose a lower {parameter('relevant_from')}"
        )
    fate = "count as 0, as in trec_eval -c" if ties == TREC else "are left out"
    warn(
        f"{pool.source}: {lost:,} of {len(pool.questions):,} queries have no candidate of grade {least} or "
        f"more and {fate}"
    )
    if ties == TREC:
        return pool
    numberings = tuple(numbering.take(kept) for numbering in pool.question_numberings)
    return replace(pool, questions=taken(pool.questions, kept), question_numberings=numberings)


def check_ties(ties: str) -> None:
    """Raise InputError for a rule of ties that is not known."""
    if ties not in TIES:
        raise InputError(f"{parameter('ties', ties)}: expected {' or '.join(TIES)}")
