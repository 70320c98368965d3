"""Runs of search engines against judgements where there are no texts: queries and candidates are ids."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.languages import tag_of
from xlingual.data.names import UNKNOWN, Names
from xlingual.data.runs import SearchRun
from xlingual.data.runs.qrels import Qrels, QrelsLike
from xlingual.data.runs.search_run import by_name, names_bytes, sorted_names
from xlingual.errors import InputError, parameter, warn
from xlingual.evaluation.listed import check_reach
from xlingual.evaluation.perquery import QueryRows
from xlingual.evaluation.retrieval.counted import counted_lists
from xlingual.evaluation.retrieval.judgements import (
    EXPECTED,
    Judgements,
    check_ties,
    identical_ids,
    warn_of_own_ids,
    warn_of_unanswered,
    without_identical,
)
from xlingual.evaluation.retrieval.numbers import ALL, POOL, RetrievalNumbers
from xlingual.evaluation.run import Options, Progress, Run, keeping_warnings
from xlingual.evaluation.run_systems import RunsLike, RunSystem, Search, joined, systems
from xlingual.measures import Bpref, Measure, RetrievalMeasure, parse_retrieval_measures
from xlingual.measures.rank import DepthShare
from xlingual.results import Results

if TYPE_CHECKING:
    import pyarrow as pa

NAME = "retrieval"


@keeping_warnings
def runs_against_qrels(
    qrels: QrelsLike,
    runs: RunsLike,
    *,
    measures: str | Sequence[str | Measure] = ("nDCG@10",),
    relevant_from: int = 1,
    ties: str = EXPECTED,
    ignore_identical_ids: bool = False,
    clusters: Mapping[str, str] | None = None,
    labels: Mapping[str, Mapping[str, str]] | None = None,
    progress: Progress | None = None,
) -> Results:
    """Evaluate runs by judgements; `retrieval` without texts, so without encoders and without chance.

    Args:
        qrels: a file in TREC's or BEIR's form, or {query: {candidate: grade}}.
        runs: as of `retrieval`: {name: file, SearchRun or {query: {candidate: score}}}, or [NAME=]FILE.
        measures: as of `retrieval`; R@p% and Success@p% need all candidates, which are not known here.
        relevant_from: grade from which a candidate is relevant; queries without such a one count as 0.
        ties: as of `retrieval`.
        ignore_identical_ids: as of `retrieval`.
        clusters: of each query: queries of one cluster are not independent. Others are, but for equal ids in
            several languages.
        labels: columns that divide queries into parts, {column: {query: label}}. Where the names of all
            queries are language:id, the column "language" is known.
        progress: called with (what, done, total).

    Raises:
        InputError: judgements, runs or options are invalid; the text says what to do.

    """
    chosen = _chosen(measures)
    check_ties(ties)
    if relevant_from < 1:
        raise InputError(f"{parameter('relevant_from')} must be at least 1, found {relevant_from}")
    run = Run(NAME, Options(progress=progress))
    with run.stage("runs: read", "reading runs"):
        read = _read(runs)
        found = {name: system.run_of(_NOWHERE) for name, system in read.items()}
    judged, names = _judgements(Qrels.of(qrels), found, relevant_from, clusters or {}, labels or {})
    pairs = identical_ids(*(_bare(side.ids, judged.languages) for side in names))
    if ignore_identical_ids:
        judged = without_identical(judged, pairs)
    run.fit(read)
    numbers = RetrievalNumbers(run, judged, chosen, ties, {})
    rows = np.arange(judged.n), np.arange(judged.m)
    for name, system in read.items():
        with run.stage("systems: rank", f"ranking candidates: {name}"):
            lists = system.lists(Search(*names, *rows, ALL, POOL, 0, called="the judgements", ties=ties))
            if ties == EXPECTED:
                reaching = [one for one in chosen if not isinstance(one, Bpref)]
                check_reach(lists, reaching, repr(name), "nDCG", behind="is missed")
            run.count_unanswered(name, ALL, POOL, 0, lists)
            if ties == EXPECTED:  # how many candidates there are depends on the other runs
                lists = replace(lists, ended=np.ones_like(lists.ended))
            if not ignore_identical_ids:
                line = lists.lines(*pairs)
                warn_of_own_ids(found[name].source, int((lists.level[line[line >= 0]] == 0).sum()), judged.n)
            numbers.add(name, counted_lists(judged, lists))
    with run.stage("statistics", "computing intervals"):
        return run.finished(numbers.results(), ranked=False)


class _Ids(Names):
    """Names that are ids alone."""

    def __init__(self, place: Mapping[str, int]) -> None:
        super().__init__((), ())
        self._place = place

    def __len__(self) -> int:
        return len(self._place)

    @property
    def ids(self) -> Sequence[str]:
        """The names."""
        return list(self._place)

    def rows(self, names: Sequence[str], language: str | None = None) -> Ints:
        """Return the row of each name, int64; `UNKNOWN` where there is none."""
        return np.array([self._place.get(name, UNKNOWN) for name in names], dtype=np.int64)


_NOWHERE = Search(_Ids({}), _Ids({}), *(np.arange(0),) * 2, ALL, POOL, 0)  # a run's file is of no languages


def _read(runs: RunsLike) -> dict[str, RunSystem]:
    found = {}
    for name, one in systems(joined((), runs), languages=()).items():
        if not isinstance(one, RunSystem):
            raise InputError(
                f"{name!r} is no run: without texts only runs can be judged; evaluate retrieval on a pool"
            )
        found[name] = one
    return found


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
    clusters: Mapping[str, str],
    labels: Mapping[str, Mapping[str, str]],
) -> tuple[Judgements, tuple[_Ids, _Ids]]:
    """Return the judgements of the queries that count, and what runs call queries and candidates."""
    n = len(qrels.queries)
    right = np.bincount(qrels.query[qrels.grade >= least], minlength=n) > 0
    known, kept = sorted_names(qrels.queries)  # whatever the order of lines
    judged, judged_code = by_name(qrels.candidates, qrels.candidate)
    if not right.any():
        raise InputError(f"{qrels.source}: no judgement has a grade of {least} or more")
    if lost := n - int(right.sum()):
        warn_of_unanswered(qrels.source, lost, n, least)
    place = np.full(n, -1)
    place[kept] = np.arange(len(kept))
    names = [qrels.queries[row] for row in kept.tolist()]
    place_of = {name: row for row, name in enumerate(names)}
    candidates = {raw.decode("utf-8", "surrogatepass"): row for row, raw in enumerate(judged.to_pylist())}
    for run in runs.values():
        _refuse_unjudged(run, qrels)
        for name in run.candidates:
            candidates.setdefault(name, len(candidates))
    query, candidate = place[qrels.query], judged_code
    order = np.lexsort((candidate, query))
    languages, codes = _languages(names)
    for what, column in {"clusters": clusters, **labels}.items():
        if column and not column.keys() & place_of.keys():
            raise InputError(
                f"{what}: none of its {len(column):,} queries (first: {next(iter(column))!r}) is one of "
                f"{qrels.source} (first: {names[0]!r}): name them alike"
            )
    if clusters and (lost := len(place_of.keys() - clusters.keys())):
        of = f"{lost:,} of {len(names):,} queries of {qrels.source}"
        warn(f"clusters: {of} have none: these count as independent of the others")
    bare = _bare(names, languages)
    more = {name: [column.get(query) for query in names] for name, column in labels.items()}
    spoken = {"language": [languages[code] for code in codes.tolist()]} if languages else {}
    number: dict[tuple[bool, str], int] = {}
    rows = QueryRows(
        names,
        np.arange(len(names)),
        names,
        np.array(
            [
                number.setdefault((name in clusters, clusters.get(name, own)), len(number))
                for name, own in zip(names, bare, strict=True)
            ],
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
        _digest(known, judged),
        known=False,
    )
    return found, (_Ids(place_of), _Ids(candidates))


def _bare(names: Sequence[str], languages: Sequence[str]) -> list[str]:
    """Return the ids of names that may be language:id."""
    parts = [name.partition(":") if languages else (name, "", "") for name in names]
    return [bare if mark and tag_of(tag) == tag else f"{tag}{mark}{bare}" for tag, mark, bare in parts]


def _refuse_unjudged(run: SearchRun, qrels: Qrels) -> None:
    """Raise InputError where no candidate of a run is judged."""
    if run.candidates and not {*qrels.candidates} & {*run.candidates}:
        raise InputError(
            f"{run.source}: none of its {len(run.candidates):,} candidates is judged in {qrels.source} "
            f"(first: {run.candidates[0]!r}; judged is for instance {qrels.candidates[0]!r}): name them alike"
        )


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


def _digest(*columns: pa.Array) -> str:
    """Return a hash of the names of queries and judged candidates: runs have further ones, each its own."""
    hasher = hashlib.blake2b(b"xlingual/qrels/2", digest_size=16)
    for column in columns:
        hasher.update(names_bytes(column))
    return hasher.hexdigest()
