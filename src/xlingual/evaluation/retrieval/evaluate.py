"""Retrieval by graded judgements, for encoders and systems that return lists, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.data.pools.pool import MultilingualPool
from xlingual.data.runs import Qrels, QrelsLike, places_of_names
from xlingual.embed.sides import PoolVectors, embed_pool
from xlingual.encoders import Encoder
from xlingual.errors import InputError, parameter
from xlingual.evaluation.estimates import Score, score
from xlingual.evaluation.hubs import HUBS_OF, Languages, NamedHubs, hubs_of, listed_places
from xlingual.evaluation.lists import Lists, check_reach
from xlingual.evaluation.loop import Ranked, Recording, evaluate
from xlingual.evaluation.numbers import Baseline, Numbers, Subject
from xlingual.evaluation.pool_run import check_pool, described, pool_systems
from xlingual.evaluation.retrieval.judgements import (
    Judgements,
    judgements_of,
    judgements_of_qrels,
    warn_of_identical,
)
from xlingual.evaluation.retrieval.ranks import (
    JudgedRanks,
    best_places,
    n_tied,
    per_query,
    rank_lists,
    rank_orders,
    rank_vectors,
    trec_orders,
)
from xlingual.evaluation.run import EncoderSpecs, Options, Progress, Run, keeping_warnings
from xlingual.evaluation.run_systems import RunsLike, RunSystem, Search, joined, systems
from xlingual.evaluation.trec import Member, Ranking
from xlingual.measures import Bpref, JudgedAt, Measure, RetrievalMeasure, parse_retrieval_measures
from xlingual.measures.hubness import Places
from xlingual.measures.rank import DepthShare
from xlingual.ranking import Ranker, rows_of
from xlingual.records import JudgedCounts
from xlingual.requests import answers
from xlingual.requests.evaluating import RetrievalRequest
from xlingual.results import Results
from xlingual.results.views import RetrievalIntervals, RetrievalViews
from xlingual.store import StoreLike, open_store

NAME = "retrieval"
SELF_MATCHES = 0.05  # of the queries that have their own id first: more than chance lets happen
EXPECTED, TREC = TIES = ("expected", "trec")
SUBJECT = Subject("all", "pool")  # queries of all languages, candidates of all languages


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
    ignore_identical_ids: bool = False,
    candidate_text: str = "sentence",
    trec: str | Path | None = None,
    trec_depth: int | None = 1000,
    threads: int = 1,
    ranker: Ranker | None = None,
    progress: Progress | None = None,
    store: StoreLike = "default",
    examples: bool = True,
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
        relevant_from: grade from which a candidate is relevant; queries without such a one count as 0, as in
            MTEB and trec_eval.
        ties: "expected", the mean over all orders of what ties; or "trec", the order of trec_eval: scores
            compared as float32, of equal ones the last name first; what a run lacks was not found.
        ignore_identical_ids: leave candidates with the id of the query out, as BEIR and MTEB do for ArguAna
            and Quora. Hubs are not counted then.
        candidate_text: "sentence", or "sentence+context".
        trec: folder for run and qrels files.
        trec_depth: how many candidates of each query a run holds, None for all.
        threads: threads side by side; they change no number.
        ranker: what ranks, such as `xlingual.ranking.Cpu`; None: this machine, with `threads`.
        progress: called with (what, done, total).
        store: where vectors are kept and found again: a folder or a Store; "default" is the user's own, None
            keeps none.
        examples: keep texts (hubs) in the results.

    Raises:
        InputError: data, specs or options are invalid; the text says what to do.

    """
    chosen, recording = parse_retrieval_measures(measures), Recording(examples, False, trec, trec_depth)
    if isinstance(pool, str | Path):
        pool = MultilingualPool.read(pool, qrels=qrels, unanswered=True)
    elif qrels is not None:
        raise InputError(
            f"{parameter('qrels')} is for the path of a pool: read it with MultilingualPool.read(path, "
            "qrels=…)"
        )
    pool = check_pool(pool, candidate_text)
    if ignore_identical_ids and trec is not None:
        raise InputError(
            f"{parameter('trec')} writes all candidates, {parameter('ignore_identical_ids', True)} leaves "
            "some out: give one of the two"
        )
    options = Options(threads=threads, progress=progress, store=open_store(store), given_ranker=ranker)
    judgements = judgements_of(pool, relevant_from, ignore_identical_ids=ignore_identical_ids)
    run = JudgedRun(options, judgements, ties, pool, candidate_text)
    by_name = pool_systems(pool, joined(text_encoders, runs))
    run.fit(by_name, pool.question_texts(), pool.candidate_texts())
    return run.results(chosen, recording)


