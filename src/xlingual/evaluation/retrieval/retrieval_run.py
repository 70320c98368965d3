"""One evaluation by judgements: a pool, the systems, and what each of them found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial

import numpy as np

from xlingual.data.names import Names, escaped
from xlingual.data.pools.pool import MultilingualPool
from xlingual.data.runs.search_run import places_of_names
from xlingual.embed.sides import PoolVectors, embed_pool, load_fit_texts
from xlingual.encoders import Encoder
from xlingual.evaluation.hubs import HUBS_OF, Hubs, HubTable, Languages, hubs_of, listed_places
from xlingual.evaluation.listed import check_reach
from xlingual.evaluation.lists import Lists
from xlingual.evaluation.multilingual_pool.evaluate import refuse_without_role
from xlingual.evaluation.multilingual_pool.lists import described, first_places
from xlingual.evaluation.multilingual_pool.one_pass import PoolColumns, one_pass
from xlingual.evaluation.multilingual_pool.rankings import members_of
from xlingual.evaluation.numbers import Subject
from xlingual.evaluation.rankings import Evaluated, Ranking
from xlingual.evaluation.retrieval.counted import (
    Counted,
    counted_lists,
    counted_without,
    with_identical,
)
from xlingual.evaluation.retrieval.judgements import EXPECTED, TREC, Judgements, judgements_of
from xlingual.evaluation.retrieval.numbers import ALL, POOL, RetrievalNumbers
from xlingual.evaluation.retrieval.trec_order import above_by_name, best_by_float32
from xlingual.evaluation.run import EncoderSpecs, Options, Run
from xlingual.evaluation.run_systems import RunSystem, Search, systems
from xlingual.measures import Bpref, RetrievalMeasure
from xlingual.measures.hubness import Places
from xlingual.ranking import rows_of, similarity_of
from xlingual.results import Results

NAME = "retrieval"


class RetrievalRun(Run):
    """One evaluation: a pool, its judgements, and the systems."""

    ranks_texts = False

    def __init__(
        self,
        pool: MultilingualPool,
        least: int,
        ties: str,
        candidate_text: str,
        options: Options,
        *,
        examples: bool = True,
        ignore_identical_ids: bool = False,
    ) -> None:
        super().__init__(NAME, options)
        self.examples, self.ignore_identical_ids = examples, ignore_identical_ids
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
        refuse_without_role(made)
        self.fit(made, pool.question_texts(), pool.candidate_texts())

    def results(self, measures: Sequence[RetrievalMeasure]) -> Results:
        """Return the results of all systems."""
        judgements = judgements_of(self.pool, self.least, ignore_identical_ids=self.ignore_identical_ids)
        text = {} if self.candidate_text == "sentence" else {"candidates": self.candidate_text}
        numbers = RetrievalNumbers(self, judgements, measures, self.ties, text)
        table = HubTable(NAME, self.examples)
        for name, system in self.by_name.items():
            if isinstance(system, RunSystem):
                found, places = self._listed(name, system, judgements, measures)
            else:
                vectors = self.encode(name, self.embedded)
                with self.stage("texts: rank"):
                    found, places = self._counted(name, vectors, judgements)
            numbers.add(name, found, None if places is None else self._hubs(name, places, judgements, table))
        with self.stage("statistics", "computing intervals"):
            results = numbers.results()
        results.tables = table.table()
        results.evaluated = Evaluated(self.pool, self.rankings)
        return results

    def embedded(self, name: str, encoder: Encoder) -> PoolVectors:
        """Return the vectors of queries and candidates."""
        return embed_pool(self.pool, name, encoder, self.candidate_text, **self.embedding(), any_form=True)

    def _listed(
        self,
        name: str,
        system: RunSystem,
        judgements: Judgements,
        measures: Sequence[RetrievalMeasure],
    ) -> tuple[Counted, Places | None]:
        with self.stage("systems: rank", f"ranking candidates: {name}"):
            lists = self._lists(name, system)
            if self.ties == EXPECTED:
                reaching = [one for one in measures if not isinstance(one, Bpref)]
                check_reach(lists, reaching, repr(name), "nDCG")
            known = judgements.identical is None and self.ties == EXPECTED
            places = listed_places(lists, min(HUBS_OF, judgements.m)) if known else None
            return counted_lists(judgements, lists), places

    def _lists(self, name: str, system: RunSystem) -> Lists:
        queries, candidates = self._names
        rows = np.arange(len(queries)), np.arange(len(candidates))
        search = Search(queries, candidates, *rows, ALL, POOL, 0, called="the pool", ties=self.ties)
        lists = system.lists(search)
        self.count_unanswered(name, ALL, POOL, 0, lists)
        if self.ties == EXPECTED:
            return lists
        return replace(lists, score=None)  # it is in the order of trec_eval already

    def _counted(
        self, name: str, vectors: PoolVectors, judgements: Judgements
    ) -> tuple[Counted, Places | None]:
        if self.ties == TREC:
            return self._by_name(vectors, judgements), None
        k = min(HUBS_OF, judgements.m)
        found = one_pass(
            self.pool,
            vectors.questions,
            vectors.candidates,
            ranker=self.options.ranker,
            progress=self.progress(f"ranking candidates: {name}"),
            pairs=with_identical(judgements),
            top=k,
            depth=k,
        )
        self.tally.screened += found.screened
        self.tally.decided += found.decided
        assert found.heads is not None
        counted = counted_without(judgements, found.counts.above, found.counts.tied)
        if judgements.identical is not None:  # the first places still have what is left out
            return counted, None
        return counted, first_places(found.heads, k, judgements.n, judgements.m)

    def _hubs(self, name: str, places: Places, judgements: Judgements, table: HubTable) -> Hubs:
        """Return the hubs of a system, and add the largest to the table."""
        j, pool = judgements, self.pool
        right = j.grade >= j.least
        wrong = places.wrong(j.query[right], j.candidate[right])
        languages = None
        if len(pool.languages) > 1:
            languages = Languages(pool.languages, pool.questions.language, pool.candidates.language)
        found = hubs_of(places, wrong, j.rows.cluster, languages=languages)
        table.add(name, Subject(ALL, POOL, 0), found, partial(described, pool), j.candidate[right])
        return found

    def _by_name(self, vectors: PoolVectors, judgements: Judgements) -> Counted:
        pool = self.pool
        columns = PoolColumns.of_candidates(vectors.candidates, pool.candidates.language, len(pool.languages))
        questions = rows_of(vectors.questions)
        similarity = similarity_of(questions, columns.vectors)
        query, candidate = with_identical(judgements)
        above = above_by_name(similarity, columns, query, candidate, self._places_of_names)
        self.tally.add(similarity)
        tied = np.zeros_like(above)
        tied[np.arange(len(above)), judgements.candidate_language[candidate]] = 1
        return counted_without(judgements, above, tied)

    def rankings(self, name: str) -> Iterator[Ranking]:
        """Yield the lists of a system."""
        question, candidate, grade = self.pool.judged
        right = grade >= self.least
        ranking = Ranking(
            *(name, ALL, POOL, 0),
            queries=members_of(self.pool, self.pool.questions),
            candidates=members_of(self.pool, self.pool.candidates),
            relevant=(question[right], candidate[right]),
            judged=(question, candidate, grade),
        )
        system = self.by_name[name]
        if isinstance(system, RunSystem):
            yield replace(ranking, given=self._lists(name, system))
            return
        vectors = self.encode_again(name, self.embedded)
        questions, candidates = rows_of(vectors.questions), rows_of(vectors.candidates)
        in_order = partial(best_by_float32, questions, candidates, self._places_of_names)
        yield replace(
            ranking,
            query_vectors=questions,
            candidate_vectors=candidates,
            ordered=in_order if self.ties == TREC else None,
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
    def _places_of_names(self) -> np.ndarray:
        return places_of_names(self._candidate_names)

    @cached_property
    def _candidate_names(self) -> list[str]:
        c, tags = self.pool.candidates, self.pool.languages
        return [f"{tags[code]}:{escaped(own)}" for code, own in zip(c.language.tolist(), c.ids, strict=True)]
