"""One pass over a similarity: every tile is computed once and handed to every reduction.

Tiles are visited row block by row block; within a block the columns follow each other, so that a block of
queries stays in the cache. Each row block fills reductions of its own, which are merged in order; threads
run row blocks side by side. The plan of tiles depends on a byte budget, never on the number of threads.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any, Protocol, Self

import numpy as np
from threadpoolctl import ThreadpoolController

from xlingual.arrays import Floats, Ints
from xlingual.ranking.similarity import ExactBlocks, Similarity

TILE_BYTES = 1 << 25  # one float32 tile: 2048 × 4096
_MANY = 256  # rows of a tile, as many as keep the product fast
_OPEN = 32  # to decide one pair takes as long as to decide so many in a block
Progress = Callable[[int, int], None]  # (done, all): screened pairs


def one_library_thread() -> AbstractContextManager[object]:
    """Hold the linear algebra library to one thread: tiles run side by side instead."""
    limits: AbstractContextManager[object] = _libraries(len(sys.modules)).limit(limits=1)
    return limits


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> ThreadpoolController:
    """Return the linear algebra libraries that are loaded: an import of another module may bring one."""
    return ThreadpoolController()


@dataclass(frozen=True)
class Tile:
    """Scores of consecutive queries and candidates, and the ways to decide pairs exactly, one or all of them.

    Scores are float32 and may be off by half of `band`; those of a tile whose band is 0 are exact, float64.
    """

    scores: np.ndarray  # [rows, columns]
    row: int  # number of the first query
    column: int  # number of the first candidate
    band: float
    exact: Callable[[Ints, Ints], Ints]
    block: Callable[[], Floats] | None = None  # exact scores [rows, columns]

    @property
    def transposed(self) -> Tile:
        """The same tile with queries and candidates exchanged."""
        exact = self.exact  # alone, so that who keeps it does not keep the scores
        block = None if self.block is None else lambda: self.decided.scores.T
        return Tile(self.scores.T, self.column, self.row, self.band, lambda q, c: exact(c, q), block)

    @cached_property
    def largest(self) -> float:
        """The largest absolute score."""
        return float(max(self.scores.max(initial=0.0), -self.scores.min(initial=0.0)))

    @property
    def is_exact(self) -> bool:
        """Whether equal scores are ties."""
        return self.band == 0 and self.scores.dtype == np.float64

    @cached_property
    def decided(self) -> Tile:
        """The tile with exact scores, made once for all reductions; not where there is no `block`."""
        assert self.block is not None
        return Tile(self.block(), self.row, self.column, 0.0, self.exact)

    @property
    def was_decided(self) -> bool:
        """Whether the exact scores were needed."""
        return "decided" in self.__dict__

    def leaves_open(self, count: int, of: int) -> bool:
        """Return whether so many of so many pairs are undecided that to decide them all is cheaper."""
        return self.block is not None and count * _OPEN > of

    def rows(self, part: slice) -> Tile:
        """Return some rows of the tile."""
        block = None if self.block is None else lambda: self.decided.scores[part]
        return Tile(self.scores[part], self.row + part.start, self.column, self.band, self.exact, block)


class Part(Protocol):
    """The state of a reduction over the tiles of some queries and candidates.

    Parts of the same queries that saw other candidates merge, in any order, to what one part would have seen.
    So do parts of other queries into one whose queries include theirs: parts that are `Transposed` and saw
    other columns merge into one of all these columns.
    """

    def update(self, tile: Tile) -> None:
        """Take in a tile, whose memory is used again for the next one: what is kept is copied."""

    def merge(self, others: Sequence[Self]) -> None:
        """Take in what others saw of other pairs; raise ValueError where it is of other queries."""

    def request_arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that define the request: equal arrays mean equal requests."""

    def state(self) -> dict[str, np.ndarray]:
        """Return the state, as arrays that can be merged without vectors."""

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Take over the state of a part with the same request."""


class Reduction(Protocol):
    """A request to a pass over all pairs: it gives parts to be filled, and merges them to the answer."""

    def within(self, rows: slice, columns: slice) -> Any:  # noqa: ANN401  (a Part, of the kind that merge takes)
        """Return the request for these queries and candidates alone, with nothing seen."""

    def alone(self, rows: slice, columns: slice) -> Any:  # noqa: ANN401  (a Part that is a Reduction too)
        """Return the same request for a separate pass, over vectors that are numbered from zero.

        What its `state` returns, the part `within` these queries and candidates can `restore`.
        """

    def merge(self, parts: Sequence[Any]) -> None:
        """Take in parts that have seen all candidates of their queries."""


class Around:
    """A reduction that sees tiles in another way than they come: its state is that of the inner reduction."""

    def __init__(self, inner: Any) -> None:  # noqa: ANN401  (a Reduction that is its own Part)
        self.inner = inner

    def merge(self, others: Sequence[Around]) -> None:
        """Take in what others saw of other pairs."""
        self.inner.merge([other.inner for other in others])

    def state(self) -> dict[str, np.ndarray]:
        """Return the state."""
        found: dict[str, np.ndarray] = self.inner.state()
        return found

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Take over the state of a part with the same request."""
        self.inner.restore(state)


