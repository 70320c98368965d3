"""The k best candidates of each query, with every candidate that ties with the k-th."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from itertools import pairwise

import numpy as np

from xlingual.arrays import Floats, Ints, distinct_values
from xlingual.ragged import groups
from xlingual.ranking.exact_best import Hashes, at_most_kth, best_of, hash_of
from xlingual.ranking.floors import EVERY_HASH, NOTHING, Floors
from xlingual.ranking.lines import (
    FIELDS,
    OTHERS,
    Lines,
    batched,
    best_first,
    by_hash,
    by_level,
    by_queries,
    is_best_first,
    ranges_of,
)
from xlingual.ranking.masks import chosen, places
from xlingual.ranking.ranked import TopK, ranked
from xlingual.ranking.scan import Tile, refuse_others, wanted
from xlingual.ranking.similarity import UNIT

_PIECE = 1 << 18  # exact scores looked at at a time: they stay in the cache
_BATCH = 1 << 19  # screened pairs taken into a table at a time
_SETTLED = 1 << 17  # lines settled together at the end


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
        self._floors = Floors.none(shape[0])
        self._hashed_from = 0  # the number, among all candidates, of the one that is numbered zero here
        self._slack = 0
        self._decide: Callable[[Ints, Ints], Ints] | None = None

    def within(self, rows: slice, columns: slice) -> Top:
        """Return the request for these queries and candidates alone, with nothing seen.

        What is certainly out by what has been seen here is not kept there.
        """
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
        part._hashed_from, part._slack = self._hashed_from, self._slack
        part._floors = self._floors.of(rows)
        return part

    def alone(self, rows: slice, columns: slice) -> Top:
        """Return the request for these queries and candidates with both numbered from zero."""
        part = self.within(rows, columns)
        part._hashed_from, part.origin = part._hashed_from + part.origin[1], (0, 0)
        part._floors = Floors.none(part.shape[0])  # its state is kept for all who ask for the same
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
        self._floors = self._floors.only_exact()  # for exact keys are compared without a band here
        self._take_in([self._settled(self.lines, np.ones(len(self.lines), dtype=bool))])
        return {name: getattr(self.lines, name) for name in FIELDS}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Take over the state of a part with the same request."""
        self._take_in([Lines(*(state[name] for name in FIELDS))])

    def update(self, tile: Tile) -> None:
        """Take in a tile: keep what may be among the k best."""
        self.decides_by(tile.exact, tile.band)
        first_row, first_column = tile.row - self.origin[0], tile.column - self.origin[1]
        rows = wanted(tile.scores.shape[0], first_row, self.queries)
        columns = wanted(tile.scores.shape[1], first_column, self.columns)
        scores = chosen(tile.scores, rows, columns)
        if scores.size == 0:
            return
        row_numbers = (np.arange(scores.shape[0]) if rows is None else rows) + first_row
        column_numbers = (np.arange(scores.shape[1]) if columns is None else columns) + first_column
        if tile.is_exact:
            self._take_exact(scores, row_numbers, column_numbers)
        elif not self._screen(scores, row_numbers, column_numbers, tile):
            self._take_exact(chosen(tile.decided.scores, rows, columns), row_numbers, column_numbers)

    def decides_by(self, exact: Callable[[Ints, Ints], Ints], band: float) -> None:
        """Note how pairs are decided exactly, and how far screen scores may be off."""
        row, column = self.origin
        self._slack = max(self._slack, round(band / UNIT))
        self._decide = lambda query, candidate: exact(query + row, candidate + column)

    def _screen(self, scores: np.ndarray, rows: Ints, columns: Ints, tile: Tile) -> bool:
        """Add the pairs of these rows that the screen cannot rule out; False, and none, where too many."""
        limit, alive = self._limits(scores, rows, tile.band)
        if len(alive) == 0:
            return True
        if len(alive) < len(rows):
            scores, rows, limit = scores[alive], rows[alive], limit[alive]
        possible = scores >= limit[:, None].astype(np.float32)
        count = int(np.count_nonzero(possible.ravel(order="K")))
        if tile.leaves_open(count - 2 * self.k * len(rows), scores.size):
            return False
        i, j = places(possible)
        if count > _BATCH and len(rows) > 1:  # nearly everything ties: a few rows at a time
            half = len(rows) // 2
            for part in (slice(None, half), slice(half, None)):
                self._screen(scores[part], rows[part], columns, replace(tile, block=None))
            return True
        self.take(rows[i], columns[j], scores[i, j])
        return True

    def _take_exact(self, scores: Floats, rows: Ints, columns: Ints) -> None:
        """Take in exact scores: what is above the k-th best, and a sample of what ties with it.

        The k-th best so far, or a score that k here reach, stands for the k-th best.
        """
        hashes = Hashes(self._hashes(columns))
        weight = None if self.weights is None else self.weights[columns]
        step = max(1, _PIECE // scores.shape[1])
        parts = [slice(start, start + step) for start in range(0, len(rows), step)]
        found = (self._best_lines(scores[part], rows[part], columns, hashes, weight) for part in parts)
        if len(self.lines) == 0:  # each query is in one table: no need to sort all of them together
            self.lines = Lines.joined([self._tidied(table) for table in found])
            return
        for several in batched(found, _BATCH):
            self._take_in([self.lines, *several])

    def _best_lines(
        self, scores: Floats, rows: Ints, columns: Ints, hashes: Hashes, weight: Ints | None
    ) -> Lines:
        """Return the lines of the best of some rows of exact scores."""
        limit, alive = self._limits(scores, rows, 0.0)
        if len(alive) < len(rows):
            scores, rows, limit = scores[alive], rows[alive], limit[alive]
        level = self._floors.scores(rows, 0, exact=True)
        last_hash = np.where(level == limit, self._floors.last_hash[rows], EVERY_HASH)
        best = best_of(scores, limit, self.k, self.cap, hashes, last_hash, weight)
        more = np.flatnonzero(best.others)
        listed = np.ones(len(best.row), dtype=np.int64) if weight is None else weight[best.column]
        keys = np.concatenate([scores[best.row, best.column], best.limit[more]])
        return Lines(
            rows[np.concatenate([best.row, more])],
            np.concatenate([columns[best.column], np.full(len(more), OTHERS)]),
            np.rint(keys / UNIT).astype(np.int64),
            np.concatenate([listed, best.others[more]]),
            np.ones(len(keys), dtype=bool),
        )

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
        limit = self._floors.scores(rows, self._slack, exact=band == 0.0)
        unknown = np.isneginf(limit)
        if self.k > 1 and scores.shape[1] >= self.k and unknown.all():  # each row has scores above its limit
            return at_most_kth(scores, self.k).astype(np.float64) - band, np.arange(len(rows))
        best = scores.max(axis=1).astype(np.float64)
        if self.k == 1:
            limit = np.maximum(limit, best - band)
        elif scores.shape[1] >= self.k and unknown.any():
            limit[unknown] = at_most_kth(scores[unknown], self.k) - band
        return limit, np.flatnonzero(best >= limit)

    def merge(self, others: Sequence[Top]) -> None:
        """Take in what others saw of other pairs."""
        for other in others:
            refuse_others(self._offset(other)[0], other.shape[0], self.shape[0])
            self._floors.take_over(self._offset(other)[0], other._floors)
            self._slack = max(self._slack, other._slack)
            if other._decide is not None:
                self._decide = self._from_here(other)
        moved = [other.lines.moved(*self._offset(other)) for other in others]
        tables = [table for table in (self.lines, *moved) if len(table)]
        if all(a.query.max() < b.query.min() for a, b in pairwise(tables)):  # each query is in one of them
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
        """Take in tables, some queries at a time where they are large: memory beside them stays small."""
        if sum(map(len, tables)) <= _BATCH:
            self.lines = self._tidied(Lines.joined(tables))
            return
        parts = by_queries([table.by_query() for table in tables], self.shape[0], _BATCH)
        self.lines = Lines.joined([self._tidied(Lines.joined(part)) for part in parts])

    def _tidied(self, lines: Lines) -> Lines:
        """Return the lines that may be among the k best, and of very many ties a sample."""
        lines = self._pruned(lines, self._slack)
        crowded = self._crowded(lines)
        if crowded.any():
            lines = self._pruned(self._decided(lines, crowded & ~lines.exact), self._slack)
            lines = self._capped(lines, lines.exact & self._floors.exact[lines.query])
        return lines

    def _pruned(self, lines: Lines, slack: int) -> Lines:
        """Drop lines that cannot be among the k best, order the rest, and note each query's k-th key.

        A line is out when its key is over `slack` below the k-th, or below it where all lines are exact.
        """
        if len(lines) == 0:
            return lines
        if not is_best_first(lines.query, lines.key):
            lines = lines.take(best_first(lines.query, lines.key))
        starts, size = groups(lines.query)
        total = np.cumsum(lines.weight)
        within = total - np.repeat(total[starts] - lines.weight[starts], size)  # weight up to and with a line
        short = np.add.reduceat(within < self.k, starts, dtype=np.int64)  # lines before the k-th
        kth_line = starts + short
        has_kth = short < size
        kth = np.where(has_kth, lines.key[np.minimum(kth_line, len(lines) - 1)], NOTHING)
        exact = np.logical_and.reduceat(lines.exact, starts)
        least = self._floors.raise_to(lines.query[starts], kth, exact, slack)
        kept = lines.key >= np.repeat(least, size)
        return lines if kept.all() else lines.take(kept)

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

    def _capped(self, lines: Lines, certain: np.ndarray) -> Lines:
        """Where more than `cap` lines tie with the k-th, keep a sample, and one line that counts the others.

        `certain` says whether the key of a line is exact and the order of its query's k best is known.
        """
        last, others = (lines.key == self._floors.key[lines.query]) & certain, lines.candidate == OTHERS
        n_others = np.bincount(lines.query[last & others], minlength=self.shape[0])
        n_listed = np.bincount(lines.query[last], minlength=self.shape[0]) - n_others
        over = last & ((n_listed > self.cap) | (n_others > 1))[lines.query]
        if not over.any():
            return lines
        tied = lines.take(over)
        listed = tied.take(tied.candidate != OTHERS)
        hashes = self._hashes(listed.candidate)
        order = by_hash(listed.query, hashes)
        ordered = listed.query[order]
        position = np.arange(len(order)) - np.repeat(*groups(ordered))
        self._floors.last_hash[ordered[position == self.cap - 1]] = hashes[order[position == self.cap - 1]]
        kept = listed.take(order[position < self.cap])
        queries = distinct_values(tied.query)
        dropped = np.bincount(tied.query, tied.weight, self.shape[0]) - np.bincount(
            kept.query, kept.weight, self.shape[0]
        )
        counted = Lines(
            queries,
            np.full(len(queries), OTHERS),
            self._floors.key[queries],
            dropped[queries].astype(np.int64),
            np.ones(len(queries), dtype=bool),
        )
        return Lines.joined([lines.take(~over), kept, counted.take(counted.weight > 0)])

    def _hashes(self, candidates: Ints) -> np.ndarray:
        """Return the hash of each candidate, by its number among all."""
        return hash_of(candidates + self.origin[1] + self._hashed_from, self.seed)

    def result(self) -> TopK:
        """Decide what the screen left open, and return the best of each query.

        Queries are taken some at a time: what is needed on the way does not grow with their number.
        """
        lines = self.lines.by_query()
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
        if left.all():
            return ranked(self._settled(lines, near), self.shape[0])
        settled = self._settled(lines.take(left), near[left])
        lines = Lines.joined([lines.take(~left), settled])
        return ranked(lines.take(np.argsort(lines.query, kind="stable")), self.shape[0])

    def _settled(self, lines: Lines, near: np.ndarray) -> Lines:
        """Return the lines of queries that the screen left open, exact where it matters, and in order."""
        lines = self._decided(lines, near & ~lines.exact)
        lines = self._pruned(lines, 0)
        capped = self._capped(lines, lines.exact)
        lines = lines if capped is lines else self._pruned(capped, 0)
        equal = (np.diff(lines.query) == 0) & (np.diff(lines.key) == 0)
        tied = np.flatnonzero(np.append(equal, False) | np.append(False, equal))
        if len(tied) == 0:
            return lines
        order = np.arange(len(lines))
        level = np.cumsum(np.append(True, ~equal))[tied]
        order[tied] = tied[by_level(level, lines.candidate[tied])]
        return lines.take(order)
