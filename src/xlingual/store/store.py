"""The store: a folder with a collection of vectors for each encoder identity. See docs/reference/store.md."""

from __future__ import annotations

import errno
import json
import os
import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from xlingual.arrays import Ints, room_for
from xlingual.errors import InputError, XlingualError, warn, why
from xlingual.forms import form_of, joined_vectors
from xlingual.records import Encoded, digest
from xlingual.store.shard import SUFFIX, BrokenShardError, Shard, Words, key_words, stretch, write_file

VARIABLE = "XLINGUAL_STORE"
_LAYOUT = "-2"  # ends the name of each folder, so that folders of another layout are never met
_IDENTITY = "identity.json"  # its time is the last use
_UNWRITABLE = {errno.EACCES, errno.EPERM, errno.EROFS}
_YOUNG, _DAY = 3600.0, 86400.0  # seconds; a young temporary file may belong to a process that is writing


class DamagedError(XlingualError):
    """Vectors are damaged and left out from now on: find the keys again."""


class Collection:
    """The vectors of one encoder identity: a file for each batch that was added.

    Rows have numbers until a DamagedError, or until another process removes a file. Where the folder cannot
    be written to, or `in_memory`, added rows are in memory.
    """

    def __init__(self, folder: Path, identity: str, *, in_memory: bool = False) -> None:
        self.folder, self.identity = folder, identity
        self._shards: list[Shard] = []
        self._starts: list[int] = [0]  # the number of each shard's first row, and of the next one's
        self._index: tuple[Words, Words, Ints] | None = None  # halves of keys, sorted, and their rows
        self._damaged: set[str] = set()  # names of files that may still be there
        self._is_writable, self._is_marked = not in_memory, False

    def find(self, keys: Sequence[bytes]) -> Ints:
        """Find the number of each key's row [n], -1 where there is none; keys have 16 bytes."""
        names = {path.name for path in _files(self.folder)} - self._damaged
        present = {shard.path.name for shard in self._shards if shard.held is None}
        if not present <= names:
            self._use(shard for shard in self._shards if shard.held is not None or shard.path.name in names)
        for name in sorted(names - present):
            try:
                self._append(Shard.open(self.folder / name))
            except BrokenShardError as error:
                self._leave_out(self.folder / name, error)
        if self._shards and not self._is_marked:
            self._is_marked = True
            with suppress(OSError):
                os.utime(self.folder / _IDENTITY)
        rows = np.full(len(keys), -1, dtype=np.int64)
        if not self._shards or not len(keys):
            return rows
        if self._index is None:
            words = np.concatenate([shard.keys for shard in self._shards])
            order = np.argsort(words[:, 0], kind="stable")  # of equal keys the first one counts
            self._index = words[order, 0], words[order, 1], order
        (first, second, order), wanted = self._index, key_words(keys)
        pending, place = np.arange(len(keys)), np.searchsorted(first, wanted[:, 0])
        while len(pending):  # several keys may share their first half; hardly ever twice round
            same = first.take(place, mode="clip") == wanted[pending, 0]
            same &= place < len(first)
            pending, place = pending[same], place[same]
            hit = second[place] == wanted[pending, 1]
            rows[pending[hit]] = order[place[hit]]
            pending, place = pending[~hit], place[~hit] + 1
        return rows

    def read(self, numbers: Ints) -> Encoded:
        """Read rows as float32, in their form, and which texts were cut (None: never noted).

        Raises DamagedError, after a warning, where some of them are not as they were written.
        """
        if len(numbers) and not 0 <= numbers.min() <= numbers.max() < self._starts[-1]:
            raise IndexError("no such row in the store")
        first = self._shards[0] if self._shards else None
        out = room_for(len(numbers), 0 if first is None or first.form else first.dim, np.float32)
        cut: NDArray[np.bool_] | None = None
        places, pieces, broken = [], [], []
        shard_of = np.searchsorted(self._starts, numbers, side="right") - 1
        order = np.argsort(numbers, kind="stable")  # as they lie in the files: whole stretches need one copy
        for place in np.split(order, np.flatnonzero(np.diff(shard_of[order])) + 1) if len(order) else []:
            number = int(shard_of[place[0]])
            shard, rows = self._shards[number], numbers[place] - self._starts[number]
            try:
                vectors = shard.read(rows)
            except BrokenShardError as error:
                broken.append(shard)
                self._leave_out(shard.path, error)
                continue
            if shard.form:
                places.append(place)
                pieces.append(vectors)
            else:
                out[stretch(place)] = vectors
            if shard.truncated is not None:
                cut = np.zeros(len(numbers), dtype=np.bool_) if cut is None else cut
                cut[place] = shard.truncated[rows]
        if broken:
            self._use(shard for shard in self._shards if shard not in broken)
            raise DamagedError(f"{self.folder}: damaged vectors were left out")
        if not pieces:
            return Encoded(out, cut)
        order[np.concatenate(places)] = np.arange(len(numbers))
        return Encoded(joined_vectors(pieces)[order], cut)

    def add(self, keys: Sequence[bytes], encoded: Encoded) -> None:
        """Keep vectors under their keys, in one file that is whole on the disk when this returns.

        Raises XlingualError where that fails (what was added before stays), InputError where the vectors do
        not fit to those that are here.
        """
        self.find(())  # rows of other processes come first
        form, dim = form_of(encoded.vectors), encoded.vectors.shape[1]
        for first in self._shards[:1]:
            if (form, dim) != (first.form, first.dim):
                raise InputError(
                    f"encoder {self.identity!r} gives {form or 'dense'} vectors of {dim} dimensions, those "
                    f"in the store {self.folder.parent} are {first.form or 'dense'} of {first.dim}: an "
                    "identity must change when vectors do; remove them with xlingual store clean --encoder"
                )
        if not len(keys):
            return
        shard = Shard.of(keys, encoded)
        try:
            shard = self._written(shard) if self._is_writable else shard
        except OSError as error:
            root = self.folder.parent
            if error.errno not in _UNWRITABLE:
                raise XlingualError(
                    f"writing to the store {root} failed ({why(error)}); the {self._starts[-1]:,} vectors of "
                    "this encoder that are in it stay: free some space, or choose another folder with "
                    "--store DIR, and run the same again: it goes on from there"
                ) from error
            self._is_writable = False
            warn(
                f"the store {root} cannot be written to ({error.strerror}): vectors are not kept; choose "
                "another folder with --store DIR, or --no-store"
            )
        self._append(shard)

    def _written(self, shard: Shard) -> Shard:
        self.folder.mkdir(parents=True, exist_ok=True)
        if _facts(self.folder).get("identity") != self.identity:
            text = json.dumps({"identity": self.identity}, ensure_ascii=False)
            write_file(self.folder / _IDENTITY, text.encode())
        return shard.write(self.folder)

    def _append(self, shard: Shard) -> None:
        self._shards.append(shard)
        self._starts.append(self._starts[-1] + len(shard.keys))
        self._index = None

    def _use(self, shards: Iterable[Shard]) -> None:
        shards = list(shards)
        self._shards, self._starts, self._index = [], [0], None
        for shard in shards:
            self._append(shard)

    def _leave_out(self, path: Path, error: BrokenShardError) -> None:
        """Remove a damaged file, with a warning."""
        self._damaged.add(path.name)
        with suppress(OSError):  # it may be read-only
            path.unlink()
        warn(
            f"the store {self.folder.parent} is damaged, {path.name}: {error}: its vectors are left out and "
            f"computed again (encoder {self.identity})"
        )


