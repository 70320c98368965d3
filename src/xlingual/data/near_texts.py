"""Near-equal texts of one language, clusters of what they link, and families of items.

The similarity of texts is the weighted Jaccard similarity of their character n-grams.

A text is the set of its n-grams (*shingles*) in lower case, a rare one weighing more: ln(1 + N/df), where df
of the N different texts hold it. So what all texts of a catalogue share counts for little. The similarity of
two texts is the weight of the shingles they share over that of the shingles that either has.

The pairs above a threshold are found exactly, without comparing all pairs. Two sets that share so much share
one of the rarest shingles of both: the *prefix* of a set is its first shingles, the rarest first, until the
rest weighs less than the threshold's part of the set (Chaudhuri, Ganti and Kaushik 2006, "A Primitive
Operator for Similarity Joins in Data Cleaning"). Only pairs whose prefixes meet are compared, a tile of texts
at a time.

*Families* are units (items, clusters) with near-equal texts, which never stand in two parts of the data: a
map that is fitted on one variant of a product and tested on another has seen the test.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from xlingual.arrays import Floats, Ints, distinct_values
from xlingual.columns import pick

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

SIMILAR = 0.7  # least similarity of texts that count as near-equal
_LETTERS, _SIGNS = 4, 2  # characters of a shingle: of letters, and of signs that stand for syllables or words
_FIRST_SIGN = 0x2E80  # code points from here on are Chinese, Japanese and Korean
_MEETINGS = 1 << 22  # of prefixes, in a tile
_COMPARED = 1 << 14  # pairs compared at once
_REST = 0.7  # prefixes are longer than need be by this: more prefixes meet, far fewer pairs are compared
_ROUNDING = 1e-9
LARGEST = 0.05  # share of all nodes that a cluster may have
_FEW = 5  # nodes that any cluster may have
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_ROW_BITS = np.uint64(24)  # texts of one call; the other 40 bits are the shingle's hash


def near_texts(
    texts: Sequence[str],
    queries: Ints | None = None,
    *,
    least: float = SIMILAR,
    shingles: int | None = None,
) -> tuple[Ints, Ints, Floats]:
    """Return the pairs of texts with a similarity of `least` or more: (first, second, similarity), each [p].

    Equal texts have a similarity of 1 and are linked in a chain, each to the next; of different ones that are
    near-equal the first of each is linked. With `queries` (positions) only pairs that hold one of them are
    returned. An empty text is near-equal to none. With `shingles` about so many of a text on average are
    compared, where there are more: those of some hashes, the same for every text; similarities are estimates.
    """
    code, different = _numbered(texts)
    first = np.unique(code, return_index=True)[1]
    known = np.flatnonzero(np.array([bool(text) for text in different], dtype=bool))
    sets = _weighted_sets([different[i] for i in known], shingles)
    wanted = np.unique(code if queries is None else code[queries])
    wanted_sets = np.searchsorted(known, wanted[np.isin(wanted, known)])
    a, b, similarity = _joined(sets, wanted_sets, least)
    same = _equal(code, np.isin(code, known))
    same = same[:, np.isin(code[same[0]], wanted)]
    return (
        np.concatenate([same[0], first[known[a]]]),
        np.concatenate([same[1], first[known[b]]]),
        np.concatenate([np.ones(same.shape[1]), similarity]),
    )


def _numbered(texts: Sequence[str]) -> tuple[Ints, list[str]]:
    """Return the number of each text among the different ones, which are in lower case with single blanks."""
    number: dict[str, int] = {}
    code = [number.setdefault(" ".join(text.lower().split()), len(number)) for text in texts]
    return np.array(code, dtype=np.int64), list(number)


def _equal(code: Ints, counted: np.ndarray) -> Ints:
    """Return [2, p] each position and the next one of equal code, of those counted."""
    places = np.flatnonzero(counted)
    order = places[np.argsort(code[places], kind="stable")]
    same = code[order[1:]] == code[order[:-1]]
    return np.stack([order[:-1][same], order[1:][same]])


def _weighted_sets(texts: Sequence[str], most: int | None = None) -> csr_matrix:
    """Return the weights of the shingles of each text [n, shingles], the rarest shingles first."""
    from scipy.sparse import csr_matrix

    row, code = _shingles(texts, most)
    df = np.bincount(code)
    rank = np.empty(len(df), dtype=np.int64)
    rank[np.argsort(df, kind="stable")] = np.arange(len(df))
    weight = np.log1p(len(texts) / df)
    sets = csr_matrix((weight[code], (row, rank[code])), shape=(len(texts), len(df)))
    sets.sort_indices()
    return sets


def _shingles(texts: Sequence[str], most: int | None) -> tuple[Ints, Ints]:
    """Return the texts [p] and the numbers [p] of their shingles, each shingle of a text once.

    A blank stands before and behind each text; what would reach into the next text is cut. Where there are
    over `most` for each text, they are those of some hashes.
    """
    joined = "".join(f" {text} " for text in texts)
    points = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    length = np.fromiter((len(text) + 2 for text in texts), dtype=np.int64, count=len(texts))
    seen = points[points > ord(" ")]
    n = _SIGNS if len(seen) and np.median(seen) >= _FIRST_SIGN else _LETTERS
    row = np.repeat(np.arange(len(texts), dtype=np.uint64), length)
    value = np.zeros(len(points), dtype=np.uint64)
    for k in range(n):
        value *= _FACTOR
        end = len(points) - k
        value[:end] += np.where(row[:end] == row[k:], points[k:], 0).astype(np.uint64)
    value = value * _FACTOR >> _ROW_BITS  # well mixed: the highest bits depend on all characters
    if most is not None and len(value) > most * len(texts):
        some = value % np.uint64(len(value) // (most * len(texts))) == 0
        value, row = value[some], row[some]
    keys = np.sort(value << _ROW_BITS | row)
    keys = keys[np.append(True, keys[1:] != keys[:-1])[: len(keys)]]
    value = keys >> _ROW_BITS
    code = np.cumsum(np.append(False, value[1:] != value[:-1]))[: len(keys)]
    return (keys & ((np.uint64(1) << _ROW_BITS) - np.uint64(1))).astype(np.int64), code


def _joined(sets: csr_matrix, wanted: Ints, least: float) -> tuple[Ints, Ints, Floats]:
    """Return the pairs of sets with a similarity of `least` or more, each once: the smaller number first."""
    size = np.asarray(sets.sum(axis=1)).ravel()
    found = [(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0))]
    for a, b in _meeting(sets, size, wanted, least):
        for start in range(0, len(a), _COMPARED):
            part = slice(start, start + _COMPARED)
            shared = np.asarray(sets[a[part]].minimum(sets[b[part]]).sum(axis=1)).ravel()
            similarity = shared / (size[a[part]] + size[b[part]] - shared)
            kept = similarity >= least - _ROUNDING
            found.append((a[part][kept], b[part][kept], similarity[kept]))
    first, second, similarities = map(np.concatenate, zip(*found, strict=True))
    return first, second, similarities


def _meeting(sets: csr_matrix, size: Floats, wanted: Ints, least: float) -> Iterator[tuple[Ints, Ints]]:
    """Yield pairs that may be similar enough, at least one of them wanted: the smaller number first.

    A shared shingle lies in both prefixes, or in the rest of the set whose prefix ends earlier.
    """
    prefix, rest, end = _prefixes(sets, size, least)
    sought = prefix.T.tocsr()
    cost = np.asarray((prefix != 0)[wanted] @ np.diff(sought.indptr).astype(np.float64)).ravel()
    sought.data[:] = 1
    is_wanted = np.zeros(sets.shape[0], dtype=bool)
    is_wanted[wanted] = True
    for part in _tiles(cost):
        met = (prefix[wanted[part]] @ sought).tocoo()
        a, b = wanted[part][met.row], met.col.astype(np.int64)
        most = met.data + np.where(end[a] < end[b], rest[a], rest[b])
        once = (a < b) | (~is_wanted[b] & (a != b))  # a pair with both wanted is met twice
        kept = once & (most >= (size[a] + size[b]) * (least / (1 + least)) - _ROUNDING)
        a, b = a[kept], b[kept]
        yield np.minimum(a, b), np.maximum(a, b)


def _prefixes(sets: csr_matrix, size: Floats, least: float) -> tuple[csr_matrix, Floats, Ints]:
    """Return the prefixes [n, shingles], the weight [n] of what follows each, and its last shingle [n]."""
    from scipy.sparse import csr_matrix

    row = np.repeat(np.arange(sets.shape[0]), np.diff(sets.indptr))
    total = np.cumsum(sets.data)
    before = (
        total - sets.data - np.append(0.0, total)[sets.indptr[row]]
    )  # of the set, rarer than this shingle
    kept = size[row] - before >= _REST * least * size[row] - _ROUNDING
    prefix = csr_matrix((sets.data[kept], (row[kept], sets.indices[kept])), shape=sets.shape)
    rest = size - np.asarray(prefix.sum(axis=1)).ravel()
    end = np.zeros(sets.shape[0], dtype=np.int64)  # of an empty set: any, for it meets none
    some = np.diff(prefix.indptr) > 0
    end[some] = prefix.indices[prefix.indptr[1:][some] - 1]
    return prefix, rest, end


def _tiles(cost: Floats) -> Iterator[slice]:
    """Yield consecutive parts of rows whose costs add up to `_MEETINGS` at most, or of one row."""
    start = 0
    total = np.cumsum(cost)
    while start < len(cost):
        spent = total[start - 1] if start else 0.0
        stop = max(start + 1, int(np.searchsorted(total, spent + _MEETINGS, side="right")))
        yield slice(start, stop)
        start = stop


@dataclass(frozen=True)
class Links:
    """Pairs of nodes (codes [p]) that are not independent; `distance` [p] is 0 for equal ones, at most 1."""

    first: Ints
    second: Ints
    distance: Floats

    @classmethod
    def joined(cls, several: Sequence[Links]) -> Links:
        """Return all links of several; none of none."""
        columns = [(links.first, links.second, links.distance) for links in several]
        columns.append((np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0)))
        return cls(*(np.concatenate(column) for column in zip(*columns, strict=True)))

    def __len__(self) -> int:
        return len(self.first)

    def between(self, node: Ints) -> Links:
        """Return the links between the nodes `node` of what is linked here, without those within one."""
        first, second = node[self.first], node[self.second]
        apart = first != second
        return Links(first[apart], second[apart], self.distance[apart])


def components(n: int, links: Links) -> Ints:
    """Return the component of each of n nodes."""
    return _connected(n, links, np.ones(len(links), dtype=bool))


def without_chains(
    n: int, links: Links, largest: float = LARGEST, *, whole: bool = False
) -> tuple[Links, int]:
    """Return the links that leave no component too large, and how many components were.

    A component of more than `largest` of the n nodes (and of more than five) is a chain. It keeps only the
    links below the distance at which one of its parts becomes that large. Where even equal nodes are too
    many, it falls apart into single ones: what so many share says nothing of any two. `whole`: it always
    does.
    """
    most = max(int(largest * n), _FEW)
    label = components(n, links)
    chains = np.flatnonzero(np.bincount(label, minlength=1) > most)
    kept = np.ones(len(links), dtype=bool)
    for chain in chains.tolist():
        own = np.flatnonzero(label[links.first] == chain)
        kept[own] = False if whole else links.distance[own] < _limit(n, links, own, most)
    return Links(links.first[kept], links.second[kept], links.distance[kept]), len(chains)


def _limit(n: int, links: Links, own: Ints, most: int) -> float:
    """Return the smallest distance at which, kept, the links `own` make a component of more than `most`."""
    distances = np.unique(links.distance[own])
    low, high = 0, len(distances) - 1  # the limit is at `high` or before; all links together are too many
    while low < high:
        middle = (low + high) // 2
        kept = np.zeros(len(links), dtype=bool)
        kept[own] = links.distance[own] <= distances[middle]
        if np.bincount(_connected(n, links, kept)).max() > most:
            high = middle
        else:
            low = middle + 1
    return float(distances[low])


def _connected(n: int, links: Links, kept: np.ndarray) -> Ints:
    if not kept.any():  # the import below takes longer than all else here
        return np.arange(n)
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ends = links.first[kept], links.second[kept]
    graph = coo_array((np.ones(len(ends[0]), dtype=np.int8), ends), shape=(n, n))
    label: Ints = connected_components(graph, directed=False)[1].astype(np.int64)
    return label


def text_links(
    text: Sequence[str], language: Ints, rows: Ints, queries: Ints | None = None, shingles: int | None = None
) -> Links:
    """Link the rows whose texts are near-equal, within each language.

    Args:
        text: all texts [n].
        language: the code of each text's language [n].
        rows: the rows to compare.
        queries: only links of these rows; all of `rows` if None.
        shingles: about how many shingles of a text to compare; all if None.

    """
    links = []
    for code in distinct_values(language[rows]).tolist():
        spoken = rows[language[rows] == code]
        queried = None if queries is None else np.flatnonzero(np.isin(spoken, queries))
        first, second, similarity = near_texts(pick(text, spoken), queried, shingles=shingles)
        links.append(Links(spoken[first], spoken[second], (1 - similarity) / (1 - SIMILAR)))
    return Links.joined(links)


def families(text: Sequence[str], language: Ints, unit: Ints) -> Ints:
    """Join units with near-equal texts: the code of each text's family [n], equal within a unit."""
    names, code = np.unique(unit, return_inverse=True)
    links = text_links(text, language, np.arange(len(unit))).between(code)
    family: Ints = components(len(names), without_chains(len(names), links)[0])[code]
    return family


def joined_units(unit: Ints, family: Ints) -> int:
    """Count the units that share their family with another unit."""
    of_unit = family[np.unique(unit, return_index=True)[1]]
    sizes = np.bincount(of_unit)
    return int(sizes[sizes > 1].sum())
