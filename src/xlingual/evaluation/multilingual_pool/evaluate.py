"""Answers from a multilingual pool (LAReQA), for several encoders: one pass each, all views from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.pools.pool import MultilingualPool
from xlingual.data.samples import MOST_SEED
from xlingual.embed.sides import PoolVectors, embed_pool, load_fit_texts
from xlingual.encoders import Encoder
from xlingual.encoders.vectors import VectorsEncoder
from xlingual.errors import InputError, parameter
from xlingual.evaluation.lists import Lists, check_reach
from xlingual.evaluation.multilingual_pool.choice import Choice, choose
from xlingual.evaluation.multilingual_pool.encoder_views import encoder_findings
from xlingual.evaluation.multilingual_pool.kept import KeptOfQuestions
from xlingual.evaluation.multilingual_pool.listed_pass import listed_pass, search_of
from xlingual.evaluation.multilingual_pool.numbers import ALL, POOL, PoolNumbers
from xlingual.evaluation.multilingual_pool.one_pass import PassCounts, one_pass
from xlingual.evaluation.multilingual_pool.texts import PoolTables
from xlingual.evaluation.near_duplicates import DECLARED, NearDuplicates, near_questions
from xlingual.evaluation.neighbours import KEPT
from xlingual.evaluation.run import EncoderSpecs, Options, Progress, Run, keeping_warnings
from xlingual.evaluation.run_systems import RunsLike, RunSystem, joined, systems
from xlingual.evaluation.trec import (
    Member,
    Ranking,
    check_depth,
    unfinished,
    warn_of_size,
    write_ranking,
)
from xlingual.measures import Measure, PoolMeasure, parse_pool_measures
from xlingual.ranking import Offsets, Ranker, rows_of
from xlingual.requests import answers
from xlingual.requests.evaluating import MultilingualPoolRequest
from xlingual.results import Results
from xlingual.store import StoreLike, open_store

NAME = "multilingual-pool"
_AS_IN = ", as in vectors:model.{role}.{lang}.npy"


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
    ranked = parse_pool_measures(measures)
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
        pool,
        views,
        policy,
        candidate_text,
        subsets,
        picture=picture,
        measures=ranked,
        grades=grades,
    )
    options = Options(
        seed=seed,
        threads=threads,
        progress=progress,
        store=open_store(store),
        given_ranker=ranker,
        cluster=cluster,
    )
    run = PoolRun(pool, choice, options)
    run.prepare(joined(text_encoders, runs), picture)
    if trec is not None:
        check_depth(trec_depth)
        size = len(pool.candidates) if trec_depth is None else min(trec_depth, len(pool.candidates))
        warn_of_size(len(pool.questions) * size * len(run.by_name), len(run.by_name))
    with nullcontext() if trec is None else unfinished(trec) as folder:
        return run.results(ranked, folder, trec_depth, examples=examples, neighbours=neighbours)


class PoolRun(Run):
    """One evaluation: a pool, the chosen views, and the encoders."""

    def __init__(self, pool: MultilingualPool, choice: Choice, options: Options) -> None:
        super().__init__(NAME, options)
        self.data, self.pool, self.choice = pool, pool, choice
        self.picture: tuple[str, str] | None = None

    def prepare(self, specs: EncoderSpecs, picture: tuple[str, str] | None) -> None:
        """Make the encoders, and refuse what cannot be evaluated, before any work is done."""
        pool = self.pool
        if len(np.unique(pool.candidates.language)) < 2:
            raise InputError(
                f"{pool.source}: all candidates are in {pool.languages[pool.candidates.language[0]]!r}: a "
                "multilingual pool has candidates in two languages at least: choose more languages, add them "
                f"(xlingual data translate-pool {pool.source} --to LANG --by SPEC --out DIR; of a retrieval "
                "folder: one folder for each language), or use evaluate crosslingual-retrieval (with a "
                "manifest) where one language is searched"
            )
        if picture is not None and (len(set(picture)) != 2 or not set(picture) <= set(pool.languages)):
            raise InputError(
                f"picture of {','.join(picture)!r}: expected two of the languages {', '.join(pool.languages)}"
            )
        self.picture = picture
        made = systems(
            specs,
            languages=list(pool.languages),
            role_languages=pool.role_languages,
            fit_texts=load_fit_texts,
        )
        refuse_without_role(made)
        self.fit(made, pool.question_texts(), pool.candidate_texts())

    def embedded(self, name: str, encoder: Encoder) -> PoolVectors:
        """Return the vectors of questions and candidates."""
        text = self.choice.candidate_text
        return embed_pool(self.pool, name, encoder, text, **self.embedding(), any_form=True)

    def results(
        self,
        measures: Sequence[PoolMeasure],
        trec: Path | None,
        trec_depth: int | None,
        *,
        examples: bool,
        neighbours: bool,
    ) -> Results:
        """Return the results of all encoders, and write their rankings where they are wanted."""
        self.near = self._near_duplicates()
        cluster = (self.near.clusters or self.pool.questions).cluster
        if any(isinstance(one, RunSystem) for one in self.by_name.values()):
            self.choice = self.choice.beside_lists()
        numbers = PoolNumbers(self, self.pool, self.choice, measures, cluster)
        tables = PoolTables(self.pool, examples, numbers.viewed, numbers.subject)
        own = self.choice.policy == "prefer-own"
        kept = KeptOfQuestions(NAME, self.pool, numbers.subject, own=own) if neighbours else None
        for name in self.by_name:
            given = self._of_system(name, measures)
            choice, ranked_pool = self._ranked(name, given, cluster, 0 if kept is None else KEPT)
            if kept is not None:
                kept.add(name, given, ranked_pool)
            with self.stage("views", f"looking at languages: {name}"):
                both = None if isinstance(given, Lists) else (given.questions, given.candidates)
                findings = encoder_findings(
                    self.pool, choice, ranked_pool, both, self.options.seed, self.picture
                )
                if findings.picture is not None:
                    self.picture = findings.picture.languages
                tables.add(name, findings, numbers.add(name, findings))
            if trec is not None:
                with self.stage("trec", f"writing rankings: {name}"):
                    write_ranking(trec, self._ranking(given, ranked_pool.offsets), name, trec_depth)
        results = numbers.results()
        results.tables = tables.tables() | ({} if kept is None else kept.tables())
        return self.finished(results)

    def _of_system(self, name: str, measures: Sequence[PoolMeasure]) -> PoolVectors | Lists:
        """Return the vectors of an encoder, or the lists of a run, long enough for the measures."""
        system = self.by_name[name]
        if not isinstance(system, RunSystem):
            return self.encode(name, self.embedded)
        lists = system.lists(search_of(self.pool, self.options.seed))
        self.count_unanswered(name, ALL, POOL, self.options.seed, lists)
        check_reach(lists, measures, repr(name), "nDCG")
        return lists

    def _ranked(
        self, name: str, given: PoolVectors | Lists, cluster: Ints, least: int
    ) -> tuple[Choice, PassCounts]:
        """Return the choice of views for a system, and where all relevant candidates stand."""
        top, depth = self.choice.heads(len(self.pool.candidates), least)
        if isinstance(given, Lists):
            choice = self.choice.of_lists(given, f"system {name!r}")
            with self.stage("texts: rank"):
                return choice, listed_pass(self.pool, given, top=top, depth=depth, cluster=cluster)
        choice = self.choice.of_form(given.questions, f"text encoder {name!r}")
        with self.stage("texts: rank"):
            found = one_pass(
                self.pool,
                given.questions,
                given.candidates,
                cluster=cluster,
                top=top,
                depth=depth,
                ranker=self.options.ranker,
                repair=self.repair(name, self.pool.role_languages["query"]),
                progress=self.progress(f"ranking candidates: {name}"),
            )
        self.tally.screened += found.screened
        self.tally.decided += found.decided
        return choice, found

    def _ranking(self, given: PoolVectors | Lists, offsets: Offsets | None) -> Ranking:
        """Return what a TREC file lists: the candidates of each question."""
        pool = self.pool
        question, candidate = pool.relevant
        grade = self.choice.grades.of(pool)
        if self.choice.policy == "prefer-own":
            own = pool.questions.language[question] == pool.candidates.language[candidate]
            question, candidate, grade = question[own], candidate[own], grade[own]
        questions, candidates = (
            [
                Member(pool.languages[code], name)
                for code, name in zip(side.language.tolist(), side.ids, strict=True)
            ]
            for side in (pool.questions, pool.candidates)
        )
        ranking = Ranking(questions, candidates, (question, candidate), judged=(question, candidate, grade))
        if isinstance(given, Lists):
            return replace(ranking, lists=given)
        return replace(
            ranking, vectors=(rows_of(given.questions), rows_of(given.candidates)), offsets=offsets
        )

    def _near_duplicates(self) -> NearDuplicates:
        """Look for near-equal questions; warn where there are many that no cluster holds."""
        with self.stage("near-duplicates", "looking for near-duplicates"):
            return near_questions(self.pool.questions, self.options.cluster)


def refuse_without_role(made: Mapping[str, Encoder | RunSystem]) -> None:
    """Refuse files of vectors that do not separate questions from candidates.

    With as many questions as candidates the mistake would pass unseen.
    """
    for name, encoder in made.items():
        if isinstance(encoder, VectorsEncoder) and "{role}" not in encoder.pattern:
            raise InputError(
                f"text encoder {name!r}: vectors:{encoder.pattern} has no {{role}}, which stands for "
                f"questions or candidates: give each a file{_AS_IN}"
            )