class Store:
    """A folder of vectors, made when the first are added."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = Path(root)
        if self.root.exists() and not self.root.is_dir():
            raise InputError(f"the store {self.root} is a file: name a folder")
        self._open: dict[str, Collection] = {}

    def collection(self, identity: str) -> Collection:
        """Open the vectors of an encoder."""
        if identity not in self._open:
            folder = self.root / f"{digest(identity).hex()}{_LAYOUT}"
            self._open[identity] = Collection(folder, identity)
        return self._open[identity]

    def folders(self) -> list[Path]:
        """List the folders of all collections."""
        return sorted(path.parent for path in self.root.glob(f"*{_LAYOUT}/{_IDENTITY}"))

    def __repr__(self) -> str:
        return f"Store({str(self.root)!r})"


StoreLike: TypeAlias = "Store | str | os.PathLike[str] | None"


def open_store(store: StoreLike) -> Store | None:
    """Open the store that a folder names, "default" the user's; None stays None."""
    if store is None or isinstance(store, Store):
        return store
    return Store(default_folder() if store == "default" else store)


def default_folder() -> Path:
    """Name the folder XLINGUAL_STORE, else `xlingual/vectors` in the system's place for a user's caches."""
    import platformdirs

    if folder := os.environ.get(VARIABLE):
        return Path(folder)
    # without the opinion that Windows has a folder "Cache" within that of each program
    return platformdirs.user_cache_path("xlingual", False, opinion=False) / "vectors"


