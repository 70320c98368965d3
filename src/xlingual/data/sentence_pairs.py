"""Pairs of sentences with people's scores of their similarity: the data of textual similarity (STS)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from xlingual.arrays import Floats
from xlingual.data.rows import is_missing, is_number, numbered, read_lines
from xlingual.data.sources import column_of, read_table
from xlingual.data.tables import Problems, Table, described
from xlingual.errors import InputError, warn
from xlingual.files import regular_file
from xlingual.records import digest
from xlingual.results.provenance import note_file

FEWEST = 4  # pairs: of fewer, no correlation has an interval
SENTENCES = ("sentence1", "sentence2")


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
    def read(cls, path: str | Path) -> SentencePairs:
        """Read Parquet, JSONL, CSV or TSV with the columns score, sentence1, sentence2 and, if any, id.

        SemEval's files have no header: three fields with tabs between (score, sentence, sentence), or
        STS.input.NAME.txt with the scores in STS.gs.NAME.txt. Pairs without a score are left out with a
        warning that counts them. Raises InputError for anything that cannot be used.
        """
        path = Path(path)
        note_file("sentence pairs", regular_file(path, "a file of sentence pairs"))
        table = _lines(path) or read_table(path)[0]
        cells = table.cells(table.require("score"))
        rows = [row for row, cell in enumerate(cells) if not is_missing(cell)]
        score = np.full(len(rows), math.nan)
        for place, row in enumerate(rows):
            if not isinstance(cells[row], bool) and is_number(str(cells[row])):
                score[place] = float(cells[row])
            if not math.isfinite(score[place]):
                raise InputError(
                    f"{table.where(row, 'score')}: found {described(cells[row])} where a score is expected "
                    f"({cells[row]!r:.40}): give numbers"
                )
        if len(rows) < FEWEST or np.ptp(score) == 0:
            equal = f", and all are {score[0]:g}" if len(rows) >= FEWEST else ""
            raise InputError(
                f"{path}: {len(rows)} of {table.n_rows} pairs have a score{equal}: a correlation needs at "
                f"least {FEWEST} with different scores"
            )
        sentences = []
        for name in SENTENCES:
            texts = list(table.texts(table.require(name)))
            if empty := [row for row in rows if is_missing(texts[row])]:
                raise InputError(
                    f"{table.where(empty[0], name)}: a pair with a score has no sentence: give it"
                )
            sentences.append([texts[row] for row in rows])
        ids = [str(row + 1) for row in rows]
        if "id" in table.names:
            names = table.scalars("id", "id", "give each pair one")
            ids, at = [names[row] for row in rows], np.array(rows, dtype=np.int64)
            table.check_unique(numbered(ids)[0], table.source, ids, at, "give each pair its own id")
        if n_unscored := table.n_rows - len(rows):
            warn(f"{path}: {n_unscored} of {table.n_rows} pairs have no score and are left out")
        return cls(path.stem, str(path), ids, score, sentences[0], sentences[1], n_unscored)


def read_sentence_pairs(
    files: str | Path | SentencePairs | Sequence[str | Path | SentencePairs],
) -> list[SentencePairs]:
    """Read the pairs of one or several files, each under its own name.

    A file is named by its stem; files of equal stems by their folder too. Raises InputError for a file that
    is given twice.
    """
    files = [files] if isinstance(files, str | Path | SentencePairs) else list(files)
    if not files:
        raise InputError("no file of sentence pairs is given: name one at least")
    pairs = [file if isinstance(file, SentencePairs) else SentencePairs.read(file) for file in files]
    times = Counter(each.name for each in pairs)
    for place, each in enumerate(pairs):
        if times[each.name] > 1:
            folder = Path(each.source).resolve().parent.name
            pairs[place] = replace(each, name=f"{folder}/{each.name}")
    first: dict[str, SentencePairs] = {}
    for each in pairs:
        if (same := first.setdefault(each.name, each)) is not each:
            raise InputError(
                f"{same.source} and {each.source} are both called {each.name!r}: give each file once, and "
                "rename one of two that share a name"
            )
    return pairs


def _lines(path: Path) -> Table | None:
    """Read the lines of SemEval, which have no header and no quotes, as a table; None for other files."""
    is_input = path.name.startswith("STS.input.") and path.suffix == ".txt"
    if path.suffix.lower() not in (".tsv", ".txt"):
        return None
    rows = [(number, line.split("\t")) for number, line in read_lines(path) if line]
    first = rows[0][1] if rows else []
    names = ("score", *SENTENCES)
    header = {field.strip() for field in first} & {*names, "id"}
    if not is_input and (
        len(first) != len(names) or header or (first[0].strip() and not is_number(first[0]))
    ):
        return None
    for number, fields in rows:
        if len(fields) < 2 if is_input else len(fields) != len(names):
            expected = "two sentences" if is_input else "a score and two sentences"
            raise InputError(
                f"{path}, line {number}: {len(fields)} fields where {expected} are expected, with tabs "
                "between: mend the line, or write a header"
            )
    columns = [list(values) for values in zip(*(fields[:3] for _, fields in rows), strict=False)]
    columns = columns or [[], [], []]
    if is_input:
        gold = path.with_name(path.name.replace("STS.input.", "STS.gs.", 1))
        scores = [line for _, line in read_lines(regular_file(gold, "the file of the scores"))]
        if len(scores) != len(rows):
            raise InputError(f"{gold} has {len(scores)} scores for the {len(rows)} pairs of {path}: mend it")
        columns = [scores, *columns[:2]]
    by_name = {name: column_of(cells, str(path), name) for name, cells in zip(names, columns, strict=True)}
    return Table(str(path), path.parent, by_name, len(rows), Problems())
