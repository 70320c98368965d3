"""Opening a multilingual pool: a pool folder, a retrieval folder of BEIR or MTEB, or SQuAD-style files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from xlingual.data.pools.beir import read_beir, read_unjudged
from xlingual.data.pools.beir_files import is_retrieval_folder
from xlingual.data.pools.build import build_pool, warn_each
from xlingual.data.pools.folder import CANDIDATES, QUESTIONS, pool_files, read_folder
from xlingual.data.pools.judged import EqualIds
from xlingual.data.pools.qrels import with_qrels
from xlingual.data.pools.rows import PoolRows
from xlingual.data.pools.squad import (
    SquadRows,
    read_squad,
    squad_files,
    warning_sentences,
)
from xlingual.data.reading.formats import READERS
from xlingual.data.reading.opening import FOLDER_NAMES
from xlingual.data.reading.select import split_reference
from xlingual.data.runs.qrels import QrelsLike
from xlingual.errors import InputError, did_you_mean, listed, parameter
from xlingual.records import Texts


def read_pool(
    path: str | Path,
    languages: Sequence[str] | None = None,
    split: str | None = None,
    equal_ids: EqualIds | None = None,
    qrels: QrelsLike | None = None,
) -> PoolRows:
    """Read a pool: a pool folder, a retrieval folder of BEIR or MTEB, SQuAD-style files in a folder, or one.

    `languages` restricts and orders the languages; without it they are in the order of their first candidates
    (in SQuAD-style files: of the file names). A single language is that of a retrieval folder which says
    none. `split` takes the rows of one split. `equal_ids` says whether questions of a retrieval folder with
    equal ids in several languages are the same question; None finds it in the judgements. `qrels` are
    judgements that take the place of those of the folder, which needs none then. Raise InputError where the
    pool is not sound; oddities are a DataWarning each, and kept in the pool's `warnings`.
    """
    path = Path(path)
    if isinstance(languages, str):
        languages = [tag.strip() for tag in languages.split(",") if tag.strip()]
    try:
        if equal_ids is not None and (pool_files(path) or not is_retrieval_folder(path)):
            raise InputError(
                f"{path} is no retrieval folder of BEIR or MTEB: leave out "
                f"{parameter('equal_ids')}, which is for these"
            )
        read = rows = None
        if path.is_dir() and pool_files(path):
            read = read_folder(path)
        elif is_retrieval_folder(path):
            alone = languages[0] if languages and len(languages) == 1 else None
            reads = read_beir if qrels is None else read_unjudged
            read = reads(path, alone, split, equal_ids)
            split = split if qrels is None else None  # of its files, which are read already
        else:
            _check_path(path)
            rows = read_squad(squad_files([path]))
    except OSError as error:
        raise InputError(f"{error.filename or path} cannot be read: {error.strerror or error}") from error
    if read is None:
        assert rows is not None
        if qrels is not None:
            raise InputError(
                f"{path} has answers of its own: {parameter('qrels')} is for a pool folder or a retrieval "
                "folder; xlingual data squad-to-pool makes a pool folder"
            )
        return pool_of_squad(rows, str(path), [path], languages, split)
    known, questions, candidates, notes = read
    if qrels is not None:
        questions, candidates, more = with_qrels(str(path), known, questions, candidates, qrels)
        notes += more
    pool = build_pool(str(path), known, questions, candidates, languages, split)
    return _checked(pool, *notes)


def is_pool(path: str | Path) -> bool:
    """Return whether a path looks like a pool: a pool folder, a retrieval folder, or SQuAD-style files."""
    path = Path(path)
    if os.path.isdir(path):
        return bool(pool_files(path)) or any(path.glob("*.json")) or is_retrieval_folder(path)
    return path.suffix.lower() == ".json" and os.path.isfile(path)


def read_pool_texts(reference: str) -> Texts:
    """Return the texts that `fit=POOL#SPLIT`, or `fit=POOL`, names: its candidates, then its questions."""
    path, split, rows = split_reference(reference)
    if rows is not None:
        raise InputError(f"{reference!r}: a pool has no rows A:B: write POOL#SPLIT, as in pool#train")
    return read_pool(path, split=split).fit_texts()


def pool_of_squad(
    rows: SquadRows,
    source: str,
    paths: Sequence[Path],
    languages: Sequence[str] | None = None,
    split: str | None = None,
) -> PoolRows:
    """Return the pool of SQuAD-style files, with a warning for each kind of oddity in them."""
    if not len(rows.questions):
        raise InputError(f"{listed(paths, 3)}: no question with an answer: give a file that has some")
    pool = build_pool(source, rows.languages, rows.questions, rows.candidates, languages, split)
    facts = [fact for fact in rows.facts if fact.language in pool.languages]
    return _checked(pool, *warning_sentences(source, facts))


def _checked(pool: PoolRows, *sentences: str) -> PoolRows:
    """Return the pool with its warnings, which are issued here."""
    empty = sum(not text.strip() for text in pool.candidates.text)
    if empty:
        sentences += (f"{pool.source}: {empty} of {len(pool.candidates)} candidates have an empty text",)
    return replace(pool, warnings=(*warn_each(*sentences), *pool.warnings))


def _check_path(path: Path) -> None:
    """Raise InputError where a path cannot be SQuAD-style files."""
    what = (
        "a pool folder (questions.parquet and candidates.parquet, or .jsonl), a retrieval folder "
        "(corpus.jsonl, queries.jsonl, qrels/*.tsv) or SQuAD-style *.json files"
    )
    if path.is_dir():
        if not any(path.glob("*.json")):
            manifest = any((path / name).is_file() for name in FOLDER_NAMES)
            raise InputError(f"{path} holds no pool: expected {what}{_mixing(path) if manifest else ''}")
    elif not path.is_file():
        names = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
        raise InputError(f"{path}: no such file or folder.{did_you_mean(path.name, names)} Give {what}")
    elif path.stem in {QUESTIONS, CANDIDATES}:
        raise InputError(f"{path} is one of the two files of a pool: give the folder {path.parent}")
    elif path.suffix.lower() != ".json":
        manifest = path.suffix.lower() in READERS
        raise InputError(f"{path} is no pool: give {what}{_mixing(path) if manifest else ''}")


def _mixing(path: Path) -> str:
    """Return a hint: the command that makes a pool of a manifest."""
    return f". A manifest becomes a pool by: xlingual data mix-pool {path} --out DIR"
