"""Rankings as TREC files, for `trec_eval`, `ir_measures`, `ranx` and other people's programs.

`qrels.txt` has a line "query 0 candidate grade" for every relevant pair (grade 1 where there are none), and
for every judged one in retrieval by judgements; each system has a run with lines "query Q0 candidate rank
score tag", best first. The score of an encoder is the number of lines that are left,
an integer that falls by one from line to line: programs sort runs by score and read it as a float of 32 or 64
bits, so that cosines could change places or tie. Systems that return lists keep their own scores, where these
say the order. Candidates with equal scores come in the order of their names here
(`trec` mode), where the measures of this library take the expectation over all orders. With `--ties trec` the
order is the one that was evaluated, that of trec_eval.

Texts are named "language:id", images "image:language:id" by the first text that shows them. White space,
control characters and % within an id stand as %XX of their UTF-8 bytes, since white space ends a field.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.manifest import Manifest
from xlingual.data.names import escaped
from xlingual.errors import InputError, warn
from xlingual.evaluation.lists import Lists
from xlingual.evaluation.ordered import ranked
from xlingual.files import atomic_file, make_folder
from xlingual.ranking import Offsets, Pool, TextRows, similarity_of

IMAGE = "image"  # stands for a language where images are queries or candidates
QRELS = "qrels.txt"
_GIB = 1 << 30
_LINE = 55  # bytes of a run's line, about


@dataclass(frozen=True)
class Member:
    """A query or a candidate: a text of a language, or an image, by the first text that shows it."""

    language: str
    id: str

    @property
    def name(self) -> str:
        """The name in TREC files."""
        return f"{self.language}:{escaped(self.id)}"


@dataclass(frozen=True)
class Ranking:
    """What an encoder or a run ranked for n queries among m candidates, ready to be listed."""

    queries: Sequence[Member]
    candidates: Sequence[Member]
    relevant: tuple[Ints, Ints]  # (query, candidate) places of the pairs that belong together
    vectors: tuple[TextRows, TextRows] | None = None  # [n] and [m]
    offsets: Offsets | None = None  # of the candidates, with a correction of hubs
    judged: tuple[Ints, Ints, Ints] | None = None  # (query, candidate, grade) of all pairs that have a grade
    lists: Lists | None = None  # of a search system, in place of vectors
    # another order of the vectors' lists: takes the depth
    ordered: Callable[[int | None], Iterator[list[int]]] | None = None

    def scored(self, depth: int | None) -> Iterator[tuple[list[int], list[float] | None]]:
        """Yield the places of the `depth` best candidates (None: all) of each query, and their scores.

        Ties come in the order of names, also at the depth, but where another order is given. Scores are those
        that a search system gave, None where there are none. The order is exact.
        """
        names = [member.name for member in self.candidates]
        if self.lists is not None:
            yield from _listed(self.lists, names, depth)
        elif self.ordered is not None:
            yield from ((best, None) for best in self.ordered(depth))
        else:
            assert self.vectors is not None
            yield from ((best, None) for best in best_by_name(*self.vectors, names, depth, self.offsets))


def _listed(
    lists: Lists, names: Sequence[str], depth: int | None
) -> Iterator[tuple[list[int], list[float] | None]]:
    """Yield the lists of a search system, ties in the order of names."""
    rank = np.empty(len(names), dtype=np.int64)
    rank[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
    order, score = np.lexsort((rank[lists.candidate], lists.level, lists.query)), lists.level_scores
    for low, high in pairwise(lists.start.tolist()):
        lines = order[low:high][:depth]
        yield lists.candidate[lines].tolist(), None if score is None else score[lines].tolist()


def best_by_name(
    queries: TextRows,
    candidates: TextRows,
    names: Sequence[str],
    depth: int | None,
    offsets: Offsets | None = None,
) -> Iterator[list[int]]:
    """Yield the best candidates of each query by the adjusted score, ties in the order of their names.

    The order is exact: float64 scores to 9 decimals.
    """
    by_name = np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.int64)
    collapsed = Pool.of(candidates.raw, candidates.rows)
    if offsets is not None:  # equal vectors have equal ones
        offsets = offsets.take(np.unique(collapsed.code, return_index=True)[1])
    count = len(names) if depth is None else min(depth, len(names))
    for best in ranked(similarity_of(queries, collapsed.vectors), collapsed.code[by_name], count, offsets):
        yield by_name[best].tolist()


def texts_of(manifest: Manifest, rows: Ints) -> list[Member]:
    """Return the texts of some rows."""
    tags = manifest.languages
    return [Member(tags[manifest.language[row]], manifest.ids[row]) for row in rows.tolist()]


def write_ranking(folder: Path, ranking: Ranking, encoder: str, depth: int | None) -> None:
    """Write the run of an encoder into a folder, and the qrels where there are none yet."""
    make_folder(folder)
    if not (folder / QRELS).exists():
        _write_lines(folder / QRELS, _qrels(ranking))
    _write_lines(folder / run_file(encoder), _run(ranking, encoder, depth))


def folder_of(source: str, target: str, seed: int, several_seeds: bool) -> str:
    """Return the name of the folder of a language pair and seed; that of a pool is the folder itself."""
    if target == "pool":
        return "."
    pair = f"{quote(source, safe='')}-{quote(target, safe='')}"
    return f"{pair}.seed{seed}" if several_seeds else pair


def _qrels(ranking: Ranking) -> Iterator[str]:
    queries, candidates = ranking.queries, ranking.candidates
    judged = ranking.judged or (*ranking.relevant, np.ones_like(ranking.relevant[0]))
    for query, candidate, grade in zip(*(column.tolist() for column in judged), strict=True):
        yield f"{queries[query].name} 0 {candidates[candidate].name} {grade}\n"


def _run(ranking: Ranking, encoder: str, depth: int | None) -> Iterator[str]:
    """Yield the lines of a run, those of one query at a time."""
    candidates = [member.name for member in ranking.candidates]
    count = len(candidates) if depth is None else min(depth, len(candidates))
    tag = escaped(encoder) or "-"
    ends = [f" {rank} {count + 1 - rank} {tag}\n" for rank in range(1, count + 1)]
    for query, (best, scores) in zip(ranking.queries, ranking.scored(depth), strict=True):
        start, lines = f"{query.name} Q0 ", ends[: len(best)]
        if scores is not None:
            lines = [f" {rank} {score!r} {tag}\n" for rank, score in enumerate(scores, start=1)]
        yield "".join(start + candidates[c] + end for c, end in zip(best, lines, strict=True))


def run_file(encoder: str) -> str:
    """Return the name of an encoder's run; characters that a file's name cannot have are escaped."""
    return f"{quote(encoder, safe=' +=,@')}.run"


@contextmanager
def unfinished(folder: str | Path) -> Iterator[Path]:
    """Give a folder whose files are moved into `folder` on success; a failure leaves what was there."""
    folder = Path(folder)
    new = not folder.exists()
    make_folder(folder)
    try:
        with TemporaryDirectory(dir=folder, prefix=".unfinished.") as begun:
            yield Path(begun)
            for path in [path for path in Path(begun).rglob("*") if path.is_file()]:
                place = folder / path.relative_to(begun)
                make_folder(place.parent)
                os.replace(path, place)
    except BaseException:
        if new:
            with suppress(OSError):
                folder.rmdir()
        raise


def check_depth(depth: int | None) -> None:
    """Raise InputError where the depth is below 1."""
    if depth is not None and depth < 1:
        raise InputError(f"TREC runs of depth {depth}: expected a whole number from 1 up")


def _write_lines(path: Path, pieces: Iterable[str]) -> None:
    with atomic_file(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(pieces)


def warn_of_size(n_lines: int, encoders: int) -> None:
    """Raise a DataWarning where runs of so many lines for each encoder will take more than 1 GiB."""
    if (size := n_lines * encoders * _LINE) > _GIB:
        warn(f"--trec: the runs will take about {size / _GIB:.1f} GiB: a smaller --trec-depth writes less")