class Transposed(Around):
    """A reduction with queries and candidates exchanged: the columns are the queries."""

    def within(self, rows: slice, columns: slice) -> Transposed:
        """Return the request for these queries and candidates alone, with nothing seen."""
        return Transposed(self.inner.within(columns, rows))

    def alone(self, rows: slice, columns: slice) -> Transposed:
        """Return the request for these queries and candidates with both numbered from zero."""
        return Transposed(self.inner.alone(columns, rows))

    def update(self, tile: Tile) -> None:
        """Take in a tile."""
        self.inner.update(tile.transposed)

    def request_arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that define the request: equal arrays mean equal requests."""
        return {f"transposed {name}": array for name, array in self.inner.request_arrays().items()}


def innermost(reduction: Any) -> Any:  # noqa: ANN401  (a Reduction)
    """Return the reduction that others are around; itself where there are none."""
    while isinstance(reduction, Around):
        reduction = reduction.inner
    return reduction


def is_transposed(reduction: Any) -> bool:  # noqa: ANN401  (a Reduction)
    """Return whether the columns are the queries of a reduction."""
    return isinstance(reduction, Transposed) or (
        isinstance(reduction, Around) and is_transposed(reduction.inner)
    )


@dataclass(frozen=True)
class TilePlan:
    """How n × m pairs are cut into tiles of at most `budget` bytes."""

    shape: tuple[int, int]
    budget: int = TILE_BYTES

    @property
    def size(self) -> tuple[int, int]:
        """Rows and columns of a tile: whole rows where many of them fit, else twice as wide as high.

        A reduction that has seen a whole row has nothing left to merge.
        """
        rows, columns = self.shape
        area = max(1, self.budget // 4)
        if area // columns >= _MANY:
            return max(1, min(rows, area // columns)), columns
        height = max(1, min(rows, int((area / 2) ** 0.5)))
        width = max(1, min(columns, area // height))
        return max(1, min(rows, area // width)), width

    @property
    def row_blocks(self) -> list[slice]:
        """Blocks of queries."""
        return _blocks(self.shape[0], self.size[0])

    @property
    def column_blocks(self) -> list[slice]:
        """Blocks of candidates."""
        return _blocks(self.shape[1], self.size[1])


def scan(
    similarity: Similarity,
    reductions: Sequence[Reduction],
    *,
    threads: int = 1,
    budget: int = TILE_BYTES,
    progress: Progress | None = None,
) -> None:
    """Compute every tile once and let every reduction take it in.

    Memory: about three tiles of `budget` bytes for each thread, six where many scores are made exact; beside
    the reductions.
    """
    plan, foresight = TilePlan(similarity.shape, budget), _Foresight()
    free: list[_Room] = []

    def requests() -> Iterator[tuple[slice, list[Part]]]:
        everything = slice(0, similarity.shape[1])
        for rows in plan.row_blocks:  # one thread alone, that which merges, reads and changes the reductions
            yield rows, [reduction.within(rows, everything) for reduction in reductions]

    def filled(rows: slice, parts: list[Part]) -> list[Part]:
        try:
            room = free.pop()
        except IndexError:  # all are in use
            room = _Room(plan.size)
        for columns in plan.column_blocks:
            tile = _tile(similarity, rows, columns, room, at_once=foresight.at_once())
            for part in parts:
                part.update(tile)
            foresight.learn(tile)
        free.append(room)
        return parts

    total = similarity.shape[0] * similarity.shape[1]
    waiting: list[list[Part]] = []
    merged = 1
    with one_library_thread():
        for rows, parts in zip(plan.row_blocks, _in_order(filled, requests(), threads), strict=True):
            waiting.append(parts)
            if len(waiting) == min(merged, _MERGE_EVERY):  # soon at first: parts begin with what is known
                _merge(reductions, waiting)
                waiting, merged = [], merged + len(waiting)
            if progress is not None:
                progress(rows.stop * similarity.shape[1], total)
        _merge(reductions, waiting)


class _Room:
    """Memory of one tile at a time, used again for the next: fresh memory costs a part of the product."""

    def __init__(self, size: tuple[int, int]) -> None:
        self._size = size
        self._made: dict[type, np.ndarray] = {}

    def of(self, shape: tuple[int, int], kind: type) -> np.ndarray:
        """Return an array of this shape and kind, which shares its memory with the last one of the kind."""
        if kind not in self._made:
            self._made[kind] = np.empty(self._size[0] * self._size[1], dtype=kind)
        return self._made[kind][: shape[0] * shape[1]].reshape(shape)


def _tile(similarity: Similarity, rows: slice, columns: slice, room: _Room, *, at_once: bool) -> Tile:
    """Return one tile: screened, or with exact scores at once."""
    shape = (rows.stop - rows.start, columns.stop - columns.start)

    block: Callable[[], Floats] | None = None
    if isinstance(similarity, ExactBlocks):
        block = partial(_exact_scores, similarity, rows, columns, room)
    if at_once and block is not None:
        return Tile(block(), rows.start, columns.start, 0.0, similarity.exact)
    scores = similarity.tile(rows, columns, room.of(shape, np.float32))
    return Tile(scores, rows.start, columns.start, similarity.band, similarity.exact, block=block)


def _exact_scores(similarity: ExactBlocks, rows: slice, columns: slice, room: _Room) -> Floats:
    shape = (rows.stop - rows.start, columns.stop - columns.start)
    return similarity.exact_block(rows, columns, room.of(shape, np.float64))


class _Foresight:
    """Guesses which tiles will leave so much open that their scores are made exact at once.

    After each one that did, twice as many are taken to be like it, up to 16; answers do not depend on it. So
    threads share it without a lock.
    """

    def __init__(self) -> None:
        self._run = self._left = 0

    def at_once(self) -> bool:
        """Return whether the next tile is taken to be such a one."""
        self._left -= 1
        return self._left >= 0

    def learn(self, tile: Tile) -> None:
        """Take in what a tile, screened first, turned out to be."""
        if not tile.is_exact:
            self._run = min(16, 2 * self._run + 1) if tile.was_decided else 0
            self._left = self._run


_MERGE_EVERY = 8


def _merge(reductions: Sequence[Reduction], waiting: Sequence[Sequence[Part]]) -> None:
    if waiting:
        for reduction, parts in zip(reductions, zip(*waiting, strict=True), strict=True):
            reduction.merge(list(parts))


def _in_order(
    work: Callable[[slice, list[Part]], list[Part]],
    requests: Iterable[tuple[slice, list[Part]]],
    threads: int,
) -> Iterator[list[Part]]:
    """Yield work(*request) in order, with at most threads + 1 requests begun and not yet taken.

    A request is drawn when its work begins, in the thread that takes what is yielded.
    """
    if threads <= 1:
        yield from (work(*request) for request in requests)
        return
    with ThreadPoolExecutor(threads) as executor:
        begun: deque[Future[list[Part]]] = deque()
        for request in requests:
            begun.append(executor.submit(work, *request))
            if len(begun) > threads:
                yield begun.popleft().result()
        while begun:
            yield begun.popleft().result()


def _blocks(length: int, size: int) -> list[slice]:
    return [slice(start, min(start + size, length)) for start in range(0, length, size)]


def wanted(count: int, start: int, chosen: np.ndarray | None) -> Ints | None:
    """Return which of `count` positions from `start` on are chosen (sorted numbers), or None for all."""
    if chosen is None:
        return None
    low, high = np.searchsorted(chosen, (start, start + count))
    return None if high - low == count else chosen[low:high] - start


def refuse_others(offset: int, count: int, own: int) -> None:
    """Raise ValueError where `count` places from `offset` on are not among the `own` ones of a part."""
    if offset < 0 or offset + count > own:
        raise ValueError(
            "a part merges only parts of its own queries: merge into the part, or the reduction, of all"
        )
