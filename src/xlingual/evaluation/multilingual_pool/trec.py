"""Rankings of a multilingual pool as TREC files (the format: `xlingual.evaluation.trec`).

Questions and candidates are named "language:id".
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from xlingual.arrays import Ints
from xlingual.data.pools.pool import MultilingualPool
from xlingual.errors import InputError
from xlingual.evaluation.rankings import best_by_name, escaped
from xlingual.evaluation.trec import (
    QRELS,
    check_depth,
    run_file,
    run_lines,
    unfinished,
    warn_of_bytes,
    write_lines,
)
from xlingual.forms import AnyVectors
from xlingual.ranking import Offsets, rows_of


@dataclass(frozen=True)
class TrecFolder:
    """A folder with qrels.txt and a run for each encoder that is written."""

    folder: Path
    pool: MultilingualPool
    depth: int | None

    def write(
        self,
        encoder: str,
        question_vectors: AnyVectors,
        candidate_vectors: AnyVectors,
        offsets: Offsets | None = None,
    ) -> Path:
        """Write ENCODER.run and return its path; characters that a file's name cannot have are escaped."""
        path = self.folder / run_file(encoder)
        vectors = question_vectors, candidate_vectors
        write_run(path, self.pool, *vectors, tag=encoder, depth=self.depth, offsets=offsets)
        return path


@contextmanager
def trec_folder(
    folder: str | Path, pool: MultilingualPool, depth: int | None = 1000, *, own_language: bool = False
) -> Iterator[TrecFolder]:
    """Give a `TrecFolder` whose files are moved into `folder` on success; a failure leaves what was there.

    Runs have `depth` candidates a question, None for all. With `own_language` only answers in the question's
    language are relevant.
    """
    check_depth(depth)
    with unfinished(folder) as begun:
        write_qrels(begun / QRELS, pool, own_language=own_language)
        yield TrecFolder(begun, pool, depth)


def write_qrels(path: str | Path, pool: MultilingualPool, *, own_language: bool = False) -> None:
    """Write a line for each pair of a question and a relevant candidate, in the pool's order.

    With `own_language` only for candidates in the question's language.
    """
    questions, candidates = question_names(pool), candidate_names(pool)
    question, candidate = pool.relevant
    if own_language:
        own = pool.questions.language[question] == pool.candidates.language[candidate]
        question, candidate = question[own], candidate[own]
    lines = (
        f"{questions[q]} 0 {candidates[c]} 1\n"
        for q, c in zip(question.tolist(), candidate.tolist(), strict=True)
    )
    write_lines(path, lines)


def write_run(
    path: str | Path,
    pool: MultilingualPool,
    question_vectors: AnyVectors,
    candidate_vectors: AnyVectors,
    *,
    tag: str,
    depth: int | None = 1000,
    offsets: Offsets | None = None,
) -> None:
    """Write the `depth` best candidates (None: all) of every question by the cosine of its vector.

    Sparse rows and token vectors are compared in their own way. With the `offsets` of the pool's questions
    and candidates, scores are less these.

    Vectors are [questions, d] and [candidates, d], in the pool's order. The order is exact: float64
    cosines to 9 decimals; ties, also those at the depth, are resolved by name. Raises InputError where
    the vectors do not fit the pool or the depth is below 1.
    """
    check_depth(depth)
    _check_rows("question", question_vectors, len(pool.questions))
    _check_rows("candidate", candidate_vectors, len(pool.candidates))
    names = candidate_names(pool)
    lists = best_by_name(rows_of(question_vectors), rows_of(candidate_vectors), names, depth, offsets)
    write_lines(path, run_lines(question_names(pool), names, lists, tag, depth))


def question_names(pool: MultilingualPool) -> list[str]:
    """Return the name of each question in TREC files."""
    return _names(pool.languages, pool.questions.language, pool.questions.ids)


def candidate_names(pool: MultilingualPool) -> list[str]:
    """Return the name of each candidate in TREC files."""
    return _names(pool.languages, pool.candidates.language, pool.candidates.ids)


def _names(languages: Sequence[str], language: Ints, ids: Sequence[str]) -> list[str]:
    return [f"{languages[code]}:{escaped(own)}" for code, own in zip(language.tolist(), ids, strict=True)]


def _check_rows(what: str, vectors: AnyVectors, count: int) -> None:
    if vectors.ndim != 2 or len(vectors) != count:
        raise InputError(
            f"{what} vectors have the shape {'×'.join(map(str, vectors.shape))}: expected one row for each "
            f"of the pool's {count} {what}s"
        )


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
