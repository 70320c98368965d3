"""Retrieval folders of BEIR and MTEB as the rows of a pool: every document is a candidate.

Relevant is what is judged above 0; the grades are kept beside the keys, and so is what was judged
irrelevant.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from xlingual.data.pools.beir_files import Subset, of_split, splits_of, subsets_of
from xlingual.data.pools.judged import EqualIds, Judgements, Key, rows_of, unjudged_rows
from xlingual.data.pools.rows import Candidates, Questions
from xlingual.data.reading.records import read_lines, read_records
from xlingual.data.reading.select import no_split
from xlingual.data.reading.values import described, is_missing
from xlingual.data.tags import tag_of
from xlingual.errors import InputError
from xlingual.results.provenance import note_file

_COLUMNS = ("_id", "id", "docid", "title", "text", "language", "lang", "metadata")


def read_beir(
    folder: Path, language: str | None = None, split: str | None = None, equal_ids: EqualIds | None = None
) -> tuple[tuple[str, ...], Questions, Candidates, tuple[str, ...]]:
    """Return the languages, questions, candidates and warnings of a folder.

    `language` is that of texts where nothing else says it; `equal_ids` says whether questions with equal ids
    in several languages are the same one. Raises InputError where a file is not what it must be, and where a
    language is not known.
    """
    subsets, counts = subsets_of(folder), Counter[str]()
    splits = splits_of(subsets)
    if split is not None and splits and split not in splits:
        raise no_split(str(folder), split, splits)
    read = [_judgements(folder, subset, language, split, counts) for subset in subsets]
    known, questions, candidates, notes = rows_of(str(folder), read, counts, bool(splits), split, equal_ids)
    alone = (one for subset, one in zip(subsets, read, strict=True) if subset.only_corpus)
    notes += tuple(
        f"{folder}, {one.name} has a corpus but neither queries nor qrels: its documents "
        f"({len(one.documents):,}) are candidates that answer no question; if some do, add queries and qrels"
        for one in alone
    )
    return known, questions, candidates, notes


def read_unjudged(
    folder: Path, language: str | None = None, split: str | None = None, equal_ids: EqualIds | None = None
) -> tuple[tuple[str, ...], Questions, Candidates, tuple[str, ...]]:
    """Return the same of a folder's texts alone: whatever judgements it has are not read."""
    counts = Counter[str]()
    read = [_unjudged(folder, subset, language, split, counts) for subset in subsets_of(folder, judged=False)]
    return (*unjudged_rows(str(folder), read, equal_ids), ())


def _judgements(
    folder: Path, subset: Subset, language: str | None, split: str | None, counts: Counter[str]
) -> Judgements:
    found = _unjudged(folder, subset, language, split, counts)
    for name, files in subset.qrels.items():
        for path in files if split in (None, name, "") or not name else ():
            note_file("pool", path)
            take_qrels(found, path, name, counts)
    return found


def _unjudged(
    folder: Path, subset: Subset, language: str | None, split: str | None, counts: Counter[str]
) -> Judgements:
    named = subset.languages
    if subset.name and named[0] is None:
        raise InputError(
            f"{folder}: {subset.name!r} is no language: name the folders by their languages (en, de-corpus), "
            f"or give the folder of one data set, such as {folder / subset.name}"
        )
    of_corpus, of_queries = (tag or language for tag in named)
    return Judgements(
        subset.name,
        _texts(of_split(subset.corpus, split), of_corpus, str(folder), counts),
        _texts(of_split(subset.queries, split), of_queries, str(folder), counts),
    )


