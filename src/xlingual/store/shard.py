"""A shard: some vectors with their keys and checksums in one .safetensors file, mapped into memory."""

from __future__ import annotations

import json
import mmap
import os
import sys
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeAlias
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from xlingual.forms import OtherVectors, form_of
from xlingual.store.checksum import Words, key_sums, key_words, row_checksums, row_sums
from xlingual.store.disk import write_file
from xlingual.store.journal import ShardLine
from xlingual.store.ragged import RaggedShard, ragged_checksums, tensors_of

SUFFIX = ".safetensors"
_LONGEST_HEADER = 1 << 12  # bytes; ours have a few hundred


class BrokenShardError(Exception):
    """A shard is not as it was written; the text says in what."""


@dataclass(frozen=True)
class MemoryShard:
    """Rows that are not on the disk, because nothing can be written there; see `FileShard`."""

    keys: Words
    truncated: NDArray[np.bool_] | None
    array: NDArray[Any]
    name: str = "memory"

    @property
    def dim(self) -> int:
        """How many dimensions its vectors have."""
        return int(self.array.shape[1])

    def __len__(self) -> int:
        return len(self.array)

    def vectors(self, most: bool = True) -> NDArray[Any]:
        """Return the vectors [n, d]."""
        return self.array

    def whole(self, vectors: NDArray[Any], rows: Any) -> bool:  # noqa: ANN401
        """Return True."""
        return True


@dataclass(frozen=True)
class FileShard:
    """Rows in a file, whose vectors begin at the byte `offset`.

    They have keys [n, 2], checksums [n] and, where the encoder notes it, which texts were cut [n].
    """

    path: Path
    line: ShardLine
    offset: int
    keys: Words
    checksums: Words
    truncated: NDArray[np.bool_] | None

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

    @cached_property
    def _sums(self) -> Words:
        """What the sums over its rows must be."""
        return self.checksums ^ key_sums(self.keys)

    def vectors(self, most: bool = True) -> NDArray[Any]:
        """Return the vectors [n, d], mapped: the file is open no longer than the array lives.

        `most`: most of them will be used, so that the system may map them all at once. Raises
        BrokenShardError where the file is gone or cut short.
        """
        shape, kind = (self.line.rows, self.line.dim), {"access": mmap.ACCESS_READ}
        if most and sys.platform == "linux":  # all pages in one call, not one for each
            kind = {"flags": mmap.MAP_SHARED | mmap.MAP_POPULATE, "prot": mmap.PROT_READ}
        try:
            with self.path.open("rb") as handle:
                mapped = mmap.mmap(handle.fileno(), 0, **kind)
            return np.frombuffer(mapped, self.line.dtype, shape[0] * shape[1], self.offset).reshape(shape)
        except (OSError, ValueError) as error:
            raise BrokenShardError(_reason(error)) from error

    def whole(self, vectors: NDArray[Any], rows: Any) -> bool:  # noqa: ANN401  (what indexes an array)
        """Return whether the vectors of some rows are as they were written."""
        return bool((row_sums(vectors) == self._sums[rows]).all())


Shard: TypeAlias = FileShard | MemoryShard | RaggedShard


def write_shard(
    folder: Path, keys: Words, vectors: NDArray[Any], truncated: NDArray[np.bool_] | None
) -> FileShard:
    """Write a shard under a new name, whole or not at all; raise OSError where that fails."""
    from safetensors.numpy import save

    rows, dim = vectors.shape
    tensors: dict[str, NDArray[Any]] = {
        "vectors": vectors,
        "keys": np.ascontiguousarray(keys).astype("<u8").view(np.uint8).reshape(rows, 16),
        "checksums": row_checksums(vectors, keys),
    }
    if truncated is not None:
        tensors["truncated"] = np.ascontiguousarray(truncated, dtype=np.bool_)
    content = save(tensors, {"format": "xlingual/vectors/1"})
    name = f"{uuid4().hex}{SUFFIX}"
    head, offset = _head(content)
    line = ShardLine(name, rows, dim, vectors.dtype.name, head)
    write_file(folder / name, content)
    return FileShard(folder / name, line, offset, keys, tensors["checksums"], truncated)


