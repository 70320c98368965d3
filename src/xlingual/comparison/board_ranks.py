"""Rank intervals of one column of a leaderboard: tests of all pairs of its encoders, in little time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xlingual.comparison.board_cells import Number, tested_part
from xlingual.comparison.outcome import QuerySubset, Resampling, Rules, too_few
from xlingual.comparison.pair_tests import PairTests
from xlingual.comparison.queries import Queries
from xlingual.comparison.ranks import pairwise_p, rank_intervals
from xlingual.comparison.reading import read_aligned
from xlingual.errors import InputError
from xlingual.stats.all_pairs import AllPairs
from xlingual.stats.paired import skewed_t_test, t_test

MANY_CLUSTERS = 60  # from here on sign flips say no more than Student's t corrected for skewness


@dataclass(frozen=True)
class Ranked:
    """Rank intervals by the name of the row; none where nothing was tested, `why` says so."""

    ranks: Mapping[str, tuple[int, int]]
    why: str | None = None
    n_queries: int | None = None
    n_tests: int = 0


def ranked(column: Sequence[Number], rows: Sequence[str], rules: Rules, seed: int) -> Ranked:
    """Return what corrected tests of all pairs leave open about the ranks of a column's encoders.

    `rows` are their names, in the order of the column. Tests are those of `compare`, but for columns of many
    clusters: there the test by sign flips, which takes seconds for each pair, is left to `compare`.
    """
    known = [(number, row) for number, row in zip(column, rows, strict=True) if number.value is not None]
    if len(known) < 2:
        return Ranked({}, "one encoder alone: there is nothing to compare it with")
    try:
        aligned = read_aligned(tested_part([number for number, _ in known]), measures=[known[0][0].measure])
    except InputError as error:
        return Ranked({}, f"not tested: {error}")
    queries = aligned.queries[0]
    if queries.unlike:
        return Ranked({}, queries.unlike)
    if few := too_few(queries.n_clusters):
        return Ranked({}, few)
    named = {(number.given.name, number.encoder): row for number, row in known}
    row_of = {one.label: named[str(one.folder), one.encoder] for one in aligned.members}
    found = rank_intervals(queries, _p_values(queries, rules, seed), rules)
    n = len(known)
    ranks = {row_of[label]: ends for label, ends in found.items()}
    return Ranked(ranks, None, len(queries), n * (n - 1) // 2)


def _p_values(queries: Queries, rules: Rules, seed: int) -> PairTests:
    n = len(queries.encoders)
    flips, whole = Resampling(None, seed, n * (n - 1) // 2, rules), QuerySubset(queries)
    few = queries.n_clusters < MANY_CLUSTERS
    one_text = [queries.one_retrieved(name) is not None for name in queries.encoders]

    def test(a: str, b: str) -> float:
        pair = queries.paired(a, b)
        if few or queries.one_retrieved(a, b) or t_test(pair)[1] == 0:  # the last is quick: nothing varies
            return flips.test(whole, a, b).p
        return skewed_t_test(pair)

    def bounds(found: AllPairs, a: int, b: int) -> tuple[float, float] | None:
        return None if few or one_text[a] or one_text[b] else found.skewed(a, b)

    return pairwise_p(queries, {}, "", rules, test, bounds)
