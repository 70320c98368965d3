"""Files of runs and of judgements, as search systems, trec_eval, ranx, BEIR, MS MARCO and MTEB write them.

Lines      query Q0 candidate rank score tag          TREC's run; fields after the tag are left
           query candidate rank                       MS MARCO's run
           query 0 candidate grade                    TREC's judgements
           query candidate grade                      BEIR's judgements, with or without a header
Rows       JSON lines, CSV, Parquet: a query, a candidate, and a score, rank or grade
Objects    {query: {candidate: score or grade}} in JSON, or CBOR (ranx' .lz4); MTEB's predictions
Any of them may be compressed with gzip or LZ4. Where lines hold tabs, names may hold spaces.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from xlingual.arrays import Floats
from xlingual.data.languages import tag_of
from xlingual.data.rows import is_missing, is_number, parsed, read_bytes, read_parquet, read_rows, unpacked
from xlingual.errors import InputError, listed
from xlingual.files import regular_file
from xlingual.results.provenance import note_file

EXPECTED = (
    "a TREC run (query Q0 candidate rank score tag), JSON lines, CSV or Parquet (query_id, candidate_id, "
    "score or rank), ranx' files or MTEB's predictions"
)
_RUN, _MSMARCO = ("query", "Q0", "candidate", "rank", "score", "tag"), ("query", "candidate", "rank")
_QRELS, _BEIR = ("query", "iteration", "candidate", "grade"), ("query", "candidate", "grade")
_NUMBERS = ("rank", "score", "grade")
# what a column is → its name, and those of ranx, BEIR and trec_eval; the first that is there counts
_COLUMNS = {
    "query": ("query_id", "q_id", "query-id", "qid", "query"),
    "candidate": ("candidate_id", "doc_id", "corpus-id", "docid", "docno", "candidate"),
    "score": ("score",),
    "rank": ("rank",),
    "grade": ("score", "grade", "relevance"),
}
_PREDICTIONS = "mteb_model_meta"  # the key that MTEB's files of predictions have beside their subsets

Columns = dict[str, Any]  # `query` and `candidate`: strings of Arrow; the others float64, NaN for none


def read_run(path: Path) -> Columns:
    """Read the lines of a run, with scores or ranks; a folder is MTEB's with the predictions of a task."""
    if path.is_dir():
        files = sorted(path.glob("*_predictions.json"))
        if len(files) != 1:
            holds = f"several runs, {listed(map(str, files), 5)}" if files else "no run"
            raise InputError(f"{path} is a folder with {holds}: give {EXPECTED}")
        path = files[0]
    note_file("run", regular_file(path, "run"))
    columns, content = _content(path, (_RUN, _MSMARCO), ("score", "rank"))
    if columns is None:
        if isinstance(content, dict) and _PREDICTIONS in content:
            content = _predictions(str(path), content)
        if not isinstance(content, dict) or not content:
            raise InputError(f"{path} is no run: expected {EXPECTED}")
        columns = columns_of(str(path), content)
    if not {"score", "rank"} & {*columns}:
        raise InputError(f"{path}: has neither scores nor ranks: expected {EXPECTED}")
    return columns


def read_judgements(path: Path) -> Columns:
    """Read judgements: queries, candidates and grades."""
    note_file("qrels", regular_file(path, "file of judgements"))
    columns, content = _content(path, (_QRELS, _BEIR), ("grade",))
    if columns is None:
        if not isinstance(content, dict) or not all(isinstance(own, dict) for own in content.values()):
            raise InputError(f"{path} holds no judgements: expected {{query: {{candidate: grade}}}}")
        columns = columns_of(str(path), content, "grade")
    if "grade" not in columns:
        raise InputError(f"{path} has no grades: expected one of the columns {listed(_COLUMNS['grade'])}")
    return columns


def columns_of(source: str, results: Mapping[Any, Any], what: str = "score") -> Columns:
    """Make columns of {query: {candidate: number}}, or of {query: [candidate, …]}, best first."""
    if results and all(isinstance(own, list | tuple) for own in results.values()):
        what, results = "rank", {query: _ranked(own) for query, own in results.items()}
    for query, own in results.items():
        if not isinstance(own, Mapping):
            raise InputError(
                f"{source}: the results of query {query!r:.60} are {own!r:.60}: expected "
                "{candidate: score} of every query, or a list of candidates' ids of every query, best first"
            )
    return {
        "query": _names(source, [query for query, own in results.items() for _ in own]),
        "candidate": _names(source, [name for own in results.values() for name in own]),
        what: _numbers(source, [value for own in results.values() for value in own.values()]),
    }