@keeping_warnings
def runs_against_qrels(
    qrels: QrelsLike,
    runs: RunsLike,
    *,
    measures: str | Sequence[str | Measure] = ("nDCG@10",),
    relevant_from: int = 1,
    ties: str = EXPECTED,
    ignore_identical_ids: bool = False,
    clusters: Mapping[str, str] | None = None,
    labels: Mapping[str, Mapping[str, str]] | None = None,
    progress: Progress | None = None,
) -> Results:
    """Evaluate runs by judgements; `retrieval` without texts, so without encoders and without chance.

    Args:
        qrels: a file in TREC's or BEIR's form, or {query: {candidate: grade}}.
        runs: as of `retrieval`: {name: file, SearchRun or {query: {candidate: score}}}, or [NAME=]FILE.
        measures: as of `retrieval`; R@p% and Success@p% need all candidates, which are not known here.
        relevant_from: grade from which a candidate is relevant; queries without such a one count as 0.
        ties: as of `retrieval`.
        ignore_identical_ids: as of `retrieval`.
        clusters: of each query: queries of one cluster are not independent. Others are, but for equal ids in
            several languages.
        labels: columns that divide queries into parts, {column: {query: label}}. Where the names of all
            queries are language:id, the column "language" is known.
        progress: called with (what, done, total).

    Raises:
        InputError: judgements, runs or options are invalid; the text says what to do.

    """
    chosen = parse_retrieval_measures(measures)
    if shares := [measure.name for measure in chosen if isinstance(measure, DepthShare)]:
        raise InputError(
            f"{shares[0]} is of a share of all candidates, which runs and judgements alone do not name: ask "
            "for R@k or Success@k, or evaluate retrieval on a pool"
        )
    by_name, read = systems(joined((), runs), languages=()), []
    for name, system in by_name.items():
        if not isinstance(system, RunSystem):
            raise InputError(
                f"{name!r} is no run: without texts only runs can be judged; evaluate retrieval on a pool"
            )
        read.append(system.run(SUBJECT.place))
    judgements = judgements_of_qrels(
        Qrels.of(qrels),
        read,
        relevant_from,
        clusters or {},
        labels or {},
        ignore_identical_ids=ignore_identical_ids,
    )
    run = JudgedRun(Options(progress=progress), judgements, ties)
    run.fit(by_name)
    return run.results(chosen, Recording(examples=False))


