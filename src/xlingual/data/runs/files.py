"""Files of runs and of judgements, as search systems, trec_eval, ranx, BEIR, MS MARCO and MTEB write them.

Lines      query Q0 candidate rank score tag          TREC's run; fields after the tag are left
           query candidate rank                       MS MARCO's run
           query 0 candidate grade                    TREC's judgements
           query candidate grade                      BEIR's judgements, with or without a header
Rows       JSON lines, CSV, TSV with a header, Parquet: a query, a candidate, and a score, rank or grade
Objects    {query: {candidate: score or grade}} in JSON, or CBOR (ranx' .lz4); MTEB's predictions
Any of them may be compressed with gzip or LZ4. Where lines hold tabs, names may hold spaces.
"""

from __future__ import annotations

import struct
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
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
_NUMBERS = ("rank", "score", "grade")
_TABLES = (".parquet", ".pq", ".csv", ".csv.gz", ".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz")
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

    def __len__(self) -> int:
        return len(self.query)


def read_run(path: Path) -> RunLines:
    """Read the lines of a run, whatever its format; a folder is MTEB's with the predictions of one task."""
    if path.is_dir():
        files = sorted(path.glob("*_predictions.json"))
        if len(files) != 1:
            what = (
                f"several files of predictions: name one of {listed(map(str, files), 5)}" if files else "no"
            )
            raise InputError(f"{path} is a folder with {what}{'' if files else f' run: give {EXPECTED}'}")
        path = files[0]
    name = regular_file(path, "run").name.lower()
    note_file("run", path)
    if name.endswith(_TABLES):
        return _run_of_columns(str(path), _columns_of(path, ("query", "candidate"), ("score", "rank")))
    raw, content = _lines_or_object(path)
    if isinstance(content, dict) and _PREDICTIONS in content:
        return lines_of_mapping(str(path), _mteb_results(str(path), content))
    if (
        isinstance(content, dict)
        and content
        and all(isinstance(own, dict | list) for own in content.values())
    ):
        return lines_of_mapping(str(path), content)
    if isinstance(content, Rows):
        return _run_of_columns(str(path), content.columns(("query", "candidate"), ("score", "rank")))
    if content is not None:
        raise InputError(f"{path} is no run: expected {EXPECTED}")
    columns = _columns_of_lines(path, raw, (_RUN, _MSMARCO))
    lines = RunLines(columns["query"], columns["candidate"], columns.get("score"), columns["rank"])
    if lines.score is None:
        _check_msmarco(path, lines)
    return lines


def read_judgements(path: Path) -> tuple[Any, Any, Floats]:
    """Read judgements: columns of queries and candidates (strings of Arrow), and their grades, float64."""
    name = regular_file(path, "file of judgements").name.lower()
    note_file("qrels", path)
    if name.endswith(_TABLES):
        columns = _columns_of(path, ("query", "candidate"), ("grade",))
        return columns["query"], columns["candidate"], numbers(str(path), columns["grade"])
    raw, content = _lines_or_object(path)
    if isinstance(content, Rows):
        columns = content.columns(("query", "candidate"), ("grade",))
        return columns["query"], columns["candidate"], numbers(str(path), columns["grade"])
    if content is not None:
        if not isinstance(content, dict) or not all(isinstance(own, dict) for own in content.values()):
            raise InputError(f"{path} holds no judgements: expected {{query: {{candidate: grade}}}}")
        return columns_of_mapping(str(path), content)
    columns = _columns_of_lines(path, raw, (_QRELS, _BEIR))
    return columns["query"], columns["candidate"], columns["grade"]


def columns_of_mapping(source: str, results: Mapping[Any, Mapping[Any, Any]]) -> tuple[Any, Any, Floats]:
    """Return the columns of {query: {candidate: number}}."""
    pairs = [(query, candidate) for query, own in results.items() for candidate in own]
    value = numbers(source, [value for own in results.values() for value in own.values()])
    return *(_names(source, [pair[side] for pair in pairs]) for side in (0, 1)), value


def lines_of_mapping(source: str, results: Mapping[Any, Any]) -> RunLines:
    """Return the lines of {query: {candidate: score}} or {query: [candidate, …]}, best first.

    Lists have ranks alone; where one query has a list, ranks count for all.
    """
    for name, own in results.items():
        if not isinstance(own, Mapping | list | tuple):
            raise InputError(
                f"{source}: the results of query {name!r:.60} are {own!r:.60}: expected {{candidate: score}} "
                "or a list of candidates, best first"
            )
    if all(isinstance(own, Mapping) for own in results.values()):
        return RunLines(*columns_of_mapping(source, results))
    ranked = {name: _ranks(source, own) for name, own in results.items()}
    query, candidate, rank = columns_of_mapping(source, ranked)
    return RunLines(query, candidate, None, rank)


