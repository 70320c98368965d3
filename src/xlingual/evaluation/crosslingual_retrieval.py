"""Cross-lingual retrieval (XLR): does a text retrieve its own item's text in the other language.

The ground truth that Backretrieval approximates; it needs items that have texts in both languages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, Unpack

import numpy as np

from xlingual.arrays import distinct_values
from xlingual.data.manifest import DataOptions, Manifest, ManifestLike, takes_data
from xlingual.data.samples import Sample, SampleLike
from xlingual.errors import InputError, parameter, warn
from xlingual.evaluation.hubs import HUBS_OF, hubs_of_pair, listed_places, places_of
from xlingual.evaluation.lists import check_reach
from xlingual.evaluation.loop import Ranked, Recording, evaluate
from xlingual.evaluation.near_duplicates import DECLARED
from xlingual.evaluation.neighbours import Neighbours, Scores, listed_neighbours, neighbours_of
from xlingual.evaluation.numbers import Baseline, Numbers
from xlingual.evaluation.pair_run import PairRun, PairTask, by_pair
from xlingual.evaluation.passes import Asks, Request, TextUnion, answered
from xlingual.evaluation.run import EncoderSpecs, Options, Progress, TextSides, keeping_warnings
from xlingual.evaluation.run_systems import RunsLike, SystemLists, joined
from xlingual.evaluation.similarity import COSINE
from xlingual.evaluation.trec import Ranking, texts_of
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
from xlingual.measures.hubness import Places
from xlingual.ragged import members
from xlingual.ranking import Banked, Counts, Ranker, Top, one_library_thread
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
    sample: SampleLike = "all",
    texts_per_item: int | Literal["all"] = "all",
    queries: int | None = None,
    seeds: int = 1,
    seed: int = 0,
    measures: str | Sequence[str | Measure] = (),
    similarity: str = COSINE,
    cluster: str = DECLARED,
    threads: int = 1,
    ranker: Ranker | None = None,
    store: StoreLike = "default",
    progress: Progress | None = None,
    examples: bool = True,
    neighbours: bool = True,
    trec: str | Path | None = None,
    trec_depth: int | None = 1000,
    **columns: Unpack[DataOptions],
) -> Results:
    """Evaluate text encoders by true cross-lingual retrieval, over language pairs and seeds.

    Sources and targets are the texts of the same items: all that have both languages, `sample` of them, or
    those in rows `S` of fixed samples. With `queries` so many sources are queries, among all targets.

    `measures` are `R@k`, `Success@k`, `R@p%`, `Success@p%`, `RR`, `RR@k` and `MedR`. Where every item has one
    target text, R@k and Success@k are one number, called R@k. Where an item has several, R@k is the share of
    them among the first k and Success@k whether any is. Default: R@10 in the first case, Success@10 in the
    second. `trec` is a folder for runs and qrels, with the `trec_depth` best targets of each source. Other
    arguments as in `backretrieval`; there are no images by which near-duplicates are found.

    Raises:
        InputError: data, specs or options are invalid; the text says what to do.

    """
    chosen = parse_rank_measures(measures)
    recording = Recording(examples, neighbours, trec, trec_depth)
    options = Options(
        *(pairs, sample, seeds, seed, threads, progress, False, open_store(store), ranker),
        *(queries, cluster, texts_per_item, similarity),
    )
    run = PairRun(NAME, manifest, options, matching=True)
    run.prepare(joined(text_encoders, runs))
    several = several_answers(manifest, run.tasks)
    if not several:
        chosen = as_recall(chosen)
    elif not measures:
        chosen = as_success(chosen)
    run.join_near_duplicates()
    refuse_small_pools(run.tasks, chosen)
    if several and (recalls := [measure for measure in chosen if isinstance(measure, Recall)]):
        warn(
            f"items have several target texts: {recalls[0].name} is the share of them that is found; for "
            f"whether any is found, ask for {as_success(recalls)[0].name}"
        )
    numbers = Numbers(NAME, chosen, run.subjects)
    return evaluate(run, numbers, ranks(run, chosen, run.encoded()), run.manifest, recording)


def several_answers(manifest: Manifest, tasks: Sequence[PairTask]) -> bool:
    """Whether an item has several target texts in one of the tasks: then R@k and Success@k differ."""
    return any(np.bincount(manifest.item[task.sample.target]).max(initial=0) > 1 for task in tasks)


def refuse_small_pools(tasks: Sequence[PairTask], measures: Sequence[RankMeasure]) -> None:
    """Raise InputError where every query would be a hit."""
    cuts = [measure for measure in measures if isinstance(measure, RecallAt | SuccessAt)]
    deepest = max(cuts, key=lambda measure: measure.k, default=None)
    for task in tasks:
        if deepest is not None and deepest.k >= len(task.sample.target):
            raise InputError(
                f"{deepest.name} needs more than {deepest.k} target texts, pair "
                f"{task.source}-{task.target} has {len(task.sample.target)}: every query would be a hit; "
                f"give more items, a smaller k ({parameter('measures')}), or name other pairs "
                f"({parameter('pairs')})"
            )


def ranks(
    run: PairRun,
    measures: Sequence[RankMeasure],
    encoded: Iterable[tuple[str, TextSides | SystemLists]],
    *,
    first: int = HUBS_OF,
) -> Iterator[Ranked]:
    """Rank the targets of all samples by each system.

    Hubs and neighbours are among the `first` targets of each source in each pair's first sample; 0: none.
    """
    for name, vectors in encoded:
        for (source, _), chosen in by_pair(run.tasks).items():
            samples = [run.tasks[number].sample for number in chosen]
            with run.stage("texts: rank"), one_library_thread():
                repair = run.repair(name, [source])
                if isinstance(vectors, SystemLists):
                    answers = _listed(run.manifest, vectors, samples, measures)
                else:
                    asked: list[tuple[Sample, Asks]] = [
                        (one, partial(_matches, run.manifest)) for one in samples
                    ]
                    asked += [(samples[0], partial(_first, first))] if first else []
                    answers = answered(
                        vectors,
                        asked,
                        ranker=run.options.ranker,
                        repair=repair,
                        progress=run.progress(f"ranking texts: {name}"),
                        tally=run.tally,
                    )
            for number, counts in zip(chosen, answers, strict=False):
                ranked = _ranked(run, measures, name, number, counts)
                ranked = replace(ranked, ranking=partial(_ranking, run, vectors, repair, number))
                if first and number == chosen[0]:
                    places, neighbours = answers[-1]
                    sample, item = run.tasks[number].sample, run.manifest.item
                    # a target of another item than its source is wrong
                    wrong = item[sample.source[places.query]] != item[sample.target[places.candidate]]
                    right = members(item[sample.target], item[sample.source])[1]
                    hubs = hubs_of_pair(run.manifest, sample, places, wrong.astype(float), run.picture, right)
                    views = {measures[0].name: CrosslingualRetrievalViews(hubs.hubs.counts)}
                    more = {"neighbours": neighbours, "candidates": sample.target}
                    ranked = replace(ranked, hubs=hubs, views=views, **more)
                yield ranked


def _ranked(
    run: PairRun, measures: Sequence[RankMeasure], name: str, number: int, targets: TargetCounts
) -> Ranked:
    """Turn where all matches of the queries stand into the values of all measures."""
    counts, task = targets.best(), run.tasks[number]
    several, values, baselines = several_answers(run.manifest, [task]), {}, {}
    conditions: dict[str, dict[str, str]] = {}
    item = run.manifest.item[task.sample.target]
    per_item = np.bincount(item, minlength=run.manifest.n_items)[run.manifest.item[task.sample.source]]
    pool = np.full(len(per_item), len(item))
    by_chance = RankCounts(np.zeros_like(pool), pool, per_item, pool)  # to which all targets are equal
    for measure in measures:
        equal = by_chance
        if isinstance(measure, Recall) and several:
            values[measure.name] = measure.per_query(targets)
            conditions[measure.name] = {"answers": "several"}
            # all are tied: each match is among the first k with the same chance, however many there are
            equal = replace(by_chance, relevant=np.ones_like(pool))
        else:
            values[measure.name] = measure.per_query(counts)
        baselines[measure.name] = Baseline(measure.aggregate(measure.per_query(equal)))
    return Ranked(
        encoder=name,
        subject=run.subjects[number],
        queries=task.sample.source,
        clusters=[run.manifest.cluster[task.sample.source]],
        n_candidates=len(task.sample.target),
        values=values,
        baselines=baselines,
        conditions=run.conditions(task),
        conditions_of=conditions,
        system=run.roles_of(name),
        above=counts.above,
        tied=counts.tied,
        n_tied=counts.n_tied,
    )


def _ranking(run: PairRun, vectors: TextSides | SystemLists, repair: Banked | None, number: int) -> Ranking:
    """List the targets of each source, for a TREC file."""
    manifest, sample = run.manifest, run.tasks[number].sample
    ranking = Ranking(
        queries=texts_of(manifest, sample.source),
        candidates=texts_of(manifest, sample.target),
        relevant=members(manifest.item[sample.target], manifest.item[sample.source]),
    )
    if isinstance(vectors, SystemLists):
        return replace(ranking, lists=vectors.of(sample))
    offsets = None
    if repair is not None:
        union = TextUnion(vectors, [sample], run.options.ranker, repair)
        offsets = None if union.offsets is None else union.offsets.take(union.codes(sample)[1])
    both = vectors.queries.unit(sample.source), vectors.candidates.unit(sample.target)
    return replace(ranking, vectors=both, offsets=offsets)


def _matches(manifest: Manifest, union: TextUnion, sample: Sample) -> Request:
    """Ask where every match of each source stands among a sample's targets."""
    query, match = members(manifest.item[sample.target], manifest.item[sample.source])
    sources, targets = union.codes(sample)
    pairs = sources[query], targets[match]
    keys = union.similarity.keys(*pairs)
    if union.offsets is not None:
        keys = union.offsets.keys(keys, pairs[1])
    watcher, pool = Counts(*pairs, keys, weights=union.weights(targets)), np.full(len(sources), len(targets))
    return watcher, lambda: TargetCounts(query, watcher.above, watcher.tied, pool)


