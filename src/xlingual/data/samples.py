"""Samples: which texts are sources and which are targets, for one language pair and seed; and rows held out.

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
from typing import Literal, TypeAlias

import numpy as np

from xlingual.arrays import Ints, distinct_values
from xlingual.data.manifest import Manifest
from xlingual.data.near_texts import families
from xlingual.errors import InputError, did_you_mean, listed, parameter
from xlingual.files import regular_file
from xlingual.ragged import components
from xlingual.results.provenance import note_file
from xlingual.streams import stream

MOST_SEED = 2**53  # every JSON reader keeps integers up to here
_MOST_SEEDS = 10_000


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


SampleLike: TypeAlias = "int | str | Path"  # the items of each side: a number, "all", or a file of samples


@dataclass(frozen=True)
class FixedSamples:
    """Item numbers used as source and target, one row for each seed."""

    source: Ints  # [seeds, n]
    target: Ints  # [seeds, m]


def resolve_pairs(pairs: str | Sequence[str] | None, languages: Sequence[str]) -> list[tuple[str, str]]:
    """Return (source, target) pairs named `en-de` or `en:de`; None: all ordered pairs of the languages.

    Languages may hold hyphens (`zh-Hant-en`): a name is cut where both sides are languages.
    """
    if len(languages) < 2:
        raise InputError(
            f"the manifest has only {listed(map(repr, languages)) or 'no language'}: a comparison across "
            "languages needs at least two"
        )
    if pairs is None:
        return [(a, b) for a in languages for b in languages if a != b]
    resolved: dict[tuple[str, str], None] = {}
    for name in filter(None, re.split(r"[,\s]+", pairs) if isinstance(pairs, str) else pairs):
        cuts = [(name[:i], name[i + 1 :]) for i, character in enumerate(name) if character in ":-"]
        matches = [cut for cut in cuts if {*cut} <= {*languages}]
        if len(matches) != 1 or matches[0][0] == matches[0][1]:
            unknown = [tag for tag in re.split(":" if ":" in name else "-", name) if tag not in languages]
            problem = f"unknown language {unknown[0]!r}." if unknown else "write source:target."
            problem = "source and target are the same language." if len(matches) == 1 else problem
            near = did_you_mean(unknown[0], languages) if unknown else ""
            raise InputError(f"pair {name!r}: {problem}{near} The manifest has {listed(languages, 20)}")
        resolved[matches[0]] = None
    if not resolved:
        example = parameter("pairs", ["en-de", "de-en"])
        raise InputError(f"no language pair was named: expected, for instance, {example}")
    return list(resolved)


def read_samples(path: str | Path, n_items: int) -> FixedSamples:
    """Read an `.npz` with integer arrays S and T [seeds, n] of item numbers below `n_items`."""
    expected = (
        "expected an .npz with integer arrays S and T [seeds, n], as numpy.savez(path, S=…, T=…) writes"
    )
    note_file("samples", regular_file(path, "fixed samples (--sample N|all|FILE)"))
    try:
        with np.load(path, allow_pickle=False) as file:
            source, target = (np.asarray(file[name]) for name in ("S", "T"))
    except Exception as error:  # numpy and zipfile raise errors of many kinds for damaged files
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"{path} cannot be read ({reason:.200}): {expected}") from error
    for name, array in (("S", source), ("T", target)):
        problem = ""
        if array.ndim != 2 or array.dtype.kind not in "iu" or array.size == 0 or len(source) != len(target):
            problem = f"is {array.dtype} {array.shape}"
        elif array.min() < 0 or array.max() >= n_items:
            bad = array.min() if array.min() < 0 else array.max()
            problem = f"holds item {bad}, where the manifest has items 0 to {n_items - 1}"
        elif twice := [seed for seed, row in enumerate(array) if len(distinct_values(row)) < len(row)]:
            problem = f"names an item twice in row {twice[0]}"
        if problem:
            raise InputError(f"{path}: {name} {problem}; {expected}, each item once")
    return FixedSamples(source.astype(np.int64), target.astype(np.int64))


def fixed_samples(sample: SampleLike) -> bool:
    """Return whether a choice of samples names a file of fixed ones."""
    return not isinstance(sample, int) and sample != "all"


class Sampler:
    """Draws samples of a manifest for language pairs and seeds; of `usable` rows, bool [n], if there are any.

    `sample` is the largest number of items of each side, "all", or an `.npz` of fixed samples, whose rows
    are the seeds.
    """

    def __init__(
        self,
        manifest: Manifest,
        *,
        sample: SampleLike = "all",
        seeds: int = 1,
        seed: int = 0,
        usable: np.ndarray | None = None,
        queries: int | None = None,
        texts_per_item: int | Literal["all"] = "all",
    ) -> None:
        texts = None if texts_per_item == "all" else texts_per_item
        self.fixed: FixedSamples | None = None
        if fixed_samples(sample):
            self.fixed = read_samples(sample, manifest.n_items)  # type: ignore[arg-type]  # a path
            if seeds != 1 or seed != 0:
                raise InputError(
                    f"{parameter('sample', str(sample))} fixes samples and seeds: leave out "
                    f"{parameter('seeds')} and {parameter('seed')}"
                )
        size = sample if isinstance(sample, int) else None
        for option, number, low, high in (
            ("--seeds", seeds, 1, _MOST_SEEDS),
            ("--seed", seed, 0, MOST_SEED),
            ("--sample", size, 1, None),
            ("--queries", queries, 1, None),
            ("--texts-per-item", texts, 1, None),
        ):
            if number is not None and not low <= number <= (high or number):
                raise InputError(
                    f"{option} must be {low} to {high}, got {number}"
                    if high
                    else f"{option} must be at least {low}, got {number}"
                )
        self.manifest, self.size, self.queries, self.texts_per_item = manifest, size, queries, texts
        self.seeds = list(range(seed, seed + seeds) if self.fixed is None else range(len(self.fixed.source)))
        self._order: tuple[int, Ints] | None = None  # the last seed's permutation
        self._usable = np.ones(len(manifest), dtype=bool) if usable is None else usable
        self._items = {
            language: distinct_values(manifest.item[self._rows_of(language)])
            for language in manifest.languages
        }

    def described(self, source: str, target: str, *, matching: bool = False) -> str:
        """Return the sampling of a pair in a few words, for signatures."""
        size = self.size_of(source, target, matching=matching)
        what = "all" if size is None else str(size)
        if self.fixed is not None:
            what = f"splits-{zlib.crc32(self.fixed.source.tobytes() + self.fixed.target.tobytes()):08x}"
        left_out = np.flatnonzero(~self._usable)
        return f"{what}-without-{zlib.crc32(left_out.tobytes()):08x}" if len(left_out) else what

    def size_of(self, source: str, target: str, *, matching: bool = False) -> int | None:
        """Return the number of items drawn for each side of a pair; None where all are taken.

        It is at most what a non-matching sample of the pair has room for, so that matching samples of items
        that have both languages are as large.
        """
        if self.size is None:
            return None
        both = len(self._in_both(source, target))
        a, b = (len(self._items[language]) - both for language in (source, target))
        most = (a + b + both) // 2 if abs(a - b) <= both else min(a, b) + both
        return min(self.size, max(most, 1), both) if matching else min(self.size, most)

    def non_matching(self, source: str, target: str) -> list[Sample]:
        """Return one sample for each seed in which no target belongs to the item of a source.

        Items with both languages are divided by the seed's permutation, items with one serve on their side.
        """
        samples = []
        for place, seed in enumerate(self.seeds):
            if self.fixed is None:
                sides = self._divided(seed, source, target)
            else:
                sides = self.fixed.source[place], self.fixed.target[place]
                if len(common := np.intersect1d(*sides)):
                    raise InputError(
                        f"fixed samples, row {place}: {len(common)} items are both source and target (first: "
                        f"{self.manifest.item_ids[common[0]]!r}); Backretrieval needs a non-matching sample"
                    )
            samples.append(self._sample(seed, source, sides[0], target, sides[1]))
        return samples

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
        samples = []
        for place, seed in enumerate(self.seeds):
            if self.fixed is not None:
                items = self.fixed.source[place]
            else:
                size = self.size_of(source, target, matching=True)
                items = self._permuted(seed, both)[: most if size is None else size]
            samples.append(self._sample(seed, source, items, target, items))
        return samples

    def _divided(self, seed: int, source: str, target: str) -> tuple[Ints, Ints]:
        """Return the items of both sides of a non-matching sample."""
        has_source, has_target = self._items[source], self._items[target]
        both, size = self._permuted(seed, self._in_both(source, target)), self.size_of(source, target)
        half = (len(both) + 1) // 2
        if size is not None:  # the side with fewer items in one language only may need more shared ones
            least = size - (len(has_source) - len(both))
            most = len(both) - (size - (len(has_target) - len(both)))
            half = int(np.clip(half, least, most)) if least <= most else half
            half = int(np.clip(half, 0, len(both)))
        if len(both) == len(has_target) == 1 < len(has_source):
            half = 0  # the only item that can be a target
        sides = []
        for language, items, shared in ((source, has_source, both[:half]), (target, has_target, both[half:])):
            alone = np.setdiff1d(items, both, assume_unique=True)
            pool = self._permuted(seed, np.concatenate([alone, shared]))
            if len(pool) == 0:
                raise InputError(
                    f"pair {source}-{target}: a non-matching sample is impossible, no item is left for the "
                    f"{language!r} side (items with {source!r}: {len(has_source)}, with {target!r}: "
                    f"{len(has_target)}, with both: {len(both)}); give more items"
                )
            sides.append(pool[:size])
        return sides[0], sides[1]

    def _permuted(self, seed: int, items: Ints) -> Ints:
        """Return the items in the order of the seed's one permutation of all items."""
        if self._order is None or self._order[0] != seed:
            self._order = seed, stream(seed, "samples").permutation(self.manifest.n_items)
        return items[np.argsort(self._order[1][items], kind="stable")]

    def _in_both(self, source: str, target: str) -> Ints:
        """Return the items that have texts in both languages."""
        return np.intersect1d(self._items[source], self._items[target], assume_unique=True)

    def _sample(self, seed: int, source: str, sources: Ints, target: str, targets: Ints) -> Sample:
        """Return the sample of some items: the queries are those of items drawn at random, for every pair."""
        pool, rows = self._texts(seed, source, sources), self._texts(seed, target, targets)
        queries = pool
        if self.queries is not None and self.queries < len(pool):
            place = stream(seed, "queries").permutation(self.manifest.n_items)[self.manifest.item[pool]]
            queries = pool[np.sort(np.argsort(place, kind="stable")[: self.queries])]
        return Sample(seed, queries, rows, pool)

    def _texts(self, seed: int, language: str, items: Ints) -> Ints:
        """Return the rows of the items in a language, at most `texts_per_item` of each, in order.

        The seed's one permutation of the language's texts decides, so an item has the same texts in every
        language pair and on either side, and those of a smaller number are among those of a larger one.
        """
        every = self.manifest.rows_of(language)
        missing = np.setdiff1d(items, self.manifest.item[every])
        if len(missing):
            raise InputError(
                f"item {self.manifest.item_ids[missing[0]]!r} of the fixed samples has no text in "
                f"{language!r} ({len(missing)} such items); fix samples of items that have both languages"
            )
        usable = self._rows_of(language)
        rows: Ints = usable[np.isin(self.manifest.item[usable], items)]
        if not len(rows):
            raise InputError(
                f"no text in {language!r} of the fixed samples can be used: its images are left out"
            )
        if self.texts_per_item is None:
            return rows
        place = stream(seed, f"texts {language}").permutation(len(every))[np.searchsorted(every, rows)]
        item = self.manifest.item[rows]
        order = np.lexsort((place, item))
        first = np.searchsorted(item[order], item[order])  # where the texts of the same item begin
        drawn: Ints = np.sort(rows[order[np.arange(len(rows)) - first < self.texts_per_item]])
        return drawn

    def _rows_of(self, language: str) -> Ints:
        """Return the usable text rows of a language."""
        usable: Ints = np.flatnonzero(self._usable[rows := self.manifest.rows_of(language)])
        return rows[usable]


def hold_out(manifest: Manifest, share: float, seed: int = 0) -> tuple[Manifest, Manifest]:
    """Return (rest, held out): about a `share` of the items is held out, drawn with the seed.

    Items that share an image or a cluster, or have near-equal texts, stay together. Raises InputError where a
    part would be empty.
    """
    if not 0 < share < 1:
        raise InputError(f"a share of {share:g} cannot be held out: give one between 0 and 1, such as 0.1")
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
    rest, part = (manifest.part(distinct_values(manifest.table_row[rows])) for rows in (~held_out, held_out))
    return rest, part


def dependent(manifest: Manifest) -> Ints:
    """Return a number for each row: equal where rows share an item, cluster or image, also through others.

    Rows of one row of the table share it too, and so do rows with near-equal texts (`families`).
    """
    n, start, ends = len(manifest), len(manifest), []
    for column in (manifest.item, manifest.cluster, manifest.image, manifest.table_row):
        rows = np.flatnonzero(column >= 0)
        ends.append(np.stack([rows, start + column[rows]]))
        start += int(column.max(initial=-1)) + 1
    row, node = np.concatenate(ends, axis=1)
    return families(manifest.text, manifest.language, components(start, row, node)[:n])