def _ranks(source: str, results: Mapping[Any, Any] | Sequence[Any]) -> dict[Any, float]:
    if not isinstance(results, Mapping):
        if odd := [own for own in results if not isinstance(own, str | int)]:
            raise InputError(f"{source}: {odd[0]!r:.60} stands for a candidate: expected its id")
        return {candidate: float(rank) for rank, candidate in reversed([*enumerate(results, 1)])}
    _, place = np.unique(-numbers(source, [*results.values()]), return_inverse=True)
    return dict(zip(results, (place + 1.0).tolist(), strict=True))


def numbers(source: str, values: Any) -> Floats:  # noqa: ANN401  (a list, or an array of Arrow)
    """Scores, ranks, grades or latencies as float64, NaN for none."""
    try:
        if not isinstance(values, list):
            values = values.to_numpy(zero_copy_only=False)
        result = np.asarray(values, dtype=np.float64)
        if result.shape == (len(values),):
            return result
    except (TypeError, ValueError, OverflowError):
        pass
    odd = next(
        (v for v in values if isinstance(v, bool) or not isinstance(v, int | float)), "too large a one"
    )
    raise InputError(f"{source}: {odd!r:.60} stands for a score, a rank or a grade: expected a number")


class Rows:
    """Rows of JSON, the columns of which are still to be chosen."""

    def __init__(self, source: str, rows: Iterable[tuple[str, dict[str, Any]]]) -> None:
        self.source, self.rows = source, [row for _, row in rows]

    def columns(self, names: Sequence[str], any_of: Sequence[str]) -> dict[str, Any]:
        """Return the chosen columns by what they are: strings of Arrow for `names`, lists for the others."""
        rows = self.rows
        if rows and (results := _first_named(_RESULTS, rows[0])) is not None and "score" in any_of:
            rows = list(_results_of_queries(self.source, rows, results))
        chosen = _chosen(self.source, list(rows[0]) if rows else [], names, any_of)
        columns: dict[str, Any] = {what: [row.get(name) for row in rows] for what, name in chosen.items()}
        return columns | {what: _names(self.source, columns[what]) for what in names}


def _lines_or_object(path: Path) -> tuple[bytes, Any]:
    """Return the bytes of a file, and the object in it; None where it has lines of fields."""
    raw = unpacked(read_bytes(path))
    start = raw[:200].lstrip()[:1]
    if start in (b"{", b"["):
        lines = raw.lstrip().partition(b"\n")
        if lines[0].rstrip().endswith(b"}") and lines[2].lstrip()[:1] == b"{":  # an object in each line
            rows = enumerate(raw.splitlines(), start=1)
            places = ((f"{path}, line {number}", line) for number, line in rows if line.strip())
            return raw, Rows(str(path), ((where, parsed_row(line, where)) for where, line in places))
        content = parsed(raw, str(path))
        alone = isinstance(content, dict) and not any(isinstance(v, dict) for v in content.values())
        if alone and _first_named(_COLUMNS["query"], content) is not None:
            return raw, Rows(str(path), [(str(path), content)])
        return raw, content
    if raw[:1] and 0xA0 <= raw[0] <= 0xBF:  # a map of CBOR
        try:
            return raw, _cbor(raw, 0)[0]
        except (IndexError, struct.error, UnicodeDecodeError, RecursionError, TypeError):
            raise InputError(f"{path} is neither text nor whole CBOR: expected {EXPECTED}") from None
    return raw, None


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

    Where there are several subsets they are named by languages, and so are queries and documents then.
    """
    subsets = {name: own for name, own in content.items() if name != _PREDICTIONS}
    joined: dict[str, dict[str, float]] = {}
    for subset, splits in subsets.items():
        if not isinstance(splits, dict) or not splits:
            raise InputError(
                f"{source}: {subset!r} has no splits: expected the predictions of a retrieval task"
            )
        split = next(iter(splits)) if len(splits) == 1 else "test"
        if split not in splits:
            raise InputError(f"{source}: has the splits {listed(splits, 10)}: keep one of them in the file")
        if len(splits) > 1:
            warn(f"{source}: of the splits {listed(splits, 10)} of {subset!r}, test is read")
        results = splits[split]
        if not isinstance(results, dict) or not all(isinstance(own, dict) for own in results.values()):
            raise InputError(
                f"{source}: {subset!r} holds no results of queries: only predictions of retrieval tasks are "
                "runs ({query: {document: score}})"
            )
        before = _languages_of(source, subset) if len(subsets) > 1 else ("", "")
        for query, own in results.items():
            joined[f"{before[1]}{query}"] = {f"{before[0]}{name}": score for name, score in own.items()}
    return joined


def _languages_of(source: str, subset: str) -> tuple[str, str]:
    """Return what stands before the names of a subset's documents and queries, as "de:"."""
    whole = tag_of(subset)
    parts = subset.split("-") if whole is None else [subset]
    tags = [whole or tag_of(part, any_code=True) for part in (parts[0], parts[-1])]
    if None in tags:
        raise InputError(f"{source}: the subset {subset!r} names no language: keep one subset in the file")
    return f"{tags[0]}:", f"{tags[1]}:"


