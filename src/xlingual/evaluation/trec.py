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
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

import numpy as np

from xlingual.data.names import escaped
from xlingual.errors import DataWarning, InputError, warn
from xlingual.evaluation.rankings import Ranking
from xlingual.files import atomic_file, make_folder
from xlingual.results import Results

GIB = 1 << 30
LINE = 55  # bytes of a run's line, about
QRELS = "qrels.txt"


def write_trec(results: Results, folder: str | Path, depth: int | None = 1000) -> None:
    """Write the runs and qrels of results in memory: a folder SOURCE-TARGET of each language pair.

    Of several seeds each has a folder of its own, SOURCE-TARGET.seedN; of a multilingual pool all files are
    in the folder itself. A list has `depth` candidates, None for all. Files are written all or none.

    Raises InputError where the results do not know their lists any more.
    """
    check_depth(depth)
    evaluated = results.evaluated
    if evaluated is None:
        raise InputError(
            "these results hold no rankings: files of results keep ranks alone; evaluate with --trec DIR, or "
            "call write_trec on what an evaluation returned"
        )
    encoders = list(dict.fromkeys(entry.encoder for entry in results.entries))
    _warn_of_size(results, depth)
    several = len({entry.seed for entry in results.entries}) > 1
    with unfinished(folder) as begun, warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # the evaluation raised them
        for encoder in encoders:
            for ranking in evaluated.rankings(encoder):
                of = ranking.source, ranking.target, ranking.seed
                write_ranking(begun / folder_of(*of, several), ranking, depth)


def write_ranking(folder: Path, ranking: Ranking, depth: int | None) -> None:
    """Write the run of an encoder into a folder, and the qrels where there are none yet."""
    make_folder(folder)
    if not (folder / QRELS).exists():
        _write_lines(folder / QRELS, _qrels(ranking))
    _write_lines(folder / run_file(ranking.encoder), _run(ranking, depth))


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


def _run(ranking: Ranking, depth: int | None) -> Iterator[str]:
    """Yield the lines of a run, those of one query at a time."""
    candidates = [member.name for member in ranking.candidates]
    count = len(candidates) if depth is None else min(depth, len(candidates))
    tag = escaped(ranking.encoder) or "-"
    ends = [f" {rank} {count + 1 - rank} {tag}\n" for rank in range(1, count + 1)]
    for query, (best, scores) in zip(ranking.queries, ranking.scored(depth), strict=True):
        start = f"{query.name} Q0 "
        own = ends[: len(best)]
        if scores is not None:
            own = [f" {rank} {score!r} {tag}\n" for rank, score in enumerate(scores, start=1)]
        pairs = zip(best, own, strict=True)
        yield "".join(start + candidates[c] + end for c, end in pairs)


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


def warn_of_bytes(size: float, encoders: int) -> None:
    """Raise a DataWarning where the runs of all encoders will take more than 1 GiB."""
    if size > GIB:
        runs = "the run of 1 encoder" if encoders == 1 else f"the runs of {encoders} encoders"
        warn(f"--trec: {runs} will take about {size / GIB:.1f} GiB: a smaller --trec-depth writes less")


def _warn_of_size(results: Results, depth: int | None) -> None:
    first = results.entries[0].measure
    lists = [
        (entry.n_source, entry.n_target, entry.encoder) for entry in results.entries if entry.measure == first
    ]
    lines = sum(queries * (pool if depth is None else min(depth, pool)) for queries, pool, _ in lists)
    warn_of_bytes(LINE * lines, len({encoder for *_, encoder in lists}))
