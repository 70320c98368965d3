"""A bank of training queries: the queries by which hubs are known, and which are not evaluated.

What is known of a candidate, or of a query, is found from its cosines to all queries of the bank, so a score
depends on the pair and the bank alone, and not on what else is ranked. Cosines are decided and rounded to 9
decimals, and so are all statistics. Sums go over the bank in an order of its vectors, so that neither the
bank's order, nor tiles, nor the back end change a number.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.errors import InputError
from xlingual.forms import AnyVectors, SparseVectors, TokenVectors
from xlingual.ranking.kinds import TextPool, TextRows, TextSimilarity, rows_of, similarity_of
from xlingual.ranking.offsets import Offsets
from xlingual.ranking.ranked import TopK
from xlingual.ranking.ranker import Ranker
from xlingual.ranking.scan import Progress, Transposed, one_library_thread
from xlingual.ranking.top import Top
from xlingual.ranking.vectors import CHUNK
from xlingual.records import digest

_BUDGET = 1 << 26  # bytes of keys of the bank at a time
_QUERIES = 4096  # of the bank, scored at a time


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
        function: Callable[[Ints, Ints], Floats],
        *,
        threads: int = 1,
        progress: Progress | None = None,
    ) -> Ints:
        """Return a statistic of each candidate over its keys with the whole bank, in the unit of keys.

        `function` gets keys [items, N] of the distinct vectors of the bank, and their weights [N]. The bank
        are the queries of the similarity.
        """
        count = similarity.shape[1]
        step = max(1, _BUDGET // (8 * len(self.weights)))
        blocks = [np.arange(start, min(start + step, count)) for start in range(0, count, step)]

        def of(items: Ints) -> Floats:
            keys = np.empty((len(items), len(self.weights)), dtype=np.int64)
            for start in range(0, len(self.weights), _QUERIES):
                own = np.arange(start, min(start + _QUERIES, len(self.weights)))
                keys[:, own] = similarity.block_keys(own, items).T
            return function(keys, self.weights)

        found = []
        with one_library_thread(), ThreadPoolExecutor(max(threads, 1)) as executor:
            for items, own in zip(blocks, executor.map(of, blocks), strict=True):
                found.append(own)
                if progress is not None:
                    progress((int(items[-1]) + 1) * len(self.weights), count * len(self.weights))
        return np.rint(np.concatenate(found)).astype(np.int64)


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

    def over_bank(self, function: Callable[[Ints, Ints], Floats]) -> Ints:
        """Return a statistic of each candidate over the bank."""
        similarity = similarity_of(self.bank.vectors, self.similarity.candidates)
        found = self.bank.statistics(similarity, function, threads=self.threads, progress=self.progress)
        similarity.decided = similarity.shape[0] * similarity.shape[1]
        self.count(similarity)
        return found

    def count(self, similarity: TextSimilarity) -> None:
        """Add the work of a pass over the bank to that of the pass over the candidates."""
        self.similarity.screened += similarity.screened
        self.similarity.decided += similarity.decided


class Correction(Protocol):
    """A correction of hubs, which takes what it must know from a bank."""

    @property
    def name(self) -> str:
        """What signatures call it, with its parameters: "csls?k=10"."""

    def offsets(self, given: BankPass) -> Offsets:
        """Return the offsets of the candidates of a pass."""


@dataclass(frozen=True)
class Banked:
    """A correction with its bank: what an evaluation ranks by."""

    correction: Correction
    bank: Bank
    name: str

    def offsets(
        self, similarity: TextSimilarity, ranker: Ranker, progress: Progress | None = None
    ) -> Offsets:
        """Return the offsets of the candidates of a pass."""
        if similarity.candidates.dim != self.bank.vectors.dim:
            raise InputError(
                f"{self.name}: the bank has {self.bank.vectors.dim} dimensions and the candidates have "
                f"{similarity.candidates.dim}: both must come from one encoder"
            )
        return self.correction.offsets(BankPass(similarity, self.bank, ranker, progress))