def _columns_of_lines(path: Path, raw: bytes, layouts: Sequence[tuple[str, ...]]) -> dict[str, Any]:
    """Return the columns of lines; the first line says which layout they have, and whether tabs divide."""
    import pyarrow as pa
    from pyarrow import csv

    first, _, rest = raw.lstrip(b"\r\n").partition(b"\n")
    if not raw.strip():
        raise InputError(f"{path}: holds no lines: expected {' '.join(layouts[0])}")
    by_length = {len(names): names for names in layouts}
    tabs = len(first.split(b"\t")) in by_length
    fields = first.split(b"\t" if tabs else None)
    names = by_length.get(len(fields), layouts[0])
    if len(names) == 3 and rest.strip() and not is_number(fields[-1].decode("utf-8", "replace")):
        raw = b"\n" + rest  # without the header; lines keep their numbers
    strings = pa.dictionary(pa.int32(), pa.string())
    types = {name: pa.float64() if name in _NUMBERS else strings for name in names}
    read = [name for name in names if name in ("query", "candidate", *_NUMBERS)]
    try:
        table = csv.read_csv(
            pa.py_buffer(raw if tabs else _single_spaced(raw)),
            read_options=csv.ReadOptions(column_names=list(names), block_size=1 << 24),
            parse_options=csv.ParseOptions(delimiter="\t" if tabs else " ", quote_char=False),
            convert_options=csv.ConvertOptions(
                column_types=types, include_columns=read, null_values=[], strings_can_be_null=False
            ),
        )
        columns = {name: table[name].combine_chunks() for name in read}
    except pa.ArrowException:
        rows = [*zip(*_fields(path, raw, names, tabs=tabs), strict=True)]
        if not rows:
            raise InputError(f"{path}: holds no lines: expected {' '.join(layouts[0])}") from None
        slow = {name: rows[names.index(name)] for name in read}
        columns = {n: pa.array([*map(float, c)] if n in _NUMBERS else c) for n, c in slow.items()}
    return {name: own.to_numpy() if name in _NUMBERS else own for name, own in columns.items()}


def _single_spaced(raw: bytes) -> bytes:
    """Return the lines with one space between fields; files that have that already are not copied."""
    odd = b"\t", b"  ", b"\r", b" \n", b"\n "
    if not any(part in raw for part in odd) and raw.strip(b" ") == raw:
        return raw
    return b"\n".join(b" ".join(line.split()) for line in raw.splitlines())


def _fields(path: Path, raw: bytes, names: tuple[str, ...], *, tabs: bool) -> Iterator[list[str]]:
    """Yield the fields of each line; raises InputError for the first line that is not as expected."""
    for number, line in enumerate(raw.split(b"\n"), start=1):
        try:
            text = line.decode("utf-8").rstrip("\r")
        except UnicodeDecodeError:
            raise InputError(f"{path}: line {number} is not UTF-8: write the file as UTF-8") from None
        if not text.strip():
            continue
        fields = text.split("\t" if tabs else None)
        if len(fields) != len(names) and (names is not _RUN or len(fields) < len(names)):
            raise InputError(
                f"{path}: line {number} has {len(fields)} fields, {' '.join(fields)[:80]!r}: expected "
                f"{len(names)}, {' '.join(names)}"
            )
        for name in (name for name in names if name in _NUMBERS):
            if not is_number(value := fields[names.index(name)]):
                raise InputError(f"{path}: line {number}: the {name} is {value!r:.40}: expected a number")
        yield fields[: len(names)]


