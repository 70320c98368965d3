"""A run: what a search system returned for each query, read from the files that systems and others write."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.data.runs.files import RunLines, lines_of_mapping, read_run
from xlingual.errors import InputError, warn
from xlingual.files import bare_name
from xlingual.ragged import groups, starts

Order = Literal["score", "rank"]
_LIKELY_CUT = 10  # lists of at least so many results, half of which are equally long, were hardly all found


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
    latency: Mapping[str, float] = field(default_factory=dict)  # query → milliseconds, where it is known
    returned: Ints | None = None  # [n] results with repeated ones, where some are repeated

    @classmethod
    def read(cls, path: str | Path, *, order: Order | None = None) -> SearchRun:
        """Read a run of TREC, MS MARCO, ranx or MTEB, JSON lines or a table; see reference/runs.

        `order` says what decides where scores and ranks contradict each other, as in trec_eval "score" where
        there are scores. Raises InputError where the file is none of these, or a line of it is broken.
        """
        return cls.of_lines(str(path), read_run(Path(path)), order)

    @classmethod
    def of(cls, results: Any, source: str = "run") -> SearchRun:  # noqa: ANN401  (of ranx too)
        """Return the run of {query: {candidate: score}}, of {query: [candidate, …]}, or of a ranx Run."""
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
        return cls.of_lines(source, lines_of_mapping(source, results))

    @classmethod
    def of_lines(cls, source: str, lines: RunLines, order: Order | None = None) -> SearchRun:
        """Return the run of lines in any order; what they repeat or contradict is warned of."""
        if order not in (None, *get_args(Order)):
            raise InputError(f"{source}: order {order!r}: expected score or rank")
        _check(source, lines)
        by_rank = order == "rank" or lines.score is None
        chosen = lines.rank if by_rank else lines.score
        if chosen is None:
            raise InputError(f"{source}: order=rank, but its lines have no rank")
        value = -chosen if by_rank else chosen
        (query, queries), (candidate, candidates) = encoded(lines.query), encoded(lines.candidate)
        places = by_value(query, value)
        query, candidate, value = query[places], candidate[places], value[places]
        if not by_rank and lines.rank is not None:
            _warn_of_ranks(source, query, value, lines.rank[places], queries)
        first = np.sort(np.unique(query * len(candidates) + candidate, return_index=True)[1])
        returned = None
        if len(first) < len(query):
            returned = np.bincount(query, minlength=len(queries))
            again = np.setdiff1d(np.arange(len(query)), first)
            warn(
                f"{source}: {len(again):,} lines repeat a candidate of their query (first: "
                f"{candidates[candidate[again[0]]]!r} of query {queries[query[again[0]]]!r}): the best place "
                "of each counts"
            )
            query, candidate, value = query[first], candidate[first], value[first]
        start, size = groups(query, value)  # lines of equal value share a level
        level = np.repeat(np.arange(len(start)) - np.repeat(*groups(query[start])), size)
        score = None if by_rank else value
        return cls(source, queries, candidates, query, candidate, level, score, lines.latency, returned)

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
        ended: np.ndarray = self._counts < self._counts.max()
        return ended

    @property
    def _counts(self) -> Ints:  # of results, repeated ones included [n]
        return self.lengths if self.returned is None else self.returned

    def in_trec_order(self) -> SearchRun:
        """Return the run as trec_eval orders it: scores as float32, of equal ones the last name first."""
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

    def uneven(self, queries: np.ndarray) -> str | None:
        """Return what is odd where most of these queries' lists are equally long and some are longer.

        Then different numbers of results were asked for, or most lists were cut. None where nothing is.
        """
        returned = self._counts[queries]
        common, longest = int(np.bincount(returned).argmax()), int(returned.max())
        count = int((returned == common).sum())
        if not (_LIKELY_CUT <= common < longest and 2 * count > len(returned)):
            return None
        return (
            f"{count:,} of {len(returned):,} lists have {common:,} results, the longest has {longest:,}: "
            "shorter lists count as ended, and what they lack as missed; if only "
            f"{common:,} were asked for, cut the others there"
        )

    def __repr__(self) -> str:
        what = f"{len(self):,} queries, {len(self.query):,} results, depth {self.depth}"
        return f"SearchRun({self.source}: {what})"


def _check(source: str, lines: RunLines) -> None:
    """Raise InputError where a query or a candidate has no name, or a score or a rank is no number.

    Infinite scores are numbers: −∞ is what some systems give what they exclude.
    """
    if not len(lines.query):
        raise InputError(f"{source}: holds no results")
    nameless = lines.query.is_null(), lines.candidate.is_null()
    odd = np.logical_or(*(column.to_numpy(zero_copy_only=False) for column in nameless))
    for values in (lines.score, lines.rank):
        odd = odd if values is None else odd | np.isnan(values)
    if odd.any():
        row = int(np.argmax(odd))
        names = lines.query[row].as_py(), lines.candidate[row].as_py()
        raise InputError(
            f"{source}: result {row + 1} (query {names[0]!r:.80}, candidate {names[1]!r:.80}) lacks a name, "
            f"or a number as score or rank, and so do {int(odd.sum()) - 1:,} more: leave them out, or "
            "give −inf to what stands last"
        )


def _warn_of_ranks(source: str, query: Ints, score: Floats, rank: Floats, queries: Sequence[str]) -> None:
    """Warn where a better rank has a lower score: the lines are ordered by query and falling score."""
    wrong = (query[1:] == query[:-1]) & (score[1:] < score[:-1]) & (rank[1:] < rank[:-1])
    if wrong.any():
        place = int(np.argmax(wrong))
        contradicting = len(np.unique(query[1:][wrong]))
        warn(
            f"{source}: scores contradict ranks in {contradicting:,} of {len(queries):,} queries (first: "
            f"{queries[query[place]]!r}, rank {rank[place + 1]:g} has the score {score[place + 1]:g}, rank "
            f"{rank[place]:g} has {score[place]:g}): scores decide, as in trec_eval; order=rank takes ranks"
        )


def encoded(column: Any) -> tuple[Ints, list[str]]:  # noqa: ANN401  (of Arrow)
    """Return the code of each value of a column, and the distinct values by first appearance."""
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
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
    """Return the names that occur, as UTF-8 and sorted, and each line's code among these."""
    used = np.flatnonzero(np.bincount(codes, minlength=len(names)))
    ordered, order = sorted_names([names[code] for code in used.tolist()])
    place = np.zeros(len(names), dtype=np.int64)
    place[used[order]] = np.arange(len(order))
    return ordered, place[codes]


