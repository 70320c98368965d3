"""How large the TREC files of a multilingual pool will be; `xlingual.evaluation.trec` writes them.

Questions and candidates are named "language:id".
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from xlingual.arrays import Ints
from xlingual.data.names import escaped
from xlingual.data.pools.pool import MultilingualPool
from xlingual.evaluation.trec import warn_of_bytes


def question_names(pool: MultilingualPool) -> list[str]:
    """Return the name of each question in TREC files."""
    return _names(pool.languages, pool.questions.language, pool.questions.ids)


def candidate_names(pool: MultilingualPool) -> list[str]:
    """Return the name of each candidate in TREC files."""
    return _names(pool.languages, pool.candidates.language, pool.candidates.ids)


def _names(languages: Sequence[str], language: Ints, ids: Sequence[str]) -> list[str]:
    return [f"{languages[code]}:{escaped(own)}" for code, own in zip(language.tolist(), ids, strict=True)]


def run_bytes(pool: MultilingualPool, depth: int | None, tag: str) -> int:
    """Return about how many bytes a run takes: a line for each question and each of `depth` candidates.

    Exact where all candidates are in it; else candidates are taken to have names of the mean length.
    """
    questions, candidates = question_names(pool), candidate_names(pool)
    count = len(candidates) if depth is None else min(depth, len(candidates))
    digits = sum(
        count - int(10**power) + 1 for power in range(len(str(count)))
    )  # of the numbers up to `count`
    rank_and_score = 2 * digits / count
    name = _mean_bytes(questions) + _mean_bytes(candidates) + len(tag.encode())
    return round(len(questions) * count * (name + rank_and_score + len(" Q0 " + " " * 3 + "\n")))


def _mean_bytes(names: Sequence[str]) -> float:
    return sum(len(name.encode()) for name in names) / max(len(names), 1)


def warn_of_size(pool: MultilingualPool, depth: int | None, encoders: Collection[str]) -> None:
    """Raise a DataWarning where the runs of all encoders will take more than 1 GiB."""
    warn_of_bytes(sum(run_bytes(pool, depth, name) for name in encoders), len(encoders))
