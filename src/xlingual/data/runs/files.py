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
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from xlingual.arrays import Floats
from xlingual.data.languages import tag_of
from xlingual.data.rows import (
    is_missing,
    is_number,
    parsed,
    parsed_row,
    read_bytes,
    read_rows,
    read_table,
    unpacked,
)
from xlingual.errors import InputError, listed, warn
from xlingual.files import regular_file
from xlingual.results.provenance import note_file

EXPECTED = (
    "a TREC run (query Q0 candidate rank score tag), JSON lines, CSV or Parquet (query_id, candidate_id, "
    "score or rank), ranx' files or MTEB's predictions"
)
_RUN, _MSMARCO = ("query", "Q0", "candidate", "rank", "score", "tag"), ("query", "candidate", "rank")
_QRELS, _BEIR = ("query", "iteration", "candidate", "grade"), ("query", "candidate", "grade")
_NUMBERS = ("rank", "score", "grade", "latency")
# what a column is → the names that it has in the files of others; the first that is there counts
_COLUMNS = {
    "query": ("query_id", "query", "query-id", "qid", "q_id", "topic"),
    "candidate": (
        *("candidate_id", "candidate", "doc_id", "docid", "docno", "document_id", "corpus_id", "corpus-id"),
        *("passage_id", "pid", "id", "_id"),
    ),
    "score": ("score", "_score", "similarity", "sim"),
    "rank": ("rank", "position"),
    "grade": ("score", "grade", "relevance", "rel", "label"),
    "latency": ("latency_ms", "took_ms", "took"),  # milliseconds
}
_RESULTS = ("results", "hits", "candidates", "documents", "docs")
_PREDICTIONS = "mteb_model_meta"  # the key that MTEB's files of predictions have beside their subsets


@dataclass(frozen=True, eq=False)
class RunLines:
    """Parallel columns [p] in any order; of score and rank at least one is there."""

    query: Any  # of Arrow: strings, or a dictionary of them
    candidate: Any
    score: Floats | None = None
    rank: Floats | None = None
    latency: Mapping[str, float] = field(default_factory=dict)  # query → milliseconds, where it is known


def read_run(path: Path) -> RunLines:
    """Read the lines of a run, whatever its format; a folder is MTEB's with the predictions of one task."""
    if path.is_dir():
        files = sorted(path.glob("*_predictions.json"))
        if len(files) != 1:
            holds = f"several runs, {listed(map(str, files), 5)}" if files else "no run"
            raise InputError(f"{path} is a folder with {holds}: give {EXPECTED}")
        path = files[0]
    note_file("run", regular_file(path, "run"))
    source, content = str(path), _content(path, (_RUN, _MSMARCO), ("score", "rank", "latency"))
    if not isinstance(content, _Columns):
        if isinstance(content, dict) and _PREDICTIONS in content:
            content = _mteb_results(source, content)
        if not isinstance(content, dict) or not content:
            raise InputError(f"{source} is no run: expected {EXPECTED}")
        return lines_of_mapping(source, content)
    if not {"score", "rank"} & {*content}:
        raise InputError(f"{source}: has neither scores nor ranks: expected {EXPECTED}")
    query, latency = content["query"], dict[str, float]()
    if "latency" in content:
        timed = zip(query.to_pylist(), content["latency"].tolist(), strict=True)
        latency = {str(name): value for name, value in timed if value == value}
    for name, value in latency.items():
        if not 0 <= value < float("inf"):
            raise InputError(
                f"{source}: the latency of query {name!r} is {value:g}: expected milliseconds, 0 or more"
            )
    return RunLines(query, content["candidate"], content.get("score"), content.get("rank"), latency)


def read_judgements(path: Path) -> tuple[Any, Any, Floats]:
    """Read judgements: columns of queries and candidates (strings of Arrow), and their grades, float64."""
    note_file("qrels", regular_file(path, "file of judgements"))
    content = _content(path, (_QRELS, _BEIR), ("grade",))
    if not isinstance(content, _Columns):
        if not isinstance(content, dict) or not all(isinstance(own, dict) for own in content.values()):
            raise InputError(f"{path} holds no judgements: expected {{query: {{candidate: grade}}}}")
        return columns_of_mapping(str(path), content)
    if "grade" not in content:
        raise InputError(f"{path} has no grades: expected one of the columns {listed(_COLUMNS['grade'])}")
    return content["query"], content["candidate"], content["grade"]


def columns_of_mapping(source: str, results: Mapping[Any, Mapping[Any, Any]]) -> tuple[Any, Any, Floats]:
    """Return the columns of {query: {candidate: number}}."""
    query = [name for name, own in results.items() for _ in own]
    candidate = [name for own in results.values() for name in own]
    value = _numbers(source, [value for own in results.values() for value in own.values()])
    return _names(source, query), _names(source, candidate), value