def _ranked(names: Sequence[Any]) -> Any:  # noqa: ANN401
    """Give the candidates of a list their ranks, the best to a repeated one; other lists as they are."""
    if not all(isinstance(name, str | int) for name in names):
        return names
    return {name: rank for rank, name in reversed([*enumerate(names, 1)])}


def _content(
    path: Path, layouts: Sequence[tuple[str, ...]], values: Sequence[str]
) -> tuple[Columns | None, Any]:
    """Read the columns in a file, those of `values` that it has among them; or the object in it."""
    source, ending = str(path), path.name.lower()
    if ending.endswith((".parquet", ".pq")):
        table = read_parquet(path)
        by_name = {name: table[name].combine_chunks() for name in table.column_names}
        return _columns(source, by_name, values), None
    if ending.removesuffix(".gz").endswith((".csv", ".jsonl")):
        rows = [row for _, row in read_rows(path)] or [{}]
        by_name = {
            name: [row.get(name) for row in rows] for name in dict.fromkeys(n for r in rows for n in r)
        }
        return _columns(source, by_name, values), None
    raw = unpacked(read_bytes(path), path)  # ranx compresses twice
    if raw[:200].lstrip()[:1] in (b"{", b"["):
        return None, parsed(raw, source)
    if 0xA0 <= (raw[0] if raw else 0) <= 0xBF:  # a map of CBOR
        try:
            return None, _cbor(raw, 0)[0]
        except (IndexError, struct.error, UnicodeDecodeError, RecursionError, TypeError):
            raise InputError(f"{source} is neither text nor whole CBOR: expected {EXPECTED}") from None
    return _columns_of_lines(source, raw, layouts), None


def _columns(source: str, by_name: Mapping[str, Any], values: Sequence[str]) -> Columns:
    """Find the columns of a table by what they are; they are lists, or arrays of Arrow."""
    columns = Columns()
    for what in ("query", "candidate", *values):
        name = next((name for name in _COLUMNS[what] if name in by_name), None)
        if name is not None:
            columns[what] = (_numbers if what in _NUMBERS else _names)(source, by_name[name])
        elif what not in _NUMBERS:
            raise InputError(
                f"{source}: no column names the {what}: expected {listed(_COLUMNS[what])}; found "
                f"{listed(by_name, 20) or 'none'}"
            )
    return columns


def _numbers(source: str, values: Any) -> Floats:  # noqa: ANN401  (a list, or an array of Arrow)
    """Take scores, ranks or grades as float64, NaN for none."""
    try:
        if not isinstance(values, list):
            values = values.to_numpy(zero_copy_only=False)
        result = np.asarray(values, dtype=np.float64)
        if result.shape == (len(values),):
            return result
    except (TypeError, ValueError, OverflowError):
        pass
    odd = [v for v in values if isinstance(v, bool) or not isinstance(v, int | float)]
    example = f"{odd[0]!r:.60}" if odd else "too large a number"
    raise InputError(f"{source}: {example} stands for a score, a rank or a grade: expected a number")


def _names(source: str, values: Any) -> Any:  # noqa: ANN401  (a list, or an array of Arrow)
    import pyarrow as pa

    if isinstance(values, list):
        try:
            return pa.array([None if is_missing(value) else str(value) for value in values], pa.string())
        except UnicodeEncodeError as error:
            raise InputError(f"{source}: {error.object!r:.60} is no name: it is not valid Unicode") from None
    if pa.types.is_string(values.type) or pa.types.is_dictionary(values.type):
        return values
    if pa.types.is_integer(values.type) or pa.types.is_large_string(values.type):
        return values.cast(pa.string())
    raise InputError(f"{source}: a column of ids holds {values.type}: expected strings or whole numbers")


def _cbor(raw: bytes, at: int) -> tuple[Any, int]:
    """Decode one value of CBOR (RFC 8949): maps, texts and numbers, which is what ranx writes."""
    kind, low = raw[at] >> 5, raw[at] & 31
    at += 1
    if kind == 7 and low in (25, 26, 27):
        code, size = {25: (">e", 2), 26: (">f", 4), 27: (">d", 8)}[low]
        return struct.unpack_from(code, raw, at)[0], at + size
    size = 1 << (low - 24) if 24 <= low <= 27 else 0
    length = int.from_bytes(raw[at : at + size], "big") if size else low
    at += size
    if kind in (0, 1):
        return (length if kind == 0 else -1 - length), at
    if kind == 3:
        if at + length > len(raw):
            raise IndexError
        return raw[at : at + length].decode(), at + length
    if kind != 5 or low == 31:
        raise TypeError
    result = {}
    for _ in range(length):
        key, at = _cbor(raw, at)
        result[key], at = _cbor(raw, at)
    return result, at


