"""A pool's own folder: `questions` and `candidates`, both Parquet or both JSON lines."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from xlingual.arrays import Floats
from xlingual.data.languages import tag_problem
from xlingual.data.pools.rows import (
    Candidates,
    Questions,
    Rows,
    check_answered,
    clusters_by_id_or_key,
    clusters_of_candidates,
    joined,
)
from xlingual.data.rows import is_missing, name_of, numbered, read_rows, require, text_of
from xlingual.errors import InputError, did_you_mean, listed, nearest
from xlingual.files import atomic_file, make_folder, refuse_loss
from xlingual.results.provenance import note_file

QUESTIONS, CANDIDATES = "questions", "candidates"
FORMATS = ("parquet", "jsonl")
MOST_LABELS = 50  # different values of a further column that divides the questions
_QUESTION_COLUMNS = ("id", "lang", "text", "key", "cluster", "article", "split")


def pool_files(folder: str | Path, stems: Sequence[str] = (QUESTIONS, CANDIDATES)) -> list[Path]:
    """Return the files of questions and candidates in a folder, which writing a pool there replaces."""
    paths = (Path(folder) / f"{stem}.{ending}" for stem in stems for ending in FORMATS)
    return [path for path in paths if path.exists()]


def refuse_pool_in(folder: str | Path, remedy: str = "replace them with overwrite=True") -> None:
    """Raise InputError where a folder cannot take a pool: a file's name, or files of a pool are there."""
    folder = Path(folder)
    if folder.suffix.lower() in (".parquet", ".jsonl", ".csv", ".tsv", ".json") and not folder.is_dir():
        raise InputError(
            f"{folder} is the name of a file, and a pool is written as a folder: name a folder, such as "
            f"{folder.with_suffix('')}"
        )
    refuse_loss(folder, pool_files(folder) if remedy else [], remedy)


class _File:
    """The rows of one of the two files, by column."""

    def __init__(self, folder: Path, stem: str) -> None:
        files = pool_files(folder, [stem])
        if len(files) != 1:
            holds = f"{listed(path.name for path in files)}: remove all but one"
            none = f"no {stem}.parquet or {stem}.jsonl: a pool folder has questions and candidates"
            raise InputError(f"{folder} holds {holds if files else none}")
        self.path = files[0]
        note_file("pool", self.path)
        self.rows = list(read_rows(self.path))
        if not self.rows:
            raise InputError(f"{self.path} has no rows: a pool needs questions and candidates, one in a row")
        self.columns = [*dict.fromkeys(name for _, row in self.rows for name in row)]
        require(self.columns, ("id", "lang", "text", "key" if stem == QUESTIONS else "keys"), self.path)
        tags, self.ids = self.names("lang"), self.names("id")
        self.language, self.languages = numbered(tags)
        for tag in self.languages:
            if problem := tag_problem(tag):
                raise InputError(f"{self.rows[tags.index(tag)][0]}, column 'lang': {problem}")
        places, first = numbered(zip(tags, self.ids, strict=True))
        if len(first) < len(places):
            again = int(np.flatnonzero(places != np.arange(len(places)))[0])
            raise InputError(
                f"{self.rows[again][0]}: row {int(np.argmax(places == places[again])) + 1} has the same id "
                f"{self.ids[again]!r:.80}: within a language an id names one row"
            )
        self.text = self.texts("text")
        self.split = self.texts("split") if "split" in self.columns else None

    def names(self, column: str) -> list[str]:
        return [name_of(row, column, where) for where, row in self.rows]

    def texts(self, column: str) -> list[str]:
        return [text_of(row, column, where) for where, row in self.rows]

    def lists(self, column: str) -> list[list[Any]]:
        """Return the list in each cell; one value is a list of one, a missing one an empty list."""
        cells = (row.get(column) for _, row in self.rows)
        return [cell if isinstance(cell, list) else [] if is_missing(cell) else [cell] for cell in cells]

    def keys(self, column: str) -> list[tuple[str, ...]]:
        places = zip(self.rows, self.lists(column), strict=True)
        keys = ([name_of({column: key}, column, where) for key in cell] for (where, _), cell in places)
        return [tuple(dict.fromkeys(names)) for names in keys]


