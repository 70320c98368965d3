"""The state of a piece of a pass, as one file: plain arrays with a checksum, never a pickle.

A file is named by a hash of what it is the answer to, so that a finished part is found again by whoever asks
the same of the same vectors, and by nobody else.
"""

from __future__ import annotations

import copy
import hashlib
import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xlingual.ranking.offsets import NONE, Adjusted
from xlingual.ranking.scan import Around, Part, Reduction, innermost
from xlingual.ranking.vectors import CHUNK, UnitVectors
from xlingual.records import digest
from xlingual.signature import CONVENTIONS

FORMAT = "xlingual-part/2"  # raised when what a part holds changes
SUFFIX = ".npz"
_CHECKSUM, _PAIRS = "checksum", "pairs"


class DamagedPartError(Exception):
    """A file of a part is damaged; the text says how."""


@dataclass(frozen=True)
class PassState:
    """The states of the reductions of a pass over some pairs, and how many pairs were scored."""

    states: Sequence[Mapping[str, np.ndarray]]  # of each reduction
    screened: int = 0
    decided: int = 0


def packed(seen: PassState) -> bytes:
    """Return the content of the file of a part."""
    arrays = {
        f"{number}.{name}": np.asarray(array)
        for number, state in enumerate(seen.states)
        for name, array in state.items()
    }
    arrays[_PAIRS] = np.array([len(seen.states), seen.screened, seen.decided])
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **{_CHECKSUM: _checksum(arrays)}, **arrays)
    return buffer.getvalue()


def unpacked(content: bytes) -> PassState:
    """Return the content of a file of a part; raise DamagedPartError where it is damaged."""
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (ValueError, OSError, EOFError, KeyError, zipfile.BadZipFile, NotImplementedError) as error:
        raise DamagedPartError("it cannot be read") from error
    expected = arrays.pop(_CHECKSUM, None)
    if expected is None or _PAIRS not in arrays or not np.array_equal(expected, _checksum(arrays)):
        raise DamagedPartError("its checksum is wrong")
    count, screened, decided = arrays.pop(_PAIRS).tolist()
    states: list[dict[str, np.ndarray]] = [{} for _ in range(count)]
    for name, array in arrays.items():
        number, _, field = name.partition(".")
        states[int(number)][field] = array
    return PassState(states, screened, decided)


def part_name(queries: bytes, candidates: bytes, requests: Sequence[Part]) -> str:
    """Return the name of the file with the answer to requests, for vectors with these digests."""
    return digest(FORMAT, CONVENTIONS, queries, candidates, *request_bytes(requests)).hex() + SUFFIX


def request_bytes(requests: Sequence[Part]) -> list[str | bytes]:
    """Return what identifies some requests, to be digested."""
    kinds: list[str | bytes] = [type(innermost(request)).__name__ for request in requests]
    return kinds + [
        piece
        for number, request in enumerate(requests)
        for name, array in sorted(request.request_arrays().items())
        for piece in (f"{number} {name} {array.dtype.str} {array.shape}", array.tobytes())
    ]


def vectors_digest(vectors: UnitVectors, rows: slice | None = None) -> bytes:
    """Return 16 bytes that identify the stored rows, in order, with their type and dimensions."""
    rows = slice(0, len(vectors)) if rows is None else rows
    hasher = hashlib.blake2b(digest_size=16)
    hasher.update(f"{vectors.raw.dtype.str} {vectors.dim} {rows.stop - rows.start} ".encode())
    for start in range(rows.start, rows.stop, CHUNK):
        chosen = vectors.rows[start : min(start + CHUNK, rows.stop)]
        hasher.update(np.ascontiguousarray(vectors.raw[chosen]).data)
    return hasher.digest()


def divisible(similarity: object, reductions: Sequence[Reduction]) -> bool:
    """Return whether pieces of the pass can be made on other machines, which have the vectors."""
    sides = (getattr(similarity, name, None) for name in ("queries", "candidates"))
    known = all(isinstance(side, UnitVectors) for side in sides)
    return known and all(hasattr(innermost(reduction), "alone") for reduction in reductions)


def without_weights(part: Any) -> Any:  # noqa: ANN401  (a Part of the same kind)
    """Return a request for merging alone, which needs nothing that is known of candidates: they may be many.

    That is their multiplicity, and how their scores are adjusted.
    """
    light = copy.copy(part)
    if isinstance(light, Around):
        light.inner = without_weights(light.inner)
        if isinstance(light, Adjusted):
            light.offsets = NONE
        return light
    light.weights = None
    for name, nothing in (("columns", None), ("heavy", np.empty(0, dtype=np.int64))):
        if hasattr(light, name):
            setattr(light, name, nothing)
    return light


def _checksum(arrays: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return 16 bytes for names, types, shapes and contents, uint8 [16]."""
    pieces = [
        piece
        for name, array in sorted(arrays.items())
        for piece in (f"{name} {array.dtype.str} {array.shape}", array.tobytes())
    ]
    return np.frombuffer(digest(FORMAT, *pieces), dtype=np.uint8)
