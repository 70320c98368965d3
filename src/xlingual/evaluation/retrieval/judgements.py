"""What was judged: queries, candidates and grades, of a pool, or of qrels and runs that name ids alone."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.pools.pool import MultilingualPool
from xlingual.errors import InputError, parameter, warn
from xlingual.evaluation.perquery import QueryRows
from xlingual.records import JudgedCounts

EXPECTED, TREC = TIES = ("expected", "trec")
SELF_MATCHES = 0.05  # of the queries that have their own id first: more than chance lets happen


@dataclass(frozen=True, eq=False)
class Judgements:
    """p judged pairs of n queries and m candidates, by query, then candidate.

    A query counts where something was judged; one without a relevant candidate has 0.

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
    identical: tuple[Ints, Ints] | None = None  # pairs of query and candidate of one id that are left out

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
        more = {} if self.least == 1 else {"relevant-from": str(self.least)}
        if self.identical is not None:
            more["identical-ids"] = "left-out"
        return {"data": self.digest[:12], "judgements": hasher.hexdigest(), **more}

    def pool_sizes(self, *, own: bool = False) -> Ints:
        """Return how many candidates each query has [n], of all languages or of its own."""
        sizes = np.full(self.n, self.m)
        if own:
            of_language = np.bincount(self.candidate_language, minlength=int(self.query_language.max()) + 1)
            sizes = of_language[self.query_language]
        if self.identical is not None:
            query, candidate = self.identical
            if own:
                query = query[self.candidate_language[candidate] == self.query_language[query]]
            sizes = sizes - np.bincount(query, minlength=self.n)
        return sizes

    def by_chance(self) -> JudgedCounts:
        """Return the counts of a system to which all candidates are equal."""
        pool = self.pool_sizes()
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


def judgements_of(pool: MultilingualPool, least: int, *, ignore_identical_ids: bool = False) -> Judgements:
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
    judged = Judgements(rows, query, candidate, grade, *languages, pool.languages, least, pool.digest)
    pairs = identical_ids(q.ids, pool.candidates.ids)
    if ignore_identical_ids:
        return without_identical(judged, pairs)
    texts = zip(*(side.tolist() for side in pairs), strict=True)
    same = {i for i, j in texts if _repeats(q.text[i], pool.candidates.text[j])}
    if same:
        _warn_of_identical(pool.source, len(same), judged.n, "are candidates under their own ids")
    return judged


def identical_ids(queries: Sequence[str], candidates: Sequence[str]) -> tuple[Ints, Ints]:
    """Return all pairs (query, candidate) of equal ids, by query."""
    rows: dict[str, list[int]] = {}
    for row, name in enumerate(candidates):
        rows.setdefault(name, []).append(row)
    pairs = [(query, row) for query, name in enumerate(queries) for row in rows.get(name, ())]
    both = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def without_identical(judged: Judgements, pairs: tuple[Ints, Ints]) -> Judgements:
    """Return the judgements where these pairs of query and candidate are left out, as BEIR does."""
    out = np.isin(judged.query * judged.m + judged.candidate, pairs[0] * judged.m + pairs[1])
    query, candidate, grade = (side[~out] for side in (judged.query, judged.candidate, judged.grade))
    return replace(judged, query=query, candidate=candidate, grade=grade, identical=pairs)


def _repeats(query: str, candidate: str) -> bool:
    """Whether a candidate is the query's text, perhaps after a title."""
    return candidate.casefold().strip().endswith(query.casefold().strip())


def _warn_of_identical(source: str, count: int, n: int, what: str) -> None:
    warn(
        f"{source}: {count:,} of {n:,} queries {what}, where they find themselves: BEIR and MTEB leave such "
        f"candidates out (ArguAna, Quora); {parameter('ignore_identical_ids', True)} does"
    )


def warn_of_own_ids(source: str, first: int, n: int) -> None:
    """Warn where a run returns queries' own ids first: they are texts among the candidates."""
    if first >= SELF_MATCHES * n and first > 1:
        _warn_of_identical(source, first, n, "have their own id as first result")


def check_relevant(pool: MultilingualPool, least: int) -> None:
    """Raise InputError where nothing has a grade of at least `least`; warn of queries without such a one."""
    if least < 1:
        raise InputError(f"{parameter('relevant_from')} must be at least 1, found {least}: 0 says irrelevant")
    question, _, grade = pool.judged
    lost = len(pool.questions) - len(np.unique(question[grade >= least]))
    if lost == len(pool.questions):
        raise InputError(
            f"{pool.source}: no judgement has a grade of {least} or more (the highest is {grade.max()}): "
            f"choose a lower {parameter('relevant_from')}"
        )
    if lost:
        warn_of_unanswered(pool.source, lost, len(pool.questions), least)


def warn_of_unanswered(source: str, lost: int, n: int, least: int) -> None:
    """Warn of queries that have no relevant candidate, and count."""
    warn(
        f"{source}: {lost:,} of {n:,} queries have no candidate of grade {least} or more and count as 0, as "
        "in MTEB and trec_eval"
    )


def check_ties(ties: str) -> None:
    """Raise InputError for a rule of ties that is not known."""
    if ties not in TIES:
        raise InputError(f"{parameter('ties', ties)}: expected {' or '.join(TIES)}")
