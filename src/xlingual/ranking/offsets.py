"""Scores that are changed by what is known of the query and of the candidate, such as a repair of hubs finds.

An `Adjustment` makes of the score of a pair another one: less an offset of its query and of its candidate
(`Offsets`), or a function that is no sum (`ranking.scalings`). That is done inside the tiles of a pass, by a
reduction around another one: several samples, each with its own adjustment, share one product, and every back
end serves it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Protocol, Self, TypeAlias

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.ranking.scan import Around, Reduction, Tile
from xlingual.ranking.similarity import UNIT, Similarity

ROUNDING = 2.0**-24  # of a float32 number, relative
_MOST = 2.0**50 * UNIT  # of scores whose keys are told apart in float64
_BLOCK = 1 << 18  # scores changed at a time: they stay in the cache
Sides: TypeAlias = "tuple[Any, ...]"  # arrays of numpy or tensors of torch, of queries or of candidates


class Adjustment(ABC):
    """Another score for each pair of n queries and m candidates, which rises with the similarity.

    What is known of queries and of candidates are arrays in the unit of keys, int64 [n] or [m], named by
    `ROWS` and `COLUMNS`; None stands for nothing known. Exact keys (`_keys`) are whole numbers made of whole
    numbers, so that equal means tied. Screens (`screened`) are made of float32 scores by the same function;
    how far they may be off follows from its slope. Both are written with operators alone, and serve numpy and
    torch.
    """

    ROWS: ClassVar[tuple[str, ...]] = ()
    COLUMNS: ClassVar[tuple[str, ...]] = ()
    wide: ClassVar[bool] = True  # whether screens are made in float64, and keys on the processor

    @abstractmethod
    def _keys(self, keys: Any, rows: Sides, columns: Sides) -> Any:  # noqa: ANN401  (arrays or tensors)
        """Return the keys of pairs, whose similarity has the keys given and whose sides these are."""

    @abstractmethod
    def screened(self, scores: Any, rows: Sides, columns: Sides, functions: Any) -> Any:  # noqa: ANN401
        """Return the scores [r, c] of a tile adjusted; sides are scores [r, 1] and [c].

        `functions` has log_ndtr and logaddexp, where it is `wide`.
        """

    @abstractmethod
    def slope(self, scores: Any, error: Any, rows: Sides, columns: Sides) -> Any:  # noqa: ANN401
        """Return the most by which the adjusted score rises with a score, over all that is in a tile.

        `error` is how far a screened score may be from the exact one.
        """

    @abstractmethod
    def rounding(self, largest: float, rows: Sides, columns: Sides) -> Any:  # noqa: ANN401
        """Return how far the arithmetic of `screened` may be off, for similarities of at most `largest`.

        It is four roundings of a number that no adjusted score is above.
        """

    def keys(self, keys: Ints, query: Ints, candidate: Ints) -> Ints:
        """Return the keys of pairs (query[i], candidate[i]), whose similarity has the keys given."""
        found: Ints = self._keys(
            keys,
            tuple(None if side is None else side[query] for side in self.rows),
            tuple(None if side is None else side[candidate] for side in self.columns),
        )
        return found

    def exact(self, similarity: Similarity, query: Ints, candidate: Ints) -> Ints:
        """Return the exact keys of pairs (query[i], candidate[i])."""
        return self.keys(similarity.exact(query, candidate), query, candidate)

    @property
    def rows(self) -> tuple[Ints | None, ...]:
        """What is known of queries."""
        return tuple(getattr(self, name) for name in self.ROWS)

    @property
    def columns(self) -> tuple[Ints | None, ...]:
        """What is known of candidates."""
        return tuple(getattr(self, name) for name in self.COLUMNS)

    def take(self, queries: Any = None, candidates: Any = None) -> Self:  # noqa: ANN401  (Ints or a slice)
        """Return that of some queries and candidates, numbered from zero; None: all."""
        sides = [(self.ROWS, queries), (self.COLUMNS, candidates)]
        known = {
            name: getattr(self, name)[index]
            for names, index in sides
            for name in names
            if index is not None and getattr(self, name) is not None
        }
        return replace(self, **known)  # type: ignore[type-var]  # a data class, as all are

    def of(self, rows: slice, columns: slice) -> Self:
        """Return that of consecutive queries and candidates, numbered from zero."""
        return self.take(rows, columns)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that define it: equal arrays mean equal adjustments."""
        sides = zip((*self.ROWS, *self.COLUMNS), (*self.rows, *self.columns), strict=True)
        known = {f"adjusted by {name}": side for name, side in sides if side is not None}
        return {"adjustment": np.frombuffer(type(self).__name__.encode(), dtype=np.uint8), **known}

    def tile(self, tile: Tile) -> Tile:
        """Return the tile with its scores adjusted, and the band that they have then.

        The band is twice the error of two scores that are compared, and of the limit in float32 that one of
        them becomes; keys are rounded before and, where scores are not whole numbers of them, afterwards.
        """
        height, width = tile.scores.shape
        sides = self._floats
        rows = tuple(None if side is None else side[tile.row : tile.row + height, None] for side in sides[0])
        columns = tuple(
            None if side is None else side[tile.column : tile.column + width] for side in sides[1]
        )
        rounding = float(self.rounding(tile.largest, rows, columns))
        told_apart = rounding < 4 * ROUNDING * _MOST  # by exact scores, as they are by keys
        if tile.is_exact and told_apart:
            return replace(tile, scores=self._exact_scores(tile), exact=partial(self._exact_of, tile.exact))
        slope = float(self.slope(tile.scores, tile.band, rows, columns))
        keys = 2 * UNIT if self.wide else 0.0
        band = slope * (tile.band + keys) + keys + 3 * rounding
        scores = np.empty((height, width), dtype=np.float32)
        functions, step = numpy_functions() if self.wide else None, max(1, _BLOCK // width)
        for start in range(0, height, step):
            part = slice(start, min(start + step, height))
            own = tuple(None if side is None else side[part] for side in rows)
            scores[part] = self.screened(tile.scores[part], own, columns, functions)
        block = (lambda: self._exact_scores(tile.decided)) if told_apart and tile.block is not None else None
        return Tile(scores, tile.row, tile.column, band, partial(self._exact_of, tile.exact), block)

    def _exact_of(self, exact: Callable[[Ints, Ints], Ints], query: Ints, candidate: Ints) -> Ints:
        """Return the exact keys of pairs, from the way to those of the similarity."""
        return self.keys(exact(query, candidate), query, candidate)

    def _exact_scores(self, tile: Tile) -> Floats:
        """Return the adjusted scores of a tile of exact ones, float64 [rows, columns]."""
        height, width = tile.scores.shape
        rows = tuple(None if side is None else side[tile.row : tile.row + height, None] for side in self.rows)
        columns = tuple(
            None if side is None else side[tile.column : tile.column + width] for side in self.columns
        )
        found, step = np.empty((height, width)), max(1, _BLOCK // width)
        for start in range(0, height, step):
            part = slice(start, min(start + step, height))
            keys = np.rint(tile.scores[part] / UNIT).astype(np.int64)
            own = tuple(None if side is None else side[part] for side in rows)
            found[part] = self._keys(keys, own, columns) * UNIT
        return found

    @cached_property
    def _floats(self) -> tuple[Sides, Sides]:
        """What is known of both sides as scores."""
        kind = np.float64 if self.wide else np.float32
        rows, columns = (
            tuple(None if side is None else (side * UNIT).astype(kind) for side in sides)
            for sides in (self.rows, self.columns)
        )
        return rows, columns


class _NumpyFunctions:
    def __init__(self) -> None:
        from scipy.special import log_ndtr

        self.log_ndtr, self.logaddexp = log_ndtr, np.logaddexp


_NUMPY: list[_NumpyFunctions] = []


def numpy_functions() -> _NumpyFunctions:
    """Return the functions that adjustments may use, loaded when they are first needed."""
    if not _NUMPY:
        _NUMPY.append(_NumpyFunctions())
    return _NUMPY[0]


@dataclass(frozen=True)
class Offsets(Adjustment):
    """Offsets of n queries and m candidates, in the unit of keys: integers, so that nothing is rounded later.

    The key of a pair is scale · (key of the similarity) − queries[i] − candidates[j]: what is equal ties.
    Where there is a `gate`, candidates[j] is taken off for the queries alone that it lets through.
    """

    ROWS = ("queries", "gate")
    COLUMNS = ("candidates",)
    wide = False

    scale: int
    queries: Ints  # [n]
    candidates: Ints  # [m]
    gate: Ints | None = None  # [n] of 0 and 1/UNIT

    def _keys(self, keys: Any, rows: Sides, columns: Sides) -> Any:  # noqa: ANN401
        own, gate = rows
        taken = columns[0] if gate is None else columns[0] * (gate != 0)
        return self.scale * keys - own - taken

    def screened(self, scores: Any, rows: Sides, columns: Sides, functions: Any) -> Any:  # noqa: ANN401
        """Return the scores with the offsets taken off."""
        own, gate = rows
        found = scores * self.scale
        found -= columns[0] if gate is None else columns[0] * gate
        found -= own
        return found

    def slope(self, scores: Any, error: Any, rows: Sides, columns: Sides) -> Any:  # noqa: ANN401
        """Return the scale."""
        return self.scale

    def rounding(self, largest: float, rows: Sides, columns: Sides) -> Any:  # noqa: ANN401
        """Return how far float32 arithmetic may be off.

        Both offsets are rounded, and so is every step: at most four roundings of each number.
        """
        return 4 * ROUNDING * (self.scale * largest + self.most)

    @cached_property
    def most(self) -> float:
        """The largest offset of a query and the largest of a candidate together."""
        return UNIT * float(sum(np.abs(side).max(initial=0) for side in (self.queries, self.candidates)))

    @property
    def turned(self) -> Offsets:
        """The same with queries and candidates exchanged."""
        if self.gate is not None:
            raise ValueError("offsets with a gate are those of queries alone")
        return Offsets(self.scale, self.candidates, self.queries)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that define it: equal arrays mean equal adjustments."""
        return {**super().arrays(), "adjusted by scale": np.array(self.scale)}


NONE = Offsets(1, np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))  # where nothing is scored


class Adjusted(Around):
    """A reduction over adjusted scores; `Transposed` stands inside, where both ways share an adjustment.

    The inner reduction's own keys (those of the targets of `Counts`) are adjusted ones: `Adjustment.exact`.
    """

    def __init__(self, inner: Any, adjustment: Adjustment) -> None:  # noqa: ANN401  (as in `Around`)
        super().__init__(inner)
        self.adjustment = adjustment

    def within(self, rows: slice, columns: slice) -> Adjusted:
        """Return the request for these queries and candidates alone, with nothing seen."""
        return Adjusted(self.inner.within(rows, columns), self.adjustment)

    def alone(self, rows: slice, columns: slice) -> Adjusted:
        """Return the request for these queries and candidates with both numbered from zero."""
        return Adjusted(self.inner.alone(rows, columns), self.adjustment.of(rows, columns))

    def update(self, tile: Tile) -> None:
        """Take in a tile."""
        self.inner.update(self.adjustment.tile(tile))

    def request_arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that define the request: equal arrays mean equal requests."""
        inner = {f"adjusted {name}": array for name, array in self.inner.request_arrays().items()}
        return self.adjustment.arrays() | inner


def adjusted(reduction: Reduction, adjustment: Adjustment | None) -> Reduction:
    """Return the reduction over adjusted scores; itself where there is no adjustment."""
    return reduction if adjustment is None else Adjusted(reduction, adjustment)


class AdjustmentRequest(Protocol):
    """The request for the adjustment of one sample, in a pass before the ranking."""

    @property
    def reductions(self) -> Sequence[Reduction]:
        """What the pass must fill."""

    def result(self, similarity: Similarity) -> Adjustment:
        """Return the adjustment, after the pass."""


class Repair(Protocol):
    """A way to find an adjustment from the queries and candidates that are evaluated themselves."""

    @property
    def name(self) -> str:
        """What signatures call it, with its parameters: "transductive-csls?k=10"."""

    def request(self, queries: Ints, candidates: Ints) -> AdjustmentRequest:
        """Return the request for a sample.

        `queries` [n] and `candidates` [m] say how often the sample holds each vector of the pass, 0 for one
        that is not in it: the adjustment is that of the sample alone.
        """