def _predictions(source: str, content: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Read the results in MTEB's predictions, {subset: {split: {query: {document: score}}}}; test of splits.

    Several subsets are named by languages, which stand before the names of queries and documents ("de:17").
    """
    subsets = {name: own for name, own in content.items() if name != _PREDICTIONS}
    joined: dict[str, dict[str, float]] = {}
    for subset, splits in subsets.items():
        only = next(iter(splits.values()), None) if isinstance(splits, dict) and len(splits) == 1 else None
        results = splits.get("test", only) if isinstance(splits, dict) else None
        if not isinstance(results, dict) or not all(isinstance(own, dict) for own in results.values()):
            raise InputError(
                f"{source}: {subset!r} holds no results of queries in a split 'test': only predictions of "
                "retrieval tasks are runs ({query: {document: score}})"
            )
        parts = [subset] if tag_of(subset) else subset.split("-")
        tags = [tag_of(part, any_code=True) for part in (parts[0], parts[-1])]
        if len(subsets) > 1 and None in tags:
            raise InputError(
                f"{source}: the subset {subset!r} names no language: keep one subset in the file"
            )
        documents, queries = (f"{tag}:" if len(subsets) > 1 else "" for tag in tags)
        for query, own in results.items():
            joined[f"{queries}{query}"] = {f"{documents}{name}": score for name, score in own.items()}
    return joined


def _columns_of_lines(source: str, raw: bytes, layouts: Sequence[tuple[str, ...]]) -> Columns:
    """Read the columns of lines; the first line says which layout they have, and whether tabs divide."""
    import pyarrow as pa
    from pyarrow import csv

    first, _, rest = raw.lstrip(b"\r\n").partition(b"\n")
    by_length = {len(names): names for names in layouts}
    tabs = len(first.split(b"\t")) in by_length
    fields = first.split(b"\t" if tabs else None)
    names = by_length.get(len(fields), layouts[0])
    if len(names) == 3 and rest.strip() and not is_number(fields[-1].decode("utf-8", "replace")):
        raw = b"\n" + rest  # without the header; lines keep their numbers
    types = {
        name: pa.float64() if name in _NUMBERS else pa.dictionary(pa.int32(), pa.string()) for name in names
    }
    read = [name for name in names if name in ("query", "candidate", *_NUMBERS)]
    try:
        table = csv.read_csv(
            pa.py_buffer(raw),
            read_options=csv.ReadOptions(column_names=list(names), block_size=1 << 24),
            parse_options=csv.ParseOptions(delimiter="\t" if tabs else " ", quote_char=False),
            convert_options=csv.ConvertOptions(
                column_types=types, include_columns=read, null_values=[], strings_can_be_null=False
            ),
        )
        columns = {name: table[name].combine_chunks() for name in read}
    except pa.ArrowException:  # fields after the tag, or an error that names its line
        rows = [*_fields(source, raw, names, tabs=tabs)]
        if not rows:
            raise InputError(f"{source}: holds no lines: expected {' '.join(layouts[0])}") from None
        cells = {name: [row[names.index(name)] for row in rows] for name in read}
        columns = {n: pa.array([*map(float, c)] if n in _NUMBERS else c) for n, c in cells.items()}
    columns |= {name: columns[name].to_numpy() for name in read if name in _NUMBERS}
    if names is _MSMARCO:
        queries, rank = columns["query"].to_pylist(), columns["rank"]
        places = {*zip(queries, rank.tolist(), strict=True)}
        firsts = sum(place == 1 for _, place in places)
        if len(places) < len(rank) or firsts < len({*queries}) or (rank % 1 != 0).any() or (rank < 1).any():
            raise InputError(
                f"{source}: three columns are MS MARCO's query, candidate and rank from 1 in each query, and "
                f"this file's third is something else: expected {EXPECTED}"
            )
    return columns


def _fields(source: str, raw: bytes, names: tuple[str, ...], *, tabs: bool) -> Iterator[list[str]]:
    """Yield the fields of each line; raise InputError for the first line that is not as expected."""
    for number, line in enumerate(raw.split(b"\n"), start=1):
        try:
            text = line.decode("utf-8").rstrip("\r")
        except UnicodeDecodeError:
            raise InputError(f"{source}: line {number} is not UTF-8: write the file as UTF-8") from None
        if not text.strip():
            continue
        fields = text.split("\t" if tabs else None)
        if len(fields) != len(names) and (names is not _RUN or len(fields) < len(names)):
            raise InputError(
                f"{source}: line {number} has {len(fields)} fields, {' '.join(fields)[:80]!r}: expected "
                f"{len(names)}, {' '.join(names)}"
            )
        for name in (name for name in names if name in _NUMBERS):
            if not is_number(value := fields[names.index(name)]):
                raise InputError(f"{source}: line {number}: the {name} is {value!r:.40}: expected a number")
        yield fields[: len(names)]
