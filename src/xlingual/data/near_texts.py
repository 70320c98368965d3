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

import numpy as np

from xlingual.arrays import Floats, Ints, distinct_values
from xlingual.columns import pick
from xlingual.data.rows import numbered
from xlingual.ragged import components, groups, spans, starts, sums

SIMILAR = 0.7  # least similarity of texts that count as near-equal
_LETTERS, _SIGNS = 4, 2  # characters of a shingle: of letters, and of signs that stand for syllables or words
_FIRST_SIGN = 0x2E80  # code points from here on are Chinese, Japanese and Korean
_MEETINGS = 1 << 20  # of prefixes, in a tile
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
    code, different = numbered(" ".join(text.lower().split()) for text in texts)
    filled = np.flatnonzero(np.array([bool(text) for text in different], dtype=bool))
    first = np.unique(code, return_index=True)[1][filled]
    asked = np.unique(code if queries is None else code[queries])
    sets = _Sets.of([different[i] for i in filled], shingles)
    places = np.flatnonzero(np.isin(code, np.intersect1d(filled, asked)))
    order = places[np.argsort(code[places], kind="stable")]
    same = code[order[1:]] == code[order[:-1]]  # the next text is the same
    pairs = [(order[:-1][same], order[1:][same], np.ones(int(same.sum())))]
    for a, b in _meeting(sets, np.searchsorted(filled, asked[np.isin(asked, filled)]), least):
        for start in range(0, len(a), _COMPARED):
            left, right = a[start : start + _COMPARED], b[start : start + _COMPARED]
            shared = sets.shared(left, right)
            similarity = shared / (sets.size[left] + sets.size[right] - shared)
            near = similarity >= least - _ROUNDING
            pairs.append((first[left[near]], first[right[near]], similarity[near]))
    first, second, similarities = map(np.concatenate, zip(*pairs, strict=True))
    return first, second, similarities


