"""How an encoder served each text as a query: its value, over all language pairs and samples it was in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.data.manifest import Manifest
from xlingual.errors import InputError, did_you_mean, listed, parameter
from xlingual.inspection.slices import Values
from xlingual.ragged import sums
from xlingual.results import Results

if TYPE_CHECKING:
    import pyarrow as pa

# tasks whose queries are texts of a manifest, in language pairs
TASKS = ("backretrieval", "crosslingual-retrieval")
POOL = "multilingual-pool"  # whose queries are the questions of a pool
_ANSWERED = 0.5  # a query that is worth less has failed


@dataclass(frozen=True)
class Asked:
    """The queries of one encoder and measure, one line for each language pair and sample; arrays [q]."""

    pairs: list[tuple[str, str]]
    pair: Ints  # index into `pairs`
    seed: Ints
    row: Ints  # of the manifest
    cluster: Ints
    value: Floats  # in [0, 1]
    above: Ints  # what is nearer than the right answer, with half of what ties; −1 where it is not known
    retrieved: Ints  # row of the manifest, −1 where it is not known or several tie
    missed: np.ndarray | None = None  # bool [q], where the value does not say which have failed

    @cached_property
    def failed(self) -> np.ndarray:
        """Which queries have failed, bool [q]."""
        failed: np.ndarray = self.value < _ANSWERED if self.missed is None else self.missed
        return failed

    @cached_property
    def first_sample(self) -> np.ndarray:
        """Which lines are of the first sample of their pair, bool [q]."""
        least = np.full(len(self.pairs), np.iinfo(np.int64).max)
        np.minimum.at(least, self.pair, self.seed)
        first: np.ndarray = self.seed == least[self.pair]
        return first

    def values(self, manifest: Manifest) -> tuple[Ints, Values]:
        """Return the rows of the texts that were queries [n], ascending, and their values."""
        rows, first, text = np.unique(self.row, return_index=True, return_inverse=True)
        n, count = len(rows), np.bincount(self.pair, minlength=len(self.pairs))
        of_pair = sums(self.pair, self.value, len(count)) / np.maximum(count, 1)
        asked = np.bincount(text, minlength=n)
        mean, above = (sums(text, part, n) / asked for part in (self.value, self.value - of_pair[self.pair]))
        return rows, Values(mean, above, self.cluster[first], manifest.language[rows])


def task_of(results: Results, usable: Sequence[str] = TASKS) -> str:
    """Return the task of results; raise InputError where it is not one of the `usable`."""
    tasks = list(dict.fromkeys(entry.task for entry in results.entries))
    if len(tasks) != 1 or tasks[0] not in usable:
        several = ", one task at a time" if len(tasks) > 1 else ""
        raise InputError(
            f"looked at are queries of {listed(usable)}{several}; these results are of {listed(tasks)}: give "
            f"results of {' or '.join(f'`xlingual evaluate {task}`' for task in usable)}"
        )
    return tasks[0]


def encoder_names(results: Results, wanted: tuple[str, ...] = ()) -> list[str]:
    """Return the encoders of results, or those that are wanted; raise InputError for one they lack."""
    known = list(dict.fromkeys(entry.encoder for entry in results.entries))
    for name in wanted:
        if name not in known:
            raise InputError(
                f"{parameter('encoders', name)}: no such encoder.{did_you_mean(name, known)} Encoders: "
                f"{listed(known, 30)}"
            )
    return list(wanted) or known


def measure_of(results: Results, wanted: str | None = None) -> str:
    """Return the measure by which queries fail: the one wanted, else the first whose values are in [0, 1]."""
    import pyarrow.compute as pc

    table = results.per_query
    known = list(dict.fromkeys(table["measure"].unique().to_pylist()))
    order = [entry.measure for entry in results.entries]
    usable = []
    for name in sorted(known, key=order.index):
        values = table.filter(pc.equal(table["measure"], name))["value"]
        if (
            name != "SIM"
            and values.null_count == 0
            and 0 <= pc.min(values).as_py() <= pc.max(values).as_py() <= 1
        ):
            usable.append(name)
    if not usable:
        raise InputError(
            "these results have no measure that says of each query whether it failed, as R@10 does"
        )
    if wanted is not None and wanted not in usable:
        raise InputError(
            f"{parameter('measure', wanted)}: no such measure of single queries."
            f"{did_you_mean(wanted, usable)} Measures: {listed(usable)}"
        )
    return wanted or usable[0]


def asked(results: Results, data: Manifest, encoder: str, measure: str) -> Asked:
    """Return the queries of an encoder."""
    table = queries_of(results, encoder, measure)
    rows = rows_of(data)
    source, target = (_codes(table[name]) for name in ("source", "target"))
    both, pair = np.unique(source[0] * len(target[1]) + target[0], return_inverse=True)
    pairs = [(source[1][code // len(target[1])], target[1][code % len(target[1])]) for code in both.tolist()]
    row = found_rows(rows, table["source"], table["query"])
    if (row < 0).any():
        raise InputError(f"{data.source} lacks queries of these results: give the data that were evaluated")
    return Asked(
        pairs,
        pair,
        table["seed"].to_numpy(),
        row,
        table["cluster"].to_numpy(),
        table["value"].to_numpy(),
        _places(table),
        found_rows(rows, table["target"], table["retrieved"]),
    )


def _places(table: pa.Table) -> Ints:
    """Return how many candidates are nearer than the answer, with half of those that tie; −1: not known."""
    above, tied = (table[name].fill_null(-1).to_numpy() for name in ("above", "tied"))
    found: Ints = np.where(above < 0, -1, above + np.maximum(tied - 1, 0) // 2)
    return found


def queries_of(results: Results, encoder: str, measure: str) -> pa.Table:
    """Return the rows of the table of queries that are of an encoder and a measure."""
    import pyarrow as pa
    import pyarrow.compute as pc

    table = results.per_query
    chosen = pc.and_(
        pc.equal(table["encoder"].cast(pa.string()), encoder),
        pc.equal(table["measure"].cast(pa.string()), measure),
    )
    return table.filter(chosen)


def rows_of(data: Manifest) -> Mapping[str, Mapping[str, int]]:
    """Return the rows of a manifest by language and id."""
    found: dict[str, dict[str, int]] = {tag: {} for tag in data.languages}
    for row, (code, own) in enumerate(zip(data.language.tolist(), data.ids, strict=True)):
        found[data.languages[code]][own] = row
    return found


def found_rows(
    rows: Mapping[str, Mapping[str, int]], language: pa.ChunkedArray, ids: pa.ChunkedArray
) -> Ints:
    """Return the row of each (language, id), −1 where there is none, int64 [q]."""
    code, tags = _codes(language)
    own, names = _codes(ids)
    table = np.full((len(tags), len(names) + 1), -1, dtype=np.int64)
    for place, tag in enumerate(tags):
        known = rows.get(tag, {})
        table[place, : len(names)] = [known.get(name, -1) for name in names]
    found: Ints = table[code, own]
    return found


def _codes(column: pa.ChunkedArray) -> tuple[Ints, list[str]]:
    """Return an index into the words of a column [q], −1 for a missing value, and the words."""
    import pyarrow as pa

    encoded = column.cast(pa.string()).combine_chunks().dictionary_encode()
    return encoded.indices.fill_null(-1).to_numpy().astype(np.int64), encoded.dictionary.to_pylist()
