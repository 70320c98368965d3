"""The candidates of a pool as columns of the matrix that is never made."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xlingual.ranking import Pool, UnitVectors
from xlingual.records import Ints


@dataclass(frozen=True)
class Columns:
    """The candidates as columns: language by language, equal vectors of one language as one column."""

    vectors: UnitVectors  # [u]
    of: Ints  # [m] column of each candidate
    language: Ints  # [u], ascending
    bounds: Ints  # [G + 1] first column of each language, and the number of columns
    weights: Ints  # [u] how many candidates a column stands for

    @classmethod
    def of_candidates(cls, vectors: np.ndarray, language: Ints, n_languages: int) -> Columns:
        """Collapse the candidates' vectors [m, d] within each language."""
        of = np.empty(len(vectors), dtype=np.int64)
        rows: list[Ints] = []
        sizes: list[int] = []
        for code in range(n_languages):
            own = np.flatnonzero(language == code)
            pool = Pool.of(vectors, own) if len(own) else None
            of[own] = sum(sizes) + (pool.code if pool is not None else 0)
            rows.append(pool.vectors.rows if pool is not None else own)
            sizes.append(len(rows[-1]))
        bounds = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return cls(
            UnitVectors(vectors, np.concatenate(rows)),
            of,
            np.repeat(np.arange(n_languages), sizes),
            bounds,
            np.bincount(of, minlength=int(bounds[-1])).astype(np.int64),
        )

    def members(self) -> tuple[Ints, Ints]:
        """Return (candidates ordered by column, where each column's begin), int64 [m] and [u + 1]."""
        starts = np.concatenate([[0], np.cumsum(self.weights)]).astype(np.int64)
        return np.argsort(self.of, kind="stable"), starts
