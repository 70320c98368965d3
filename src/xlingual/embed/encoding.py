"""Encoding a batch: no row twice, none that the store has, and every answer of an encoder checked."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from xlingual.arrays import Ints, Rows, room_for
from xlingual.encoders import Encoder, Stacked
from xlingual.encoders.runtime import distinct_rows
from xlingual.errors import InputError, XlingualError, warn
from xlingual.forms import (
    SparseVectors,
    TokenVectors,
    array_of,
    as_other,
    dense,
    form_of,
    joined_vectors,
    refuse_bytes,
    type_in_words,
)
from xlingual.images import read_bytes
from xlingual.records import Encoded, Images, Texts, check_content, content_keys, digest
from xlingual.results.provenance import note_data
from xlingual.store import Collection, DamagedError, Store

Progress: TypeAlias = Callable[[str, int, int], None]  # called with (what, done, total)

SENTENCE = -1  # as total: `what` is a sentence to show once, no piece of work
SHARD_ROWS = 1024  # rows of a shard, where the encoder is fast
SHARD_SECONDS = 30.0  # where it is slow, about so much work is in a shard: all that a crash can lose
PIECE_SECONDS = 3.0  # of work that one encoder is given at once: all that Ctrl-C can lose
_BLOCK = 4096  # rows that are looked at, or that a stacked encoder is given, at once
_FIRST = 32  # rows whose time shows how fast it is, and of a short piece: a batch of most networks
_ATTEMPTS = 3  # at reading back vectors that were written


@dataclass
class Spent:
    """Texts and seconds of each piece that was really encoded; reading candidates is a piece without texts.

    A first piece of texts, in which many encoders load their models, counts only where there is no other.
    """

    pieces: list[tuple[int, float]] = field(default_factory=list)

    @property
    def per_second(self) -> float | None:
        """Texts a second, None where none was encoded."""
        first = self.pieces[:1]
        pieces = self.pieces[1:] if first and first[0][0] and self.pieces[1:] else self.pieces
        texts = sum(texts for texts, _ in pieces)
        return texts / max(sum(seconds for _, seconds in pieces), 1e-9) if texts else None


@dataclass(frozen=True)
class VectorSource:
    """Where vectors come from: the name of the encoder, the store, and the callback for progress."""

    who: str  # "text encoder 'labse'"
    what: str  # "encoding texts: labse"
    store: Store | None = None
    report: Progress | None = None
    spent: Spent | None = None


def encode(encoder: Encoder, batch: Texts | Images, source: VectorSource) -> Encoded:
    """Return checked vectors of a batch, in the encoder's form (`forms`), and which texts were cut.

    An encoder that says what its vectors depend on (`content`) encodes equal rows once, and no row that the
    store has. Others get the whole batch as it is. Of an encoder that stands on another (`Stacked`) that
    holds for the one below. The sentences that an encoder's method `notes` returns about the rows that it
    encoded become one DataWarning each.
    """
    if isinstance(encoder, Stacked):
        encoded = _stacked(encoder, batch, source)
    elif (keys := _row_keys(encoder, batch)) is None:
        encoded = _answer(encoder, batch, source)
    else:
        encoded = _looked_up(encoder, batch, keys, source)
    for sentence in encoder.notes():
        warn(sentence)
    return encoded


def is_kept(encoder: Encoder) -> bool:
    """Return whether an encoder's vectors, or those of the one it stands on, may outlive the program."""
    while isinstance(encoder, Stacked):
        encoder = encoder.base
    return bool(encoder.content) and not encoder.depends_on_batch and encoder.has_own_identity


