"""Shards of sparse rows, or of a vector for each token: rows of several lengths, one after the other."""

from __future__ import annotations

import mmap
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xlingual.arrays import Ints
from xlingual.forms import OtherVectors, SparseVectors, TokenVectors, form_of
from xlingual.store.checksum import Words, key_sums
from xlingual.store.journal import ShardLine


class DamagedRowsError(Exception):
    """Rows are not as they were written."""


def tensors_of(vectors: OtherVectors, dtype: Any) -> dict[str, NDArray[Any]]:  # noqa: ANN401
    """Return the arrays that a shard keeps of vectors: the numbers, where rows begin, and their columns.

    Only token vectors are kept in half precision: scipy has no sparse rows of float16.
    """
    if isinstance(vectors, TokenVectors):
        numbers = np.ascontiguousarray(vectors.vectors, dtype=dtype)
        return {"vectors": numbers, "bounds": vectors.bounds.astype("<i8")}
    matrix = vectors.matrix
    return {
        "vectors": np.ascontiguousarray(matrix.data, dtype=np.float32),
        "bounds": matrix.indptr.astype("<i8"),
        "columns": matrix.indices.astype("<i8"),
    }


def vectors_of(tensors: Mapping[str, NDArray[Any]], form: str, dim: int) -> OtherVectors:
    """Return the vectors that the arrays of a shard are."""
    kind, _, compared_by = form.partition(" ")
    if kind == "tokens":
        return TokenVectors(tensors["vectors"].reshape(-1, dim), tensors["bounds"], compared_by)
    from scipy.sparse import csr_array

    parts = tensors["vectors"], tensors["columns"], tensors["bounds"]
    return SparseVectors(csr_array(parts, shape=(len(tensors["bounds"]) - 1, dim)), compared_by)


def ragged_checksums(tensors: Mapping[str, NDArray[Any]], keys: Words) -> Words:
    """Return uint64 [n]: of each row's numbers and columns as they are kept, and of its key."""
    bounds = tensors["bounds"].tolist()
    arrays = [tensors[name] for name in ("columns", "vectors") if name in tensors]
    sums = np.empty(len(bounds) - 1, dtype=np.uint64)
    for row, (start, end) in enumerate(pairwise(bounds)):
        hasher = blake2b(digest_size=8)
        for array in arrays:
            hasher.update(np.ascontiguousarray(array[start:end]).data)
        sums[row] = int.from_bytes(hasher.digest(), "little")
    return sums ^ key_sums(keys)


@dataclass(frozen=True)
class RaggedShard:
    """Rows in a file, whose numbers begin at the byte `offset`; or in memory, where it has `held` arrays."""

    path: Path
    line: ShardLine
    offset: int
    keys: Words
    checksums: Words
    truncated: NDArray[np.bool_] | None
    more: Mapping[str, NDArray[Any]]  # bounds, and columns of sparse rows
    held: NDArray[Any] | None = None

    def __len__(self) -> int:
        return self.line.rows

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.line.shard

    @property
    def dim(self) -> int:
        """How many dimensions its vectors have."""
        return self.line.dim

    def read(self, rows: Ints) -> OtherVectors:
        """Return the vectors of rows as float32; raise DamagedRowsError where they are not as written."""
        tensors = {"vectors": self._numbers(), **self.more}
        found = vectors_of(tensors, self.line.form, self.dim)[rows]
        kept = tensors_of(found, self.line.dtype)
        if (ragged_checksums(kept, self.keys[rows]) != self.checksums[rows]).any():
            raise DamagedRowsError("vectors are not as they were written")
        return vectors_of(tensors_of(found, np.float32), self.line.form, self.dim)

    def _numbers(self) -> NDArray[Any]:
        if self.held is not None:
            return self.held
        count = int(self.more["bounds"][-1]) * (self.dim if self.line.form.startswith("tokens") else 1)
        if not count:
            return np.empty(0, dtype=self.line.dtype)
        try:
            with self.path.open("rb") as handle:
                mapped = mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ)
            return np.frombuffer(mapped, self.line.dtype, count, self.offset)
        except (OSError, ValueError) as error:
            raise DamagedRowsError(getattr(error, "strerror", None) or str(error)) from error


def in_memory(
    keys: Words,
    vectors: OtherVectors,
    truncated: NDArray[np.bool_] | None,
    dtype: Any,  # noqa: ANN401
) -> RaggedShard:
    """Return rows that are not on the disk, because nothing can be written there."""
    tensors = tensors_of(vectors, dtype)
    kept = tensors["vectors"].dtype.name
    line = ShardLine("memory", len(vectors), vectors.shape[1], kept, "", form_of(vectors))
    sums = ragged_checksums(tensors, keys)
    numbers = tensors.pop("vectors")
    return RaggedShard(Path(), line, 0, keys, sums, truncated, tensors, numbers)