def _texts(files: Sequence[Path], language: str | None, source: str, counts: Counter[str]) -> dict[Key, str]:
    """Return the documents or queries of some files; a title stands before its text."""
    found: dict[Key, str] = {}
    for path in files:
        note_file("pool", path)
        for where, row in read_records(path, _COLUMNS):
            name = next((row[key] for key in ("_id", "id", "docid") if not is_missing(row.get(key))), None)
            if name is None or not isinstance(name, str | int):
                raise InputError(f"{where}: no '_id' or 'id': give each document and query one")
            parts = [row.get("title"), row.get("text")]
            if any(part is not None and not isinstance(part, str) for part in parts):
                odd = next(part for part in parts if part is not None and not isinstance(part, str))
                raise InputError(f"{where}: found {described(odd)} where a text is expected: write a string")
            tag = _language(row, where) or language
            if tag is None:
                raise _no_language(source)
            text = " ".join(part for part in parts if part).strip()
            counts["repeated ids"] += found.setdefault((tag, str(name)), text) != text
    return found


def _no_language(source: str) -> InputError:
    own = tag_of(Path(source).name) or "en"
    return InputError(
        f"{source} does not say the language of its texts: give each row a 'language', or make one folder "
        "for each language (en/, de/) and give the folder above. Where all are in one language, say it: "
        f"--languages {own}, in Python MultilingualPool.read({source!r}, [{own!r}]); "
        "evaluate multilingual-pool needs two, and xlingual data translate-pool makes them"
    )


def _language(row: dict[str, Any], where: str) -> str | None:
    more = row.get("metadata")
    for own in (row, more if isinstance(more, dict) else {}):
        word = next((own[key] for key in ("language", "lang") if not is_missing(own.get(key))), None)
        if word is not None:
            tag = tag_of(str(word), any_code=True)
            if tag is None:
                raise InputError(
                    f"{where}: {word!r:.60} is no language: write a tag such as 'en' or 'zh-Hant'"
                )
            return tag
    return None


def take_qrels(found: Judgements, path: Path, split: str, counts: Counter[str]) -> None:
    """Add the judgements of a file, all counted by their grades; one of 0 or below says irrelevant."""
    for where, (query, document, grade) in _qrels(path):
        counts[f"grade {grade}"] += 1
        if grade <= 0:
            found.irrelevant.setdefault(query, {}).setdefault(document, split)
            continue
        if found.split.setdefault(query, split) != split:
            counts["queries in several splits"] += 1
            continue
        before = found.grades.setdefault(query, {}).setdefault(document, grade)
        if before != grade:
            raise InputError(f"{where}: {query!r} and {document!r} are judged {before} before: keep one")


def _qrels(path: Path) -> Iterator[tuple[str, tuple[str, str, int]]]:
    """Yield (place, (query, document, grade)): of Parquet, JSONL, TSV with or without header, TREC's form."""
    if path.name.endswith((".parquet", ".jsonl", ".jsonl.gz")):
        for where, row in read_records(path):
            cells = [row.get(name) for name in ("query-id", "corpus-id", "score")]
            if any(is_missing(cell) for cell in cells):
                raise InputError(f"{where}: expected query-id, corpus-id and score: name the columns so")
            yield where, (str(cells[0]), str(cells[1]), _grade(cells[2], where))
        return
    for number, line in read_lines(path):
        fields = line.split("\t") if "\t" in line else line.split()
        where = f"{path}, line {number}"
        if not fields or (number == 1 and not _is_number(fields[-1])):
            continue
        if len(fields) not in (3, 4):
            raise InputError(
                f"{where}: {len(fields)} fields where query, document and grade are expected: mend the line"
            )
        yield where, (fields[0].strip(), fields[-2].strip(), _grade(fields[-1], where))


def _grade(value: Any, where: str) -> int:  # noqa: ANN401  (a cell)
    number = float(value) if _is_number(value) else math.nan
    if not number.is_integer():
        raise InputError(f"{where}: found {value!r:.40} where a grade is expected: write whole numbers")
    return int(number)


def _is_number(value: Any) -> bool:  # noqa: ANN401  (a cell)
    try:
        return math.isfinite(float(value))
    except (TypeError, ValueError):
        return False
