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

    @property
    def left_out(self) -> tuple[Ints, Ints]:
        """The pairs (query, candidate) that are left out, by query."""
        return self.identical if self.without_identical else (np.arange(0), np.arange(0))

    def same_language(self, query: Ints, candidate: Ints) -> np.ndarray:
        """Return whether the query and the candidate of each pair are of one language."""
        same: np.ndarray = self.query_language[query] == self.candidate_language[candidate]
        return same

    def pool_sizes(self, *, same_language: bool = False) -> Ints:
        """Return how many candidates each query has [n], of all languages or of its own."""
        sizes, (query, candidate) = np.full(self.n, self.m), self.left_out
        if same_language:
            n_languages = int(self.query_language.max()) + 1
            sizes = np.bincount(self.candidate_language, minlength=n_languages)[self.query_language]
            query = query[self.same_language(query, candidate)]
        return sizes - np.bincount(query, minlength=self.n)

    def without(self, pairs: tuple[Ints, Ints]) -> Judgements:
        """Return the judgements where these pairs of query and candidate are left out."""
        stays = ~np.isin(self.query * self.m + self.candidate, pairs[0] * self.m + pairs[1])
        query, candidate, grade = (side[stays] for side in (self.query, self.candidate, self.grade))
        return replace(self, query=query, candidate=candidate, grade=grade, without_identical=True)


def judgements_of(pool: MultilingualPool, least: int, *, ignore_identical_ids: bool = False) -> Judgements:
    """Return the judgements of a pool."""
    questions, candidates = pool.questions, pool.candidates
    query, candidate, grade = pool.judged
    _check_relevant(pool.source, query, grade, len(questions), least)
    tags, candidate_tags = (
        [pool.languages[code] for code in side.language.tolist()] for side in (questions, candidates)
    )
    names = questions.ids
    if len(pool.languages) > 1:
        names = [f"{tag}/{name}" for tag, name in zip(tags, names, strict=True)]
    number = {key: i for i, key in enumerate(dict.fromkeys(questions.key))}
    items = np.array([number[key] for key in questions.key], dtype=np.int64)
    judgements = Judgements(
        rows=QueryRows(names, items, list(number), questions.cluster, {"language": tags}),
        names=(Names(tags, questions.ids), Names(candidate_tags, candidates.ids)),
        query=query,
        candidate=candidate,
        grade=grade,
        query_language=questions.language,
        candidate_language=candidates.language,
        languages=pool.languages,
        least=least,
        digest=pool.digest,
        identical=_identical(questions.ids, candidates.ids),
    )
    if ignore_identical_ids:
        return judgements.without(judgements.identical)
    pairs = zip(*(side.tolist() for side in judgements.identical), strict=True)
    texts = ((i, candidates.text[j].casefold().strip(), questions.text[i]) for i, j in pairs)
    if same := len({i for i, text, query in texts if text.endswith(query.casefold().strip())}):
        warn_of_identical(
            pool.source, f"{same:,} of {len(names):,} queries are candidates under their own ids"
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
    _check_relevant(qrels.source, qrels.query, qrels.grade, len(qrels.queries), least)
    _check_names(qrels, runs, {"clusters": clusters, **labels})
    ordered, order = sorted_names(qrels.queries)
    queries = [qrels.queries[row] for row in order.tolist()]
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    judged, candidate = by_name(qrels.candidates, qrels.candidate)
    names = [raw.decode("utf-8", "surrogatepass") for raw in judged.to_pylist()]
    candidates = list(dict.fromkeys([*names, *(name for run in runs for name in run.candidates)]))
    words: dict[str, Sequence[str | None]] = {
        name: [column.get(query) for query in queries] for name, column in labels.items()
    }
    ids, candidate_ids = queries, candidates
    languages: tuple[str, ...] = ()
    codes = np.zeros(len(queries), dtype=np.int64)
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
    hasher.update(names_bytes(judged))
    lines, rows = np.lexsort((candidate, place[qrels.query])), np.arange(len(queries))
    judgements = Judgements(
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
    )
    return judgements.without(judgements.identical) if ignore_identical_ids else judgements


def _check_names(qrels: Qrels, runs: Sequence[SearchRun], columns: Mapping[str, Column]) -> None:
    """Raise InputError for a run without judged candidates, and a column that names no query."""
    for run in runs:
        if run.candidates and {*qrels.candidates}.isdisjoint(run.candidates):
            raise InputError(
                f"{run.source}: none of its {len(run.candidates):,} candidates is judged in {qrels.source} "
                f"(first: {run.candidates[0]!r}; judged is for instance {qrels.candidates[0]!r}): name them "
                "alike"
            )
    for word, column in columns.items():
        if column and column.keys().isdisjoint(qrels.queries):
            raise InputError(
                f"{word}: none of its {len(column):,} queries (first: {next(iter(column))!r}) is one of "
                f"{qrels.source} (first: {qrels.queries[0]!r}): name them alike"
            )


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


def warn_of_identical(source: str, problem: str) -> None:
    """Warn where queries are candidates themselves."""
    warn(
        f"{source}: {problem}, where they find themselves: BEIR and MTEB leave such candidates out (ArguAna, "
        f"Quora); {parameter('ignore_identical_ids', True)} does"
    )


def _check_relevant(source: str, query: Ints, grade: Ints, n: int, least: int) -> None:
    """Raise InputError where no grade is at least `least`; warn of queries without such a grade."""
    if least < 1:
        raise InputError(f"{parameter('relevant_from')} must be at least 1, found {least}: 0 says irrelevant")
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
