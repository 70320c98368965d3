"""A pool folder: `questions` and `candidates`, each a Parquet or a JSONL file, as rows in file order."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from xlingual.data.languages import tag_problem
from xlingual.data.pools.rows import Candidates, Questions
from xlingual.data.reading.formats import read_jsonl, read_parquet
from xlingual.data.reading.tables import Table
from xlingual.data.reading.values import check_unique, described, is_missing, names_in, numbered, texts_in
from xlingual.errors import InputError, did_you_mean, listed, nearest

if TYPE_CHECKING:
    from xlingual.records import Ints

READERS: dict[str, Callable[[Path], Table]] = {".parquet": read_parquet, ".jsonl": read_jsonl}
QUESTIONS, CANDIDATES = "questions", "candidates"


def pool_file(folder: Path, stem: str) -> Path | None:
    """Return the file of the folder that holds the questions or the candidates; None where there is none."""
    found = [folder / f"{stem}{ending}" for ending in READERS if (folder / f"{stem}{ending}").is_file()]
    if len(found) > 1:
        raise InputError(f"{folder} holds {listed(path.name for path in found)}: remove all but one")
    return found[0] if found else None


def read_folder(folder: Path) -> tuple[tuple[str, ...], Questions, Candidates]:
    """Return the languages, and all rows in the order of the files.

    Languages are those of the candidates by the first one, then those that only questions have, likewise.
    """
    asked, held = _open(folder, QUESTIONS), _open(folder, CANDIDATES)
    language, languages = _languages(held)
    asked_in, more = _languages(asked)
    languages += [tag for tag in more if tag not in languages]
    recode = np.array([languages.index(tag) for tag in more], dtype=np.int64)
    questions = _questions(asked, recode[asked_in] if len(asked_in) else asked_in, more, asked_in)
    return tuple(languages), *_clustered(asked, held, questions, language, languages)


def _open(folder: Path, stem: str) -> Table:
    path = pool_file(folder, stem)
    if path is None:
        raise InputError(
            f"{folder} holds no {stem}.parquet or {stem}.jsonl: a pool folder has questions and candidates"
        )
    return READERS[path.suffix](path)


def _column(table: Table, name: str) -> str:
    if name not in table.names:
        raise InputError(
            f"{table.source} has no column {name!r}.{did_you_mean(name, table.names)} "
            f"Its columns: {listed(table.names, 20)}"
        )
    return name


def _languages(table: Table) -> tuple[Ints, list[str]]:
    tags = names_in(table, _column(table, "lang"), "language", "give each row one, such as 'en'")
    for row, tag in enumerate(tags):
        problem = tag_problem(tag)
        if problem is not None:
            raise InputError(f"{table.where(row, 'lang')}: {problem}")
    return numbered(tags)


def _ids(table: Table, language: Ints) -> list[str]:
    ids = names_in(table, _column(table, "id"), "id", "give each row one")
    keys = list(zip(language.tolist(), ids, strict=True))
    check_unique(keys, table.source, ids, np.arange(len(ids)), "within a language an id names one row")
    return ids


def _texts(table: Table, name: str) -> list[str]:
    return [text or "" for text in texts_in(table, _column(table, name))]


def _names(table: Table, name: str) -> list[str]:
    return names_in(table, _column(table, name), name, "give each row one, or leave the column out")


def _split(table: Table) -> list[str] | None:
    if "split" not in table.names:
        return None
    return [text or "" for text in texts_in(table, "split")]


def _questions(table: Table, language: Ints, tags: list[str], asked_in: Ints) -> Questions:
    texts = _texts(table, "text")
    empty = [row for row, text in enumerate(texts) if not text.strip()]
    if empty:
        more = f" (and {len(empty) - 1} more rows)" if len(empty) > 1 else ""
        raise InputError(
            f"{table.where(empty[0], 'text')}: empty question{more}: write it, or remove the row"
        )
    key = _names(table, "key")
    # Questions that share a key are one question in several languages: they are never independent.
    cluster = _names(table, "cluster") if "cluster" in table.names else key
    article = numbered(_names(table, "article"))[0] if "article" in table.names else None
    ids = _ids(table, asked_in)
    return Questions(ids, language, texts, key, numbered(cluster)[0], article, _split(table))


def _clustered(
    asked: Table, held: Table, questions: Questions, language: Ints, languages: list[str]
) -> tuple[Questions, Candidates]:
    """Return questions and candidates with clusters numbered together."""
    cells = held.load(_column(held, "keys"))
    _refuse_misspelt_keys(held, cells)
    keys = [_keys(held, row, value) for row, value in enumerate(cells)]
    context = _texts(held, "context") if "context" in held.names else [""] * held.n_rows
    names = _names(asked, "cluster") if "cluster" in asked.names else questions.key
    told = held.load("cluster") if "cluster" in held.names else [None] * held.n_rows
    if not all(is_missing(value) for value in told):
        cluster, _ = numbered([*names, *_names(held, "cluster")])
        of_questions, of_candidates = cluster[: len(names)], cluster[len(names) :]
    else:
        of_questions = questions.cluster
        of_candidates = clusters_of_candidates(questions, keys, context, language)
    return (
        Questions(
            questions.ids,
            questions.language,
            questions.text,
            questions.key,
            of_questions,
            questions.article,
            questions.split,
        ),
        Candidates(
            _ids(held, language), language, _texts(held, "text"), context, keys, of_candidates, _split(held)
        ),
    )


def clusters_of_candidates(
    questions: Questions, keys: list[tuple[str, ...]], context: list[str], language: Ints
) -> Ints:
    """Return the cluster of each candidate where none is told.

    It is that of the first question whose key it holds; else that of a candidate with the same context in the
    same language; else a number of its own, beyond the questions'.
    """
    of_key: dict[str, int] = {}
    for key, number in zip(questions.key, questions.cluster.tolist(), strict=True):
        of_key.setdefault(key, number)
    known = [next((of_key[key] for key in own if key in of_key), None) for own in keys]
    places = list(zip(language.tolist(), context, strict=True))
    of_place: dict[tuple[int, str], int] = {}
    for place, number in zip(places, known, strict=True):
        if number is not None and place[1]:
            of_place.setdefault(place, number)
    free = int(questions.cluster.max(initial=-1)) + 1
    found = []
    for place, number in zip(places, known, strict=True):
        if number is None:
            number = of_place.get(place) if place[1] else None
        if number is None:
            number, free = free, free + 1
            if place[1]:
                of_place[place] = number
        found.append(number)
    return np.array(found, dtype=np.int64)


def _refuse_misspelt_keys(table: Table, cells: list[Any]) -> None:
    """Raise InputError where a row has a field of nearly that name instead: it would answer nothing.

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
            more = f" (and {len(rows) - 1} more rows)" if len(rows) > 1 else ""
            raise InputError(
                f"{table.where(rows[0], name)}{more}: no 'keys' there, but {name!r}. Did you mean 'keys'? "
                'Rename it; a candidate that answers nothing has "keys": []'
            )


def _keys(table: Table, row: int, value: Any) -> tuple[str, ...]:  # noqa: ANN401
    """Return the keys that a cell holds: a list of strings or numbers, or one of them, or nothing."""
    values = value if isinstance(value, (list, tuple)) else [] if is_missing(value) else [value]
    keys = []
    for key in values:
        if isinstance(key, bool) or not isinstance(key, (str, int, float)) or is_missing(key):
            raise InputError(
                f"{table.where(row, 'keys')}: found {described(key)} as a key: give a list of strings"
            )
        keys.append(str(int(key) if isinstance(key, float) and key.is_integer() else key))
    return tuple(dict.fromkeys(keys))
