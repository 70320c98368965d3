"""Judgements: queries, candidates and grades, of a pool, or of qrels and runs that name ids alone."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.languages import tag_of
from xlingual.data.names import UNKNOWN, Names
from xlingual.data.pools.pool import MultilingualPool
from xlingual.data.runs import Qrels, SearchRun, by_name, names_bytes, sorted_names
from xlingual.errors import InputError, parameter, warn
from xlingual.evaluation.perquery import QueryRows
from xlingual.evaluation.pool_run import names_of, rows_of_queries

Column = Mapping[str, str]  # query → word


@dataclass(frozen=True, eq=False)
class Judgements:
    """p judged pairs of n queries and m candidates, by query, then candidate.

    A query counts where something was judged; one without a relevant candidate has 0. Without languages
    there is one, `languages` is empty, and all codes are 0.
    """

    rows: QueryRows  # names, items and clusters of the queries
    names: tuple[Names, Names]  # by which runs name queries and candidates
    query: Ints  # [p], ascending
    candidate: Ints  # [p]
    grade: Ints  # [p]
    query_language: Ints  # [n]
    candidate_language: Ints  # [m]
    languages: tuple[str, ...]
    least: int  # grade from which a candidate is relevant
    digest: str  # of queries and candidates
    identical: tuple[Ints, Ints]  # all pairs (query, candidate) of equal ids, by query
    without_identical: bool = False  # whether those pairs are left out, as BEIR and MTEB do
    is_whole: bool = True  # whether these are all candidates

    @property
    def n(self) -> int:
        """The number of queries."""
        return len(self.query_language)

    @property
    def m(self) -> int:
        """The number of candidates."""
        return len(self.candidate_language)

    @property
    def conditions(self) -> dict[str, str]:
        """The conditions of a signature."""
        hasher = hashlib.blake2b(digest_size=6)
        for column in (self.query, self.candidate, self.grade):
            hasher.update(column.astype("<i8").tobytes())
        return {
            **({"languages": ",".join(self.languages)} if self.languages else {}),
            "data": self.digest[:12],
            "judgements": hasher.hexdigest(),
            **({} if self.least == 1 else {"relevant-from": str(self.least)}),
            **({"identical-ids": "left-out"} if self.without_identical else {}),
            "sample": "all#0",
        }

    @property
    def relevant(self) -> tuple[Ints, Ints]:
        """The relevant pairs (query, candidate), by query."""
        right = self.grade >= self.least
        return self.query[right], self.candidate[right]

    @property
    def left_out(self) -> tuple[Ints, Ints]:
        """The pairs (query, candidate) that are left out, by query."""
        return self.identical if self.without_identical else (np.arange(0), np.arange(0))

    @property
    def pool_sizes(self) -> Ints:
        """The number of candidates of each query [n]."""
        return self.m - np.bincount(self.left_out[0], minlength=self.n)

    def checked(self, source: str, *, ignore_identical_ids: bool) -> Judgements:
        """Return the judgements, without pairs of equal ids where these are ignored.

        Raises InputError where no grade is at least `least`; warns of queries without such a grade.
        """
        if self.least < 1:
            raise InputError(
                f"{parameter('relevant_from')} must be at least 1, got {self.least}: 0 says irrelevant"
            )
        lost = self.n - len(np.unique(self.relevant[0]))
        if lost == self.n:
            raise InputError(
                f"{source}: no judgement has a grade of {self.least} or more (the highest is "
                f"{self.grade.max()}): choose a lower {parameter('relevant_from')}"
            )
        if lost:
            warn(
                f"{source}: {lost:,} of {self.n:,} queries have no candidate of grade {self.least} or more "
                "and count as 0, as in MTEB and trec_eval"
            )
        if not ignore_identical_ids:
            return self
        pairs = self.identical[0] * self.m + self.identical[1]
        stays = ~np.isin(self.query * self.m + self.candidate, pairs)
        query, candidate, grade = (side[stays] for side in (self.query, self.candidate, self.grade))
        return replace(self, query=query, candidate=candidate, grade=grade, without_identical=True)


def judgements_of(pool: MultilingualPool, least: int, *, ignore_identical_ids: bool = False) -> Judgements:
    """Return the judgements of a pool; warn where queries are candidates themselves."""
    asked, held = pool.questions, pool.candidates
    query, candidate, grade = pool.judged
    judgements = Judgements(
        rows=rows_of_queries(pool, asked.cluster),
        names=(names_of(pool, asked), names_of(pool, held)),
        query=query,
        candidate=candidate,
        grade=grade,
        query_language=asked.language,
        candidate_language=held.language,
        languages=pool.languages,
        least=least,
        digest=pool.digest,
        identical=_identical(asked.ids, held.ids),
    ).checked(pool.source, ignore_identical_ids=ignore_identical_ids)
    pairs = zip(*(side.tolist() for side in judgements.identical), strict=True)
    same = {i for i, j in pairs if held.text[j].casefold().strip().endswith(asked.text[i].casefold().strip())}
    if same and not ignore_identical_ids:
        warn(
            f"{pool.source}: {len(same):,} of {len(asked):,} queries are candidates under their own ids, "
            "where they find themselves: BEIR and MTEB leave such candidates out (ArguAna, Quora); "
            f"{parameter('ignore_identical_ids', True)} does"
        )
    return judgements


class Ids(Names):
    """Names that are ids alone, of no language."""

    def __init__(self, ids: Sequence[str]) -> None:
        super().__init__((), ids)
        self._place = {name: row for row, name in enumerate(ids)}

    def rows(self, names: Sequence[str], language: str | None = None) -> Ints:
        """Return the row of each name, int64; `UNKNOWN` where there is none."""
        return np.array([self._place.get(name, UNKNOWN) for name in names], dtype=np.int64)


def judgements_of_qrels(
    qrels: Qrels,
    runs: Sequence[SearchRun],
    least: int,
    clusters: Column,
    labels: Mapping[str, Column],
    *,
    ignore_identical_ids: bool = False,
) -> Judgements:
    """Return the judgements of qrels; candidates are those that are judged, and those that runs returned.

    Queries and candidates come in the order of their names, whatever the order of lines. `clusters` and
    `labels` are as in `runs_against_qrels`.
    """
    for source, names, judged in (
        *((run.source, run.candidates, qrels.candidates) for run in runs),
        *((word, list(column), qrels.queries) for word, column in {"clusters": clusters, **labels}.items()),
    ):
        if names and set(judged).isdisjoint(names):
            raise InputError(
                f"{source}: none of its {len(names):,} names (first: {names[0]!r}) is one of {qrels.source} "
                f"(first: {judged[0]!r}): name them alike"
            )
    ordered, order = sorted_names(qrels.queries)
    queries = [qrels.queries[row] for row in order.tolist()]
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    judged_names, candidate = by_name(qrels.candidates, qrels.candidate)
    texts = [raw.decode("utf-8", "surrogatepass") for raw in judged_names.to_pylist()]
    candidates = list(dict.fromkeys([*texts, *(name for run in runs for name in run.candidates)]))
    words: dict[str, Sequence[str | None]] = {
        name: [column.get(query) for query in queries] for name, column in labels.items()
    }
    ids, candidate_ids, codes = queries, candidates, np.zeros(len(queries), dtype=np.int64)
    languages: tuple[str, ...] = ()
    parts = _tags_and_ids(queries)
    if all(tag for tag, _ in parts):
        tags, ids = ([part[i] for part in parts] for i in (0, 1))
        candidate_ids = [bare for _, bare in _tags_and_ids(candidates)]
        languages = tuple(dict.fromkeys(tags))
        codes = np.array([languages.index(tag) for tag in tags], dtype=np.int64)
        words = {"language": tags, **words}
    number: dict[tuple[bool, str], int] = {}
    cluster = [
        number.setdefault((name in clusters, clusters.get(name, bare)), len(number))
        for name, bare in zip(queries, ids, strict=True)
    ]
    hasher = hashlib.blake2b(b"xlingual/qrels/2", digest_size=16)
    hasher.update(names_bytes(ordered))
    hasher.update(names_bytes(judged_names))
    lines, rows = np.lexsort((candidate, place[qrels.query])), np.arange(len(queries))
    return Judgements(
        rows=QueryRows(queries, rows, queries, np.array(cluster, dtype=np.int64), words),
        names=(Ids(queries), Ids(candidates)),
        query=place[qrels.query][lines],
        candidate=candidate[lines],
        grade=qrels.grade[lines],
        query_language=codes,
        candidate_language=np.zeros(len(candidates), dtype=np.int64),
        languages=languages,
        least=least,
        digest=hasher.hexdigest(),
        identical=_identical(ids, candidate_ids),
        is_whole=False,
    ).checked(qrels.source, ignore_identical_ids=ignore_identical_ids)


def _tags_and_ids(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return the language and the id of each name that may be language:id; "" where there is no language."""
    parts = [(name, *name.partition(":")) for name in names]
    return [(tag, bare) if mark and tag_of(tag) == tag else ("", name) for name, tag, mark, bare in parts]


def _identical(queries: Sequence[str], candidates: Sequence[str]) -> tuple[Ints, Ints]:
    """Return all pairs (query, candidate) of equal ids, by query."""
    rows: dict[str, list[int]] = {}
    for row, name in enumerate(candidates):
        rows.setdefault(name, []).append(row)
    pairs = [(query, row) for query, name in enumerate(queries) for row in rows.get(name, ())]
    both = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]
