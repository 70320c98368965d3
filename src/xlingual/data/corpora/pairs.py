"""Sentence pairs with scores, by pair of languages: STS 2017 and 2022."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from xlingual.data.corpora.files import CorpusFolder, aligned, parts_of
from xlingual.data.languages import tag_of
from xlingual.data.rows import is_missing, read_rows
from xlingual.errors import InputError, warn

_ENDINGS = (".jsonl.gz", ".jsonl", ".parquet")
Pairs = Mapping[tuple[str, str], list[dict[str, Any]]]  # the two languages → id, score, sentence1, sentence2


def sts17(folder: CorpusFolder) -> Pairs:
    """Return the pairs of the tracks, as SemEval published them or as MTEB has them."""
    inputs = folder.files("STS.input.track*.txt")
    if not inputs:
        return _records(folder)
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for path in inputs:
        parts = parts_of(
            path, r"STS\.input\.(?P<track>track\w+)\.(?P<one>[a-z]{2})-(?P<other>[a-z]{2})(?P<more>.*)\.txt"
        )
        if parts is None:
            continue
        gold = folder.files(path.name.replace("STS.input.", "STS.gs.", 1))
        if not gold:
            raise folder.wrong(f"{path.name.replace('input', 'gs', 1)} is missing")
        rows = found.setdefault(
            (folder.language(parts["one"], path), folder.language(parts["other"], path)), []
        )
        for number, (line, score) in enumerate(aligned([path, gold[0]]), 1):
            fields = line.split("\t")
            if len(fields) < 2:
                raise InputError(f"{path}, line {number}: no tab: expected two sentences with a tab between")
            rows.append(
                _row(f"{parts['track']}:{number}", score, fields[0], fields[1], f"{gold[0]}, line {number}")
            )
    return _wanted(folder, found)


def sts22(folder: CorpusFolder) -> Pairs:
    """Return the pairs of articles with their texts, as MTEB has them; SemEval published links only."""
    return _records(folder)


def _records(folder: CorpusFolder) -> Pairs:
    """Return the pairs of files of records, whose name, or whose folder's, is the pair of languages."""
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for path in _each_once(folder.needed(*(f"*{ending}" for ending in _ENDINGS))):
        pair = _pair(path.name.partition(".")[0]) or _pair(path.parent.name)
        if pair is None or (path.parent.name == "train" or path.name.startswith("train")):
            continue
        rows = found.setdefault(pair, [])
        for where, record in read_rows(path, ("id", "score", "sentence1", "sentence2")):
            texts = [record.get(name) for name in ("sentence1", "sentence2")]
            if any(not isinstance(text, str) for text in texts):
                raise InputError(f"{where}: expected sentence1, sentence2 and score, as MTEB has them")
            rows.append(_row(str(len(rows) + 1), record.get("score"), texts[0], texts[1], where))
    if not found:
        raise folder.wrong("no file is named by its languages")
    return _wanted(folder, found)


def _each_once(paths: Iterable[Path]) -> list[Path]:
    """Return the first of files that differ in their endings only, such as one and its compressed form."""
    kept: dict[tuple[Path, str], Path] = {}
    for path in paths:
        ending = next(ending for ending in _ENDINGS if path.name.endswith(ending))
        first = kept.setdefault((path.parent, path.name.removesuffix(ending)), path)
        if first is not path:
            warn(
                f"{path} is left out: it stands beside {first.name}, which is read; to read it instead, move "
                f"{first.name} away"
            )
    return list(kept.values())


def _pair(word: str) -> tuple[str, str] | None:
    one, _, other = word.partition("-")
    tags = (tag_of(one), tag_of(other or one))
    return (tags[0], tags[1]) if tags[0] and tags[1] else None


def _row(name: str, score: Any, first: Any, second: Any, where: str) -> dict[str, Any]:  # noqa: ANN401
    try:
        value = None if is_missing(score) else float(score)
    except (TypeError, ValueError):
        raise InputError(
            f"{where}: found {score!r:.40} where a score is expected: download it again"
        ) from None
    return {"id": name, "score": value, "sentence1": first, "sentence2": second}


def _wanted(folder: CorpusFolder, found: Pairs) -> Pairs:
    """Return the pairs whose languages are all wanted, without pairs that have an empty sentence."""
    kept = {}
    for pair, rows in found.items():
        wanted = [folder.wants(tag) for tag in pair]  # both, since they are counted
        if all(wanted):
            kept[pair] = [row for row in rows if row["sentence1"].strip() and row["sentence2"].strip()]
    return kept
