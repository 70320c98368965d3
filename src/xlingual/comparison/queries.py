"""The queries of one task and measure, with the values of every encoder side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from xlingual.arrays import Floats, Ints, distinct_values, numbered
from xlingual.errors import InputError, did_you_mean, listed, parameter
from xlingual.measures import parse_measure
from xlingual.stats.all_pairs import AllPairs
from xlingual.stats.paired_queries import Paired

NO_LABEL = "–"  # the slice of queries that have no label


@dataclass(frozen=True)
class Labels:
    """A label of each query: `words[code[i]]`."""

    code: Ints  # [n]
    words: tuple[str, ...]


@dataclass(frozen=True)
class Queries:
    """n queries of one task and measure, answered by E encoders.

    `weight` sums to 1: every sample (language pair and seed) has equal weight, and so have the queries within
    one. `own` are the queries' clusters; `retrieved` the clusters of what each encoder retrieved, in the same
    name space (a negative code of the query's own where several texts tied), None where nothing is retrieved.
    """

    task: str
    measure: str
    encoders: tuple[str, ...]  # [E], labels
    values: Floats  # [E, n]
    weight: Floats  # [n]
    own: Ints  # [n]
    retrieved: Ints | None  # [E, n]
    labels: Mapping[str, Labels]  # source, target, pair, seed, and the manifest's further columns
    conditions: Mapping[str, str]  # of the signatures, those that all samples share
    chance: float | None = None  # mean over samples
    n_source: float = 0.0  # queries in a sample, mean
    n_target: float = 0.0  # candidates in a sample, mean
    query: Ints | None = None  # [n], equal for equal texts (seeds share some); None: all differ
    identities: tuple[str, ...] | None = None  # [E], names and systems of the encoders, whatever their labels
    vectors: tuple[str | None, ...] | None = None  # [E], digests of their vectors, where they are known
    unlike: str = ""  # why images name no leader among the encoders, where they are of several kinds

    @classmethod
    def of_one_sample(
        cls, task: str, measure: str, encoders: Sequence[str], values: Floats, own: Ints, **labels: Labels
    ) -> Self:
        """Return queries of equal weight, which are of one language pair and seed."""
        n = len(own)
        one = Labels(np.zeros(n, dtype=np.int64), ("all",))
        labels = {"pair": one, "seed": one, **labels}
        return cls(task, measure, tuple(encoders), values, np.full(n, 1 / n), own, None, labels, {})

    def __len__(self) -> int:
        return len(self.weight)

    @cached_property
    def means(self) -> Floats:
        """The weighted mean of each encoder, float64 [E]."""
        means: Floats = self.values @ self.weight
        return means

    @property
    def best(self) -> str:
        """The encoder with the highest mean."""
        return self.encoders[int(np.argmax(self.means))]

    @property
    def span(self) -> float:
        """The width of the measure's range."""
        low, high = parse_measure(self.measure).bounds
        return high - low

    @cached_property
    def n_clusters(self) -> int:
        """How many clusters the queries come from."""
        return len(distinct_values(self.own))

    @property
    def n_distinct(self) -> int:
        """How many distinct queries a language pair has (mean over pairs), over all seeds."""
        pair = self.labels["pair"].code
        query = np.arange(len(self)) if self.query is None else self.query
        distinct = len(np.unique(np.stack([pair, query], axis=1), axis=0))
        return max(round(distinct / len(np.unique(pair))), 1)

    def present(self, label: str) -> list[str]:
        """Return the words of a label that queries have."""
        column = self.labels[label]
        return [column.words[code] for code in np.unique(column.code)]

    @property
    def direction(self) -> tuple[str, str]:
        """The languages of the first query."""
        columns = (self.labels[side] for side in ("source", "target"))
        source, target = (column.words[column.code[0]] for column in columns)
        return source, target

    def row_of(self, encoder: str) -> int:
        """Return the row of an encoder; raise InputError where there is none of that label."""
        if encoder not in self.encoders:
            raise InputError(
                f"no encoder {encoder!r}.{did_you_mean(encoder, self.encoders)} "
                f"Encoders: {listed(self.encoders, 30)}"
            )
        return self.encoders.index(encoder)

    def identity(self, encoder: str) -> str:
        """Return an encoder's identity, for its random numbers: labels depend on the other encoders."""
        return encoder if self.identities is None else self.identities[self.row_of(encoder)]

    def agree(self, a: str, b: str) -> bool:
        """Whether two encoders have the same value, and retrieved the same, on every query."""
        i, j = self.row_of(a), self.row_of(b)
        retrieved = self.retrieved is None or np.array_equal(self.retrieved[i], self.retrieved[j])
        return np.array_equal(self.values[i], self.values[j]) and retrieved

    def same_system(self, a: str, b: str) -> bool:
        """Whether two encoders are one system under two names, by identity or vectors, and on every query.

        Identities of users' own objects (python:) do not say so, two versions are called the same; equal
        vectors do, where they are compared in the same way.
        """
        if not self.agree(a, b):
            return False
        one, other = (self.identity(name).partition("|")[2] for name in (a, b))
        if one == other != "" and "python:" not in one:
            return True
        digests = [None if self.vectors is None else self.vectors[self.row_of(name)] for name in (a, b)]
        compared = [
            [part for part in own.split("|") if not part.startswith("encoder:")] for own in (one, other)
        ]
        return digests[0] == digests[1] is not None and compared[0] == compared[1]

    def one_retrieved(self, *encoders: str) -> str | None:
        """Return why there is no test where an encoder retrieved one cluster for all queries, or None."""
        for name in encoders if self.retrieved is not None else ():
            if self.retrieved is not None and np.ptp(self.retrieved[self.row_of(name)]) == 0:
                return f"{name} retrieves one and the same text for every query"
        return None

    def paired(self, a: str, b: str) -> Paired:
        """Return two encoders' values for the same queries, as `stats.paired` takes them."""
        i, j = self.row_of(a), self.row_of(b)
        own, retrieved = self._cluster_codes
        both = (None, None) if retrieved is None else (retrieved[i], retrieved[j])
        return Paired(self.values[i], self.values[j], self.weight, own, *both)

    @cached_property
    def all_pairs(self) -> AllPairs:
        """Bounds of the p of each pair of encoders."""
        return AllPairs.of(self.values, self.weight, *self._cluster_codes)

    @cached_property
    def _cluster_codes(self) -> tuple[Ints, Ints | None]:
        """Own and retrieved clusters numbered from 0, which every test sorts again and again."""
        if self.retrieved is None:
            return numbered(self.own), None
        both = np.concatenate([self.own, self.retrieved.ravel()])
        codes = numbered(both)
        return codes[: len(self)], codes[len(self) :].reshape(self.retrieved.shape)

    def take(self, rows: Ints) -> Queries:
        """Return some of the queries; samples have equal weight again, as far as they have queries."""
        return replace(
            self,
            values=self.values[:, rows],
            weight=sample_weights(sample_of(self.labels)[rows]),
            own=self.own[rows],
            retrieved=None if self.retrieved is None else self.retrieved[:, rows],
            labels={name: Labels(column.code[rows], column.words) for name, column in self.labels.items()},
            query=None if self.query is None else self.query[rows],
        )

    def slices(self, column: str) -> dict[str, Queries]:
        """Return the queries of each label of a column, in the order of the labels.

        Raises InputError for a column that the results do not have.
        """
        if column not in self.labels:
            hint = (
                f". Of runs: give a table of queries ({parameter('query_table')})"
                + (", or name queries language:id" if column == "language" else "")
                if self.task == "retrieval"
                else ""
            )
            raise InputError(
                f"no column {column!r} to divide queries by.{did_you_mean(column, self.labels)} "
                f"Columns: {listed(self.labels, 30)}{hint}"
            )
        labels = self.labels[column]
        rows = {word: np.flatnonzero(labels.code == code) for code, word in enumerate(labels.words)}
        return {word: self.take(chosen) for word, chosen in rows.items() if len(chosen)}


def sample_weights(sample: Ints) -> Floats:
    """Return weights [n] that sum to 1: equal for each sample, and for the queries within one."""
    _, code, counts = np.unique(sample, return_inverse=True, return_counts=True)
    weights: Floats = 1.0 / (len(counts) * counts[code])
    return weights


def sample_of(labels: Mapping[str, Labels]) -> Ints:
    """Return a number [n] of the language pair and seed of each query."""
    codes: Ints = labels["pair"].code * len(labels["seed"].words) + labels["seed"].code
    return codes