class JudgedRun(Run):
    """One evaluation: judgements and systems, with the pool that they are of where there is one."""

    ranks_texts = False

    def __init__(
        self,
        options: Options,
        judgements: Judgements,
        ties: str,
        pool: MultilingualPool | None = None,
        candidate_text: str = "sentence",
    ) -> None:
        super().__init__(NAME, options)
        self.judgements, self.ties, self.candidate_text = judgements, ties, candidate_text
        if ties not in TIES:
            raise InputError(f"{parameter('ties', ties)}: expected {' or '.join(TIES)}")
        self.data = self.pool = pool
        self.ranks = pool is not None

    def results(self, measures: Sequence[RetrievalMeasure], recording: Recording) -> Results:
        """Return the results of all systems."""
        numbers = Numbers(NAME, measures, [SUBJECT], compared=0)
        return evaluate(self, numbers, self._stream(measures), self.judgements.rows, recording)

    def _stream(self, measures: Sequence[RetrievalMeasure]) -> Iterator[Ranked]:
        """Rank the judged candidates by each system."""
        j, chance = self.judgements, {}
        if j.is_whole:
            pool = j.pool_sizes()
            equal = JudgedCounts(j.query, np.zeros_like(j.query), pool[j.query], j.grade, pool, pool)
            chance = {m.name: Baseline(m.aggregate(per_query(m, equal, j.least))) for m in measures}
        for name, system in self.by_name.items():
            listed: Lists | PoolVectors
            if isinstance(system, RunSystem):
                with self.stage("systems: rank", f"ranking candidates: {name}"):
                    listed = lists = self._lists(name, system, measures)
                    ranks, places = rank_lists(j, lists), None
                    if j.is_whole and self.ties == EXPECTED and not j.without_identical:
                        places = listed_places(lists, min(HUBS_OF, j.m))
            else:
                listed = vectors = self.encode(name, self._embedded)
                progress = self.progress(f"ranking candidates: {name}")
                with self.stage("texts: rank"):
                    if self.ties == TREC:
                        ranks, places = rank_orders(j, trec_orders(vectors, self._places_of_names)), None
                    else:
                        ranks, places = rank_vectors(j, vectors, self.options.ranker, progress, self.tally)
            ranked = self._ranked(name, measures, ranks, None if places is None else self._hubs(places))
            ranking = None if self.pool is None else partial(self._ranking, listed)
            yield replace(ranked, baselines=chance, ranking=ranking)

    def _lists(self, name: str, system: RunSystem, measures: Sequence[RetrievalMeasure]) -> Lists:
        """Return the lists of a run; with qrels alone all have ended, since other runs have candidates."""
        j, rows = self.judgements, (np.arange(self.judgements.n), np.arange(self.judgements.m))
        called = "the pool" if j.is_whole else "the judgements"
        search = Search(*j.names, *rows, *SUBJECT.pair, SUBJECT.seed, called=called, ties=self.ties)
        lists = system.lists(search)
        self.count_unanswered(name, *SUBJECT.place, lists)
        if self.ties == EXPECTED:
            behind = "is taken to be in random order" if j.is_whole else "is missed"
            reaching = [measure for measure in measures if not isinstance(measure, Bpref)]
            check_reach(lists, reaching, repr(name), behind)
        if not j.is_whole:
            line = lists.lines(*j.identical)
            first = int((lists.level[line[line >= 0]] == 0).sum())
            if not j.without_identical and first > max(1, SELF_MATCHES * j.n):
                problem = f"{first:,} of {j.n:,} queries have their own id as first result"
                warn_of_identical(system.run(SUBJECT.place).source, problem)
            return replace(lists, ended=np.ones_like(lists.ended))
        return lists if self.ties == EXPECTED else replace(lists, score=None)  # it is in trec_eval's order

    def _embedded(self, name: str, encoder: Encoder) -> PoolVectors:
        """Return the vectors of queries and candidates."""
        assert self.pool is not None
        return embed_pool(self.pool, name, encoder, self.candidate_text, **self.embedding(), any_form=True)

    @cached_property
    def _members(self) -> tuple[list[Member], ...]:
        """Queries and candidates, as TREC files name them."""
        sides = (zip(names.languages, names.ids, strict=True) for names in self.judgements.names)
        return tuple([Member(*name) for name in side] for side in sides)

    @cached_property
    def _places_of_names(self) -> Ints:
        """The place of each candidate's name; trec_eval ranks the last name first."""
        return places_of_names([member.name for member in self._members[1]])

    def _ranking(self, listed: PoolVectors | Lists) -> Ranking:
        """Return the list of a TREC file: the candidates of each query."""
        j, right = self.judgements, self.judgements.grade >= self.judgements.least
        relevant, judged = (j.query[right], j.candidate[right]), (j.query, j.candidate, j.grade)
        ranking = Ranking(self._members[0], self._members[1], relevant, judged=judged)
        if isinstance(listed, Lists):
            return replace(ranking, lists=listed)
        if self.ties == EXPECTED:
            return replace(ranking, vectors=(rows_of(listed.questions), rows_of(listed.candidates)))
        orders = trec_orders(listed, self._places_of_names)
        return replace(ranking, ordered=lambda depth: (order[:depth].tolist() for order in orders))

    def _hubs(self, places: Places) -> NamedHubs:
        """Return the hubs of a system's first places."""
        j, pool = self.judgements, self.pool
        assert pool is not None
        right = j.grade >= j.least
        languages = Languages(pool.languages, j.query_language, j.candidate_language)
        hubs = hubs_of(
            places,
            places.wrong(j.query[right], j.candidate[right]),
            j.rows.cluster,
            languages=languages if len(pool.languages) > 1 else None,
        )
        return NamedHubs(hubs, partial(described, pool), j.candidate[right])

    def _ranked(
        self,
        name: str,
        measures: Sequence[RetrievalMeasure],
        ranks: JudgedRanks,
        hubs: NamedHubs | None,
    ) -> Ranked:
        """Turn where judged candidates stand into the values of all measures; hubs stand with the first."""
        j, values, parts, views = self.judgements, {}, {}, {}
        for measure in measures:
            values[measure.name] = ranks.values(measure)
            scores = self._by_language(measure, values[measure.name])
            alone = self._by_language(measure, ranks.values_in_language(measure))
            if len(scores) > 1:
                parts[measure.name] = scores
            cut, judged = getattr(measure, "cut", getattr(measure, "k", None)), None
            if isinstance(cut, int) and not isinstance(measure, JudgedAt):
                shares = JudgedAt(cut).per_query(ranks.whole)[ranks.whole.listed > 0]
                judged = float(np.mean(shares)) if len(shares) else None
            views[measure.name] = RetrievalViews(
                languages=list(j.languages),
                by_query_language={tag: each.value for tag, each in scores.items()} or None,
                own_language={tag: each.value for tag, each in alone.items()} or None,
                judged=judged,
                incomplete=bool((j.grade < 1).any()),
                hubs=None if hubs is None or measure != measures[0] else hubs.hubs.counts,
                ci=RetrievalIntervals(
                    {tag: each.interval() for tag, each in scores.items()} or None,
                    {tag: each.interval() for tag, each in alone.items()} or None,
                ),
            )
        above, tied = best_places(ranks.whole, j.least)
        text = {} if self.candidate_text == "sentence" else {"candidates": self.candidate_text}
        return Ranked(
            encoder=name,
            subject=SUBJECT,
            queries=np.arange(j.n),
            clusters=[j.rows.cluster],
            n_candidates=j.m,
            values=values,
            baselines={},
            conditions={**j.conditions, **text},
            parts=parts,
            above=above,
            tied=tied,
            n_tied=n_tied(ranks.missed, j.least),
            ties=self.ties,
            views=views,
            hubs=hubs,
        )

    def _by_language(self, measure: RetrievalMeasure, values: Floats | None) -> dict[str, Score]:
        """Return the scores of queries by their language; nothing where no language is known."""
        j, scores = self.judgements, {}
        if values is None:
            return {}
        for code, tag in enumerate(j.languages):
            asked = (j.query_language == code) & ~np.isnan(values)
            if asked.any():
                scores[tag] = score(measure, values[asked], [j.rows.cluster[asked]])
        return scores
