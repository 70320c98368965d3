"""The k best candidates of each query, with every candidate that ties with the k-th."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise

import numpy as np

from xlingual.arrays import Floats, Ints, distinct_values
from xlingual.ragged import groups
from xlingual.ranking.lines import (
    FIELDS,
    OTHERS,
    Lines,
    best_first,
    is_best_first,
    ranges_of,
)
from xlingual.ranking.scan import Tile, refuse_others, wanted
from xlingual.ranking.similarity import UNIT

_BATCH = 1 << 20  # screened pairs taken into a table at a time
_SETTLED = 1 << 17  # lines settled together at the end
_NOTHING = np.iinfo(np.int64).min


@dataclass(frozen=True)
class TopK:
    """The best candidates of each query, ordered by query, then best first; parallel arrays.

    `above` candidates (with multiplicity) score higher, `tied` score the same, itself included. Where more
    candidates tie with the k-th than the cap, those kept are a sample and `unlisted` counts the others.
    """

    query: Ints  # [e]
    candidate: Ints  # [e]
    weight: Ints  # [e] multiplicity of the candidate
    above: Ints  # [e]
    tied: Ints  # [e]
    unlisted: Ints  # [n queries]


class Top:
    """Keeps, for each query, the k best candidates and all that tie with the k-th.

    `weights` [m] is the multiplicity of each candidate in the group that is ranked (0: not in it; None: one
    each); `queries` (sorted) restricts the queries. Above `cap` ties, those with the smallest seeded hash are
    kept. Screen scores decide what is certain; `result` decides the rest exactly.

    A part (`within`) numbers its queries and candidates from its `origin` on.
    """

    def __init__(
        self,
        k: int,
        shape: tuple[int, int],
        *,
        weights: Ints | None = None,
        queries: Ints | None = None,
        cap: int = 1000,
        seed: int = 0,
        origin: tuple[int, int] = (0, 0),
    ) -> None:
        self.k, self.shape, self.cap, self.seed, self.origin = k, shape, max(cap, 1), seed, origin
        self.weights = weights
        self.queries = queries
        self.columns = None if weights is None or (weights > 0).all() else np.flatnonzero(weights)
        self.lines = Lines.empty()
        self._floor = np.full(shape[0], _NOTHING)  # key of the k-th best so far
        self._hashed_from = 0  # the number, among all candidates, of the one that is numbered zero here
        self._slack = 0
        self._decide: Callable[[Ints, Ints], Ints] | None = None

    def within(self, rows: slice, columns: slice) -> Top:
        """Return the request for these queries and candidates alone, with nothing seen."""
        queries = self.queries
        if queries is not None:
            low, high = np.searchsorted(queries, (rows.start, rows.stop))
            queries = queries[low:high] - rows.start
        part = Top(
            self.k,
            (rows.stop - rows.start, columns.stop - columns.start),
            weights=None if self.weights is None else self.weights[columns],
            queries=queries,
            cap=self.cap,
            seed=self.seed,
            origin=(self.origin[0] + rows.start, self.origin[1] + columns.start),
        )
        part._hashed_from = self._hashed_from
        return part

    def alone(self, rows: slice, columns: slice) -> Top:
        """Return the request for these queries and candidates with both numbered from zero."""
        part = self.within(rows, columns)
        part._hashed_from, part.origin = part._hashed_from + part.origin[1], (0, 0)
        return part

    def request_arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that define the request: equal arrays mean equal requests."""
        numbers = [self.k, self.cap, self.seed, *self.shape, *self.origin, self._hashed_from]
        found = {"top": np.array(numbers)}
        if self.weights is not None:
            found["weights"] = self.weights
        if self.queries is not None:
            found["queries"] = self.queries
        return found

    def state(self) -> dict[str, np.ndarray]:
        """Return what has been seen, every line exact: it can be merged where there are no vectors."""
        self._take_in([self._settled(self.lines, np.ones(len(self.lines), dtype=bool))])
        return {name: getattr(self.lines, name) for name in FIELDS}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Take over the state of a part with the same request."""
        self._take_in([Lines(*(state[name] for name in FIELDS))])

    def update(self, tile: Tile) -> None:
        """Take in a tile: keep what may be among the k best."""
        self.decides_by(tile.exact, tile.band)
        scores = tile.scores
        first_row, first_column = tile.row - self.origin[0], tile.column - self.origin[1]
        rows = wanted(scores.shape[0], first_row, self.queries)
        columns = wanted(scores.shape[1], first_column, self.columns)
        if rows is not None:
            scores = scores[rows]
        if columns is not None:
            scores = scores.take(columns, axis=1) if scores.flags.c_contiguous else scores[:, columns]
        if scores.size == 0:
            return
        row_numbers = (np.arange(scores.shape[0]) if rows is None else rows) + first_row
        column_numbers = (np.arange(scores.shape[1]) if columns is None else columns) + first_column
        self._screen(scores, row_numbers, column_numbers, tile.band)

    def decides_by(self, exact: Callable[[Ints, Ints], Ints], band: float) -> None:
        """Note how pairs are decided exactly, and how far screen scores may be off."""
        row, column = self.origin
        self._slack = max(self._slack, round(band / UNIT))
        self._decide = lambda query, candidate: exact(query + row, candidate + column)

    def _screen(self, scores: np.ndarray, rows: Ints, columns: Ints, band: float) -> None:
        """Add the pairs of these rows that the screen cannot rule out."""
        limit, alive = self._limits(scores, rows, band)
        if len(alive) == 0:
            return
        if len(alive) < len(rows):
            scores, rows, limit = scores[alive], rows[alive], limit[alive]
        i, j = _where(scores >= limit[:, None].astype(np.float32))
        if len(i) > _BATCH and len(rows) > 1:  # nearly everything ties: a few rows at a time
            half = len(rows) // 2
            for part in (slice(None, half), slice(half, None)):
                self._screen(scores[part], rows[part], columns, band)
            return
        self.take(rows[i], columns[j], scores[i, j])

    def take(self, query: Ints, candidate: Ints, score: np.ndarray) -> None:
        """Take in single pairs and their screen scores, parallel arrays; numbers from the origin on."""
        new_lines = Lines(
            query,
            candidate,
            np.rint(score.astype(np.float64) / UNIT).astype(np.int64),
            np.ones(len(query), dtype=np.int64) if self.weights is None else self.weights[candidate],
            np.zeros(len(query), dtype=bool),
        )
        self._take_in([self.lines, new_lines])

    def add(self, query: Ints, candidate: Ints, keys: Ints) -> None:
        """Take in single pairs with their exact keys, parallel arrays; numbers from the origin on."""
        weight = np.ones(len(query), dtype=np.int64) if self.weights is None else self.weights[candidate]
        lines = Lines(query, candidate, keys, weight, np.ones(len(query), dtype=bool))
        self._take_in([self.lines, lines])

    def _limits(self, scores: np.ndarray, rows: Ints, band: float) -> tuple[Floats, Ints]:
        """Return the score below which a pair is out, for each row, and the rows that have a pair above."""
        floor = self._floor[rows]
        unknown = floor == _NOTHING
        if self.k > 1 and scores.shape[1] >= self.k and unknown.all():  # each row has scores above its limit
            return _at_most_kth(scores, self.k).astype(np.float64) - band, np.arange(len(rows))
        best = scores.max(axis=1).astype(np.float64)
        limit = np.where(unknown, -np.inf, floor * UNIT)
        if self.k == 1:
            limit = np.maximum(limit, best)
        elif scores.shape[1] >= self.k:
            limit[unknown] = _at_most_kth(scores[unknown], self.k)
        limit -= band
        return limit, np.flatnonzero(best >= limit)

    def merge(self, others: Sequence[Top]) -> None:
        """Take in what others saw of other pairs."""
        for other in others:
            refuse_others(self._offset(other)[0], other.shape[0], self.shape[0])
            self._slack = max(self._slack, other._slack)
            if other._decide is not None:
                self._decide = self._from_here(other)
        moved = [other.lines.moved(*self._offset(other)) for other in others]
        tables = [table for table in (self.lines, *moved) if len(table)]
        if all(a.query[-1] < b.query[0] for a, b in pairwise(tables)):  # each query is in one of them
            self.lines = Lines.joined(tables) if tables else self.lines
        else:
            self._take_in(tables)

    def _offset(self, part: Top) -> tuple[int, int]:
        """Return where a part's numbers begin in these."""
        return part.origin[0] - self.origin[0], part.origin[1] - self.origin[1]

    def _from_here(self, part: Top) -> Callable[[Ints, Ints], Ints] | None:
        """Return a part's way to decide pairs, for numbers from the own origin on."""
        decide, (row, column) = part._decide, self._offset(part)
        if decide is None or row == column == 0:
            return decide
        return lambda query, candidate: decide(query - row, candidate - column)

    def _take_in(self, tables: Sequence[Lines]) -> None:
        lines = self._pruned(Lines.joined(tables), self._slack)
        crowded = self._crowded(lines)
        if crowded.any():
            lines = self._pruned(self._decided(lines, crowded & ~lines.exact), self._slack)
            lines = self._capped(lines)
        self.lines = lines

    def _pruned(self, lines: Lines, slack: int) -> Lines:
        """Drop lines that cannot be among the k best, order the rest, and note each query's k-th key.

        A line is out when its key is over `slack` below the k-th, or below it where all lines are exact.
        """
        if len(lines) == 0:
            return lines
        if not is_best_first(lines.query, lines.key):
            lines = lines.take(best_first(lines.query, lines.key))
        starts, size = groups(lines.query)
        segment = np.repeat(np.arange(len(starts)), size)
        total = np.cumsum(lines.weight)
        within = total - (total[starts] - lines.weight[starts])[segment]  # weight up to and with this line
        short = np.bincount(segment, within < self.k).astype(np.int64)  # lines before the k-th
        kth_line = starts + short
        has_kth = kth_line < np.append(starts[1:], len(lines))
        kth = np.where(has_kth, lines.key[np.minimum(kth_line, len(lines) - 1)], _NOTHING)
        self._floor[lines.query[starts]] = kth
        settled = np.bincount(segment, ~lines.exact) == 0
        margin = np.where(settled | ~has_kth, 0, slack)
        return lines.take(lines.key >= (kth - margin)[segment])

    def _crowded(self, lines: Lines) -> np.ndarray:
        """Return which lines belong to queries with so many lines that ties must be decided now."""
        counts = np.bincount(lines.query, minlength=self.shape[0])
        return (counts > 4 * self.k + self.cap)[lines.query]

    def _decided(self, lines: Lines, doubtful: np.ndarray) -> Lines:
        """Replace the keys of the doubtful lines by exact ones."""
        if self._decide is None or not doubtful.any():
            return lines
        key, exact = lines.key.copy(), lines.exact | doubtful
        key[doubtful] = self._decide(lines.query[doubtful], lines.candidate[doubtful])
        return Lines(lines.query, lines.candidate, key, lines.weight, exact)

    def _capped(self, lines: Lines) -> Lines:
        """Where more than `cap` exact lines tie with the k-th, keep a sample and count the others."""
        last = (lines.key == self._floor[lines.query]) & lines.exact
        counts = np.bincount(lines.query[last], minlength=self.shape[0])
        over = last & (counts > self.cap)[lines.query]
        if not over.any():
            return lines
        tied = lines.take(over)
        listed = tied.take(tied.candidate != OTHERS)
        number = listed.candidate + self.origin[1] + self._hashed_from  # among all candidates
        order = np.lexsort((_hash(number, self.seed), listed.query))
        position = np.arange(len(order)) - np.repeat(*groups(listed.query[order]))
        kept = listed.take(order[position < self.cap])
        queries = distinct_values(tied.query)
        dropped = np.bincount(tied.query, tied.weight, self.shape[0]) - np.bincount(
            kept.query, kept.weight, self.shape[0]
        )
        others = Lines(
            queries,
            np.full(len(queries), OTHERS),
            self._floor[queries],
            dropped[queries].astype(np.int64),
            np.ones(len(queries), dtype=bool),
        )
        return Lines.joined([lines.take(~over), kept, others.take(others.weight > 0)])

    def result(self) -> TopK:
        """Decide what the screen left open, and return the best of each query.

        Queries are taken some at a time: what is needed on the way does not grow with their number.
        """
        lines = self.lines
        if (np.diff(lines.query) < 0).any():  # those above the cap were put last
            lines = lines.take(np.argsort(lines.query, kind="stable"))
        columns: list[list[Ints]] = [[] for _ in fields(TopK)]
        for first, last, queries in ranges_of(lines.query, self.shape[0], _SETTLED):
            part = self._alone_with(lines.take(slice(first, last)), queries)
            found = part._result()
            found = replace(found, query=found.query + queries.start)
            for column, field in zip(columns, fields(TopK), strict=True):
                column.append(getattr(found, field.name))
        return TopK(*(np.concatenate(columns.pop(0)) for _ in fields(TopK)))  # each freed when it is joined

    def _alone_with(self, lines: Lines, queries: range) -> Top:
        """Return what has been seen of some queries, which are numbered from zero; candidates as here."""
        row, column = self.origin
        part = Top(
            self.k,
            (len(queries), self.shape[1]),
            cap=self.cap,
            seed=self.seed,
            origin=(row + queries.start, column),
        )
        part._slack, part._hashed_from = self._slack, self._hashed_from
        part.lines = lines.moved(-queries.start, 0)
        part._decide = part._from_here(self)
        return part

    def _result(self) -> TopK:
        """Return the best of each query, all at once."""
        lines = self._pruned(self.lines, self._slack)
        close = (np.diff(lines.query) == 0) & (-np.diff(lines.key) <= self._slack)
        near = np.zeros(len(lines), dtype=bool)
        near[1:] |= close
        near[:-1] |= close
        open_queries = np.zeros(self.shape[0], dtype=bool)
        open_queries[lines.query[near]] = True
        left = open_queries[lines.query]
        settled = self._settled(lines.take(left), near[left])
        lines = Lines.joined([lines.take(~left), settled])
        return _ranked(lines.take(np.argsort(lines.query, kind="stable")), self.shape[0])

    def _settled(self, lines: Lines, near: np.ndarray) -> Lines:
        """Return the lines of queries that the screen left open, exact where it matters, and in order."""
        lines = self._decided(lines, near & ~lines.exact)
        lines = self._pruned(lines, 0)
        capped = self._capped(lines)
        lines = lines if capped is lines else self._pruned(capped, 0)
        equal = (np.diff(lines.query) == 0) & (np.diff(lines.key) == 0)
        tied = np.flatnonzero(np.append(equal, False) | np.append(False, equal))
        order = np.arange(len(lines))
        order[tied] = tied[np.lexsort((lines.candidate[tied], -lines.key[tied], lines.query[tied]))]
        return lines.take(order)


