"""Answers from a multilingual pool (LAReQA): one pass for each encoder, and all views from it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from xlingual.arrays import Floats
from xlingual.arrow import from_numpy, from_strings, table_of
from xlingual.data.pools.pool import MultilingualPool
from xlingual.data.samples import MOST_SEED
from xlingual.embed.sides import PoolVectors, embed_pool
from xlingual.encoders import Encoder
from xlingual.errors import InputError, did_you_mean, listed, parameter, warn
from xlingual.evaluation.hubs import HUBS_OF, NamedHubs
from xlingual.evaluation.lists import MOST_UNKNOWN, Lists, check_reach, cut_of
from xlingual.evaluation.loop import Ranked, Recording, evaluate
from xlingual.evaluation.multilingual_pool.ranks import PoolRanks, hubs_among, rank_lists, rank_vectors
from xlingual.evaluation.multilingual_pool.space import Space, language_identification, most_apart, picture_of
from xlingual.evaluation.multilingual_pool.views import (
    AP,
    View,
    fairness,
    found_among,
    language_shares,
    measured,
    monolingual_ndcg,
    monolingual_pool,
    of_precision,
    record,
)
from xlingual.evaluation.near_duplicates import DECLARED, near_questions
from xlingual.evaluation.neighbours import KEPT
from xlingual.evaluation.numbers import Baseline, Numbers, Subject
from xlingual.evaluation.perquery import looked_up, repeated, words_of
from xlingual.evaluation.pool_run import (
    check_pool,
    described,
    members_of,
    names_of,
    pool_systems,
    rows_of_queries,
    with_languages,
)
from xlingual.evaluation.run import EncoderSpecs, Options, Progress, Run, keeping_warnings
from xlingual.evaluation.run_systems import RunsLike, RunSystem, Search, joined
from xlingual.evaluation.trec import Ranking
from xlingual.forms import is_dense
from xlingual.measures import (
    NDCG,
    AlignmentMeasure,
    Measure,
    PoolMeasure,
    TargetMeasure,
    parse_pool_measures,
)
from xlingual.measures.fairness import CUT
from xlingual.measures.hubness import Places
from xlingual.ranking import Ranker, rows_of
from xlingual.records import JudgedCounts
from xlingual.requests import answers
from xlingual.requests.evaluating import MultilingualPoolRequest
from xlingual.results import Results
from xlingual.results.views import SpaceAxes
from xlingual.store import StoreLike, open_store

if TYPE_CHECKING:
    import pyarrow as pa

NAME = "multilingual-pool"
ALL, POOL = "all", "pool"  # source and target: the questions of all languages, the pool of all languages
SHARES_OF = 100  # best candidates whose languages are counted (the paper's Figure 6)
MONOLINGUAL = "monolingual pool"
DEPTHS = {"shares": SHARES_OF, "fairness": CUT, "hubs": HUBS_OF, MONOLINGUAL: None}
MOST_WORST, MOST_ABOVE = 10, 5  # questions, and candidates that are shown above their answers


@answers(MultilingualPoolRequest)
@keeping_warnings
def multilingual_pool(
    pool: MultilingualPool | str | Path,
    text_encoders: EncoderSpecs = (),
    *,
    runs: RunsLike = (),
    measures: str | Sequence[str | Measure] = ("AP",),
    views: bool = True,
    subsets: str | Sequence[str | Sequence[str]] = (),
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

    `views`: add the views of language bias of explanation/language-bias; those of the first candidates stand
    with AP or, without it, with the first measure, the others with AP. `subsets` are further sets of
    languages ("ar,de", or several such) to which pool and questions are restricted. `picture` are the two
    languages of the picture of the space, None: those furthest apart for the first encoder. `seed` is that of
    the paragraphs that are held out, and of points that are shown. `examples`: keep texts (hubs, worst
    questions) in the results. `neighbours`: keep the ten nearest candidates of each question and the ranks of
    its answers, for `inspect`.

    Raises:
        InputError: data, specs or options are invalid; the text says what to do.

    """
    chosen, recording = parse_pool_measures(measures), Recording(examples, neighbours, trec, trec_depth)
    if not 0 <= seed <= MOST_SEED:
        raise InputError(f"{parameter('seed')} must be 0 to {MOST_SEED}, got {seed}")
    pool = MultilingualPool.read(pool) if isinstance(pool, str | Path) else pool
    pool = check_pool(pool, candidate_text)
    if len(np.unique(pool.candidates.language)) < 2:
        raise InputError(
            f"{pool.source}: all candidates are in {pool.languages[pool.candidates.language[0]]!r}: a "
            "multilingual pool has candidates in two languages at least: choose more languages, or use "
            "evaluate crosslingual-retrieval (with a manifest) where one language is searched"
        )
    languages = [_languages(pool, subset) for subset in ([subsets] if isinstance(subsets, str) else subsets)]
    if picture is not None and len(set(_languages(pool, picture))) != 2:
        raise InputError(f"picture of {','.join(picture)!r}: expected two languages of the pool")
    if (languages or picture) and not (views and AP in chosen):
        raise InputError(
            f"{parameter('subsets')} and {parameter('picture')} are views of AP: add AP "
            f"({parameter('measures', 'AP')}) and leave views in, or leave them out"
        )
    options = Options(seed=seed, threads=threads, progress=progress, store=open_store(store), cluster=cluster)
    run = PoolRun(pool, replace(options, given_ranker=ranker), chosen, candidate_text)
    run.views, run.subsets, run.picture = views, languages, picture
    run.fit(pool_systems(pool, joined(text_encoders, runs)), pool.question_texts(), pool.candidate_texts())
    return run.results(recording)