def names_bytes(names: Any) -> bytes:  # noqa: ANN401  (of Arrow)
    """Return the content of `sorted_names` as bytes that no other names have, to be hashed."""
    from pyarrow import compute

    lengths = compute.binary_length(names).to_numpy(zero_copy_only=False).astype("<i8")
    return np.append(len(names), lengths).astype("<i8").tobytes() + b"".join(names.to_pylist())


def by_value(query: Ints, value: np.ndarray) -> Ints:
    """Return the order by query, then falling value; lines that are in order already stay as they are."""
    same = query[1:] == query[:-1]
    if bool(np.all((query[1:] > query[:-1]) | (same & (value[1:] <= value[:-1])))):
        return np.arange(len(query))
    return np.lexsort((-value, query))


def trec_order(query: Ints, value: np.ndarray, candidate: Ints, names: Sequence[str]) -> Ints:
    """Return the order of lines by query, falling value, and of equal ones the last name first.

    `candidate` is an index into `names`. Only names that decide are compared.
    """
    order = by_value(query, value)
    first, size = groups(query[order], value[order])
    tied = np.repeat(size > 1, size)
    lines, group = order[tied], np.repeat(np.arange(len(first)), size)[tied]
    place = places_of_names(names, np.unique(candidate[lines]))
    order[tied] = lines[np.lexsort((place[candidate[lines]], group))]
    return order


def places_of_names(names: Sequence[str], rows: Ints | None = None) -> Ints:
    """Return the place of each name in falling order, int64 [m]: of equal scores the smallest is first.

    Of `rows` alone where these are given; 0 elsewhere.
    """
    used = range(len(names)) if rows is None else rows.tolist()
    place = np.zeros(len(names), dtype=np.int64)
    place[sorted(used, key=names.__getitem__, reverse=True)] = np.arange(len(used))
    return place