def lines_of_mapping(source: str, results: Mapping[Any, Any]) -> RunLines:
    """Return the lines of {query: {candidate: score}} or {query: [candidate, …]}, best first.

    Lists have ranks alone; where one query has a list, ranks count for all.
    """
    if all(isinstance(own, Mapping) for own in results.values()):
        return RunLines(*columns_of_mapping(source, results))
    ranked: dict[Any, dict[Any, float]] = {}
    for name, own in results.items():
        if isinstance(own, Mapping):
            _, place = np.unique(-_numbers(source, [*own.values()]), return_inverse=True)
            ranked[name] = dict(zip(own, (place + 1.0).tolist(), strict=True))
        elif isinstance(own, list | tuple) and all(isinstance(each, str | int) for each in own):
            ranked[name] = {each: float(rank) for rank, each in reversed([*enumerate(own, 1)])}
        else:
            raise InputError(
                f"{source}: the results of query {name!r:.60} are {own!r:.60}: expected {{candidate: score}} "
                "or a list of candidates' ids, best first"
            )
    query, candidate, rank = columns_of_mapping(source, ranked)
    return RunLines(query, candidate, None, rank)


# --- any file as columns, or as an object


class _Columns(dict[str, Any]):
    """Columns by what they are: `query` and `candidate` strings of Arrow, the others float64."""


def _content(path: Path, layouts: Sequence[tuple[str, ...]], values: Sequence[str]) -> Any:  # noqa: ANN401
    """Return the columns in a file, those of `values` that it has among them; or the object in it."""
    source, name = str(path), path.name.lower()
    if name.endswith((".parquet", ".pq")):
        table = read_table(path)
        return _columns(source, {name: table[name].combine_chunks() for name in table.column_names}, values)
    if name.endswith((".csv", ".csv.gz")):
        return _columns_of_rows(source, [row for _, row in read_rows(path)], values)
    raw = unpacked(read_bytes(path))  # ranx compresses twice
    start = raw[:200].lstrip()[:1]
    if start in (b"{", b"["):
        lines = [(number, line) for number, line in enumerate(raw.split(b"\n"), start=1) if line.strip()]
        if lines[0][1].rstrip().endswith(b"}") and [line.lstrip()[:1] for _, line in lines[1:2]] == [b"{"]:
            rows = [parsed_row(line, f"{source}, line {number}") for number, line in lines]
            return _columns_of_rows(source, rows, values)
        content = parsed(raw, source)
        flat = isinstance(content, dict) and not any(isinstance(value, dict) for value in content.values())
        if flat and any(word in content for word in _COLUMNS["query"]):
            return _columns_of_rows(source, [content], values)
        return content
    if 0xA0 <= (raw[0] if raw else 0) <= 0xBF:  # a map of CBOR
        try:
            return _cbor(raw, 0)[0]
        except (IndexError, struct.error, UnicodeDecodeError, RecursionError, TypeError):
            raise InputError(f"{source} is neither text nor whole CBOR: expected {EXPECTED}") from None
    return _columns_of_lines(source, raw, layouts)


def _columns_of_rows(source: str, rows: Sequence[dict[str, Any]], values: Sequence[str]) -> _Columns:
    """Return the columns of rows; of runs each may hold all results of a query."""
    results = next((name for name in _RESULTS if rows and name in rows[0]), None)
    if results is not None and "score" in values:
        rows = list(_result_rows(source, rows, results))
    return _columns(source, {name: [row.get(name) for row in rows] for name in (rows or [{}])[0]}, values)


def _result_rows(source: str, rows: Sequence[dict[str, Any]], results: str) -> Iterator[dict[str, Any]]:
    seen: set[str] = set()
    for number, row in enumerate(rows, start=1):
        query = next((row[name] for name in _COLUMNS["query"] if name in row), None)
        if query is None or str(query) in seen or not isinstance(row.get(results), list):
            raise InputError(
                f"{source}: object {number} should have a query that no other has, and a list {results!r}: "
                f'expected {{"query_id": …, "{results}": [{{"id": …, "score": …}}, …]}}'
            )
        seen.add(str(query))
        shared = {name: row[name] for name in _COLUMNS["latency"] if name in row} | {"query_id": query}
        for rank, result in enumerate(row[results], start=1):
            result = result if isinstance(result, dict) else {"id": result}
            ranked = {} if any(name in result for name in _COLUMNS["score"]) else {"rank": rank}
            yield {**shared, **ranked, **result}


