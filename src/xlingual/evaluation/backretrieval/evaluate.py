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

from xlingual.arrays import Floats, distinct_values
from xlingual.data.manifest import DataOptions, ManifestLike, takes_data
from xlingual.embed.sides import ImageIndex
from xlingual.encoders import ImageModelLike
from xlingual.errors import listed, warn
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
from xlingual.evaluation.backretrieval.rankings import rankings, refuse_function
from xlingual.evaluation.backretrieval.way_back import Scorable, WaysFound, ways_back
from xlingual.evaluation.estimates import score
from xlingual.evaluation.listed import SystemLists
from xlingual.evaluation.near_duplicates import DECLARED
from xlingual.evaluation.neighbours import KEPT, NeighbourTable
from xlingual.evaluation.numbers import Numbers
from xlingual.evaluation.pair_hubs import PairHubs
from xlingual.evaluation.pair_run import PairRun, PairTask, by_pair
from xlingual.evaluation.rankings import Evaluated
from xlingual.evaluation.run import EncoderSpecs, Options, Progress, TextSides, keeping_warnings
from xlingual.evaluation.run_systems import RunsLike, joined
from xlingual.evaluation.similarities import COSINE
from xlingual.evaluation.trec import write_trec
from xlingual.measures import (
    MeanImageSimilarity,
    Measure,
    RankMeasure,
    RecallAt,
    RecallShare,
    as_recall,
    parse_rank_measures,
)
from xlingual.ranking import Ranker, one_library_thread
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
    ranked = as_recall(parse_rank_measures(measures, beside=[SIM]))
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
    found = _Backretrieval(run, ranked, runs=trec is not None, neighbours=neighbours)
    return found.results(examples, trec, trec_depth)


def _warn_of_own_images(run: PairRun, judge: str) -> None:
    """Warn of encoders that were fitted on near images of the encoder that judges them now."""
    own = [name for name, encoder in run.text_encoders.items() if encoder.fitted_images == judge]
    if own:
        warn(
            f"{listed(own)} was fitted on near images of the same image encoder, so that its Backretrieval "
            "and SIM are too high: judge it with another image encoder"
        )


