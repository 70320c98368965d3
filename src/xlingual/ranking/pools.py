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
    checksum = [_checksum(raw[rows[i : i + CHUNK]]) for i in range(0, len(rows), CHUNK)]
    sums = np.concatenate(checksum or [np.empty(0, dtype=np.uint64)])
    same = _same(sums, np.arange(len(rows)), lambda index: raw[rows[index]])
    return _numbered(same)


def equal_rows(unit: UnitVectors) -> tuple[Ints, Ints]:
    """Collapse vectors whose unit vectors agree to 12 decimals: (first [u], code [n]).

    Unit vectors are rounded to 12 decimals in float64, so that to be equal is an equivalence. Only rows whose
    projections on one random direction are close are compared: rows that are equal have close ones.
    """
    n, place = len(unit), unit.along(np.random.default_rng(0).uniform(-1, 1, unit.dim))
    order = np.argsort(place, kind="stable")
    close = (
        np.diff(place[order]) <= 4 * 10.0**-DECIMALS * unit.dim
    )  # twice the most that equal ones differ by
    near = np.sort(order[np.append(close, False) | np.append(False, close)])
    checksum = [
        _checksum(_rounded(unit, near[start : start + CHUNK])) for start in range(0, len(near), CHUNK)
    ]
    same = np.arange(n)
    if len(near):
        same[near] = _same(np.concatenate(checksum), near, lambda index: _rounded(unit, index))
    return _numbered(same)


def _rounded(unit: UnitVectors, index: Ints) -> Floats:
    """Express unit vectors in units of the last decimal, whole numbers [len(index), d]."""
    wide = unit.stored(index)
    wide *= unit.inverse_norms[index, None] * 10.0**DECIMALS
    return np.rint(wide, out=wide)


def _same(checksum: np.ndarray, numbers: Ints, rows: Callable[[Ints], np.ndarray]) -> Ints:
    """Find the first equal row of each row; `numbers` [n] of the rows are ascending.

    Rows are compared by a checksum first: those whose checksum an earlier row has are compared with it, and
    the few that differ from it by a hash.
    """
    order = np.argsort(checksum, kind="stable")
    new = np.append(True, checksum[order[1:]] != checksum[order[:-1]])
    same = np.empty(len(numbers), dtype=np.int64)
    same[order] = order[np.maximum.accumulate(np.where(new, np.arange(len(numbers)), 0))]
    later = np.flatnonzero(same != np.arange(len(numbers)))
    label: dict[bytes, int] = {}
    for start in range(0, len(later), CHUNK):
        part = later[start : start + CHUNK]
        later_rows = rows(numbers[part])
        differ = (later_rows != rows(numbers[same[part]])).any(axis=1)
        for position, row in zip(part[differ].tolist(), later_rows[differ], strict=True):
            same[position] = label.setdefault(_row_hash(row), position)
    first: Ints = numbers[same]
    return first


def _numbered(same: Ints) -> tuple[Ints, Ints]:
    """Make (first, code) from the first equal row of each."""
    first = np.flatnonzero(same == np.arange(len(same)))
    return first, np.searchsorted(first, same)


def _checksum(block: np.ndarray) -> np.ndarray:
    """Compute an integer for each row: equal for equal rows (−0 counts as 0), hardly ever for others."""
    plain = np.ascontiguousarray(block + block.dtype.type(0))
    words = plain.view(np.uint16 if plain.dtype.itemsize == 2 else np.uint32).astype(np.uint64)
    weights = np.random.default_rng(0).integers(1 << 63, size=words.shape[1], dtype=np.uint64)
    sums: np.ndarray = np.einsum("ij,j->i", words, weights)
    return sums


def _row_hash(row: np.ndarray) -> bytes:
    plain = np.ascontiguousarray(row + row.dtype.type(0))
    return hashlib.blake2b(plain.tobytes(), digest_size=16).digest()
