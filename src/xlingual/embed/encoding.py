"""Encoding a batch: no row twice, none that the store has, and the others kept as they are computed."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from xlingual.arrays import Ints, room_for
from xlingual.embed.checks import checked
from xlingual.embed.spent import Spent
from xlingual.encoders import Encoder, Stacked
from xlingual.encoders.runtime import distinct_rows
from xlingual.errors import InputError, XlingualError, warn
from xlingual.forms import dense, form_of, is_dense, joined_vectors
from xlingual.images import read_bytes
from xlingual.records import Encoded, Images, Texts, check_content, content_keys, digest
from xlingual.results.provenance import note_data
from xlingual.store import Collection, DamagedError, Store

Progress: TypeAlias = Callable[[str, int, int], None]  # called with (what, done, total)

SENTENCE = -1  # as total: `what` is a sentence to show once, no piece of work
SHARD_ROWS = 1024  # rows of a shard, where the encoder is fast
SHARD_SECONDS = 30.0  # where it is slow, about so much work is in a shard: all that a crash can lose
PIECE_SECONDS = 3.0  # of work that one encoder is given at once: all that Ctrl-C can lose
_APPLIED = 4096  # rows that a stacked encoder is given at once
_FIRST = 32  # rows whose time shows how fast it is, and of a short piece: a batch of most networks
_ATTEMPTS = 3  # at reading back vectors that were written


@dataclass(frozen=True)
class VectorSource:
    """Where vectors come from: the name of the encoder, the store, and the callback for progress."""

    who: str  # "text encoder 'labse'"
    what: str  # "encoding texts: labse"
    store: Store | None = None
    report: Progress | None = None
    spent: Spent | None = None  # counts the texts that are really encoded


def encode(encoder: Encoder, batch: Texts | Images, source: VectorSource) -> Encoded:
    """Return checked vectors of a batch, in the encoder's form (`forms`), and which texts were cut.

    An encoder that says what its vectors depend on (`content`) encodes equal rows once, and no row that the
    store has. Others get the whole batch as it is. Of an encoder that stands on another (`Stacked`) that
    holds for the one below. The sentences that an encoder's method `notes` returns about the rows that it
    encoded become one DataWarning each.
    """
    found = _encoded(encoder, batch, source)
    for sentence in encoder.notes():
        warn(sentence)
    return found


def _encoded(encoder: Encoder, batch: Texts | Images, source: VectorSource) -> Encoded:
    if isinstance(encoder, Stacked):
        return _stacked(encoder, batch, source)
    keys = row_keys(encoder, batch)
    if keys is None:
        return _checked_answer(encoder, batch, source)
    distinct, inverse = distinct_rows(keys)
    _, rows = np.unique(inverse, return_index=True)
    if source.store is None or not is_kept(encoder):
        kept = _Kept(len(rows))
        _compute(encoder, batch, rows, np.arange(len(rows)), kept.add, source)
        return kept.encoded(inverse)
    return _stored(encoder, batch, rows, distinct, inverse, source.store.collection(encoder.identity), source)


def _stacked(encoder: Stacked, batch: Texts | Images, source: VectorSource) -> Encoded:
    """Return what an encoder makes of the vectors of the one below, a piece at a time."""
    below = replace(source, who=f"the encoder below {source.who}")
    inputs = [encode(encoder.base, part, below) for part in encoder.inputs(batch)]
    kept = _Kept(len(batch))
    for start in range(0, max(len(batch), 1), _APPLIED):
        rows = np.arange(start, min(start + _APPLIED, len(batch)))
        given = [dense(found.vectors, below.who, source.who)[rows] for found in inputs]
        given = [part.astype(np.float32, copy=False) for part in given]
        languages = [batch.language[row] for row in rows.tolist()]
        made = encoder.apply_in(languages, *given)
        kept.add(rows, Encoded(checked(made, len(rows), source.who, batch.ids[start:])))
    cut = [found.truncated for found in inputs if found.truncated is not None]
    return Encoded(kept.encoded(np.arange(len(batch))).vectors, np.logical_or.reduce(cut) if cut else None)


def is_kept(encoder: Encoder) -> bool:
    """Return whether an encoder's vectors may outlive the program: its identity must be its own.

    Of one that stands on another it is the vectors of that one which are kept.
    """
    while isinstance(encoder, Stacked):
        encoder = encoder.base
    return bool(_content(encoder)) and encoder.has_own_identity


def row_keys(encoder: Encoder, batch: Texts | Images) -> list[bytes] | None:
    """Return the key of each row, or None where vectors depend on more than a key holds.

    None also where an image is absent or missing: the encoder, given all of them, says which.
    """
    columns = _content(encoder)
    if not columns or not len(batch):
        return None
    if isinstance(batch, Texts):
        return content_keys(batch, columns)
    check_content(columns, ("bytes",))
    with suppress(InputError):
        keys = [digest(read_bytes(source)) for source in batch.source]
        note_data("images", None, keys, lambda: (digest(*sorted(keys)).hex(), len(keys)))
        return keys
    return None


def _content(encoder: Encoder) -> Sequence[str]:
    return () if encoder.depends_on_batch else encoder.content or ()


def _stored(
    encoder: Encoder,
    batch: Texts | Images,
    rows: Ints,
    keys: list[bytes],
    inverse: Ints,
    collection: Collection,
    source: VectorSource,
) -> Encoded:
    """Return the vectors of the rows with these keys, in the order `inverse`; the store has all of them then.

    Damaged shards are found while reading: their rows are computed again.
    """
    for _ in range(_ATTEMPTS):
        numbers = collection.find(keys)
        missing = np.flatnonzero(numbers < 0)
        if len(missing):
            writer = _Writer(collection, keys)
            try:
                _compute(encoder, batch, rows, missing, writer.add, source)
            finally:  # vectors from before a failure or an interruption are kept
                writer.flush()
            numbers = collection.find(keys)
        try:
            if (numbers >= 0).all():
                return collection.read(numbers[inverse])
        except DamagedError:
            continue
    raise XlingualError(
        f"the store {collection.folder.parent} does not give back what was written to it: its disk may be "
        "failing; choose another folder with --store DIR, or --no-store"
    )


def _compute(
    encoder: Encoder,
    batch: Texts | Images,
    rows: Ints,
    missing: Ints,
    keep: Callable[[Ints, Encoded], None],
    source: VectorSource,
) -> None:
    """Encode the missing ones of the rows, long texts first, and hand each piece to `keep`.

    A piece is short while the encoder is not known to be fast. Texts of like lengths are encoded together.
    """
    if isinstance(batch, Texts):
        context = batch.context or [""] * len(batch)
        lengths = np.array([len(batch.text[row]) + len(context[row]) for row in rows[missing].tolist()])
        missing = missing[np.argsort(-lengths, kind="stable")]
    most = min(SHARD_ROWS * encoder.workers, encoder.piece or SHARD_ROWS << 20)
    done, size, dim, form = 0, min(_FIRST, most), None, None
    while done < len(missing):
        piece = missing[done : done + size]
        start = time.perf_counter()
        found = _checked_answer(encoder, batch.take(rows[piece]), source)
        form = form_of(found.vectors) if form is None else form
        if form_of(found.vectors) != form:
            raise InputError(
                f"{source.who} gives vectors of two forms ({form or 'dense'} and "
                f"{form_of(found.vectors) or 'dense'}): all texts need the same"
            )
        dim = found.vectors.shape[1] if dim is None else dim
        if found.vectors.shape[1] != dim:
            raise InputError(
                f"{source.who} gives some texts {dim} and others {found.vectors.shape[1]} dimensions: all "
                "must lie in one space"
            )
        keep(piece, found)
        rate = len(piece) / max(time.perf_counter() - start, 1e-6)
        done += len(piece)
        short = max(_FIRST, rate * PIECE_SECONDS) if encoder.workers == 1 else most
        size = max(1, int(min(most, 4 * size, rate * SHARD_SECONDS, short)))
        if source.report is not None:
            source.report(source.what, done, len(missing))


def _checked_answer(encoder: Encoder, batch: Texts | Images, source: VectorSource) -> Encoded:
    """Return the encoder's answer for a batch, checked."""
    given, start = batch if encoder.by_number else batch.plain(), time.perf_counter()
    found = encoder.encode_noting(given)
    if source.spent is not None and not encoder.by_number:  # else vectors are read
        source.spent.add(len(batch), time.perf_counter() - start)
    cut = None if found.truncated is None else np.asarray(found.truncated, dtype=np.bool_)
    return Encoded(checked(found.vectors, len(batch), source.who, batch.ids), cut)


