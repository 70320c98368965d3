"""Vectors as files that all machines of a cluster see: written once, named by their content.

A set of vectors is a list (JSON: encoder, dimensions, type, rows, files with checksums) and its shards
(`.npy`), in one folder. A shard is named by its checksum, so equal ones are written once, whoever needs them.
"""

from __future__ import annotations

import io
import json
from dataclasses import asdict, dataclass
from functools import cached_property

import numpy as np

from xlingual.errors import InputError, XlingualError
from xlingual.ranking.folders import Folder, FolderLike, open_folder
from xlingual.ranking.parts import vectors_digest
from xlingual.ranking.vectors import UnitVectors
from xlingual.records import digest

FORMAT = "xlingual-shards/1"
FOLDER = "vectors"  # within the shared folder


class MissingShardError(InputError):
    """A file of vectors is not where it was written."""


@dataclass(frozen=True)
class Shard:
    """One file of vectors; its checksum covers type, dimensions, rows and content."""

    file: str
    rows: int
    checksum: str  # hexadecimal


@dataclass(frozen=True)
class ShardList:
    """The vectors of one encoder in shards, in order."""

    dim: int
    dtype: str  # as numpy writes it: "<f4"
    shards: tuple[Shard, ...]
    encoder: str | None = None  # its identity, where it is known

    @property
    def rows(self) -> int:
        """Number of vectors."""
        return sum(shard.rows for shard in self.shards)

    @cached_property
    def digest(self) -> str:
        """What identifies the vectors and how they are cut."""
        return digest(FORMAT, self.encoder or "", *(shard.checksum for shard in self.shards)).hex()

    @property
    def bounds(self) -> list[slice]:
        """The rows of each shard."""
        ends = np.cumsum([shard.rows for shard in self.shards]).tolist()
        return [slice(end - shard.rows, end) for end, shard in zip(ends, self.shards, strict=True)]

    def to_json(self) -> str:
        """Return the content of the list's file."""
        about = {"schema": FORMAT, "encoder": self.encoder, "digest": self.digest, "dim": self.dim}
        sizes = {"dtype": self.dtype, "rows": self.rows}
        return json.dumps({**about, **sizes, "shards": [asdict(shard) for shard in self.shards]}, indent=1)


def write_shards(
    shared: FolderLike, vectors: UnitVectors, rows: int, *, encoder: str | None = None
) -> ShardList:
    """Write the stored vectors in shards of so many rows, and their list; files that are there stay.

    Raises InputError where the folder cannot be written to.
    """
    folder = open_folder(shared, FOLDER)
    there = folder.names()
    shards = []
    try:
        for start in range(0, len(vectors), rows):
            part = slice(start, min(start + rows, len(vectors)))
            checksum = vectors_digest(vectors, part).hex()
            shard = Shard(f"{checksum}.npy", part.stop - part.start, checksum)
            if shard.file not in there:
                _write(folder, shard.file, vectors.raw[vectors.rows[part]])
                there.add(shard.file)
            shards.append(shard)
        found = ShardList(vectors.dim, vectors.raw.dtype.str, tuple(shards), encoder)
        if f"{found.digest}.json" not in there:
            folder.write(f"{found.digest}.json", found.to_json().encode())
    except OSError as error:
        raise InputError(
            f"the shared folder {shared} cannot be written to ({error.strerror or error}): choose another "
            "one with --shared"
        ) from error
    return found


def check_alike(queries: ShardList, candidates: ShardList) -> None:
    """Raise InputError where two sets of shards do not lie in one space."""
    if queries.dim != candidates.dim:
        raise InputError(
            f"the shards of the queries have {queries.dim} dimensions, those of the candidates "
            f"{candidates.dim}: both must come from one encoder"
        )
    if queries.encoder and candidates.encoder and queries.encoder != candidates.encoder:
        raise InputError(
            f"the shards of the queries are of encoder {queries.encoder!r}, those of the candidates of "
            f"{candidates.encoder!r}: both must come from one encoder"
        )


def read_shard(shared: FolderLike, shard: Shard, dim: int, dtype: str) -> UnitVectors:
    """Return the vectors of a shard, mapped into memory where it is a local file.

    Raises MissingShardError, InputError where it is of other vectors, XlingualError where its checksum is
    wrong: then it is removed, so that the next run writes it again.
    """
    folder = open_folder(shared, FOLDER)
    path = folder.local(shard.file)
    try:
        if path is not None:
            array = np.load(path, mmap_mode="r", allow_pickle=False)
        else:
            array = np.load(io.BytesIO(folder.read(shard.file)), allow_pickle=False)
    except FileNotFoundError as error:
        raise MissingShardError(
            f"the shard {shard.file} is missing in {folder}: something removed it; run the same again, which "
            "writes it anew"
        ) from error
    except (ValueError, EOFError) as error:
        raise _damaged(folder, shard) from error
    if array.ndim != 2 or array.shape[1] != dim or array.dtype.str != dtype:
        raise InputError(
            f"the shard {shard.file} in {folder} holds {array.dtype} of shape {array.shape}, expected "
            f"{np.dtype(dtype)} of {dim} dimensions: it is of another encoder"
        )
    vectors = UnitVectors(array)
    if vectors_digest(vectors).hex() != shard.checksum:
        raise _damaged(folder, shard)
    return vectors


def _damaged(folder: Folder, shard: Shard) -> XlingualError:
    folder.remove(shard.file)
    return XlingualError(
        f"the shard {shard.file} in {folder} is not as it was written (its checksum is wrong) and was "
        "removed: run the same again, which writes it anew"
    )


def _write(folder: Folder, name: str, vectors: np.ndarray) -> None:
    buffer = io.BytesIO()
    np.save(buffer, np.ascontiguousarray(vectors), allow_pickle=False)
    folder.write(name, buffer.getvalue())
