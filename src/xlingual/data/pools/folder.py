"""A pool's own folder (`questions` and `candidates`, Parquet or JSON lines), and opening any pool."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.files import FOLDER_NAMES
from xlingual.data.languages import tag_problem
from xlingual.data.manifest import split_reference
from xlingual.data.pools.build import (
    build_pool,
    check_answered,
    clusters_by_id_or_key,
    clusters_of_candidates,
    joined,
)
from xlingual.data.pools.qrels import with_qrels
from xlingual.data.pools.retrieval_folder import Rows, is_retrieval_folder, read_retrieval_folder
from xlingual.data.pools.rows import Candidates, EqualIds, PoolRows, Questions
from xlingual.data.pools.squad import pool_of_squad, squad_files
from xlingual.data.rows import Row, is_missing, name_of, numbered, read_rows, require, text_of
from xlingual.data.runs.qrels import QrelsLike
from xlingual.errors import InputError, did_you_mean, listed, nearest, parameter
from xlingual.files import atomic_file, make_folder, refuse_loss
from xlingual.records import Texts
from xlingual.results.provenance import note_file

QUESTIONS, CANDIDATES = "questions", "candidates"
FORMATS = ("parquet", "jsonl")
MOST_LABELS = 50  # different values of a further column that divides the questions
_QUESTION_COLUMNS = ("id", "lang", "text", "key", "cluster", "article", "split")
_MANIFESTS = (".parquet", ".jsonl", ".csv", ".tsv", ".ndjson", ".arrow", ".feather")


def read_pool(
    path: str | Path,
    languages: Sequence[str] | None = None,
    split: str | None = None,
    equal_ids: EqualIds | None = None,
    qrels: QrelsLike | None = None,
    *,
    unanswered: bool = False,
) -> PoolRows:
    """Read a pool of any format; `MultilingualPool.read` says what the arguments are."""
    path, source = Path(path), str(path)
    if isinstance(languages, str):
        languages = [tag.strip() for tag in languages.split(",") if tag.strip()]
    try:
        own = bool(pool_files(path))
        retrieval = not own and is_retrieval_folder(path)
        if equal_ids is not None and not retrieval:
            raise InputError(
                f"{path} is no retrieval folder of BEIR or MTEB: leave out {parameter('equal_ids')}, which "
                "is for these"
            )
        if not own and not retrieval:
            _check_path(path)
            if qrels is not None:
                raise InputError(
                    f"{path} has answers of its own: {parameter('qrels')} is for a pool folder or a "
                    "retrieval folder; xlingual data squad-to-pool makes a pool folder"
                )
            return pool_of_squad(squad_files([path]), source, languages, split)[0]
        if own:
            rows = _read_folder(path, unanswered=unanswered)
        else:
            alone = languages[0] if languages and len(languages) == 1 else None
            judged = qrels is None
            rows = read_retrieval_folder(path, alone, split, equal_ids, judged=judged, unanswered=unanswered)
            split = split if judged else None  # of its files, which are read already
        if qrels is not None:
            rows = with_qrels(source, rows, qrels, unanswered=unanswered)
    except OSError as error:
        raise InputError(f"{error.filename or path} cannot be read: {error.strerror or error}") from error
    known, questions, candidates, notes = rows
    more = {"notes": notes, "unanswered": unanswered}
    return build_pool(source, known, questions, candidates, languages, split, **more)  # type: ignore[arg-type]


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


def pool_files(folder: str | Path, stems: Sequence[str] = (QUESTIONS, CANDIDATES)) -> list[Path]:
    """Return the files of questions and candidates in a folder, which writing a pool there replaces."""
    paths = (Path(folder) / f"{stem}.{ending}" for stem in stems for ending in FORMATS)
    return [path for path in paths if path.exists()]


def _check_path(path: Path) -> None:
    """Raise InputError where a path cannot be SQuAD-style files."""
    what = (
        "a pool folder (questions.parquet and candidates.parquet, or .jsonl), a retrieval folder "
        "(corpus.jsonl, queries.jsonl, qrels/*.tsv) or SQuAD-style *.json files"
    )
    mixing = f". A manifest becomes a pool by: xlingual data mix-pool {path} --out DIR"
    if path.is_dir():
        if not any(path.glob("*.json")):
            manifest = any((path / name).is_file() for name in FOLDER_NAMES)
            raise InputError(f"{path} holds no pool: expected {what}{mixing if manifest else ''}")
    elif not path.is_file():
        names = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
        raise InputError(f"{path}: no such file or folder.{did_you_mean(path.name, names)} Give {what}")
    elif path.stem in {QUESTIONS, CANDIDATES}:
        raise InputError(f"{path} is one of the two files of a pool: give the folder {path.parent}")
    elif path.suffix.lower() != ".json":
        manifest = path.suffix.lower() in _MANIFESTS
        raise InputError(f"{path} is no pool: give {what}{mixing if manifest else ''}")


# --- reading a folder


class _File:
    """The rows of one of the two files."""

    def __init__(self, folder: Path, stem: str) -> None:
        files = pool_files(folder, [stem])
        if len(files) != 1:
            what = f"{listed(path.name for path in files)}: remove all but one"
            none = f"no {stem}.parquet or {stem}.jsonl: a pool folder has questions and candidates"
            raise InputError(f"{folder} holds {what if files else none}")
        self.path = files[0]
        note_file("pool", self.path)
        self.places, self.rows = [], list[Row]()
        for where, row in read_rows(self.path):
            self.places.append(where)
            self.rows.append(row)
        if not self.rows:
            raise InputError(
                f"{self.path} has no rows: a pool needs questions and candidates, so write one in each row"
            )
        self.columns = [*dict.fromkeys(name for row in self.rows for name in row)]
        require(self.columns, ("id", "lang", "text", "key" if stem == QUESTIONS else "keys"), self.path)
        tags = self.names("lang")
        self.language, self.languages = numbered(tags)
        for tag in self.languages:
            if problem := tag_problem(tag):
                raise InputError(f"{self.places[tags.index(tag)]}, column 'lang': {problem}")
        self.ids = self.names("id")
        first: dict[tuple[str, str], int] = {}
        for number, key in enumerate(zip(tags, self.ids, strict=True)):
            if first.setdefault(key, number) != number:
                raise InputError(
                    f"{self.path}: rows {first[key] + 1} and {number + 1} have the same id {key[1]!r:.80}: "
                    "within a language an id names one row"
                )
        self.text = self.texts("text")
        self.split = self.texts("split") if "split" in self.columns else None

    def names(self, column: str) -> list[str]:
        return [name_of(row, column, where) for where, row in zip(self.places, self.rows, strict=True)]

    def texts(self, column: str) -> list[str]:
        return [text_of(row, column, where) for where, row in zip(self.places, self.rows, strict=True)]

    def cells(self, column: str) -> list[Any]:
        return [row.get(column) for row in self.rows]

    def keys(self, column: str) -> list[tuple[str, ...]]:
        """Return the keys in each cell: a list of strings or numbers, or one of them, or nothing."""
        keys = []
        for where, cell in zip(self.places, self.cells(column), strict=True):
            values = cell if isinstance(cell, list) else [] if is_missing(cell) else [cell]
            keys.append(tuple(dict.fromkeys(name_of({column: key}, column, where) for key in values)))
        return keys


def _read_folder(folder: Path, *, unanswered: bool) -> Rows:
    """Return the languages, all rows in the order of the files, and warnings.

    Languages are those of the candidates by the first one, then those that only questions have, likewise.
    """
    asked, answers = _File(folder, QUESTIONS), _File(folder, CANDIDATES)
    languages = list(dict.fromkeys([*answers.languages, *asked.languages]))
    recode = np.array([languages.index(tag) for tag in asked.languages], dtype=np.int64)
    questions, candidates = _questions(asked, recode[asked.language]), _candidates(answers)
    held = candidates.keys
    if unanswered and candidates.irrelevant is not None:
        held = [right + wrong for right, wrong in zip(held, candidates.irrelevant, strict=True)]
    check_answered(languages, questions, held, lambda row: f"{asked.places[row]}, column 'key'")
    return tuple(languages), *_clustered(asked, answers, questions, candidates)


def _questions(file: _File, language: Ints) -> Questions:
    empty = [row for row, text in enumerate(file.text) if not text.strip()]
    if empty:
        more = f" (and {len(empty) - 1} more rows)" if len(empty) > 1 else ""
        raise InputError(
            f"{file.places[empty[0]]}, column 'text': empty question{more}: write it, or remove the row"
        )
    key = file.names("key")
    cluster = clusters_by_id_or_key(file.ids, key)
    if "cluster" in file.columns:
        cluster = numbered(file.names("cluster"))[0]
    article = numbered(file.names("article"))[0] if "article" in file.columns else None
    labels, numbers = {}, {}
    for name in (name for name in file.columns if name not in _QUESTION_COLUMNS):
        cells = [None if is_missing(cell) else cell for cell in file.cells(name)]
        values = {cell for cell in cells if isinstance(cell, str | int | float)}
        if any(isinstance(cell, list | dict | bytes) for cell in cells) or not values:
            continue
        if all(type(value) in (int, float) for value in values):
            column = [math.nan if cell is None or abs(cell) > 1e300 else float(cell) for cell in cells]
            numbers[name] = np.array(column)
        whole = all(type(value) in (str, int, bool) for value in values)
        if whole and len(values) <= min(MOST_LABELS, len(cells) // 2):
            labels[name] = [None if cell is None else str(cell) for cell in cells]
    return Questions(file.ids, language, file.text, key, cluster, article, file.split, labels, numbers)


def _candidates(file: _File) -> Candidates:
    """Return the candidates; their clusters are still to be found."""
    _refuse_misspelt_keys(file)
    keys = file.keys("keys")
    irrelevant = file.keys("irrelevant") if "irrelevant" in file.columns else None
    for where, wrong, right in zip(file.places, irrelevant or (), keys, strict=bool(irrelevant)):
        if both := {*wrong} & {*right}:
            raise InputError(
                f"{where}, column 'irrelevant': {min(both)!r:.80} is among its 'keys' too: leave it in one "
                "of them"
            )
    grades = None
    if "grades" in file.columns:
        grades = []
        for where, cell, own in zip(file.places, file.cells("grades"), keys, strict=True):
            values = cell if isinstance(cell, list) else [] if is_missing(cell) else [cell]
            if len(values) != len(own) or not all(type(v) is int and 0 < v <= 2**53 for v in values):
                raise InputError(
                    f"{where}, column 'grades': expected {len(own)} whole numbers above 0, one for each key, "
                    f"found {cell!r:.60}: write them, or leave the column out"
                )
            grades.append(tuple(values))
    context = file.texts("context") if "context" in file.columns else [""] * len(keys)
    cluster = np.zeros(len(keys), dtype=np.int64)
    return Candidates(
        file.ids, file.language, file.text, context, keys, cluster, file.split, grades, irrelevant
    )


def _refuse_misspelt_keys(file: _File) -> None:
    """Raise InputError where a row has a field of nearly the name 'keys' instead: it would answer nothing."""
    for name in (name for name in file.columns if name != "keys" and nearest(name, ["keys"]) is not None):
        for where, row in zip(file.places, file.rows, strict=True):
            if row.get("keys") is None and row.get(name) is not None:
                raise InputError(
                    f"{where}: no 'keys' there, but {name!r}. Did you mean 'keys'? Rename it; a candidate "
                    "that "
                    'answers nothing has "keys": []'
                )


def _clustered(
    asked: _File, answers: _File, questions: Questions, candidates: Candidates
) -> tuple[Questions, Candidates, tuple[str, ...]]:
    """Return questions and candidates with clusters numbered together, and warnings."""
    notes: tuple[str, ...] = ()
    if all(is_missing(cell) for cell in answers.cells("cluster")):
        own = clusters_of_candidates(questions, candidates.keys, candidates.context, candidates.language)
        return questions, replace(candidates, cluster=own), notes
    column = f"{answers.path}, column 'cluster'"
    if "cluster" in asked.columns:
        both, _ = numbered([*asked.names("cluster"), *answers.names("cluster")])
        of_questions, own = both[: len(questions)], both[len(questions) :]
        if not np.isin(own, of_questions).any():
            notes = (
                f"{column}: no candidate is in the cluster of any question of {asked.path}: give equal "
                "clusters equal names, or leave the column out of one of the files",
            )
        return replace(questions, cluster=of_questions), replace(candidates, cluster=own), notes
    # A question is of the cluster of the candidates with its key; several of these become one.
    given, sought = numbered(answers.names("cluster"))[0], {*questions.key}
    pairs = [(c, key) for c, keys in zip(given.tolist(), candidates.keys, strict=True) for key in keys]
    pairs = [(c, key) for c, key in pairs if key in sought]
    codes = np.array([c for c, _ in pairs], dtype=np.int64)
    label = joined(codes, [key for _, key in pairs], size=1 + int(given.max()))
    of_key = {key: int(label[c]) for c, key in pairs}
    of_questions = np.array([of_key[key] for key in questions.key], dtype=np.int64)
    before, after = len(np.unique(codes)), len(np.unique(of_questions))
    if after < before:
        notes = (
            f"{column}: candidates of one question are in different clusters: they are counted as one, and "
            f"{before} clusters with answers become {after}",
        )
    return replace(questions, cluster=of_questions), replace(candidates, cluster=label[given]), notes


# --- writing a folder


def write_pool(
    pool: PoolRows, folder: str | Path, format: str = "parquet", *, overwrite: bool = False
) -> Path:
    """Write questions and candidates into a folder, both or neither, and return the folder.

    Raises InputError where files of a pool stand there, unless `overwrite`: then they are replaced, and those
    in the other format removed, since a folder holds one pool.
    """
    if format not in FORMATS:
        near = did_you_mean(format, FORMATS)
        raise InputError(
            f"no format {format!r} of a pool: expected 'parquet' or 'jsonl'{near and '.' + near}"
        )
    refuse_file_name(folder)
    if not overwrite:
        refuse_pool_in(folder)
    folder = make_folder(folder)
    write = _write_parquet if format == "parquet" else _write_jsonl
    paths = {stem: folder / f"{stem}.{format}" for stem in (QUESTIONS, CANDIDATES)}
    with atomic_file(paths[QUESTIONS]) as questions, atomic_file(paths[CANDIDATES]) as candidates:
        for path, columns in zip((questions, candidates), pool_columns(pool), strict=True):
            write(path, {name: column for name, column in columns.items() if column is not None})
    for other in {*pool_files(folder)} - {*paths.values()}:
        other.unlink(missing_ok=True)
    return folder


def refuse_file_name(folder: str | Path, what: str = "a pool") -> None:
    """Raise InputError where what becomes a folder is to be named like a file, such as pool.parquet."""
    folder = Path(folder)
    if folder.suffix.lower() in (*_MANIFESTS, ".json") and not folder.is_dir():
        raise InputError(
            f"{folder} is the name of a file, and {what} is written as a folder: name a folder, such as "
            f"{folder.with_suffix('')}"
        )


def refuse_pool_in(folder: str | Path, remedy: str = "replace them with overwrite=True") -> None:
    """Raise InputError where files of a pool stand in a folder: they would be lost."""
    refuse_loss(folder, pool_files(folder), remedy)


def pool_columns(pool: PoolRows) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the columns of the two files, None for those that the pool has not."""
    q, c = pool.questions, pool.candidates
    tags = [[pool.languages[code] for code in part.language.tolist()] for part in (q, c)]
    numbers = {
        name: [None if math.isnan(value) else value for value in column.tolist()]
        for name, column in q.numbers.items()
    }
    article = None if q.article is None else q.article.tolist()
    lists = [None if own is None else [*map(list, own)] for own in (c.keys, c.grades, c.irrelevant)]
    asked = {"id": q.ids, "lang": tags[0], "text": q.text, "key": q.key, "cluster": q.cluster.tolist()}
    asked |= {"article": article, "split": q.split, **q.labels, **numbers}
    answers = {"id": c.ids, "lang": tags[1], "text": c.text, "context": c.context, "keys": lists[0]}
    answers |= {"cluster": c.cluster.tolist(), "split": c.split, "grades": lists[1], "irrelevant": lists[2]}
    return asked, answers


def _write_parquet(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {name: pa.string() for name in ("id", "lang", "text", "context", "key", "split")}
    kinds |= dict.fromkeys(("keys", "irrelevant"), pa.list_(pa.string()))
    kinds |= {"cluster": pa.int64(), "article": pa.int64(), "grades": pa.list_(pa.int64())}
    arrays = {name: pa.array(values, type=kinds.get(name)) for name, values in columns.items()}
    pq.write_table(pa.table(arrays), path, compression="zstd")


def _write_jsonl(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for values in zip(*columns.values(), strict=True):
            file.write(json.dumps(dict(zip(columns, values, strict=True)), ensure_ascii=False) + "\n")
