"""The loop of every evaluation: a task yields what each encoder ranked; numbers, tables and files follow.

A task is a stream of `Ranked`, one for each encoder and subject (a language pair and seed, a language, a
pool). The loop enters values, expected ties, intervals, chance and baselines, signatures, the rows of single
queries, hubs, neighbours and TREC files, all from what the task yields once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.evaluation.estimates import Estimate, score
from xlingual.evaluation.hubs import HubTable, NamedHubs
from xlingual.evaluation.neighbours import Neighbours, NeighbourTable
from xlingual.evaluation.numbers import Baseline, Numbers, Subject
from xlingual.evaluation.perquery import QuerySource
from xlingual.evaluation.run import Run
from xlingual.evaluation.trec import Ranking, check_depth, folder_of, unfinished, warn_of_size, write_ranking
from xlingual.measures import MeanImageSimilarity, QueryMeasure
from xlingual.results import Results
from xlingual.results.views import Views


@dataclass(frozen=True)
class Recording:
    """What results hold beside their numbers, and where TREC files are written."""

    examples: bool = True  # texts and thumbnails, for reports
    neighbours: bool = True  # the nearest candidates of each query, for `inspect`
    trec: str | Path | None = None  # folder for runs and qrels
    trec_depth: int | None = 1000  # candidates of each query in a run, None for all

    def __post_init__(self) -> None:
        if self.trec is not None:
            check_depth(self.trec_depth)


@dataclass(frozen=True)
class Ranked:
    """What one encoder ranked for one subject: n queries, and what each measure says of them."""

    encoder: str
    subject: Subject
    queries: Ints  # [n] rows of the data
    clusters: Sequence[Ints]  # [n] each: queries of one cluster are not independent
    n_candidates: int
    values: Mapping[str, Floats]  # by measure [n]; NaN for a query without a value
    baselines: Mapping[str, Baseline]  # by measure
    conditions: Mapping[str, str]  # the task's words in signatures
    conditions_of: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # further ones, by measure
    system: Mapping[str, str] = field(default_factory=dict)  # further words on the encoder in signatures
    estimates: Mapping[str, Estimate] = field(default_factory=dict)  # numbers that are no scores of `values`
    parts: Mapping[str, Mapping[str, Estimate]] = field(default_factory=dict)  # by measure, then language
    above: Ints | None = None  # [n] candidates above the best relevant one; −1: not known, or several
    tied: Ints | None = None  # [n] candidates that tie with it, itself included
    retrieved: Ints | None = None  # [n] rows of the data, −1 for none or several
    n_tied: int | None = None  # queries with a tie that matters
    notes: Mapping[str, str] = field(default_factory=dict)  # by measure: why it has no number, or how it came
    ties: str | None = "expected"  # how ties are counted, None where nothing is ranked
    views: Mapping[str, Views | None] = field(default_factory=dict)  # further findings, by measure
    hubs: NamedHubs | None = None
    neighbours: Neighbours | None = None
    candidates: Ints | None = None  # [m] rows of the data, where there are neighbours
    ranking: Callable[[], Ranking] | None = None  # what a TREC file lists


def evaluate(
    run: Run,
    numbers: Numbers,
    stream: Iterable[Ranked],
    rows: QuerySource | None,
    recording: Recording,
    *,
    candidate_ids: Sequence[str] | None = None,
    compare: Callable[[], None] = lambda: None,
) -> Results:
    """Turn what encoders ranked into results.

    `rows` names the rows of the data, None where there are none; `candidate_ids` names candidates where these
    are other rows. `compare` is called once all numbers are entered, and adds what compares them.
    """
    hubs, nearest, trec = HubTable(run.task, recording.examples), NeighbourTable(run.task), recording.trec
    several_seeds = len({subject.seed for subject in numbers.subjects}) > 1
    with nullcontext() if trec is None else unfinished(trec) as folder:
        for place, ranked in enumerate(stream):
            encoder, subject, depth = ranked.encoder, ranked.subject, recording.trec_depth
            with run.stage("statistics"):
                enter(run, numbers, ranked)
            if ranked.hubs is not None:
                hubs.add(encoder, subject, ranked.hubs)
            if recording.neighbours and ranked.neighbours is not None and ranked.candidates is not None:
                nearest.add(encoder, subject, ranked.neighbours, ranked.queries, ranked.candidates)
            if folder is None or ranked.ranking is None:
                continue
            if place == 0:
                size = ranked.n_candidates if depth is None else min(depth, ranked.n_candidates)
                warn_of_size(len(ranked.queries) * size * len(numbers.subjects), len(run.by_name))
            with run.stage("trec", f"writing rankings: {encoder}"):
                own = folder / folder_of(subject.source, subject.target, subject.seed, several_seeds)
                write_ranking(own, ranked.ranking(), encoder, depth)
    with run.stage("statistics", "computing intervals"):
        compare()
        results = numbers.results(rows)
    results.tables = hubs.table() | ({} if rows is None else nearest.table(rows.ids, candidate_ids))
    return run.finished(results)


def enter(run: Run, numbers: Numbers, ranked: Ranked) -> None:
    """Enter the numbers of all measures, and the queries that they are means of."""
    subject = ranked.subject
    system = {**run.system(ranked.encoder, subject.place, ranked.ties or "expected"), **ranked.system}
    for measure in numbers.measures:
        name = measure.name
        values = ranked.values.get(name)
        chosen = np.arange(len(ranked.queries)) if values is None else np.flatnonzero(~np.isnan(values))
        estimate = ranked.estimates.get(name)
        if estimate is None and values is not None:
            ways = [way[chosen] for way in ranked.clusters]
            estimate = score(cast("QueryMeasure", measure), values[chosen], ways)
        conditions = {**ranked.conditions, **ranked.conditions_of.get(name, {})}
        fields = {
            "encoder": ranked.encoder,
            "measure": name,
            "signature": run.signature(conditions, name, ranked.ties, **system),
            "n_source": len(chosen),
            "n_target": ranked.n_candidates,
            "n_tied": ranked.n_tied,
            "note": ranked.notes.get(name),
            "views": ranked.views.get(name),
        }
        baseline = ranked.baselines.get(name, Baseline())
        numbers.enter(fields, subject, estimate, baseline, ranked.parts.get(name, {}))
        if values is None:
            continue
        columns = {"query": ranked.queries, "retrieved": ranked.retrieved, "value": values}
        if not isinstance(measure, MeanImageSimilarity):  # which is no function of ranks
            columns |= {"above": ranked.above, "tied": ranked.tied}
        taken = {key: None if column is None else column[chosen] for key, column in columns.items()}
        labels = (numbers.task, ranked.encoder, subject.source, subject.target, name)
        numbers.per_query.add(labels, subject.seed, taken)
