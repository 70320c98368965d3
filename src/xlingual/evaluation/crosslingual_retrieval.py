"""Cross-lingual retrieval (XLR): does a text retrieve its own item's text in the other language.

The ground truth that Backretrieval approximates; it needs items that have texts in both languages.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from xlingual.data.manifest import Manifest
from xlingual.errors import InputError
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
from xlingual.measures import Measure, RankMeasure, RecallAt, parse_rank_measures
from xlingual.ranking import Ranker, one_library_thread
from xlingual.records import RankCounts
from xlingual.results import Results
from xlingual.store import StoreLike, open_store

NAME = "crosslingual-retrieval"


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
    measures: Sequence[str | Measure] = ("R@10",),
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

    Raises:
        InputError: data, specs or options are not what they must be; the text says what to do.

    """
    ranked = parse_rank_measures(measures)
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
    with collected_warnings() as warnings:
        workspace = Workspace(NAME, manifest, options, text_encoders, matching=True)
        results = _evaluate(workspace, ranked)
    results.warnings = warnings
    return results


def _evaluate(workspace: Workspace, measures: Sequence[RankMeasure]) -> Results:
    workspace.join_near_duplicates()
    manifest, tasks = workspace.manifest, workspace.tasks
    refuse_small_pools(tasks, measures)
    ranker = approximate(workspace.options, measures)
    check = None if ranker is None else RetrievalCheck(ranker, manifest, tasks, measures, workspace.tally)
    table = ScoreTable(NAME, None, tasks, list(workspace.text_encoders), measures)
    per_query = PerQuery(manifest)
    for name, vectors in workspace.encoded():
        found: dict[int, RankCounts] = {}
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
        for number, counts in sorted(found.items()):
            for measure in measures:
                _score(workspace, table, per_query, name, number, measure, counts, check)
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
    counts: RankCounts,
    check: RetrievalCheck | None,
) -> None:
    """Enter one encoder's number of one task and measure."""
    task = workspace.tasks[number]
    ways = [workspace.manifest.cluster[task.sample.source]]
    sampled = None if check is None else check.sampled(name, number, measure, ways)
    conditions = {} if check is None else check.conditions(number, sampled)
    signature = workspace.signature(task, measure.name, name, **conditions)
    searched = None if check is None else check.searched(name, number, sampled)
    if sampled is not None:
        values = sampled.values
        scored = Scored(sampled.score, None, signature, sampled.note, searched)
    else:
        values = measure.per_query(counts)
        found = score(measure, values, ways)
        if check is not None:
            found = check.checked(name, number, measure, found, values)
        tied = int((counts.tied > counts.relevant).sum())
        scored = Scored(found, tied, signature, searched=searched)
    table.scored[name, measure.name, number] = scored
    by_chance = measure.per_query(_chance_counts(workspace.manifest, task))
    table.baselines[measure.name, number] = Baseline(chance=measure.aggregate(by_chance))
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
    depth = max((m.k for m in measures if isinstance(m, RecallAt)), default=0)
    for task in tasks:
        if depth >= len(task.sample.target):
            raise InputError(
                f"R@{depth} needs more than {depth} target texts, pair {task.source}-{task.target} has "
                f"{len(task.sample.target)}: every query would be a hit; give more items, a smaller k "
                "(--measure R@k), or name other pairs (--pairs)"
            )