def write_ragged(
    folder: Path,
    keys: Words,
    vectors: OtherVectors,
    truncated: NDArray[np.bool_] | None,
    dtype: Any,  # noqa: ANN401
) -> RaggedShard:
    """Write sparse rows, or token vectors, as a shard of its own kind; see `write_shard`."""
    from safetensors.numpy import save

    own = tensors_of(vectors, dtype)
    tensors = own | {
        "keys": np.ascontiguousarray(keys).astype("<u8").view(np.uint8).reshape(len(keys), 16),
        "checksums": ragged_checksums(own, keys),
    }
    if truncated is not None:
        tensors["truncated"] = np.ascontiguousarray(truncated, dtype=np.bool_)
    content = save(tensors, {"format": "xlingual/ragged/1", "form": form_of(vectors)})
    name = f"{uuid4().hex}{SUFFIX}"
    head, offset = _head(content)
    kept = own["vectors"].dtype.name
    line = ShardLine(name, len(vectors), vectors.shape[1], kept, head, form_of(vectors))
    write_file(folder / name, content)
    own.pop("vectors")
    return RaggedShard(folder / name, line, offset, keys, tensors["checksums"], truncated, own)


def open_shard(folder: Path, line: ShardLine) -> FileShard | RaggedShard:
    """Read all of a shard but its vectors; raise BrokenShardError where it is not what the journal says."""
    path = folder / line.shard
    try:
        with path.open("rb") as handle:
            parts = _parts(handle.read(8 + _LONGEST_HEADER), os.fstat(handle.fileno()).st_size)
            first, after = parts["vectors"].begin, parts["vectors"].end
            handle.seek(0)
            before = handle.read(first)
            handle.seek(after)
            behind = handle.read()
    except OSError as error:
        raise BrokenShardError(_reason(error)) from error
    if _digest(before, behind) != line.head:
        raise BrokenShardError("its head is not as it was written")

    def content(name: str) -> bytes:
        part = parts[name]
        if part.end <= first:
            return before[part.begin : part.end]
        return behind[part.begin - after : part.end - after]

    cut = np.frombuffer(content("truncated"), dtype=np.bool_) if "truncated" in parts else None
    checksums = np.frombuffer(content("checksums"), dtype="<u8").astype(np.uint64, copy=False)
    keys = key_words(content("keys"))
    if not line.form:
        return FileShard(path, line, first, keys, checksums, cut)
    if "bounds" not in parts or ("columns" in parts) is not line.form.startswith("sparse"):
        raise BrokenShardError("tensors missing")
    names = [name for name in ("bounds", "columns") if name in parts]
    more: dict[str, NDArray[Any]] = {name: np.frombuffer(content(name), "<i8") for name in names}
    return RaggedShard(path, line, first, keys, checksums, cut, more)


@dataclass(frozen=True)
class _Part:
    """Where a tensor lies in the file, in bytes."""

    begin: int
    end: int


def _parts(start: bytes, size: int) -> dict[str, _Part]:
    """Return where the tensors of a file lie, from its first bytes; raise BrokenShardError if they do not."""
    length = int.from_bytes(start[:8], "little")
    try:
        if length > min(_LONGEST_HEADER, size - 8):
            raise ValueError(f"a header of {length} bytes")
        header: dict[str, Any] = json.loads(start[8 : 8 + length])
        header.pop("__metadata__", None)
        parts = {}
        for name, tensor in header.items():
            begin, end = (8 + length + int(offset) for offset in tensor["data_offsets"])
            if not 8 + length <= begin <= end <= size:
                raise ValueError("tensors beyond its end")
            parts[name] = _Part(begin, end)
        if not {"vectors", "keys", "checksums"} <= set(parts):
            raise ValueError("tensors missing")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BrokenShardError(f"its header cannot be read ({_reason(error)})") from error
    return parts


def _head(content: bytes) -> tuple[str, int]:
    """Return the checksum of all in a file but its vectors, and where these begin."""
    part = _parts(content[: 8 + _LONGEST_HEADER], len(content))["vectors"]
    return _digest(content[: part.begin], content[part.end :]), part.begin


def _digest(before: bytes, behind: bytes) -> str:
    return blake2b(before + behind, digest_size=16).hexdigest()


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or " ".join(str(error).split()) or type(error).__name__
