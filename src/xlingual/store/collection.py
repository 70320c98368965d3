"""The vectors of one encoder: found by key, read from mapped files, checked as they are read."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xlingual.arrays import Ints, Vectors, room_for
from xlingual.errors import InputError, XlingualError, warn
from xlingual.forms import OtherVectors, form_of, is_dense, joined_vectors
from xlingual.records import Encoded
from xlingual.store.checksum import Words, key_words
from xlingual.store.disk import is_full, is_unwritable, write_file
from xlingual.store.journal import NAME, Journal
from xlingual.store.ragged import DamagedRowsError, RaggedShard, in_memory, tensors_of
from xlingual.store.shard import (
    BrokenShardError,
    FileShard,
    MemoryShard,
    Shard,
    open_shard,
    write_ragged,
    write_shard,
)

IDENTITY = "identity.json"
_BLOCK_BYTES = 1 << 21  # copied and checked at a time, so that they are still in the processor's cache
_MOST = 1 / 8  # share of a shard above which all of it is mapped at once


class DamagedError(XlingualError):
    """Vectors that were found are damaged and left out from now on: find the keys again."""


class Collection:
    """The vectors of one encoder identity, in one folder.

    Rows have numbers, which stay theirs as long as the object lives. Where the folder cannot be written to,
    added rows are kept in memory.
    """

    def __init__(self, folder: Path, identity: str, *, half: bool = False) -> None:
        self.folder, self.identity = folder, identity
        self._dtype = np.dtype(np.float16 if half else np.float32)
        self._journal = Journal(folder / NAME, folder.name)
        self._shards: list[Shard] = []
        self._starts: list[int] = [0]  # the number of each shard's first row, and of the next one's
        self._names: set[str] = set()
        self._dead: set[int] = set()  # places in `_shards`
        self._index: tuple[Words, Ints, Ints] | None = None
        self._writable = True
        self._made = self._touched = False

    @property
    def dim(self) -> int | None:
        """How many dimensions its vectors have; None where there are none."""
        return next((shard.dim for place, shard in enumerate(self._shards) if place not in self._dead), None)

    @property
    def form(self) -> str:
        """The form of its vectors, "" of arrays."""
        live = (shard for place, shard in enumerate(self._shards) if place not in self._dead)
        return next((shard.line.form for shard in live if isinstance(shard, RaggedShard)), "")

    def find(self, keys: Sequence[bytes]) -> Ints:
        """Return the number of each key's row [n], -1 where there is none; keys have 16 bytes."""
        self._refresh()
        wanted = key_words(b"".join(keys))
        known, second, order = self._indexed()
        place = np.searchsorted(known, wanted[:, 0])
        found = np.full(len(wanted), -1, dtype=np.int64)
        pending = np.arange(len(wanted))
        while len(pending):  # several keys may share their first half; hardly ever twice round
            at = place[pending]
            within = at < len(known)
            pending, at = pending[within], at[within]
            same = known[at] == wanted[pending, 0]
            pending, at = pending[same], at[same]
            hit = second[at] == wanted[pending, 1]
            found[pending[hit]] = order[at[hit]]
            pending = pending[~hit]
            place[pending] += 1
        return found

    def read(self, numbers: Ints) -> Encoded:
        """Return the vectors of rows as float32, in their form, and which texts were cut (None: never noted).

        Raises DamagedError, after a warning, where some of them are not as they were written.
        """
        if len(numbers) and not 0 <= numbers.min() <= numbers.max() < self._starts[-1]:
            raise IndexError("no such row in the store")
        ragged = bool(self.form)
        out = room_for(len(numbers), 0 if ragged else self.dim or 0, np.float32)
        pieces: list[tuple[Ints, OtherVectors]] = []
        shard_of = np.searchsorted(self._starts, numbers, side="right") - 1
        order = np.argsort(numbers, kind="stable")  # as they lie in the files: whole stretches need one copy
        cut: NDArray[np.bool_] | None = None
        broken = False
        for lines in np.split(order, np.flatnonzero(np.diff(shard_of[order])) + 1) if len(order) else []:
            place = int(shard_of[lines[0]])
            shard, rows = self._shards[place], numbers[lines] - self._starts[place]
            try:
                if isinstance(shard, RaggedShard):
                    pieces.append((lines, shard.read(rows)))
                else:
                    _copy(shard, rows, out, lines)
            except (BrokenShardError, DamagedRowsError) as error:
                self._dead.add(place)
                self._index, broken = None, True
                self._warn_of_dropped(shard.name, f"{len(shard):,} vectors in {shard.name}: {error}")
            if shard.truncated is not None:
                cut = np.zeros(len(numbers), dtype=np.bool_) if cut is None else cut
                cut[lines] = shard.truncated[rows]
        if broken:
            raise DamagedError(f"{self.folder}: damaged vectors were left out")
        if ragged and pieces:
            order[np.concatenate([lines for lines, _ in pieces])] = np.arange(len(numbers))
            return Encoded(joined_vectors([found for _, found in pieces])[order], cut)
        return Encoded(out, cut)

    def add(self, keys: Sequence[bytes], encoded: Encoded) -> None:
        """Keep vectors [n, d] under their keys, as one shard that is whole on the disk when this returns.

        Raises XlingualError where the disk is full (what was added before is kept), InputError where the
        vectors do not fit to those that are here.
        """
        self._refresh()  # of several vectors of one key, the first in the journal counts
        vectors = self._fitting(encoded.vectors)
        words = key_words(b"".join(keys))
        cut = None if encoded.truncated is None else np.asarray(encoded.truncated, dtype=np.bool_)
        if len(vectors) == 0:
            return
        shard: Shard = (
            MemoryShard(words, cut, vectors)
            if isinstance(vectors, np.ndarray)
            else in_memory(words, vectors, cut, self._dtype)
        )
        if self._writable:
            try:
                shard = self._written(words, vectors, cut)
            except OSError as error:
                self._refuse_unless_unwritable(error)
        self._append(shard)

    def _written(
        self, words: Words, vectors: NDArray[Any] | OtherVectors, cut: NDArray[np.bool_] | None
    ) -> FileShard | RaggedShard:
        self._make()
        shard: FileShard | RaggedShard
        if isinstance(vectors, np.ndarray):
            shard = write_shard(self.folder, words, vectors, cut)
        else:
            shard = write_ragged(self.folder, words, vectors, cut, self._dtype)
        try:
            self._journal.add(shard.line)
        except BaseException:
            with suppress(OSError):
                shard.path.unlink()
            raise
        return shard

    def _make(self) -> None:
        """Make the folder, with a file that names its encoder."""
        if self._made and self.folder.is_dir():
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        path, content = self.folder / IDENTITY, {"identity": self.identity, "dtype": self._dtype.name}
        text = json.dumps(content, ensure_ascii=False).encode()
        if not path.is_file() or path.read_bytes() != text:
            write_file(path, text)
        self._made = True

    def _fitting(self, vectors: Any) -> NDArray[Any] | OtherVectors:  # noqa: ANN401  (AnyVectors)
        vectors = np.asarray(vectors) if is_dense(vectors) else vectors
        if self.dim is not None and form_of(vectors) != self.form:
            raise InputError(
                f"encoder {self.identity!r} gives {form_of(vectors) or 'dense'} vectors, those in the store "
                f"{self.folder.parent} are {self.form or 'dense'}: an identity must change when vectors do; "
                "remove the old ones with xlingual store gc --encoder"
            )
        if self.dim not in (None, vectors.shape[1]):
            raise InputError(
                f"encoder {self.identity!r} gives {vectors.shape[1]} dimensions, its vectors in the store "
                f"{self.folder.parent} have {self.dim}: an identity must change when vectors do; remove the "
                "old ones with xlingual store gc --encoder"
            )
        if not is_dense(vectors):
            other: OtherVectors = vectors
            with np.errstate(over="ignore"):
                numbers = tensors_of(other, self._dtype)["vectors"]
            self._refuse_infinite(numbers)
            return other
        with np.errstate(over="ignore"):
            found = np.ascontiguousarray(vectors, dtype=self._dtype)
        self._refuse_infinite(found)
        return found

    def _refuse_infinite(self, numbers: NDArray[Any]) -> None:
        if self._dtype == np.float16 and not np.isfinite(numbers).all():
            raise InputError(
                f"encoder {self.identity!r}: a number in its vectors is too large for half precision: leave "
                "out --half"
            )

    def _refuse_unless_unwritable(self, error: OSError) -> None:
        """Go on in memory, with a warning, where nothing can be written; else raise XlingualError."""
        root = self.folder.parent
        if is_unwritable(error):
            self._writable = False
            warn(
                f"the store {root} cannot be written to ({error.strerror}): vectors are not kept; choose "
                "another folder with --store DIR, or --no-store"
            )
            return
        kept = f"the {self._starts[-1]:,} vectors of this encoder that are in it stay"
        if is_full(error):
            raise XlingualError(
                f"the disk of the store {root} is full ({error.strerror}): {kept}; free some space or choose "
                "another folder with --store DIR, and run the same again: it goes on from there"
            ) from error
        raise XlingualError(
            f"writing to the store {root} failed ({error.strerror or error}): {kept}; mend it, choose "
            "another folder with --store DIR, or --no-store"
        ) from error

    def _append(self, shard: Shard) -> None:
        self._shards.append(shard)
        self._starts.append(self._starts[-1] + len(shard))
        self._names.add(shard.name)
        self._index = None

    def _refresh(self) -> None:
        """Take in what this or another process has added."""
        if self._journal.refresh():
            self._open_shards()
        if not self._touched and self._shards:
            self._touched = True
            with suppress(OSError):
                os.utime(self.folder / IDENTITY)  # when it was last used

    def _open_shards(self) -> None:
        live = {line.shard: line for line in self._journal.live()}
        for place, shard in enumerate(self._shards):
            if shard.name not in live and shard.name != "memory":
                self._dead.add(place)  # another process found it damaged
                self._index = None
        broken = []
        for name, line in live.items():
            if name in self._names:
                continue
            try:
                self._append(open_shard(self.folder, line))
            except BrokenShardError as error:
                self._names.add(name)
                broken.append((name, f"{line.rows:,} vectors in {name}: {error}"))
        broken += [(mark, f"a {mark} of its journal") for mark in self._journal.unseen_damage()]
        for name, what in broken:
            self._warn_of_dropped(name, what)

    def _warn_of_dropped(self, name: str, what: str) -> None:
        with suppress(OSError):  # it may be read-only
            self._journal.drop(name)
        warn(
            f"the store {self.folder.parent} is damaged, {what}: they are left out and computed again "
            f"(encoder {self.identity})"
        )

    def _indexed(self) -> tuple[Words, Ints, Ints]:
        """Return the first halves of all keys in ascending order, their second halves, their numbers."""
        if self._index is None:
            live = [place for place in range(len(self._shards)) if place not in self._dead]
            keys = [self._shards[place].keys for place in live]
            numbers = [np.arange(self._starts[place], self._starts[place + 1]) for place in live]
            words = np.concatenate(keys) if keys else np.empty((0, 2), dtype=np.uint64)
            number = np.concatenate(numbers) if numbers else np.empty(0, dtype=np.int64)
            order = np.argsort(words[:, 0], kind="stable")
            self._index = words[order, 0], words[order, 1], number[order]
        return self._index


def _copy(shard: FileShard | MemoryShard, rows: Ints, out: Vectors, lines: Ints) -> None:
    """Copy rows of a shard to lines of `out`; raise BrokenShardError where they are not as written."""
    vectors = shard.vectors(most=len(rows) > _MOST * len(shard))
    size = max(1, _BLOCK_BYTES // max(1, vectors.shape[1] * vectors.itemsize))
    for start in range(0, len(rows), size):
        chosen, to = rows[start : start + size], lines[start : start + size]
        view, where = _stretch(chosen), _stretch(to)
        block = vectors.take(chosen, axis=0) if view is None else vectors[view]
        if not shard.whole(block, chosen):
            raise BrokenShardError("vectors are not as they were written")
        out[to if where is None else where] = block


def _stretch(index: Ints) -> slice | None:
    """Return the slice that ascending numbers without a gap are; None where they are not."""
    follow = index[-1] - index[0] == len(index) - 1 and (np.diff(index) == 1).all()
    return slice(int(index[0]), int(index[-1]) + 1) if follow else None
