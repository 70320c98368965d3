"""Samples: which texts are sources and which are targets, for one language pair and seed.

A *matching* sample has both texts of the same items on its two sides, a *non-matching* sample has no item on
both. One permutation of the items per seed serves every language pair, so that pairs are comparable.

All sources are queries, or `queries` of them: then the others are there as candidates only. All texts of an
item take part, or `texts_per_item` of them, drawn at random.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from xlingual.arrays import Ints, distinct_values
from xlingual.data.manifest import Manifest
from xlingual.data.near_texts import families
from xlingual.errors import InputError, did_you_mean, listed, parameter
from xlingual.files import regular_file
from xlingual.results.provenance import note_file
from xlingual.streams import stream

MOST_SEEDS = 10_000
MOST_SEED = 2**53  # every JSON reader keeps integers up to here


@dataclass(frozen=True)
class Sample:
    """Text rows of the manifest that are sources and targets.

    `pool` holds all sources, queries or not: their images are the candidates of the way back.
    """

    seed: int
    source: Ints  # [n] rows, the queries
    target: Ints  # [m] rows
    pool: Ints  # [s] rows, with those of `source`

    @property
    def is_part(self) -> bool:
        """Whether only a part of the sources are queries."""
        return len(self.source) < len(self.pool)


@dataclass(frozen=True)
class Splits:
    """Fixed samples: item numbers used as source and target, one row for each seed."""

    source: Ints  # [seeds, n]
    target: Ints  # [seeds, m]


def resolve_pairs(pairs: str | Sequence[str] | None, languages: Sequence[str]) -> list[tuple[str, str]]:
    """Return (source, target) pairs named `en-de` or `en:de`; None: all ordered pairs of the languages.

    Languages may hold hyphens (`zh-Hant-en`): a name is cut where both sides are languages.
    """
    if len(languages) < 2:
        have = f"only {languages[0]!r}" if languages else "none"
        raise InputError(
            f"the manifest has {have} for a language: a comparison across languages needs at least two"
        )
    if pairs is None:
        return [(a, b) for a in languages for b in languages if a != b]
    names = re.split(r"[,\s]+", pairs) if isinstance(pairs, str) else list(pairs)
    found = [_resolve_pair(name, languages) for name in names if name]
    if not found:
        raise InputError(
            f"no language pair was named: expected, for instance, {parameter('pairs', ['en-de', 'de-en'])}"
        )
    return list(dict.fromkeys(found))


def _resolve_pair(name: str, languages: Sequence[str]) -> tuple[str, str]:
    cuts = [(name[:i], name[i + 1 :]) for i, character in enumerate(name) if character in ":-"]
    matches = [cut for cut in cuts if {*cut} <= {*languages}]
    if len(matches) > 1:
        raise InputError(f"pair {name!r} is ambiguous: write it with a colon, source:target")
    if matches and matches[0][0] == matches[0][1]:
        raise InputError(f"pair {name!r}: source and target are the same language; name two languages")
    if matches:
        return matches[0]
    if not cuts:
        raise InputError(
            f"pair {name!r}: write source-target, for example {languages[0]}-{languages[1]}; "
            f"the manifest has {listed(languages, 20)}"
        )
    source, _, target = name.partition(":" if ":" in name else "-")
    unknown = next((part for part in (source, target) if part not in languages), name)
    raise InputError(
        f"pair {name!r}: unknown language {unknown!r}.{_near_language(unknown, languages)} "
        f"The manifest has {listed(languages, 20)}"
    )


def _near_language(unknown: str, languages: Sequence[str]) -> str:
    """Return a hint: the language in other letter case, or that `unknown` begins, or of a like spelling."""
    low = unknown.lower()
    for language in languages:
        if low in (language.lower(), language.lower().partition("-")[0]):
            return f" Did you mean {language!r}?"
    return did_you_mean(unknown, languages)


def read_splits(path: str | Path, n_items: int) -> Splits:
    """Read an `.npz` with integer arrays S and T [seeds, n] of item numbers below `n_items`."""
    path = Path(path)
    try:
        if path.exists():
            note_file("samples", regular_file(path, "fixed samples"))
        with path.open("rb") as handle:
            if handle.read(2) != b"PK":  # .npz is a zip archive
                raise InputError(f"{path} is not an .npz file: write it with numpy.savez(path, S=…, T=…)")
        with np.load(path, allow_pickle=False) as file:
            missing = [name for name in ("S", "T") if name not in file]
            if missing:
                raise InputError(
                    f"{path}: no array {missing[0]!r}; found {listed(file) or 'none'}: expected S and T, "
                    "[seeds, n]"
                )
            source, target = file["S"], file["T"]
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file; --splits takes an .npz with arrays S and T") from error
    except InputError:
        raise
    except Exception as error:  # numpy and zipfile raise errors of many kinds for damaged files
        reason = getattr(error, "strerror", None) or " ".join(str(error).split()) or type(error).__name__
        raise InputError(
            f"{path} is not an .npz of plain arrays ({reason}): write it with numpy.savez(path, S=…, T=…)"
        ) from error
    for name, array in (("S", source), ("T", target)):
        if not isinstance(array, np.ndarray):  # numpy gives the bytes of a member that is none of its arrays
            raise InputError(f"{path}: {name} is no array: write the file with numpy.savez(path, S=…, T=…)")
        if array.ndim != 2 or array.dtype.kind not in "iu" or array.size == 0:
            raise InputError(f"{path}: {name} is {array.dtype} {array.shape}; expected integers [seeds, n]")
        if array.min() < 0 or array.max() >= n_items:
            bad = array.min() if array.min() < 0 else array.max()
            raise InputError(f"{path}: {name} holds item {bad}; the manifest has items 0 to {n_items - 1}")
        for seed, row in enumerate(array):
            if len(distinct_values(row)) < len(row):
                raise InputError(f"{path}: {name} names an item twice in row {seed}; expected distinct items")
    if len(source) != len(target):
        raise InputError(
            f"{path}: S has {len(source)} rows and T {len(target)}; expected one of each for a seed"
        )
    return Splits(source.astype(np.int64), target.astype(np.int64))


class Sampler:
    """Draws samples of a manifest for language pairs and seeds; of `usable` rows, bool [n], where given.

    `or_fewer`: a pair that has fewer than `size` items for each side takes as many as it has.
    """

    def __init__(
        self,
        manifest: Manifest,
        *,
        size: int | None = None,
        splits: Splits | None = None,
        seeds: int = 1,
        seed: int = 0,
        usable: np.ndarray | None = None,
        queries: int | None = None,
        or_fewer: bool = False,
        texts_per_item: int | Literal["all"] = "all",
    ) -> None:
        if not 1 <= seeds <= MOST_SEEDS:
            raise InputError(f"--seeds must be 1 to {MOST_SEEDS}, got {seeds}")
        for option, number in (("--sample-size", size), ("--queries", queries)):
            if number is not None and number < 1:
                raise InputError(f"{option} must be at least 1, got {number}")
        if texts_per_item != "all" and not (isinstance(texts_per_item, int) and texts_per_item > 0):
            raise InputError(f"--texts-per-item must be at least 1, or all; got {texts_per_item!r}")
        if or_fewer and size is None:
            raise InputError("--or-fewer needs --sample-size N: give N, or leave --or-fewer out")
        if not 0 <= seed <= MOST_SEED:
            raise InputError(f"--seed must be 0 to {MOST_SEED}, got {seed}")
        self.manifest, self.size, self.splits, self.queries = manifest, size, splits, queries
        self.or_fewer = or_fewer
        self.texts_per_item = None if texts_per_item == "all" else texts_per_item
        self.seeds = list(range(seed, seed + seeds) if splits is None else range(len(splits.source)))
        self._order: tuple[int, Ints] | None = None  # the last seed's permutation
        self._most: dict[tuple[str, str], tuple[int, int]] = {}  # items a pair can have apart, and matching
        self._usable = None if usable is None or usable.all() else usable
        self._items = {
            language: distinct_values(manifest.item[self._of(language)]) for language in manifest.languages
        }

    def described(self, source: str, target: str, *, matching: bool = False) -> str:
        """Return the sampling of a pair in a few words, for signatures."""
        size = self.size_of(source, target, matching=matching)
        what = "all" if size is None else str(size)
        if self.splits is not None:
            what = f"splits-{zlib.crc32(self.splits.source.tobytes() + self.splits.target.tobytes()):08x}"
        if self._usable is not None:
            what += f"-without-{zlib.crc32(np.flatnonzero(~self._usable).tobytes()):08x}"
        return what

    def size_of(self, source: str, target: str, *, matching: bool = False) -> int | None:
        """Return the number of items drawn for each side of a pair; None where all are taken.

        With `or_fewer` it is at most what a non-matching sample of the pair has room for, so that matching
        samples of items that have both languages are as large.
        """
        if self.size is None or not self.or_fewer:
            return self.size
        if (source, target) not in self._most:
            both = len(self._in_both(source, target))
            one, two = (len(self._items[language]) - both for language in (source, target))
            most = (one + two + both) // 2 if abs(one - two) <= both else min(one, two) + both
            self._most[source, target] = most, both
        most, both = self._most[source, target]
        return min(self.size, most, both) if matching else min(self.size, most)

    def non_matching(self, source: str, target: str) -> list[Sample]:
        """Return one sample for each seed in which no target belongs to the item of a source.

        Items with both languages are divided by the seed's permutation, items with one serve on their side.
        """
        if self.splits is None:
            chosen = [self._divide(seed, source, target) for seed in self.seeds]
        else:
            chosen = list(zip(self.splits.source, self.splits.target, strict=True))
            for number, sides in enumerate(chosen):
                common = np.intersect1d(*sides)
                if len(common):
                    raise InputError(
                        f"splits row {number}: {len(common)} items are both source and target (first: "
                        f"{self.manifest.item_ids[common[0]]!r}); Backretrieval needs a non-matching sample"
                    )
        return [
            self._sample(seed, source, sources, target, targets)
            for seed, (sources, targets) in zip(self.seeds, chosen, strict=True)
        ]

    def matching(self, source: str, target: str, most: int | None = None) -> list[Sample]:
        """Return one sample for each seed in which both sides hold the same items.

        Where no sample size was asked for, `most` is the largest number of items taken.
        """
        both = self._in_both(source, target)
        if len(both) == 0:
            raise InputError(
                f"no item has texts in both {source!r} and {target!r}: cross-lingual retrieval needs "
                "matching texts (give an item column, or use evaluate backretrieval, which needs none)"
            )
        if self.splits is not None:
            chosen = list(self.splits.source)
        else:
            what, end = f"items with both {source!r} and {target!r}", most if self.size is None else None
            size = self.size_of(source, target, matching=True)
            chosen = [self._first(self._permuted(seed, both), size, what)[:end] for seed in self.seeds]
        return [
            self._sample(seed, source, items, target, items)
            for seed, items in zip(self.seeds, chosen, strict=True)
        ]

    def _divide(self, seed: int, source: str, target: str) -> tuple[Ints, Ints]:
        has_source, has_target = self._items[source], self._items[target]
        both, size = self._permuted(seed, self._in_both(source, target)), self.size_of(source, target)
        half = (len(both) + 1) // 2
        if (
            size is not None
        ):  # the side with fewer items in one language only may need more of the shared ones
            least = size - (len(has_source) - len(both))
            most = len(both) - (size - (len(has_target) - len(both)))
            half = int(np.clip(half, min(least, most), max(least, most))) if least <= most else half
            half = int(np.clip(half, 0, len(both)))
        if len(both) == len(has_target) == 1 < len(has_source):
            half = 0  # the only item that can be a target
        sides = []
        for language, own, other, shared in (
            (source, has_source, has_target, both[:half]),
            (target, has_target, has_source, both[half:]),
        ):
            pool = self._permuted(
                seed, np.concatenate([np.setdiff1d(own, other, assume_unique=True), shared])
            )
            if len(pool) == 0:
                raise InputError(
                    f"pair {source}-{target}: a non-matching sample is impossible, no item is left for the "
                    f"{language!r} side (items with {source!r}: {len(has_source)}, with {target!r}: "
                    f"{len(has_target)}, with both: {len(both)}); give more items"
                )
            sides.append(self._first(pool, size, f"items for the {language!r} side of {source}-{target}"))
        return sides[0], sides[1]

    def _permuted(self, seed: int, items: Ints) -> Ints:
        """Return the items in the order of the seed's one permutation of all items."""
        if self._order is None or self._order[0] != seed:
            self._order = seed, stream(seed, "samples").permutation(self.manifest.n_items)
        return items[np.argsort(self._order[1][items], kind="stable")]

    def _in_both(self, source: str, target: str) -> Ints:
        return np.intersect1d(self._items[source], self._items[target], assume_unique=True)

    def _first(self, items: Ints, size: int | None, what: str) -> Ints:
        if size is not None and size > len(items):
            raise InputError(
                f"--sample-size {size} is larger than the data: {len(items)} {what}; ask for less, or add "
                "--or-fewer"
            )
        return items[:size]

    def _sample(self, seed: int, source: str, sources: Ints, target: str, targets: Ints) -> Sample:
        pool, found = (
            self._drawn_texts(seed, language, self._rows(language, items))
            for language, items in ((source, sources), (target, targets))
        )
        return Sample(seed, self._query_rows(seed, pool), found, pool)

    def _drawn_texts(self, seed: int, language: str, rows: Ints) -> Ints:
        """Return at most `texts_per_item` rows of each item, in the order of the manifest.

        The seed's one permutation of the language's texts decides, so an item has the same texts in every
        language pair and on either side, and those of a smaller number are among those of a larger one.
        """
        if self.texts_per_item is None:
            return rows
        every, item = self.manifest.rows_of(language), self.manifest.item[rows]
        place = stream(seed, f"texts {language}").permutation(len(every))[np.searchsorted(every, rows)]
        order = np.lexsort((place, item))
        first = np.searchsorted(item[order], item[order])  # where the texts of the same item begin
        return np.sort(rows[order[np.arange(len(rows)) - first < self.texts_per_item]])

    def _query_rows(self, seed: int, pool: Ints) -> Ints:
        """Return the rows that are queries: those of items drawn at random, the same items for every pair."""
        if self.queries is None or self.queries >= len(pool):
            return pool
        place = stream(seed, "queries").permutation(self.manifest.n_items)[self.manifest.item[pool]]
        return pool[np.sort(np.argsort(place, kind="stable")[: self.queries])]

    def _rows(self, language: str, items: Ints) -> Ints:
        """Return the text rows of the items in a language, in the order of the manifest."""
        there = distinct_values(self.manifest.item[self.manifest.rows_of(language)])
        missing = np.setdiff1d(distinct_values(items), there, assume_unique=True)
        if len(missing):
            raise InputError(
                f"item {self.manifest.item_ids[missing[0]]!r} of the splits has no text in {language!r} "
                f"({len(missing)} such items); make splits of items that have both languages"
            )
        usable = self._of(language)
        chosen: Ints = usable[np.isin(self.manifest.item[usable], items)]
        if not len(chosen):
            raise InputError(f"no text in {language!r} of the splits can be used: its images are left out")
        return chosen

    def _of(self, language: str) -> Ints:
        """Return the usable text rows of a language."""
        rows = self.manifest.rows_of(language)
        return rows if self._usable is None else rows[self._usable[rows]]


