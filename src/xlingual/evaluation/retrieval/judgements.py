"""Judgements: queries, candidates and grades, of a pool, or of qrels and runs that name ids alone."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.languages import tag_of
from xlingual.data.names import UNKNOWN, Names, zeros_hint
from xlingual.data.pools.pool import MultilingualPool
from xlingual.data.runs import SearchRun
from xlingual.data.runs.qrels import Qrels
from xlingual.data.runs.search_run import by_name, names_bytes, sorted_names
from xlingual.errors import InputError, parameter, warn
from xlingual.evaluation.perquery import QueryRows
from xlingual.records import JudgedCounts

SELF_MATCHES = 0.05  # of the queries that have their own id first: more than chance lets happen
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
    identical: tuple[Ints, Ints]  # all pairs (query, candidate) of one id, by query
    without_identical: bool = False  # whether those pairs are left out, as BEIR and MTEB do
    is_whole: bool = True  # whether these are all candidates

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
        return {
            **({"languages": ",".join(self.languages)} if self.languages else {}),
            "data": self.digest[:12],
            "judgements": hasher.hexdigest(),
            **({} if self.least == 1 else {"relevant-from": str(self.least)}),
            **({"identical-ids": "left-out"} if self.without_identical else {}),
            "sample": "all#0",
        }

    def left_out(self) -> tuple[Ints, Ints]:
        """Return the pairs (query, candidate) that are left out."""
        return self.identical if self.without_identical else (np.arange(0), np.arange(0))

    def same_language(self, query: Ints, candidate: Ints) -> np.ndarray:
        """Return whether the query and the candidate of each pair are of one language."""
        same: np.ndarray = self.query_language[query] == self.candidate_language[candidate]
        return same

    def pool_sizes(self, *, same_language: bool = False) -> Ints:
        """Return how many candidates each query has [n], of all languages or of its own."""
        sizes, (query, candidate) = np.full(self.n, self.m), self.left_out()
        if same_language:
            n_languages = int(self.query_language.max()) + 1
            sizes = np.bincount(self.candidate_language, minlength=n_languages)[self.query_language]
            query = query[self.same_language(query, candidate)]
        return sizes - np.bincount(query, minlength=self.n)

    def by_chance(self) -> JudgedCounts:
        """Return the counts of a system to which all candidates are equal."""
        pool = self.pool_sizes()
        return JudgedCounts(self.query, np.zeros_like(self.query), pool[self.query], self.grade, pool, pool)

    def without(self, pairs: tuple[Ints, Ints]) -> Judgements:
        """Return the judgements where these pairs of query and candidate are left out."""
        stays = ~np.isin(self.query * self.m + self.candidate, pairs[0] * self.m + pairs[1])
        query, candidate, grade = (side[stays] for side in (self.query, self.candidate, self.grade))
        return replace(self, query=query, candidate=candidate, grade=grade, without_identical=True)


def judgements_of(pool: MultilingualPool, least: int, *, ignore_identical_ids: bool = False) -> Judgements:
    """Return the judgements of a pool."""
    check_least(least)
    q, tags = pool.questions, [pool.languages[code] for code in pool.questions.language]
    query, candidate, grade = pool.judged
    _check_relevant(pool.source, query, grade, len(q), least)
    number = {key: i for i, key in enumerate(dict.fromkeys(q.key))}
    alone = len(pool.languages) == 1
    candidate_tags = [pool.languages[code] for code in pool.candidates.language.tolist()]
    judgements = Judgements(
        rows=QueryRows(
            [name if alone else f"{tag}/{name}" for tag, name in zip(tags, q.ids, strict=True)],
            np.array([number[key] for key in q.key], dtype=np.int64),
            list(number),
            q.cluster,
            {"language": [*tags]},
        ),
        names=(Names(tags, q.ids), Names(candidate_tags, pool.candidates.ids)),
        query=query,
        candidate=candidate,
        grade=grade,
        query_language=q.language,
        candidate_language=pool.candidates.language,
        languages=pool.languages,
        least=least,
        digest=pool.digest,
        identical=_identical(q.ids, pool.candidates.ids),
    )
    if ignore_identical_ids:
        return judgements.without(judgements.identical)
    pairs = zip(*(side.tolist() for side in judgements.identical), strict=True)
    texts = ((i, q.text[i], pool.candidates.text[j]) for i, j in pairs)
    same = {i for i, query, text in texts if text.casefold().strip().endswith(query.casefold().strip())}
    if same:
        warn_of_identical(pool.source, len(same), len(q), "are candidates under their own ids")
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
    runs: Mapping[str, SearchRun],
    least: int,
    clusters: Column,
    labels: Mapping[str, Column],
    *,
    ignore_identical_ids: bool = False,
) -> Judgements:
    """Return the judgements of qrels; candidates are those that are judged, and those that runs returned.

    Queries and candidates come in the order of their names, whatever that of the lines. `clusters` and
    `labels` are as in `runs_against_qrels`.
    """
    check_least(least)
    _check_relevant(qrels.source, qrels.query, qrels.grade, len(qrels.queries), least)
    ordered, order = sorted_names(qrels.queries)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    queries = [qrels.queries[row] for row in order.tolist()]
    _check_columns(qrels.source, queries, clusters, labels)
    judged, candidate = by_name(qrels.candidates, qrels.candidate)
    candidates = [raw.decode("utf-8", "surrogatepass") for raw in judged.to_pylist()]
    for run in runs.values():
        _refuse_unjudged(run, qrels)
        candidates = list(dict.fromkeys([*candidates, *run.candidates]))
    lines = np.lexsort((candidate, place[qrels.query]))
    languages, codes = _languages(queries)
    ids = _bare(queries, languages)
    number: dict[tuple[bool, str], int] = {}
    cluster = [
        number.setdefault((name in clusters, clusters.get(name, bare)), len(number))
        for name, bare in zip(queries, ids, strict=True)
    ]
    words: dict[str, Sequence[str | None]] = {
        name: [column.get(query) for query in queries] for name, column in labels.items()
    }
    if languages:
        words = {"language": [languages[code] for code in codes.tolist()], **words}
    hasher = hashlib.blake2b(b"xlingual/qrels/2", digest_size=16)
    hasher.update(names_bytes(ordered))
    hasher.update(names_bytes(judged))
    judgements = Judgements(
        rows=QueryRows(queries, np.arange(len(queries)), queries, np.array(cluster, dtype=np.int64), words),
        names=(Ids(queries), Ids(candidates)),
        query=place[qrels.query][lines],
        candidate=candidate[lines],
        grade=qrels.grade[lines],
        query_language=codes,
        candidate_language=np.zeros(len(candidates), dtype=np.int64),
        languages=languages,
        least=least,
        digest=hasher.hexdigest(),
        identical=_identical(ids, _bare(candidates, languages)),
        is_whole=False,
    )
    return judgements.without(judgements.identical) if ignore_identical_ids else judgements


def _identical(queries: Sequence[str], candidates: Sequence[str]) -> tuple[Ints, Ints]:
    """Return all pairs (query, candidate) of equal ids, by query."""
    rows: dict[str, list[int]] = {}
    for row, name in enumerate(candidates):
        rows.setdefault(name, []).append(row)
    pairs = [(query, row) for query, name in enumerate(queries) for row in rows.get(name, ())]
    both = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def _languages(names: Sequence[str]) -> tuple[tuple[str, ...], Ints]:
    """Return the languages of queries that are named language:id; none where a query is named otherwise."""
    codes: dict[str, int] = {}
    tags = [
        tag if mark and tag_of(tag) == tag else None for tag, mark, _ in (n.partition(":") for n in names)
    ]
    if None in tags:
        return (), np.zeros(len(names), dtype=np.int64)
    rows = np.array([codes.setdefault(str(tag), len(codes)) for tag in tags], dtype=np.int64)
    return tuple(codes), rows


def _bare(names: Sequence[str], languages: Sequence[str]) -> list[str]:
    """Return the ids of names that may be language:id."""
    parts = [name.partition(":") if languages else (name, "", "") for name in names]
    return [bare if mark and tag_of(tag) == tag else f"{tag}{mark}{bare}" for tag, mark, bare in parts]


def check_least(least: int) -> None:
    """Raise InputError where the grade from which a candidate is relevant is below 1."""
    if least < 1:
        raise InputError(f"{parameter('relevant_from')} must be at least 1, found {least}: 0 says irrelevant")


def _check_relevant(source: str, query: Ints, grade: Ints, n: int, least: int) -> None:
    """Raise InputError where no grade is at least `least`; warn of queries without such a grade."""
    lost = n - len(np.unique(query[grade >= least]))
    if lost == n:
        raise InputError(
            f"{source}: no judgement has a grade of {least} or more (the highest is {grade.max()}): choose a "
            f"lower {parameter('relevant_from')}"
        )
    if lost:
        warn(
            f"{source}: {lost:,} of {n:,} queries have no candidate of grade {least} or more and count as 0, "
            "as in MTEB and trec_eval"
        )


def _check_columns(
    source: str, queries: Sequence[str], clusters: Column, labels: Mapping[str, Column]
) -> None:
    """Raise InputError for a column that names no query; warn where clusters leave out some of them."""
    for name, column in {"clusters": clusters, **labels}.items():
        if column and column.keys().isdisjoint(queries):
            raise InputError(
                f"{name}: none of its {len(column):,} queries (first: {next(iter(column))!r}) is one of "
                f"{source} (first: {queries[0]!r}): name them alike"
            )
    if clusters and (lost := sum(query not in clusters for query in queries)):
        warn(
            f"clusters: {lost:,} of {len(queries):,} queries of {source} have none: these count as "
            "independent of the others"
        )


def _refuse_unjudged(run: SearchRun, qrels: Qrels) -> None:
    """Raise InputError where no candidate of a run is judged."""
    if run.candidates and {*qrels.candidates}.isdisjoint(run.candidates):
        raise InputError(
            f"{run.source}: none of its {len(run.candidates):,} candidates is judged in {qrels.source} "
            f"(first: {run.candidates[0]!r}; judged is for instance {qrels.candidates[0]!r}): name them alike"
            + zeros_hint(run.candidates, qrels.candidates)
        )


def warn_of_identical(source: str, count: int, n: int, problem: str) -> None:
    """Warn where queries find themselves; BEIR and MTEB leave such candidates out."""
    warn(
        f"{source}: {count:,} of {n:,} queries {problem}, where they find themselves: BEIR and MTEB leave "
        f"such candidates out (ArguAna, Quora); {parameter('ignore_identical_ids', True)} does"
    )