class _Backretrieval:
    """The steps of one evaluation, in order: nearest texts, ways back with baselines, scores, examples."""

    def __init__(
        self, run: PairRun, measures: Sequence[RankMeasure], *, runs: bool, neighbours: bool
    ) -> None:
        self.run, self.tasks = run, run.tasks
        if runs:
            refuse_function(run)
        self.image_name, self.image_identity, self.images = image_space(run)
        _warn_of_own_images(run, self.image_identity)
        self.distance = usual_distance(self.images) if isinstance(self.images, ImageIndex) else None
        warn_of_near_identical(self.distance)
        refuse_small_pools(self.images, run.tasks, measures)
        self.ranked = _with_share(measures, self.images, run.tasks)
        self.measures: list[Scorable] = [*self.ranked, SIM]
        self.neighbours = NeighbourTable(NAME)
        self._first = KEPT if neighbours else 1

    def results(self, examples: bool, trec: str | Path | None, depth: int | None) -> Results:
        """Return everything that was found."""
        nearest = {name: self._nearest(name, vectors) for name, vectors in self.run.found()}
        found, references = self._ways_back(nearest)
        hubs = PairHubs(self.run, examples)
        with self.run.stage("statistics", "computing intervals"):
            numbers = self._numbers(found, references, hubs)
            results = numbers.results(self.run.manifest)
            results.tables = hubs.table() | self.neighbours.table(self.run.manifest)
            if examples:
                blocks = list(self._examples(results.summary, found))
                results.examples = examples_table(self.run.manifest, blocks)
        results.evaluated = Evaluated(self.run.manifest, partial(rankings, self.run))
        if trec is not None:
            with self.run.stage("trec", "writing rankings"):
                write_trec(results, trec, depth)
        results = self.run.finished(results)
        if self.distance is not None and self.distance < NEAR_IDENTICAL:
            results.diagnostics["near_identical_images"] = self.distance
        return results

    def _nearest(self, name: str, vectors: TextSides | SystemLists) -> list[Nearest]:
        """Return the nearest texts of one encoder for each task."""
        found: list[Nearest] = []
        with self.run.stage("texts: rank"), one_library_thread():
            for (source, _), numbers in by_pair(self.tasks).items():
                found += nearest_texts(
                    vectors,
                    [self.tasks[number].sample for number in numbers],
                    ranker=self.run.options.ranker,
                    repair=self.run.repair(name, [source]),
                    progress=self.run.progress(f"ranking texts: {name}"),
                    tally=self.run.tally,
                    first=self._first,
                )
        for task, subject, nearest in zip(self.tasks, self.run.subjects, found, strict=True):
            if nearest.neighbours is not None:
                rows = task.sample.source, task.sample.target
                self.neighbours.add(name, subject, nearest.neighbours, *rows)
        return found

    def _ways_back(
        self, nearest: Mapping[str, Sequence[Nearest]]
    ) -> tuple[dict[tuple[str, int], WaysFound], dict[int, ReferenceScores]]:
        """Return the ways back of each encoder and task, and the baselines of each task."""
        found: dict[tuple[str, int], WaysFound] = {}
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
                        found[name, number] = WaysFound(texts[number], ranks.routes(encoder, number))
        return found, references

    def _numbers(
        self,
        found: Mapping[tuple[str, int], WaysFound],
        references: Mapping[int, ReferenceScores],
        hubs: PairHubs,
    ) -> Numbers:
        """Return the numbers of all encoders, tasks and measures, with their baselines."""
        numbers = Numbers(NAME, self.measures, self.run.subjects, self.image_name)
        baselines = {
            (number, measure): references[number].baseline(measure, clusters)
            for number, task in enumerate(self.tasks)
            for clusters in [cluster_ids(self.run.manifest, number, task, references[number].oracle_target)]
            for measure in self.measures
        }
        for name in self.run.by_name:
            for number, (task, subject) in enumerate(zip(self.tasks, numbers.subjects, strict=True)):
                one, sample = found[name, number], task.sample
                clusters = cluster_ids(self.run.manifest, number, task, one.nearest.single())
                retrieved, counts = one.nearest.single_rows(sample.target), one.routes.counts
                n_tied = one.n_tied()
                views = None
                if hubs.looks_at(number):
                    places = one.nearest.places(len(sample.target))
                    views = BackretrievalViews(hubs.add(name, number, places, self._missed(one)))
                for measure in self.measures:
                    values = one.values(measure)
                    numbers[name, measure.name, subject] = self.run.number(
                        task,
                        measure.name,
                        name,
                        score(measure, values, clusters),
                        n_tied=n_tied,
                        baseline=baselines[number, measure],
                        conditions={"images": self.image_identity},
                    ).with_views(views if measure == self.measures[0] else None)
                    ranked = measure != SIM
                    numbers.add_queries(
                        name,
                        measure,
                        subject,
                        query=sample.source,
                        retrieved=retrieved,
                        above=one.single(counts.above) if ranked else None,
                        tied=one.single(counts.tied) if ranked else None,
                        value=values,
                    )
        return numbers

    def _missed(self, found: WaysFound) -> Floats:
        """Return the chance that each nearest text does not lead back, by the first measure with a cut."""
        cut = next((one for one in self.ranked if isinstance(one, RecallAt)), RecallAt(10))
        missed: Floats = 1.0 - cut.per_query(found.routes.counts)
        return missed

    def _examples(
        self, summary: Sequence[Summary], found: Mapping[tuple[str, int], WaysFound]
    ) -> Iterator[ExampleRows]:
        """Yield examples of the leading encoder, for the first sample of the chosen language pairs."""
        valued = {row.measure for row in summary if row.source is None and row.value is not None}
        first = next(measure for measure in self.measures if measure.name in valued)
        leader = leading_encoder(summary, first)
        numbers = by_pair(self.tasks)
        for pair in example_pairs(summary, leader, first):
            number = numbers[pair][0]
            task, one = self.tasks[number], found[leader, number]
            labels = {"task": NAME, "encoder": leader, "source": task.source, "target": task.target}
            pool = len(distinct_values(self.images.code[task.sample.pool]))
            yield ExampleRows(
                labels={**labels, "seed": task.sample.seed, "pool": pool},
                query=task.sample.source,
                retrieved=one.nearest.single_rows(task.sample.target),
                above=one.single(one.routes.counts.above),
                tied=one.single(one.routes.counts.tied),
                value=one.values(first),
                similarity=one.mean(one.routes.similarity),
            )


def _with_share(
    measures: Sequence[RankMeasure], images: ImageSpace, tasks: Sequence[PairTask]
) -> list[RankMeasure]:
    """Return the measures, and the best 0.1 % beside R@k where there are very many images."""
    most = max(len(distinct_values(images.code[task.sample.pool])) for task in tasks)
    large = most > _LARGE and any(isinstance(measure, RecallAt) for measure in measures)
    return list(dict.fromkeys([*measures, *([RecallShare(0.1)] if large else [])]))
