"""How large the runs will be, told before hours of ranking end in a full disk."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from xlingual.errors import DataWarning
from xlingual.evaluation.multilingual_pool.trec import candidate_names, question_names

if TYPE_CHECKING:
    from xlingual.data.pools.pool import MultilingualPool

GIB = 1 << 30


def run_bytes(pool: MultilingualPool, depth: int | None, tag: str) -> int:
    """Return about how many bytes a run takes: a line for each question and each of `depth` candidates.

    Exact where all candidates are in it; else candidates are taken to have names of the mean length.
    """
    asked, held = question_names(pool), candidate_names(pool)
    count = len(held) if depth is None else min(depth, len(held))
    rank_and_score = 2 * sum(_digits(count)) / count
    name = _mean_bytes(asked) + _mean_bytes(held) + len(tag.encode())
    return round(len(asked) * count * (name + rank_and_score + len(" Q0 " + " " * 3 + "\n")))


def warn_of_size(pool: MultilingualPool, depth: int | None, encoders: Collection[str]) -> None:
    """Raise a DataWarning where the runs of all encoders will take more than 1 GiB."""
    size = sum(run_bytes(pool, depth, name) for name in encoders)
    if size > GIB:
        runs = "the run of 1 encoder" if len(encoders) == 1 else f"the runs of {len(encoders)} encoders"
        warnings.warn(
            f"--trec: {runs} will take about {size / GIB:.1f} GiB: a smaller --trec-depth writes less",
            DataWarning,
            stacklevel=2,
        )


def _digits(count: int) -> list[int]:
    """Return the numbers of digits of 1 to `count`, added up for each length."""
    found, low = [], 1
    while low <= count:
        found.append(len(str(low)) * (min(10 * low - 1, count) - low + 1))
        low *= 10
    return found


def _mean_bytes(names: Sequence[str]) -> float:
    return sum(len(name.encode()) for name in names) / max(len(names), 1)
