"""Maintenance of a store: list its vectors, verify them, remove unused ones, export them."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TypeAlias

import numpy as np

from xlingual.errors import InputError
from xlingual.files import atomic_file, make_folder, writing
from xlingual.forms import form_of, joined_vectors
from xlingual.store.collection import IDENTITY
from xlingual.store.disk import TEMPORARY
from xlingual.store.journal import NAME, Journal
from xlingual.store.ragged import DamagedRowsError, RaggedShard, tensors_of
from xlingual.store.shard import SUFFIX, BrokenShardError, FileShard, open_shard
from xlingual.store.store import Store

_YOUNG = 3600.0  # seconds in which a file without a journal line may belong to a process that is writing
_BLOCK = 4096
_DAY = 86400.0
Kept: TypeAlias = FileShard | RaggedShard


@dataclass(frozen=True)
class Holding:
    """The vectors of one encoder in a store."""

    identity: str
    dtype: str
    dim: int | None
    vectors: int
    size: int  # bytes
    used: float  # seconds since 1970
    damaged: int  # shards and lines of the journal whose damage nobody has met yet
    folder: Path


@dataclass(frozen=True)
class Checked:
    """The result of checking all checksums: how many shards and vectors are whole, and the damage."""

    identity: str
    shards: int
    vectors: int
    damaged: tuple[str, ...]  # one sentence each


@dataclass(frozen=True)
class Freed:
    """What was removed."""

    files: int
    size: int  # bytes
    encoders: tuple[str, ...]  # all of whose vectors went
    damaged: tuple[str, ...] = ()  # the damage that checking all checksums found, one sentence each


def holdings(store: Store, encoder: str | None = None) -> list[Holding]:
    """Return what the store holds of each encoder, the last used first."""
    found = []
    for folder in _chosen(store, encoder):
        identity, dtype = _named(folder)
        journal, shards, broken = _opened(folder)
        found.append(
            Holding(
                identity,
                dtype,
                shards[0].dim if shards else None,
                sum(map(len, shards)),
                sum(_size(path) for path in folder.iterdir()),
                (folder / IDENTITY).stat().st_mtime,
                len(broken) + len(journal.unseen_damage()),
                folder,
            )
        )
    return sorted(found, key=lambda one: -one.used)


def verify(store: Store, encoder: str | None = None) -> Iterator[Checked]:
    """Check every checksum of the store, and report what was found of each encoder; nothing is changed."""
    for folder in _chosen(store, encoder):
        _, whole, broken = _verified(folder)
        yield Checked(_named(folder)[0], len(whole), sum(map(len, whole)), tuple(broken.values()))


def collect_garbage(store: Store, *, older_than: float | None = None, encoder: str | None = None) -> Freed:
    """Remove files that count no longer; with `older_than` (days) or `encoder` also whole encoders.

    Every checksum of the vectors that stay is verified: damaged ones are removed, and computed again when
    needed. Files that the journal does not name stay for an hour: another process may be writing them.
    `older_than` removes encoders whose vectors were not used for so many days, `encoder` those whose identity
    it is, or matches (with * and ?); with both, what fits both.
    """
    files = size = 0
    gone, damaged = [], []
    for folder in _chosen(store, encoder):
        identity, _ = _named(folder)
        unused = max(0.0, time.time() - (folder / IDENTITY).stat().st_mtime)
        whole = (older_than is not None or encoder is not None) and unused >= (older_than or 0.0) * _DAY
        if whole:  # the journal first: no line without its shard
            paths = sorted(folder.iterdir(), key=lambda path: path.name != NAME)
        else:
            damaged += _drop_damaged(folder)
            paths = list(_orphans(folder))
        for path in paths:
            amount = _size(path)
            with suppress(OSError):
                path.unlink()
                files, size = files + 1, size + amount
        if whole:
            gone.append(identity)
            shutil.rmtree(folder, ignore_errors=True)
    return Freed(files, size, tuple(gone), tuple(damaged))


def export(store: Store, out: Path, encoder: str | None = None) -> list[tuple[str, Path, int]]:
    """Write the vectors of each encoder to `out`: vectors [n, d], keys [n, 16], and whose they are.

    Return (identity, file of vectors, number of vectors) of each; raise InputError where some are damaged.
    """
    make_folder(out)
    written = []
    for folder in _chosen(store, encoder):
        identity, _ = _named(folder)
        _, shards, broken = _opened(folder)
        if broken:
            raise _refused(next(iter(broken.values())))
        if not shards:
            continue
        ragged = [shard for shard in shards if isinstance(shard, RaggedShard)]
        dense = [shard for shard in shards if isinstance(shard, FileShard)]
        if ragged:
            written.append((identity, *_export_ragged(out / f"{folder.name}.npz", ragged)))
            continue
        path = out / f"{folder.name}.npy"
        shape = sum(map(len, dense)), dense[0].dim
        keys = np.concatenate([shard.keys for shard in dense]).astype("<u8").view(np.uint8)
        with atomic_file(path) as whole, whole.open("wb") as file:
            dtype = np.dtype(dense[0].line.dtype)
            header = {"descr": dtype.str, "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(file, header)
            for shard in dense:  # not mapped: a full disk would end the program
                try:
                    _check(shard)
                except BrokenShardError as error:
                    raise _refused(f"{shard.path}: {error}") from error
                file.write(np.ascontiguousarray(shard.vectors(), dtype).tobytes())
        with writing(path):
            np.save(out / f"{folder.name}.keys.npy", keys.reshape(-1, 16))
            shutil.copyfile(folder / IDENTITY, out / f"{folder.name}.json")
        written.append((identity, path, shape[0]))
    return written


def _export_ragged(path: Path, shards: Sequence[RaggedShard]) -> tuple[Path, int]:
    """Write sparse rows or token vectors: numbers, bounds of rows, columns of sparse ones, and keys."""
    try:
        vectors = joined_vectors([shard.read(np.arange(len(shard))) for shard in shards])
    except DamagedRowsError as error:
        raise _refused(f"{shards[0].path.parent}: {error}") from error
    keys = np.concatenate([shard.keys for shard in shards]).astype("<u8").view(np.uint8).reshape(-1, 16)
    arrays = tensors_of(vectors, np.float32)
    with atomic_file(path) as whole, whole.open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays, keys=keys, form=np.array(form_of(vectors)))
    return path, len(vectors)


def _refused(what: str) -> InputError:
    return InputError(f"{what}: run what made these vectors once more, then export again")


def _chosen(store: Store, encoder: str | None) -> list[Path]:
    """Return the folders of the encoders whose identity, or folder, is `encoder` or matches it."""
    folders = store.folders()
    if encoder is None:
        return folders
    found = [f for f in folders if encoder == f.name or fnmatchcase(_named(f)[0], encoder)]
    if not found:
        raise InputError(
            f"the store {store.root} has no vectors of {encoder!r}: xlingual store ls lists what it has; "
            "* stands for any letters"
        )
    return found


def _named(folder: Path) -> tuple[str, str]:
    """Return identity and precision of a folder; its name where that file is damaged."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        content = json.loads((folder / IDENTITY).read_text(encoding="utf-8"))
        return str(content["identity"]), str(content["dtype"])
    return folder.name, "float32"


