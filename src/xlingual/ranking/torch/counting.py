"""`Counts` and `GroupCounts` on the device."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from xlingual.arrays import Ints
from xlingual.ranking.counts import Counts
from xlingual.ranking.group_counts import GroupCounts
from xlingual.ranking.similarity import UNIT
from xlingual.ranking.torch.arithmetic import Device, Tensor
from xlingual.ranking.torch.devices import less_exact
from xlingual.ranking.torch.pairs import Pairs, PairTile, at_least, at_most, positions, row_sums


@dataclass(frozen=True)
class _Candidates:
    """The candidates of a tile that are counted, in runs that are each of one group."""

    chosen: Tensor | None  # int64 columns of the tile; None: all
    runs: list[tuple[int, int, int]]  # group, first and last + 1 of those chosen
    heavy: Ints  # of those chosen, which count more than once
    weight: Tensor | None  # int64, of each chosen; None: all count once

    @property
    def start(self) -> int:
        """The first of those chosen that is of a group."""
        return self.runs[0][1]

    @property
    def stop(self) -> int:
        """The last of them, and one."""
        return self.runs[-1][2]

    def of(self, scores: Tensor) -> Tensor:
        """Return the columns chosen."""
        return scores if self.chosen is None else scores.index_select(1, self.chosen)


@dataclass(frozen=True)
class _Batch:
    """Pairs screened together, with the result."""

    pairs: slice
    row: Tensor  # int64 [p], of the tile
    low: Tensor  # float32 [p]: below it, the candidate is below the target
    high: Tensor
    own: Tensor  # int64 [p]: place of the target among the chosen candidates, −1 where it is not
    above: Tensor  # int64 [p, runs]: certain ones
    undecided: Tensor  # int64 [p], the target itself left out


@dataclass(frozen=True)
class CountLook:
    """The result of screening a tile, before anything is counted."""

    tile: PairTile
    candidates: _Candidates | None
    batches: list[_Batch]
    compared: int
    open: int


class Counting:
    """Fills a part of `Counts` or `GroupCounts` from tiles on the device.

    `span` are the numbers of the candidates that will be seen. Certain ones are counted where they are; those
    within the error of the screen are counted by their exact keys.
    """

    def __init__(self, part: Counts | GroupCounts, span: slice, device: Device) -> None:
        import torch

        self.part, self.span = part, span
        grouped = isinstance(part, GroupCounts)
        self._weights: Ints | None = part.weights
        self._origin = 0 if isinstance(part, GroupCounts) else part.column
        self._bounds: Ints = part.bounds if isinstance(part, GroupCounts) else np.array([0, span.stop])
        self._groups = len(self._bounds) - 1 if grouped else 1
        self._query, self._target, self._keys = (
            torch.from_numpy(np.array(array, dtype=np.int64)).to(device)
            for array in (part.query, part.target, part.keys)
        )
        self._above = torch.zeros((len(part.query), self._groups), dtype=torch.int64, device=device)
        self._tied = torch.zeros_like(self._above)
        self._decided = 0

    @cached_property
    def _members(self) -> Ints | None:
        """Numbers of the candidates that count at all; None: all."""
        if self._weights is None or (self._weights > 0).all():
            return None
        return np.flatnonzero(self._weights) + self._origin

    def _group_of(self, candidate: Ints) -> Ints:
        return np.searchsorted(self._bounds, candidate, side="right") - 1

    def _candidates(self, tile: PairTile) -> _Candidates | None:
        """Return which columns of a tile count, None where none does."""
        import torch

        first, width = tile.columns.first, len(tile.columns)
        numbers, chosen = np.arange(first, first + width), None
        if self._members is not None:
            low, high = np.searchsorted(self._members, (first, first + width))
            numbers = self._members[low:high]
            if len(numbers) < width:
                chosen = torch.from_numpy(numbers - first).to(tile.scores.device)
        edges = np.searchsorted(numbers, self._bounds)
        runs = [(group, a, b) for group, (a, b) in enumerate(pairwise(edges.tolist())) if a < b]
        if not runs:
            return None
        heavy, weight = np.empty(0, dtype=np.int64), None
        if self._weights is not None:
            counted = self._weights[numbers - self._origin]
            heavy = np.flatnonzero(counted != 1)
            weight = torch.from_numpy(counted.astype(np.int64)).to(tile.scores.device)
        return _Candidates(chosen, runs, heavy, weight)

    def look(self, tile: PairTile) -> CountLook:
        """Return the certain counts of a tile, and how many comparisons are not; nothing is changed."""
        import torch

        first, rows = tile.rows.first, len(tile.rows)
        low, high = (int(place) for place in np.searchsorted(self.part.query, (first, first + rows)))
        candidates = self._candidates(tile)
        if low == high or candidates is None:
            return CountLook(tile, None, [], 0, 0)
        counted = candidates.stop - candidates.start
        step = max(1, tile.most // counted)
        error = tile.error() + tile.slack
        batches = [
            self._batch(tile, candidates, error, slice(start, min(start + step, high)))
            for start in range(low, high, step)
        ]
        total = torch.stack([batch.undecided.sum() for batch in batches]).sum()
        outside = torch.stack([(batch.undecided < 0).any() for batch in batches]).any()
        opened, broken = torch.stack([total, outside.to(total.dtype)]).tolist()
        if broken:
            raise less_exact(tile.scores.device)
        return CountLook(tile, candidates, batches, (high - low) * counted, int(opened))

    def _every_row(self, tile: PairTile, pairs: slice) -> bool:
        """Return whether the pairs are one for each row of the tile, in order."""
        rows = np.arange(tile.rows.first, tile.rows.first + len(tile.rows))
        return np.array_equal(self.part.query[pairs], rows)

    def _batch(self, tile: PairTile, candidates: _Candidates, error: Tensor, pairs: slice) -> _Batch:
        """Return the certain counts of some pairs, and how many candidates are left open.

        The target's own score is open where the bound holds: it is taken off, and −1 is left where it does
        not.
        """
        import torch

        row = self._query[pairs] - tile.rows.first
        score = self._keys[pairs].double() * UNIT
        high, low = at_least(score + error[row]), at_most(score - error[row])
        scores = candidates.of(tile.scores if self._every_row(tile, pairs) else tile.scores[row])
        above, left = [], []
        for _, start, stop in candidates.runs:
            run = scores[:, start:stop]
            higher = run > high[:, None]
            certain = row_sums(higher)
            left.append(stop - start - certain - row_sums(run < low[:, None]))
            above.append(certain + self._heavy(candidates, higher, start, stop))
        own = self._own(tile, candidates, pairs)
        here = own >= 0
        own_score = scores.gather(1, own.clamp(min=0)[:, None]).squeeze(1)
        is_open = ~(own_score > high) & ~(own_score < low)
        undecided = torch.stack(left, 1).sum(1) - here.to(torch.int64)
        undecided = torch.where(here & ~is_open, torch.full_like(undecided, -1), undecided)
        return _Batch(pairs, row, low, high, own, torch.stack(above, 1), undecided)

    def _heavy(self, candidates: _Candidates, higher: Tensor, start: int, stop: int) -> Tensor | int:
        """Return what candidates of a weight over one count beyond one."""
        import torch

        a, b = np.searchsorted(candidates.heavy, (start, stop))
        if a == b or candidates.weight is None:
            return 0
        place = torch.from_numpy(candidates.heavy[a:b]).to(higher.device)
        extra = (candidates.weight[place] - 1).double()
        return torch.mv(higher[:, place - start].double(), extra).round().to(torch.int64)

    def _own(self, tile: PairTile, candidates: _Candidates, pairs: slice) -> Tensor:
        """Return each target's place among the chosen candidates of the tile, −1 where it is not there."""
        import torch

        own = self._target[pairs] - tile.columns.first
        missing = torch.full_like(own, -1)
        if candidates.chosen is None:
            return torch.where((own >= candidates.start) & (own < candidates.stop), own, missing)
        place = torch.searchsorted(candidates.chosen, own).clamp(max=len(candidates.chosen) - 1)
        here = (candidates.chosen[place] == own) & (place >= candidates.start) & (place < candidates.stop)
        return torch.where(here, place, missing)

    def settle(self, look: CountLook) -> None:
        """Add the certain counts, and decide the rest exactly."""
        groups = [group for group, _, _ in look.candidates.runs] if look.candidates else []
        for batch in look.batches:
            self._above[batch.pairs, groups] += batch.above
            if look.open and look.candidates is not None:
                self._decide(look.tile, look.candidates, batch)

    def _decide(self, tile: PairTile, candidates: _Candidates, batch: _Batch) -> None:
        import torch

        pair = torch.nonzero(batch.undecided).squeeze(1)
        if len(pair) == 0:
            return
        scores = candidates.of(tile.scores[batch.row[pair]])
        mask = ~(scores > batch.high[pair, None]) & ~(scores < batch.low[pair, None])
        mask[:, : candidates.start] = False  # no group holds them
        mask[:, candidates.stop :] = False
        with_own = torch.nonzero(batch.own[pair] >= 0).squeeze(1)
        mask[with_own, batch.own[pair][with_own]] = False
        for i, place in positions(mask, tile.most // 4):
            column = place if candidates.chosen is None else candidates.chosen[place]
            keys = tile.keys(batch.row[pair[i]], column)
            one = pair[i] + batch.pairs.start
            edges = torch.tensor([a for _, a, _ in candidates.runs], device=place.device)
            run = torch.searchsorted(edges, place, right=True) - 1
            group = torch.tensor([g for g, _, _ in candidates.runs], device=place.device)[run]
            cell = one * self._groups + group
            weight = torch.ones_like(place) if candidates.weight is None else candidates.weight[place]
            own = self._keys[one]
            self._above.view(-1).index_add_(0, cell, torch.where(keys > own, weight, 0))
            self._tied.view(-1).index_add_(0, cell, torch.where(keys == own, weight, 0))
            self._decided += len(one)

    def flush(self, pairs: Pairs) -> None:
        """Do nothing: no pair waits for other tiles."""

    def finish(self) -> None:
        """Give the part its counts; a target that counts ties with itself."""
        here = (self.part.target >= self.span.start) & (self.part.target < self.span.stop)
        own = np.flatnonzero(here)
        tied = self._tied.cpu().numpy()
        target, group = self.part.target[own], self._group_of(self.part.target[own])
        inside = (group >= 0) & (group < self._groups)
        own, target, group = own[inside], target[inside], group[inside]
        tied[own, group] += 1 if self._weights is None else self._weights[target - self._origin]
        self.part.add(self._above.cpu().numpy(), tied, self._decided)
