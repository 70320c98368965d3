"""The numbers of an evaluation by judgements: entries, leaderboards by query language, and all queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.evaluation.estimates import Score, score
from xlingual.evaluation.hubs import Hubs
from xlingual.evaluation.numbers import OVERALL, Baseline, BoardLine, Number, Numbers, Subject
from xlingual.evaluation.retrieval.counted import Counted
from xlingual.evaluation.retrieval.judgements import Judgements
from xlingual.evaluation.retrieval.values import best_places, n_tied, per_query
from xlingual.evaluation.run import Run
from xlingual.measures import JudgedAt, RetrievalMeasure
from xlingual.results import Interval, Results, Summary
from xlingual.results.views import RetrievalIntervals, RetrievalViews

ALL, POOL = "all", "pool"  # source and target: queries of all languages, candidates of all languages


@dataclass(frozen=True)
class _Found:
    """One measure of one system: over all queries, and over those of each language."""

    overall: Score
    languages: Mapping[str, Score]
    own: Mapping[str, Score]  # the same among candidates of the query's own language


class RetrievalNumbers:
    """Collects the numbers of one system after another."""

    def __init__(
        self,
        run: Run,
        judgements: Judgements,
        measures: Sequence[RetrievalMeasure],
        ties: str,
        conditions: Mapping[str, str],
    ) -> None:
        self.run, self.judgements, self.measures = run, judgements, measures
        self.ties, self.conditions = ties, conditions
        self.subject = Subject(ALL, POOL, 0)
        self.numbers = Numbers(run.task, measures, [self.subject], compared=0)
        self.found: dict[str, dict[str, _Found]] = {}  # measure → system
        self._chance: dict[str, float | None] = {}

    def add(self, system: str, counted: Counted, hubs: Hubs | None = None) -> None:
        """Enter the numbers of a system; its hubs stand with the first measure."""
        j = self.judgements
        above, best_tied = best_places(counted.whole, j.least)
        tied = n_tied(counted.found, j.least)
        for measure in self.measures:
            values = per_query(measure, counted.of(measure), j.least)
            found = self._scores(measure, values, counted)
            self.found.setdefault(measure.name, {})[system] = found
            self.numbers[system, measure.name, self.subject] = Number(
                found.overall,
                self._signature(system, measure),
                n_source=j.n,
                n_target=j.m,
                n_tied=tied,
                baseline=Baseline(self._by_chance(measure)),
                views=self._views(measure, found, counted, hubs if measure == self.measures[0] else None),
            )
            self.numbers.add_queries(
                system,
                measure,
                self.subject,
                query=np.arange(j.n),
                above=above,
                tied=best_tied,
                value=values,
            )

    def _scores(self, measure: RetrievalMeasure, values: Floats, counted: Counted) -> _Found:
        j = self.judgements
        cluster = j.rows.cluster
        languages = self._by_language(measure, values, np.arange(j.n))
        own: dict[str, Score] = {}
        if counted.own is not None and counted.own_reaches(measure, j):
            of_own = per_query(measure, counted.own.counts, j.least)
            own = self._by_language(measure, of_own, counted.own.queries)
        return _Found(score(measure, values, (cluster,)), languages, own)

    def _by_language(self, measure: RetrievalMeasure, values: Floats, queries: Ints) -> dict[str, Score]:
        """Return the scores of queries by their language; nothing where no language is known."""
        j, found = self.judgements, {}
        for code, tag in enumerate(j.languages):
            rows = np.flatnonzero(j.query_language[queries] == code)
            if len(rows):
                found[tag] = score(measure, values[rows], (j.rows.cluster[queries[rows]],))
        return found

    def _by_chance(self, measure: RetrievalMeasure) -> float | None:
        """Return the value of a system to which all candidates are equal; None where these are not known."""
        j, name = self.judgements, measure.name
        if name not in self._chance:
            known = measure.aggregate(per_query(measure, j.by_chance(), j.least)) if j.known else None
            self._chance[name] = known
        return self._chance[name]

    def _views(
        self, measure: RetrievalMeasure, found: _Found, counted: Counted, hubs: Hubs | None
    ) -> RetrievalViews:
        j = self.judgements
        cut = getattr(measure, "cut", getattr(measure, "k", None))
        judged = None
        if isinstance(cut, int) and not isinstance(measure, JudgedAt):
            returned = counted.whole.listed > 0
            shares = JudgedAt(cut).per_query(counted.whole)[returned]
            judged = float(np.mean(shares)) if len(shares) else None
        return RetrievalViews(
            languages=list(j.languages),
            by_query_language=_values(found.languages),
            own_language=_values(found.own),
            judged=judged,
            incomplete=j.incomplete,
            hubs=None if hubs is None else hubs.counts,
            ci=RetrievalIntervals(_intervals(found.languages), _intervals(found.own)),
        )

    def _signature(self, system: str, measure: RetrievalMeasure) -> str:
        languages = {"languages": ",".join(self.judgements.languages)} if self.judgements.languages else {}
        conditions = {
            **languages,
            **self.judgements.conditions,
            "sample": "all#0",
            **self.conditions,
        }
        own = self.run.system(system, self.subject.place, self.ties)
        return self.run.signature(conditions, measure.name, self.ties, **own)

    def results(self) -> Results:
        """Return all numbers."""
        table = self.numbers.per_query.table(self.judgements.rows)
        return Results(self.numbers.entries(), list(self._summaries()), table)

    def _summaries(self) -> Iterator[Summary]:
        """Yield the measures by query language, where there are several, and over all queries."""
        for measure in self.measures:
            found, higher = self.found[measure.name], measure.higher_is_better
            tags = list(dict.fromkeys(tag for one in found.values() for tag in one.languages))
            for tag in tags if len(tags) > 1 else ():
                lines = {name: BoardLine(one.languages[tag]) for name, one in found.items()}
                yield from self.numbers.leaderboard(measure.name, (tag, POOL), lines, higher=higher)
            chance = self._by_chance(measure)
            lines = {name: BoardLine(one.overall, chance) for name, one in found.items()}
            yield from self.numbers.leaderboard(measure.name, OVERALL, lines, higher=higher)


def _values(scores: Mapping[str, Score]) -> dict[str, float | None] | None:
    return {tag: one.value for tag, one in scores.items()} or None


def _intervals(scores: Mapping[str, Score]) -> dict[str, Interval | None] | None:
    return {tag: one.interval() for tag, one in scores.items()} or None
