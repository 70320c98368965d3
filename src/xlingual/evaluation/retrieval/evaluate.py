"""Retrieval by graded judgements, for encoders and systems that return lists, side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from xlingual.evaluation.hubs import HUBS_OF, Languages, NamedHubs, hubs_of, listed_places, places_of
from xlingual.evaluation.lists import Lists, check_reach
from xlingual.evaluation.loop import Ranked, Recording, evaluate
from xlingual.evaluation.numbers import Baseline, Numbers, Subject
from xlingual.evaluation.pool_run import check_pool, described, members_of, pool_systems
from xlingual.evaluation.retrieval.judgements import Judgements, judgements_of, judgements_of_qrels
from xlingual.evaluation.run import EncoderSpecs, Options, Progress, Run, keeping_warnings
from xlingual.evaluation.run_systems import RunsLike, RunSystem, Search, joined, systems
from xlingual.evaluation.trec import Member, Ranking
from xlingual.measures import (
    NDCG,
    Bpref,
    JudgedAt,
    Measure,
    RetrievalMeasure,
    TargetMeasure,
    parse_retrieval_measures,
)
from xlingual.measures.hubness import Places
from xlingual.measures.rank import DepthShare
from xlingual.ragged import starts
from xlingual.ranking import UNIT, Counts, Pool, Ranker, Top, rank, rows_of, similarity_of
from xlingual.records import JudgedCounts
from xlingual.requests import answers
from xlingual.requests.evaluating import RetrievalRequest
from xlingual.results import Results
from xlingual.results.views import RetrievalIntervals, RetrievalViews
from xlingual.store import StoreLike, open_store

NAME = "retrieval"
EXPECTED, TREC = TIES = ("expected", "trec")
SUBJECT = Subject("all", "pool")  # queries of all languages, candidates of all languages
_BYTES = 1 << 25  # of keys at a time


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

    `pool`: queries and candidates, in one language or several: a pool, or the path of one, or of a retrieval
    folder of BEIR or MTEB; to choose languages or a split, `MultilingualPool.read`. `text_encoders`: a spec,
    encoder or `SearchRun`, several, or a mapping of names to them. `runs`: search systems by what they
    returned: {name: file, SearchRun or {query: {candidate: score}}}. `qrels`: judgements that take the place
    of those of `pool`, which is a path then: a file in TREC's or BEIR's form, or {query: {candidate: grade}}.

    `measures`: nDCG@k, nDCG(dcg='exp-log2')@k, Success@k, R@k, P@k, RR@k, AP@k, AP@k/min or Judged@k, and
    nDCG, AP, RR, MedR and Bpref, which look at whole rankings. `relevant_from`: grade from which a candidate
    is relevant; queries without such a one count as 0, as in MTEB and trec_eval. `ties`: "expected", the mean
    over all orders of what ties; or "trec", the order of trec_eval: scores compared as float32, of equal ones
    the last name first; what a run lacks was not found. `ignore_identical_ids`: leave candidates with the id
    of the query out, as BEIR and MTEB do for ArguAna and Quora; hubs are not counted then. `candidate_text`:
    "sentence", or "sentence+context".

    `trec`: folder for run and qrels files, each with `trec_depth` candidates of a query, None for all.
    `ranker`: what ranks, such as `xlingual.ranking.Cpu`; None: this machine, with `threads` side by side,
    which change no number. `progress`: called with (what, done, total). `store`: where vectors are kept: a
    folder or a Store; "default" is the user's own, None keeps none. `examples`: keep texts (hubs).

    Raises:
        InputError: data, specs or options are invalid; the text says what to do.

    """
    chosen, recording = parse_retrieval_measures(measures), Recording(examples, False, trec, trec_depth)
    if isinstance(pool, str | Path):
        pool = MultilingualPool.read(pool, qrels=qrels, unanswered=True)
    elif qrels is not None:
        remedy = "read it with MultilingualPool.read(path, qrels=…)"
        raise InputError(f"{parameter('qrels')} is for the path of a pool: {remedy}")
    pool = check_pool(pool, candidate_text)
    if ignore_identical_ids and trec is not None:
        raise InputError(
            f"{parameter('trec')} writes all candidates, {parameter('ignore_identical_ids', True)} leaves "
            "some out: give one of the two"
        )
    options = Options(threads=threads, progress=progress, store=open_store(store), given_ranker=ranker)
    judgements = judgements_of(pool, relevant_from, ignore_identical_ids=ignore_identical_ids)
    run = JudgedRun(options, judgements, chosen, ties)
    run.data, run.candidate_text, run.ranks = pool, candidate_text, True
    by_name = pool_systems(pool, joined(text_encoders, runs))
    run.fit(by_name, pool.question_texts(), pool.candidate_texts())
    return run.results(recording)


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

    Arguments are as in `retrieval`; R@p% and Success@p% need all candidates, which are not known here.
    `clusters` of queries: those of one are not independent; others are, but for equal ids in several
    languages. `labels` are columns that divide queries into parts, {column: {query: label}}; where the names
    of all queries are language:id, the column "language" is known.

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
    words, ignored = (clusters or {}, labels or {}), ignore_identical_ids
    judgements = judgements_of_qrels(
        Qrels.of(qrels), read, relevant_from, *words, ignore_identical_ids=ignored
    )
    run = JudgedRun(Options(progress=progress), judgements, chosen, ties)
    run.fit(by_name)
    return run.results(Recording(examples=False))