def hold_out(manifest: Manifest, share: float, seed: int = 0) -> tuple[Manifest, Manifest]:
    """Return (rest, held out): about a `share` of the items is held out, drawn with the seed.

    Items that share an image or a cluster, or have near-equal texts, stay together. Raises InputError where a
    part would be empty.
    """
    if not 0 < share < 1:
        raise InputError(
            f"a share of {share:g} cannot be held out: give a number between 0 and 1, such as 0.1"
        )
    group = dependent(manifest)
    items = np.bincount(group[np.unique(manifest.item, return_index=True)[1]])
    order = stream(seed, "hold out").permutation(len(items))
    before = np.cumsum(items[order]) - items[order]
    held_out = np.isin(group, order[before < round(share * items.sum())])
    if held_out.all() or not held_out.any():
        raise InputError(
            f"{manifest.source}: a share of {share:g} of {manifest.n_items} items cannot be held out: give "
            "more items, another share, or rows of another file"
        )
    return tuple(manifest.part(distinct_values(manifest.table_row[part])) for part in (~held_out, held_out))  # type: ignore[return-value]


def dependent(manifest: Manifest) -> Ints:
    """Return a number for each row: equal where rows share an item, cluster or image, also through others.

    Rows of one row of the table share it too, and so do rows with near-equal texts (`families`).
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n, start = len(manifest), len(manifest)
    rows, nodes = [], []
    for column in (manifest.item, manifest.cluster, manifest.image, manifest.table_row):
        has = np.flatnonzero(column >= 0)
        rows.append(has)
        nodes.append(start + column[has])
        start += int(column.max(initial=-1)) + 1
    row, node = np.concatenate(rows), np.concatenate(nodes)
    links = coo_array((np.ones(len(row), dtype=np.int8), (row, node)), shape=(start, start))
    labels = connected_components(links, directed=False)[1][:n]
    return families(manifest.text, manifest.language, labels)
