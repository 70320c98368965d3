"""Reading parallel questions: from a multilingual pool, or from a table.

In a table one row is one question in all its languages: `question_LANG` and `answer_LANG` for each language,
`context_LANG` (what surrounds the answer) where there is any; `id`; `cluster` (rows that are not independent,
such as those of one paragraph; default: each row is its own); `split`. An empty or missing text is one that a
language lacks. Parquet, JSON lines, CSV or TSV.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.languages import check_tags
from xlingual.data.pools.build import chosen_languages
from xlingual.data.pools.judged import EqualIds
from xlingual.data.pools.parallel import ParallelQuestions
from xlingual.data.pools.reading import is_pool, read_pool
from xlingual.data.pools.rows import PoolRows
from xlingual.data.reading.opening import open_table
from xlingual.data.reading.tables import SourceTable
from xlingual.data.reading.values import described, numbered
from xlingual.errors import InputError, listed
from xlingual.records import Texts

_PARTS = ("question", "answer", "context")


def read_parallel(
    path: str | Path,
    languages: Sequence[str] | None = None,
    split: str | None = None,
    equal_ids: EqualIds | None = None,
) -> ParallelQuestions:
    """Read parallel questions from a multilingual pool, or from a table.

    `languages` restricts and orders the languages, `split` takes the rows of one split, `equal_ids` is for
    retrieval folders, as in `read_pool`.
    """
    if not Path(path).exists():
        raise InputError(
            f"{path}: no such file or folder; give a multilingual pool, or a table with the columns "
            "question_LANG and answer_LANG"
        )
    if equal_ids is not None or is_pool(path) or Path(path).is_dir():
        return of_pool(read_pool(path, languages, split, equal_ids))
    return _read_table(path, languages, split)


def of_pool(pool: PoolRows) -> ParallelQuestions:
    """Return the questions of a pool with all their answers.

    Questions with an equal key are one question, asked in several languages; where a language has a key twice
    these are different questions, and those with an equal key and an equal id are one.
    """
    q, c = pool.questions, pool.candidates
    number, _ = numbered(_names(q.key, q.ids, q.language))
    first_row = np.unique(number, return_index=True)[1]
    asked = np.full((len(first_row), len(pool.languages)), -1, dtype=np.int64)
    asked[number[::-1], q.language[::-1]] = np.arange(len(q))[::-1]
    row, candidate = pool.relevant
    pairs = np.unique(np.stack([number[row], c.language[candidate], candidate]), axis=1)
    counts = np.bincount(
        pairs[0] * asked.shape[1] + pairs[1], minlength=asked.size
    )  # by question and language
    return ParallelQuestions(
        source=pool.source,
        languages=pool.languages,
        ids=[q.ids[row] for row in first_row.tolist()],
        cluster=q.cluster[first_row],
        questions=pool.question_texts(),
        answers=pool.candidate_texts(),
        answer_cluster=c.cluster,
        asked=asked,
        first=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        answered=pairs[2],
    )


def _read_table(path: str | Path, languages: Sequence[str] | None, split: str | None) -> ParallelQuestions:
    """Read a table; raise InputError, naming file, row and column, where it is not what it must be."""
    table, file = open_table(path)
    tags = _languages(table, str(file), languages)
    rows = _rows(table, split)
    columns = {
        (part, tag): _texts(table, f"{part}_{tag}", rows)
        for part in _PARTS
        for tag in tags
        if part != "context" or f"{part}_{tag}" in table.names
    }
    ids = [str(name) for name in _column(table, "id", rows, [row + 1 for row in rows])]
    twice = next((name for name, times in Counter(ids).items() if times > 1), None)
    if twice is not None:
        raise InputError(f"{file}, column 'id': {twice!r} is there twice: give each question its own id")
    cluster, _ = numbered(_column(table, "cluster", rows, ids))
    asked, questions, _ = _texts_of(columns, "question", tags, ids)
    answer, answers, owner = _texts_of(columns, "answer", tags, ids)
    for row in np.flatnonzero((asked < 0).all(axis=1) | (answer < 0).all(axis=1)).tolist():
        what = "question" if (asked[row] < 0).all() else "answer"
        raise InputError(
            f"{file}, row {rows[row] + 1} has no {what} in any of {listed(tags)}: fill in one, or leave it "
            "out"
        )
    there = answer.ravel() >= 0
    return ParallelQuestions(
        source=str(file),
        languages=tags,
        ids=ids,
        cluster=cluster,
        questions=questions,
        answers=answers,
        answer_cluster=cluster[owner],
        asked=asked,
        first=np.concatenate([[0], np.cumsum(there)]).astype(np.int64),
        answered=answer.ravel()[there],
    )


def _names(keys: Sequence[str], ids: Sequence[str], language: Ints) -> list[tuple[str, ...]]:
    """Return a name for each row, equal for rows that are the same question."""
    times = Counter(zip(keys, language.tolist(), strict=True))
    twice = {key for (key, _), count in times.items() if count > 1}
    return [(key, name) if key in twice else (key,) for key, name in zip(keys, ids, strict=True)]


def _languages(table: SourceTable, file: str, wanted: Sequence[str] | None) -> tuple[str, ...]:
    asked, answered = (
        [name.removeprefix(part) for name in table.names if name.startswith(part)]
        for part in ("question_", "answer_")
    )
    tags = tuple(tag for tag in asked if tag in answered)
    lone = sorted({*asked} ^ {*answered})
    if lone:
        has, lacks = ("question", "answer") if lone[0] in asked else ("answer", "question")
        raise InputError(
            f"{file} has a column {has}_{lone[0]} but no {lacks}_{lone[0]}: add it, or leave both out"
        )
    if not tags:
        raise InputError(
            f"{file} has no columns question_LANG and answer_LANG, such as question_en and answer_en; its "
            f"columns: {listed(table.names, 20)}"
        )
    check_tags(tags, file)
    return tags if wanted is None else chosen_languages(file, tags, wanted)


def _rows(table: SourceTable, split: str | None) -> list[int]:
    names = None if split is None else table.load(table.require("split", "--split"))
    rows = [row for row in range(table.n_rows) if names is None or str(names[row]) == split]
    if not rows:
        raise InputError(f"{table.source}: no rows" + (f" of the split {split!r}" if split else ""))
    return rows


def _column(table: SourceTable, name: str, rows: Sequence[int], otherwise: Sequence[Any]) -> list[Any]:
    if name not in table.names:
        return list(otherwise)
    values = table.load(name)
    absent = next((row for row in rows if values[row] is None or values[row] == ""), None)
    if absent is not None:
        raise InputError(f"{table.where(absent, name)} is empty: fill it in, or leave the column out")
    return [values[row] for row in rows]


def _texts(table: SourceTable, name: str, rows: Sequence[int]) -> list[str]:
    values = table.load(name)
    for row in rows:
        if not isinstance(values[row], str | None):
            raise InputError(f"{table.where(row, name)}: found {described(values[row])}, expected a text")
    return [(values[row] or "").strip() and values[row] for row in rows]


def _texts_of(
    columns: dict[tuple[str, str], list[str]], part: str, tags: Sequence[str], ids: Sequence[str]
) -> tuple[Ints, Texts, Ints]:
    """Return the row of each text [n, L] (-1: none), the texts, and the question of each text."""
    owner, language = np.nonzero(np.array([[bool(text) for text in columns[part, tag]] for tag in tags]).T)
    place = np.full((len(ids), len(tags)), -1, dtype=np.int64)
    place[owner, language] = np.arange(len(owner))
    pairs = list(zip(owner.tolist(), language.tolist(), strict=True))
    context = (
        [columns.get(("context", tags[code]), [""] * len(ids))[row] for row, code in pairs]
        if part == "answer"
        else []
    )
    texts = Texts(
        text=[columns[part, tags[code]][row] for row, code in pairs],
        language=[tags[code] for _, code in pairs],
        ids=[ids[row] for row, _ in pairs],
        role="query" if part == "question" else "candidate",
        context=context if any(context) else (),
    )
    return place, texts, owner.astype(np.int64)
