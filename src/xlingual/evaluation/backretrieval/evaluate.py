"""Backretrieval: how well texts match across languages, with images in place of translations.

For each source text the nearest target text is found (`nearest`); its image must lead back to the query's
own image among all source images (`way_back`). Beside that stand what images alone give (the baselines)
and SIM, the same without the way back (Fain, Twomey and Bollegala, SIGIR 2021).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Unpack

import numpy as np

from xlingual.arrays import distinct_values
from xlingual.arrow import table_of
from xlingual.data.images import cut
from xlingual.data.manifest import DataOptions, ManifestLike, takes_data
from xlingual.data.samples import SampleLike
from xlingual.embed.sides import ImageIndex
from xlingual.encoders import EncoderLike
from xlingual.errors import listed, warn
from xlingual.evaluation.backretrieval.nearest import Nearest, cluster_ids, nearest_texts
from xlingual.evaluation.backretrieval.way_back import (
    NEAR_IDENTICAL,
    SIM,
    WayBack,
    images_of,
    refuse_small_pools,
    usual_distance,
    ways_back,
)
from xlingual.evaluation.hubs import hubs_of_pair
from xlingual.evaluation.loop import Ranked, Recording, evaluate
from xlingual.evaluation.near_duplicates import DECLARED
from xlingual.evaluation.neighbours import KEPT
from xlingual.evaluation.numbers import Baseline, Numbers
from xlingual.evaluation.pair_run import PairRun, by_pair
from xlingual.evaluation.run import EncoderSpecs, Options, Progress, TextSides, keeping_warnings
from xlingual.evaluation.run_systems import RunsLike, SystemLists, joined
from xlingual.evaluation.similarity import COSINE
from xlingual.measures import Measure, RankMeasure, RecallAt, as_recall, parse_rank_measures
from xlingual.measures.hubness import Places
from xlingual.ranking import Ranker, one_library_thread
from xlingual.requests import answers
from xlingual.requests.evaluating import BackretrievalRequest
from xlingual.results import Results, Summary
from xlingual.results.views import BackretrievalViews
from xlingual.store import StoreLike, open_store

if TYPE_CHECKING:
    import pyarrow as pa

NAME = "backretrieval"
_EXAMPLE_PAIRS = 20  # language pairs with examples, the hardest
_EXAMPLES = 4  # best and worst queries of a language pair


@takes_data()
@answers(BackretrievalRequest)
@keeping_warnings
def backretrieval(
    manifest: ManifestLike,
    text_encoders: EncoderSpecs = (),
    *,
    image_encoder: EncoderLike,
    runs: RunsLike = (),
    pairs: str | Sequence[str] | None = None,
    sample: SampleLike = "all",
    texts_per_item: int | Literal["all"] = "all",
    queries: int | None = None,
    seeds: int = 1,
    seed: int = 0,
    measures: str | Sequence[str | Measure] = ("R@10",),
    similarity: str = COSINE,
    cluster: str = DECLARED,
    skip_broken: bool = False,
    threads: int = 1,
    ranker: Ranker | None = None,
    store: StoreLike = "default",
    progress: Progress | None = None,
    examples: bool = True,
    neighbours: bool = True,
    **columns: Unpack[DataOptions],
) -> Results:
    """Evaluate text encoders by Backretrieval, over language pairs and seeds.

    Args:
        manifest: texts with images, in two languages or more.
        text_encoders: specs, paths or objects with `encode`; a mapping names them.
        image_encoder: one spec, path or object; its cosine is the image similarity g.
        runs: search systems by what they returned: {name: file, SearchRun or {query: {candidate: score}}}.
        pairs: language pairs such as "en-de,de-en"; None takes all ordered pairs.
        sample: items of each side, drawn at random: at most so many, "all", or an `.npz` of fixed samples,
            whose rows are the seeds.
        texts_per_item: texts of an item in a language that take part, drawn for each seed; or "all".
        queries: number of sources that are queries, drawn at random; the others are candidates of the way
            back all the same. There is no ceiling then, and chance is K/D.
        seeds: number of samples drawn, with seeds `seed` … `seed` + `seeds` − 1.
        seed: the first seed.
        measures: `R@k` (each query has one right answer: `Success@k` is the same and reported as `R@k`),
            `R@p%`, `RR`, `RR@k`, `MedR`; SIM is always reported beside them.
        similarity: how texts are compared: "cosine"; or, with hubs corrected by training queries,
            "csls?k=10&fit=FILE#train" or "inverted-softmax?beta=20&fit=FILE#train".
        cluster: what makes queries dependent: "declared" (the manifest's clusters and items), or
            "near-duplicates" (these, and near-equal texts and images, which are looked for).
        skip_broken: leave out texts whose image is absent, missing or broken, with a warning.
        threads: tiles computed side by side; changes no number.
        ranker: what ranks, such as `xlingual.ranking.Cpu`; None: this machine, with `threads`.
        store: a folder or a Store that keeps vectors; "default" is the user's own, None keeps none.
        progress: called with (what, done, total).
        examples: keep the best and worst queries of the leading encoder, for the report.
        neighbours: keep the ten nearest targets of each query of the first sample, for `inspect`.

    Raises:
        InputError: data, specs or options are invalid; the text says what to do.

    """
    chosen = as_recall(parse_rank_measures(measures, beside=[SIM]))
    options = Options(
        *(pairs, sample, seeds, seed, threads, progress, skip_broken, open_store(store), ranker),
        *(queries, cluster, texts_per_item, similarity),
    )
    run = PairRun(NAME, manifest, options, matching=False, image_spec=image_encoder)
    run.prepare(joined(text_encoders, runs))
    image_name, identity, images = images_of(run)
    fitted = [name for name, encoder in run.text_encoders.items() if encoder.fitted_images == identity]
    if fitted:
        warn(
            f"{listed(fitted)} was fitted on near images of the same image encoder, so that its "
            "Backretrieval and SIM are too high: judge it with another image encoder"
        )
    distance = usual_distance(images)
    alike = distance is not None and distance < NEAR_IDENTICAL
    if alike:
        warn(
            "to the image encoder all images look nearly the same (the median cosine distance of two is "
            f"{distance:.2g}): neither BkR nor its oracle tells anything, even where the oracle is high; see "
            "xlingual data check MANIFEST --image-encoder SPEC"
        )
    refuse_small_pools(images, run.tasks, chosen)
    task = Backretrieval(run, chosen, images, identity)
    numbers = Numbers(NAME, task.measures, run.subjects, image_name)
    first = KEPT if neighbours else 1
    nearest = {name: task.nearest(name, vectors, first) for name, vectors in run.encoded()}
    results = evaluate(run, numbers, task.ways(nearest), run.manifest, Recording(examples, neighbours))
    if examples:
        results.examples = task.examples(results.summary)
    results.diagnostics |= run.count_matches() | ({"near_identical_images": distance} if alike else {})
    return results


class Backretrieval:
    """The steps of one evaluation with some images: nearest texts, ways back with baselines, and examples."""

    def __init__(
        self, run: PairRun, measures: Sequence[RankMeasure], images: ImageIndex, identity: str
    ) -> None:
        self.run, self.tasks, self.ranked = run, run.tasks, measures
        self.images, self.image_identity = images, identity
        self.measures = [*measures, SIM]
        self._ways: dict[tuple[str, int], WayBack] = {}

    def nearest(self, name: str, vectors: TextSides | SystemLists, first: int = 1) -> list[Nearest]:
        """Find the nearest texts of one encoder for each task; of each pair's first the `first` ones."""
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

    def ways(self, nearest: Mapping[str, Sequence[Nearest]], *, hubs: bool = True) -> Iterator[Ranked]:
        """Rank source images from the nearest texts of all systems, in passes that these share.

        `nearest` is by system, then task. With `hubs` they are looked for in the first sample of each pair.
        """
        run, baselines = self.run, {}
        with run.stage("images: rank"), one_library_thread():
            for ranks in ways_back(
                self.images,
                self.tasks,
                list(nearest.values()),
                self.ranked,
                ranker=run.options.ranker,
                progress=run.progress("ranking images"),
                tally=run.tally,
            ):
                for number in ranks.numbers:
                    baselines[number] = ranks.baselines(number, self.ranked, run.manifest)
                    for place, name in enumerate(nearest):
                        self._ways[name, number] = ranks.way_back(place, number)
        first = {numbers[0] for numbers in by_pair(self.tasks).values()} if hubs else set()
        for name in nearest:
            for number in range(len(self.tasks)):
                yield self._ranked(name, number, baselines[number], has_hubs=number in first)

    def _ranked(self, name: str, number: int, baselines: Mapping[str, Baseline], *, has_hubs: bool) -> Ranked:
        """Turn the ways of an encoder in a task into the values of all measures."""
        run, task, way = self.run, self.tasks[number], self._ways[name, number]
        sample, counts, nearest = task.sample, way.counts, way.nearest
        hubs, views = None, {}
        if has_hubs:  # a nearest text is wrong by the chance that it does not lead back
            cut_off = next((each for each in self.ranked if isinstance(each, RecallAt)), RecallAt(10))
            places = Places(
                *(1, len(nearest.n_tied), len(sample.target), nearest.query, nearest.target),
                above=np.zeros_like(nearest.query),
                tied=nearest.n_tied[nearest.query],
                ended=nearest.n_tied == 0,
            )
            hubs = hubs_of_pair(run.manifest, sample, places, 1.0 - cut_off.per_query(counts), run.picture)
            views[self.measures[0].name] = BackretrievalViews(hubs.hubs.counts)
        return Ranked(
            encoder=name,
            subject=run.subjects[number],
            queries=sample.source,
            clusters=cluster_ids(run.manifest, number, sample, nearest.single(nearest.target)),
            n_candidates=len(sample.target),
            values={measure.name: way.values(measure) for measure in self.measures},
            baselines=baselines,
            conditions=run.conditions(task, images=self.image_identity),
            system=run.roles_of(name),
            above=nearest.single(counts.above),
            tied=nearest.single(counts.tied),
            retrieved=nearest.single(sample.target[nearest.target]),
            n_tied=way.n_tied(),
            views=views,
            hubs=hubs,
            neighbours=nearest.neighbours,
            candidates=sample.target,
        )

    def examples(self, summary: Sequence[Summary]) -> pa.Table:
        """List the best and worst queries of the leading encoder, in the first sample of the hardest pairs.

        Thumbnails are JPEG, null where an image cannot be opened. No query with several nearest texts is
        shown, and no retrieved text twice.
        """
        import pyarrow as pa

        text, whole, number, picture = pa.string(), pa.int64(), pa.float64(), pa.binary()
        columns = dict.fromkeys(("task", "encoder", "source", "target"), text)
        columns |= {"seed": whole, "kind": text, "position": whole}
        for side in ("query", "retrieved"):
            columns |= {f"{side}_id": text, f"{side}_text": text, f"{side}_picture": picture}
        columns |= dict.fromkeys(("above", "tied", "pool"), whole) | {"value": number, "similarity": number}
        valued = [row for row in summary if row.value is not None]
        overall = {row.measure for row in valued if row.source is None}
        measure = next(measure for measure in self.measures if measure.name in overall)
        sign = 1 if measure.higher_is_better else -1
        board = [(sign * (row.value or 0.0), row) for row in valued if row.measure == measure.name]
        leader = max((one for one in board if one[1].source is None), key=lambda one: one[0])[1].encoder
        hardest = sorted((one for one in board if one[1].encoder == leader), key=lambda one: one[0])
        of_pairs = [(str(row.source), str(row.target)) for _, row in hardest if row.source]
        numbers = by_pair(self.tasks)
        rows = [
            row
            for pair in of_pairs[:_EXAMPLE_PAIRS]
            for row in self._examples_of(leader, numbers[pair][0], measure)
        ]
        return table_of(rows, pa.schema(list(columns.items())))

    def _examples_of(self, encoder: str, number: int, measure: Any) -> Iterator[dict[str, object]]:  # noqa: ANN401
        """Yield the rows of the best and worst queries of a task."""
        manifest, task, way = self.run.manifest, self.tasks[number], self._ways[encoder, number]
        sample, nearest = task.sample, way.nearest
        retrieved = nearest.single(sample.target[nearest.target])
        above, tied = nearest.single(way.counts.above), nearest.single(way.counts.tied)
        value, similarity = way.values(measure), way.mean(way.similarity)
        single = np.flatnonzero(retrieved >= 0)
        best = single[np.lexsort((-similarity[single], above[single], -value[single]))]
        worst = single[np.lexsort((similarity[single], -above[single], value[single]))]
        shown = np.empty(0, dtype=np.int64)
        for kind, queries in (("best", best), ("worst", worst[value[worst] < 1])):
            left = queries[~np.isin(retrieved[queries], shown)]
            left = left[np.sort(np.unique(retrieved[left], return_index=True)[1])][:_EXAMPLES]
            shown = retrieved[left]
            for position, query in enumerate(left.tolist()):
                example: dict[str, object] = {"task": NAME, "encoder": encoder, "kind": kind}
                example |= {"source": task.source, "target": task.target, "seed": sample.seed}
                for side, row in (("query", sample.source[query]), ("retrieved", retrieved[query])):
                    example[f"{side}_id"] = manifest.ids[row]
                    example[f"{side}_text"] = cut(manifest.text[row])
                    example[f"{side}_picture"] = self.run.picture(int(manifest.image[row]))
                example |= {"position": position, "above": int(above[query]), "tied": int(tied[query])}
                example["pool"] = len(distinct_values(self.images.code[sample.pool]))
                yield example | {"value": float(value[query]), "similarity": float(similarity[query])}
