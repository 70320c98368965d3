"""The interface of every back end that computes tiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from xlingual.ranking.scan import Progress, Reduction
from xlingual.ranking.similarity import Similarity


class Ranker(Protocol):
    """Makes passes over all pairs of a similarity; whichever does, the answer is the same to the last count.

    A ranker adds the pairs it screens and those it decides to `screened` and `decided` of the similarity.
    """

    def scan(
        self, similarity: Similarity, reductions: Sequence[Reduction], *, progress: Progress | None = None
    ) -> None:
        """Let every reduction see every pair once."""

    def about(self) -> dict[str, str | int | float]:
        """Return the facts that results keep: `backend`, and its own further ones."""
