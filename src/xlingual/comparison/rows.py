"""The table of queries of one folder of results, as numpy columns, and the rows of one number in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.comparison.queries import NO_LABEL, Labels
from xlingual.errors import InputError
from xlingual.results.tables import LABEL_PREFIX

if TYPE_CHECKING:
    import pyarrow as pa

_WORDS = ("task", "encoder", "source", "target", "measure", "query")


@dataclass(frozen=True)
class QueryBlock:
    """The queries of one encoder, task and measure, ordered by language pair, seed and query id."""

    pair: Ints  # [n], position in the pairs asked for
    seed: Ints  # [n]
    query: np.ndarray  # [n] ids
    value: Floats  # [n]
    own: Ints  # [n] cluster of the query
    retrieved: Ints | None  # [n] cluster of the retrieved text, -1 - i where there is none
    further: dict[str, Labels]  # the manifest's columns

    def labels(self, pairs: Sequence[tuple[str, str]]) -> dict[str, Labels]:
        """Return all that queries can be divided by."""
        sources, targets = [source for source, _ in pairs], [target for _, target in pairs]
        seeds, seed = np.unique(self.seed, return_inverse=True)
        return self.further | {
            "source": _of_pairs(self.pair, sources),
            "target": _of_pairs(self.pair, targets),
            "pair": _of_pairs(self.pair, ["-".join(pair) for pair in pairs]),
            "seed": Labels(seed, tuple(str(number) for number in seeds)),
        }


@dataclass(frozen=True)
class FolderRows:
    """The columns of `per_query.parquet`: codes into sorted words, and numbers."""

    folder: Path
    code: dict[str, Ints]
    words: dict[str, list[str]]
    seed: Ints
    value: Floats
    own: Ints
    retrieved: Ints  # cluster, or a negative code of a text that is no query; NOTHING where null
    further: dict[str, Labels]

    @cached_property
    def _by_encoder(self) -> tuple[Ints, Ints]:
        """Rows in the order of encoders, as in the table within each, and where each encoder's begin."""
        code = self.code["encoder"]
        times = np.bincount(code[code >= 0], minlength=len(self.words["encoder"]))
        starts = np.cumsum(np.append(np.count_nonzero(code < 0), times))
        if (code[1:] >= code[:-1]).all():
            return np.arange(len(code)), starts
        return np.argsort(code, kind="stable"), starts

    @classmethod
    def of(cls, table: pa.Table, folder: Path) -> FolderRows:
        """Return the columns of a table; raise InputError where one is missing."""
        where = folder / "per_query.parquet"
        for name in (*_WORDS, "seed", "value", "cluster", "retrieved"):
            if name not in table.schema.names:
                raise InputError(f"{where} has no column {name!r}: run evaluate again")
        coded = {name: _coded(table.column(name)) for name in _WORDS}
        code = {name: codes for name, (codes, _) in coded.items()}
        words = {name: found for name, (_, found) in coded.items()}
        value = table.column("value").to_numpy().astype(np.float64, copy=False)
        if not np.isfinite(value).all():
            raise InputError(f"{where} has a value that is no number: run evaluate again")
        own = table.column("cluster").to_numpy().astype(np.int64, copy=False)
        further = {
            name.removeprefix(LABEL_PREFIX): _without_gaps(*_coded(table.column(name)))
            for name in table.schema.names
            if name.startswith(LABEL_PREFIX)
        }
        return cls(
            folder,
            code,
            words,
            table.column("seed").to_numpy().astype(np.int64, copy=False),
            value,
            own,
            _filled(table.column("retrieved_cluster")),
            further,
        )

    def of_encoder(
        self, task: str, measure: str, encoder: str, pairs: Sequence[tuple[str, str]]
    ) -> QueryBlock:
        """Return the queries of one encoder, task and measure for the language pairs."""
        order, starts = self._by_encoder
        place = _place(self.words["encoder"], encoder)
        rows = order[starts[place] : starts[place + 1]] if place >= 0 else order[:0]
        for name, word in (("task", task), ("measure", measure)):
            rows = rows[self.code[name][rows] == _place(self.words[name], word)]
        shape = len(self.words["source"]) + 1, len(self.words["target"]) + 1
        number_of = np.full(shape, -1, dtype=np.int64)
        for number, (source, target) in enumerate(pairs):
            ends = _place(self.words["source"], source), _place(self.words["target"], target)
            if min(ends) >= 0:
                number_of[ends] = number
        pair = number_of[self.code["source"][rows], self.code["target"][rows]]
        rows, pair = rows[pair >= 0], pair[pair >= 0]
        if not len(rows):
            raise InputError(
                f"{self.folder / 'per_query.parquet'} has no queries of {encoder}, {task} {measure}: "
                "copy the whole folder of results, or run it again"
            )
        order = np.lexsort((self.code["query"][rows], self.seed[rows], pair))
        rows, pair = rows[order], pair[order]
        retrieved = self.retrieved[rows]
        nothing = retrieved == NOTHING
        return QueryBlock(
            pair,
            self.seed[rows],
            np.array(self.words["query"], dtype=object)[self.code["query"][rows]],
            self.value[rows],
            self.own[rows],
            # a query for which several texts tied is alone in this respect
            None if nothing.all() else np.where(nothing, -1 - np.arange(len(rows)), retrieved),
            {name: Labels(column.code[rows], column.words) for name, column in self.further.items()},
        )


NOTHING = np.iinfo(np.int64).min


def _coded(column: pa.ChunkedArray) -> tuple[Ints, list[str]]:
    """Return codes into the sorted words of a column, -1 for null."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    merged = column.unify_dictionaries().combine_chunks()
    if isinstance(merged, pa.ChunkedArray):
        merged = merged.chunk(0) if merged.num_chunks else pa.array([], column.type)
    words = [str(word) for word in merged.dictionary.to_pylist()]
    ordered = sorted(words)
    place = {word: number for number, word in enumerate(ordered)}
    renumbered = np.array([place[word] for word in words] or [0], dtype=np.int64)
    codes = _filled(merged.indices, -1)
    if merged.null_count:
        return np.where(codes >= 0, renumbered[np.maximum(codes, 0)], -1), ordered
    same = words == ordered
    return (codes if same else renumbered[codes]), ordered


def _filled(column: pa.Array | pa.ChunkedArray, null: int = NOTHING) -> Ints:
    import pyarrow as pa

    whole = column.cast(pa.int64())
    filled: Ints = (whole.fill_null(null) if whole.null_count else whole).to_numpy()
    return filled


def _place(words: Sequence[str], word: str) -> int:
    return words.index(word) if word in words else -2


def _of_pairs(pair: Ints, words: Sequence[str]) -> Labels:
    distinct = list(dict.fromkeys(words))
    return Labels(np.array([distinct.index(word) for word in words], dtype=np.int64)[pair], tuple(distinct))


def _without_gaps(code: Ints, words: list[str]) -> Labels:
    """Return the labels, with a further one for queries that have none."""
    if (code >= 0).all():
        return Labels(code, tuple(words))
    none = NO_LABEL
    while none in words:  # somebody's label
        none = f"{none} (no label)"
    return Labels(np.where(code < 0, len(words), code), (*words, none))
