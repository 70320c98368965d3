"""How a pass is cut into pairs of shards: from its size and a task's memory, never from who computes it.

So a pass that was interrupted finds its parts again, however many machines there are the next time.
"""

from __future__ import annotations

import math

_TASKS = 64  # of a pass, about: enough to keep some machines busy
_LEAST, _MOST = 2 * 10**9, 2 * 10**12  # pairs × dimensions of a task: from a blink to half a minute of a core
_SHARDS = 256  # of a side, at most, however many rows it has
_SHARE = 4  # of a task's memory: a shard's vectors, as they are stored and as float32
_ROWS = 256


def shard_rows(shape: tuple[int, int], dim: int, itemsize: int, memory: int) -> tuple[int, int]:
    """Return how many queries and how many candidates a shard has.

    Args:
        shape: queries and candidates.
        dim: dimensions of the vectors.
        itemsize: bytes of a stored number.
        memory: bytes that a task may take.

    """
    n, m = shape
    work = min(max(n * m * dim / _TASKS, _LEAST), _MOST)
    side = math.sqrt(work / dim)
    fitting = max(_ROWS, memory // _SHARE // (dim * (itemsize + 4)))
    rows = _rows(n, side, fitting)
    return rows, _rows(m, max(side, work / dim / rows), fitting)


def _rows(length: int, wanted: float, fitting: int) -> int:
    """Return the rows of shards that are about equal."""
    most = min(fitting, max(_ROWS, math.ceil(wanted), math.ceil(length / _SHARDS)))
    return math.ceil(length / math.ceil(length / most)) if length else 1
