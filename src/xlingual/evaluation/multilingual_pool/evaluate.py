"""Answers from a multilingual pool (LAReQA): one pass for each encoder, and all views from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
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
from xlingual.evaluation.hubs import Hubs, NamedHubs
from xlingual.evaluation.lists import Lists, check_reach, cut_of
from xlingual.evaluation.loop import Ranked, Recording, evaluate
from xlingual.evaluation.multilingual_pool.options import PREFER_OWN, PoolOptions, pool_options
from xlingual.evaluation.multilingual_pool.passes import PoolPass, rank_lists, rank_vectors
from xlingual.evaluation.multilingual_pool.ranks import PoolRanks
from xlingual.evaluation.multilingual_pool.space import (
    Space,
    language_identification,
    most_apart,
)
from xlingual.evaluation.multilingual_pool.space import (
    picture as picture_of,
)
from xlingual.evaluation.multilingual_pool.tables import PoolTables, names_of, tags_of
from xlingual.evaluation.multilingual_pool.views import (
    FROM_RANKS,
    View,
    fairness,
    found_among,
    language_shares,
    measured,
    monolingual_ndcg,
    monolingual_pool,
    prefer_own,
    record,
    views_of_measure,
)
from xlingual.evaluation.multilingual_pool.views import (
    subsets as subsets_view,
)
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
from xlingual.ranking import Ranker, rows_of
from xlingual.records import AlignmentCounts, JudgedCounts, TargetCounts
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

    Args:
        pool: a pool, or the path of one; to choose languages or a split, `MultilingualPool.read`.
        text_encoders: one spec or encoder, several, or a mapping of names to them; a search system's run
            (`SearchRun`, run:FILE) among them.
        runs: search systems by what they returned: {name: file, SearchRun or {query: {candidate: score}}}.
        measures: AP, AP@k, AP@k/min, nDCG, nDCG@k, R@k (set recall), Success@k (hit rate), P@k, RR, RR@k,
            MedR, WeakAlignment, StrongAlignment, StrongAlignment/strict, StrongAlignment/strict-own. Runs
            that do not rank the whole pool need measures with a cut.
        views: "all", "none", or some of the views of language bias of explanation/language-bias; they belong
            to AP, but those of the first candidates (shares, fairness, hubs, worst) need it not: what needs
            it is left out of "all" without it, and refused where it is named, as are subsets and a picture.
        subsets: further sets of languages ("ar,de", or several such) to which pool and questions are
            restricted.
        policy: "agnostic": an answer is an answer in any language; "prefer-own": only answers in the
            question's language are right.
        grades: what an answer in the question's language is worth in nDCG, and what one in another, such as
            "own=2,other=1"; grades of the pool are multiplied by them. None: all languages the same.
        candidate_text: "sentence", or "sentence+context".
        picture: the two languages of the picture of the space; None: the two whose vectors are furthest apart
            for the first encoder.
        seed: of the paragraphs that are held out, and of points that are shown.
        examples: keep texts (hubs, worst questions) in the results.
        neighbours: keep the ten nearest candidates of each question and the ranks of its answers, for
            `inspect_results`; under prefer-own the ranks only.
        trec: folder for run and qrels files.
        trec_depth: how many candidates of each question a run holds, None for all (a line of some 55 bytes
            for each question and candidate).
        threads: threads side by side; they change no number.
        ranker: what ranks, such as `xlingual.ranking.Cpu`; None: this machine, with `threads`.
        progress: called with (what, done, total).
        store: where vectors are kept and found again: a folder or a Store; "default" is the user's own, None
            keeps none.
        cluster: what makes questions dependent: "declared" (the pool's clusters), or "near-duplicates"
            (these, and near-equal questions of one language).
        name: of the pool, where a report shows several; None: that of its folder.

    Raises:
        InputError: data, specs or options are invalid; the text says what to do.

    """
    chosen, recording = parse_pool_measures(measures), Recording(examples, neighbours, trec, trec_depth)
    if not 0 <= seed <= MOST_SEED:
        raise InputError(f"{parameter('seed')} must be 0 to {MOST_SEED}, got {seed}")
    if isinstance(pool, str | Path):
        pool = MultilingualPool.read(pool)
    elif not isinstance(pool, MultilingualPool):
        raise InputError(
            f"expected a MultilingualPool or its path, found {type(pool).__name__}: read it with "
            "MultilingualPool.read(path)"
        )
    selected = pool_options(
        pool, views, policy, candidate_text, subsets, picture=picture, measures=chosen, grades=grades
    )
    _check_languages(pool, picture)
    options = Options(
        seed=seed,
        threads=threads,
        progress=progress,
        store=open_store(store),
        given_ranker=ranker,
        cluster=cluster,
    )
    run = PoolRun(pool, selected, options, chosen, picture)
    run.fit(pool_systems(pool, joined(text_encoders, runs)), pool.question_texts(), pool.candidate_texts())
    return run.results(recording)


