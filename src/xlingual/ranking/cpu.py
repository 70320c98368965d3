"""The ranker of one machine: numpy tiles, threads side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xlingual.ranking.scan import TILE_BYTES, Progress, Reduction, scan
from xlingual.ranking.similarity import Similarity

_TILES = 6  # of each thread, in memory at a time: one of them may be made exact in float64
_LEAST = 1 << 16  # bytes of a tile


@dataclass(frozen=True)
class Cpu:
    """Ranks with `threads` tiles of at most `budget` bytes side by side; neither changes a number."""

    threads: int = 1
    budget: int = TILE_BYTES

    @classmethod
    def within(cls, memory: int, threads: int = 1) -> Cpu:
        """Return the ranker whose tiles fit into `memory` bytes: fewer threads first, then smaller tiles."""
        budget = max(_LEAST, min(TILE_BYTES, memory // _TILES))
        return cls(max(1, min(threads, memory // (_TILES * budget))), budget)

    def scan(
        self, similarity: Similarity, reductions: Sequence[Reduction], *, progress: Progress | None = None
    ) -> None:
        """Let every reduction see every pair once."""
        scan(similarity, reductions, threads=self.threads, budget=self.budget, progress=progress)

    def about(self) -> dict[str, str | int | float]:
        """Return what ranked."""
        return {"backend": "cpu"}
