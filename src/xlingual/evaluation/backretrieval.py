"""Backretrieval: how well texts match across languages, with pictures in place of translations.

For each source text the nearest target text is found; its picture must lead back to the query's own picture
among all source pictures (Fain, Twomey and Bollegala, SIGIR 2021).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from xlingual.arrays import distinct_values
from xlingual.data.manifest import Manifest
from xlingual.embed import TextVectors
from xlingual.encoders import ImageModelLike
from xlingual.evaluation.approximation.backretrieval import BackretrievalCheck
from xlingual.evaluation.approximation.choice import approximate
from xlingual.evaluation.examples import ExampleRows, examples_table
from xlingual.evaluation.found import Found, nodes, refuse_small_pools
from xlingual.evaluation.near_duplicates import DECLARED
from xlingual.evaluation.nearest import Nearest, nearest_texts
from xlingual.evaluation.perquery import PerQuery
from xlingual.evaluation.picture_space import PictureSpace
from xlingual.evaluation.references import Reference
from xlingual.evaluation.scores import Score, score
from xlingual.evaluation.setup import (
    EncoderSpecs,
    Options,
    Report,
    Task,
    Workspace,
    by_pair,
    collected_warnings,
)
from xlingual.evaluation.summary import Baseline, Scored, ScoreTable, leading_encoder, telling_pairs
from xlingual.evaluation.way_back import ways_back
from xlingual.measures import (
    Measure,
    PictureSimilarity,
    RankMeasure,
    RecallAt,
    RecallShare,
    as_recall,
    parse_rank_measures,
)
from xlingual.ranking import Ranker, one_library_thread
from xlingual.records import Floats, Ints
from xlingual.requests import answers
from xlingual.requests.evaluating import BackretrievalRequest
from xlingual.results import Results, Summary
from xlingual.store import StoreLike, open_store

if TYPE_CHECKING:
    import pyarrow as pa

NAME = "backretrieval"
SIM = PictureSimilarity()
_LARGE = 100_000  # distinct source pictures beyond which the best 0.1 % are told beside the best 10


@answers(BackretrievalRequest)
def backretrieval(
    manifest: Manifest,
    *,
    text_encoders: EncoderSpecs,
    image_encoder: ImageModelLike,
    pairs: str | Sequence[str] | None = None,
    sample_size: int | None = None,
    queries: int | None = None,
    splits: str | Path | None = None,
    seeds: int = 1,
    seed: int = 0,
    measures: str | Sequence[str | Measure] = ("R@10",),
    threads: int = 1,
    ranker: Ranker | None = None,
    examples: bool = True,
    progress: Report | None = None,
    store: StoreLike = "default",
    skip_broken: bool = False,
    cluster: str = DECLARED,
) -> Results:
    """Evaluate text encoders by Backretrieval, over language pairs and seeds.

    Args:
        manifest: texts with pictures, in two languages or more.
        text_encoders: specs, paths or objects with `encode`; a mapping names them.
        image_encoder: one spec, path or object; its cosine is the picture similarity g. Or g itself: a
            function of two batches of pictures that returns scores [n, m].
        pairs: language pairs such as "en-de,de-en"; None takes all ordered pairs.
        sample_size: items drawn for each side; None takes all.
        queries: sources that are asked, drawn at random; the others are candidates of the way back all the
            same. None asks all. There is no ceiling then, and chance is K/D.
        splits: an `.npz` with fixed samples, instead of `sample_size`, `seeds` and `seed`.
        seeds: number of samples drawn, with seeds `seed` … `seed` + `seeds` − 1.
        seed: the first seed.
        measures: `R@k` (each query has one right answer: `Success@k` is the same and reported as `R@k`),
            `R@p%`, `RR`, `RR@k`, `MedR`; SIM is always reported beside them, and R@0.1% (k = ⌈D/1000⌉)
            beside R@k where a pair has more than 100,000 distinct source pictures.
        threads: tiles computed side by side; changes no number.
        ranker: what ranks, such as `xlingual.ranking.Cpu`; None: this machine, with `threads`. With
            `xlingual.ranking.approximate.Approximate` every number says how far it may be off.
        examples: keep the best and worst queries of the leading encoder, for the report.
        progress: called with (what, done, of all).
        store: where vectors are kept and found again: a folder or a Store; "default" is the user's own, None
            keeps none.
        skip_broken: leave out texts whose picture is absent, missing or broken, with a warning.
        cluster: what makes queries dependent: "declared" (the manifest's clusters and items), or
            "near-duplicates" (these, and near-equal texts and images, which are looked for).

    Returns:
        Results with one entry per encoder, pair, measure and seed, with chance, oracle and ceiling.

    Raises:
        InputError: data, specs or options are not what they must be; the text says what to do.

    """
    ranked = as_recall(parse_rank_measures(measures, beside=[SIM]))
    options = Options(
        *(pairs, sample_size, splits, seeds, seed, threads, progress, skip_broken, open_store(store), ranker),
        queries=queries,
        cluster=cluster,
    )
    with collected_warnings() as warnings:
        workspace = Workspace(
            NAME, manifest, options, text_encoders, matching=False, image_spec=image_encoder
        )
        results = _Run(workspace, ranked).results(examples)
    results.warnings = warnings
    return results


class _Run:
    """One evaluation: embeds, ranks, scores, in this order."""

    def __init__(self, workspace: Workspace, measures: Sequence[RankMeasure]) -> None:
        ranker = approximate(workspace.options, measures)
        self.workspace, self.tasks = workspace, workspace.tasks
        self.image_name, self.image_identity, pictures = workspace.compared_pictures()
        workspace.join_near_duplicates(pictures)
        self.manifest, self.pictures = workspace.manifest, pictures
        refuse_small_pools(pictures, self.tasks, measures)
        self.measures = _with_share(measures, pictures, self.tasks)
        names = list(workspace.text_encoders)
        self.check = (
            None
            if ranker is None
            else BackretrievalCheck(ranker, self.tasks, names, self.measures, workspace.tally)
        )

    def results(self, examples: bool) -> Results:
        """Return everything that was found."""
        workspace = self.workspace
        nearest = {name: self._nearest(name, vectors) for name, vectors in workspace.encoded()}
        with workspace.timings.stage("pictures: rank"), one_library_thread():
            routes, references = ways_back(
                self.pictures,
                self.tasks,
                list(nearest.values()),
                self.measures,
                ranker=workspace.options.ranker,
                progress=workspace.progress("ranking pictures"),
                tally=workspace.tally,
                look=None if self.check is None else self.check.pictures,
            )
        found = {
            (name, number): Found(nearest[name][number], routes[i][number])
            for i, name in enumerate(nearest)
            for number in range(len(self.tasks))
        }
        with workspace.timings.stage("statistics"), workspace.working("computing intervals"):
            results = self._scored(found, references, examples)
        return workspace.finished(results)

    def _nearest(self, name: str, vectors: TextVectors) -> list[Nearest]:
        """Return the nearest texts of one encoder for each task."""
        found: dict[int, Nearest] = {}
        with self.workspace.timings.stage("texts: rank"), one_library_thread():
            for numbers in by_pair(self.tasks).values():
                nearest = nearest_texts(
                    vectors,
                    [self.tasks[number].sample for number in numbers],
                    ranker=self.workspace.options.ranker,
                    progress=self.workspace.progress(f"ranking texts: {name}"),
                    tally=self.workspace.tally,
                )
                found.update(zip(numbers, nearest, strict=True))
        several = [found[number] for number in range(len(self.tasks))]
        if self.check is not None:
            with self.workspace.timings.stage("texts: check"), one_library_thread():
                self.check.texts(name, vectors, several)
        return several

    def _scored(
        self,
        found: Mapping[tuple[str, int], Found],
        references: Sequence[Reference],
        examples: bool,
    ) -> Results:
        measures: list[RankMeasure | PictureSimilarity] = [*self.measures, SIM]
        table = ScoreTable(NAME, self.image_name, self.tasks, list(self.workspace.text_encoders), measures)
        per_query = PerQuery(self.manifest)
        for number, (task, reference) in enumerate(zip(self.tasks, references, strict=True)):
            for measure in measures:
                table.baselines[measure.name, number] = self._baseline(measure, number, task, reference)
        for (name, number), one in found.items():
            task = self.tasks[number]
            ways = nodes(self.manifest, number, task, one.nearest.single())
            for measure in measures:
                scored, values = self._one(name, number, measure, one, ways)
                table.scored[name, measure.name, number] = scored
                self._add_rows(per_query, name, task, measure, one, scored, values)
        entries, summary = table.entries(), table.summaries()
        shown = self._examples(summary, found, references) if examples else None
        return Results(entries, summary, per_query.table(), shown)

    def _one(
        self,
        name: str,
        number: int,
        measure: RankMeasure | PictureSimilarity,
        one: Found,
        ways: Sequence[Ints],
    ) -> tuple[Scored, Floats]:
        """Return one number and its value for each query."""
        task, check = self.tasks[number], self.check
        sampled = None if check is None else check.sampled(name, number, measure, ways)
        conditions = {} if check is None else check.conditions(number, sampled)
        signature = self.workspace.signature(
            task, measure.name, name, images=self.image_identity, **conditions
        )
        searched = None if check is None else check.searched(name, number, sampled)
        if sampled is not None:
            return Scored(sampled.score, None, signature, sampled.note, searched), sampled.values
        values = one.values(measure)
        found = score(measure, values, ways)
        if check is not None:
            found = check.checked(name, number, measure, found, values)
        return Scored(found, one.n_tied(), signature, searched=searched), values

    def _baseline(
        self, measure: RankMeasure | PictureSimilarity, number: int, task: Task, reference: Reference
    ) -> Baseline:
        ways = nodes(self.manifest, number, task, reference.oracle_target)
        values = reference.oracle.get(measure.name)
        oracle: Score | None = None if values is None else score(measure, values, ways)
        ceiling = reference.ceiling.get(measure.name)
        if self.check is not None and number in self.check.queries:
            ceiling = None  # what a search does not find might exceed it
            if oracle is not None and values is not None:
                oracle = self.check.checked_oracle(number, measure, oracle, values)
        return Baseline(
            reference.chance[measure.name], oracle, None if ceiling is None else float(ceiling.mean())
        )

    def _add_rows(
        self,
        per_query: PerQuery,
        name: str,
        task: Task,
        measure: RankMeasure | PictureSimilarity,
        one: Found,
        scored: Scored,
        values: Floats,
    ) -> None:
        ranked = not isinstance(measure, PictureSimilarity) and scored.n_tied is not None
        per_query.add(
            self.workspace.labels(task, name, measure.name),
            task.sample.seed,
            query=task.sample.source,
            retrieved=one.nearest.single_rows(task.sample.target),
            above=one.single(one.routes.counts.above) if ranked else None,
            tied=one.single(one.routes.counts.tied) if ranked else None,
            value=values,
        )

    def _examples(
        self,
        summary: Sequence[Summary],
        found: Mapping[tuple[str, int], Found],
        references: Sequence[Reference],
    ) -> pa.Table:
        """Return examples of the leading encoder, for the first sample of the chosen language pairs.

        There are none where the ranks of single queries are not known.
        """
        valued = {row.measure for row in summary if row.source is None and row.value is not None}
        first = next(measure for measure in [*self.measures, SIM] if measure.name in valued)
        leader = leading_encoder(summary, first)
        numbers = by_pair(self.tasks)
        blocks = []
        for pair in telling_pairs(summary, leader, first):
            number = numbers[pair][0]
            task, one = self.tasks[number], found[leader, number]
            if self.check is not None and self.check.is_sampled(leader, number, first):
                continue
            blocks.append(
                ExampleRows(
                    task=NAME,
                    encoder=leader,
                    source=task.source,
                    target=task.target,
                    seed=task.sample.seed,
                    query=task.sample.source,
                    retrieved=one.nearest.single_rows(task.sample.target),
                    above=one.single(one.routes.counts.above),
                    tied=one.single(one.routes.counts.tied),
                    value=one.values(first),
                    similarity=one.mean(one.routes.similarity),
                    pool=len(distinct_values(self.pictures.code[task.sample.pool])),
                )
            )
        return examples_table(self.manifest, blocks)


def _with_share(
    measures: Sequence[RankMeasure], pictures: PictureSpace, tasks: Sequence[Task]
) -> list[RankMeasure]:
    """Return the measures, and the best 0.1 % beside R@k where there are very many pictures."""
    most = max(len(distinct_values(pictures.code[task.sample.pool])) for task in tasks)
    large = most > _LARGE and any(isinstance(measure, RecallAt) for measure in measures)
    return list(dict.fromkeys([*measures, *([RecallShare(0.1)] if large else [])]))
