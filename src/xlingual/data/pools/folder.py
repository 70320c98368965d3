"""A pool folder: `questions` and `candidates`, each a Parquet or a JSONL file, as rows in file order."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.languages import tag_problem
from xlingual.data.pools.build import check_relevant
from xlingual.data.pools.clusters import clusters_by_id_or_key, clusters_of_candidates, clusters_of_questions
from xlingual.data.pools.rows import Candidates, PoolRows, Questions
from xlingual.data.reading.build import MOST_LABELS
from xlingual.data.reading.formats import read_jsonl, read_parquet
from xlingual.data.reading.tables import SourceTable
from xlingual.data.reading.values import (
    and_more,
    check_unique,
    described,
    is_missing,
    label_cells,
    names_in,
    number_cells,
    numbered,
    texts_in,
)
from xlingual.errors import InputError, did_you_mean, listed, nearest
from xlingual.files import atomic_file, make_folder, refuse_loss
from xlingual.results.provenance import note_file

READERS: dict[str, Callable[[Path], SourceTable]] = {".parquet": read_parquet, ".jsonl": read_jsonl}
QUESTIONS, CANDIDATES = "questions", "candidates"
_QUESTION_COLUMNS = ("id", "lang", "text", "key", "cluster", "article", "split")
_FILES = (*READERS, ".json", ".csv", ".tsv", ".ndjson", ".arrow", ".feather")


def pool_files(folder: str | Path, stems: Sequence[str] = (QUESTIONS, CANDIDATES)) -> list[Path]:
    """Return the files of questions and candidates in a folder, which writing a pool there replaces."""
    paths = (Path(folder) / f"{stem}{ending}" for stem in stems for ending in READERS)
    return [path for path in paths if path.exists()]


def read_folder(folder: Path) -> tuple[tuple[str, ...], Questions, Candidates, tuple[str, ...]]:
    """Return the languages, all rows in the order of the files, and warnings.

    Languages are those of the candidates by the first one, then those that only questions have, likewise.
    """
    question_table, candidate_table = _open(folder, QUESTIONS), _open(folder, CANDIDATES)
    language, languages = _languages(candidate_table)
    question_language, more = _languages(question_table)
    languages += [tag for tag in more if tag not in languages]
    recode = np.array([languages.index(tag) for tag in more], dtype=np.int64)
    questions = _questions(question_table, recode[question_language])
    candidates = _candidates(candidate_table, language)
    check_relevant(languages, questions, candidates, lambda row: question_table.where(row, "key"))
    return tuple(languages), *_clustered(question_table, candidate_table, questions, candidates)


def _open(folder: Path, stem: str) -> SourceTable:
    found = pool_files(folder, [stem])
    if len(found) > 1:
        raise InputError(f"{folder} holds {listed(path.name for path in found)}: remove all but one")
    if not found:
        raise InputError(
            f"{folder} holds no {stem}.parquet or {stem}.jsonl: a pool folder has questions and candidates"
        )
    table = READERS[found[0].suffix](found[0])
    note_file("pool", found[0])
    if not table.n_rows:
        raise InputError(
            f"{found[0]} has no rows: a pool needs questions and candidates, so write one in each row"
        )
    return table


def _languages(table: SourceTable) -> tuple[Ints, list[str]]:
    tags = names_in(table, table.require("lang"), "language", "give each row one, such as 'en'")
    for row, tag in enumerate(tags):
        if problem := tag_problem(tag):
            raise InputError(f"{table.where(row, 'lang')}: {problem}")
    return numbered(tags)


def _ids(table: SourceTable, language: Ints) -> list[str]:
    ids = names_in(table, table.require("id"), "id", "give each row one")
    keys = list(zip(language.tolist(), ids, strict=True))
    check_unique(keys, table.source, ids, np.arange(len(ids)), "within a language an id names one row")
    return ids


def _texts(table: SourceTable, name: str) -> list[str]:
    return [text or "" for text in texts_in(table, table.require(name))]


def _names(table: SourceTable, name: str) -> list[str]:
    return names_in(table, table.require(name), name, "give each row one, or leave the column out")


def _split(table: SourceTable) -> list[str] | None:
    return _texts(table, "split") if "split" in table.names else None


def _questions(table: SourceTable, language: Ints) -> Questions:
    texts = _texts(table, "text")
    empty = [row for row, text in enumerate(texts) if not text.strip()]
    if empty:
        raise InputError(
            f"{table.where(empty[0], 'text')}: empty question{and_more(empty)}: write it, or remove the row"
        )
    key = _names(table, "key")
    article = numbered(_names(table, "article"))[0] if "article" in table.names else None
    ids, given = _ids(table, language), "cluster" in table.names
    cluster = numbered(_names(table, "cluster"))[0] if given else clusters_by_id_or_key(ids, key)
    further = [name for name in table.names if name not in _QUESTION_COLUMNS]
    divide = [name for name in further if table.is_text(name) or table.is_code(name)]
    labels = {name: label_cells(table, name, min(MOST_LABELS, table.n_rows // 2)) for name in divide}
    numbers = {name: number_cells(table, name) for name in further if table.is_number(name)}
    return Questions(
        ids,
        language,
        texts,
        key,
        cluster,
        article,
        _split(table),
        {name: list(column) for name, column in labels.items() if column is not None},
        numbers,
    )


def _candidates(table: SourceTable, language: Ints) -> Candidates:
    """Return the candidates; their clusters are still to be found."""
    cells = table.load(table.require("keys"))
    _refuse_misspelt_keys(table, cells)
    keys = [_keys(table, row, value) for row, value in enumerate(cells)]
    context = _texts(table, "context") if "context" in table.names else [""] * table.n_rows
    ids, unknown = _ids(table, language), np.zeros(table.n_rows, dtype=np.int64)
    text, grades = _texts(table, "text"), _grades(table, keys)
    irrelevant = _irrelevant(table, keys)
    return Candidates(ids, language, text, context, keys, unknown, _split(table), grades, irrelevant)


def _grades(table: SourceTable, keys: list[tuple[str, ...]]) -> list[tuple[int, ...]] | None:
    """Return the grades of the candidates' keys; None where the file has none."""
    if "grades" not in table.names:
        return None
    found = []
    for row, (value, own) in enumerate(zip(table.load("grades"), keys, strict=True)):
        values = [] if is_missing(value) else value if isinstance(value, (list, tuple)) else [value]
        if len(values) != len(own) or not all(type(grade) is int and grade > 0 for grade in values):
            raise InputError(
                f"{table.where(row, 'grades')}: expected {len(own)} whole numbers above 0, one for each key, "
                f"found {value!r:.60}: write them, or leave the column out"
            )
        found.append(tuple(values))
    return found


