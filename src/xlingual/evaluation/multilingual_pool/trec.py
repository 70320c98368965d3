"""Rankings as TREC files, for `trec_eval`, `ir_measures` and other people's programs.

`qrels.txt` has a line "question 0 candidate 1" for every relevant pair; each encoder has a run with lines
"question Q0 candidate rank score tag", best first. The score is the number of lines that are left, an integer
that falls by one from line to line: programs sort runs by score and read it as a float of 32 or 64 bits, so
that cosines could change places or tie. Candidates with equal scores come in the order of their names here
(`trec` mode), where the measures of this library take the expectation over all orders.

Questions and candidates are named "language:id". White space, control characters and % within an id stand as
%XX of their UTF-8 bytes, since white space ends a field.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.pools.pool import MultilingualPool
from xlingual.errors import DataWarning, InputError
from xlingual.evaluation.multilingual_pool.ordered import ranked
from xlingual.files import atomic_file, make_folder
from xlingual.forms import AnyVectors
from xlingual.ranking import Offsets, TextPool, rows_of, similarity_of

GIB = 1 << 30
_UNSAFE = re.compile(r"[\s%\x00-\x20\x7f-\xa0\u2028\u2029]")  # some programs end lines and fields at more


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
        path = self.folder / f"{quote(encoder, safe=' +=,@')}.run"
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
    folder = Path(folder)
    _check_depth(depth)
    new = not folder.exists()
    make_folder(folder)
    try:
        with TemporaryDirectory(dir=folder, prefix=".unfinished.") as unfinished:
            write_qrels(Path(unfinished, "qrels.txt"), pool, own_language=own_language)
            yield TrecFolder(Path(unfinished), pool, depth)
            for path in Path(unfinished).iterdir():
                os.replace(path, folder / path.name)
    except BaseException:
        if new:
            with suppress(OSError):
                folder.rmdir()
        raise


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
    _write(path, lines)


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
    _check_depth(depth)
    _check_rows("question", question_vectors, len(pool.questions))
    _check_rows("candidate", candidate_vectors, len(pool.candidates))
    names = candidate_names(pool)
    by_name = np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.int64)
    ordered = [names[c] for c in by_name]
    collapsed = TextPool.of(candidate_vectors)
    similarity = similarity_of(rows_of(question_vectors), collapsed.vectors)
    if offsets is not None:  # equal vectors have equal ones
        offsets = replace(offsets, candidates=offsets.candidates[collapsed.vectors.rows])
    count = len(names) if depth is None else min(depth, len(names))
    ends = [f" {rank} {count + 1 - rank} {_escaped(tag) or '-'}\n" for rank in range(1, count + 1)]
    questions = question_names(pool)

    def lines() -> Iterator[str]:
        rankings = ranked(similarity, collapsed.code[by_name], count, offsets)
        for name, best in zip(questions, rankings, strict=True):
            start = f"{name} Q0 "
            yield "".join(start + ordered[c] + end for c, end in zip(best, ends, strict=True))

    _write(path, lines())


def question_names(pool: MultilingualPool) -> list[str]:
    """Return the name of each question in TREC files."""
    return _names(pool.languages, pool.questions.language, pool.questions.ids)


def candidate_names(pool: MultilingualPool) -> list[str]:
    """Return the name of each candidate in TREC files."""
    return _names(pool.languages, pool.candidates.language, pool.candidates.ids)


def _names(languages: Sequence[str], language: Ints, ids: Sequence[str]) -> list[str]:
    return [f"{languages[code]}:{_escaped(own)}" for code, own in zip(language.tolist(), ids, strict=True)]


def _escaped(name: str) -> str:
    """Return the name with white space, control characters and % as %XX, so that it can be undone."""
    return _UNSAFE.sub(lambda found: quote(found.group(), safe=""), name)


def _check_depth(depth: int | None) -> None:
    if depth is not None and depth < 1:
        raise InputError(f"TREC runs of depth {depth}: expected a whole number from 1 up")


def _check_rows(what: str, vectors: AnyVectors, count: int) -> None:
    if vectors.ndim != 2 or len(vectors) != count:
        raise InputError(
            f"{what} vectors have the shape {'×'.join(map(str, vectors.shape))}: expected one row for each "
            f"of the pool's {count} {what}s"
        )


def _write(path: str | Path, pieces: Iterable[str]) -> None:
    """Write text atomically, in a folder that is made if need be."""
    path = Path(path)
    make_folder(path.parent)
    with atomic_file(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(pieces)


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


def _mean_bytes(names: Sequence[str]) -> float:
    return sum(len(name.encode()) for name in names) / max(len(names), 1)
