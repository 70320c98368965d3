"""The ranker that multiplies with torch: on a GPU in low precision, and exact all the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from xlingual.errors import InputError, warn
from xlingual.ranking.cpu import Cpu
from xlingual.ranking.scan import Part, Progress, Reduction, is_transposed
from xlingual.ranking.similarity import Cosine, Similarity
from xlingual.ranking.torch import devices
from xlingual.ranking.torch.arithmetic import PRECISIONS, Arithmetic, exact_settings
from xlingual.ranking.torch.blocks import Block, Loader
from xlingual.ranking.torch.devices import less_exact
from xlingual.ranking.torch.pairs import Pairs, PairTile, SettledTally
from xlingual.ranking.torch.pieces import Partition, cut
from xlingual.ranking.torch.watchers import Watcher, watcher_of

_NARROW = 256  # when over one comparison in so many is open, a float32 product of the tile is cheaper
_LOOKED_AT = 48  # rows and columns of the first tile that are compared with float64


class Tiles:
    """Multiplies tiles in the precision of an `Arithmetic`."""

    def __init__(self, arithmetic: Arithmetic, similarity: Cosine) -> None:
        self.arithmetic, self.similarity = arithmetic, similarity
        self._checked: set[bool] = set()

    def show(self, pairs: Pairs, watchers: Sequence[Watcher], size: tuple[int, int]) -> None:
        """Show all pairs to every watcher, in tiles of a size."""
        for rows in cut(0, len(pairs.rows), size[0]):
            left = pairs.rows.part(rows)
            for columns in cut(0, len(pairs.columns), size[1]):
                self._show(pairs, left, pairs.columns.part(columns), watchers)

    def _show(self, pairs: Pairs, rows: Block, columns: Block, watchers: Sequence[Watcher]) -> None:
        tile, finer = self._tile(pairs, rows, columns, coarse=True), None
        for watcher in watchers:
            look = watcher.look(tile)
            pairs.tally.compared += look.compared
            pairs.tally.open += look.open
            if self.arithmetic.low and look.open * _NARROW > look.compared:
                finer = finer or self._tile(pairs, rows.fine(), columns.fine(), coarse=False)
                look = watcher.look(finer)
            watcher.settle(look)

    def _tile(self, pairs: Pairs, rows: Block, columns: Block, *, coarse: bool) -> PairTile:
        error = self.arithmetic.error(rows.dim) if coarse else self.arithmetic.fine_error(rows.dim)
        scores = self.arithmetic.product(rows.low, columns.low)
        tile = PairTile(
            rows, columns, pairs.exact, pairs.most, pairs.tally, pairs, scores, error[0], error[1]
        )
        if coarse not in self._checked:
            self._check(tile)
            self._checked.add(coarse)
        return tile

    def _check(self, tile: PairTile) -> None:
        """Hold some scores of the first tile against float64, to see that the device keeps the bound."""
        i, j = (np.unique(np.linspace(0, size - 1, _LOOKED_AT).astype(np.int64)) for size in tile.shape)
        exact = self.similarity.block(i + tile.rows.first, j + tile.columns.first)
        found = tile.scores[i.tolist()][:, j.tolist()].cpu().double().numpy()
        bound = (tile.error() + tile.slack).cpu().numpy()[i]
        if (np.abs(found - exact) > bound[:, None]).any():
            raise less_exact(self.arithmetic.device)


_SHARE = 0.7  # of what a device has free, where nothing is said
_ON_PROCESSOR = 1 << 29  # bytes, where nothing is said


class TorchRanker:
    """Ranks on a device: `cuda`, `cuda:1`, or `cpu` for CPU tensors; None takes CUDA where there is one.

    Tiles are multiplied in `precision` (fp16 on CUDA and fp32 on a processor unless said), whose error is
    bounded (`bounds`); what the bound leaves open is narrowed in float32 where much is, and decided in
    float64. So the answer is that of every other back end, to the last count. Vectors, tiles and what is made
    of them take about `memory` bytes of the device: all candidates stay there where they fit, otherwise they
    come block by block while others are multiplied.

    A similarity that is no cosine is ranked by `Cpu`.
    """

    def __init__(
        self,
        device: str | None = None,
        *,
        precision: str | None = None,
        memory: int | None = None,
        threads: int = 1,
    ) -> None:
        self.device = devices.ranking_device(device)
        self.precision = precision or ("fp16" if self.device.type == "cuda" else "fp32")
        if self.precision not in PRECISIONS:
            raise InputError(
                f"precision {self.precision!r} is not known: choose among {', '.join(PRECISIONS)}"
            )
        devices.refuse_precision(self.device, self.precision)
        self.memory, self.threads = memory, threads
        self.tally = SettledTally()
        self._halved = False
        self._elsewhere = 0  # passes over similarities that are no cosines

    def about(self) -> dict[str, str | int | float]:
        """Return what ranked, and the shares of comparisons that the screen left open."""
        found: dict[str, str | int | float] = {
            "backend": "torch",
            "device": devices.described(self.device),
            "precision": self.precision,
        }
        if self.tally.compared:
            found["undecided"] = self.tally.open / self.tally.compared
            found["decided_in_float64"] = self.tally.decided / self.tally.compared
            found["decided_on_host"] = self.tally.host
        if self._elsewhere:
            found["passes_on_processor"] = self._elsewhere
        return found

    def scan(
        self, similarity: Similarity, reductions: Sequence[Reduction], *, progress: Progress | None = None
    ) -> None:
        """Let every reduction see every pair once."""
        if not isinstance(similarity, Cosine):
            self._elsewhere += 1
            Cpu(self.threads).scan(similarity, reductions, progress=progress)
        elif 0 not in similarity.shape:
            with exact_settings(self.device, self.threads):
                _Pass(self, similarity, reductions, progress).run()

    def budget(self) -> int:
        """Return the bytes that a pass may take."""
        free = devices.free_bytes(self.device)
        usual = _ON_PROCESSOR if free is None else int(free * _SHARE)
        return usual if self.memory is None else min(self.memory, usual if free else self.memory)

    def warn_of_memory(self) -> None:
        """Say, once, that memory did not suffice."""
        if not self._halved:
            warn(
                f"{devices.described(self.device)} ran out of memory: ranking goes on with half the tile, and"
                " halves it again where it must (--memory sets what it may take)"
            )
        self._halved = True


@dataclass
class _Pass:
    """One pass over all pairs of a cosine."""

    ranker: TorchRanker
    similarity: Cosine
    reductions: Sequence[Reduction]
    progress: Progress | None

    def run(self) -> None:
        """Take the queries block by block; where memory does not suffice, begin the block again with less."""
        arithmetic = Arithmetic(self.ranker.device, self.ranker.precision)
        self._queries = Loader(self.similarity.queries, arithmetic)
        self._candidates = Loader(self.similarity.candidates, arithmetic)
        self._tiles = Tiles(arithmetic, self.similarity)
        each = max(self._queries.bytes_each, self._candidates.bytes_each)
        turned = any(is_transposed(reduction) for reduction in self.reductions)
        partition: Partition | None = Partition(self.similarity.shape, each, self.ranker.budget(), not turned)
        self._done = 0
        while partition is not None and self._done < self.similarity.shape[0]:
            partition = partition if self._tried(partition) else self._smaller(partition)

    def _tried(self, partition: Partition) -> bool:
        """Go on as far as memory suffices; return whether it sufficed."""
        try:
            self._go_on(partition)
        except Exception as error:
            if not devices.out_of_memory(error):
                raise
            return False
        return True

    def _smaller(self, partition: Partition) -> Partition:
        devices.forget_cache(self.ranker.device)
        smaller = partition.halved()
        if smaller is None:
            raise InputError(
                f"{devices.described(self.ranker.device)} has too little memory even for the smallest tiles:"
                " end what else uses it, or take --backend cpu"
            )
        self.ranker.warn_of_memory()
        return smaller

    def _go_on(self, partition: Partition) -> None:
        columns = partition.columns()
        resident = [self._candidates.load(columns[0])] if partition.resident else None
        parts = list(cut(self._done, self.similarity.shape[0], partition.rows()))
        for queries in self._queries.stream(parts):
            seen = self._filled_parts(queries, resident or self._candidates.stream(columns), partition)
            for reduction, part in zip(self.reductions, seen, strict=True):
                reduction.merge([part])
            self._done = queries.first + len(queries)

    def _filled_parts(
        self, queries: Block, candidates: Sequence[Block] | Iterator[Block], partition: Partition
    ) -> list[Part]:
        """Return parts that have seen all candidates of a block of queries."""
        n, m = self.similarity.shape
        rows, everything = slice(queries.first, queries.first + len(queries)), slice(0, m)
        parts: list[Part] = [reduction.within(rows, everything) for reduction in self.reductions]
        watchers: list[Watcher] = [watcher_of(part, rows, everything, self.ranker.device) for part in parts]
        area, tally = partition.tile[0] * partition.tile[1], SettledTally()
        for block in candidates:
            pairs = Pairs(queries, block, self.similarity.exact, area, tally)
            self._tiles.show(pairs, watchers, partition.tile)
            for watcher in watchers:
                watcher.flush(pairs)
            if self.progress is not None:
                self.progress(self._done * m + len(queries) * (block.first + len(block)), n * m)
        for watcher in watchers:
            watcher.finish()
        self._count(tally, len(queries) * m)
        return parts

    def _count(self, tally: SettledTally, screened: int) -> None:
        self.ranker.tally.add(tally)
        self.similarity.screened += screened
        self.similarity.decided += tally.decided - tally.host  # `exact` has counted the others
