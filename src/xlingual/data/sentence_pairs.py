"""Pairs of sentences with people's scores of their similarity: the data of textual similarity (STS)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from xlingual.arrays import Floats
from xlingual.data.files import ENDINGS, read_file
from xlingual.data.rows import is_missing, is_number, numbered
from xlingual.data.tables import Table, described
from xlingual.errors import InputError, did_you_mean, listed, warn
from xlingual.files import regular_file
from xlingual.records import digest
from xlingual.results.provenance import note_file

FEWEST = 4  # pairs: of fewer, no correlation has an interval
ROLES = ("id", "score", "sentence1", "sentence2")
_TABBED = (".tsv", ".txt")


@dataclass(frozen=True)
class SentencePairs:
    """n scored pairs of a file; `name` is what results call the file, `n_unscored` pairs were left out."""

    name: str
    source: str  # the file, for messages
    ids: Sequence[str]
    score: Floats  # [n] gold; larger is more alike
    first: Sequence[str]
    second: Sequence[str]
    n_unscored: int = 0

    def __len__(self) -> int:
        return len(self.score)

    @cached_property
    def digest(self) -> str:
        """Hexadecimal digest of ids, sentences and scores in their order."""
        rows = zip(self.ids, self.first, self.second, self.score.tolist(), strict=True)
        return digest(*(digest(row, one, two, repr(score)) for row, one, two, score in rows)).hex()

    @classmethod
    def read(cls, path: str | Path, columns: Mapping[str, str] | None = None) -> SentencePairs:
        """Read Parquet, JSONL, CSV or TSV with the columns score, sentence1, sentence2 and, if any, id.

        `columns` gives other names ({"score": "label"}). A TSV of three fields without a header is read as
        score, sentence, sentence, without quoting, as SemEval's files are. Pairs without a score
        are left out with a warning that counts them. Raises InputError for anything that cannot be used.
        """
        path = Path(path)
        named = _named(columns or {})
        table = _table(path, named)
        cells = table.load(table.require(named["score"], "--columns score=NAME names another"))
        kept = [row for row, cell in enumerate(cells) if not is_missing(cell)]
        if not kept:
            found = (
                f"none of the {table.n_rows} pairs has a score" if table.n_rows else "the file has no rows"
            )
            raise InputError(f"{path}: {found}: give a file of scored sentence pairs")
        score = np.array([_number(table, row, named["score"], cells[row]) for row in kept])
        first, second = (_sentences(table, named[role], kept) for role in ("sentence1", "sentence2"))
        _check(path, score, named["score"])
        if table.n_rows > len(kept):
            warn(f"{path}: {table.n_rows - len(kept)} of {table.n_rows} pairs have no score and are left out")
        ids = _ids(table, named["id"], kept, named="id" in (columns or {}))
        return cls(path.stem, str(path), ids, score, first, second, table.n_rows - len(kept))


def read_sentence_pairs(
    files: str | Path | SentencePairs | Sequence[str | Path | SentencePairs],
    columns: Mapping[str, str] | None = None,
) -> list[SentencePairs]:
    """Return the pairs of one or several files, each under its own name.

    A file is named by its stem; files of equal stems by their folder too. Raises InputError for a file that
    is given twice.
    """
    given = [files] if isinstance(files, str | Path | SentencePairs) else list(files)
    if not given:
        raise InputError("no file of sentence pairs is given: name one at least")
    found = [one if isinstance(one, SentencePairs) else SentencePairs.read(one, columns) for one in given]
    times = Counter(one.name for one in found)
    found = [
        replace(one, name=f"{Path(one.source).resolve().parent.name}/{one.name}")
        if times[one.name] > 1
        else one
        for one in found
    ]
    first: dict[str, SentencePairs] = {}
    for one in found:
        other = first.setdefault(one.name, one)
        if other is not one:
            raise InputError(
                f"{other.source} and {one.source} are both called {one.name!r}: give each file once, and "
                "rename one of two that share a name"
            )
    return found


def parse_columns(text: str | None) -> dict[str, str]:
    """Return {"score": "label"} for "score=label,…"; raise InputError for anything else.

    >>> parse_columns("score=label,sentence1=a")
    {'score': 'label', 'sentence1': 'a'}
    """
    found: dict[str, str] = {}
    for part in (text or "").split(",") if text else ():
        role, equals, name = (piece.strip() for piece in part.partition("="))
        if not equals or not name:
            raise InputError(
                f"--columns {text!r}: expected ROLE=NAME, with commas between, such as "
                f"score=label,sentence1=a; the roles are {', '.join(ROLES)}"
            )
        found[role] = name
    _named(found)
    return found


def _named(columns: Mapping[str, str]) -> dict[str, str]:
    unknown = next((role for role in columns if role not in ROLES), None)
    if unknown is not None:
        raise InputError(
            f"--columns: {unknown!r} is no column of sentence pairs.{did_you_mean(unknown, ROLES)} "
            f"They are {', '.join(ROLES)}"
        )
    return {role: columns.get(role, role) for role in ROLES}


def _table(path: Path, named: Mapping[str, str]) -> Table:
    """Open the file; raise InputError where it is none, or of a format that is not read."""
    endings = [*ENDINGS, ".txt"]
    ending = path.suffix.lower()
    if path.exists() and not path.is_dir():
        note_file("sentence pairs", regular_file(path, "a file of sentence pairs"))
    elif not path.is_file():
        what = "a folder" if path.is_dir() else "no such file"
        names = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() and not path.is_dir() else []
        near = did_you_mean(path.name, names)
        raise InputError(f"{path}: {what}; give a file of sentence pairs{near and '.' + near}")
    if ending not in endings:
        raise InputError(
            f"{path}: a file of sentence pairs ends in {listed(endings)}, not in {path.suffix!r}: convert it"
        )
    try:
        if ending not in _TABBED:
            return read_file(path)
        if holds_no_header(path, named.values()):
            return read_semeval(path, (named["score"], named["sentence1"], named["sentence2"]))
        return read_file(path)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error


def _number(table: Table, row: int, name: str, cell: Any) -> float:  # noqa: ANN401  (a cell)
    """Return a score as a number; a string may hold one."""
    try:
        value = float("" if isinstance(cell, bool) else cell)
    except (TypeError, ValueError):
        what = repr(cell)[:40] if isinstance(cell, str) else described(cell)
        raise InputError(
            f"{table.where(row, name)}: found {what} "
            "where a score is expected: give numbers, or name another column with --columns score=NAME"
        ) from None
    if not math.isfinite(value):
        raise InputError(
            f"{table.where(row, name)}: the score {cell} is no number: mend it, or leave it empty"
        )
    return value


def _sentences(table: Table, name: str, rows: Sequence[int]) -> list[str]:
    """Return the sentences of some rows; raise InputError where one is empty."""
    texts = list(table.texts(table.require(name, "--columns names another")))
    for row in rows:
        if is_missing(texts[row]):
            raise InputError(f"{table.where(row, name)}: the pair has a score but no sentence here: give it")
    return [texts[row] or "" for row in rows]


def _ids(table: Table, name: str, rows: Sequence[int], *, named: bool) -> list[str]:
    """Return the ids of some rows: the numbers of the rows, from 1, where the file has no ids."""
    if name not in table.names and not named:
        return [str(row + 1) for row in rows]
    table.require(name, "--columns id=NAME")
    names = list(table.scalars(name, "id", "give each pair one"))
    ids = [names[row] for row in rows]
    where = np.array(rows, dtype=np.int64)
    table.check_unique(numbered(ids)[0], table.source, ids, where, "give each pair its own id")
    return ids


def _check(path: Path, score: Floats, name: str) -> None:
    """Raise InputError where no correlation with the scores can be computed."""
    if len(score) < FEWEST:
        pairs = "1 pair has a score" if len(score) == 1 else f"{len(score)} pairs have a score"
        raise InputError(f"{path}: {pairs}: a correlation needs at least {FEWEST}")
    if np.ptp(score) == 0:
        raise InputError(
            f"{path}: all {len(score)} scores (column {name!r}) are {score[0]:g}, and nothing can correlate "
            "with equal scores: name another column with --columns score=NAME"
        )


_FIELDS = 3


def holds_no_header(path: Path, names: Iterable[str]) -> bool:
    """Return whether the first line is a pair: three fields, first a number or nothing, none a column."""
    with path.open("rb") as file:
        first = file.readline().decode("utf-8-sig", "replace").rstrip("\r\n").split("\t")
    if len(first) != _FIELDS or {field.strip() for field in first} & set(names):
        return False
    return not first[0].strip() or is_number(first[0])


def read_semeval(path: Path, names: tuple[str, str, str]) -> Table:
    """Return the table of such a file; `names` are those of its three columns.

    Raises InputError for a line of more or fewer fields, and for text that is not UTF-8.
    """
    raw = path.read_bytes()
    try:
        lines = raw.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        place = raw.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}, line {place} is not UTF-8 text: save the file as UTF-8") from error
    rows = []
    for number, line in enumerate(lines, 1):
        fields = line.rstrip("\r").split("\t")
        if fields == [""]:
            continue
        if len(fields) != _FIELDS:
            raise InputError(
                f"{path}, line {number}: {len(fields)} fields where a score and two sentences are expected, "
                "with tabs between: mend the line, or write a header"
            )
        rows.append(fields)
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    return Table.of_columns(str(path), path.parent, columns)