def _first(k: int, union: TextUnion, sample: Sample) -> Request:
    """Ask who stands on the first `k` places of each source of a sample, with the scores."""
    codes, scores = union.codes(sample), Scores(union.similarity, union.offsets)
    k = min(k, len(codes[1]))
    weights, queries = union.weights(codes[1]), distinct_values(codes[0])
    watcher = Top(k, union.similarity.shape, weights=weights, queries=queries, seed=sample.seed)

    def result() -> tuple[Places, Neighbours]:
        top = watcher.result()
        return places_of(top, *codes, k), neighbours_of(top, scores, *codes, k)

    return watcher, result


def _listed(
    manifest: Manifest, vectors: SystemLists, samples: Sequence[Sample], measures: Sequence[RankMeasure]
) -> list[Any]:
    """Answer the same from a run, whose lists must reach as far as `measures` look."""
    answers: list[Any] = []
    for sample in samples:
        lists = vectors.of(sample)
        query, match = members(manifest.item[sample.target], manifest.item[sample.source])
        if len(lists.query) and not (lists.lines(query, match) >= 0).any():
            warn(
                f"system {vectors.who(sample)}: no list holds a right answer: was it sampled without "
                f"{parameter('matching', True)}?"
            )
        check_reach(lists, measures, vectors.who(sample))
        answers.append(lists.targets(query, match))
    lists = vectors.of(samples[0])
    k = min(HUBS_OF, lists.n_candidates)
    return [*answers, (listed_places(lists, k), listed_neighbours(lists, k))]
