"""Arrays: their types, and those larger than memory, in files whose rows are read on demand.

numpy is imported inside the functions, so that this module costs nothing to import.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import accumulate
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints: TypeAlias = NDArray[np.int64]
    Floats: TypeAlias = NDArray[np.float64]
    Vectors: TypeAlias = NDArray[np.float32]
else:  # the names exist at run time too, so that other modules import them plainly
    Ints = Floats = Vectors = Any

IN_MEMORY = 1 << 28  # bytes of vectors that are copied into memory; more stay in their files


def distinct_values(values: Ints) -> Ints:
    """Return the different values, ascending.

    `numpy.unique` finds them by hashing, which takes a hundred times as long for a million numbers.
    """
    import numpy as np

    if (present := _present(np.asarray(values).ravel())) is not None:
        found: Ints = np.flatnonzero(present[0]) + present[1]
        return found
    ordered = np.sort(np.asarray(values), axis=None)
    if len(ordered) < 2:
        return ordered
    kept: Ints = ordered[np.append(True, ordered[1:] != ordered[:-1])]
    return kept


def numbered(values: Ints) -> Ints:
    """Return the place of each of `values` [n] among the different values, as `numpy.unique` does."""
    import numpy as np

    if (present := _present(values)) is None:
        places: Ints = np.unique(values, return_inverse=True)[1]
        return places
    found: Ints = (np.cumsum(present[0]) - 1)[values - present[1]]
    return found


def _present(values: Ints) -> tuple[NDArray[np.bool_], int] | None:
    """Return which whole numbers occur, from the smallest on, and that one; None where few of them do."""
    import numpy as np

    if values.dtype.kind != "i" or not len(values):
        return None
    low, high = int(values.min()), int(values.max())
    if high - low > 8 * len(values) + 64:
        return None
    occurs = np.zeros(high - low + 1, dtype=np.bool_)
    occurs[values - low] = True
    return occurs, low


class Rows:
    """Rows [n, d] of one or several arrays of d columns, as float32, in the order of `index`.

    It is used as an array: `len`, `shape`, `dtype`, `rows[index]`, `rows[first:last]`. Each use reads, from
    the arrays (mapped files, as a rule), no more than the rows that it asks for. Lines are numbered through
    all arrays; without an index all of them are there, in order.
    """

    ndim = 2

    def __init__(self, parts: Sequence[NDArray[Any]], index: Ints | None = None) -> None:
        self.parts = list(parts)
        self._starts = list(accumulate(map(len, self.parts), initial=0))
        self._index = index

    def __len__(self) -> int:
        return self._starts[-1] if self._index is None else len(self._index)

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, dimensions)."""
        return len(self), int(self.parts[0].shape[1])

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32, the type of every row that is read."""
        import numpy as np

        return np.dtype(np.float32)

    @property
    def nbytes(self) -> int:
        """The bytes that all rows would take in memory."""
        return 4 * len(self) * self.shape[1]

    def __getitem__(self, rows: Any) -> Vectors:  # noqa: ANN401  (any index of the first axis of an array)
        import numpy as np

        if isinstance(rows, slice):
            lines = np.arange(*rows.indices(len(self)))
        else:
            chosen = np.asarray(rows)
            lines = np.flatnonzero(chosen) if chosen.dtype == np.bool_ else chosen
        if lines.ndim == 0:
            found: Vectors = self[lines.reshape(1)][0]
            return found
        lines = np.where(lines < 0, lines + len(self), lines)
        lines = lines if self._index is None else self._index[lines]
        out = np.empty((len(lines), self.shape[1]), dtype=np.float32)
        place = np.searchsorted(self._starts, lines, side="right") - 1
        with np.errstate(over="ignore", invalid="ignore"):  # reported where vectors are checked
            for part in np.flatnonzero(np.bincount(place, minlength=1)).tolist():
                here = place == part
                out[here] = self.parts[part][lines[here] - self._starts[part]]
        return out

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:  # noqa: ANN401
        whole = self[:]
        return whole if dtype is None else whole.astype(dtype)

    def take(self, rows: Ints, axis: int = 0) -> Vectors:
        """Return the rows as an array."""
        return self[rows]


def room_for(rows: int, dim: int, dtype: Any) -> NDArray[Any]:  # noqa: ANN401
    """Return an array [rows, dim] to be filled: in memory, or where it is large in a file without a name.

    The file is in the folder for temporary files (TMPDIR) and gone when the array is; the system keeps
    the used parts in memory as far as it fits. Where the disk has no room, the array is in memory.
    """
    import numpy as np

    size = rows * dim * np.dtype(dtype).itemsize
    if size > IN_MEMORY:
        try:
            with TemporaryFile(prefix="xlingual-") as handle:
                if hasattr(os, "posix_fallocate"):  # a disk that fills up later would end the program
                    os.posix_fallocate(handle.fileno(), 0, size)
                    return np.memmap(handle, dtype, "r+", shape=(rows, dim))
        except OSError:
            pass
    return np.empty((rows, dim), dtype=dtype)
