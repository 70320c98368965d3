"""Tiles of scores on a device: some queries by some candidates, about 8 MiB, which stay in the cache.

Scores are float32, on the device, and only exclude; keys are exact, on the host, and decide.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from xlingual.arrays import Ints

CHUNK = 8  # speed: scores of a row that share one maximum
_SPARSE = 4  # speed: chunks are looked at one by one where they are fewer than one in so many
DENSE = 32  # speed: one float64 product decides a tile with more than one open pair in so many
TILE_BYTES = 1 << 23  # speed

Array: TypeAlias = Any  # an array of numpy or torch


class Device:
    """The arrays of one library: numpy, or torch on a device such as cpu or cuda:0.

    `xp` is the module. Functions that both modules have under one name are called through it: amax, amin,
    where, concatenate, full_like. The methods cover the places where the two differ.
    """

    def __init__(self, name: str = "numpy", tile_bytes: int = TILE_BYTES) -> None:
        self.name, self.tile_bytes = name, tile_bytes
        self.xp: Any = np
        if name != "numpy":
            import torch

            self.xp = torch

    @property
    def is_numpy(self) -> bool:
        """Whether arrays are those of numpy, on the host."""
        return self.xp is np

    def put(self, array: np.ndarray) -> Array:
        """Move an array of numpy to the device."""
        return array if self.is_numpy else self.xp.from_numpy(np.ascontiguousarray(array)).to(self.name)

    def host(self, array: Array) -> np.ndarray:
        """Move an array to numpy."""
        moved: np.ndarray = array if self.is_numpy else array.cpu().numpy()
        return moved

    def bits(self, mask: Array) -> Array:
        """Pack a mask [a, b] into words of 64 bits, uint64 [a, w]; a mask of torch stays as it is."""
        if not self.is_numpy:
            return mask
        packed = np.packbits(np.ascontiguousarray(mask), axis=1, bitorder="little")
        missing = np.zeros((len(packed), -packed.shape[1] % 8), np.uint8)
        return (np.concatenate((packed, missing), axis=1) if missing.size else packed).view("<u8")

    def places(self, mask: Array) -> tuple[Ints, Ints]:
        """List the true places of a mask [a, b]; numpy's two-dimensional search is slower."""
        flat = np.flatnonzero(mask) if self.is_numpy else self.host(self.xp.where(mask.reshape(-1))[0])
        rows, columns = np.divmod(flat, mask.shape[1])
        return rows, columns

    def count(self, bits: Array) -> Ints:
        """Count the true places of each row of packed bits, int64 [a]."""
        counts: Ints = (
            np.bitwise_count(bits).sum(axis=1, dtype=np.int64) if self.is_numpy else self.host(bits.sum(1))
        )
        return counts

    def kth_largest(self, scores: Array, k: int) -> Array:
        """Select the k-th largest score of each row [a]; −inf where a row has fewer."""
        if k > scores.shape[1]:
            return self.xp.full_like(scores[:, 0], -np.inf)
        return (
            np.partition(scores, -k, axis=1)[:, -k] if self.is_numpy else scores.topk(k, dim=1).values[:, -1]
        )


