"""Answers from a multilingual pool (LAReQA): one pass for each encoder, and all views from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.data.names import Names
from xlingual.data.pools.pool import Candidates, MultilingualPool, Questions
from xlingual.data.samples import MOST_SEED
from xlingual.embed.sides import PoolVectors, embed_pool
from xlingual.encoders import Encoder
from xlingual.errors import InputError, parameter
from xlingual.evaluation.hubs import NamedHubs
from xlingual.evaluation.lists import Lists, check_reach
from xlingual.evaluation.loop import Ranked, Recording, evaluate
from xlingual.evaluation.multilingual_pool.alignment import alignment_counts, all_equal
from xlingual.evaluation.multilingual_pool.choice import Choice, choose
from xlingual.evaluation.multilingual_pool.encoder_views import EncoderFindings, encoder_findings
from xlingual.evaluation.multilingual_pool.listed_pass import listed_pass
from xlingual.evaluation.multilingual_pool.lists import named
from xlingual.evaluation.multilingual_pool.measure_views import measure_views
from xlingual.evaluation.multilingual_pool.one_pass import PassCounts, one_pass
from xlingual.evaluation.multilingual_pool.texts import PoolTables
from xlingual.evaluation.multilingual_pool.views import QuestionLanguages, question_languages, record_of
from xlingual.evaluation.near_duplicates import DECLARED, near_questions
from xlingual.evaluation.neighbours import (
    DECIMALS,
    KEPT,
    Neighbours,
    Scores,
    first_lines,
    listed_neighbours,
)
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
from xlingual.ranking import Ranker, rows_of, similarity_of
from xlingual.records import AlignmentCounts, JudgedCounts, TargetCounts
from xlingual.requests import answers
from xlingual.requests.evaluating import MultilingualPoolRequest
from xlingual.results import Results
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
        views: "all", "none", or some of the views of language bias of explanation/language-bias;
            they belong to AP: without it "all" gives none, and some named are refused, as are subsets and
            a picture. Those of the first candidates (shares, fairness, hubs, worst) can be named without AP,
            and are in "all" where there is a run.
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
    choice = choose(
        pool, views, policy, candidate_text, subsets, picture=picture, measures=chosen, grades=grades
    )
    options = Options(
        seed=seed,
        threads=threads,
        progress=progress,
        store=open_store(store),
        given_ranker=ranker,
        cluster=cluster,
    )
    run = PoolRun(pool, choice, options, chosen)
    run.prepare(joined(text_encoders, runs), picture)
    return run.results(recording)


class PoolRun(Run):
    """One evaluation: a pool, the chosen views, and the encoders."""

    def __init__(
        self, pool: MultilingualPool, choice: Choice, options: Options, measures: Sequence[PoolMeasure]
    ) -> None:
        super().__init__(NAME, options)
        self.data = self.pool = pool
        self.choice, self.measures = choice, measures
        self.picture: tuple[str, str] | None = None
        self.subject = Subject(ALL, POOL, options.seed)
        # views stand with AP, or with the first measure where they need none
        self.viewed = AveragePrecision() if AveragePrecision() in measures else measures[0]

    def prepare(self, specs: EncoderSpecs, picture: tuple[str, str] | None) -> None:
        """Make the encoders, and refuse what cannot be evaluated, before any work is done."""
        pool = self.pool
        if len(np.unique(pool.candidates.language)) < 2:
            raise InputError(
                f"{pool.source}: all candidates are in {pool.languages[pool.candidates.language[0]]!r}: a "
                "multilingual pool has candidates in two languages at least: choose more languages, add them "
                "(of a retrieval folder: one folder for each language), or use evaluate "
                "crosslingual-retrieval (with a manifest) where one language is searched"
            )
        if picture is not None and (len(set(picture)) != 2 or not set(picture) <= set(pool.languages)):
            raise InputError(
                f"picture of {','.join(picture)!r}: expected two of the languages {', '.join(pool.languages)}"
            )
        self.picture = picture
        self.fit(pool_systems(pool, specs), pool.question_texts(), pool.candidate_texts())

    def embedded(self, name: str, encoder: Encoder) -> PoolVectors:
        """Return the vectors of questions and candidates."""
        text = self.choice.candidate_text
        return embed_pool(self.pool, name, encoder, text, **self.embedding(), any_form=True)

    def results(self, recording: Recording) -> Results:
        """Return the results of all systems."""
        with self.stage("near-duplicates", "looking for near-duplicates"):
            self.near = near_questions(self.pool.questions, self.options.cluster)
        self.cluster = (self.near.clusters or self.pool.questions).cluster
        if any(isinstance(system, RunSystem) for system in self.by_name.values()):
            self.choice = self.choice.beside_lists()
        numbers = Numbers(NAME, self.measures, [self.subject], compared=0)
        tables = PoolTables(self.pool, recording.examples, self.viewed, self.subject)
        candidate_ids = _named(self.pool, self.pool.candidates)
        results = evaluate(
            self,
            numbers,
            self._stream(tables, neighbours=recording.neighbours),
            self._rows(),
            recording,
            candidate_ids=candidate_ids,
        )
        results.tables |= tables.tables()
        return results

    def _rows(self) -> QueryRows:
        """Return the rows of the table of queries: a question in a language, "ar/ID"."""
        questions = self.pool.questions
        number = {key: i for i, key in enumerate(dict.fromkeys(questions.key))}
        return QueryRows(
            _named(self.pool, questions),
            np.array([number[key] for key in questions.key], dtype=np.int64),
            list(number),
            self.cluster,
            {"language": _tags(self.pool, questions)},
        )

    def _stream(self, tables: PoolTables, *, neighbours: bool) -> Iterator[Ranked]:
        """Rank the pool by each system, and look at the languages of what it ranked."""
        for name in self.by_name:
            listed = self._listed(name)
            choice, passed = self._ranked(name, listed, KEPT if neighbours else 0)
            with self.stage("views", f"looking at languages: {name}"):
                both = None if isinstance(listed, Lists) else (listed.questions, listed.candidates)
                findings = encoder_findings(self.pool, choice, passed, both, self.options.seed, self.picture)
                if findings.picture is not None:
                    self.picture = findings.picture.languages
                ranked, values = self._numbers(name, findings)
                tables.add(name, findings, values, answers=neighbours)
            nearest = self._neighbours(listed, passed) if neighbours else None
            yield replace(ranked, neighbours=nearest, ranking=partial(self._ranking, listed, passed))

    def _listed(self, name: str) -> PoolVectors | Lists:
        """Return the vectors of an encoder, or the lists of a run, long enough for the measures."""
        system = self.by_name[name]
        if not isinstance(system, RunSystem):
            return self.encode(name, self.embedded)
        pool = self.pool
        names, candidate_names = (
            Names(_tags(pool, side), side.ids) for side in (pool.questions, pool.candidates)
        )
        rows = np.arange(len(pool.questions)), np.arange(len(pool.candidates))
        sides = names, candidate_names, *rows
        lists = system.lists(Search(*sides, ALL, POOL, self.subject.seed, called="the pool"))
        self.count_unanswered(name, *self.subject.place, lists)
        check_reach(lists, self.measures, repr(name))
        return lists

    def _ranked(self, name: str, listed: PoolVectors | Lists, least: int) -> tuple[Choice, PassCounts]:
        """Return the choice of views for a system, and where all relevant candidates stand."""
        top, depth = self.choice.heads(len(self.pool.candidates), least)
        if isinstance(listed, Lists):
            choice = self.choice.of_lists(listed, f"system {name!r}")
            with self.stage("texts: rank"):
                return choice, listed_pass(self.pool, listed, top=top, depth=depth, cluster=self.cluster)
        choice = self.choice.of_form(listed.questions, f"text encoder {name!r}")
        with self.stage("texts: rank"):
            passed = one_pass(
                self.pool,
                listed.questions,
                listed.candidates,
                cluster=self.cluster,
                top=top,
                depth=depth,
                ranker=self.options.ranker,
                repair=self.repair(name, self.pool.role_languages["query"]),
                progress=self.progress(f"ranking candidates: {name}"),
            )
        self.tally.screened += passed.screened
        self.tally.decided += passed.decided
        return choice, passed

    def _numbers(self, name: str, findings: EncoderFindings) -> tuple[Ranked, Floats]:
        """Return the values of all measures with their views, and those with which views stand."""
        pool, choice, n = self.pool, findings.choice, len(self.pool.questions)
        targets, aligned = findings.targets, alignment_counts(findings.ranks)
        whole, nothing = targets.pool[targets.query], np.zeros_like(targets.above)
        equal = TargetCounts(targets.query, nothing, whole, targets.pool)  # all candidates are equal
        values, chances = (
            {measure.name: _values(measure, counts, findings.grades, languages) for measure in self.measures}
            for counts, languages in (
                (targets, aligned),
                (equal, all_equal(findings.ranks, aligned)),
            )
        )
        by_language: dict[str, QuestionLanguages] = {}
        records, baselines, conditions = {}, {}, {}
        for measure in self.measures:
            rows = np.flatnonzero(~np.isnan(values[measure.name]))
            languages = question_languages(
                findings.counts, measure, values[measure.name][rows], findings.questions[rows]
            )
            views = [languages.view()]
            if measure == self.viewed and (choice.with_ap or choice.policy == "agnostic"):
                views += findings.views
            if choice.policy == "agnostic":
                views += measure_views(findings.ranks, measure, choice.views, findings.grades)
            by_language[measure.name], records[measure.name] = languages, record_of(pool.languages, views)
            baselines[measure.name] = Baseline(measure.aggregate(chances[measure.name][rows]))
            conditions[measure.name] = self.choice.grades.condition(pool, measure)
        best = findings.targets.best()

        def of_all(column: np.ndarray, missing: float) -> np.ndarray:
            whole = np.full(n, missing, dtype=column.dtype)
            whole[findings.questions] = column
            return whole

        hubs = None
        if findings.hubs is not None:
            hubs = NamedHubs(findings.hubs, partial(described, pool), pool.relevant[1])
        ranked = Ranked(
            encoder=name,
            subject=self.subject,
            queries=np.arange(n),
            clusters=[self.cluster],
            n_candidates=len(pool.candidates),
            values={measure: of_all(column, np.nan) for measure, column in values.items()},
            baselines=baselines,
            conditions={
                "languages": ",".join(pool.languages),
                "data": pool.digest[:12],
                "sample": f"all#{self.subject.seed}",
                **self.clusters(),
                "candidates": self.choice.candidate_text,
                "policy": self.choice.policy,
            },
            conditions_of=conditions,
            parts={measure: languages.languages for measure, languages in by_language.items()},
            above=of_all(best.above, -1),
            tied=of_all(best.tied, -1),
            n_tied=findings.n_tied,
            views=records,
            hubs=hubs,
            candidates=np.arange(len(pool.candidates)),
        )
        return ranked, values[self.viewed.name]

    def _neighbours(self, listed: PoolVectors | Lists, passed: PassCounts) -> Neighbours | None:
        """Return the first candidates of each question; groups of very many that tie are not listed."""
        if isinstance(listed, Lists):
            return listed_neighbours(listed)
        if passed.heads is None or passed.heads.top < min(KEPT, len(self.pool.candidates)):
            return None
        lines = named(passed.heads).first(KEPT)
        rows = first_lines(lines.question, KEPT)
        question, candidate = lines.question[rows], lines.candidate[rows]
        if passed.offsets is None and passed.similarity is not None:  # whose vectors are made
            score = Scores(passed.similarity)(question, passed.heads.columns.of[candidate])
        else:
            both = similarity_of(rows_of(listed.questions), rows_of(listed.candidates))
            score = Scores(both, passed.offsets)(question, candidate)
        return Neighbours(question, candidate, lines.above[rows], lines.tied[rows], np.round(score, DECIMALS))

    def _ranking(self, listed: PoolVectors | Lists, passed: PassCounts) -> Ranking:
        """Return what a TREC file lists: the candidates of each question."""
        pool, grade = self.pool, self.choice.grades.of(self.pool)
        question, candidate = pool.relevant
        if self.choice.policy == "prefer-own":
            own = pool.questions.language[question] == pool.candidates.language[candidate]
            question, candidate, grade = question[own], candidate[own], grade[own]
        questions, candidates = (
            [Member(tag, text) for tag, text in zip(_tags(pool, side), side.ids, strict=True)]
            for side in (pool.questions, pool.candidates)
        )
        ranking = Ranking(questions, candidates, (question, candidate), judged=(question, candidate, grade))
        if isinstance(listed, Lists):
            return replace(ranking, lists=listed)
        vectors = rows_of(listed.questions), rows_of(listed.candidates)
        return replace(ranking, vectors=vectors, offsets=passed.offsets)


def _tags(pool: MultilingualPool, side: Questions | Candidates) -> list[str]:
    """Return the language of each question, or candidate."""
    return [pool.languages[code] for code in side.language.tolist()]


def _named(pool: MultilingualPool, side: Questions | Candidates) -> list[str]:
    """Return the names of questions or candidates, "ar/ID"."""
    return [f"{tag}/{text}" for tag, text in zip(_tags(pool, side), side.ids, strict=True)]


def _values(
    measure: PoolMeasure, targets: TargetCounts, grades: Ints, by_language: AlignmentCounts
) -> Floats:
    """Return the values of a measure for each question [k], NaN for those that have none."""
    if isinstance(measure, AlignmentMeasure):
        return measure.per_query(by_language)
    if isinstance(measure, NDCG):
        lines = targets.query, targets.above, targets.tied, grades
        return measure.per_query(JudgedCounts(*lines, targets.pool, targets.pool))
    if isinstance(measure, TargetMeasure):
        return measure.per_query(targets)
    return measure.per_query(targets.best())