@dataclass(frozen=True)
class Holding:
    """The vectors of one encoder in a store."""

    identity: str
    dim: int | None
    shards: int
    vectors: int
    size: int  # bytes
    used: float  # seconds since 1970
    damaged: dict[str, str]  # file → a sentence
    folder: Path


@dataclass(frozen=True)
class Freed:
    """The files that were removed."""

    files: int
    size: int  # bytes
    encoders: tuple[str, ...]  # all of whose vectors went
    damaged: tuple[str, ...]  # a sentence for each damaged file


def holdings(store: Store, encoder: str | None = None, *, verified: bool = False) -> Iterator[Holding]:
    """List what the store holds of each encoder; nothing is changed.

    `encoder`: only those whose identity, or folder, it is or matches (with * and ?). `verified`: the
    checksums of all vectors are compared, not those of the files' heads alone.
    """
    folders = [path for path in store.folders() if encoder in (None, path.name)]
    if encoder is not None and not folders:
        folders = [path for path in store.folders() if fnmatchcase(_identity(path), encoder)]
        if not folders:
            raise InputError(
                f"the store {store.root} has no vectors of {encoder!r}: xlingual store list names what it "
                "has; * stands for any letters"
            )
    for folder in folders:
        shards: list[Shard] = []
        damaged: dict[str, str] = {}
        for path in sorted(_files(folder)):
            try:
                shards.append(Shard.open(path))
                if verified:
                    shards[-1].read()
            except BrokenShardError as error:
                damaged[path.name] = f"{path}: {error}"
        whole = [shard for shard in shards if shard.path.name not in damaged]
        yield Holding(
            _identity(folder),
            whole[0].dim if whole else None,
            len(whole),
            sum(len(shard.keys) for shard in whole),
            sum(path.stat().st_size for path in folder.iterdir() if path.exists()),
            (folder / _IDENTITY).stat().st_mtime,
            damaged,
            folder,
        )


def clean(store: Store, *, older_than: float | None = None, encoder: str | None = None) -> Freed:
    """Remove damaged files and those that killed programs left; or whole encoders.

    `older_than` removes the vectors of encoders that were not used for so many days, `encoder` of those whose
    identity it is or matches; with both, what fits both. Temporary files stay for an hour: another process
    may be writing them.
    """
    files = size = 0
    encoders: list[str] = []
    damaged: list[str] = []
    now = time.time()
    for holding in holdings(store, encoder, verified=True):
        unused, folder = max(0.0, now - holding.used), holding.folder
        whole = (older_than is not None or encoder is not None) and unused >= (older_than or 0.0) * _DAY
        if whole:
            paths = list(folder.iterdir())
            encoders.append(holding.identity)
        else:
            damaged += holding.damaged.values()
            left = (path for path in folder.glob(".*") if now - path.stat().st_mtime > _YOUNG)
            paths = [*(folder / name for name in holding.damaged), *left]
        for path in paths:
            with suppress(OSError):
                amount = path.stat().st_size
                path.unlink()
                files, size = files + 1, size + amount
        if whole:
            shutil.rmtree(folder, ignore_errors=True)
    return Freed(files, size, tuple(encoders), tuple(damaged))


def _files(folder: Path) -> list[Path]:
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return [folder / name for name in names if name.endswith(SUFFIX) and not name.startswith(".")]


def _facts(folder: Path) -> dict[str, Any]:
    """Read the file that names a folder's encoder; {} where it is damaged or missing."""
    with suppress(OSError, ValueError):
        facts = json.loads((folder / _IDENTITY).read_text(encoding="utf-8"))
        return facts if isinstance(facts, dict) else {}
    return {}


def _identity(folder: Path) -> str:
    return str(_facts(folder).get("identity", folder.name))
