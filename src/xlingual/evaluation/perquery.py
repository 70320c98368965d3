"""The table of queries, whose means the numbers are: a row for each query, encoder, pair, measure, seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from xlingual.arrays import Ints
from xlingual.arrow import from_numpy, from_strings
from xlingual.columns import Lookup, Strings, numbered_ints
from xlingual.data.manifest import Manifest

if TYPE_CHECKING:
    import pyarrow as pa

_NONE: Ints = np.empty(0, dtype=np.int64)
BY = "by."  # begins the columns that divide queries into parts
LABELS = ("task", "encoder", "source", "target", "measure")


@dataclass(frozen=True)
class QueryRows:
    """The names, items and clusters of queries that are no rows of a manifest: the questions of a pool."""

    ids: Sequence[str] = ()  # name of each row
    item: Ints = field(default_factory=lambda: _NONE)  # of each row, an index into `item_ids`
    item_ids: Sequence[str] = ()  # names of the items
    cluster: Ints = field(default_factory=lambda: _NONE)  # of each row
    labels: Mapping[str, Sequence[str | None]] = field(default_factory=dict)  # divide the rows into parts


Words: TypeAlias = "tuple[Ints, pa.Array]"  # which word each row has, and the different words
QuerySource: TypeAlias = Manifest | QueryRows  # the names, items and clusters of queries


@dataclass
class PerQuery:
    """Collects blocks of queries; strings are kept as codes, so that a million rows stay small."""

    _labels: list[tuple[str, ...]] = field(default_factory=list)
    _seeds: list[int] = field(default_factory=list)
    _blocks: dict[str, list[np.ndarray]] = field(default_factory=dict)

    def add(self, labels: tuple[str, ...], seed: int, columns: Mapping[str, np.ndarray | None]) -> None:
        """Add the queries of one number; -1 (or None for a column) stands for "does not apply".

        `labels` are task, encoder, source, target and measure; `columns` has query and retrieved, which are
        row numbers of the manifest or the pool's questions, above, tied and value.
        """
        nothing = np.full(len(columns["value"]), -1, dtype=np.int64)  # type: ignore[arg-type]
        self._labels.append(labels)
        self._seeds.append(seed)
        for name in ("query", "retrieved", "above", "tied", "value"):
            column = columns.get(name)
            self._blocks.setdefault(name, []).append(nothing if column is None else column)

    def table(self, rows: QuerySource | None = None) -> pa.Table:
        """Return the Arrow table; `rows` has the names of the queries, None where there are no queries."""
        import pyarrow as pa

        rows = QueryRows() if rows is None else rows
        if not self._labels:
            self.add(("",) * len(LABELS), 0, {"query": _NONE, "value": np.empty(0)})
        lengths = [len(block) for block in self._blocks["value"]]
        columns = {
            name: repeated([labels[i] for labels in self._labels], lengths) for i, name in enumerate(LABELS)
        }
        columns["seed"] = from_numpy(np.repeat(self._seeds, lengths), pa.int64())
        query = np.concatenate(self._blocks["query"])
        ids = words_of(rows.ids)
        columns["query"] = looked_up(query, *ids)
        columns["item"] = looked_up(rows.item[query], *words_of(rows.item_ids))
        columns["cluster"] = from_numpy(rows.cluster[query], pa.int64())
        retrieved = np.concatenate(self._blocks["retrieved"])
        columns["retrieved"] = looked_up(retrieved, *ids)
        clusters = rows.cluster[np.maximum(retrieved, 0)]
        columns["retrieved_cluster"] = from_numpy(clusters, pa.int64(), mask=retrieved < 0)
        for name in ("above", "tied"):
            values = np.concatenate(self._blocks[name])
            columns[name] = from_numpy(values, pa.int64(), mask=values < 0)
        columns["value"] = from_numpy(np.concatenate(self._blocks["value"]), pa.float64())
        for name, labels in rows.labels.items():
            code, words = _label_codes(labels)
            if words:
                columns[f"{BY}{name}"] = looked_up(code[query], *words_of(words))
        return pa.table(columns)


def repeated(words: Sequence[str], lengths: Sequence[int]) -> pa.Array:
    """Return each word so many times, as codes and words."""
    distinct = list(dict.fromkeys(words))
    number = {word: i for i, word in enumerate(distinct)}
    return looked_up(np.repeat([number[word] for word in words], lengths), *words_of(distinct))


def _label_codes(labels: Sequence[str | None]) -> tuple[Ints, list[str]]:
    """Return the number of each row's label by first appearance, -1 where there is none, and the labels."""
    if isinstance(labels, Lookup):
        known = labels.codes >= 0
        number, used = numbered_ints(labels.codes[known])
        codes = np.full(len(labels), -1, dtype=np.int64)
        codes[known] = number
        return codes, [labels.words[code] for code in used.tolist()]
    words = list(dict.fromkeys(label for label in labels if label is not None))
    place = {word: code for code, word in enumerate(words)}
    return np.array([-1 if label is None else place[label] for label in labels], dtype=np.int64), words


def words_of(words: Sequence[str]) -> Words:
    """Return the different words, and which of them each is.

    One id may name a text of each language, but the words of an Arrow dictionary must be distinct.
    """
    import pyarrow as pa

    if isinstance(words, (Strings, Lookup)):
        code, distinct = words.numbered()
        return code, distinct.array.cast(pa.string())
    number = {word: i for i, word in enumerate(dict.fromkeys(words))}
    return np.array([number[word] for word in words], dtype=np.int64), from_strings(list(number), pa.string())


def looked_up(codes: Ints, distinct: Ints, words: pa.Array) -> pa.Array:
    """Return the word of each code, null for one below 0: code c stands for `words[distinct[c]]`."""
    import pyarrow as pa

    if not len(distinct):
        codes, distinct = np.full(len(codes), -1), np.zeros(1, dtype=np.int64)
    indices = from_numpy(distinct[np.maximum(codes, 0)].astype(np.int32), pa.int32(), mask=codes < 0)
    return pa.DictionaryArray.from_arrays(indices, words)