def _verified(folder: Path) -> tuple[Journal, list[Kept], dict[str, str]]:
    """Return the journal, the shards all of whose checksums are right, and the damage: name → sentence."""
    journal, shards, broken = _opened(folder)
    for shard in shards:
        try:
            _check(shard)
        except BrokenShardError as error:
            broken[shard.name] = f"{shard.path}: {error}"
    for mark in journal.unseen_damage():
        broken[mark] = f"{journal.path}: a {mark} is not as it was written"
    return journal, [shard for shard in shards if shard.name not in broken], broken


def _drop_damaged(folder: Path) -> list[str]:
    """Write to the journal that damaged shards count no longer; return the damage."""
    journal, _, broken = _verified(folder)
    with suppress(OSError):  # it may be read-only
        for name in broken:
            journal.drop(name)
    return list(broken.values())


def _opened(folder: Path) -> tuple[Journal, list[Kept], dict[str, str]]:
    """Return the journal, the shards that can be opened, and the damage of the others by name."""
    journal = Journal(folder / NAME, folder.name)
    journal.refresh()
    shards: list[Kept] = []
    broken: dict[str, str] = {}
    for line in journal.live():
        try:
            shards.append(open_shard(folder, line))
        except BrokenShardError as error:
            broken[line.shard] = f"{folder / line.shard}: {error}"
    return journal, shards, broken


def _check(shard: FileShard | RaggedShard) -> None:
    if isinstance(shard, RaggedShard):
        try:
            shard.read(np.arange(len(shard)))
        except DamagedRowsError as error:
            raise BrokenShardError(str(error)) from error
        return
    vectors = shard.vectors()
    parts = (slice(start, start + _BLOCK) for start in range(0, len(shard), _BLOCK))
    if not all(shard.whole(vectors[part], part) for part in parts):
        raise BrokenShardError("vectors are not as they were written")


def _orphans(folder: Path) -> Iterator[Path]:
    """Yield files that no line of the journal needs and no process is writing."""
    journal = Journal(folder / NAME, folder.name)
    journal.refresh()
    live = {line.shard for line in journal.live()}
    for path in list(folder.iterdir()):
        if path.name in live or not path.name.endswith((SUFFIX, TEMPORARY)):
            continue
        with suppress(OSError):
            if path.name in journal.dropped or time.time() - path.stat().st_mtime > _YOUNG:
                yield path


def _size(path: Path) -> int:
    with suppress(OSError):
        return path.stat().st_size
    return 0
