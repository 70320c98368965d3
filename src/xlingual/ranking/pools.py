"""Pools: rows of vectors of any form, of which equal ones are collapsed to one; and their similarity."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.errors import InputError
from xlingual.forms import AnyVectors, SparseVectors, TokenVectors
from xlingual.ranking.similarity import Cosine, Similarity
from xlingual.ranking.sparse import SparseRows, SparseScores
from xlingual.ranking.tokens import MaxSim, TokenRows
from xlingual.ranking.vectors import CHUNK, UnitVectors
from xlingual.records import digest

TextRows: TypeAlias = UnitVectors | SparseRows | TokenRows
DECIMALS = 12  # to which unit vectors are rounded before they are compared


class TextSimilarity(Similarity, Protocol):
    """A similarity of the vectors of texts, of any form."""

    queries: Any  # TextRows, both sides of one form
    candidates: Any
    screened: int  # pairs in tiles
    decided: int  # pairs whose keys were computed


def rows_of(vectors: AnyVectors, rows: Ints | None = None) -> TextRows:
    """Select rows of vectors of any form, as they are compared."""
    if isinstance(vectors, SparseVectors):
        return SparseRows(vectors, rows)
    if isinstance(vectors, TokenVectors):
        return TokenRows(vectors, rows)
    return UnitVectors(vectors, rows)


def similarity_of(queries: TextRows, candidates: TextRows) -> TextSimilarity:
    """Make the similarity that the form of queries and candidates asks for."""
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
class Pool:
    """Rows of vectors with equal ones collapsed: `vectors` are the distinct rows, `code` [n] numbers them.

    Dense rows are equal where their unit vectors are, rounded to 12 decimals: copies of a row and of its
    multiples, such as one-hot vectors of one class; all zero rows are one. Sparse rows and tokens are equal
    where their numbers are. A constant encoder thus costs one row.
    """

    vectors: Any  # TextRows
    code: Ints

    @classmethod
    def of(cls, vectors: AnyVectors, rows: Ints | None = None) -> Pool:
        """Collapse the chosen rows of vectors [*, d]."""
        if not isinstance(vectors, SparseVectors | TokenVectors):
            every = UnitVectors(vectors, rows)
            first, code = equal_rows(every)
            return cls(every.take(first), code)
        rows = np.arange(len(vectors)) if rows is None else np.asarray(rows, dtype=np.int64)
        number: dict[bytes, int] = {}
        digests = (digest(vectors.row_bytes(row)) for row in rows.tolist())
        code = np.array([number.setdefault(each, len(number)) for each in digests], dtype=np.int64)
        first = np.unique(code, return_index=True)[1] if len(rows) else rows
        return cls(rows_of(vectors, rows[first]), code)

    def take(self, rows: Ints) -> Pool:
        """Select some of the rows, collapsed as they are here."""
        _, first, code = np.unique(self.code[rows], return_index=True, return_inverse=True)
        order = np.argsort(first)
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        return Pool(self.vectors.take(self.code[rows[first[order]]]), place[code])


def identical_rows(raw: np.ndarray, rows: Ints | None = None) -> tuple[Ints, Ints]:
    """Collapse bit-identical rows among the chosen ones of `raw` (−0 is 0): (first [u], code [n]).

    `first` is the first position of each distinct row, `code` the distinct row of each.
    """
    rows = np.arange(len(raw)) if rows is None else np.asarray(rows, dtype=np.int64)
    return _numbered(_same(np.arange(len(rows)), lambda index: raw[rows[index]]))


def equal_rows(unit: UnitVectors) -> tuple[Ints, Ints]:
    """Collapse vectors whose unit vectors agree to 12 decimals: (first [u], code [n]).

    Unit vectors are rounded to 12 decimals in float64, so that to be equal is an equivalence. Only rows whose
    projections on one random direction are close are compared: within twice the most that equal ones differ.
    """
    place = unit.along(np.random.default_rng(0).uniform(-1, 1, unit.dim))
    order = np.argsort(place, kind="stable")
    close = np.diff(place[order]) <= 4 * 10.0**-DECIMALS * unit.dim
    near = np.sort(order[(np.append(close, False) | np.append(False, close))[: len(order)]])
    same = np.arange(len(unit))
    same[near] = _same(near, lambda index: _rounded(unit, index))
    return _numbered(same)


def _rounded(unit: UnitVectors, index: Ints) -> Floats:
    """Express unit vectors in units of the last decimal, whole numbers [len(index), d]."""
    wide = unit.stored(index)
    wide *= unit.inverse_norms[index, None] * 10.0**DECIMALS
    return np.rint(wide, out=wide)


def _same(numbers: Ints, rows: Callable[[Ints], np.ndarray]) -> Ints:
    """Find the first equal row of each numbered row, by a hash; −0 is 0."""
    first: dict[bytes, int] = {}
    same = np.empty(len(numbers), dtype=np.int64)
    for start in range(0, len(numbers), CHUNK):
        part = numbers[start : start + CHUNK]
        block = rows(part)
        plain = np.ascontiguousarray(block + block.dtype.type(0))
        for place, (number, row) in enumerate(zip(part.tolist(), plain, strict=True), start):
            same[place] = first.setdefault(hashlib.blake2b(row, digest_size=16).digest(), number)
    return same


def _numbered(same: Ints) -> tuple[Ints, Ints]:
    """Make (first, code) from the first equal row of each."""
    first = np.flatnonzero(same == np.arange(len(same)))
    return first, np.searchsorted(first, same)