def _irrelevant(table: SourceTable, keys: list[tuple[str, ...]]) -> list[tuple[str, ...]] | None:
    """Return the keys of what each candidate was judged irrelevant to; None where the file has none."""
    if "irrelevant" not in table.names:
        return None
    found = [_keys(table, row, value, "irrelevant") for row, value in enumerate(table.load("irrelevant"))]
    for row, (wrong, right) in enumerate(zip(found, keys, strict=True)):
        if both := set(wrong) & set(right):
            raise InputError(
                f"{table.where(row, 'irrelevant')}: {min(both)!r:.80} is among its 'keys' too: leave it in "
                "one of them"
            )
    return found


def _clustered(
    question_table: SourceTable, candidate_table: SourceTable, questions: Questions, candidates: Candidates
) -> tuple[Questions, Candidates, tuple[str, ...]]:
    """Return questions and candidates with clusters numbered together, and warnings."""
    keys = candidates.keys
    notes: tuple[str, ...] = ()
    of_questions, of_candidates = questions.cluster, candidates.cluster
    if "cluster" not in candidate_table.names or all(
        is_missing(value) for value in candidate_table.load("cluster")
    ):
        of_candidates = clusters_of_candidates(questions, keys, candidates.context, candidates.language)
    elif "cluster" in question_table.names:
        both, _ = numbered([*_names(question_table, "cluster"), *_names(candidate_table, "cluster")])
        of_questions, of_candidates = both[: question_table.n_rows], both[question_table.n_rows :]
        if not np.isin(of_candidates, of_questions).any():
            notes = (
                f"{candidate_table.source}, column 'cluster': no candidate is in the cluster of any question "
                f"of {question_table.source}: give equal clusters equal names, or leave the column out of "
                "one of the files",
            )
    else:
        own = numbered(_names(candidate_table, "cluster"))[0]
        of_questions, of_candidates, (before, after) = clusters_of_questions(questions, keys, own)
        if after < before:
            notes = (
                f"{candidate_table.source}, column 'cluster': candidates of one question are in different "
                f"clusters: they are counted as one, and {before} clusters with answers become {after}",
            )
    return replace(questions, cluster=of_questions), replace(candidates, cluster=of_candidates), notes


