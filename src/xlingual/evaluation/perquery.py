"""The table of what every number is a mean of: one row for each query, encoder, pair, measure and seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from xlingual.records import Floats, Ints

if TYPE_CHECKING:
    import pyarrow as pa

_NONE: Ints = np.empty(0, dtype=np.int64)
_EMPTY: dict[str, Any] = {
    "query": _NONE,
    "retrieved": None,
    "above": None,
    "tied": None,
    "value": np.empty(0),
}
BY = "by."  # begins the columns that divide queries into parts
LABELS = ("task", "encoder", "source", "target", "measure")


class Asked(Protocol):
    """What the queries are called and belong to: a manifest, or the questions of a pool."""

    @property
    def ids(self) -> Sequence[str]:
        """Name of each row."""

    @property
    def item(self) -> Ints:
        """Item of each row, an index into `item_ids`."""

    @property
    def item_ids(self) -> Sequence[str]:
        """Names of the items."""

    @property
    def cluster(self) -> Ints:
        """Cluster of each row."""

    @property
    def labels(self) -> Mapping[str, Sequence[str | None]]:
        """Columns that divide the rows into parts."""


@dataclass
class PerQuery:
    """Collects blocks of queries; strings are kept as codes, so that a million rows stay small."""

    asked: Asked
    _labels: list[tuple[str, ...]] = field(default_factory=list)
    _seeds: list[int] = field(default_factory=list)
    _blocks: dict[str, list[np.ndarray]] = field(default_factory=dict)

    def add(
        self,
        labels: Mapping[str, str],
        seed: int,
        *,
        query: Ints,
        retrieved: Ints | None,
        above: Ints | None,
        tied: Ints | None,
        value: Floats,
    ) -> None:
        """Add the queries of one number; -1 (or None for the column) stands for "does not apply".

        `query` and `retrieved` are rows of what is asked.
        """
        nothing = np.full(len(query), -1, dtype=np.int64)
        self._labels.append(tuple(labels[name] for name in LABELS))
        self._seeds.append(seed)
        columns = {
            "query": query,
            "retrieved": nothing if retrieved is None else retrieved,
            "above": nothing if above is None else above,
            "tied": nothing if tied is None else tied,
            "value": value,
        }
        for name, column in columns.items():
            self._blocks.setdefault(name, []).append(column)

    def table(self) -> pa.Table:
        """Return the Arrow table."""
        import pyarrow as pa

        if not self._labels:
            self.add(dict.fromkeys(LABELS, ""), 0, **_EMPTY)
        lengths = [len(block) for block in self._blocks["value"]]
        columns = {
            name: _repeated([labels[i] for labels in self._labels], lengths) for i, name in enumerate(LABELS)
        }
        columns["seed"] = pa.array(np.repeat(self._seeds, lengths), pa.int64())
        query = np.concatenate(self._blocks["query"])
        columns["query"] = _looked_up(query, self.asked.ids)
        columns["item"] = _looked_up(self.asked.item[query], self.asked.item_ids)
        columns["cluster"] = pa.array(self.asked.cluster[query], pa.int64())
        retrieved = np.concatenate(self._blocks["retrieved"])
        columns["retrieved"] = _looked_up(retrieved, self.asked.ids)
        clusters = self.asked.cluster[np.maximum(retrieved, 0)]
        columns["retrieved_cluster"] = pa.array(clusters, pa.int64(), mask=retrieved < 0)
        for name in ("above", "tied"):
            values = np.concatenate(self._blocks[name])
            columns[name] = pa.array(values, pa.int64(), mask=values < 0)
        columns["value"] = pa.array(np.concatenate(self._blocks["value"]), pa.float64())
        for name, labels in self.asked.labels.items():
            if any(label is not None for label in labels):
                columns[f"{BY}{name}"] = _labelled(query, labels)
        return pa.table(columns)


def _repeated(words: Sequence[str], lengths: Sequence[int]) -> pa.Array:
    distinct = list(dict.fromkeys(words))
    number = {word: i for i, word in enumerate(distinct)}
    return _looked_up(np.repeat([number[word] for word in words], lengths), distinct)


def _labelled(rows: Ints, labels: Sequence[str | None]) -> pa.Array:
    """Return the label of each row; null where there is none."""
    words = list(dict.fromkeys(label for label in labels if label is not None))
    number = {word: code for code, word in enumerate(words)}
    codes = np.array([-1 if label is None else number[label] for label in labels], dtype=np.int64)
    return _looked_up(codes[rows], words)


def _looked_up(codes: Ints, words: Sequence[str]) -> pa.Array:
    import pyarrow as pa

    # one id may name a text of each language; the words of a dictionary must be distinct
    number = {word: i for i, word in enumerate(dict.fromkeys(words))}
    distinct = np.array([number[word] for word in words], dtype=np.int32)
    indices = pa.array(distinct[np.maximum(codes, 0)], pa.int32(), mask=codes < 0)
    return pa.DictionaryArray.from_arrays(indices, pa.array(list(number), pa.string()))
