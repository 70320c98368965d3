"""The lines of a run, whatever file they are from: query, candidate, and a score or a rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class RunLines:
    """Parallel columns [p] in any order; of score and rank at least one is there."""

    query: pa.Array  # strings, or a dictionary of them
    candidate: pa.Array
    score: Floats | None = None
    rank: Floats | None = None
    latency: Mapping[str, float] = field(default_factory=dict)  # query → milliseconds, where it is known

    def __len__(self) -> int:
        return len(self.query)


def encoded(column: pa.Array) -> tuple[Ints, list[str]]:
    """Return the code of each value and the distinct values, in the order of their first appearance."""
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    found = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    return found.indices.to_numpy(zero_copy_only=False).astype(np.int64), found.dictionary.to_pylist()


def by_name(names: Sequence[str], codes: Ints) -> tuple[pa.Array, Ints]:
    """Return the names that occur, as UTF-8 and sorted, and each line's code among these."""
    used = np.flatnonzero(np.bincount(codes, minlength=len(names)))
    found, order = sorted_names([names[code] for code in used.tolist()])
    place = np.zeros(len(names), dtype=np.int64)
    place[used[order]] = np.arange(len(order))
    return found, place[codes]


def sorted_names(names: Sequence[str]) -> tuple[pa.Array, Ints]:
    """Return names as UTF-8 and sorted, and the order that sorts them."""
    import pyarrow as pa
    from pyarrow import compute

    raw = pa.array([name.encode("utf-8", "surrogatepass") for name in names], pa.large_binary())
    order = compute.sort_indices(raw)
    return raw.take(order), order.to_numpy().astype(np.int64)


def names_bytes(names: pa.Array) -> bytes:
    """Return the content of `sorted_names` as bytes that no other names have, to be hashed."""
    from pyarrow import compute

    lengths = compute.binary_length(names).to_numpy(zero_copy_only=False).astype("<i8")
    return np.append(len(names), lengths).astype("<i8").tobytes() + b"".join(names.to_pylist())


def ranks_of(scores: Sequence[float] | Floats) -> list[float]:
    """Return the rank of each result of a query by its score, from 1; equal scores share one."""
    _, place = np.unique(-np.asarray(scores, dtype=np.float64), return_inverse=True)
    found: list[float] = (place + 1.0).tolist()
    return found


def check(source: str, lines: RunLines) -> None:
    """Raise InputError where a query or a candidate has no name, or a score or a rank is no number."""
    for what, column in (("query", lines.query), ("candidate", lines.candidate)):
        if column.null_count:
            row = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
            raise InputError(f"{source}: line {row + 1} has no {what}: give each result its query and its id")
    for what, values in (("score", lines.score), ("rank", lines.rank)):
        odd = np.empty(0, dtype=np.int64) if values is None else np.flatnonzero(~np.isfinite(values))
        if len(odd):
            more = f" (and in {len(odd) - 1:,} more lines)" if len(odd) > 1 else ""
            raise InputError(f"{source}: the {what} of line {int(odd[0]) + 1} is no number{more}")
