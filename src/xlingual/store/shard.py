"""A shard: the vectors of a batch with keys and checksums, in a .safetensors file that is written once."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from xlingual.arrays import Ints
from xlingual.files import replacing, sync
from xlingual.forms import SparseVectors, TokenVectors, form_of, is_dense
from xlingual.records import Encoded, digest

Words = NDArray[np.uint64]

SUFFIX = ".safetensors"
_AT_ONCE = 32_768  # words summed at a time: they stay in the processor's cache


class BrokenShardError(Exception):
    """A shard is not as it was written; the text says how."""


@dataclass(frozen=True, eq=False)
class Shard:
    """Vectors and their keys: in a file, or in memory where nothing can be written.

    Lines are the numbers of dense rows, of each token's vector, or (column, number) of what is not zero in
    sparse rows. `bounds` are the lines at which rows begin, where a row has not one line.
    """

    keys: Words  # [n, 2]
    form: str  # as `form_of`
    dim: int
    shape: tuple[int, int]  # of the lines
    sums: Words  # [lines]
    bounds: Any  # Ints or None
    truncated: NDArray[np.bool_] | None
    path: Path = Path()
    held: NDArray[Any] | None = None  # the lines, in memory

    @classmethod
    def of(cls, keys: Sequence[bytes], encoded: Encoded) -> Shard:
        """Make a shard in memory."""
        vectors, bounds = encoded.vectors, None
        if is_dense(vectors):
            lines = np.ascontiguousarray(vectors, dtype="<f4")
        elif isinstance(vectors, TokenVectors):
            lines, bounds = np.ascontiguousarray(vectors.vectors, dtype="<f4"), vectors.bounds
        else:
            matrix, bounds = vectors.matrix, vectors.matrix.indptr
            lines = np.column_stack([matrix.indices.astype("<u4"), matrix.data.astype("<f4").view("<u4")])
        cut = None if encoded.truncated is None else np.array(encoded.truncated, dtype=np.bool_)
        starts = None if bounds is None else bounds.astype("<i8")
        form, dim = form_of(vectors), int(vectors.shape[1])
        words = key_words(keys)
        return cls(words, form, dim, lines.shape, line_sums(lines), starts, cut, held=lines)

    @classmethod
    def open(cls, path: Path) -> Shard:
        """Read all of a file but its lines; raise BrokenShardError where it is not as it was written."""
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(path, "numpy") as file:
                facts = file.metadata() or {}
                arrays = {name: file.get_tensor(name) for name in file.keys() if name != "lines"}  # noqa: SIM118
                shape = tuple(file.get_slice("lines").get_shape())
            if facts.get("digest") != _digest(path.parent.name, facts, shape, arrays):
                raise BrokenShardError("its head is not as it was written")
        except (OSError, SafetensorError, KeyError, TypeError) as error:
            raise BrokenShardError(f"it cannot be read ({' '.join(str(error).split())})") from error
        cut = arrays["truncated"].astype(np.bool_) if "truncated" in arrays else None
        dim = int(facts["dim"])
        return cls(arrays["keys"], facts["form"], dim, shape, arrays["sums"], arrays.get("bounds"), cut, path)

    def write(self, folder: Path) -> Shard:
        """Write the shard to a new file, whole or not at all; names rise with time."""
        from safetensors.numpy import save

        assert self.held is not None
        # the format puts arrays of 8 bytes first, so that the lines end the file
        arrays = {"keys": self.keys, "sums": self.sums}
        if self.bounds is not None:
            arrays["bounds"] = self.bounds
        if self.truncated is not None:
            arrays["truncated"] = self.truncated.astype("<i8")
        facts = {"form": self.form, "dim": str(self.dim)}
        facts["digest"] = _digest(folder.name, facts, self.shape, arrays)
        path = folder / f"{time.time_ns():020}-{uuid4().hex[:12]}{SUFFIX}"
        write_file(path, save({**arrays, "lines": self.held}, facts))
        return replace(self, path=path, held=None)

    def read(self, rows: Ints | None = None) -> Any:  # noqa: ANN401  (AnyVectors)
        """Read rows, or all; raise BrokenShardError where some are not as they were written.

        Dense rows that follow each other are a view of the mapped file. Of other forms all are checked.
        """
        lines = self._lines()
        chosen: Any = slice(None) if rows is None or self.form else stretch(rows)
        block = lines[chosen] if isinstance(chosen, slice) else lines.take(chosen, axis=0)
        if not np.array_equal(line_sums(block), self.sums[chosen]):
            raise BrokenShardError("vectors are not as they were written")
        if not self.form:
            return block
        kind, _, compared_by = self.form.partition(" ")
        vectors: SparseVectors | TokenVectors
        if kind == "tokens":
            vectors = TokenVectors(block, self.bounds, compared_by)
        else:
            from scipy.sparse import csr_array

            numbers = np.ascontiguousarray(block[:, 1]).view("<f4")
            parts = numbers, block[:, 0].astype(np.int64), self.bounds
            vectors = SparseVectors(csr_array(parts, shape=(len(self.keys), self.dim)), compared_by)
        return vectors if rows is None else vectors[rows]

    def _lines(self) -> NDArray[Any]:
        if self.held is not None:
            return self.held
        kind = "<u4" if self.form.startswith("sparse") else "<f4"
        size = self.shape[0] * self.shape[1] * 4
        if not size:
            return np.empty(self.shape, kind)
        try:
            offset = self.path.stat().st_size - size
            return np.asarray(np.memmap(self.path, kind, "r", offset, self.shape))
        except (OSError, ValueError) as error:
            raise BrokenShardError(f"it cannot be read ({error})") from error


def key_words(keys: Sequence[bytes]) -> Words:
    """Return keys of 16 bytes as words [n, 2]."""
    return np.frombuffer(b"".join(keys), "<u8").reshape(-1, 2)


def stretch(numbers: Ints) -> Any:  # noqa: ANN401  (what indexes an array)
    """Turn numbers that follow each other into a slice, which needs no copy; leave others as they are."""
    follow = len(numbers) and numbers[-1] - numbers[0] == len(numbers) - 1 and (np.diff(numbers) == 1).all()
    return slice(int(numbers[0]), int(numbers[-1]) + 1) if follow else numbers


def line_sums(lines: NDArray[Any]) -> Words:
    """Checksum each line of 4-byte numbers [n, d], uint64 [n], at the speed of memory.

    The sum over the words of a line, upper halves folded into lower ones, times odd weights, modulo 2^64. One
    changed word always changes it, since folding is one-to-one; so do any two changed bits. Without folding
    two changed signs would not: 2^63 times an odd weight is the same for any weight. Of a folded word a bit
    changes at least one of the lower 32, and there weights differ between the words.
    """
    words = lines.view("<u4" if lines.shape[1] % 2 else "<u8").astype(np.uint64, copy=False)
    weights = _weights(words.shape[1])
    sums: Words = np.empty(len(words), dtype=np.uint64)
    step = max(1, _AT_ONCE // max(1, words.shape[1]))
    room = np.empty((min(step, len(words)), words.shape[1]), dtype=np.uint64)
    for start in range(0, len(words), step):
        part = words[start : start + step]
        folded = np.right_shift(part, np.uint64(32), out=room[: len(part)])
        np.einsum(
            "ij,j->i", np.bitwise_xor(part, folded, out=folded), weights, out=sums[start : start + step]
        )
    return sums


@lru_cache(maxsize=8)
def _weights(count: int) -> Words:
    """Make odd numbers scattered over 64 bits (the finaliser of splitmix64, Steele and others 2014)."""
    z = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    odd: Words = z ^ (z >> np.uint64(31)) | np.uint64(1)
    return odd


def _digest(
    folder: str, facts: Mapping[str, str], shape: tuple[int, ...], arrays: Mapping[str, NDArray[Any]]
) -> str:
    """Digest all of a file but its lines, and its place: no file is taken for another encoder's."""
    contents = (array.tobytes() for _, array in sorted(arrays.items()))
    return digest(folder, facts["form"], facts["dim"], str(shape), *sorted(arrays), *contents).hex()


def write_file(path: Path, content: bytes) -> None:
    """Write a file that is there whole or not at all, even after the power has failed."""
    with replacing(path) as temporary:
        temporary.write_bytes(content)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk, where the system can do that."""
    with suppress(OSError):  # Windows opens no folders
        sync(folder)