def read_pool_folder(folder: Path, *, unanswered: bool) -> Rows:
    """Return the languages, all rows in the order of the files, and warnings.

    Languages are those of the candidates by the first one, then those that only questions have, likewise.
    """
    asked, answers = _File(folder, QUESTIONS), _File(folder, CANDIDATES)
    languages = [*dict.fromkeys([*answers.languages, *asked.languages])]
    recode = np.array([languages.index(tag) for tag in asked.languages], dtype=np.int64)
    for where, text in zip(asked.rows, asked.text, strict=True):
        if not text.strip():
            raise InputError(f"{where[0]}, column 'text': empty question: write it, or remove the row")
    key = asked.names("key")
    labels, numbers = _further_columns(asked)
    questions = Questions(
        asked.ids,
        recode[asked.language],
        asked.text,
        key,
        cluster=numbered(asked.names("cluster"))[0]
        if "cluster" in asked.columns
        else clusters_by_id_or_key(asked.ids, key),
        article=numbered(asked.names("article"))[0] if "article" in asked.columns else None,
        split=asked.split,
        labels=labels,
        numbers=numbers,
    )
    candidates = _candidates(answers)
    check_answered(
        Rows(tuple(languages), questions, candidates),
        lambda row: f"{asked.rows[row][0]}, column 'key'",
        unanswered=unanswered,
    )
    return _clustered(tuple(languages), asked, answers, questions, candidates)