def _check_languages(pool: MultilingualPool, picture: tuple[str, str] | None) -> None:
    """Raise InputError where the pool has candidates of one language, or not those of the picture."""
    if len(np.unique(pool.candidates.language)) < 2:
        raise InputError(
            f"{pool.source}: all candidates are in {pool.languages[pool.candidates.language[0]]!r}: a "
            "multilingual pool has candidates in two languages at least: choose more languages, or use "
            "evaluate crosslingual-retrieval (with a manifest) where one language is searched"
        )
    if picture is not None and (len(set(picture)) != 2 or not set(picture) <= set(pool.languages)):
        raise InputError(
            f"picture of {','.join(picture)!r}: expected two of the languages {', '.join(pool.languages)}"
        )


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
        rows = QueryRows(
            names_of(pool, pool.questions),
            np.array([number[key] for key in pool.questions.key], dtype=np.int64),
            list(number),
            self.cluster,
            {"language": tags_of(pool, pool.questions)},
        )
        numbers = Numbers(NAME, self.measures, [subject], compared=0)
        candidate_ids = names_of(pool, pool.candidates)
        results = evaluate(
            self, numbers, self._stream(recording), rows, recording, candidate_ids=candidate_ids
        )
        results.tables |= self.tables.tables([NAME, ALL, POOL, subject.seed])
        return results

    def _stream(self, recording: Recording) -> Iterator[Ranked]:
        """Rank the pool by each system, and look at the languages of what it ranked."""
        least = KEPT if recording.neighbours else 0
        for name, system in self.by_name.items():
            listed: Lists | PoolVectors
            if isinstance(system, RunSystem):
                listed = lists = self._lists(name, system)
                selected = self.selected.of_lists(lists, f"system {name!r}")
                with self.stage("texts: rank"):
                    passed = rank_lists(self.pool, lists, top=selected.top(len(self.pool.candidates), least))
            else:
                listed = vectors = self.encode(name, self._embedded)
                selected = self.selected.of_vectors(vectors.questions, f"text encoder {name!r}")
                passed = self._ranked(name, vectors, selected.top(len(self.pool.candidates), least))
            passed = replace(passed, ranks=replace(passed.ranks, cluster=self.cluster))
            with self.stage("views", f"looking at languages: {name}"):
                beside = self._space(name, listed, selected)
                hubs = None
                if passed.heads is not None and "hubs" in selected.views:
                    hubs = passed.hubs()
                    beside["hubs"] = hubs.counts
                ranked = self._numbers(name, passed, selected, beside)
                ranked = self._recorded(ranked, passed, selected, hubs, recording)
            yield replace(ranked, ranking=partial(self._ranking, listed, passed))

    def _right(self, ranks: PoolRanks) -> np.ndarray:
        """Return which answers are right under the policy, bool [p]."""
        return ranks.own if self.selected.policy == PREFER_OWN else np.ones(len(ranks.question), dtype=bool)

    def _embedded(self, name: str, encoder: Encoder) -> PoolVectors:
        """Return the vectors of questions and candidates."""
        text = self.selected.candidate_text
        return embed_pool(self.pool, name, encoder, text, **self.embedding(), any_form=True)

    def _lists(self, name: str, system: RunSystem) -> Lists:
        """Return the lists of a run, long enough for the measures."""
        pool = self.pool
        questions, candidates = (Names(tags_of(pool, s), s.ids) for s in (pool.questions, pool.candidates))
        rows = np.arange(len(pool.questions)), np.arange(len(pool.candidates))
        seed = self.subject.seed
        lists = system.lists(Search(questions, candidates, *rows, ALL, POOL, seed, called="the pool"))
        self.count_unanswered(name, *self.subject.place, lists)
        check_reach(lists, self.measures, repr(name))
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
        if isinstance(listed, Lists) or not selected.views & {"language-id", "picture"}:
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

    def _numbers(self, name: str, passed: PoolPass, selected: PoolOptions, beside: View) -> Ranked:
        """Turn where the answers stand into the values of all measures, with their views."""
        pool, ranks, preferring = self.pool, passed.ranks, selected.policy == PREFER_OWN
        right = self._right(ranks)
        questions, targets = np.unique(ranks.question[right]), ranks.targets(right)
        grades = selected.graded(ranks.grade, ranks.own)[right]
        nothing, everything = np.zeros_like(targets.above), targets.pool[targets.query]
        equal = replace(targets, above=nothing, tied=everything)  # all candidates are equal
        best, values, baselines, parts, views = targets.best(), {}, {}, {}, {}
        for measure in self.measures:
            own, chance = (
                _values(measure, counts, grades, aligned)
                for counts, aligned in ((targets, ranks.alignment), (equal, ranks.equal_alignment))
            )
            values[measure.name] = _of_all(own, questions, ranks.n, np.nan)
            baselines[measure.name] = Baseline(measure.aggregate(chance[~np.isnan(own)]))
            view = measured(ranks, measure, values[measure.name])
            parts[measure.name] = view["by_question_language"]
            if preferring and measure == AveragePrecision() and passed.heads is not None:
                view |= prefer_own(ranks, passed.heads)
            elif not preferring:
                view |= self._views(measure, passed, selected, grades)
                view |= beside if measure == self.viewed else {}
            views[measure.name] = record(pool.languages, [view])
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

    def _views(self, measure: PoolMeasure, passed: PoolPass, selected: PoolOptions, grades: Ints) -> View:
        """Return the chosen views that belong to a measure; hubs and worst questions are recorded apart."""
        ranks, heads, chosen, view = passed.ranks, passed.heads, selected.views, View()
        if measure == AveragePrecision():
            for name in FROM_RANKS:
                view |= FROM_RANKS[name](ranks) if name in chosen else {}
            view |= subsets_view(ranks, selected.subsets) if "subsets" in chosen else {}
        if measure == self.viewed and heads is not None:
            view |= language_shares(ranks, heads) if "shares" in chosen else {}
            view |= fairness(ranks, heads) if "fairness" in chosen else {}
        belonging = views_of_measure(measure, len(self.pool.candidates)) & chosen
        cut = cut_of(measure, len(self.pool.candidates))
        if "found" in belonging and cut is not None:
            view |= found_among(ranks, cut)
        if "monolingual-pool" in belonging and isinstance(measure, NDCG):
            view |= monolingual_pool(ranks, monolingual_ndcg(ranks, measure, grades))
        return view

    def _recorded(
        self,
        ranked: Ranked,
        passed: PoolPass,
        selected: PoolOptions,
        hubs: Hubs | None,
        recording: Recording,
    ) -> Ranked:
        """Record what a person reads: hubs, the worst questions, and where answers and neighbours stand."""
        ranks, heads, name = passed.ranks, passed.heads, ranked.encoder
        if recording.neighbours:
            self.tables.add_answers(name, ranks, self._right(ranks))
            if heads is not None and selected.policy != PREFER_OWN:
                candidates = np.arange(len(self.pool.candidates))
                ranked = replace(ranked, neighbours=heads.neighbours(), candidates=candidates)
        if hubs is not None:
            self.tables.add_occurrences(name, hubs.hubness.occurrences)
            named = NamedHubs(hubs, partial(described, self.pool), ranks.candidate)
            ranked = replace(ranked, hubs=named)
        if heads is not None and "worst" in selected.views and recording.examples:
            self.tables.add_worst(name, ranks, self.viewed, ranked.values[self.viewed.name], heads.first)
        return ranked

    def _ranking(self, listed: PoolVectors | Lists, passed: PoolPass) -> Ranking:
        """Return what a TREC file lists: the candidates of each question."""
        pool, ranks = self.pool, passed.ranks
        right = self._right(ranks)
        pairs = ranks.question[right], ranks.candidate[right]
        grades = self.selected.graded(ranks.grade, ranks.own)[right]
        order = np.lexsort(pairs[::-1])
        question, candidate, grade = (side[order] for side in (*pairs, grades))
        questions, candidates = (
            [Member(tag, text) for tag, text in zip(tags_of(pool, side), side.ids, strict=True)]
            for side in (pool.questions, pool.candidates)
        )
        ranking = Ranking(questions, candidates, (question, candidate), judged=(question, candidate, grade))
        if isinstance(listed, Lists):
            return replace(ranking, lists=listed)
        vectors = rows_of(listed.questions), rows_of(listed.candidates)
        return replace(ranking, vectors=vectors, offsets=passed.offsets)


def _of_all(column: np.ndarray, questions: Ints, n: int, missing: float) -> np.ndarray:
    """Return a column of some questions as one of all [n]."""
    whole = np.full(n, missing, dtype=column.dtype)
    whole[questions] = column
    return whole


def _values(
    measure: PoolMeasure, targets: TargetCounts, grades: Ints, aligned: Callable[[], AlignmentCounts]
) -> Floats:
    """Return the values of a measure for each question [k], NaN for those that have none."""
    if isinstance(measure, AlignmentMeasure):
        return measure.per_query(aligned())
    if isinstance(measure, NDCG):
        lines = targets.query, targets.above, targets.tied, grades
        return measure.per_query(JudgedCounts(*lines, targets.pool, targets.pool))
    if isinstance(measure, TargetMeasure):
        return measure.per_query(targets)
    return measure.per_query(targets.best())
