"""Runs and judgements: what search systems returned for each query, and how relevant candidates are."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.data.rows import is_missing, read_rows
from xlingual.data.run_files import Columns, columns_of, read_judgements, read_run
from xlingual.errors import InputError, listed, warn
from xlingual.files import bare_name
from xlingual.ragged import groups, starts
from xlingual.results.provenance import note_file

QrelsLike: TypeAlias = "Qrels | str | Path | Mapping[str, Mapping[str, int]]"
_LARGEST = 2**53  # a grade: beyond it, not every whole number is a float


@dataclass(frozen=True, eq=False, repr=False)
class SearchRun:
    """The results of n queries, p in all, best first; equal scores are one place (`level`)."""

    returns_lists: ClassVar[bool] = True  # it stands where encoders do, and has no vectors

    source: str  # the file, for messages
    queries: Sequence[str]  # [n] names
    candidates: Sequence[str]  # [m] names of all that was returned
    query: Ints  # [p] index into `queries`, ascending
    candidate: Ints  # [p] index into `candidates`
    level: Ints  # [p] from 0 within a query, ascending; equal where results tie
    score: Floats | None  # [p]; None where ranks decide
    returned: Ints | None = None  # [n] results with repeated ones, where some are repeated

    @classmethod
    def read(cls, path: str | Path) -> SearchRun:
        """Read a run of TREC, MS MARCO, ranx or MTEB, JSON lines or a table; see reference/runs.

        Scores decide, as in trec_eval, else ranks. Raises InputError where the file is none of these, or a
        line of it is broken.
        """
        return cls.of_columns(str(path), read_run(Path(path)))

    @classmethod
    def of(cls, results: Any, source: str = "run") -> SearchRun:  # noqa: ANN401  (of ranx too)
        """Take {query: {candidate: score}}, {query: [candidate, …]}, or a Run of ranx, as a run."""
        if isinstance(results, cls):
            return results
        if isinstance(results, str | os.PathLike):
            return cls.read(Path(results))
        if not isinstance(results, Mapping) and callable(getattr(results, "to_dict", None)):
            results = results.to_dict()
        if not isinstance(results, Mapping):
            raise InputError(
                f"a run is a file, or {{query: {{candidate: score}}}}; found a {type(results).__name__}"
            )
        return cls.of_columns(source, columns_of(source, results))

    @classmethod
    def of_columns(cls, source: str, columns: Columns) -> SearchRun:
        """Sort lines in any order; what they repeat or contradict is warned of."""
        score, rank = columns.get("score"), columns.get("rank")
        if not len(columns["query"]):
            raise InputError(f"{source}: holds no results")
        odd = _nameless(columns)
        for values in (score, rank):
            odd = odd if values is None else odd | np.isnan(values)
        if odd.any():
            row = int(np.argmax(odd))
            raise InputError(
                f"{source}: result {row + 1} (query {columns['query'][row].as_py()!r:.80}, candidate "
                f"{columns['candidate'][row].as_py()!r:.80}) lacks a name, or a number as score or rank, and "
                f"so do {int(odd.sum()) - 1:,} more: leave them out, or give −inf to what stands last"
            )
        (query, queries), (candidate, candidates) = _encoded(columns["query"]), _encoded(columns["candidate"])
        value: np.ndarray = score if score is not None else -columns["rank"]
        places = _by_value(query, value)
        query, candidate, value = query[places], candidate[places], value[places]
        if score is not None and rank is not None:
            better, same = rank[places][1:] < rank[places][:-1], query[1:] == query[:-1]
            if (wrong := same & better & (value[1:] < value[:-1])).any():
                warn(
                    f"{source}: scores contradict ranks in {len(np.unique(query[1:][wrong])):,} of "
                    f"{len(queries):,} queries (first: {queries[query[np.argmax(wrong)]]!r}): scores decide, "
                    "as in trec_eval; leave the scores out to take ranks"
                )
        first = np.sort(np.unique(query * len(candidates) + candidate, return_index=True)[1])
        returned = None
        if len(first) < len(query):
            returned = np.bincount(query, minlength=len(queries))
            again = int(np.setdiff1d(np.arange(len(query)), first)[0])
            warn(
                f"{source}: {len(query) - len(first):,} lines repeat a candidate of their query (first: "
                f"{candidates[candidate[again]]!r} of query {queries[query[again]]!r}): the best place of "
                "each counts"
            )
            query, candidate, value = query[first], candidate[first], value[first]
        start, size = groups(query, value)  # lines of equal value share a level
        level = np.repeat(np.arange(len(start)) - np.repeat(*groups(query[start])), size)
        decisive = None if score is None else value
        return cls(source, queries, candidates, query, candidate, level, decisive, returned)

    def __len__(self) -> int:
        return len(self.queries)

    @property
    def name(self) -> str:
        """The name of the file without its endings, or of the run."""
        return bare_name(self.source) or "run"

    @cached_property
    def start(self) -> Ints:
        """The first line of each query, and the number of lines, int64 [n + 1]."""
        return starts(self.query, len(self.queries))

    @property
    def lengths(self) -> Ints:
        """How many candidates each query has, int64 [n]."""
        return np.diff(self.start)

    @property
    def depth(self) -> int:
        """The length of the longest list."""
        return int(self.lengths.max())

    @property
    def ended(self) -> np.ndarray:
        """Whether nothing more was found for a query, bool [n]: others have more results."""
        counts = self.lengths if self.returned is None else self.returned
        ended: np.ndarray = counts < counts.max()
        return ended

    def in_trec_order(self) -> SearchRun:
        """Order the run as trec_eval does: scores as float32, of equal ones the last name first."""
        score = None if self.score is None else self.score.astype(np.float32).astype(np.float64)
        value = -self.level if score is None else score
        order = trec_order(self.query, value, self.candidate, self.candidates)
        level = np.arange(len(value)) - self.start[self.query]
        return replace(self, candidate=self.candidate[order], level=level, score=score)

    @cached_property
    def digest(self) -> str:
        """Hex hash of queries, candidates and their order; scores and the order of lines change no number."""
        hasher = hashlib.blake2b(b"xlingual/run/2", digest_size=16)
        query, candidate = by_name(self.queries, self.query), by_name(self.candidates, self.candidate)
        pair = query[1] * len(candidate[0]) + candidate[1]
        order = np.argsort(pair)
        hasher.update(names_bytes(query[0]) + names_bytes(candidate[0]))
        hasher.update(pair[order].astype("<i8").tobytes() + self.level[order].astype("<i4").tobytes())
        if self.returned is not None:
            ended = np.zeros(len(query[0]), dtype=bool)
            ended[query[1]] = self.ended[self.query]
            hasher.update(ended.tobytes())
        return hasher.hexdigest()

    def __repr__(self) -> str:
        what = f"{len(self):,} queries, {len(self.query):,} results, depth {self.depth}"
        return f"SearchRun({self.source}: {what})"


@dataclass(frozen=True, eq=False, repr=False)
class Qrels:
    """The grades of p pairs, each judged once; a grade of 0 or below says irrelevant."""

    source: str  # the file, for messages
    queries: Sequence[str]  # names
    candidates: Sequence[str]
    query: Ints  # [p] index into `queries`
    candidate: Ints  # [p] index into `candidates`
    grade: Ints  # [p]

    @classmethod
    def of(cls, judgements: Any) -> Qrels:  # noqa: ANN401  (`QrelsLike`, or an object of ranx)
        """Take the judgements of a file, of {query: {candidate: grade}}, or of ranx' Qrels."""
        if isinstance(judgements, cls):
            return judgements
        if not isinstance(judgements, Mapping) and callable(getattr(judgements, "to_dict", None)):
            judgements = judgements.to_dict()
        if isinstance(judgements, str | os.PathLike):
            source, columns = str(judgements), read_judgements(Path(judgements))
        elif isinstance(judgements, Mapping) and all(isinstance(g, Mapping) for g in judgements.values()):
            source, columns = "qrels", columns_of("qrels", judgements, "grade")
        else:
            found = type(judgements).__name__
            raise InputError(f"judgements are a file, or {{query: {{candidate: grade}}}}; found a {found}")
        grades = columns["grade"]
        if not len(grades):
            raise InputError(f"{source}: holds no judgements")
        odd = _nameless(columns) | ~(np.isfinite(grades) & (grades % 1 == 0)) | (np.abs(grades) > _LARGEST)
        if odd.any():
            row = int(np.argmax(odd))
            words = (columns[name][row].as_py() for name in ("query", "candidate"))
            raise InputError(
                f"{source}: judgement {row + 1} is {(*words, float(grades[row]))!r:.120}: expected a query, "
                "a candidate and a whole number of at most 2^53 as grade"
            )
        (query, queries), (candidate, candidates) = _encoded(columns["query"]), _encoded(columns["candidate"])
        pair, whole = query * len(candidates) + candidate, grades.astype(np.int64)
        _, first, place = np.unique(pair, return_index=True, return_inverse=True)
        if (other := np.flatnonzero(whole != whole[first][place])).size:
            row = int(other[0])
            raise InputError(
                f"{source}: {queries[query[row]]!r} and {candidates[candidate[row]]!r} are judged "
                f"{whole[first][place][row]} and {whole[row]}: keep one"
            )
        first.sort()
        return cls(source, queries, candidates, query[first], candidate[first], whole[first])

    @property
    def judgements(self) -> tuple[Ints, Ints, Ints]:
        """(query, candidate, grade), each [p]."""
        return self.query, self.candidate, self.grade

    def __len__(self) -> int:
        return len(self.query)

    def __repr__(self) -> str:
        return f"Qrels({self.source}: {len(self.queries):,} queries, {len(self):,} judgements)"


