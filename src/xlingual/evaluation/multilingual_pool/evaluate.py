"""Answers from a multilingual pool (LAReQA): one pass for each encoder, and all views from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.data.names import Names
from xlingual.data.pools.pool import MultilingualPool
from xlingual.data.samples import MOST_SEED
from xlingual.embed.sides import PoolVectors, embed_pool
from xlingual.encoders import Encoder
from xlingual.errors import InputError, parameter
from xlingual.evaluation.hubs import NamedHubs
from xlingual.evaluation.lists import Lists, check_reach
from xlingual.evaluation.loop import Ranked, Recording, evaluate
from xlingual.evaluation.multilingual_pool.options import FROM_VECTORS, PREFER_OWN, PoolOptions, pool_options
from xlingual.evaluation.multilingual_pool.passes import Heads, PoolPass, hubs_among, rank_lists, rank_vectors
from xlingual.evaluation.multilingual_pool.ranks import PoolRanks
from xlingual.evaluation.multilingual_pool.space import Space, language_identification, most_apart, picture_of
from xlingual.evaluation.multilingual_pool.tables import PoolTables, names_of, tags_of
from xlingual.evaluation.multilingual_pool.views import View, chosen_views, measured, prefer_own, record
from xlingual.evaluation.near_duplicates import DECLARED, near_questions
from xlingual.evaluation.neighbours import KEPT
from xlingual.evaluation.numbers import Baseline, Numbers, Subject
from xlingual.evaluation.perquery import QueryRows
from xlingual.evaluation.pool_run import described, pool_systems
from xlingual.evaluation.run import EncoderSpecs, Options, Progress, Run, keeping_warnings
from xlingual.evaluation.run_systems import RunsLike, RunSystem, Search, joined
from xlingual.evaluation.trec import Member, Ranking
from xlingual.measures import (
    NDCG,
    AlignmentMeasure,
    AveragePrecision,
    Measure,
    PoolMeasure,
    TargetMeasure,
    parse_pool_measures,
)
from xlingual.ranking import Offsets, Ranker, rows_of
from xlingual.records import JudgedCounts, TargetCounts
from xlingual.requests import answers
from xlingual.requests.evaluating import MultilingualPoolRequest
from xlingual.results import Results
from xlingual.results.views import SpaceAxes
from xlingual.store import StoreLike, open_store

NAME = "multilingual-pool"
ALL, POOL = "all", "pool"  # source and target: the questions of all languages, the pool of all languages


@answers(MultilingualPoolRequest)
@keeping_warnings
def multilingual_pool(
    pool: MultilingualPool | str | Path,
    text_encoders: EncoderSpecs = (),
    *,
    runs: RunsLike = (),
    measures: str | Sequence[str | Measure] = ("AP",),
    views: str | Sequence[str] = "all",
    subsets: str | Sequence[str | Sequence[str]] = (),
    policy: str = "agnostic",
    grades: str | Mapping[str, int] | None = None,
    candidate_text: str = "sentence",
    picture: tuple[str, str] | None = None,
    seed: int = 0,
    examples: bool = True,
    neighbours: bool = True,
    trec: str | Path | None = None,
    trec_depth: int | None = 1000,
    threads: int = 1,
    ranker: Ranker | None = None,
    progress: Progress | None = None,
    store: StoreLike = "default",
    cluster: str = DECLARED,
    name: str | None = None,
) -> Results:
    """Evaluate text encoders by how well questions find their answers among candidates of all languages.

    `pool` is a pool or the path of one (to choose languages or a split: `MultilingualPool.read`). Encoders,
    runs, `candidate_text`, TREC files and what ranks are as in `retrieval`; `cluster` is as in
    `crosslingual_retrieval`, of near-equal questions of one language. `measures` are AP, AP@k, AP@k/min,
    nDCG, nDCG@k, R@k (set recall), Success@k (hit rate), P@k, RR, RR@k, MedR, WeakAlignment, StrongAlignment,
    StrongAlignment/strict and StrongAlignment/strict-own. Runs that do not rank the whole pool need measures
    with a cut. `name` is that of the pool, where a report shows several; None: that of its folder.

    `views`: "all", "none", or some of the views of language bias of explanation/language-bias. They belong to
    AP, but those of the first candidates (shares, fairness, hubs, worst) need it not: what needs it is left
    out of "all" without it, and refused where it is named, as are subsets and a picture. `subsets` are
    further sets of languages ("ar,de", or several such) to which pool and questions are restricted. `picture`
    are the two languages of the picture of the space, None: those furthest apart for the first encoder.
    `seed` is that of the paragraphs that are held out, and of points that are shown.

    `policy`: "agnostic", an answer is an answer in any language; or "prefer-own", only answers in the
    question's language are right. `grades`: what an answer in the question's language is worth in nDCG, and
    what one in another, such as "own=2,other=1"; those of the pool are multiplied by them.

    `examples`: keep texts (hubs, worst questions) in the results. `neighbours`: keep the ten nearest
    candidates of each question and the ranks of its answers, for `inspect`; under prefer-own the ranks only.

    Raises:
        InputError: data, specs or options are invalid; the text says what to do.

    """
    chosen, recording = parse_pool_measures(measures), Recording(examples, neighbours, trec, trec_depth)
    if not 0 <= seed <= MOST_SEED:
        raise InputError(f"{parameter('seed')} must be 0 to {MOST_SEED}, got {seed}")
    pool = MultilingualPool.read(pool) if isinstance(pool, str | Path) else pool
    if not isinstance(pool, MultilingualPool):
        raise InputError(f"expected a MultilingualPool or its path, found {type(pool).__name__}")
    selected = pool_options(
        pool, views, policy, candidate_text, subsets, picture=picture, measures=chosen, grades=grades
    )
    options = Options(seed=seed, threads=threads, progress=progress, store=open_store(store), cluster=cluster)
    options = replace(options, given_ranker=ranker)
    run = PoolRun(pool, selected, options, chosen, picture)
    run.fit(pool_systems(pool, joined(text_encoders, runs)), pool.question_texts(), pool.candidate_texts())
    return run.results(recording)


class PoolRun(Run):
    """One evaluation: a pool, the chosen views, and the systems."""

    def __init__(
        self,
        pool: MultilingualPool,
        selected: PoolOptions,
        options: Options,
        measures: Sequence[PoolMeasure],
        picture: tuple[str, str] | None,
    ) -> None:
        super().__init__(NAME, options)
        self.data = self.pool = pool
        self.selected, self.measures, self.picture = selected, measures, picture
        self.subject, self.tables = Subject(ALL, POOL, options.seed), PoolTables(pool)
        # views stand with AP, or with the first measure where they need none
        self.viewed = AveragePrecision() if AveragePrecision() in measures else measures[0]

    def results(self, recording: Recording) -> Results:
        """Return the results of all systems."""
        pool, subject = self.pool, self.subject
        with self.stage("near-duplicates", "looking for near-duplicates"):
            self.near = near_questions(pool.questions, self.options.cluster)
        self.cluster = (self.near.clusters or pool.questions).cluster
        number = {key: i for i, key in enumerate(dict.fromkeys(pool.questions.key))}
        item = np.array([number[key] for key in pool.questions.key], dtype=np.int64)
        labels, names = {"language": tags_of(pool, pool.questions)}, names_of(pool, pool.questions)
        rows = QueryRows(names, item, list(number), self.cluster, labels)
        numbers, stream = Numbers(NAME, self.measures, [subject], compared=0), self._stream(recording)
        candidate_ids = names_of(pool, pool.candidates)
        results = evaluate(self, numbers, stream, rows, recording, candidate_ids=candidate_ids)
        results.tables |= self.tables.tables([NAME, ALL, POOL, subject.seed])
        return results

    def _stream(self, recording: Recording) -> Iterator[Ranked]:
        """Rank the pool by each system, and look at the languages of what it ranked."""
        pool, least = self.pool, KEPT if recording.neighbours else 0
        for name, system in self.by_name.items():
            listed: Lists | PoolVectors
            if isinstance(system, RunSystem):
                listed = lists = self._lists(name, system)
                selected = self.selected.of_lists(lists, f"system {name!r}")
                with self.stage("texts: rank"):
                    passed = rank_lists(pool, lists, top=selected.top(len(pool.candidates), least))
            else:
                listed = vectors = self.encode(name, self._embedded)
                selected = self.selected.of_vectors(vectors.questions, f"text encoder {name!r}")
                passed = self._ranked(name, vectors, selected.top(len(pool.candidates), least))
            ranks, heads = passed.ranks, passed.heads
            grade = ranks.grade * np.where(ranks.own, *selected.grades)
            ranks = replace(ranks, cluster=self.cluster, grade=grade)
            with self.stage("views", f"looking at languages: {name}"):
                beside, hubs = self._space(name, listed, selected), None
                if heads is not None and "hubs" in selected.views:
                    hubs = hubs_among(ranks, heads)
                    beside["hubs"] = hubs.counts
                    self.tables.add_occurrences(name, hubs.hubness.occurrences)
                ranked = self._numbers(name, ranks, heads, selected, beside)
                if heads is not None and "worst" in selected.views and recording.examples:
                    values = ranked.values[self.viewed.name]
                    self.tables.add_worst(name, ranks, self.viewed, values, heads.first)
            nearest = None
            if recording.neighbours:
                self.tables.add_answers(name, ranks, self._right(ranks))
                if heads is not None and selected.policy != PREFER_OWN:
                    nearest = heads.neighbours()
            yield replace(
                ranked,
                hubs=None if hubs is None else NamedHubs(hubs, partial(described, pool), ranks.candidate),
                neighbours=nearest,
                candidates=np.arange(len(pool.candidates)),
                ranking=partial(self._ranking, listed, ranks, passed.offsets),
            )

    def _right(self, ranks: PoolRanks) -> np.ndarray:
        """Return which answers are right under the policy, bool [p]."""
        return ranks.own if self.selected.policy == PREFER_OWN else np.ones(len(ranks.question), dtype=bool)

    def _embedded(self, name: str, encoder: Encoder) -> PoolVectors:
        """Return the vectors of questions and candidates."""
        text = self.selected.candidate_text
        return embed_pool(self.pool, name, encoder, text, **self.embedding(), any_form=True)

    def _lists(self, name: str, system: RunSystem) -> Lists:
        """Return the lists of a run, long enough for the measures."""
        pool, place = self.pool, self.subject.place
        questions, candidates = (Names(tags_of(pool, s), s.ids) for s in (pool.questions, pool.candidates))
        rows = np.arange(len(pool.questions)), np.arange(len(pool.candidates))
        lists = system.lists(Search(questions, candidates, *rows, ALL, POOL, place[2], called="the pool"))
        self.count_unanswered(name, *place, lists)
        check_reach(lists, self.measures, repr(name), "nDCG")
        return lists

    def _ranked(self, name: str, vectors: PoolVectors, top: int) -> PoolPass:
        """Return where all answers stand, by vectors."""
        with self.stage("texts: rank"):
            passed = rank_vectors(
                self.pool,
                vectors.questions,
                vectors.candidates,
                top=top,
                ranker=self.options.ranker,
                repair=self.repair(name, self.pool.role_languages["query"]),
                progress=self.progress(f"ranking candidates: {name}"),
            )
        if passed.similarity is not None:
            self.tally.add(passed.similarity)
        return passed

    def _space(self, name: str, listed: PoolVectors | Lists, selected: PoolOptions) -> View:
        """Return the views of the vectors themselves; the first encoder's picture decides its languages."""
        view: View = {}
        if isinstance(listed, Lists) or not selected.views & set(FROM_VECTORS):
            return view
        space = Space(self.pool, listed.questions, listed.candidates, self.options.seed)
        if "language-id" in selected.views:
            view |= language_identification(space)
        if "picture" in selected.views and np.count_nonzero(space.sizes) >= 2:
            self.picture = self.picture or most_apart(space)
            points, shares = picture_of(space, self.picture)
            self.tables.add_points(name, points)
            view["picture"] = SpaceAxes(list(self.picture), list(shares))
        return view

    def _numbers(
        self, name: str, ranks: PoolRanks, heads: Heads | None, selected: PoolOptions, beside: View
    ) -> Ranked:
        """Turn where the answers stand into the values of all measures, with their views."""
        pool, preferring, right = self.pool, selected.policy == PREFER_OWN, self._right(ranks)
        questions, targets = np.unique(ranks.question[right]), ranks.targets(right)
        best, values, baselines, parts, views = targets.best(), {}, {}, {}, {}
        for measure in self.measures:
            own, chance = (_values(measure, ranks, targets, right, equal=equal) for equal in (False, True))
            values[measure.name] = _of_all(own, questions, ranks.n, np.nan)
            baselines[measure.name] = Baseline(measure.aggregate(chance[~np.isnan(own)]))
            view = measured(ranks, measure, values[measure.name])
            parts[measure.name] = view["by_question_language"]
            viewed = measure == self.viewed
            if preferring and measure == AveragePrecision() and heads is not None:
                view |= prefer_own(ranks, heads)
            elif not preferring:
                view |= chosen_views(
                    measure, ranks, heads if viewed else None, selected.views, selected.subsets
                )
                view |= beside if viewed else {}
            views[measure.name] = record(pool.languages, view)
        return Ranked(
            encoder=name,
            subject=self.subject,
            queries=np.arange(ranks.n),
            clusters=[self.cluster],
            n_candidates=len(pool.candidates),
            values=values,
            baselines=baselines,
            conditions={
                "languages": ",".join(pool.languages),
                "data": pool.digest[:12],
                "sample": f"all#{self.subject.seed}",
                **self.clusters(),
                "candidates": selected.candidate_text,
                "policy": selected.policy,
            },
            conditions_of={m.name: selected.grade_condition(pool, m) for m in self.measures},
            parts=parts,
            above=_of_all(best.above, questions, ranks.n, -1),
            tied=_of_all(best.tied, questions, ranks.n, -1),
            n_tied=ranks.n_tied(right if preferring else None),
            views=views,
        )

    def _ranking(self, listed: PoolVectors | Lists, ranks: PoolRanks, offsets: Offsets | None) -> Ranking:
        """Return what a TREC file lists: the candidates of each question."""
        pool, order = self.pool, np.lexsort((ranks.candidate, ranks.question))
        order = order[self._right(ranks)[order]]
        question, candidate, grade = (side[order] for side in (ranks.question, ranks.candidate, ranks.grade))
        questions, candidates = (
            [Member(tag, text) for tag, text in zip(tags_of(pool, side), side.ids, strict=True)]
            for side in (pool.questions, pool.candidates)
        )
        ranking = Ranking(questions, candidates, (question, candidate), judged=(question, candidate, grade))
        if isinstance(listed, Lists):
            return replace(ranking, lists=listed)
        vectors = rows_of(listed.questions), rows_of(listed.candidates)
        return replace(ranking, vectors=vectors, offsets=offsets)


def _of_all(column: np.ndarray, questions: Ints, n: int, missing: float) -> np.ndarray:
    """Return a column of some questions as one of all [n]."""
    whole = np.full(n, missing, dtype=column.dtype)
    whole[questions] = column
    return whole


def _values(
    measure: PoolMeasure, ranks: PoolRanks, targets: TargetCounts, right: np.ndarray, *, equal: bool
) -> Floats:
    """Return the values of a measure for each question [k], NaN for none; `equal`: all candidates tie."""
    if equal:
        nothing, everything = np.zeros_like(targets.above), targets.pool[targets.query]
        targets = replace(targets, above=nothing, tied=everything)
    if isinstance(measure, AlignmentMeasure):
        return measure.per_query(ranks.alignment(equal=equal))
    if isinstance(measure, NDCG):
        lines = targets.query, targets.above, targets.tied, ranks.grade[right]
        return measure.per_query(JudgedCounts(*lines, targets.pool, targets.pool))
    if isinstance(measure, TargetMeasure):
        return measure.per_query(targets)
    return measure.per_query(targets.best())
