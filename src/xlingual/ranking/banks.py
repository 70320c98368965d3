"""A bank of training queries: the queries by which hubs are known, and which are not evaluated.

What is known of a candidate, or of a query, is found from its cosines to all queries of the bank, so a score
depends on the pair and the bank alone, and not on what else is ranked. Cosines are decided and rounded to 9
decimals, and so are all statistics. Sums go over the bank in an order of its vectors, so that neither the
bank's order, nor tiles, nor the back end change a number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.errors import InputError
from xlingual.forms import AnyVectors, SparseVectors, TokenVectors
from xlingual.ranking.kinds import TextPool, TextRows, TextSimilarity, rows_of, similarity_of
from xlingual.ranking.offsets import Adjustment, Repair
from xlingual.ranking.ranked import TopK
from xlingual.ranking.ranker import Ranker
from xlingual.ranking.scan import Progress, Transposed, one_library_thread
from xlingual.ranking.top import Top
from xlingual.ranking.vectors import CHUNK
from xlingual.records import digest

_BUDGET = 1 << 26  # bytes of keys of the bank at a time
_QUERIES = 4096  # of the bank, scored at a time
Sample = tuple[Ints, Ints]  # how often it holds each query [n] and each candidate [m] of a pass


@dataclass(frozen=True)
class Bank:
    """Vectors of queries that are not evaluated: distinct ones in an order of their own, and how often."""

    vectors: TextRows
    weights: Ints

    @classmethod
    def of(cls, vectors: AnyVectors) -> Bank:
        """Collapse equal vectors, and order them by what they are."""
        pool = TextPool.of(vectors)
        rows = pool.vectors.rows
        weights = np.bincount(pool.code, minlength=len(rows)).astype(np.int64)
        own = _digests(vectors, rows)
        order = np.array(sorted(range(len(rows)), key=own.__getitem__), dtype=np.int64)
        return cls(rows_of(vectors, rows[order]), weights[order])

    def __len__(self) -> int:
        return int(self.weights.sum())

    def nearest(
        self, candidates: TextRows, k: int, ranker: Ranker, progress: Progress | None
    ) -> tuple[TopK, TextSimilarity]:
        """Return the k queries of the bank nearest to each candidate, one for each level of ties."""
        similarity = similarity_of(self.vectors, candidates)
        top = Top(k, similarity.shape[::-1], weights=self.weights, cap=1)
        ranker.scan(similarity, [Transposed(top)], progress=progress)
        return top.result(), similarity

    def statistics(
        self,
        similarity: TextSimilarity,
        function: Callable[[Ints, Ints], tuple[Floats, ...]],
        *,
        turned: bool = False,
        threads: int = 1,
        progress: Progress | None = None,
    ) -> list[Ints]:
        """Return statistics of each item over its keys with the whole bank, in the unit of keys.

        `function` gets keys [items, N] of the distinct vectors of the bank, and their weights [N]. The bank
        are the queries of the similarity; `turned`: its candidates.
        """
        count = similarity.shape[0 if turned else 1]
        step = max(1, _BUDGET // (8 * len(self.weights)))
        blocks = [np.arange(start, min(start + step, count)) for start in range(0, count, step)]

        def of(items: Ints) -> tuple[Floats, ...]:
            keys = np.empty((len(items), len(self.weights)), dtype=np.int64)
            for start in range(0, len(self.weights), _QUERIES):
                own = np.arange(start, min(start + _QUERIES, len(self.weights)))
                sides = (items, own) if turned else (own, items)
                block = similarity.block_keys(*sides)
                keys[:, own] = block if turned else block.T
            return function(keys, self.weights)

        found = []
        with one_library_thread(), ThreadPoolExecutor(max(threads, 1)) as executor:
            for items, own in zip(blocks, executor.map(of, blocks), strict=True):
                found.append(own)
                if progress is not None:
                    progress((int(items[-1]) + 1) * len(self.weights), count * len(self.weights))
        return [np.rint(np.concatenate(column)).astype(np.int64) for column in zip(*found, strict=True)]


def _digests(vectors: AnyVectors, rows: Ints) -> list[bytes]:
    """Return a digest of each of some rows of vectors, by which they are ordered."""
    if isinstance(vectors, SparseVectors | TokenVectors):
        return [digest(vectors.row_bytes(row)) for row in rows.tolist()]
    found: list[bytes] = []
    for start in range(0, len(rows), CHUNK):
        block = np.ascontiguousarray(vectors[rows[start : start + CHUNK]])
        found += [digest(row.tobytes()) for row in block + block.dtype.type(0)]  # -0 counts as 0
    return found


@dataclass(frozen=True)
class BankPass:
    """A pass whose queries and candidates are to be adjusted, and what finds the statistics for it."""

    similarity: TextSimilarity  # of the queries and candidates that are ranked
    bank: Bank
    ranker: Ranker
    progress: Progress | None

    @property
    def threads(self) -> int:
        """Blocks side by side."""
        return int(getattr(self.ranker, "threads", 1))

    def nearest(self, k: int) -> tuple[TopK, TextSimilarity]:
        """Return the k queries of the bank nearest to each candidate, and the similarity of these."""
        found, similarity = self.bank.nearest(self.similarity.candidates, k, self.ranker, self.progress)
        self.count(similarity)
        return found, similarity

    def over_bank(self, function: Any, *, queries: bool = False) -> list[Ints]:  # noqa: ANN401
        """Return statistics of each candidate, or of each query, over the bank."""
        side = self.similarity.queries if queries else self.similarity.candidates
        sides = (side, self.bank.vectors) if queries else (self.bank.vectors, side)
        similarity = similarity_of(*sides)
        found = self.bank.statistics(
            similarity,
            function,
            turned=queries,
            threads=self.threads,
            progress=None if queries else self.progress,  # candidates are mostly more, and shown
        )
        similarity.decided = similarity.shape[0] * similarity.shape[1]
        self.count(similarity)
        return found

    def count(self, similarity: TextSimilarity) -> None:
        """Add the work of a pass over the bank to that of the pass over the candidates."""
        self.similarity.screened += similarity.screened
        self.similarity.decided += similarity.decided


class Correction(Protocol):
    """A repair of hubs that takes what it must know from a bank."""

    @property
    def name(self) -> str:
        """What signatures call it, with its parameters: "csls?k=10"."""

    def adjustments(self, given: BankPass, samples: Sequence[Sample]) -> list[Adjustment]:
        """Return the adjustment of each sample of a pass."""


@dataclass(frozen=True)
class Banked:
    """A correction with its bank: what an evaluation ranks by."""

    correction: Correction
    bank: Bank
    name: str

    def adjustments(
        self,
        similarity: TextSimilarity,
        samples: Sequence[Sample],
        ranker: Ranker,
        progress: Progress | None = None,
    ) -> list[Adjustment]:
        """Return the adjustment of each sample of a pass."""
        if similarity.candidates.dim != self.bank.vectors.dim:
            raise InputError(
                f"{self.name}: the bank has {self.bank.vectors.dim} dimensions and the candidates have "
                f"{similarity.candidates.dim}: both must come from one encoder"
            )
        return self.correction.adjustments(BankPass(similarity, self.bank, ranker, progress), samples)


HubRepair: TypeAlias = "Repair | Banked"  # of the queries that are evaluated, or by a bank