def query_table(path: Path) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """Read the cluster of each query, and the further columns of a table of queries, each by query.

    `text` and `lang`, which `data sample` writes, divide no queries. Raises InputError where there is no
    column `query` (query_id, id), one stands there twice, or none.
    """
    note_file("query table", path)
    columns: dict[str, dict[str, str]] = {"cluster": {}}
    queries: set[str] = set()
    for where, row in read_rows(path):
        column = next((name for name in ("query", "query_id", "id") if name in row), "query")
        query = str(row.get(column))
        if is_missing(row.get(column)) or query in queries:
            raise InputError(
                f"{where}: {f'{query!r} stands twice' if query in queries else f'no {column!r}'} (columns: "
                f"{listed(map(str, row))}): give each row the name of a query, and each query one row"
            )
        queries.add(query)
        for name, value in row.items():
            if name not in (column, "text", "lang") and not is_missing(value):
                columns.setdefault(str(name), {})[query] = str(value)
    if not queries:
        raise InputError(f"{path}: holds no rows: give each query one, with its name in a column 'query'")
    return columns.pop("cluster"), columns


def _nameless(columns: Columns) -> np.ndarray:
    """Whether a line has no query or no candidate, bool [p]."""
    missing = (columns[name].is_null().to_numpy(zero_copy_only=False) for name in ("query", "candidate"))
    odd: np.ndarray = np.logical_or(*missing)
    return odd