def _refuse_misspelt_keys(table: SourceTable, cells: list[Any]) -> None:
    """Raise InputError where a row has a field of nearly the name 'keys' instead: it would answer nothing.

    JSON lines may differ in their fields, so that the column is there and yet missing in a row.
    """
    for name in table.names:
        if name == "keys" or nearest(name, ["keys"]) is None:
            continue
        rows = [
            row
            for row, (cell, other) in enumerate(zip(cells, table.load(name), strict=True))
            if cell is None and other is not None
        ]
        if rows:
            raise InputError(
                f"{table.where(rows[0], name)}{and_more(rows)}: no 'keys' there, but {name!r}. "
                "Did you mean 'keys'? "
                'Rename it; a candidate that answers nothing has "keys": []'
            )


def _keys(table: SourceTable, row: int, value: Any, column: str = "keys") -> tuple[str, ...]:  # noqa: ANN401
    """Return the keys that a cell holds: a list of strings or numbers, or one of them, or nothing."""
    values = value if isinstance(value, (list, tuple)) else [] if is_missing(value) else [value]
    for key in values:
        if isinstance(key, bool) or not isinstance(key, (str, int, float)) or is_missing(key):
            raise InputError(
                f"{table.where(row, column)}: found {described(key)} as a key: give a list of strings"
            )
    names = (int(key) if isinstance(key, float) and key.is_integer() else key for key in values)
    return tuple(dict.fromkeys(map(str, names)))


FORMATS = ("parquet", "jsonl")


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
        write(questions, question_columns(pool))
        write(candidates, candidate_columns(pool))
    for other in {*pool_files(folder)} - {*paths.values()}:
        other.unlink(missing_ok=True)
    return folder


def refuse_file_name(folder: str | Path, what: str = "a pool") -> None:
    """Raise InputError where what becomes a folder is to be named like a file, such as pool.parquet."""
    folder = Path(folder)
    if folder.suffix.lower() in _FILES and not folder.is_dir():
        raise InputError(
            f"{folder} is the name of a file, and {what} is written as a folder: name a folder, such as "
            f"{folder.with_suffix('')}"
        )


def refuse_pool_in(folder: str | Path, remedy: str = "replace them with overwrite=True") -> None:
    """Raise InputError where files of a pool stand in a folder: they would be lost."""
    refuse_loss(folder, pool_files(folder), remedy)


def question_columns(pool: PoolRows) -> dict[str, Sequence[Any]]:
    """Return the columns of the file of questions."""
    q = pool.questions
    columns: dict[str, Sequence[Any]] = {
        "id": q.ids,
        "lang": [pool.languages[code] for code in q.language],
        "text": q.text,
        "key": q.key,
        "cluster": q.cluster.tolist(),
    }
    if q.article is not None:
        columns["article"] = q.article.tolist()
    if q.split is not None:
        columns["split"] = q.split
    numbers = {
        name: [None if np.isnan(one) else one for one in column.tolist()]
        for name, column in q.numbers.items()
    }
    return columns | {name: column for name, column in q.labels.items() if name not in numbers} | numbers


def candidate_columns(pool: PoolRows) -> dict[str, Sequence[Any]]:
    """Return the columns of the file of candidates."""
    c = pool.candidates
    columns: dict[str, Sequence[Any]] = {
        "id": c.ids,
        "lang": [pool.languages[code] for code in c.language],
        "text": c.text,
        "context": c.context,
        "keys": [list(keys) for keys in c.keys],
        "cluster": c.cluster.tolist(),
    }
    if c.split is not None:
        columns["split"] = c.split
    if c.grades is not None:
        columns["grades"] = [list(grades) for grades in c.grades]
    if c.irrelevant is not None:
        columns["irrelevant"] = [list(keys) for keys in c.irrelevant]
    return columns


def _write_parquet(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    numbers = {"cluster": pa.int64(), "article": pa.int64(), "grades": pa.list_(pa.int64())}
    kinds = numbers | dict.fromkeys(("keys", "irrelevant"), pa.list_(pa.string()))
    known = {*_QUESTION_COLUMNS, *kinds}
    texts = {name for name, values in columns.items() if any(isinstance(value, str) for value in values)}
    arrays = {
        name: pa.array(values, type=kinds.get(name, pa.string() if name in known | texts else None))
        for name, values in columns.items()
    }
    pq.write_table(pa.table(arrays), path, compression="zstd")


def _write_jsonl(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for values in zip(*columns.values(), strict=True):
            file.write(json.dumps(dict(zip(columns, values, strict=True)), ensure_ascii=False) + "\n")