def _check_msmarco(path: Path, lines: RunLines) -> None:
    """Raise InputError where the third of three columns is no rank from 1: it may be a score."""
    rank = np.asarray(lines.rank)
    query = lines.query.to_pylist()
    first = {name for name, place in zip(query, rank.tolist(), strict=True) if place == 1}
    twice = len({*zip(query, rank.tolist(), strict=True)}) < len(query)
    if twice or len(first) < len({*query}) or not (rank % 1 == 0).all() or (rank < 1).any():
        raise InputError(
            f"{path}: three columns are MS MARCO's query, candidate and rank from 1 in each query, and "
            f"this file's third is something else: expected {EXPECTED}"
        )


def _columns_of(path: Path, names: Sequence[str], any_of: Sequence[str]) -> dict[str, Any]:
    """Return the columns of a table with a header, or of JSON lines, by what they are."""
    if not path.name.lower().endswith((".parquet", ".pq")):
        return Rows(str(path), read_rows(path)).columns(names, any_of)
    table = read_table(path)
    chosen = _chosen(str(path), table.column_names, names, any_of)
    columns = {what: table[name].combine_chunks() for what, name in chosen.items()}
    return columns | {what: _strings(path, columns[what]) for what in names}


def _strings(path: Path, column: Any) -> Any:  # noqa: ANN401  (of Arrow)
    import pyarrow as pa

    if pa.types.is_string(column.type) or pa.types.is_dictionary(column.type):
        return column
    if pa.types.is_integer(column.type) or pa.types.is_large_string(column.type):
        return column.cast(pa.string())
    raise InputError(f"{path}: a column of ids holds {column.type}: expected strings or whole numbers")


def _chosen(
    source: str, present: Sequence[str], names: Sequence[str], any_of: Sequence[str]
) -> dict[str, str]:
    """Return what each column is → the name that it has in the file."""
    sought = (*names, *any_of, "latency")
    chosen = {what: name for what in sought if (name := _first_named(_COLUMNS[what], present)) is not None}
    for what in names:
        if what not in chosen:
            raise InputError(
                f"{source}: no column names the {what}: expected {listed(_COLUMNS[what])}; found "
                f"{listed(present, 20) or 'none'}"
            )
    if not any(what in chosen for what in any_of):
        raise InputError(f"{source}: has neither {' nor '.join(any_of)}; found {listed(present, 20)}")
    return chosen


def _run_of_columns(source: str, columns: Mapping[str, Any]) -> RunLines:
    score, rank, took = (
        numbers(source, columns[name]) if name in columns else None for name in ("score", "rank", "latency")
    )
    latency: dict[str, float] = {}
    if took is not None:
        latency = {
            str(query): value
            for query, value in zip(columns["query"].to_pylist(), took.tolist(), strict=True)
            if value == value
        }
    for query, value in latency.items():
        if not 0 <= value < float("inf"):
            raise InputError(
                f"{source}: the latency of query {query!r} is {value:g}: expected milliseconds, 0 or more"
            )
    return RunLines(columns["query"], columns["candidate"], score, rank, latency)


def _names(source: str, values: Sequence[Any]) -> Any:  # noqa: ANN401  (of Arrow)
    import pyarrow as pa

    try:
        return pa.array([None if is_missing(value) else str(value) for value in values], pa.string())
    except UnicodeEncodeError as error:
        raise InputError(f"{source}: {error.object!r:.60} is no name: it is not valid Unicode") from None


def _results_of_queries(
    source: str, rows: Sequence[dict[str, Any]], results: str
) -> Iterator[dict[str, Any]]:
    """Yield a row for each result of objects that hold the results of one query each."""
    seen: set[str] = set()
    for number, row in enumerate(rows, start=1):
        query = _first_named(_COLUMNS["query"], row)
        if query is None or not isinstance(row.get(results), list):
            raise InputError(
                f"{source}: object {number} has no {'query' if query is None else results}: expected "
                f'{{"query_id": …, "{results}": [{{"id": …, "score": …}}, …]}}'
            )
        if str(row[query]) in seen:
            raise InputError(
                f"{source}: object {number} is of query {row[query]!r:.60}, as is one above: keep one"
            )
        seen.add(str(row[query]))
        took = {name: row[name] for name in _COLUMNS["latency"] if name in row}
        for place, result in enumerate(row[results], start=1):
            own = result if isinstance(result, dict) else {"id": result}
            at = {} if _first_named(_COLUMNS["score"], own) else {"rank": place}
            yield {"query_id": row[query], **took, **at, **own}


def _first_named(known: tuple[str, ...], names: Container[str]) -> str | None:
    return next((name for name in known if name in names), None)