def _stacked(encoder: Stacked, batch: Texts | Images, source: VectorSource) -> Encoded:
    """Make vectors of those of the encoder below, a block at a time."""
    below = replace(source, who=f"the encoder below {source.who}")
    inputs = [encode(encoder.base, part, below) for part in encoder.inputs(batch)]
    arrays = [dense(part.vectors, below.who, source.who) for part in inputs]
    out = None
    for start in range(0, max(len(batch), 1), _BLOCK):
        part = slice(start, min(start + _BLOCK, len(batch)))
        languages = [batch.language[row] for row in range(start, part.stop)]
        given = [np.asarray(array[part], dtype=np.float32) for array in arrays]
        block = checked(encoder.apply_in(languages, *given), len(languages), source.who, batch.ids[start:])
        out = room_for(len(batch), block.shape[1], block.dtype) if out is None else out
        out[part] = block
    cut = [part.truncated for part in inputs if part.truncated is not None]
    return Encoded(out, np.logical_or.reduce(cut) if cut else None)


def _row_keys(encoder: Encoder, batch: Texts | Images) -> list[bytes] | None:
    """Digest what the vector of each row depends on; None where that is more, or an image is missing."""
    if encoder.depends_on_batch or not encoder.content or not len(batch):
        return None
    if isinstance(batch, Texts):
        return content_keys(batch, encoder.content)
    check_content(encoder.content, ("bytes",))
    with suppress(InputError):  # the encoder, given all images, says which one is missing
        keys = [digest(read_bytes(source)) for source in batch.source]
        note_data("images", None, keys, lambda: (digest(*sorted(keys)).hex(), len(keys)))
        return keys
    return None


def _looked_up(
    encoder: Encoder, batch: Texts | Images, row_keys: Sequence[bytes], source: VectorSource
) -> Encoded:
    """Read the vectors of rows by their keys, after those that are missing were computed.

    Damaged shards are found while reading: their rows are computed again.
    """
    keys, inverse = distinct_rows(row_keys)
    _, first = np.unique(inverse, return_index=True)
    if source.store is not None and encoder.has_own_identity:
        collection = source.store.collection(encoder.identity)
    else:
        collection = Collection(Path(os.devnull), encoder.identity, in_memory=True)
    for _ in range(_ATTEMPTS):
        missing = np.flatnonzero(collection.find(keys) < 0)
        if len(missing):
            absent = [keys[row] for row in missing.tolist()]
            _compute(encoder, batch, first[missing], absent, collection, source)
        numbers = collection.find(keys)
        with suppress(DamagedError):
            if (numbers >= 0).all():
                return collection.read(numbers[inverse])
    raise XlingualError(
        f"the store {collection.folder.parent} does not give back what was written to it: its disk may be "
        "failing; choose another folder with --store DIR, or --no-store"
    )


def _compute(
    encoder: Encoder,
    batch: Texts | Images,
    rows: Ints,
    keys: Sequence[bytes],
    collection: Collection,
    source: VectorSource,
) -> None:
    """Encode rows, long texts first, and add their vectors to a collection, a shard at a time.

    A piece is short while the encoder is not known to be fast. Texts of like lengths are encoded together.
    Pieces from before a failure or an interruption are added, too.
    """
    order = np.arange(len(rows))
    if isinstance(batch, Texts):
        context = batch.context or [""] * len(batch)
        lengths = np.array([len(batch.text[row]) + len(context[row]) for row in rows.tolist()])
        order = np.argsort(-lengths, kind="stable")
    done, size = 0, min(_FIRST, SHARD_ROWS)
    pending: list[tuple[Ints, Encoded]] = []
    since = time.monotonic()

    def add() -> None:
        places = [place for piece, _ in pending for place in piece.tolist()]
        try:
            if pending:
                parts = [part for _, part in pending]
                collection.add([keys[place] for place in places], joined_parts(parts, source.who))
        except Exception:  # an interruption is none: then the last call adds the pieces
            pending.clear()
            raise
        pending.clear()

    try:
        while done < len(rows):
            piece = order[done : done + size]
            start = time.perf_counter()
            encoded = _answer(encoder, batch.take(rows[piece]), source)
            pending.append((piece, encoded))
            rate = len(piece) / max(time.perf_counter() - start, 1e-6)
            done += len(piece)
            most = max(rate * PIECE_SECONDS, min(_FIRST, rate * SHARD_SECONDS))
            size = max(1, int(min(SHARD_ROWS, 4 * size, most)))
            if source.report is not None:
                source.report(source.what, done, len(rows))
            full = sum(len(piece) for piece, _ in pending) >= SHARD_ROWS
            if full or time.monotonic() - since >= SHARD_SECONDS:
                add()
                since = time.monotonic()
    finally:
        add()


