"""A pool's own folder: `questions` and `candidates`, both Parquet or both JSON lines."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from xlingual.data.languages import tag_problem
from xlingual.data.pools.rows import Candidates, Questions, Rows, clusters_of_candidates, joined
from xlingual.data.rows import is_missing, name_of, numbered, read_rows, require, text_of
from xlingual.errors import InputError, did_you_mean, listed
from xlingual.files import atomic_file, make_folder, refuse_loss
from xlingual.results.provenance import note_file

STEMS = QUESTIONS, CANDIDATES = "questions", "candidates"
FORMATS = ("parquet", "jsonl")
MOST_LABELS = 50  # different values of a further column that divides the questions
_QUESTION_COLUMNS = ("id", "lang", "text", "key", "cluster", "article", "split")


def pool_files(folder: str | Path, stems: tuple[str, ...] = STEMS) -> list[Path]:
    """List the files of questions and candidates in a folder, which writing a pool there replaces."""
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
        files = pool_files(folder, (stem,))
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
        self.tags, self.ids, self.text = self.names("lang"), self.names("id"), self.texts("text")
        first: dict[tuple[str, str], int] = {}
        for place, (tag, name) in enumerate(zip(self.tags, self.ids, strict=True)):
            where = self.rows[place][0]
            if problem := tag_problem(tag):
                raise InputError(f"{where}, column 'lang': {problem}")
            if (before := first.setdefault((tag, name), place)) != place:
                raise InputError(
                    f"{where}: row {before + 1} has the same id {name!r:.80}: within a language an id names "
                    "one row"
                )
            if stem == QUESTIONS and not self.text[place].strip():
                raise InputError(f"{where}, column 'text': empty question: write it, or remove the row")
        self.split = self.texts("split") if "split" in self.columns else None

    def has(self, column: str) -> bool:
        return any(not is_missing(row.get(column)) for _, row in self.rows)

    def names(self, column: str) -> list[str]:
        return [name_of(row, column, where) for where, row in self.rows]

    def texts(self, column: str) -> list[str]:
        return [text_of(row, column, where) for where, row in self.rows]

    def lists(self, column: str) -> list[list[Any]]:
        """Take one value as a list of one, and a missing one as an empty list."""
        cells = (row.get(column) for _, row in self.rows)
        return [cell if isinstance(cell, list) else [] if is_missing(cell) else [cell] for cell in cells]

    def keys(self, column: str) -> list[tuple[str, ...]]:
        places = zip(self.rows, self.lists(column), strict=True)
        keys = ([name_of({column: key}, column, where) for key in cell] for (where, _), cell in places)
        return [tuple(dict.fromkeys(names)) for names in keys]


def read_pool_folder(folder: Path) -> Rows:
    """Read all rows in the order of the files.

    Languages are those of the candidates by the first one, then those that only questions have, likewise.
    """
    asked, answers = _File(folder, QUESTIONS), _File(folder, CANDIDATES)
    languages = {tag: code for code, tag in enumerate(dict.fromkeys([*answers.tags, *asked.tags]))}
    codes, of_candidates = (
        np.array([languages[tag] for tag in file.tags], dtype=np.int64) for file in (asked, answers)
    )
    key, keys = asked.names("key"), answers.keys("keys")
    context = answers.texts("context") if "context" in answers.columns else [""] * len(keys)
    has_clusters = asked.has("cluster"), answers.has("cluster")
    if has_clusters[1] and not has_clusters[0]:
        raise InputError(
            f"{answers.path} has a column 'cluster', {asked.path} has none: give both files clusters, "
            "or the questions alone, or none"
        )
    clusters = [*(asked.names("cluster") if has_clusters[0] else ())]
    clusters += answers.names("cluster") if has_clusters[1] else []
    cluster, _ = numbered(clusters) if clusters else (numbered(key)[0], ())
    labels, numbers = dict[str, list[str | None]](), dict[str, Any]()
    for name in (name for name in asked.columns if name not in _QUESTION_COLUMNS):
        cells = [None if is_missing(cell) else cell for cell in (row.get(name) for _, row in asked.rows)]
        kinds = {type(cell) for cell in cells} - {type(None)}
        if kinds and kinds <= {int, float}:
            numbers[name] = np.array([math.nan if c is None or abs(c) > 1e300 else float(c) for c in cells])
        most = min(MOST_LABELS, len(cells) // 2)
        if kinds and kinds <= {str, int, bool} and len({*cells} - {None}) <= most:
            labels[name] = [None if cell is None else str(cell) for cell in cells]
    questions = Questions(
        asked.ids,
        codes,
        asked.text,
        key,
        cluster=cluster[: len(key)] if clusters else joined(cluster, asked.ids)[cluster],
        article=numbered(asked.names("article"))[0] if "article" in asked.columns else None,
        split=asked.split,
        labels=labels,
        numbers=numbers,
    )
    candidates = Candidates(
        answers.ids,
        of_candidates,
        answers.text,
        context,
        keys,
        cluster=cluster[len(key) :]
        if has_clusters[1]
        else clusters_of_candidates(questions, keys, context, of_candidates),
        split=answers.split,
        grades=_grades(answers, keys) if "grades" in answers.columns else None,
        irrelevant=answers.keys("irrelevant") if "irrelevant" in answers.columns else None,
    )
    for place, wrong in enumerate(candidates.irrelevant or ()):
        if both := {*wrong} & {*keys[place]}:
            raise InputError(
                f"{answers.rows[place][0]}, column 'irrelevant': {min(both)!r:.80} is among its 'keys' too: "
                "leave it in one"
            )
    return Rows(tuple(languages), questions, candidates)


def _grades(file: _File, keys: list[tuple[str, ...]]) -> list[tuple[int, ...]]:
    """Read the grades of candidates, one for each key."""
    grades = [tuple(cell) for cell in file.lists("grades")]
    for (where, _), names, cell in zip(file.rows, keys, grades, strict=True):
        whole = all(type(grade) is int and 0 < grade <= 2**53 for grade in cell)
        if len(cell) != len(names) or not whole:
            raise InputError(
                f"{where}, column 'grades': expected {len(names)} whole numbers above 0, one for each key, "
                f"found {[*cell]!r:.60}: write them, or leave the column out"
            )
    return grades


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
    tags = [[rows.languages[code] for code in side.language.tolist()] for side in (q, c)]
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
    paths = [folder / f"{stem}.{format}" for stem in STEMS]
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