@dataclass(frozen=True)
class _Sets:
    """The shingles of n texts, [e] of all: each text's together, the rarest first."""

    key: Ints  # [e] ascending: the text times the number of different shingles, plus the shingle
    start: Ints  # [n + 1] where the shingles of each text begin
    row: Ints  # [e] the text
    shingle: Ints  # [e]
    weight: Floats  # [e]
    size: Floats  # [n] weight of each set

    @classmethod
    def of(cls, texts: Sequence[str], most: int | None = None) -> _Sets:
        """Return the sets of shingles; where there are over `most` for each text, those of some hashes.

        A blank stands before and behind each text; what would reach into the next text is cut.
        """
        whole = "".join(f" {text} " for text in texts)
        points = np.frombuffer(whole.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        length = np.fromiter((len(text) + 2 for text in texts), dtype=np.int64, count=len(texts))
        visible = points[points > ord(" ")]
        n = _SIGNS if len(visible) and np.median(visible) >= _FIRST_SIGN else _LETTERS
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
        keys = keys[groups(keys)[0]]  # each shingle of a text once
        df = groups(keys >> _ROW_BITS)[1]
        rank = np.empty(len(df), dtype=np.int64)
        rank[np.argsort(df, kind="stable")] = np.arange(len(df))
        rows = (keys & ((np.uint64(1) << _ROW_BITS) - np.uint64(1))).astype(np.int64)
        key = np.sort(rows * max(len(df), 1) + np.repeat(rank, df))
        rows, shingle = np.divmod(key, max(len(df), 1))
        weight = np.log1p(len(texts) / np.sort(df, kind="stable"))[shingle]
        return cls(key, starts(rows, len(texts)), rows, shingle, weight, sums(rows, weight, len(texts)))

    def shared(self, first: Ints, second: Ints) -> Floats:
        """Return the weight of the shingles that two texts share, for each pair [p]."""
        pair, at = spans(self.start[first], self.start[first + 1] - self.start[first])
        sought = self.key[at] + (second - first)[pair] * (len(self.key) and int(self.shingle.max()) + 1)
        place = np.minimum(np.searchsorted(self.key, sought), len(self.key) - 1)
        return sums(pair, np.where(self.key[place] == sought, self.weight[at], 0.0), len(first))


def _meeting(sets: _Sets, asked: Ints, least: float) -> Iterator[tuple[Ints, Ints]]:
    """Yield pairs that may be similar enough, at least one of them asked: the smaller number first.

    A shared shingle lies in both prefixes, or in the rest of the set whose prefix ends earlier.
    """
    n, total = len(sets.size), np.append(0.0, np.cumsum(sets.weight))
    rarer = total[:-1] - total[sets.start[sets.row]]  # weight before this shingle
    size = sets.size[sets.row]
    inside = np.flatnonzero(size - rarer >= _REST * least * size - _ROUNDING)
    row, shingle, weight = sets.row[inside], sets.shingle[inside], sets.weight[inside]
    rest = sets.size - sums(row, weight, n)
    start = starts(row, n)
    end = np.append(shingle, 0)[np.maximum(start[1:] - 1, 0)]  # the last one of each prefix
    holders = row[np.argsort(shingle, kind="stable")]
    count = np.bincount(shingle)
    begin = np.cumsum(count) - count
    meetings = np.cumsum(sums(row, count[shingle].astype(np.float64), n)[asked])
    is_asked = np.zeros(n, dtype=bool)
    is_asked[asked] = True
    done = 0
    while done < len(asked):  # tiles of rows whose prefixes meet `_MEETINGS` times at most, or of one row
        spent = meetings[done - 1] if done else 0.0
        stop = max(done + 1, int(np.searchsorted(meetings, spent + _MEETINGS, side="right")))
        rows, done = asked[done:stop], stop
        of_row, at = spans(start[rows], start[rows + 1] - start[rows])
        line, place = spans(begin[shingle[at]], count[shingle[at]])
        a, b = rows[of_row[line]], holders[place]
        once = (a < b) | (~is_asked[b] & (a != b))  # a pair with both asked is met twice
        pair = a[once] * n + b[once]
        order = np.argsort(pair)
        first = groups(pair[order])[0]
        met = np.add.reduceat(weight[at][line][once][order], first) if len(first) else np.empty(0)
        a, b = np.divmod(pair[order[first]], n)
        most = met + np.where(end[a] < end[b], rest[a], rest[b])
        near = most >= (sets.size[a] + sets.size[b]) * (least / (1 + least)) - _ROUNDING
        yield np.minimum(a[near], b[near]), np.maximum(a[near], b[near])


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


def without_chains(
    n: int, links: Links, largest: float = LARGEST, *, whole: bool = False
) -> tuple[Links, int]:
    """Return the links that leave no component too large, and how many components were.

    A component of more than `largest` of the n nodes (and of more than five) is a chain. It keeps only the
    links below the distance at which a part of it becomes that large. Where even equal nodes are too many, it
    falls apart into single ones: what so many share says nothing of any two. `whole`: it always does.
    """
    most = max(int(largest * n), _FEW)
    label = components(n, links.first, links.second)
    chains = np.flatnonzero(np.bincount(label, minlength=1) > most)
    stays = np.ones(len(links), dtype=bool)
    for chain in chains.tolist():
        inside = label[links.first] == chain
        distances = np.unique(links.distance[inside])
        low, high = 0, 0 if whole else len(distances) - 1
        while low < high:  # the limit is at `high` or before; all links together are too many
            middle = (low + high) // 2
            near = inside & (links.distance <= distances[middle])
            if np.bincount(components(n, links.first[near], links.second[near])).max() > most:
                high = middle
            else:
                low = middle + 1
        stays[inside] = links.distance[inside] < distances[low]
    return Links(links.first[stays], links.second[stays], links.distance[stays]), len(chains)


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
    links = without_chains(len(names), links)[0]
    family: Ints = components(len(names), links.first, links.second)[code]
    return family


def joined_units(unit: Ints, family: Ints) -> int:
    """Count the units that share their family with another unit."""
    of_unit = family[np.unique(unit, return_index=True)[1]]
    sizes = np.bincount(of_unit)
    return int(sizes[sizes > 1].sum())
