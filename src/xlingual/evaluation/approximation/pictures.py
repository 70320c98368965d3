"""Ways back over pictures: exactly for checked queries, and for all queries among a sample of candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from xlingual.arrays import distinct_values
from xlingual.evaluation.approximation.sampled import SampledRanks, estimated_ranks
from xlingual.evaluation.asked_ways import nearest_targets
from xlingual.evaluation.nearest import Nearest
from xlingual.evaluation.ragged import sums
from xlingual.evaluation.setup import Tally
from xlingual.evaluation.side_ranks import Routes, SideRanks
from xlingual.measures import RecallAt
from xlingual.ranking import Counts, PictureScores, Ranker, Reduction, Top, TopK, as_scores
from xlingual.records import Floats, Ints
from xlingual.streams import stream


@dataclass(frozen=True)
class ExactWays:
    """What is exactly true of the checked queries of a task."""

    routes: list[Routes]  # of each encoder
    recall: list[float]  # of each encoder: share of the nearest pictures that the search found
    oracle: dict[str, Floats]  # by measure, [checked]


def exact_ways(
    ranks: SideRanks,
    task: int,
    queries: Ints,
    nearest: Sequence[Nearest],
    measures: Sequence[RecallAt],
    ranker: Ranker,
    tally: Tally,
) -> ExactWays:
    """Return the exact ways back of the checked queries, from their nearest texts by each encoder.

    Only the pictures of these texts are ranked against, and only for the oracle these queries against all.
    """
    columns = ranks.source_columns(task)[queries]
    oracle = _oracle(ranks, columns, ranker, tally)
    rows = [ranks.target_rows(task)[one.target] for one in nearest]
    own = [columns[one.query] for one in nearest]
    pass_ = _Ways(ranks, [*rows, oracle.rows], [*own, oracle.columns])
    pass_.run(ranker, tally)
    return ExactWays(
        [pass_.routes(i) for i in range(len(nearest))],
        [pass_.recall(i) for i in range(len(nearest))],
        oracle.values(columns, pass_.routes(len(nearest)), measures),
    )


@dataclass(frozen=True)
class _Oracle:
    """Nearest target pictures of source columns: parallel arrays, `share` sums to 1 for each column."""

    rows: Ints
    columns: Ints
    share: Floats

    def values(self, wanted: Ints, routes: Routes, measures: Sequence[RecallAt]) -> dict[str, Floats]:
        """Return the oracle's value of each wanted column, by measure."""
        distinct, own = np.unique(self.columns, return_inverse=True)
        where = np.searchsorted(distinct, wanted)
        found = {m.name: sums(own, self.share * m.per_query(routes.counts), len(distinct)) for m in measures}
        found["SIM"] = sums(own, self.share * routes.similarity, len(distinct))
        return {name: values[where] for name, values in found.items()}


def _oracle(ranks: SideRanks, columns: Ints, ranker: Ranker, tally: Tally) -> _Oracle:
    distinct = distinct_values(columns)
    if ranks.over.has_vectors:
        found = nearest_targets(ranks, distinct, ranker, None, tally)
    else:  # all scores are given: what was found is exact
        found = _chosen(ranks.oracle, np.isin(ranks.oracle.query, distinct))
    share = found.weight / np.bincount(found.query, found.weight)[found.query]
    return _Oracle(found.candidate, found.query, share)


def _chosen(found: TopK, lines: np.ndarray) -> TopK:
    columns = (found.query, found.candidate, found.weight, found.above, found.tied)
    query, candidate, weight, above, tied = (column[lines] for column in columns)
    return TopK(query, candidate, weight, above, tied, found.unlisted)