class JudgedRun(Run):
    """One evaluation: judgements and systems, with the pool that they are of where there is one."""

    data: MultilingualPool | None
    ranks = ranks_texts = False
    candidate_text = "sentence"

    def __init__(
        self, options: Options, judgements: Judgements, measures: Sequence[RetrievalMeasure], ties: str
    ) -> None:
        super().__init__(NAME, options)
        self.judgements, self.measures, self.ties = judgements, measures, ties
        if ties not in TIES:
            raise InputError(f"{parameter('ties', ties)}: expected {' or '.join(TIES)}")

    def results(self, recording: Recording) -> Results:
        """Return the results of all systems."""
        numbers = Numbers(NAME, self.measures, [SUBJECT], compared=0)
        return evaluate(self, numbers, self._stream(), self.judgements.rows, recording)

    def _stream(self) -> Iterator[Ranked]:
        """Rank the judged candidates by each system."""
        j, chance = self.judgements, {}
        if j.is_whole:
            pool = j.pool_sizes
            equal = JudgedCounts(j.query, np.zeros_like(j.query), pool[j.query], j.grade, pool, pool)
            chance = {m.name: Baseline(m.aggregate(per_query(m, equal, j.least))) for m in self.measures}
        for name, system in self.by_name.items():
            listed: Lists | PoolVectors
            places = None
            if isinstance(system, RunSystem):
                with self.stage("systems: rank", f"ranking candidates: {name}"):
                    listed = lists = self._lists(name, system)
                    whole, missed = rank_lists(j, lists)
                    if j.is_whole and self.ties == EXPECTED and not j.without_identical:
                        places = listed_places(lists, min(HUBS_OF, j.m))
            else:
                listed = vectors = self.encode(name, self._embedded)
                with self.stage("texts: rank"):
                    if self.ties == TREC:
                        whole = rank_orders(j, trec_orders(vectors, self._places_of_names))
                    else:
                        whole, places = self._rank_vectors(name, vectors)
                missed = whole
            ranked = self._ranked(name, whole, missed, None if places is None else self._hubs(places))
            ranking = None if self.data is None else partial(self._ranking, listed)
            yield replace(ranked, baselines=chance, ranking=ranking)

    def _lists(self, name: str, system: RunSystem) -> Lists:
        """Search with a run; with qrels alone all lists have ended, since other runs have candidates."""
        j, rows = self.judgements, (np.arange(self.judgements.n), np.arange(self.judgements.m))
        called = "the pool" if j.is_whole else "the judgements"
        search = Search(*j.names, *rows, *SUBJECT.pair, SUBJECT.seed, called=called, ties=self.ties)
        lists = system.lists(search)
        self.count_unanswered(name, *SUBJECT.place, lists)
        if self.ties == EXPECTED:
            behind = "is taken to be in random order" if j.is_whole else "is missed"
            reaching = [measure for measure in self.measures if not isinstance(measure, Bpref)]
            check_reach(lists, reaching, repr(name), behind)
        if not j.is_whole:
            return replace(lists, ended=np.ones_like(lists.ended))
        return lists if self.ties == EXPECTED else replace(lists, score=None)  # it is in trec_eval's order

    def _embedded(self, name: str, encoder: Encoder) -> PoolVectors:
        assert self.data is not None
        return embed_pool(self.data, name, encoder, self.candidate_text, **self.embedding(), any_form=True)

    def _rank_vectors(self, name: str, vectors: PoolVectors) -> tuple[JudgedCounts, Places | None]:
        """Rank by vectors in one pass; the first places are those where nothing is left out."""
        j, out, candidates = self.judgements, self.judgements.left_out, Pool.of(vectors.candidates)
        similarity = similarity_of(rows_of(vectors.questions), candidates.vectors)
        query, candidate = np.concatenate([j.query, out[0]]), np.concatenate([j.candidate, out[1]])
        weights, k = np.bincount(candidates.code).astype(np.int64), min(HUBS_OF, j.m)
        counts = Counts.of(similarity, query, candidates.code[candidate], weights=weights)
        top = Top(k, similarity.shape, weights=weights)
        progress = self.progress(f"ranking candidates: {name}")
        rank(similarity, [counts, top], self.options.ranker, progress=progress)
        self.tally.add(similarity)
        n_pairs, start = len(j.query), starts(j.query, j.n)
        before, above, tied = counts.above, counts.above, counts.tied
        places = None
        if not j.without_identical:
            places = places_of(top.result(), np.arange(j.n), candidates.code, k)
        for line, row in enumerate(out[0], start=n_pairs):
            lines = slice(*start[row : row + 2])
            above[lines] -= before[lines] > before[line]
            tied[lines] -= before[lines] == before[line]
        pairs = j.query, above[:n_pairs], tied[:n_pairs], j.grade
        return JudgedCounts(*pairs, j.pool_sizes, j.pool_sizes), places

    @cached_property
    def _members(self) -> tuple[list[Member], list[Member]]:
        """Queries and candidates, as TREC files name them."""
        queries, candidates = self.judgements.names
        return members_of(queries), members_of(candidates)

    @cached_property
    def _places_of_names(self) -> Ints:
        """The place of each candidate's name; trec_eval ranks the last name first."""
        return places_of_names([member.name for member in self._members[1]])

    def _ranking(self, listed: PoolVectors | Lists) -> Ranking:
        """Give what a TREC file lists: the candidates of each query."""
        j = self.judgements
        ranking = Ranking(*self._members, j.relevant, judged=(j.query, j.candidate, j.grade))
        if isinstance(listed, Lists):
            return replace(ranking, lists=listed)
        if self.ties == EXPECTED:
            return replace(ranking, vectors=(rows_of(listed.questions), rows_of(listed.candidates)))
        orders = trec_orders(listed, self._places_of_names)
        return replace(ranking, ordered=lambda depth: (order[:depth].tolist() for order in orders))

    def _hubs(self, places: Places) -> NamedHubs:
        """Count the hubs among a system's first places."""
        j, pool = self.judgements, self.data
        assert pool is not None
        languages = Languages(pool.languages, j.query_language, j.candidate_language)
        wrong = places.wrong(*j.relevant)
        several = len(pool.languages) > 1
        hubs = hubs_of(places, wrong, j.rows.cluster, languages=languages if several else None)
        return NamedHubs(hubs, partial(described, pool), j.relevant[1])

    def _ranked(self, name: str, whole: JudgedCounts, missed: JudgedCounts, hubs: NamedHubs | None) -> Ranked:
        """Turn where judged candidates stand into the values of all measures; hubs stand with the first."""
        j, values, parts, views = self.judgements, {}, {}, {}
        for measure in self.measures:
            counts = missed if isinstance(measure, Bpref) else whole
            values[measure.name] = per_query(measure, counts, j.least)
            scores = self._by_language(measure, values[measure.name])
            if len(scores) > 1:
                parts[measure.name] = scores
            cut, judged = getattr(measure, "cut", getattr(measure, "k", None)), None
            if isinstance(cut, int) and not isinstance(measure, JudgedAt):
                shares = JudgedAt(cut).per_query(whole)[whole.listed > 0]
                judged = float(np.mean(shares)) if len(shares) else None
            views[measure.name] = RetrievalViews(
                languages=list(j.languages),
                by_query_language={tag: each.value for tag, each in scores.items()} or None,
                judged=judged,
                incomplete=bool((j.grade < 1).any()),
                hubs=None if hubs is None or measure != self.measures[0] else hubs.hubs.counts,
                ci=RetrievalIntervals({tag: each.interval() for tag, each in scores.items()} or None),
            )
        rows, relevant = with_relevant(whole, j.least)
        above, tied = np.full((2, j.n), -1, dtype=np.int64)
        best = relevant.relevant(j.least).best()
        above[rows], tied[rows] = best.above, best.tied
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
            n_tied=n_tied(missed, j.least),
            ties=self.ties,
            views=views,
            hubs=hubs,
        )

    def _by_language(self, measure: RetrievalMeasure, values: Floats) -> dict[str, Score]:
        """Score queries by their language; nothing where no language is known."""
        j, scores = self.judgements, {}
        for code, tag in enumerate(j.languages):
            asked = (j.query_language == code) & ~np.isnan(values)
            if asked.any():
                scores[tag] = score(measure, values[asked], [j.rows.cluster[asked]])
        return scores


