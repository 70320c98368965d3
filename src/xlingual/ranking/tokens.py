"""MaxSim: late interaction of the token vectors of queries and candidates, as ColBERT is scored."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from xlingual.arrays import Floats, Ints, Vectors
from xlingual.forms import MEAN_MAXSIM
from xlingual.ranking.similarity import ROUNDING, UNIT, Panel, Sides, by_queries
from xlingual.ranking.sparse import check_sizes
from xlingual.ranking.tiles import Array, Device
from xlingual.ranking.vectors import ChosenRows
from xlingual.records import digest

_QUERY_TOKENS = 1024  # speed: of a product, at most, where no text has more
_CANDIDATE_TOKENS = 2048  # speed
_PROBE = 16  # speed: queries and candidates on which the screen's error is measured
_DOUBT = 1e-3  # of a unit: a score so near a rounding boundary is decided from the pair alone


class TokenRows(ChosenRows):
    """The token vectors of the chosen texts, not scaled."""

    @cached_property
    def sizes(self) -> Ints:
        """How many tokens each text has, int64 [n]."""
        sizes: Ints = self.raw.sizes[self.rows]
        return sizes

    def tokens(self, index: Ints) -> Vectors:
        """Select the token vectors of some texts, one text after the other, float32 [tokens, d]."""
        vectors: Vectors = self.raw[self.rows[index]].vectors
        return vectors

    @cached_property
    def longest(self) -> float:
        """The length of the longest token vector."""
        parts = (self._norms(part) for part in self.pieces(_CANDIDATE_TOKENS))
        return max((float(norms.max(initial=0.0)) for norms in parts), default=0.0)

    @cached_property
    def heaviest(self) -> float:
        """The largest sum (for meanmaxsim: mean) of the lengths of a text's token vectors."""
        most = 0.0
        for part in self.pieces(_CANDIDATE_TOKENS):
            sizes = self.sizes[part]
            ends = np.cumsum(sizes)
            sums = np.concatenate([[0.0], np.cumsum(self._norms(part))])
            total = sums[ends] - sums[ends - sizes]
            if self.raw.compared_by == MEAN_MAXSIM:
                total = total / np.maximum(sizes, 1)
            most = max(most, float(total.max(initial=0.0)))
        return most

    def _norms(self, part: Ints) -> Floats:
        wide = self.tokens(part).astype(np.float64)
        squares: Floats = np.einsum("ij,ij->i", wide, wide)
        return np.sqrt(squares)

    def pieces(self, most: int, start: int = 0, stop: int | None = None) -> Iterator[Ints]:
        """Yield the texts start … stop − 1 in pieces of at most so many tokens; of one text more."""
        stop = len(self) if stop is None else stop
        ends = np.cumsum(self.sizes[start:stop])
        low = 0
        while low < stop - start:
            before = ends[low - 1] if low else 0
            high = max(int(np.searchsorted(ends, before + most, side="right")), low + 1)
            yield np.arange(start + low, start + high)
            low = high

    def identity(self) -> bytes:
        """Identify the token vectors of the texts, in order, and how they are compared."""
        texts = self.raw[self.rows]
        form = f"{self.raw.compared_by} {self.dim} {texts.vectors.dtype.str}"
        return digest(form, texts.bounds.tobytes(), texts.vectors.tobytes())