def _columns(source: str, by_name: Mapping[str, Any], values: Sequence[str]) -> _Columns:
    """Return the columns of a table by what they are; its columns are lists, or arrays of Arrow."""
    columns = _Columns()
    for what in ("query", "candidate", *values):
        name = next((name for name in _COLUMNS[what] if name in by_name), None)
        if name is not None:
            of = _numbers if what in _NUMBERS else _names
            columns[what] = of(source, by_name[name])
        elif what not in _NUMBERS:
            raise InputError(
                f"{source}: no column names the {what}: expected {listed(_COLUMNS[what])}; found "
                f"{listed(by_name, 20) or 'none'}"
            )
    return columns


def _numbers(source: str, values: Any) -> Floats:  # noqa: ANN401  (a list, or an array of Arrow)
    """Scores, ranks, grades or latencies as float64, NaN for none."""
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


def _mteb_results(source: str, content: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Return the results in MTEB's predictions, {subset: {split: {query: {document: score}}}}.

    Several subsets are named by languages, which stand before the names of queries and documents ("de:17").
    """
    subsets = {name: own for name, own in content.items() if name != _PREDICTIONS}
    joined: dict[str, dict[str, float]] = {}
    for subset, splits in subsets.items():
        split = "test" if not isinstance(splits, dict) or len(splits) != 1 else next(iter(splits))
        results = splits.get(split) if isinstance(splits, dict) else None
        if not isinstance(results, dict) or not all(isinstance(own, dict) for own in results.values()):
            raise InputError(
                f"{source}: {subset!r} holds no results of queries in the split {split!r}: only predictions "
                "of retrieval tasks are runs ({query: {document: score}})"
            )
        if len(splits) > 1:
            warn(f"{source}: of the splits {listed(splits, 10)} of {subset!r}, test is read")
        of_documents = of_queries = ""
        if len(subsets) > 1:
            parts = [subset] if tag_of(subset) else subset.split("-")
            tags = [tag_of(part, any_code=True) for part in (parts[0], parts[-1])]
            if None in tags:
                raise InputError(
                    f"{source}: the subset {subset!r} names no language: keep one subset in the file"
                )
            of_documents, of_queries = (f"{tag}:" for tag in tags)
        for query, own in results.items():
            joined[f"{of_queries}{query}"] = {f"{of_documents}{name}": score for name, score in own.items()}
    return joined


# --- lines of fields


def _columns_of_lines(source: str, raw: bytes, layouts: Sequence[tuple[str, ...]]) -> _Columns:
    """Return the columns of lines; the first line says which layout they have, and whether tabs divide."""
    import pyarrow as pa
    from pyarrow import csv

    first, _, rest = raw.lstrip(b"\r\n").partition(b"\n")
    by_length = {len(names): names for names in layouts}
    tabs = len(first.split(b"\t")) in by_length
    fields = first.split(b"\t" if tabs else None)
    names = by_length.get(len(fields), layouts[0])
    if len(names) == 3 and rest.strip() and not is_number(fields[-1].decode("utf-8", "replace")):
        raw = b"\n" + rest  # without the header; lines keep their numbers
    if not raw.strip():
        raise InputError(f"{source}: holds no lines: expected {' '.join(layouts[0])}")
    types = {
        name: pa.float64() if name in _NUMBERS else pa.dictionary(pa.int32(), pa.string()) for name in names
    }
    read = [name for name in names if name in ("query", "candidate", *_NUMBERS)]
    odd = b"\t", b"  ", b"\r", b" \n", b"\n "
    plain = raw
    if not tabs and (any(part in raw for part in odd) or raw.strip(b" ") != raw):
        plain = b"\n".join(b" ".join(line.split()) for line in raw.splitlines())
    try:
        table = csv.read_csv(
            pa.py_buffer(plain),
            read_options=csv.ReadOptions(column_names=list(names), block_size=1 << 24),
            parse_options=csv.ParseOptions(delimiter="\t" if tabs else " ", quote_char=False),
            convert_options=csv.ConvertOptions(
                column_types=types, include_columns=read, null_values=[], strings_can_be_null=False
            ),
        )
        columns = _Columns({name: table[name].combine_chunks() for name in read})
    except pa.ArrowException:  # fields after the tag, or an error that names its line
        rows = list(_fields(source, raw, names, tabs=tabs))
        if not rows:
            raise InputError(f"{source}: holds no lines: expected {' '.join(layouts[0])}") from None
        of = {name: [row[names.index(name)] for row in rows] for name in read}
        columns = _Columns({n: pa.array([*map(float, c)] if n in _NUMBERS else c) for n, c in of.items()})
    columns.update({name: columns[name].to_numpy() for name in read if name in _NUMBERS})
    if names is _MSMARCO:
        query, rank = columns["query"].to_pylist(), columns["rank"]
        places = {*zip(query, rank.tolist(), strict=True)}
        firsts = sum(place == 1 for _, place in places)
        if len(places) < len(query) or firsts < len({*query}) or (rank % 1 != 0).any() or (rank < 1).any():
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
