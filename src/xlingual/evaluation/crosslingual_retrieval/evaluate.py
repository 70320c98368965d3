"""Cross-lingual retrieval (XLR): does a text retrieve its own item's text in the other language.

The ground truth that Backretrieval approximates; it needs items that have texts in both languages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal, Unpack

import numpy as np

from xlingual.data.manifest import DataOptions, Manifest, ManifestLike, takes_data
from xlingual.errors import InputError, parameter, warn
from xlingual.evaluation.crosslingual_retrieval.matches import First, matches_and_places
from xlingual.evaluation.crosslingual_retrieval.rankings import rankings
from xlingual.evaluation.estimates import score
from xlingual.evaluation.hubs import HUBS_OF
from xlingual.evaluation.near_duplicates import DECLARED
from xlingual.evaluation.neighbours import NeighbourTable
from xlingual.evaluation.numbers import Baseline, Numbers
from xlingual.evaluation.pair_hubs import PairHubs
from xlingual.evaluation.pair_run import PairRun, PairTask, by_pair
from xlingual.evaluation.rankings import Evaluated
from xlingual.evaluation.run import EncoderSpecs, Options, Progress, keeping_warnings
from xlingual.evaluation.run_systems import RunsLike, joined
from xlingual.evaluation.similarities import COSINE
from xlingual.evaluation.trec import write_trec
from xlingual.measures import (
    Measure,
    RankMeasure,
    Recall,
    RecallAt,
    SuccessAt,
    as_recall,
    as_success,
    parse_rank_measures,
)
from xlingual.ranking import Ranker, one_library_thread
from xlingual.records import RankCounts, TargetCounts
from xlingual.requests import answers
from xlingual.requests.evaluating import CrosslingualRetrievalRequest
from xlingual.results import Results
from xlingual.results.views import CrosslingualRetrievalViews
from xlingual.store import StoreLike, open_store

NAME = "crosslingual-retrieval"


@takes_data()
@answers(CrosslingualRetrievalRequest)
@keeping_warnings
def crosslingual_retrieval(
    manifest: ManifestLike,
    text_encoders: EncoderSpecs = (),
    *,
    runs: RunsLike = (),
    pairs: str | Sequence[str] | None = None,
    sample_size: int | None = None,
    or_fewer: bool = False,
    texts_per_item: int | Literal["all"] = "all",
    queries: int | None = None,
    splits: str | Path | None = None,
    seeds: int = 1,
    seed: int = 0,
    measures: str | Sequence[str | Measure] = (),
    threads: int = 1,
    ranker: Ranker | None = None,
    progress: Progress | None = None,
    store: StoreLike = "default",
    cluster: str = DECLARED,
    preset: str | None = None,
    similarity: str = COSINE,
    trec: str | Path | None = None,
    trec_depth: int | None = 1000,
    examples: bool = True,
    neighbours: bool = True,
    **columns: Unpack[DataOptions],
) -> Results:
    """Evaluate text encoders by true cross-lingual retrieval, over language pairs and seeds.

    Sources and targets are the texts of the same items: all items that have both languages, `sample_size` of
    them, or with `splits` the items of its rows `S`. With `queries` so many sources are queries, among all
    targets. Other arguments as in `backretrieval`; there are no images by which near-duplicates are found.

    `measures` are `R@k`, `Success@k`, `R@p%`, `Success@p%`, `RR`, `RR@k` and `MedR`. Where every item has one
    target text, R@k and Success@k are one number, called R@k. Where an item has several, R@k is the share of
    them among the first k and Success@k whether any is. Default: R@10 in the first case, Success@10 in the
    second.

    `trec` is a folder for runs and qrels, with the `trec_depth` best targets of each source (None: all).
    `examples`: keep texts (hubs) in the results. `neighbours`: keep the ten nearest targets of each query of
    the first sample, for `inspect`.

    Raises:
        InputError: data, specs or options are invalid; the text says what to do.

    """
    ranked = parse_rank_measures(measures)
    options = Options(
        *(pairs, sample_size, splits, seeds, seed, threads, progress),
        store=open_store(store),
        given_ranker=ranker,
        queries=queries,
        cluster=cluster,
        or_fewer=or_fewer,
        texts_per_item=texts_per_item,
        similarity=similarity,
    )
    run = PairRun(NAME, manifest, options, matching=True, takes_lists=True)
    run.prepare(joined(text_encoders, runs))
    if not several_answers(manifest, run.tasks):
        ranked = as_recall(ranked)
    elif not measures:
        ranked = as_success(ranked)
    return _evaluated(run, ranked, trec, trec_depth, examples=examples, neighbours=neighbours)


def several_answers(manifest: Manifest, tasks: Sequence[PairTask]) -> bool:
    """Return whether an item has several target texts in one of the tasks: then R@k and Success@k differ."""
    return any(np.bincount(manifest.item[task.sample.target]).max(initial=0) > 1 for task in tasks)


def _warn_of_set_recall(measures: Sequence[RankMeasure]) -> None:
    """Warn that R@k is set recall where items have several target texts."""
    recalls = [measure for measure in measures if isinstance(measure, Recall)]
    if not recalls:
        return
    (instead, *_), name = as_success(recalls), recalls[0].name
    warn(
        f"items have several target texts: {name} is the share of them that is found; for whether any is "
        f"found, ask for {instead.name}"
    )


def _evaluated(
    run: PairRun,
    measures: Sequence[RankMeasure],
    trec: str | Path | None,
    depth: int | None,
    *,
    examples: bool,
    neighbours: bool,
) -> Results:
    run.join_near_duplicates()
    refuse_small_pools(run.tasks, measures)
    if several_answers(run.manifest, run.tasks):
        _warn_of_set_recall(measures)
    numbers, hubs = Numbers(NAME, measures, run.subjects), PairHubs(run, examples)
    kept = NeighbourTable(NAME)
    for name, vectors in run.found():
        found: list[TargetCounts] = []
        looked: dict[int, First] = {}
        with run.stage("texts: rank"), one_library_thread():
            for (source, _), chosen in by_pair(run.tasks).items():
                matches, first = matches_and_places(
                    run.manifest,
                    vectors,
                    [run.tasks[number].sample for number in chosen],
                    ranker=run.options.ranker,
                    repair=run.repair(name, [source]),
                    progress=run.progress(f"ranking texts: {name}"),
                    tally=run.tally,
                    measures=measures,
                    first=HUBS_OF,
                    neighbours=neighbours,
                )
                found += matches
                looked |= {} if first is None else {chosen[0]: first}
        for number, targets in enumerate(found):
            for measure in measures:
                _enter(run, numbers, (name, number, measure), targets)
        for number, first in looked.items():
            subject, sample = numbers.subjects[number], run.tasks[number].sample
            key = name, measures[0].name, subject
            found_hubs = hubs.add(name, number, first.places, hubs.wrong_matches(number, first.places))
            numbers[key] = numbers[key].with_views(CrosslingualRetrievalViews(found_hubs))
            if first.neighbours is not None:
                kept.add(name, subject, first.neighbours, sample.source, sample.target)
    with run.stage("statistics", "computing intervals"):
        results = numbers.results(run.manifest)
    results.tables = hubs.table() | kept.table(run.manifest)
    results.evaluated = Evaluated(run.manifest, partial(rankings, run))
    if trec is not None:
        with run.stage("trec", "writing rankings"):
            write_trec(results, trec, depth)
    return run.finished(results)


def _enter(
    run: PairRun,
    numbers: Numbers,
    what: tuple[str, int, RankMeasure],
    targets: TargetCounts,
) -> None:
    """Enter the number of one encoder, task and measure."""
    (name, number, measure), counts = what, targets.best()
    task, subject = run.tasks[number], numbers.subjects[number]
    of_all = isinstance(measure, Recall) and several_answers(run.manifest, [task])
    values = (
        measure.per_query(targets) if isinstance(measure, Recall) and of_all else measure.per_query(counts)
    )
    clusters = [run.manifest.cluster[task.sample.source]]
    answers: dict[str, str] = {}
    by_chance = _chance_counts(run.manifest, task)
    if of_all:
        answers["answers"] = "several"
        # all are tied: each match is among the first k with the same chance, however many there are
        by_chance = replace(by_chance, relevant=np.ones_like(by_chance.relevant))
    baseline = Baseline(measure.aggregate(measure.per_query(by_chance)))
    numbers[name, measure.name, subject] = run.number(
        task,
        measure.name,
        name,
        score(measure, values, clusters),
        n_tied=counts.n_tied,
        baseline=baseline,
        conditions=answers,
    )
    numbers.add_queries(
        name,
        measure,
        subject,
        query=task.sample.source,
        above=counts.above,
        tied=counts.tied,
        value=values,
    )


def _chance_counts(manifest: Manifest, task: PairTask) -> RankCounts:
    """Return the counts of an encoder to which all targets are equal."""
    item, wanted = manifest.item[task.sample.target], manifest.item[task.sample.source]
    per_item = np.bincount(item, minlength=manifest.n_items)[wanted]
    pool = np.full(len(wanted), len(item))
    return RankCounts(np.zeros_like(pool), pool, per_item, pool)


def refuse_small_pools(tasks: Sequence[PairTask], measures: Sequence[RankMeasure]) -> None:
    """Raise InputError where every query would be a hit."""
    deepest = max(
        (m for m in measures if isinstance(m, RecallAt | SuccessAt)), key=lambda m: m.k, default=None
    )
    for task in tasks:
        if deepest is not None and deepest.k >= len(task.sample.target):
            raise InputError(
                f"{deepest.name} needs more than {deepest.k} target texts, pair "
                f"{task.source}-{task.target} has {len(task.sample.target)}: every query would be a hit; "
                f"give more items, a smaller k ({parameter('measures')}), or name other pairs "
                f"({parameter('pairs')})"
            )