class MaxSim(Sides[TokenRows]):
    """MaxSim of queries and candidates that have a vector for each token.

        MaxSim(q, c) = Σ_i max_j q_i · c_j

    over the tokens i of the query and j of the candidate, of the vectors as the encoder gives them, which
    have unit length as a rule (Khattab and Zaharia, ColBERT, SIGIR 2020, section 3.3); "meanmaxsim" divides
    by the number of the query's tokens. It is not symmetric. A text without tokens scores 0 with everything.

    The exact key of a pair is its float64 score rounded to 9 decimals. Many pairs are scored by products,
    which may differ in the last bits from the pair's own sum: where that could move a score over a rounding
    boundary, it is decided from the pair alone. So keys do not depend on tiles, threads or samples.

    Tiles are float32 products. With L the largest possible score (the greatest sum of lengths over a query's
    tokens, times the longest vector of a candidate's), each product of two tokens is off by at most half of
    (2e-7·√d + 4e-7) times their lengths, as measured for cosines; a maximum is off by no more, and the sum by
    no more than that share of L. The band is twice that, and 8 · 2⁻²⁴ · L + 2 units for the rounding of
    scores, limits and keys; wider where a probe of pairs shows more.
    """

    def __init__(self, queries: TokenRows, candidates: TokenRows) -> None:
        super().__init__(queries, candidates)
        check_sizes(self.largest)

    @cached_property
    def largest(self) -> float:
        """A bound of every score."""
        return self.queries.heaviest * self.candidates.longest

    @cached_property
    def band(self) -> float:
        """Two screen scores further apart than this have the same order as their exact scores."""
        usual = (2e-7 * self.queries.dim**0.5 + 4e-7) * self.largest
        if 0 not in self.shape:
            rows, columns = self.probe(_PROBE)
            error = self._scores(rows, columns, np.float32) - self.block(rows, columns)
            usual = max(usual, 4 * float(np.abs(error).max()))
        return float(usual + 8 * ROUNDING * self.largest + 2 * UNIT)

    def panel(self, columns: slice, device: Device) -> Panel:
        """Prepare some candidates; the function screens queries against them."""

        def screen(rows: slice, room: np.ndarray | None) -> Array:
            shape = rows.stop - rows.start, columns.stop - columns.start
            scores = np.empty(shape, np.float32) if room is None else room
            for right in self.candidates.pieces(_CANDIDATE_TOKENS, columns.start, columns.stop):
                tokens = self.candidates.tokens(right)
                for left in self.queries.pieces(_QUERY_TOKENS, rows.start, rows.stop):
                    place = np.ix_(left - rows.start, right - columns.start)
                    scores[place] = self._scores(left, right, np.float32, tokens)
            self.count(screened=scores.size)
            return device.put(scores)

        return screen

    def keys(self, queries: Ints, candidates: Ints) -> Ints:
        """Compute the exact keys of pairs (queries[i], candidates[i]), int64 [p]."""
        self.count(decided=len(queries))
        keys = np.empty(len(queries), dtype=np.int64)
        for pairs, query, _, right, column in by_queries(queries, candidates, 1):
            scores = self.block(query, right)[0, column]
            keys[pairs] = self._settled(scores, int(query[0]), candidates[pairs])
        return keys

    def block(self, queries: Ints, candidates: Ints) -> Floats:
        """Compute float64 scores [a, b], which are not rounded."""
        scores = np.empty((len(queries), len(candidates)))
        left, right = self.queries.take(queries), self.candidates.take(candidates)
        for columns in right.pieces(_CANDIDATE_TOKENS):
            for rows in left.pieces(_QUERY_TOKENS):
                part = self._scores(queries[rows], candidates[columns], np.float64)
                scores[np.ix_(rows, columns)] = part
        return scores

    def key_block(self, queries: Ints, candidates: Ints) -> Floats:
        """Compute the exact keys of all pairs, whole numbers in float64 [a, b]."""
        self.count(decided=len(queries) * len(candidates))
        scores = self.block(queries, candidates)
        for row, query in enumerate(queries.tolist()):
            scores[row] = self._settled(scores[row], query, candidates)
        return scores

    def _scores(
        self, queries: Ints, candidates: Ints, dtype: type, right: Vectors | None = None
    ) -> np.ndarray:
        """Compute scores [a, b] by one product of their tokens; `right` are the candidates' tokens.

        The maximum over the tokens of a candidate is taken for all tokens of all queries at once.
        """
        right = self.candidates.tokens(candidates) if right is None else right
        left = self.queries.tokens(queries)
        products: np.ndarray = right.astype(dtype, copy=False) @ left.astype(dtype, copy=False).T
        best: np.ndarray = np.zeros((len(candidates), len(left)), dtype=dtype)
        ends = np.cumsum(self.candidates.sizes[candidates])
        starts = ends - self.candidates.sizes[candidates]
        for number, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
            if start < end:
                np.max(products[start:end], axis=0, out=best[number])
        scores = np.zeros((len(queries), len(candidates)))
        sizes = self.queries.sizes[queries]
        filled = np.flatnonzero(sizes)
        if len(filled):
            begin = (np.cumsum(sizes) - sizes)[filled]
            scores[filled] = np.add.reduceat(best, begin, axis=1, dtype=np.float64).T
        if self.queries.raw.compared_by == MEAN_MAXSIM:
            scores /= np.maximum(sizes, 1)[:, None]
        return scores.astype(dtype, copy=False)

    def _settled(self, scores: Floats, query: int, candidates: Ints) -> Ints:
        """Round the scores of one query to keys, those near a rounding boundary from the pair alone."""
        scaled = scores / UNIT
        keys = np.rint(scaled).astype(np.int64)
        terms = self.queries.dim + int(self.queries.sizes[query])
        doubt = _DOUBT + 4 * terms * 2.0**-53 * self.largest / UNIT
        for place in np.flatnonzero(np.abs(scaled - keys) > 0.5 - doubt).tolist():
            keys[place] = round(self._alone(query, int(candidates[place])) / UNIT)
        return keys

    def _alone(self, query: int, candidate: int) -> float:
        """Compute the score of one pair."""
        left = self.queries.tokens(np.array([query])).astype(np.float64)
        right = self.candidates.tokens(np.array([candidate])).astype(np.float64)
        if not len(left) or not len(right):
            return 0.0
        total = float(np.einsum("id,jd->ij", left, right).max(axis=1).sum())
        return total / len(left) if self.queries.raw.compared_by == MEAN_MAXSIM else total