def _ranked(lines: Lines, n: int) -> TopK:
    """Turn ordered lines into ranks: equal keys of one query are one level."""
    if len(lines) == 0:
        nothing = np.empty(0, dtype=np.int64)
        return TopK(nothing, nothing, nothing, nothing, nothing, np.zeros(n, dtype=np.int64))
    starts, size = groups(lines.query)
    new_level = np.ones(len(lines), dtype=bool)
    new_level[1:] = (np.diff(lines.query) != 0) | (np.diff(lines.key) != 0)
    level = np.cumsum(new_level) - 1
    tied = np.bincount(level, lines.weight).astype(np.int64)
    total = np.cumsum(lines.weight)
    before_query = np.repeat(total[starts] - lines.weight[starts], size)
    before_level = (total - lines.weight)[new_level]
    others = lines.candidate == OTHERS
    unlisted = np.bincount(lines.query[others], lines.weight[others], n).astype(np.int64)
    above = before_level[level] - before_query
    listed = ~others
    return TopK(
        lines.query[listed],
        lines.candidate[listed],
        lines.weight[listed],
        above[listed],
        tied[level][listed],
        unlisted,
    )


def _at_most_kth(scores: np.ndarray, k: int) -> np.ndarray:
    """Return a number for each row that at least k of its scores [rows, n ≥ k] reach.

    The k-th best of the maxima of disjoint sets of columns is one, and much sooner found than the k-th score.
    Maxima are taken along memory: a transposed tile is read as fast as a plain one.
    """
    columns = scores.shape[1]
    sets = min(columns, max(2 * k, min(1024, columns // 8)))
    maxima = scores[:, :sets].copy(order="K")
    for first in range(sets, columns - sets + 1, sets):
        np.maximum(maxima, scores[:, first : first + sets], out=maxima)
    return np.partition(maxima, -k, axis=1)[:, -k]


def _where(mask: np.ndarray) -> tuple[Ints, Ints]:
    """Return np.nonzero(mask), walked along memory: a transposed tile is read as fast as a plain one."""
    if mask.flags.c_contiguous:
        i, j = np.divmod(np.flatnonzero(mask), mask.shape[1])
    else:
        j, i = np.divmod(np.flatnonzero(mask.T), mask.shape[0])
    return i, j


def _hash(candidate: Ints, seed: int) -> np.ndarray:
    """Return a well-mixed 64-bit hash of each number (the finaliser of splitmix64)."""
    mixed = (candidate.astype(np.uint64) + np.uint64(seed + 1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
