"""Consecutive vectors of one side on the device, and how they come there."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from xlingual.ranking.torch import bounds
from xlingual.ranking.torch.arithmetic import Arithmetic, Tensor
from xlingual.ranking.vectors import UnitVectors

_PREPARED = 1 << 25  # bytes of float64 unit vectors made at a time
_STAGED = 1 << 28  # bytes of stored vectors on their way at a time
_EXTREME = 1e140  # an inverse length beyond which float64 products of components may underflow
_ALL_OPEN = 4.0  # a residual that leaves every pair undecided


@dataclass(frozen=True)
class Block:
    """Vectors `first` to `first` + n: rounded for products, exact for decisions, and lengths for bounds."""

    first: int
    stored: Tensor  # [n, d], as they are kept, not normalised
    inverse: Tensor  # float64 [n] 1/length, 0 for a zero vector
    low: Tensor  # [n, width] unit vectors, rounded
    low_norm: Tensor  # float64 [n] length of `low`, at least
    residual: Tensor  # float64 [n] length of the rounding, at least
    norm: Tensor  # float64 [n] length before rounding, at least

    def __len__(self) -> int:
        return int(self.stored.shape[0])

    @property
    def dim(self) -> int:
        """Number of dimensions."""
        return int(self.stored.shape[1])

    def tensors(self) -> tuple[Tensor, ...]:
        """Return all that lies on the device."""
        return self.stored, self.inverse, self.low, self.low_norm, self.residual, self.norm

    def part(self, rows: slice) -> Block:
        """Return some of the vectors (numbers from 0 on); nothing is copied."""
        return Block(self.first + rows.start, *(tensor[rows] for tensor in self.tensors()))

    def fine(self) -> Block:
        """Return the same with unit vectors in float32.

        Each component is off by at most 2⁻²⁴ of itself, but for underflow, and so is the vector.
        """
        import torch

        low = torch.empty_like(self.stored, dtype=torch.float32)
        for rows in _chunks(len(self), 8 * self.dim, _PREPARED):
            low[rows] = (self.stored[rows].double() * self.inverse[rows, None]).float()
        error = bounds.FLOAT32 * (1 + 2.0**-20)
        residual = self.norm * error + bounds.TINY
        residual = torch.where(self.residual >= _ALL_OPEN, self.residual, residual)
        return replace(self, low=low, low_norm=self.norm * (1 + 2 * error), residual=residual)


def _chunks(count: int, each: int, most: int) -> Iterator[slice]:
    step = max(1, most // each)
    return (slice(start, min(start + step, count)) for start in range(0, count, step))


class Loader:
    """Brings the vectors of one side to the device, block by block."""

    def __init__(self, vectors: UnitVectors, arithmetic: Arithmetic) -> None:
        self.vectors, self.arithmetic = vectors, arithmetic

    @property
    def bytes_each(self) -> int:
        """Bytes that a vector takes on the device."""
        d, dtype = self.vectors.dim, self.arithmetic.dtype
        return d * _stored_as(self.vectors).itemsize + self.arithmetic.width(d) * int(dtype.itemsize) + 32

    def stream(self, parts: Sequence[slice]) -> Iterator[Block]:
        """Yield block after block; on a GPU the next one is on its way while the caller works.

        It comes by a separate stream, from memory that the device reads by itself.
        """
        if self.arithmetic.device.type != "cuda":
            yield from map(self.load, parts)
            return
        import torch

        copies = torch.cuda.Stream(self.arithmetic.device)
        with ThreadPoolExecutor(1) as worker:
            begun: deque[Future[tuple[Block, Any]]] = deque()
            for rows in parts:
                begun.append(worker.submit(self._beside, copies, rows))
                if len(begun) > 1:
                    yield _arrived(begun.popleft())
            while begun:
                yield _arrived(begun.popleft())

    def _beside(self, copies: Any, rows: slice) -> tuple[Block, Any]:  # noqa: ANN401  (a stream, its event)
        import torch

        with torch.cuda.device(self.arithmetic.device), torch.cuda.stream(copies), torch.no_grad():
            block = self.load(rows)
            return block, copies.record_event()

    def load(self, rows: slice) -> Block:
        """Return vectors rows.start to rows.stop on the device."""
        import torch

        device = self.arithmetic.device
        count, d = rows.stop - rows.start, self.vectors.dim
        stored = self._stored(rows)
        inverse = torch.from_numpy(self.vectors.inverse_norms[rows].copy()).to(device)
        low = torch.zeros((count, self.arithmetic.width(d)), dtype=self.arithmetic.dtype, device=device)
        lengths = torch.empty((3, count), dtype=torch.float64, device=device)
        for part in _chunks(count, 8 * d, _PREPARED):
            unit = stored[part].double() * inverse[part, None]
            rounded = self.arithmetic.rounded(unit)
            low[part, :d] = rounded
            wide = rounded.double()
            for number, vector in enumerate((wide, unit - wide, unit)):
                lengths[number, part] = torch.linalg.vector_norm(vector, dim=1)
        lengths = lengths * bounds.rounded_up(d)
        lengths[1] += 2.0**-52 * lengths[2]  # the rounding of the float64 unit vector itself
        lengths[1] = torch.where(inverse > _EXTREME, torch.full_like(inverse, _ALL_OPEN), lengths[1])
        return Block(rows.start, stored, inverse, low, lengths[0], lengths[1], lengths[2])

    def _stored(self, rows: slice) -> Tensor:
        """Return stored vectors on the device, by way of memory that it reads by itself, in parts."""
        import torch

        device, held_as = self.arithmetic.device, _stored_as(self.vectors)
        dtype, d = getattr(torch, held_as.name), self.vectors.dim
        stored = torch.empty((rows.stop - rows.start, d), dtype=dtype, device=device)
        for part in _chunks(len(stored), d * held_as.itemsize, _STAGED):
            index = self.vectors.rows[rows][part]
            pinned = torch.empty((len(index), d), dtype=dtype, device="cpu", pin_memory=device.type == "cuda")
            pinned.numpy()[...] = self.vectors.raw[index]
            stored[part].copy_(pinned, non_blocking=True)
        return stored


def _arrived(coming: Future[tuple[Block, Any]]) -> Block:
    """Return a block once the work that follows waits for it to be there."""
    import torch

    block, event = coming.result()
    current = torch.cuda.current_stream(block.stored.device)
    current.wait_event(event)
    for tensor in block.tensors():
        tensor.record_stream(current)  # its memory is not given away before that work is done
    return block


def _stored_as(vectors: UnitVectors) -> np.dtype[Any]:
    """Return the type that holds the stored vectors exactly."""
    kind = vectors.raw.dtype
    known = kind.kind == "f" and kind.itemsize in (2, 4, 8)
    return np.dtype(f"f{kind.itemsize}") if known else np.dtype(np.float64)
