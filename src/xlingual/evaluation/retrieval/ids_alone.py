"""Runs of search engines against judgements where there are no texts: queries and candidates are ids."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.names import UNKNOWN, Names
from xlingual.data.runs import SearchRun
from xlingual.data.runs.qrels import Qrels, QrelsLike
from xlingual.data.tags import tag_of
from xlingual.errors import InputError, parameter, warn
from xlingual.evaluation.listed import check_reach
from xlingual.evaluation.perquery import QueryRows
from xlingual.evaluation.retrieval.counted import counted_lists
from xlingual.evaluation.retrieval.judgements import EXPECTED, TREC, Judgements, check_ties
from xlingual.evaluation.retrieval.numbers import ALL, POOL, RetrievalNumbers
from xlingual.evaluation.run import Options, Progress, Run, keeping_warnings
from xlingual.measures import Bpref, Measure, RetrievalMeasure, parse_retrieval_measures
from xlingual.measures.rank import DepthShare
from xlingual.results import Results
from xlingual.systems import RunSystem, Search

RunLike: TypeAlias = "SearchRun | str"
NAME = "retrieval"


@keeping_warnings
def runs_against_qrels(
    qrels: QrelsLike,
    runs: Mapping[str, RunLike],
    *,
    measures: str | Sequence[str | Measure] = ("nDCG@10",),
    relevant_from: int = 1,
    ties: str = EXPECTED,
    clusters: Mapping[str, str] | None = None,
    labels: Mapping[str, Mapping[str, str]] | None = None,
    progress: Progress | None = None,
) -> Results:
    """Evaluate runs by judgements; `retrieval` without texts, so without encoders and without chance.

    Args:
        qrels: a file in TREC's or BEIR's form, or {query: {candidate: grade}}.
        runs: files of runs, or `SearchRun`, by name.
        measures: as of `retrieval`; R@p% and Success@p% need all candidates, which are not known here.
        relevant_from: grade from which a candidate is relevant.
        ties: as of `retrieval`. With "trec" queries without a relevant candidate count as 0, as in trec_eval
            -c; else they are left out.
        clusters: of each query: queries of one cluster are not independent; None: all are.
        labels: columns that divide queries into parts, {column: {query: label}}. Where the names of all
            queries are language:id, the column "language" is known.
        progress: called with (what, done, total).

    Raises:
        InputError: judgements, runs or options are not what they must be; the text says what to do.

    """
    chosen = _chosen(measures)
    check_ties(ties)
    if relevant_from < 1:
        raise InputError(f"{parameter('relevant_from')} must be at least 1, found {relevant_from}")
    if not isinstance(runs, Mapping) or not runs:
        raise InputError("runs must be {name: run}: give at least one")
    read = {name: SearchRun.of(one) for name, one in runs.items()}
    judged, names = _judgements(Qrels.of(qrels), read, relevant_from, ties, clusters or {}, labels or {})
    run = Run(NAME, Options(progress=progress))
    run.fit({name: RunSystem(one) for name, one in read.items()})
    numbers = RetrievalNumbers(run, judged, chosen, ties, {})
    rows = np.arange(judged.n), np.arange(judged.m)
    for name, system in run.by_name.items():
        with run.stage("runs: look up", f"looking candidates up: {name}"):
            assert isinstance(system, RunSystem)
            lists = system.lists(Search(*names, *rows, ALL, POOL, 0, ties=ties))
            if ties == EXPECTED:
                check_reach(lists, [one for one in chosen if not isinstance(one, Bpref)], repr(name))
            numbers.add(name, counted_lists(judged, lists, chosen))
    with run.stage("statistics", "computing intervals"):
        return run.finished(numbers.results(), ranked=False)


class _Ids(Names):
    """Names that are ids alone."""

    def __init__(self, place: Mapping[str, int]) -> None:
        super().__init__((), ())
        self._place = place

    def __len__(self) -> int:
        return len(self._place)

    def rows(self, names: Sequence[str], language: str | None = None) -> Ints:
        """Return the row of each name, int64; `UNKNOWN` where there is none."""
        return np.array([self._place.get(name, UNKNOWN) for name in names], dtype=np.int64)


def _chosen(measures: str | Sequence[str | Measure]) -> list[RetrievalMeasure]:
    found = parse_retrieval_measures(measures)
    for measure in found:
        if isinstance(measure, DepthShare):
            raise InputError(
                f"{measure.name} is of a share of all candidates, which runs and judgements alone do not "
                "name: ask for R@k or Success@k, or evaluate retrieval on a pool"
            )
    return found


def _judgements(
    qrels: Qrels,
    runs: Mapping[str, SearchRun],
    least: int,
    ties: str,
    clusters: Mapping[str, str],
    labels: Mapping[str, Mapping[str, str]],
) -> tuple[Judgements, tuple[_Ids, _Ids]]:
    """Return the judgements of the queries that count, and what runs call queries and candidates."""
    n = len(qrels.queries)
    right = np.bincount(qrels.query[qrels.grade >= least], minlength=n) > 0
    kept = np.arange(n) if ties == TREC else np.flatnonzero(right)
    if not right.any():
        raise InputError(f"{qrels.source}: no judgement has a grade of {least} or more")
    if lost := n - int(right.sum()):
        fate = "count as 0, as in trec_eval -c" if ties == TREC else "are left out"
        warn(f"{qrels.source}: {lost:,} of {n:,} queries have no relevant candidate and {fate}")
    place = np.full(n, -1)
    place[kept] = np.arange(len(kept))
    names = [qrels.queries[row] for row in kept.tolist()]
    candidates = {name: row for row, name in enumerate(qrels.candidates)}
    for run in runs.values():
        for name in run.candidates:
            candidates.setdefault(name, len(candidates))
    query, candidate = place[qrels.query], qrels.candidate
    order = np.lexsort((candidate, query))
    order = order[query[order] >= 0]
    languages, codes = _languages(names)
    more = {name: [column.get(query) for query in names] for name, column in labels.items()}
    spoken = {"language": [languages[code] for code in codes.tolist()]} if languages else {}
    number: dict[str, int] = {}
    rows = QueryRows(
        names,
        np.arange(len(names)),
        names,
        np.array(
            [number.setdefault(clusters.get(name, f"\0{name}"), len(number)) for name in names],
            dtype=np.int64,
        ),
        {**spoken, **more},
    )
    found = Judgements(
        rows,
        query[order],
        candidate[order],
        qrels.grade[order],
        codes,
        np.zeros(len(candidates), dtype=np.int64),
        languages,
        least,
        _digest(names, qrels.candidates),
        known=False,
    )
    return found, (_Ids({name: row for row, name in enumerate(names)}), _Ids(candidates))


def _languages(names: Sequence[str]) -> tuple[tuple[str, ...], Ints]:
    """Return the languages of queries that are named language:id; none where one is not."""
    found: dict[str, int] = {}
    codes = np.zeros(len(names), dtype=np.int64)
    for row, name in enumerate(names):
        tag, colon, _ = name.partition(":")
        if not colon or tag_of(tag) != tag:
            return (), np.zeros(len(names), dtype=np.int64)
        codes[row] = found.setdefault(tag, len(found))
    return tuple(found), codes


def _digest(*columns: Sequence[str]) -> str:
    """Return a hash of the names of queries and judged candidates: runs have further ones, each its own."""
    hasher = hashlib.blake2b(b"xlingual/qrels/1", digest_size=16)
    for column in columns:
        raw = [name.encode("utf-8", "surrogatepass") for name in column]
        hasher.update(np.array([len(raw), *map(len, raw)], dtype="<i8").tobytes() + b"".join(raw))
    return hasher.hexdigest()