def _answer(encoder: Encoder, batch: Texts | Images, source: VectorSource) -> Encoded:
    """Ask the encoder for a batch, and check its answer."""
    given, start = batch if encoder.by_number else batch.plain(), time.perf_counter()
    encoded = encoder.encode_noting(given)
    if source.spent is not None and not encoder.by_number:  # else vectors are read
        source.spent.pieces.append((len(batch), time.perf_counter() - start))
    cut = None if encoded.truncated is None else np.asarray(encoded.truncated, dtype=np.bool_)
    return Encoded(checked(encoded.vectors, len(batch), source.who, batch.ids), cut)


def joined_parts(parts: Sequence[Encoded], who: str) -> Encoded:
    """Return the vectors of pieces that follow each other, and which texts were cut where all note it."""
    kinds = {(form_of(part.vectors) or "dense", part.vectors.shape[1]) for part in parts}
    if len(kinds) > 1:
        several = " and ".join(f"{form} of {dim} dimensions" for form, dim in sorted(kinds))
        raise InputError(f"{who} gives vectors of two kinds ({several}): all need the same")
    cut = [part.truncated for part in parts if part.truncated is not None]
    noted = np.concatenate(cut) if len(cut) == len(parts) else None
    return Encoded(joined_vectors([part.vectors for part in parts]), noted)


def checked(vectors: Any, count: int, who: str, ids: Sequence[str]) -> Any:  # noqa: ANN401  (AnyVectors)
    """Return the vectors as a float array [count, d], or as sparse rows or token vectors of `count` texts.

    Sparse matrices of scipy and lists of arrays [tokens, d] become those. Raises InputError where vectors
    are anything else.
    """
    if isinstance(vectors, Rows) and len(vectors) == count:
        return vectors  # rows of files, which their encoder has checked
    answer: Any = as_other(vectors, who, ids)
    if isinstance(answer, TokenVectors):
        bounds, total = answer.bounds, len(answer.vectors)
        if bounds[0] != 0 or (answer.sizes < 0).any() or bounds[-1] != total:
            raise InputError(
                f"{who} returned tokens with bounds that do not fit: they rise from 0 to {total}"
            )
        answer = replace(answer, vectors=np.asarray(answer.vectors, dtype=np.float32))
    elif isinstance(answer, SparseVectors):
        answer = SparseVectors.of(answer.matrix, answer.compared_by)
    else:
        answer = array_of(vectors)
        if answer.dtype.kind not in "fiu":
            raise InputError(f"{who} returned {type_in_words(answer)}; expected numbers [n, d]")
        refuse_bytes(answer, f"{who} returned")
    if len(answer.shape) != 2 or len(answer) != count or answer.shape[1] == 0:
        kind = getattr(answer, "what", "an array")
        raise InputError(
            f"{who} returned {kind} of shape {answer.shape}; expected ({count}, d), or a list of arrays "
            "[tokens, d] for a vector for each token"
        )
    if isinstance(answer, np.ndarray):
        answer = answer if answer.dtype in (np.float16, np.float32) else answer.astype(np.float32)
        bad = np.flatnonzero(~each_row(answer, lambda block: np.isfinite(block).all(axis=1)))
    else:
        bad = answer.bad_rows()
    if len(bad):
        row = int(bad[0])
        raise InputError(
            f"{who}: the vector of {ids[row]!r} (row {row + 1}) holds NaN or infinity; embed it again"
        )
    return answer


def each_row(vectors: Any, measure: Callable[[Any], Any]) -> np.ndarray:  # noqa: ANN401  (an array or Rows)
    """Measure each row of vectors, a block at a time."""
    starts = range(0, max(len(vectors), 1), _BLOCK)
    return np.concatenate([measure(vectors[start : start + _BLOCK]) for start in starts])