def trec_orders(vectors: PoolVectors, places: Ints) -> Iterator[Ints]:
    """Yield all candidates of each query in the order of trec_eval, by scores as float32, then by name.

    `places` [m] are the places of the candidates' names.
    """
    candidates = Pool.of(vectors.candidates)
    similarity = similarity_of(rows_of(vectors.questions), candidates.vectors)
    n, columns = similarity.shape[0], np.arange(similarity.shape[1])
    height = max(1, _BYTES // (8 * len(columns)))
    for start in range(0, n, height):
        keys = similarity.key_block(np.arange(start, min(start + height, n)), columns)
        for scores in (keys * UNIT).astype(np.float32):
            yield np.lexsort((places, -scores[candidates.code]))


def rank_orders(j: Judgements, orders: Iterable[Ints]) -> JudgedCounts:
    """Return the ranks in orders of all candidates, in which nothing ties."""
    query, candidate = j.left_out
    above, place = np.zeros_like(j.query), np.zeros(j.m, dtype=np.int64)
    start, out = starts(j.query, j.n), starts(query, j.n)
    for row, order in enumerate(orders):
        stays = order[~np.isin(order, candidate[out[row] : out[row + 1]])]
        place[stays] = np.arange(len(stays))
        lines = slice(*start[row : row + 2])
        above[lines] = place[j.candidate[lines]]
    return JudgedCounts(j.query, above, np.ones_like(above), j.grade, j.pool_sizes, j.pool_sizes)


def rank_lists(j: Judgements, lists: Lists) -> tuple[JudgedCounts, JudgedCounts]:
    """Return the ranks in the lists of a run; and, for bpref, where all that was not returned is missed."""
    if j.without_identical:
        line = lists.lines(*j.left_out)
        stays = np.ones(len(lists.query), dtype=bool)
        stays[line[line >= 0]] = False
        lists = lists.part(stays, j.pool_sizes)
    above, tied = lists.counts(j.query, j.candidate)
    listed = np.where(lists.ended, lists.lengths, lists.sizes)
    whole = JudgedCounts(j.query, above, tied, j.grade, lists.sizes, listed)
    is_missed = lists.lines(j.query, j.candidate) < 0
    above, tied = np.where(is_missed, lists.sizes[j.query], above), np.where(is_missed, 1, tied)
    return whole, replace(whole, above=above, tied=tied, listed=lists.lengths)


def per_query(measure: RetrievalMeasure, counts: JudgedCounts, least: int) -> Floats:
    """Return the values of a measure, float64 [n]; a grade of at least `least` is relevant.

    A query without a relevant candidate has 0. A candidate that a system did not return adds nothing.
    """
    if isinstance(measure, JudgedAt):
        return measure.per_query(counts)
    rows, counts = with_relevant(counts, 1 if isinstance(measure, NDCG) else least)
    values = np.zeros(rows.size)
    if isinstance(measure, Bpref):
        values[rows] = replace(measure, least=least).per_query(counts)
    elif isinstance(measure, NDCG):
        values[rows] = measure.per_query(counts)
    elif isinstance(measure, TargetMeasure):
        values[rows] = measure.per_query(counts.relevant(least))
    else:
        values[rows] = measure.per_query(counts.relevant(least).best())
    return values


def n_tied(counts: JudgedCounts, least: int) -> int:
    """Return how many queries have a relevant candidate that ties with one of another grade, or unjudged."""
    returned = (counts.grade >= least) & (counts.above < counts.pool[counts.query])
    keys = np.stack([counts.query[returned], counts.above[returned], counts.grade[returned]])
    _, place, size = np.unique(keys, axis=1, return_inverse=True, return_counts=True)
    return len(np.unique(keys[0][counts.tied[returned] > size[place.reshape(-1)]]))


def with_relevant(counts: JudgedCounts, least: int) -> tuple[np.ndarray, JudgedCounts]:
    """Return which queries have a relevant candidate, bool [n], and the counts of these alone."""
    rows: np.ndarray = np.bincount(counts.query[counts.grade >= least], minlength=len(counts)) > 0
    lines, place = rows[counts.query], np.cumsum(rows) - 1
    above, tied, grade = (column[lines] for column in (counts.above, counts.tied, counts.grade))
    query, pool, listed = place[counts.query[lines]], counts.pool[rows], counts.listed[rows]
    return rows, JudgedCounts(query, above, tied, grade, pool, listed)
