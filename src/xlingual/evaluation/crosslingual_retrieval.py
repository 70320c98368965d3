"""Cross-lingual retrieval (XLR): does a text retrieve its own item's text in the other language.

The ground truth that Backretrieval approximates; it needs items that have texts in both languages.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from xlingual.data.manifest import Manifest
from xlingual.errors import DataWarning, InputError
from xlingual.evaluation.approximation.choice import approximate
from xlingual.evaluation.approximation.retrieval import RetrievalCheck
from xlingual.evaluation.matches import rank_matches
from xlingual.evaluation.near_duplicates import DECLARED
from xlingual.evaluation.perquery import PerQuery
from xlingual.evaluation.scores import score
from xlingual.evaluation.setup import (
    EncoderSpecs,
    Options,
    Report,
    Task,
    Workspace,
    by_pair,
    collected_warnings,
)
from xlingual.evaluation.summary import Baseline, Scored, ScoreTable
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
from xlingual.store import StoreLike, open_store

NAME = "crosslingual-retrieval"


@answers(CrosslingualRetrievalRequest)
def crosslingual_retrieval(
    manifest: Manifest,
    *,
    text_encoders: EncoderSpecs,
    pairs: str | Sequence[str] | None = None,
    sample_size: int | None = None,
    queries: int | None = None,
    splits: str | Path | None = None,
    seeds: int = 1,
    seed: int = 0,
    measures: str | Sequence[str | Measure] = (),
    threads: int = 1,
    ranker: Ranker | None = None,
    progress: Report | None = None,
    store: StoreLike = "default",
    cluster: str = DECLARED,
) -> Results:
    """Evaluate text encoders by true cross-lingual retrieval, over language pairs and seeds.

    Sources and targets are the texts of the same items: all items that have both languages, `sample_size` of
    them, or with `splits` the items of its rows `S`. With `queries` so many sources are asked, among all
    targets. Other arguments as in `backretrieval`; there are no images by which near-duplicates are found.

    `measures` are `R@k`, `Success@k`, `R@p%`, `Success@p%`, `RR`, `RR@k` and `MedR`. Where every item has one
    target text, R@k and Success@k are one number, called R@k. Where an item has several, R@k is the share of
    them among the first k and Success@k whether any is. Default: R@10 in the first case, Success@10 in the
    second.

    Raises:
        InputError: data, specs or options are not what they must be; the text says what to do.

    """
    ranked = parse_rank_measures(measures)
    named = bool(measures)
    options = Options(
        pairs,
        sample_size,
        splits,
        seeds,
        seed,
        threads,
        progress,
        store=open_store(store),
        given_ranker=ranker,
        queries=queries,
        cluster=cluster,
    )
    with collected_warnings() as told:
        workspace = Workspace(NAME, manifest, options, text_encoders, matching=True)
        if not several_answers(manifest, workspace.tasks):
            ranked = as_recall(ranked)
        elif not named:
            ranked = as_success(ranked)
        results = _evaluate(workspace, ranked)
    results.warnings = told
    return results


def several_answers(manifest: Manifest, tasks: Sequence[Task]) -> bool:
    """Tell whether an item has several target texts in one of the tasks, so that R@k and Success@k differ."""
    return any(np.bincount(manifest.item[task.sample.target]).max(initial=0) > 1 for task in tasks)


def _tell_set_recall(measures: Sequence[RankMeasure], *, searched: bool) -> None:
    """Warn that R@k is set recall where items have several target texts; refuse it of a search."""
    recalls = [measure for measure in measures if isinstance(measure, Recall)]
    if not recalls:
        return
    (instead, *_), name = as_success(recalls), recalls[0].name
    if searched:
        raise InputError(
            f"{name} needs the rank of every target text of an item, and a search finds only the best "
            f"candidates: ask for {instead.name} (whether any is among them), or leave out --approximate"
        )
    warnings.warn(
        f"items have several target texts: {name} is the share of them that is found; for whether any is "
        f"found, ask for {instead.name}",
        DataWarning,
        stacklevel=3,
    )


def _evaluate(workspace: Workspace, measures: Sequence[RankMeasure]) -> Results:
    workspace.join_near_duplicates()
    manifest, tasks = workspace.manifest, workspace.tasks
    refuse_small_pools(tasks, measures)
    ranker = approximate(workspace.options, measures)
    if several_answers(manifest, tasks):
        _tell_set_recall(measures, searched=ranker is not None)
    check = None if ranker is None else RetrievalCheck(ranker, manifest, tasks, measures, workspace.tally)
    table = ScoreTable(NAME, None, tasks, list(workspace.text_encoders), measures)
    per_query = PerQuery(manifest)
    for name, vectors in workspace.encoded():
        found: dict[int, TargetCounts] = {}
        with workspace.timings.stage("texts: rank"), one_library_thread():
            for numbers in by_pair(tasks).values():
                ranked = rank_matches(
                    manifest,
                    vectors,
                    [tasks[number].sample for number in numbers],
                    ranker=workspace.options.ranker,
                    progress=workspace.options.report,
                    what=f"ranking texts: {name}",
                    tally=workspace.tally,
                )
                found.update(zip(numbers, ranked, strict=True))
        if check is not None:
            with workspace.timings.stage("texts: check"), one_library_thread():
                check.texts(name, vectors)
        for number, targets in sorted(found.items()):
            counts = targets.best()
            for measure in measures:
                _score(workspace, table, per_query, name, number, measure, targets, counts, check)
    with workspace.timings.stage("statistics"), workspace.working("computing intervals"):
        results = Results(table.entries(), table.summaries(), per_query.table())
    return workspace.finished(results)


def _score(
    workspace: Workspace,
    table: ScoreTable,
    per_query: PerQuery,
    name: str,
    number: int,
    measure: RankMeasure,
    targets: TargetCounts,
    counts: RankCounts,
    check: RetrievalCheck | None,
) -> None:
    """Enter one encoder's number of one task and measure."""
    task = workspace.tasks[number]
    by_chance = _chance_counts(workspace.manifest, task)
    of_all = isinstance(measure, Recall) and several_answers(workspace.manifest, [task])
    ways = [workspace.manifest.cluster[task.sample.source]]
    sampled = None if check is None else check.sampled(name, number, measure, ways)
    conditions = {} if check is None else dict(check.conditions(number, sampled))
    if of_all:
        conditions["answers"] = "several"
    signature = workspace.signature(task, measure.name, name, **conditions)
    searched = None if check is None else check.searched(name, number, sampled)
    if sampled is not None:
        values = sampled.values
        scored = Scored(sampled.score, None, signature, sampled.note, searched)
    else:
        values = (
            measure.per_query(targets)
            if isinstance(measure, Recall) and of_all
            else measure.per_query(counts)
        )
        found = score(measure, values, ways)
        if check is not None:
            found = check.checked(name, number, measure, found, values)
        tied = int((counts.tied > counts.relevant).sum())
        scored = Scored(found, tied, signature, searched=searched)
    table.scored[name, measure.name, number] = scored
    if of_all:  # all are tied: each match is among the first k with the same chance, however many there are
        by_chance = replace(by_chance, relevant=np.ones_like(by_chance.relevant))
    chance = measure.aggregate(measure.per_query(by_chance))
    table.baselines[measure.name, number] = Baseline(chance=chance)
    per_query.add(
        workspace.labels(task, name, measure.name),
        task.sample.seed,
        query=task.sample.source,
        retrieved=None,
        above=None if sampled else counts.above,
        tied=None if sampled else counts.tied,
        value=values,
    )


def _chance_counts(manifest: Manifest, task: Task) -> RankCounts:
    """Return the counts of an encoder to which all targets are equal."""
    item, wanted = manifest.item[task.sample.target], manifest.item[task.sample.source]
    per_item = np.bincount(item, minlength=manifest.n_items)[wanted]
    pool = np.full(len(wanted), len(item))
    return RankCounts(np.zeros_like(pool), pool, per_item, pool)


def refuse_small_pools(tasks: Sequence[Task], measures: Sequence[RankMeasure]) -> None:
    """Raise InputError where every query would be a hit."""
    deepest = max(
        (m for m in measures if isinstance(m, RecallAt | SuccessAt)), key=lambda m: m.k, default=None
    )
    for task in tasks:
        if deepest is not None and deepest.k >= len(task.sample.target):
            raise InputError(
                f"{deepest.name} needs more than {deepest.k} target texts, pair "
                f"{task.source}-{task.target} has {len(task.sample.target)}: every query would be a hit; "
                "give more items, a smaller k (--measure), or name other pairs (--pairs)"
            )
