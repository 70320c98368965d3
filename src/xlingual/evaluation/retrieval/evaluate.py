"""Retrieval by graded judgements, for encoders and systems that return lists, side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np

from xlingual.data.pools.pool import MultilingualPool
from xlingual.data.runs.qrels import QrelsLike
from xlingual.embed import PoolVectors, embed_pool, load_fit_texts
from xlingual.encoders import Encoder
from xlingual.errors import InputError, parameter
from xlingual.evaluation.approximation.checked import exact_only
from xlingual.evaluation.listed import check_reach
from xlingual.evaluation.multilingual_pool.choice import check_candidate_text
from xlingual.evaluation.multilingual_pool.evaluate import refuse_without_role
from xlingual.evaluation.multilingual_pool.one_pass import PoolColumns, one_pass
from xlingual.evaluation.multilingual_pool.rankings import members_of, pool_offsets
from xlingual.evaluation.near_duplicates import DECLARED, NearDuplicates, near_questions
from xlingual.evaluation.parts import Parts, pool_parts
from xlingual.evaluation.rankings import Evaluated, Ranking
from xlingual.evaluation.retrieval.counted import Counted, counted_groups, counted_lists
from xlingual.evaluation.retrieval.judgements import (
    EXPECTED,
    TREC,
    Judgements,
    answerable,
    check_ties,
    judgements_of,
)
from xlingual.evaluation.retrieval.numbers import ALL, POOL, RetrievalNumbers
from xlingual.evaluation.retrieval.trec_order import above_by_name, places_of_names, without_ties
from xlingual.evaluation.run import EncoderSpecs, Options, Progress, Run, keeping_warnings
from xlingual.evaluation.similarities import COSINE
from xlingual.evaluation.trec import check_depth, write_trec
from xlingual.measures import Bpref, Measure, RetrievalMeasure, parse_retrieval_measures
from xlingual.ranking import Ranker, Repair, rows_of, similarity_of
from xlingual.ranking.listed import Lists
from xlingual.requests import answers
from xlingual.requests.evaluating import RetrievalRequest
from xlingual.results import Results
from xlingual.store import StoreLike, open_store
from xlingual.systems import Names, RunsLike, Search, joined, systems
from xlingual.systems.names import escaped

NAME = "retrieval"


@answers(RetrievalRequest)
@keeping_warnings
def retrieval(
    pool: MultilingualPool | str | Path,
    text_encoders: EncoderSpecs = (),
    *,
    runs: RunsLike = (),
    qrels: QrelsLike | None = None,
    measures: str | Sequence[str | Measure] = ("nDCG@10",),
    relevant_from: int = 1,
    ties: str = EXPECTED,
    candidate_text: str = "sentence",
    trec: str | Path | None = None,
    trec_depth: int | None = 1000,
    threads: int = 1,
    ranker: Ranker | None = None,
    progress: Progress | None = None,
    store: StoreLike = "default",
    cluster: str = DECLARED,
    similarity: str | Repair = COSINE,
) -> Results:
    """Evaluate text encoders and search engines by graded judgements of queries and candidates.

    Args:
        pool: queries and candidates, in one language or several: a pool, or the path of one, or of a
            retrieval folder of BEIR or MTEB; to choose languages or a split, `MultilingualPool.read`.
        text_encoders: one spec, encoder or `SearchRun`, several, or a mapping of names to them.
        runs: search systems by what they returned: {name: file, SearchRun or {query: {candidate: score}}}.
        qrels: judgements that take the place of those of `pool`, which is a path then: a file in TREC's or
            BEIR's form, or {query: {candidate: grade}}.
        measures: nDCG@k, nDCG(dcg='exp-log2')@k, Success@k, R@k, P@k, RR@k, AP@k, AP@k/min or Judged@k, and
            nDCG, AP, RR, MedR and Bpref, which look at whole rankings.
        relevant_from: grade from which a candidate is relevant; queries without such a one are left out.
        ties: "expected", the mean over all orders of what ties; or "trec", the order of trec_eval: scores
            compared as float32, of equal ones the last name first; what a run lacks was not found.
        candidate_text: "sentence", or "sentence+context".
        trec: folder for run and qrels files.
        trec_depth: how many candidates of each query a run holds, None for all.
        threads: threads side by side; they change no number.
        ranker: what ranks, such as `xlingual.ranking.Cpu`; None: this machine, with `threads`.
        progress: called with (what, done, total).
        store: where vectors are kept and found again: a folder or a Store; "default" is the user's own, None
            keeps none.
        cluster: what makes queries dependent: "declared" (the pool's clusters), or "near-duplicates"
            (these, and near-equal queries of one language).
        similarity: how queries and candidates are compared: "cosine", or "csls?k=10".

    Raises:
        InputError: data, specs or options are not what they must be; the text says what to do.

    """
    chosen = parse_retrieval_measures(measures)
    check_ties(ties)
    exact_only(ranker, "retrieval by judgements")
    if isinstance(pool, str | Path):
        pool = MultilingualPool.read(pool, qrels=qrels)
    elif qrels is not None:
        raise InputError(
            f"{parameter('qrels')} is for the path of a pool: read it with MultilingualPool.read(path, "
            "qrels=…)"
        )
    elif not isinstance(pool, MultilingualPool):
        raise InputError(
            f"expected a MultilingualPool or its path, found {type(pool).__name__}: read it with "
            "MultilingualPool.read(path)"
        )
    check_candidate_text(pool, candidate_text)
    if trec is not None:
        check_depth(trec_depth)
    options = Options(
        threads=threads,
        progress=progress,
        store=open_store(store),
        given_ranker=ranker,
        cluster=cluster,
        similarity=similarity,
    )
    run = RetrievalRun(answerable(pool, relevant_from), relevant_from, ties, candidate_text, options)
    run.prepare(joined(text_encoders, runs))
    results = run.results(chosen)
    if trec is not None:
        with run.stage("trec", "writing rankings"):
            write_trec(results, trec, trec_depth)
    return run.finished(results)


class RetrievalRun(Run):
    """One evaluation: a pool, its judgements, and the systems."""

    def __init__(
        self, pool: MultilingualPool, least: int, ties: str, candidate_text: str, options: Options
    ) -> None:
        super().__init__(NAME, options)
        self.pool, self.least, self.ties, self.candidate_text = pool, least, ties, candidate_text

    def prepare(self, specs: EncoderSpecs) -> None:
        """Make the systems, and refuse what cannot be evaluated, before any work is done."""
        pool = self.pool
        made = systems(
            specs,
            languages=list(pool.languages),
            role_languages=pool.role_languages,
            fit_texts=load_fit_texts,
        )
        refuse_without_role({name: one for name, one in made.items() if isinstance(one, Encoder)})
        self.fit(made, pool.question_texts(), pool.candidate_texts())

    def results(self, measures: Sequence[RetrievalMeasure]) -> Results:
        """Return the results of all systems."""
        with self.stage("near-duplicates", "looking for near-duplicates"):
            self.near = near_questions(self.pool.questions, self.options.cluster)
        judgements = judgements_of(self.pool, _clusters(self.pool, self.near), self.least)
        text = {} if self.candidate_text == "sentence" else {"candidates": self.candidate_text}
        numbers = RetrievalNumbers(self, judgements, measures, self.ties, text)
        parts = self._parts(self.encode)
        for name, vectors in parts.each():
            if vectors is None:
                found = self._listed(name, parts, judgements, measures)
            else:
                found = self._ranked(name, vectors, judgements)
            numbers.add(name, found)
        with self.stage("statistics", "computing intervals"):
            results = numbers.results()
        results.evaluated = Evaluated(self.pool, self.rankings)
        return results

    def _parts(self, encode: Callable[..., PoolVectors]) -> Parts[PoolVectors, Search]:
        return pool_parts(self, self.pool, self.candidate_text, lambda name: encode(name, self.embedded))

    def _listed(
        self,
        name: str,
        parts: Parts[PoolVectors, Search],
        judgements: Judgements,
        measures: Sequence[RetrievalMeasure],
    ) -> Counted:
        with self.stage("runs: look up", f"looking candidates up: {name}"):
            lists = self._lists(name, parts)
            if self.ties == EXPECTED:
                check_reach(lists, [one for one in measures if not isinstance(one, Bpref)], repr(name))
            return counted_lists(judgements, lists, measures)

    def _lists(self, name: str, parts: Parts[PoolVectors, Search]) -> Lists:
        queries, candidates = self._names
        rows = np.arange(len(queries)), np.arange(len(candidates))
        search = Search(queries, candidates, *rows, ALL, POOL, 0, ties=self.ties)
        lists = parts.whole(name, search)
        return lists if self.ties == EXPECTED else without_ties(lists, self._places)

    def _ranked(self, name: str, vectors: PoolVectors, judgements: Judgements) -> Counted:
        pairs = judgements.query, judgements.candidate
        with self.stage("texts: rank"):
            if self.ties == TREC:
                return self._by_name(vectors, judgements)
            found = one_pass(
                self.pool,
                vectors.questions,
                vectors.candidates,
                ranker=self.options.ranker,
                repair=self.options.repair,
                progress=self.progress(f"ranking candidates: {name}"),
                pairs=pairs,
            )
        self.tally.screened += found.screened
        self.tally.decided += found.decided
        return counted_groups(judgements, found.counts.above, found.counts.tied)

    def _by_name(self, vectors: PoolVectors, judgements: Judgements) -> Counted:
        pool = self.pool
        columns = PoolColumns.of_candidates(vectors.candidates, pool.candidates.language, len(pool.languages))
        questions = rows_of(vectors.questions)
        similarity = similarity_of(questions, columns.vectors)
        offsets = pool_offsets(pool, questions, vectors.candidates, self.options)
        if offsets is not None:
            members, starts = columns.members()
            offsets = replace(offsets, candidates=offsets.candidates[members[starts[:-1]]])
        pairs = judgements.query, judgements.candidate
        above = above_by_name(similarity, columns, *pairs, self._places, offsets)
        self.tally.add(similarity)
        tied = np.zeros_like(above)
        tied[np.arange(len(above)), judgements.candidate_language[judgements.candidate]] = 1
        return counted_groups(judgements, above, tied)

    def embedded(self, name: str, encoder: Encoder) -> PoolVectors:
        """Return the vectors of queries and candidates."""
        return embed_pool(self.pool, name, encoder, self.candidate_text, **self.embedding(), any_form=True)

    def rankings(self, name: str) -> Iterator[Ranking]:
        """Yield the lists of a system."""
        question, candidate, grade = self.pool.judged
        right = grade >= self.least
        ranking = Ranking(
            *(name, ALL, POOL, 0),
            queries=members_of(self.pool, self.pool.questions),
            candidates=members_of(self.pool, self.pool.candidates),
            relevant=(question[right], candidate[right]),
        )
        parts = self._parts(self.encode_again)
        vectors = parts.of(name)
        if vectors is None:
            yield replace(ranking, given=self._lists(name, parts))
            return
        questions, candidates = rows_of(vectors.questions), rows_of(vectors.candidates)
        yield replace(
            ranking,
            query_vectors=questions,
            candidate_vectors=candidates,
            offsets=pool_offsets(self.pool, questions, vectors.candidates, self.options),
        )

    @cached_property
    def _names(self) -> tuple[Names, Names]:
        tags = self.pool.languages
        questions, candidates = (
            Names([tags[code] for code in part.language.tolist()], part.ids)
            for part in (self.pool.questions, self.pool.candidates)
        )
        return questions, candidates

    @cached_property
    def _places(self) -> np.ndarray:
        c, tags = self.pool.candidates, self.pool.languages
        pairs = zip(c.language.tolist(), c.ids, strict=True)
        return places_of_names([f"{tags[code]}:{escaped(own)}" for code, own in pairs])


def _clusters(pool: MultilingualPool, near: NearDuplicates) -> np.ndarray:
    return (near.clusters or pool.questions).cluster