def _languages(pool: MultilingualPool, named: str | Sequence[str]) -> list[str]:
    """Return the languages of a subset, or of a picture."""
    languages = [tag.strip() for tag in named.split(",")] if isinstance(named, str) else list(named)
    for language in languages or [""]:
        if language not in pool.languages:
            raise InputError(
                f"subset {','.join(languages)!r}: the pool has no language {language!r}."
                f"{did_you_mean(language, pool.languages)} Its languages: {listed(pool.languages, 40)}"
            )
    return languages


class PoolRun(Run):
    """One evaluation: a pool, what is asked of it, and the systems."""

    views = True
    subsets: Sequence[Sequence[str]] = ()
    picture: tuple[str, str] | None = None

    def __init__(
        self,
        pool: MultilingualPool,
        options: Options,
        measures: Sequence[PoolMeasure],
        candidate_text: str,
    ) -> None:
        super().__init__(NAME, options)
        self.data = self.pool = pool
        self.measures, self.candidate_text = measures, candidate_text
        self.subject = Subject(ALL, POOL, options.seed)
        self.names = names_of(pool, pool.questions), names_of(pool, pool.candidates)
        self.viewed = AP if AP in measures else measures[0]
        self.points: list[dict[str, Any]] = []
        self.worst: list[dict[str, Any]] = []
        self.tables: dict[str, list[pa.Table]] = {"occurrences": [], "answers": []}
        equal = PoolRanks.of(pool, *np.zeros((2, len(pool.grades), len(pool.languages)), np.int64)).equal()
        self.chance = {}
        for measure in measures:
            values = _values(measure, equal)
            if np.isnan(values).all():
                raise InputError(
                    f"{pool.source}: {measure.name} compares answers in another language with irrelevant "
                    "candidates in the question's, which no question has: leave it out, or choose more "
                    "languages"
                )
            self.chance[measure.name] = Baseline(measure.aggregate(values[~np.isnan(values)]))

    def results(self, recording: Recording) -> Results:
        """Return the results of all systems."""
        import pyarrow as pa

        with self.stage("near-duplicates", "looking for near-duplicates"):
            self.near = near_questions(self.pool.questions, self.options.cluster)
        own = self.near.cluster
        self.cluster = self.pool.questions.cluster if own is None else own
        rows, ids = rows_of_queries(self.pool, self.cluster), with_languages(self.names[1])
        numbers, stream = Numbers(NAME, self.measures, [self.subject], compared=0), self._stream(recording)
        results = evaluate(self, numbers, stream, rows, recording, candidate_ids=ids)
        text, number = pa.string(), pa.float64()
        points = {"encoder": text, "language": text, "role": text, "x": number, "y": number, "text_id": text}
        worst = dict.fromkeys(("encoder", "question_id", "question_language", "question"), text)
        worst |= dict.fromkeys(("value", "rank_of_best", "place"), number)
        worst |= dict.fromkeys(("candidate_id", "candidate_language", "candidate"), text)
        worst |= {"relevant": pa.bool_(), "kind": text, "measure": text}
        for name, lines, columns in (("points", self.points, points), ("worst", self.worst, worst)):
            if lines:
                results.tables[name] = table_of(lines, pa.schema(list(columns.items())))
        results.tables |= {name: pa.concat_tables(parts) for name, parts in self.tables.items() if parts}
        return results

    def _stream(self, recording: Recording) -> Iterator[Ranked]:
        """Rank the pool by each system, and look at the languages of what it ranked."""
        pool, m = self.pool, len(self.pool.candidates)
        top = min(SHARES_OF if self.views else KEPT if recording.neighbours else 0, m)
        for name, system in self.by_name.items():
            listed: Lists | PoolVectors
            short: set[str] = set()
            if isinstance(system, RunSystem):
                listed = lists = self._lists(name, system)
                short = self._too_short(name, lists) if self.views else short
                with self.stage("texts: rank"):
                    passed = rank_lists(pool, lists, top=top)
            else:
                listed = vectors = self.encode(name, self._embedded)
                with self.stage("texts: rank"):
                    passed = rank_vectors(
                        pool,
                        vectors.questions,
                        vectors.candidates,
                        top=top,
                        ranker=self.options.ranker,
                        repair=self.repair(name, pool.role_languages["query"]),
                        progress=self.progress(f"ranking candidates: {name}"),
                    )
                if passed.similarity is not None:
                    self.tally.add(passed.similarity)
            ranks, heads, hubs = replace(passed.ranks, cluster=self.cluster), passed.heads, None
            with self.stage("views", f"looking at languages: {name}"):
                values = {measure.name: _values(measure, ranks) for measure in self.measures}
                of_heads: View = {}
                if self.views and heads is not None:
                    of_heads |= {} if "shares" in short else language_shares(ranks, heads)
                    of_heads |= {} if "fairness" in short else fairness(ranks, heads)
                    if "hubs" not in short:
                        hubs = hubs_among(ranks, heads)
                        of_heads["hubs"] = hubs.counts
                        self.tables["occurrences"].append(self._occurrences(name, hubs.hubness.occurrences))
                        if recording.examples:
                            self._add_worst(name, ranks, values[self.viewed.name], heads.first)
                    of_heads |= self._space(name, listed)
                views = self._views(ranks, values, short)
                views[self.viewed.name] |= of_heads
            if recording.neighbours:
                self.tables["answers"].append(self._answers(name, ranks))
            best = ranks.targets().best()
            yield Ranked(
                encoder=name,
                subject=self.subject,
                queries=np.arange(ranks.n),
                clusters=[self.cluster],
                n_candidates=m,
                values=values,
                baselines=self.chance,
                conditions={
                    "languages": ",".join(pool.languages),
                    "data": pool.digest[:12],
                    "sample": f"all#{self.subject.seed}",
                    **self.clusters(),
                    "candidates": self.candidate_text,
                },
                conditions_of={each.name: self._grades(each) for each in self.measures},
                parts={each: view["by_question_language"] for each, view in views.items()},
                above=best.above,
                tied=best.tied,
                n_tied=ranks.n_tied(),
                views={each: record(pool.languages, view) for each, view in views.items()},
                hubs=None if hubs is None else NamedHubs(hubs, partial(described, pool), ranks.candidate),
                neighbours=heads.neighbours() if recording.neighbours and heads is not None else None,
                candidates=np.arange(m),
                ranking=partial(self._ranking, listed, passed.offsets),
            )

    def _embedded(self, name: str, encoder: Encoder) -> PoolVectors:
        return embed_pool(self.pool, name, encoder, self.candidate_text, **self.embedding(), any_form=True)

    def _lists(self, name: str, system: RunSystem) -> Lists:
        """Search with a run; its lists are long enough for the measures."""
        (questions, candidates), place = self.names, self.subject.place
        rows = np.arange(len(questions)), np.arange(len(candidates))
        search = Search(questions, candidates, *rows, ALL, POOL, self.subject.seed, called="the pool")
        lists = system.lists(search)
        self.count_unanswered(name, *place, lists)
        check_reach(lists, self.measures, repr(name), "nDCG")
        return lists

    def _too_short(self, name: str, lists: Lists) -> set[str]:
        """Warn of views that lists end too early for, and name them."""
        graded = any(isinstance(measure, NDCG) for measure in self.measures)
        depths = {view: depth for view, depth in DEPTHS.items() if view != MONOLINGUAL or graded}
        short = [view for view, k in depths.items() if lists.unsettled(k).sum() > MOST_UNKNOWN * len(lists)]
        if short:
            warn(f"system {name!r}: lists end too early for {listed(short)}, which are left out")
        return set(short)

    def _grades(self, measure: PoolMeasure) -> Mapping[str, str]:
        """Name the grades in a signature: they are not in the digest of the pool."""
        grades = self.pool.grades
        if not isinstance(measure, NDCG) or (grades == 1).all():
            return {}
        return {"grades": hashlib.blake2b(grades.astype("<i8").tobytes(), digest_size=4).hexdigest()}

    def _views(self, ranks: PoolRanks, values: Mapping[str, Floats], short: set[str]) -> dict[str, View]:
        """Compute the views of each measure that follow from the ranks of answers."""
        views, size = {}, len(self.pool.candidates)
        for measure in self.measures:
            view, cut = measured(ranks, measure, values[measure.name]), cut_of(measure, size)
            if self.views:
                view |= of_precision(ranks, self.subsets) if measure == AP else {}
                view |= found_among(ranks, cut) if cut is not None and cut < size else {}
                if isinstance(measure, NDCG) and MONOLINGUAL not in short:
                    view |= monolingual_pool(ranks, monolingual_ndcg(ranks, measure))
            views[measure.name] = view
        return views

    def _space(self, name: str, listed: PoolVectors | Lists) -> View:
        """Compute the views of dense vectors, which stand with AP."""
        if self.viewed != AP or isinstance(listed, Lists) or not is_dense(listed.questions):
            return {}
        space = Space(self.pool, listed.questions, listed.candidates, self.options.seed)
        view = language_identification(space)
        if np.count_nonzero(space.sizes) >= 2:
            self.picture = self.picture or most_apart(space)
            points, shares = picture_of(space, self.picture)
            ids = {"question": self.names[0].ids, "candidate": self.names[1].ids}
            for point in points:
                self.points.append({"encoder": name, **point, "text_id": ids[point["role"]][point["row"]]})
            view["picture"] = SpaceAxes(list(self.picture), list(shares))
        return view

    def _ranking(self, listed: PoolVectors | Lists, offsets: Any) -> Ranking:  # noqa: ANN401  (of a pass)
        """Give what a TREC file lists: the candidates of each question."""
        relevant, (questions, candidates) = self.pool.relevant, (members_of(names) for names in self.names)
        ranking = Ranking(questions, candidates, relevant, judged=(*relevant, self.pool.grades))
        if isinstance(listed, Lists):
            return replace(ranking, lists=listed)
        return replace(
            ranking, vectors=(rows_of(listed.questions), rows_of(listed.candidates)), offsets=offsets
        )

    def _occurrences(self, encoder: str, counts: Floats) -> pa.Table:
        """Make the table of how often each candidate [m] is among the first k."""
        import pyarrow as pa

        text, names = pa.string(), self.names[1]
        columns = {
            "encoder": repeated([encoder], [len(counts)]).cast(text),
            "id": from_strings(names.ids, text),
            "language": from_strings(names.languages, text),
            "count": from_numpy(counts, pa.float64()),
        }
        return pa.table(columns)

    def _answers(self, encoder: str, ranks: PoolRanks) -> pa.Table:
        """Make the table of where the answers stand; of several answers of a question each has a line."""
        import pyarrow as pa

        n, known = len(ranks.question), ~(ranks.unlisted | ranks.missed)
        words = {"encoder": encoder, "task": NAME, "source": ALL, "target": POOL}
        columns = {column: repeated([word], [n]) for column, word in words.items()}
        columns["seed"] = from_numpy(np.full(n, self.subject.seed), pa.int64())
        for column, rows, names in zip(
            ("query", "answer"), (ranks.question, ranks.candidate), self.names, strict=True
        ):
            columns[column] = looked_up(rows, *words_of(with_languages(names)))
        for column, counts in (("above", ranks.above), ("tied", ranks.tied)):
            columns[column] = from_numpy(counts, pa.int64(), mask=~known)
        return pa.table(columns)

    def _add_worst(self, encoder: str, ranks: PoolRanks, values: Floats, first: Places) -> None:
        """Add the questions with the worst values [n], of different clusters, and their candidates.

        Rows of kind "above" are the first candidates, those of kind "answer" the best relevant one and the
        best one in the question's own language; `place` is the (mid-)rank, None where a search system did not
        return it.
        """
        pool, (asked, candidates) = self.pool, self.names
        order = np.argsort(values if self.viewed.higher_is_better else -values, kind="stable")
        order = order[~np.isnan(values[order])]
        _, best_of_cluster = np.unique(ranks.cluster[order], return_index=True)
        targets = ranks.targets()
        place = np.where(ranks.unlisted, np.inf, targets.above + (targets.tied + 1) / 2)
        for question in order[np.sort(best_of_cluster)[:MOST_WORST]].tolist():
            lines = np.arange(*np.searchsorted(ranks.question, (question, question + 1)))
            both = (lines, lines[ranks.same_language[lines]])
            shown = dict.fromkeys(int(rows[np.argmin(place[rows])]) for rows in both if len(rows))
            best = float(place[lines].min())
            here = slice(*np.searchsorted(first.query, (question, question + 1)))
            candidate, rank = first.candidate[here], first.above[here] + (first.tied[here] + 1) / 2
            wrong = np.flatnonzero(~np.isin(candidate, ranks.candidate[lines]) & (rank <= best))
            wrong = wrong[np.argsort(rank[wrong], kind="stable")][:MOST_ABOVE]
            texts = [(int(candidate[row]), float(rank[row]), "above") for row in wrong]
            texts += [(int(ranks.candidate[line]), float(place[line]), "answer") for line in shown]
            self.worst += [
                {
                    "encoder": encoder,
                    "question_id": asked.ids[question],
                    "question_language": asked.languages[question],
                    "question": pool.questions.text[question],
                    "value": float(values[question]),
                    "rank_of_best": best if np.isfinite(best) else None,
                    "measure": self.viewed.name,
                    "place": at if np.isfinite(at) else None,
                    "candidate_id": candidates.ids[row],
                    "candidate_language": candidates.languages[row],
                    "candidate": pool.candidates.text[row],
                    "relevant": kind == "answer",
                    "kind": kind,
                }
                for row, at, kind in texts
            ]


def _values(measure: PoolMeasure, ranks: PoolRanks) -> Floats:
    """Compute the values of a measure for each question [n], NaN for none."""
    if isinstance(measure, AlignmentMeasure):
        return measure.per_query(ranks.alignment)
    targets = ranks.targets()
    if isinstance(measure, NDCG):
        lines = targets.query, targets.above, targets.tied, ranks.grade
        return measure.per_query(JudgedCounts(*lines, targets.pool, targets.pool))
    if isinstance(measure, TargetMeasure):
        return measure.per_query(targets)
    return measure.per_query(targets.best())
