"""Cross-lingual retrieval (XLR): does a text retrieve its own item's text in the other language.

The ground truth that Backretrieval approximates; it needs items that have texts in both languages.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from xlingual.data.manifest import Manifest
from xlingual.data.samples import Sample
from xlingual.embed import TextVectors
from xlingual.errors import InputError
from xlingual.evaluation.nearest import TextUnion
from xlingual.evaluation.perquery import PerQuery
from xlingual.evaluation.ragged import members
from xlingual.evaluation.scores import score
from xlingual.evaluation.setup import (
    EncoderSpecs,
    Options,
    Report,
    Tally,
    Task,
    Workspace,
    by_pair,
    collected_warnings,
    one_pass,
)
from xlingual.evaluation.summary import Baseline, Scored, ScoreTable
from xlingual.measures import Measure, RankMeasure, RecallAt, parse_rank_measures
from xlingual.ranking import CPU, Counts, Ranker, one_library_thread
from xlingual.records import Ints, RankCounts, TargetCounts
from xlingual.results import Results
from xlingual.store import StoreLike, open_store

NAME = "crosslingual-retrieval"


def crosslingual_retrieval(
    manifest: Manifest,
    *,
    text_encoders: EncoderSpecs,
    pairs: str | Sequence[str] | None = None,
    sample_size: int | None = None,
    splits: str | Path | None = None,
    seeds: int = 1,
    seed: int = 0,
    measures: Sequence[str | Measure] = ("R@10",),
    threads: int = 1,
    ranker: Ranker | None = None,
    progress: Report | None = None,
    store: StoreLike = "default",
) -> Results:
    """Evaluate text encoders by true cross-lingual retrieval, over language pairs and seeds.

    Sources and targets are the texts of the same items: all items that have both languages, `sample_size` of
    them, or with `splits` the items of its rows `S`. Other arguments as in `backretrieval`.

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
    )
    with collected_warnings() as warnings:
        workspace = Workspace(NAME, manifest, options, text_encoders, matching=True)
        results = _evaluate(workspace, ranked)
    results.warnings = warnings
    return results


def rank_matches(
    manifest: Manifest,
    vectors: TextVectors,
    samples: Sequence[Sample],
    *,
    ranker: Ranker = CPU,
    progress: Report | None = None,
    what: str = "ranking texts",
    tally: Tally | None = None,
) -> list[RankCounts]:
    """Return where the best matching target of each source stands, for each sample of one language pair."""
    if not one_pass([(sample.source, sample.target) for sample in samples]):
        return [
            rank_matches(manifest, vectors, [s], ranker=ranker, progress=progress, what=what, tally=tally)[0]
            for s in samples
        ]
    union = TextUnion(vectors, samples)
    requests = match_requests(union, samples, manifest)
    ranker.scan(
        union.similarity,
        [request.counts for request in requests],
        progress=None if progress is None else lambda done, total: progress(what, done, total),
    )
    if tally is not None:
        tally.add(union.similarity)
    return [request.result() for request in requests]


class MatchRequest:
    """What a pass over a union has to find out about the matches of one sample."""

    def __init__(self, union: TextUnion, sample: Sample, manifest: Manifest) -> None:
        self._sample = sample
        self._query, match = members(manifest.item[sample.target], manifest.item[sample.source])
        source, self._target = union.codes(sample)
        self._width = len(union.targets.vectors)
        self.pairs = source[self._query] * self._width + self._target[match]  # of distinct vectors

    def decide(self, keys: Ints) -> None:
        """Take the exact keys of the pairs; from here on `counts` can be filled."""
        weights = np.bincount(self._target, minlength=self._width)
        self.counts = Counts(*np.divmod(self.pairs, self._width), keys, weights=weights)

    def result(self) -> RankCounts:
        """Return where the best match of each source stands, after the pass."""
        n, pool = len(self._sample.source), len(self._sample.target)
        found = TargetCounts(self._query, self.counts.above, self.counts.tied, np.full(n, pool))
        return found.best()


def match_requests(union: TextUnion, samples: Sequence[Sample], manifest: Manifest) -> list[MatchRequest]:
    """Return the requests of some samples; a pair that several of them hold is scored once."""
    requests = [MatchRequest(union, sample, manifest) for sample in samples]
    pairs, where = np.unique(np.concatenate([request.pairs for request in requests]), return_inverse=True)
    keys = union.similarity.exact(*np.divmod(pairs, len(union.targets.vectors)))[where]
    ends = np.cumsum([len(request.pairs) for request in requests])[:-1]
    for request, own in zip(requests, np.split(keys, ends), strict=True):
        request.decide(own)
    return requests


def _evaluate(workspace: Workspace, measures: Sequence[RankMeasure]) -> Results:
    manifest, tasks = workspace.manifest, workspace.tasks
    refuse_small_pools(tasks, measures)
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
        for number, counts in sorted(found.items()):
            for measure in measures:
                _score(workspace, table, per_query, name, number, measure, counts)
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
) -> None:
    """Enter one encoder's number of one task and measure."""
    task = workspace.tasks[number]
    values = measure.per_query(counts)
    table.scored[name, measure.name, number] = Scored(
        score(measure, values, [workspace.manifest.cluster[task.sample.source]]),
        int((counts.tied > counts.relevant).sum()),
        workspace.signature(task, measure.name, name),
    )
    by_chance = measure.per_query(_chance_counts(workspace.manifest, task))
    table.baselines[measure.name, number] = Baseline(chance=measure.aggregate(by_chance))
    per_query.add(
        workspace.labels(task, name, measure.name),
        task.sample.seed,
        query=task.sample.source,
        retrieved=None,
        above=counts.above,
        tied=counts.tied,
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