def joined_parts(parts: Sequence[Encoded]) -> Encoded:
    """Return the vectors of pieces that follow each other, and which texts were cut where all note it."""
    cut = [part.truncated for part in parts if part.truncated is not None]
    noted = np.concatenate(cut) if len(cut) == len(parts) else None
    return Encoded(joined_vectors([part.vectors for part in parts]), noted)


class _Kept:
    """Vectors of n rows in memory; no more than one array of them."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._vectors: np.ndarray | None = None
        self._cut: np.ndarray | None = None
        self._pieces: list[tuple[Ints, Any]] = []  # of vectors of other forms

    def add(self, piece: Ints, encoded: Encoded) -> None:
        """Put the vectors of some rows in their places."""
        found = encoded.vectors
        if not is_dense(found):
            self._pieces.append((piece, found))
        else:
            if self._vectors is None:
                self._vectors = room_for(self._count, found.shape[1], found.dtype)
            self._vectors[piece] = found
        if encoded.truncated is not None:
            self._cut = np.zeros(self._count, dtype=np.bool_) if self._cut is None else self._cut
            self._cut[piece] = encoded.truncated

    def encoded(self, inverse: Ints) -> Encoded:
        """Return the vectors, repeated and ordered by `inverse`."""
        if self._pieces:
            place = np.empty(self._count, dtype=np.int64)
            place[np.concatenate([piece for piece, _ in self._pieces])] = np.arange(self._count)
            whole = joined_vectors([found for _, found in self._pieces])
            return Encoded(whole[place[inverse]], None if self._cut is None else self._cut[inverse])
        vectors: Any = self._vectors
        if np.array_equal(inverse, np.arange(self._count)):
            return Encoded(vectors, self._cut)
        out = room_for(len(inverse), vectors.shape[1], vectors.dtype)
        for start in range(0, len(inverse), _APPLIED):
            out[start : start + _APPLIED] = vectors[inverse[start : start + _APPLIED]]
        return Encoded(out, None if self._cut is None else self._cut[inverse])


@dataclass
class _Writer:
    """Adds vectors to a collection as they are computed, a shard at a time."""

    collection: Collection
    keys: Sequence[bytes]
    _pieces: list[tuple[Ints, Encoded]] = field(default_factory=list)
    _since: float = field(default_factory=time.monotonic)

    def add(self, piece: Ints, encoded: Encoded) -> None:
        """Take the vectors of some rows; write a shard when there is enough for one."""
        self._pieces.append((piece, encoded))
        rows = sum(len(found.vectors) for _, found in self._pieces)
        if rows >= SHARD_ROWS or time.monotonic() - self._since >= SHARD_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write all pending vectors."""
        pieces = self._pieces
        if not pieces:
            return
        keys = [self.keys[row] for piece, _ in pieces for row in piece.tolist()]
        try:
            self.collection.add(keys, joined_parts([found for _, found in pieces]))
        except Exception:  # an interruption is none: then the last flush writes the pieces
            self._pieces = []
            raise
        self._pieces, self._since = [], time.monotonic()
