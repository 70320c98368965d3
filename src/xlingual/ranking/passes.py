"""One pass over all pairs of a similarity: a function that a ranker maps over blocks of queries.

A block of queries meets all candidates, tile by tile, so memory does not grow with the number of candidates
and nothing is merged across them. Blocks of long passes are stored when they are done, so a pass that was
interrupted goes on behind them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Protocol

import numpy as np

from xlingual.ranking.similarity import Similarity
from xlingual.ranking.tiles import CHUNK, Device, Tile
from xlingual.records import digest
from xlingual.signature import CONVENTIONS

BLOCK = 1024  # speed: queries of a block
LONG = 2e9  # speed: pairs from which on blocks are stored: about a minute on one core
_LIKE_IT = 8  # speed: tiles after one with very many ties that are expected to be like it

Progress = Callable[[int, int], None]  # (done, all): screened pairs


class Part(Protocol):
    """What a watcher learns of one block of queries."""

    def see(self, tile: Tile) -> None:
        """Look at a tile, whose scores are gone afterwards."""

    def arrays(self) -> dict[str, np.ndarray]:
        """Give what was learnt, after the last tile; it may travel, and be stored."""


class Watcher(Protocol):
    """A question to a pass over all pairs, answered block by block of queries."""

    def part(self, rows: slice) -> Part:
        """Begin a block of queries."""

    def take(self, rows: slice, arrays: Mapping[str, np.ndarray]) -> None:
        """Take in the arrays of a block; each block comes once, in any order."""

    def finish(self, similarity: Similarity) -> None:
        """Complete the answer, when all blocks were taken in."""

    def identity(self) -> bytes:
        """Identify the question: equal bytes mean equal arrays of a block of the same vectors."""


class Blocks(Protocol):
    """Stored arrays of blocks by name."""

    def read(self, name: str) -> dict[str, np.ndarray] | None:
        """Read the arrays of a block; None where they are not there."""

    def write(self, name: str, arrays: Mapping[str, np.ndarray]) -> None:
        """Store the arrays of a block."""


class Ranker(Protocol):
    """Scans blocks of queries somewhere; wherever it does, the arrays are the same to the last count."""

    @property
    def blocks(self) -> Blocks | None:
        """Where finished blocks of long passes are stored."""

    def map(
        self, similarity: Similarity, watchers: Sequence[Watcher], blocks: Sequence[slice]
    ) -> Iterator[tuple[slice, list[dict[str, np.ndarray]]]]:
        """Yield the arrays that `scan_block` gives for each block of queries, in any order."""

    def about(self) -> dict[str, str | int | float]:
        """Name the facts that results keep: `backend`, and further ones of its kind."""


def scan_block(
    similarity: Similarity, watchers: Sequence[Watcher], rows: slice, device: Device
) -> list[dict[str, np.ndarray]]:
    """Show all tiles of a block of queries to all watchers, and give the arrays of each."""
    parts = [watcher.part(rows) for watcher in watchers]
    for tile in tiles(similarity, rows, device):
        for part in parts:
            part.see(tile)
    return [part.arrays() for part in parts]


def tiles(similarity: Similarity, rows: slice, device: Device) -> Iterator[Tile]:
    """Make the tiles of a block of queries, one at a time, in the same memory."""
    n_columns, ties = similarity.shape[1], 0
    height, width = tile_shape(rows.stop - rows.start, n_columns, device.tile_bytes)  # speed
    room = np.empty(height * width, np.float32) if device.is_numpy else None
    for left in range(0, n_columns, width):
        columns = slice(left, min(left + width, n_columns))
        panel = similarity.panel(columns, device)
        for start in range(rows.start, rows.stop, height):
            queries = slice(start, min(start + height, rows.stop))
            shape = queries.stop - queries.start, columns.stop - columns.start
            out = None if room is None else room[: shape[0] * shape[1]].reshape(shape)
            numbers = np.arange(queries.start, queries.stop), np.arange(columns.start, columns.stop)
            tile = Tile(
                queries,
                columns,
                similarity.band,
                device,
                screen=partial(panel, queries, out),
                exact=partial(similarity.key_block, *numbers),
                pair_keys=similarity.keys,
                expects_ties=ties > 0,  # speed
            )
            yield tile
            ties = ties - 1 if ties else _LIKE_IT * ("keys" in tile.__dict__)  # speed


def tile_shape(n_rows: int, n_columns: int, tile_bytes: int) -> tuple[int, int]:
    """Choose rows and columns of a tile: many of both are fast, and whole chunks are not copied."""
    area = tile_bytes // 4
    height = min(n_rows, max(math.isqrt(area), area // n_columns))
    width = min(n_columns, area // height)
    return height, width - width % CHUNK if CHUNK < width < n_columns else width


def rank(
    similarity: Similarity,
    watchers: Sequence[Watcher],
    ranker: Ranker,
    *,
    progress: Progress | None = None,
) -> None:
    """Answer the questions of all watchers in one pass over all pairs of a similarity."""
    (n, m), answered = similarity.shape, 0
    blocks = [slice(start, min(start + BLOCK, n)) for start in range(0, n if m else 0, BLOCK)]
    for rows, arrays in _stored_or_scanned(similarity, watchers, ranker, blocks):
        for watcher, own_arrays in zip(watchers, arrays, strict=True):
            watcher.take(rows, own_arrays)
        answered += rows.stop - rows.start
        if progress is not None:
            progress(answered * m, n * m)
    for watcher in watchers:
        watcher.finish(similarity)


def _stored_or_scanned(
    similarity: Similarity, watchers: Sequence[Watcher], ranker: Ranker, blocks: Sequence[slice]
) -> Iterator[tuple[slice, list[dict[str, np.ndarray]]]]:
    """Yield the arrays of all watchers for each block: the stored blocks first, then the others."""
    n, m = similarity.shape
    store = ranker.blocks if n * m >= LONG else None
    identity = None if store is None else similarity.identity()
    if store is None or identity is None:
        yield from ranker.map(similarity, watchers, blocks)
        return
    question = digest(identity, CONVENTIONS, *(watcher.identity() for watcher in watchers))
    names = {rows.start: digest(question, f"{rows.start}-{rows.stop}").hex() for rows in blocks}
    missing: list[slice] = []
    for rows in blocks:
        stored = store.read(names[rows.start])
        if stored is None:
            missing.append(rows)
        else:
            yield rows, _by_watcher(stored, len(watchers))
    for rows, arrays in ranker.map(similarity, watchers, missing):
        store.write(names[rows.start], _in_one(arrays))
        yield rows, arrays


def _in_one(arrays: Sequence[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Join the arrays of watchers under names with the watcher's number."""
    return {f"{number}.{name}": array for number, part in enumerate(arrays) for name, array in part.items()}


def _by_watcher(stored: Mapping[str, np.ndarray], n_watchers: int) -> list[dict[str, np.ndarray]]:
    """Divide the arrays of a stored block by watcher."""
    arrays: list[dict[str, np.ndarray]] = [{} for _ in range(n_watchers)]
    for name, array in stored.items():
        number, _, field = name.partition(".")
        arrays[int(number)][field] = array
    return arrays
