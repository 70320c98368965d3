"""Backretrieval: how well texts match across languages, with images in place of translations.

For each source text the nearest target text is found (`nearest`); its image must lead back to the query's
own image among all source images (`way_back`). Beside that stand what images alone give (`baselines`)
and SIM, the same without the way back (Fain, Twomey and Bollegala, SIGIR 2021).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Literal, Unpack

import numpy as np

from xlingual.arrays import Floats, distinct_values
from xlingual.data.manifest import DataOptions, ManifestLike, takes_data
from xlingual.embed.sides import ImageIndex
from xlingual.encoders import ImageModelLike
from xlingual.errors import InputError, listed, warn
from xlingual.evaluation.backretrieval.baselines import ReferenceScores, reference
from xlingual.evaluation.backretrieval.examples import (
    ExampleRows,
    example_pairs,
    examples_table,
    leading_encoder,
)
from xlingual.evaluation.backretrieval.images import ImageSpace, image_space, refuse_small_pools
from xlingual.evaluation.backretrieval.look_alikes import (
    NEAR_IDENTICAL,
    usual_distance,
    warn_of_near_identical,
)
from xlingual.evaluation.backretrieval.nearest import Nearest, cluster_ids, nearest_texts
from xlingual.evaluation.backretrieval.way_back import Scorable, WaysFound, ways_back
from xlingual.evaluation.hubs import hubs_of_pair
from xlingual.evaluation.loop import Ranked, Recording, evaluate
from xlingual.evaluation.near_duplicates import DECLARED
from xlingual.evaluation.neighbours import KEPT
from xlingual.evaluation.numbers import Baseline, Numbers
from xlingual.evaluation.pair_run import PairRun, PairTask, by_pair
from xlingual.evaluation.run import EncoderSpecs, Options, Progress, TextSides, keeping_warnings
from xlingual.evaluation.run_systems import RunsLike, SystemLists, joined
from xlingual.evaluation.similarities import COSINE
from xlingual.evaluation.trec import Ranking, images_of, texts_of
from xlingual.measures import (
    MeanImageSimilarity,
    Measure,
    RankMeasure,
    RecallAt,
    RecallShare,
    as_recall,
    parse_rank_measures,
)
from xlingual.ranking import Ranker, UnitVectors, one_library_thread
from xlingual.requests import answers
from xlingual.requests.evaluating import BackretrievalRequest
from xlingual.results import Results, Summary
from xlingual.results.views import BackretrievalViews
from xlingual.store import StoreLike, open_store

NAME = "backretrieval"
SIM = MeanImageSimilarity()
_LARGE = 100_000  # distinct source images above which R@0.1% is reported beside R@k


@takes_data()
@answers(BackretrievalRequest)
@keeping_warnings
def backretrieval(
    manifest: ManifestLike,
    text_encoders: EncoderSpecs = (),
    *,
    runs: RunsLike = (),
    image_encoder: ImageModelLike,
    pairs: str | Sequence[str] | None = None,
    sample_size: int | None = None,
    or_fewer: bool = False,
    texts_per_item: int | Literal["all"] = "all",
    queries: int | None = None,
    splits: str | Path | None = None,
    seeds: int = 1,
    seed: int = 0,
    measures: str | Sequence[str | Measure] = ("R@10",),
    threads: int = 1,
    ranker: Ranker | None = None,
    examples: bool = True,
    neighbours: bool = True,
    progress: Progress | None = None,
    store: StoreLike = "default",
    skip_broken: bool = False,
    cluster: str = DECLARED,
    preset: str | None = None,
    similarity: str = COSINE,
    trec: str | Path | None = None,
    trec_depth: int | None = 1000,
    **columns: Unpack[DataOptions],
) -> Results:
    """Evaluate text encoders by Backretrieval, over language pairs and seeds.

    Args:
        manifest: texts with images, in two languages or more.
        text_encoders: specs, paths or objects with `encode`; a mapping names them.
        runs: search systems by what they returned: {name: file, SearchRun or {query: {candidate: score}}}.
        image_encoder: one spec, path or object; its cosine is the image similarity g. Or g itself: a
            function of two batches of images that returns scores [n, m].
        pairs: language pairs such as "en-de,de-en"; None takes all ordered pairs.
        sample_size: items drawn for each side; None takes all.
        or_fewer: where a language pair has fewer items than `sample_size`, take as many as it has.
        texts_per_item: texts of an item in a language that take part, drawn for each seed; or "all".
        queries: number of sources that are queries, drawn at random; the others are candidates of the way
            back all the same. None: all sources are queries. There is no ceiling then, and chance is K/D.
        splits: an `.npz` with fixed samples, instead of `sample_size`, `seeds` and `seed`.
        seeds: number of samples drawn, with seeds `seed` … `seed` + `seeds` − 1.
        seed: the first seed.
        measures: `R@k` (each query has one right answer: `Success@k` is the same and reported as `R@k`),
            `R@p%`, `RR`, `RR@k`, `MedR`; SIM is always reported beside them, and R@0.1% (k = ⌈D/1000⌉)
            beside R@k where a pair has more than 100,000 distinct source images.
        threads: tiles computed side by side; changes no number.
        ranker: what ranks, such as `xlingual.ranking.Cpu`; None: this machine, with `threads`.
        examples: keep the best and worst queries of the leading encoder, for the report.
        neighbours: keep the ten nearest targets of each query of the first sample, for `inspect`.
        progress: called with (what, done, total).
        store: where vectors are kept and found again: a folder or a Store; "default" is the user's own, None
            keeps none.
        skip_broken: leave out texts whose image is absent, missing or broken, with a warning.
        cluster: what makes queries dependent: "declared" (the manifest's clusters and items), or
            "near-duplicates" (these, and near-equal texts and images, which are looked for).
        preset: "paper" stands for the sampling of the paper (reference/samples), but for arguments that are
            given.
        similarity: how texts are compared: "cosine"; or, with hubs corrected by training queries,
            "csls?k=10&fit=FILE#train" or "inverted-softmax?beta=20&fit=FILE#train".
        trec: folder for runs and qrels of the way back: the source images as the retrieved text's image
            ranks them.
        trec_depth: how many images of each query a run holds, None for all.

    Returns:
        Results with one entry per encoder, pair, measure and seed, with chance, oracle and ceiling.

    Raises:
        InputError: data, specs or options are invalid; the text says what to do.

    """
    chosen = as_recall(parse_rank_measures(measures, beside=[SIM]))
    recording = Recording(examples, neighbours, trec, trec_depth)
    options = Options(
        *(pairs, sample_size, splits, seeds, seed, threads, progress, skip_broken, open_store(store), ranker),
        queries=queries,
        cluster=cluster,
        or_fewer=or_fewer,
        texts_per_item=texts_per_item,
        similarity=similarity,
    )
    run = PairRun(NAME, manifest, options, matching=False, image_spec=image_encoder, takes_lists=True)
    run.prepare(joined(text_encoders, runs))
    image_name, identity, images = image_space(run)
    if trec is not None and not isinstance(images, ImageIndex):
        raise InputError(
            "runs of Backretrieval need vectors of the images, and these are compared by a function: "
            "give an image encoder, or leave out --trec"
        )
    _warn_of_fitted(run, identity)
    distance = usual_distance(images) if isinstance(images, ImageIndex) else None
    warn_of_near_identical(distance)
    refuse_small_pools(images, run.tasks, chosen)
    task = Backretrieval(run, _with_share(chosen, images, run.tasks), images, identity)
    numbers = Numbers(NAME, task.measures, run.subjects, image_name)
    first = KEPT if neighbours else 1
    nearest = {name: task.nearest(name, vectors, first) for name, vectors in run.encoded()}
    results = evaluate(run, numbers, task.ways(nearest), run.manifest, recording)
    if examples:
        results.examples = examples_table(run.manifest, list(task.examples(results.summary)))
    results.diagnostics |= run.count_matches()
    if distance is not None and distance < NEAR_IDENTICAL:
        results.diagnostics["near_identical_images"] = distance
    return results


def _warn_of_fitted(run: PairRun, judge: str) -> None:
    """Warn of encoders that were fitted on near images of the encoder that judges them now."""
    fitted = [name for name, encoder in run.text_encoders.items() if encoder.fitted_images == judge]
    if fitted:
        warn(
            f"{listed(fitted)} was fitted on near images of the same image encoder, so that its "
            "Backretrieval and SIM are too high: judge it with another image encoder"
        )


class Backretrieval:
    """The steps of one evaluation with some images: nearest texts, ways back with baselines, and examples."""

    def __init__(
        self, run: PairRun, measures: Sequence[RankMeasure], images: ImageSpace, identity: str
    ) -> None:
        self.run, self.tasks, self.ranked = run, run.tasks, measures
        self.images, self.image_identity = images, identity
        self.measures: list[Scorable] = [*measures, SIM]
        self._ways: dict[tuple[str, int], WaysFound] = {}

    def ways(self, nearest: Mapping[str, Sequence[Nearest]], *, hubs: bool = True) -> Iterator[Ranked]:
        """Rank source images from the nearest texts of all systems, in passes that these share.

        `nearest` is by system, then task. With `hubs` they are looked for in the first sample of each pair.
        """
        references = self._ways_back(nearest)
        clusters = [
            cluster_ids(self.run.manifest, number, task, references[number].oracle_target)
            for number, task in enumerate(self.tasks)
        ]
        baselines = [
            {one.name: references[number].baseline(one, clusters[number]) for one in self.measures}
            for number in range(len(self.tasks))
        ]
        first = {numbers[0] for numbers in by_pair(self.tasks).values()} if hubs else set()
        for name in nearest:
            for number in range(len(self.tasks)):
                yield self._ranked(name, number, baselines[number], is_first=number in first)

    def nearest(self, name: str, vectors: TextSides | SystemLists, first: int = 1) -> list[Nearest]:
        """Return the nearest texts of one encoder for each task; of each pair's first the `first` ones."""
        nearest: list[Nearest] = []
        with self.run.stage("texts: rank"), one_library_thread():
            for (source, _), numbers in by_pair(self.tasks).items():
                nearest += nearest_texts(
                    vectors,
                    [self.tasks[number].sample for number in numbers],
                    ranker=self.run.options.ranker,
                    repair=self.run.repair(name, [source]),
                    progress=self.run.progress(f"ranking texts: {name}"),
                    tally=self.run.tally,
                    first=first,
                )
        return nearest

    def _ways_back(self, nearest: Mapping[str, Sequence[Nearest]]) -> dict[int, ReferenceScores]:
        """Find the ways back of each encoder and task, and return the baselines of each task."""
        references: dict[int, ReferenceScores] = {}
        with self.run.stage("images: rank"), one_library_thread():
            for ranks in ways_back(
                self.images,
                self.tasks,
                list(nearest.values()),
                self.ranked,
                ranker=self.run.options.ranker,
                progress=self.run.progress("ranking images"),
                tally=self.run.tally,
            ):
                for number in ranks.pools.tasks:
                    references[number] = reference(ranks, number, self.ranked)
                    for encoder, (name, texts) in enumerate(nearest.items()):
                        routes = ranks.routes(encoder, number)
                        self._ways[name, number] = WaysFound(texts[number], routes)
        return references

    def _ranked(self, name: str, number: int, baselines: Mapping[str, Baseline], *, is_first: bool) -> Ranked:
        """Turn the ways of an encoder in a task into the values of all measures."""
        run, task, ways = self.run, self.tasks[number], self._ways[name, number]
        sample, counts = task.sample, ways.routes.counts
        hubs, views = None, {}
        if is_first:
            places = ways.nearest.places(len(sample.target))
            hubs = hubs_of_pair(run.manifest, sample, places, self._missed(ways), run.picture)
            views[self.measures[0].name] = BackretrievalViews(hubs.hubs.counts)
        return Ranked(
            encoder=name,
            subject=run.subjects[number],
            queries=sample.source,
            clusters=cluster_ids(run.manifest, number, task, ways.nearest.single()),
            n_candidates=len(sample.target),
            values={measure.name: ways.values(measure) for measure in self.measures},
            baselines=baselines,
            conditions=run.conditions(task, images=self.image_identity),
            system=run.roles_of(name),
            above=ways.single(counts.above),
            tied=ways.single(counts.tied),
            retrieved=ways.nearest.single_rows(sample.target),
            n_tied=ways.n_tied(),
            views=views,
            hubs=hubs,
            neighbours=ways.nearest.neighbours,
            candidates=sample.target,
            ranking=partial(self._ranking, name, number),
        )

    def _missed(self, ways: WaysFound) -> Floats:
        """Return the chance that each nearest text does not lead back, by the first measure with a cut."""
        cut = next((one for one in self.ranked if isinstance(one, RecallAt)), RecallAt(10))
        missed: Floats = 1.0 - cut.per_query(ways.routes.counts)
        return missed

    def _ranking(self, name: str, number: int) -> Ranking:
        """Return what a TREC file lists: the source images as each query's retrieved text's image ranks them.

        The retrieval of a text has no right answer among the targets, so what is listed is the way back,
        whose one right answer is the query's own image. Of several targets that tie for nearest, the first by
        name is taken.
        """
        assert isinstance(self.images, ImageIndex)
        manifest, images, sample = self.run.manifest, self.images, self.tasks[number].sample
        nearest = self._ways[name, number].nearest
        answered = np.flatnonzero(nearest.n_tied > 0)  # a search system may find no target of a query
        names = [member.name for member in texts_of(manifest, sample.target)]
        place = np.empty(len(names), dtype=np.int64)
        place[order := np.array(sorted(range(len(names)), key=names.__getitem__))] = np.arange(len(names))
        best = np.full(len(sample.source), len(names) - 1, dtype=np.int64)
        np.minimum.at(best, nearest.query, place[nearest.target])
        retrieved = sample.target[order[best][answered]]
        shown, first = np.unique(images.code[sample.pool], return_index=True)
        own = np.searchsorted(shown, images.code[sample.source[answered]])
        raw, lines = images.pool.vectors.raw, images.pool.vectors.rows[images.points]
        return Ranking(
            queries=texts_of(manifest, sample.source[answered]),
            candidates=images_of(manifest, sample.pool[first]),
            relevant=(np.arange(len(own)), own),
            vectors=(UnitVectors(raw, lines[images.code[retrieved]]), UnitVectors(raw, lines[shown])),
        )

    def examples(self, summary: Sequence[Summary]) -> Iterator[ExampleRows]:
        """Yield examples of the leading encoder, for the first sample of the chosen language pairs."""
        valued = {row.measure for row in summary if row.source is None and row.value is not None}
        first = next(measure for measure in self.measures if measure.name in valued)
        leader = leading_encoder(summary, first)
        numbers = by_pair(self.tasks)
        for pair in example_pairs(summary, leader, first):
            number = numbers[pair][0]
            task, ways = self.tasks[number], self._ways[leader, number]
            labels = {"task": NAME, "encoder": leader, "source": task.source, "target": task.target}
            pool = len(distinct_values(self.images.code[task.sample.pool]))
            yield ExampleRows(
                labels={**labels, "seed": task.sample.seed, "pool": pool},
                query=task.sample.source,
                retrieved=ways.nearest.single_rows(task.sample.target),
                above=ways.single(ways.routes.counts.above),
                tied=ways.single(ways.routes.counts.tied),
                value=ways.values(first),
                similarity=ways.mean(ways.routes.similarity),
            )


def _with_share(
    measures: Sequence[RankMeasure], images: ImageSpace, tasks: Sequence[PairTask]
) -> list[RankMeasure]:
    """Return the measures, and the best 0.1 % beside R@k where there are very many images."""
    most = max(len(distinct_values(images.code[task.sample.pool])) for task in tasks)
    large = most > _LARGE and any(isinstance(measure, RecallAt) for measure in measures)
    return list(dict.fromkeys([*measures, *([RecallShare(0.1)] if large else [])]))