def _further_columns(file: _File) -> tuple[dict[str, list[str | None]], dict[str, Floats]]:
    """Return the further columns that divide the questions, as labels and as numbers."""
    labels, numbers = dict[str, list[str | None]](), dict[str, Floats]()
    for name in (name for name in file.columns if name not in _QUESTION_COLUMNS):
        cells = [None if is_missing(cell) else cell for cell in (row.get(name) for _, row in file.rows)]
        kinds = {type(cell) for cell in cells} - {type(None)}
        if not kinds or not kinds <= {str, int, float, bool}:
            continue
        if kinds <= {int, float}:
            column = [math.nan if cell is None or abs(cell) > 1e300 else float(cell) for cell in cells]
            numbers[name] = np.array(column)
        if float not in kinds and len({*cells} - {None}) <= min(MOST_LABELS, len(cells) // 2):
            labels[name] = [None if cell is None else str(cell) for cell in cells]
    return labels, numbers


def _candidates(file: _File) -> Candidates:
    """Return the candidates; their clusters are still to be found."""
    for name in (name for name in file.columns if name != "keys" and nearest(name, ["keys"]) is not None):
        for where, row in file.rows:
            if row.get("keys") is None and row.get(name) is not None:  # it would answer nothing
                raise InputError(
                    f"{where}: no 'keys' there, but {name!r}. Did you mean 'keys'? Rename it; a candidate "
                    'that answers nothing has "keys": []'
                )
    keys = file.keys("keys")
    irrelevant = file.keys("irrelevant") if "irrelevant" in file.columns else None
    grades = file.lists("grades") if "grades" in file.columns else None
    for place, (where, _) in enumerate(file.rows):
        if irrelevant and (both := {*irrelevant[place]} & {*keys[place]}):
            raise InputError(
                f"{where}, column 'irrelevant': {min(both)!r:.80} is among its 'keys' too: leave it in one"
            )
        if grades is not None and (
            len(grades[place]) != len(keys[place])
            or not all(type(grade) is int and 0 < grade <= 2**53 for grade in grades[place])
        ):
            raise InputError(
                f"{where}, column 'grades': expected {len(keys[place])} whole numbers above 0, one for each "
                f"key, found {grades[place]!r:.60}: write them, or leave the column out"
            )
    return Candidates(
        file.ids,
        file.language,
        file.text,
        context=file.texts("context") if "context" in file.columns else [""] * len(keys),
        keys=keys,
        cluster=np.zeros(len(keys), dtype=np.int64),
        split=file.split,
        grades=None if grades is None else [*map(tuple, grades)],
        irrelevant=irrelevant,
    )


def _clustered(
    languages: tuple[str, ...], asked: _File, answers: _File, questions: Questions, candidates: Candidates
) -> Rows:
    """Return the rows with clusters that are numbered together."""
    if all(is_missing(row.get("cluster")) for _, row in answers.rows):
        cluster = clusters_of_candidates(questions, candidates.keys, candidates.context, candidates.language)
        return Rows(languages, questions, replace(candidates, cluster=cluster))
    column, notes = f"{answers.path}, column 'cluster'", tuple[str, ...]()
    if "cluster" in asked.columns:
        both, _ = numbered([*asked.names("cluster"), *answers.names("cluster")])
        of_questions, of_candidates = both[: len(questions)], both[len(questions) :]
        if not np.isin(of_candidates, of_questions).any():
            notes = (
                f"{column}: no candidate is in the cluster of any question of {asked.path}: give equal "
                "clusters equal names, or leave the column out of one of the files",
            )
    else:  # a question is of the cluster of the candidates with its key; several of these become one
        named, sought = numbered(answers.names("cluster"))[0], {*questions.key}
        pairs = [(c, k) for c, keys in zip(named.tolist(), candidates.keys, strict=True) for k in keys]
        pairs = [(c, key) for c, key in pairs if key in sought]
        codes = np.array([c for c, _ in pairs], dtype=np.int64)
        label = joined(codes, [key for _, key in pairs], size=1 + int(named.max()))
        of_key = {key: int(label[c]) for c, key in pairs}
        of_questions = np.array([of_key[key] for key in questions.key], dtype=np.int64)
        of_candidates = label[named]
        before, after = len(np.unique(codes)), len(np.unique(of_questions))
        if after < before:
            notes = (
                f"{column}: candidates of one question are in different clusters: they are counted as one, "
                f"and {before} clusters with answers become {after}",
            )
    questions, candidates = (
        replace(questions, cluster=of_questions),
        replace(candidates, cluster=of_candidates),
    )
    return Rows(languages, questions, candidates, notes)


def write_pool_folder(rows: Rows, folder: Path, format: str, *, overwrite: bool) -> Path:
    """Write questions and candidates into a folder, both or neither, and return the folder.

    Raises InputError where files of a pool stand there, unless `overwrite`: then they are replaced, and those
    in the other format removed, since a folder holds one pool.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if format not in FORMATS:
        near = did_you_mean(format, FORMATS)
        raise InputError(
            f"no format {format!r} of a pool: expected 'parquet' or 'jsonl'{near and '.' + near}"
        )
    refuse_pool_in(folder, "" if overwrite else "replace them with overwrite=True")
    q, c = rows.questions, rows.candidates
    tags = [[rows.languages[code] for code in part.language.tolist()] for part in (q, c)]
    asked: dict[str, Any] = {"id": q.ids, "lang": tags[0], "text": q.text, "key": q.key, "cluster": q.cluster}
    asked |= {"article": q.article, "split": q.split, **q.labels}
    asked |= {name: [None if math.isnan(v) else v for v in of.tolist()] for name, of in q.numbers.items()}
    answers: dict[str, Any] = {"id": c.ids, "lang": tags[1], "text": c.text, "context": c.context}
    answers |= {"keys": c.keys, "cluster": c.cluster, "split": c.split}
    answers |= {"grades": c.grades, "irrelevant": c.irrelevant}
    kinds = dict.fromkeys(("id", "lang", "text", "context", "key", "split"), pa.string())
    kinds |= dict.fromkeys(("keys", "irrelevant"), pa.list_(pa.string()))
    kinds |= {"cluster": pa.int64(), "article": pa.int64(), "grades": pa.list_(pa.int64())}
    folder = make_folder(folder)
    paths = [folder / f"{stem}.{format}" for stem in (QUESTIONS, CANDIDATES)]
    with atomic_file(paths[0]) as first, atomic_file(paths[1]) as second:
        for path, columns in ((first, asked), (second, answers)):
            present = {name: column for name, column in columns.items() if column is not None}
            table = pa.table({name: pa.array(of, type=kinds.get(name)) for name, of in present.items()})
            if format == "parquet":
                pq.write_table(table, path, compression="zstd")
            else:
                lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in table.to_pylist())
                path.write_text("".join(lines), encoding="utf-8", newline="\n")
    for other in {*pool_files(folder)} - {*paths}:
        other.unlink(missing_ok=True)
    return folder
