"""One encoder looked at: its weak slices, kinds of error and hubs, with examples."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from xlingual.arrays import Ints
from xlingual.data.images import cut, thumbnails
from xlingual.data.manifest import Manifest
from xlingual.inspection.served import Served
from xlingual.inspection.slices import Feature, FoundSlice, Slice, Values, difference_of, find_slices
from xlingual.results.inspection import (
    Condition,
    ErrorKind,
    FailedQuery,
    HubFound,
    HubsOfEncoder,
    InspectedEncoder,
    OverlappingSlice,
    ShownText,
    WeakSlice,
)

EXAMPLES = 5  # of a slice and of a kind of error
BESIDE = 3  # wrong candidates of a pool that are shown
MOST_HUBS = 10
MOST_OVERLAPS = 10  # listed of a slice


class Looked:
    """Looks at one encoder."""

    def __init__(self, data: Manifest, shown: Shown, encoder: str, served: Served) -> None:
        self.data, self.shown, self.encoder, self.served = data, shown, encoder, served
        self.asked, self.kind = served.asked, served.kind
        self.slices: list[tuple[str, Ints]] = []  # in words, with the rows of their texts

    def inspected(self, rows: Ints, features: Sequence[Feature], seed: int) -> InspectedEncoder:
        """Return where the encoder fails; `features` are those of text rows [n]."""
        one = self.asked
        own, whole = one.values(self.data)
        held = np.isin(own, rows)
        own, values = own[held], whole.take(held)
        at = np.searchsorted(rows, own)
        search = find_slices(values, [feature.take(at) for feature in features], seed=seed)
        self.slices = [(in_words(found.slice), own[found.slice.rows]) for found in search.found]
        first = one.first_sample
        return InspectedEncoder(
            encoder=self.encoder,
            value=float(one.value.mean() if not self.served.in_pool else whole.value.mean()),
            n_queries=int(first.sum()),
            n_failed=int((first & one.failed).sum()),
            n_texts=len(own),
            n_slices=search.n_slices,
            fixed=search.fixed,
            slices=[self._slice(found, own, values) for found in search.found],
            kinds=self._kinds(),
            hubs=self._hubs(),
            by_pair=self._by_pair(first),
        )

    def lines(self, failed: bool = True) -> Ints:
        """Return the lines of the first samples, those of the least value and the lowest rank first.

        `failed`: only those of queries that failed.
        """
        asked = self.asked
        lines = np.flatnonzero(asked.first_sample & (asked.failed if failed else True))
        ordered: Ints = lines[np.lexsort((-asked.above[lines], asked.value[lines]))]
        return ordered

    def nearest_of(self, line: int) -> list[tuple[int, float | None]]:
        """Return the rows nearest to a query with their scores; without kept neighbours what it retrieved."""
        rows = [(row, None if np.isnan(score) else score) for row, score in self.served.listed(line)]
        retrieved = int(self.asked.retrieved[line])
        return rows if rows or retrieved < 0 else [(retrieved, None)]

    def image_path(self, row: int) -> str | None:
        """Return the path of a text's image; None where it has none, or is kept in the manifest."""
        slot = int(self.data.image[row])
        source = self.data.image_source[slot] if slot >= 0 else None
        return str(source) if isinstance(source, Path) else None

    def _slice(self, found: FoundSlice, rows: Ints, values: Values) -> WeakSlice:
        inside = found.slice.rows
        difference, ci = difference_of(values, found.slice)
        lost = 1 - values.value
        return WeakSlice(
            conditions=_conditions(found.slice),
            n=len(inside),
            n_clusters=len(np.unique(values.cluster[inside])),
            value=float(values.value[inside].mean()),
            difference=difference,
            ci=ci,
            p=found.p,
            of_texts=len(inside) / len(rows),
            of_errors=float(lost[inside].sum() / lost.sum()) if lost.sum() > 0 else 0.0,
            overlaps=[
                OverlappingSlice(_conditions(other), len(other.rows), shared)
                for other, shared in found.overlaps[:MOST_OVERLAPS]
            ],
            n_overlaps=len(found.overlaps),
            examples=self._failed(np.isin(self.asked.row, rows[inside])),
        )

    def _failed(self, chosen: np.ndarray) -> list[FailedQuery]:
        """Return the worst of some queries of the first sample, no text twice."""
        one = self.asked
        lines = np.flatnonzero(chosen & one.failed & one.first_sample)
        lines = lines[np.lexsort((-one.above[lines], one.value[lines]))]
        return list(islice(self._examples(lines), EXAMPLES))

    def _examples(self, lines: Ints) -> Iterator[FailedQuery]:
        one, used = self.asked, set[int]()
        if not self.shown.keep:
            return
        for line in lines.tolist():
            row, retrieved, above = int(one.row[line]), int(one.retrieved[line]), int(one.above[line])
            answer = int(self.served.answer[line])
            if row in used or retrieved in used:
                continue
            used |= {row} | ({retrieved} if retrieved >= 0 else set())
            yield FailedQuery(
                query=self.shown.text(row),
                target=one.pairs[one.pair[line]][1],
                retrieved=self.shown.text(retrieved) if retrieved >= 0 else None,
                rank=above + 1 if above >= 0 else None,
                value=float(one.value[line]),
                answer=self.shown.text(answer) if answer >= 0 else None,
                beside=[self.shown.text(other) for other in self._beside(line)],
            )

    def _beside(self, line: int) -> list[int]:
        """Return what else stood above the answer, in a pool."""
        if not self.served.in_pool:
            return []
        return [row for row, _ in self.served.listed(line)[:BESIDE] if row != self.asked.retrieved[line]]

    def _kinds(self) -> list[ErrorKind]:
        found = []
        for code, name in enumerate(self.served.kinds):
            own = (self.kind == code) & self.asked.first_sample
            found.append(ErrorKind(name, int(own.sum()), self._by_pair(own), self._failed(own)))
        return sorted(found, key=lambda each: -each.n)

    def _by_pair(self, chosen: np.ndarray) -> dict[str, int]:
        """Return how many of the chosen queries are of each pair."""
        one, between = self.asked, "->" if self.served.in_pool else "-"
        counts = np.bincount(one.pair[chosen], minlength=len(one.pairs)).tolist()
        return {
            f"{source}{between}{target}": count
            for (source, target), count in zip(one.pairs, counts, strict=True)
            if count
        }

    def _hubs(self) -> HubsOfEncoder:
        one, served = self.served.counted, self.served
        failed = one.first_sample & (one.retrieved >= 0) & one.failed
        lost = {
            (pair, row): int((failed & (one.pair == pair) & (one.retrieved == row)).sum())
            for pair, row, _ in served.hubs
        }
        largest = sorted(served.hubs, key=lambda hub: (-lost[hub[:2]], -hub[2], hub[1]))[:MOST_HUBS]
        took = served.is_hub[self.asked.first_sample & self.asked.failed & (self.asked.retrieved >= 0)]
        return HubsOfEncoder(
            largest=[
                HubFound(self.shown.text(row), one.pairs[pair][0], n, lost[pair, row])
                for pair, row, n in largest
                if self.shown.keep
            ],
            n=len(served.hubs),
            of_errors=float(took.mean()) if len(took) else None,
            never=served.unfound.share,
            never_by_chance=served.unfound.by_chance,
            unfound=[self.shown.text(row) for row in served.unfound.rows[:EXAMPLES] if self.shown.keep],
            note=served.note,
        )


def in_words(found: Slice) -> str:
    """Return a slice in words: "category: shoes, digits: with digits"."""
    return ", ".join(f"{feature}: {part}" for feature, part in found.conditions)


def _conditions(found: Slice) -> list[Condition]:
    return [Condition(feature, part) for feature, part in found.conditions]


class Shown:
    """Texts and thumbnails of examples; none where they are not kept."""

    def __init__(self, data: Manifest, keep: bool) -> None:
        self.data, self.keep, self._thumbnail = data, keep, thumbnails(data.image_source)

    def text(self, row: int) -> ShownText:
        """Return a text with its image."""
        picture = self._thumbnail(int(self.data.image[row]))
        return ShownText(
            self.data.ids[row],
            self.data.languages[self.data.language[row]],
            cut(self.data.text[row]),
            None if picture is None else base64.b64encode(picture).decode("ascii"),
        )