@dataclass(eq=False)
class Tile:
    """Scores of some queries and candidates.

    `band` says how far scores decide: pairs whose scores differ by more have the order of their exact keys.
    """

    rows: slice  # of the queries
    columns: slice  # of the candidates
    band: float
    device: Device
    screen: Callable[[], Array]
    exact: Callable[[], np.ndarray]
    pair_keys: Callable[[Ints, Ints], Ints]  # exact keys [p] of (queries [p], candidates [p])
    expects_ties: bool = False  # whether tiles before it needed their keys

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of queries and candidates."""
        return self.rows.stop - self.rows.start, self.columns.stop - self.columns.start

    @cached_property
    def scores(self) -> Array:
        """Screened scores, float32 [a, b] on the device; the next tile takes their memory."""
        return self.screen()

    @cached_property
    def keys(self) -> np.ndarray:
        """The exact keys of all pairs, whole numbers [a, b] in float64 or int64, on the host."""
        return self.exact()

    @property
    def is_decided(self) -> bool:
        """Whether all keys are, or are expected to be, needed."""
        return self.expects_ties or "keys" in self.__dict__

    def is_dense(self, n_open: int) -> bool:
        """Decide whether so many open pairs are cheaper to decide by all keys."""
        return n_open * DENSE > self.shape[0] * self.shape[1]  # speed

    @cached_property
    def chunks(self) -> tuple[Array, Array]:
        """The scores as [a, CHUNK, w], and the maxima [a, w] of chunks: column j is in chunk j mod w."""
        return chunks_of(self.scores, self.device)

    @cached_property
    def turned(self) -> Tile:
        """The tile with queries and candidates exchanged."""
        return TurnedTile(self)


class TurnedTile(Tile):
    """A tile with queries and candidates exchanged: nothing is copied."""

    def __init__(self, tile: Tile) -> None:
        pair_keys = tile.pair_keys  # alone, so that who keeps it does not keep the scores
        super().__init__(
            tile.columns,
            tile.rows,
            tile.band,
            tile.device,
            lambda: tile.scores.T,
            lambda: tile.keys.T,
            lambda queries, candidates: pair_keys(candidates, queries),
            tile.expects_ties,
        )

    @cached_property
    def chunks(self) -> tuple[Array, Array]:
        """The scores as [a, CHUNK, w], and the maxima [a, w] of chunks; made along the memory of the tile."""
        scores = _filled(self.scores.T, 0, self.device.xp)
        chunks = scores.reshape(CHUNK, -1, scores.shape[1])
        maxima = self.device.xp.amax(chunks, 0)
        return (chunks.transpose(2, 0, 1) if self.device.is_numpy else chunks.permute(2, 0, 1)), maxima.T


def chunks_of(scores: Array, device: Device) -> tuple[Array, Array]:
    """Arrange scores [a, b] as [a, CHUNK, w], and take the maxima [a, w]: column j is in chunk j mod w.

    The maxima are the gate that saves most scores from being compared.
    """
    scores = _filled(scores, 1, device.xp)
    chunks = scores.reshape(len(scores), CHUNK, -1)
    return chunks, device.xp.amax(chunks, 1)


def _filled(scores: Array, axis: int, xp: Any) -> Array:  # noqa: ANN401  (a module)
    """Fill an axis up to a multiple of CHUNK with −inf."""
    missing = -scores.shape[axis] % CHUNK
    line = scores[:1] if axis == 0 else scores[:, :1]
    return xp.concatenate((scores, *[xp.full_like(line, -np.inf)] * missing), axis) if missing else scores


def reaching(
    chunks: tuple[Array, Array], floor: np.ndarray, n_columns: int, device: Device
) -> tuple[Ints, Ints, np.ndarray]:
    """Find the scores that reach the floor of their row [a], as parallel arrays (row, column, score)."""
    (values, maxima), limit = chunks, device.put(floor)[:, None]
    row, chunk = device.places(maxima >= limit)
    if len(row) * _SPARSE * CHUNK > values.shape[0] * values.shape[1] * values.shape[2]:  # speed
        scores = values.reshape(len(values), -1)  # the columns in order
        row, column = device.places(scores >= limit)
        inside = column < n_columns
        row, column = row[inside], column[inside]
        return row, column, device.host(scores[device.put(row), device.put(column)])
    values = values[device.put(row), :, device.put(chunk)]
    mask = values >= limit[device.put(row)]
    hit, place = device.places(mask)
    row, column, score = row[hit], place * maxima.shape[1] + chunk[hit], device.host(values[mask])
    inside = column < n_columns
    return row[inside], column[inside], score[inside]