class _Ways:
    """One exact pass: ranks of source columns seen from target rows, and the best columns of the rows."""

    def __init__(self, ranks: SideRanks, rows: Sequence[Ints], columns: Sequence[Ints]) -> None:
        self._ranks, self._rows = ranks, rows
        self._width = ranks.over.similarity.shape[1]
        keys = [row * self._width + column for row, column in zip(rows, columns, strict=True)]
        self._pairs, where = np.unique(np.concatenate(keys), return_inverse=True)
        self._where = np.split(where, np.cumsum([len(key) for key in keys])[:-1])

    def run(self, ranker: Ranker, tally: Tally) -> None:
        """Make the pass."""
        row, column = np.divmod(self._pairs, self._width)
        self._used = distinct_values(row)
        restricted = self._ranks.over.among(self._used, np.arange(self._width))
        similarity: PictureScores = restricted or self._ranks.over.similarity
        row = row if restricted is None else np.searchsorted(self._used, row)
        self._counts = Counts.of(similarity, row, column, weights=self._ranks.source_weights)
        wanted = self._ranks.top
        shape = similarity.shape
        queries = self._used if restricted is None else None
        top = Top(wanted.k, shape, weights=self._ranks.source_weights, queries=queries, cap=wanted.cap)
        reductions: list[Reduction] = [self._counts, top]
        ranker.scan(similarity, reductions)
        if restricted is not None:
            tally.add(similarity)
        best = top.result()
        self._best_row = best.query if restricted is None else self._used[best.query]
        self._best = best.candidate

    def routes(self, number: int) -> Routes:
        """Return the ways of one of the sets of pairs given."""
        where = self._where[number]
        counts = self._ranks.rank_counts(self._counts.above[where], self._counts.tied[where])
        return Routes(counts, as_scores(self._counts.keys_given[where]))

    def recall(self, number: int) -> float:
        """Return the share of the best columns of the rows of a set that the search has listed too."""
        listed = self._ranks.listed
        wanted = np.isin(self._best_row, self._rows[number])
        truth = self._best_row[wanted] * self._width + self._best[wanted]
        return float(np.isin(truth, listed.query * self._width + listed.candidate).mean())


def sampled_ranks(
    ranks: SideRanks,
    task: int,
    nearest: Sequence[Nearest],
    candidates: int,
    ranker: Ranker,
    tally: Tally,
) -> list[SampledRanks]:
    """Return, for each encoder, the ranks of all queries estimated from a sample of the source pictures."""
    sources, columns = ranks.sides.sources, ranks.source_columns(task)
    seed = ranks.tasks[task].sample.seed
    drawn = stream(seed, "drawn pictures").permutation(len(sources))[:candidates]
    is_drawn = np.zeros(len(sources), dtype=np.int64)
    is_drawn[drawn] = 1
    column_of = ranks.over.columns(sources)
    width = ranks.over.similarity.shape[1]
    weights = np.bincount(column_of, is_drawn, width).astype(np.int64)
    used = np.flatnonzero(weights)
    height = ranks.over.similarity.shape[0]
    rows = [ranks.target_rows(task)[one.target] for one in nearest]
    own = [columns[one.query] for one in nearest]
    keys = [row * width + column for row, column in zip(rows, own, strict=True)]
    distinct, where = np.unique(np.concatenate(keys), return_inverse=True)
    row, column = np.divmod(distinct, width)
    place = np.searchsorted(used, column)
    place[place == len(used)] = 0
    restricted = ranks.over.among(np.arange(height), used)
    exact = ranks.over.similarity.exact(row, column)
    if restricted is None:
        counts = Counts(row, column, exact, weights=weights)
        ranker.scan(ranks.over.similarity, [counts])
    else:
        counts = Counts(row, np.where(used[place] == column, place, -1), exact, weights=weights[used])
        ranker.scan(restricted, [counts])
        tally.add(restricted)
    picture = np.searchsorted(sources, ranks.pictures.code[ranks.tasks[task].sample.source])
    found = []
    for one, lines in zip(nearest, np.split(where, np.cumsum([len(key) for key in keys])[:-1]), strict=True):
        self_drawn = is_drawn[picture[one.query]]  # one's own picture is no competitor
        above = counts.above[lines] + (counts.tied[lines] - self_drawn) / 2
        rank = estimated_ranks(above, len(drawn) - self_drawn, len(sources) - 1)
        values = sums(one.query, one.share * rank, len(one.n_tied))
        found.append(SampledRanks(values, len(drawn), len(sources)))
    return found