def _encoded(column: Any) -> tuple[Ints, list[str]]:  # noqa: ANN401  (of Arrow)
    """Encode the values of a column, and list the distinct ones by first appearance."""
    import pyarrow as pa

    coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    return coded.indices.to_numpy(zero_copy_only=False).astype(np.int64), coded.dictionary.to_pylist()


def sorted_names(names: Sequence[str]) -> tuple[Any, Ints]:
    """Names as UTF-8 in an array of Arrow, sorted, and the order that sorts them."""
    import pyarrow as pa
    from pyarrow import compute

    raw = pa.array([name.encode("utf-8", "surrogatepass") for name in names], pa.large_binary())
    order = compute.sort_indices(raw)
    return raw.take(order), order.to_numpy().astype(np.int64)


def by_name(names: Sequence[str], codes: Ints) -> tuple[Any, Ints]:
    """Sort the names that occur, as UTF-8, and number each line among them."""
    used = np.flatnonzero(np.bincount(codes, minlength=len(names)))
    ordered, order = sorted_names([names[code] for code in used.tolist()])
    place = np.zeros(len(names), dtype=np.int64)
    place[used[order]] = np.arange(len(order))
    return ordered, place[codes]


def names_bytes(names: Any) -> bytes:  # noqa: ANN401  (of Arrow)
    """Give the content of `sorted_names` as bytes that no other names have, to be hashed."""
    from pyarrow import compute

    lengths = compute.binary_length(names).to_numpy(zero_copy_only=False).astype("<i8")
    return np.append(len(names), lengths).astype("<i8").tobytes() + b"".join(names.to_pylist())


def _by_value(query: Ints, value: np.ndarray) -> Ints:
    """Order by query, then falling value; lines that are in order already stay as they are."""
    same = query[1:] == query[:-1]
    if bool(np.all((query[1:] > query[:-1]) | (same & (value[1:] <= value[:-1])))):
        return np.arange(len(query))
    return np.lexsort((-value, query))


def trec_order(query: Ints, value: np.ndarray, candidate: Ints, names: Sequence[str]) -> Ints:
    """Order lines by query, falling value, and of equal ones the last name first.

    `candidate` is an index into `names`. Only names that decide are compared.
    """
    order = _by_value(query, value)
    first, size = groups(query[order], value[order])
    tied = np.repeat(size > 1, size)
    lines, group = order[tied], np.repeat(np.arange(len(first)), size)[tied]
    place = places_of_names(names, np.unique(candidate[lines]))
    order[tied] = lines[np.lexsort((place[candidate[lines]], group))]
    return order


def places_of_names(names: Sequence[str], rows: Ints | None = None) -> Ints:
    """Give the place of each name in falling order, int64 [m]: of equal scores the smallest is first.

    Of `rows` alone where these are given; 0 elsewhere.
    """
    used = range(len(names)) if rows is None else rows.tolist()
    place = np.zeros(len(names), dtype=np.int64)
    place[sorted(used, key=names.__getitem__, reverse=True)] = np.arange(len(used))
    return place
