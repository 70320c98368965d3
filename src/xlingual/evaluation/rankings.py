"""What an evaluation ranked: queries, candidates, which belong together, and the order of each list.

Results in memory remember how to make these again, so that failures have texts and runs can be written. No
list is kept: vectors are taken from the store (encoded again only where there is none), and lists are made
for the queries asked for, a block of them at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.manifest import Manifest
from xlingual.data.names import escaped
from xlingual.evaluation.lists import Lists
from xlingual.evaluation.ordered import ranked
from xlingual.ranking import Offsets, Pool, TextRows, rows_of, similarity_of

if TYPE_CHECKING:
    from xlingual.data.pools.pool import MultilingualPool

IMAGE = "image"  # stands for a language where images are queries or candidates


@dataclass(frozen=True)
class Member:
    """A query or a candidate: a text of a language, or an image, by the first text that shows it."""

    language: str
    id: str
    row: int  # of the manifest, or of the pool's questions or candidates

    @property
    def name(self) -> str:
        """The name in TREC files."""
        return f"{self.language}:{escaped(self.id)}"


@dataclass(frozen=True)
class Ranking:
    """The lists of one encoder over one language pair and seed; n queries, m candidates."""

    encoder: str
    source: str
    target: str
    seed: int
    queries: Sequence[Member]
    candidates: Sequence[Member]
    relevant: tuple[Ints, Ints]  # (query, candidate) places of the pairs that belong together
    query_vectors: TextRows | None = None  # [n]
    candidate_vectors: TextRows | None = None  # [m]
    offsets: Offsets | None = None  # of the n queries and m candidates, with a repair of hubs
    judged: tuple[Ints, Ints, Ints] | None = None  # (query, candidate, grade) of all pairs that have a grade
    given: Lists | None = None  # of a search system, in place of vectors
    # another order of the vectors' lists: takes the depth and the queries
    ordered: Callable[[int | None, Ints | None], Iterator[list[int]]] | None = None

    def lists(self, depth: int | None, queries: Ints | None = None) -> Iterator[list[int]]:
        """Yield the places of the `depth` best candidates (None: all) of each query, or of the given ones.

        Ties come in the order of names, also at the depth, but where another order is given.
        """
        if self.ordered is not None:
            return self.ordered(depth, queries)
        names = [member.name for member in self.candidates]
        if self.given is not None:
            return listed_by_name(self.given, names, depth, queries)
        assert self.query_vectors is not None
        assert self.candidate_vectors is not None
        return best_by_name(
            self.query_vectors, self.candidate_vectors, names, depth, self.offsets, queries=queries
        )

    def scored(self, depth: int | None) -> Iterator[tuple[list[int], list[float] | None]]:
        """Yield the same lists, each with the scores that a search system gave; None where there are none."""
        if self.given is None or (score := self.given.level_scores) is None:
            yield from ((best, None) for best in self.lists(depth))
            return
        order = _by_name(self.given, [member.name for member in self.candidates])
        for low, high in pairwise(self.given.start.tolist()):
            lines = order[low:high][:depth]
            yield self.given.candidate[lines].tolist(), score[lines].tolist()


@dataclass(frozen=True)
class Evaluated:
    """What results in memory remember of their evaluation: the data, and how its lists are made again.

    `rankings` takes the name of an encoder.
    """

    data: Manifest | MultilingualPool
    rankings: Callable[[str], Iterator[Ranking]]


def listed_by_name(
    lists: Lists, names: Sequence[str], depth: int | None, queries: Ints | None = None
) -> Iterator[list[int]]:
    """Yield the candidates of each query, or of the given ones, in the order of its list, ties by name."""
    candidate = lists.candidate[_by_name(lists, names)]
    for query in np.arange(len(lists)) if queries is None else queries:
        yield candidate[lists.start[query] : lists.start[query + 1]][:depth].tolist()


def _by_name(lists: Lists, names: Sequence[str]) -> Ints:
    """Return the lines of lists, query by query, best first, ties in the order of names."""
    rank = np.empty(len(names), dtype=np.int64)
    rank[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
    return np.lexsort((rank[lists.candidate], lists.level, lists.query))


def best_by_name(
    query_vectors: TextRows,
    candidate_vectors: TextRows,
    names: Sequence[str],
    depth: int | None,
    offsets: Offsets | None = None,
    *,
    queries: Ints | None = None,
) -> Iterator[list[int]]:
    """Yield the best candidates of each query by the adjusted score, ties in the order of their names.

    The order is exact: float64 scores to 9 decimals.
    """
    by_name = np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.int64)
    collapsed = Pool.of(candidate_vectors.raw, candidate_vectors.rows)
    if queries is not None:
        query_vectors = rows_of(query_vectors.raw, query_vectors.rows[queries])
    if offsets is not None:  # equal vectors have equal ones
        first = np.unique(collapsed.code, return_index=True)[1]
        offsets = offsets.take(first)
    count = len(names) if depth is None else min(depth, len(names))
    similarity = similarity_of(query_vectors, collapsed.vectors)
    for best in ranked(similarity, collapsed.code[by_name], count, offsets):
        yield by_name[best].tolist()


def texts_of(manifest: Manifest, rows: Ints) -> list[Member]:
    """Return the texts of some rows."""
    tags = manifest.languages
    return [Member(tags[manifest.language[row]], manifest.ids[row], row) for row in rows.tolist()]


def images_of(manifest: Manifest, rows: Ints) -> list[Member]:
    """Return images, each by a row that shows it; ids of rows are unique only within a language."""
    return [
        replace(text, language=IMAGE, id=f"{text.language}:{text.id}") for text in texts_of(manifest, rows)
    ]
