"""Which similarity compares vectors: cosine of dense rows, products of sparse ones, MaxSim of tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.errors import InputError
from xlingual.forms import AnyVectors, SparseVectors, TokenVectors
from xlingual.ranking.similarity import Cosine, Similarity
from xlingual.ranking.sparse import SparseRows, SparseScores
from xlingual.ranking.tokens import MaxSim, TokenRows
from xlingual.ranking.vectors import Pool, UnitVectors
from xlingual.records import digest

TextRows: TypeAlias = UnitVectors | SparseRows | TokenRows


class TextSimilarity(Similarity, Protocol):
    """A similarity of the vectors of texts, of any form."""

    queries: Any  # TextRows, both sides of one form
    candidates: Any
    screened: int
    decided: int

    def block(self, queries: Ints, candidates: Ints) -> Floats:
        """Return float64 scores [queries, candidates]."""

    def block_keys(self, queries: Ints, candidates: Ints) -> Ints:
        """Return the exact keys of a block, int64 [queries, candidates]."""


def rows_of(vectors: AnyVectors, rows: Ints | None = None) -> TextRows:
    """Return the chosen rows of vectors of any form, as they are compared."""
    if isinstance(vectors, SparseVectors):
        return SparseRows(vectors, rows)
    if isinstance(vectors, TokenVectors):
        return TokenRows(vectors, rows)
    return UnitVectors(vectors, rows)


def similarity_of(queries: TextRows, candidates: TextRows) -> TextSimilarity:
    """Return the similarity of queries and candidates, whose form says which one."""
    if isinstance(queries, UnitVectors) and isinstance(candidates, UnitVectors):
        return Cosine(queries, candidates)
    if isinstance(queries, SparseRows) and isinstance(candidates, SparseRows):
        return SparseScores(queries, candidates)
    if isinstance(queries, TokenRows) and isinstance(candidates, TokenRows):
        return MaxSim(queries, candidates)
    raise InputError(
        f"queries are {type(queries.raw).__name__} and candidates {type(candidates.raw).__name__}: both must "
        "come from one encoder"
    )


@dataclass(frozen=True)
class TextPool:
    """Rows of vectors of any form with equal ones collapsed; `Pool` says which dense rows are equal."""

    vectors: TextRows
    code: Ints  # [n] → distinct row

    @classmethod
    def of(cls, vectors: AnyVectors, rows: Ints | None = None) -> TextPool:
        """Collapse the chosen rows."""
        if isinstance(vectors, SparseVectors | TokenVectors):
            rows = np.arange(len(vectors)) if rows is None else np.asarray(rows, dtype=np.int64)
            number: dict[bytes, int] = {}
            hashed = (digest(vectors.row_bytes(row)) for row in rows.tolist())
            code = [number.setdefault(own, len(number)) for own in hashed]
            first = np.unique(code, return_index=True)[1] if len(rows) else rows
            return cls(rows_of(vectors, rows[first]), np.array(code, dtype=np.int64))
        found = Pool.of(vectors, rows)
        return cls(found.vectors, found.code)
