"""What is looked at: results, their data, the queries of each encoder, and what chooses among them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from threading import Lock

import numpy as np

from xlingual.arrays import Ints
from xlingual.browsing.marks import Marks
from xlingual.browsing.queries import Pair, Queries
from xlingual.browsing.searching import TextSearch
from xlingual.browsing.slices import Slices
from xlingual.browsing.spaces import Opener, Spaces
from xlingual.browsing.wanted import OUTCOMES, Wanted, rank_range
from xlingual.data.manifest import Manifest, ManifestLike
from xlingual.encoders import ImageModelLike
from xlingual.errors import InputError, did_you_mean, listed
from xlingual.inspection.evaluated import data_of
from xlingual.inspection.inspect import Inspected, inspect_results
from xlingual.inspection.judged import rows_of, task_of
from xlingual.results import Results
from xlingual.results.inspection import KINDS
from xlingual.store import StoreLike, open_store

Progress = Callable[[str, int, int], None]
_CHOICES = 64  # filters whose queries are remembered


class Looking:
    """Everything that pages show; nothing in it changes but marks."""

    def __init__(
        self, results: Results, data: Manifest, inspected: Inspected, spaces: Spaces, marks: Marks
    ) -> None:
        self.results, self.data, self.spaces, self.marks = results, data, spaces, marks
        self.task, self.measure = inspected.found.task, inspected.found.measure
        self.matching = self.task != "backretrieval"
        self.found = inspected.found
        self.pairs: list[Pair] = list(
            dict.fromkeys(pair for one in inspected.looked for pair in one.asked.pairs)
        )
        self.queries = {one.encoder: Queries(one, self.pairs, len(data)) for one in inspected.looked}
        self.slices = Slices(inspected, len(data))
        self.search = TextSearch(data)
        self.names = list(dict.fromkeys([*self.queries, *spaces.texts]))  # encoders that are shown
        self.rows = rows_of(data)
        self.answers: dict[tuple[int, int], list[int]] = {}
        for row, key in enumerate(zip(data.item.tolist(), data.language.tolist(), strict=True)):
            self.answers.setdefault(key, []).append(row)
        self.lock = Lock()
        self._choose = lru_cache(_CHOICES)(self._chosen)

    def lines(self, wanted: Wanted) -> Ints:
        """Return the queries that are wanted, in order: lines of those of its encoder."""
        return self._choose(wanted, self.marks.version)

    def _chosen(self, wanted: Wanted, _: int) -> Ints:
        one = self.queries[wanted.encoder]
        kept = np.ones(len(one), dtype=bool)
        if wanted.outcome != "all":
            kept &= one.failed if wanted.outcome == "failed" else ~one.failed
        for place, tag in enumerate((wanted.source, wanted.target)):
            if tag:
                kept &= np.array([pair[place] == tag for pair in self.pairs])[one.pair]
        if wanted.kind:
            kept &= one.kind == (KINDS.index(wanted.kind) if wanted.kind in KINDS else -2)
        if wanted.slice:
            kept &= self.slices.mask(wanted.slice)[one.row]
        if wanted.rank:
            low, high = rank_range(wanted.rank)
            kept &= (one.rank >= low) & (one.rank <= (np.iinfo(np.int64).max if high is None else high))
        if wanted.hub:
            kept &= one.hub
        if wanted.marked:
            known = {(mark.source, mark.target, mark.id) for mark in self.marks.all()}
            kept &= np.isin(np.arange(len(one)), self._marked(one, known))
        if wanted.q.strip():
            held = self.search.mask(wanted.q)
            kept &= held[one.row] | ((one.retrieved >= 0) & held[np.maximum(one.retrieved, 0)])
        lines = np.flatnonzero(kept)
        match wanted.order:
            case "worst":
                return one.worst_first(lines)
            case "surest":
                return one.surest_first(lines)
        return lines

    def _marked(self, one: Queries, known: set[tuple[str, str, str]]) -> list[int]:
        places = {pair: place for place, pair in enumerate(self.pairs)}
        found = []
        for source, target, own in known:
            row, pair = self.rows.get(source, {}).get(own), places.get((source, target))
            line = None if row is None or pair is None else one.line(row, pair)
            if line is not None:
                found.append(line)
        return found

    def usual(self, encoders: Sequence[str] = ()) -> Wanted:
        """Return the filters of an address that says nothing."""
        asked = [name for name in encoders if name in self.queries] or list(self.queries)
        beside = next((name for name in encoders if name != asked[0]), "")
        return Wanted(encoder=asked[0], beside=beside)

    def checked(self, wanted: Wanted) -> Wanted:
        """Return filters without what is not there."""
        changes = {}
        if wanted.encoder not in self.queries:
            changes["encoder"] = next(iter(self.queries))
        if wanted.beside not in self.names:
            changes["beside"] = ""
        if wanted.slice and self.slices.get(wanted.slice) is None:
            changes["slice"] = ""
        for name, known in (
            ("source", self.data.languages),
            ("target", self.data.languages),
            ("kind", KINDS),
        ):
            if getattr(wanted, name) and getattr(wanted, name) not in known:
                changes[name] = ""
        for name in ("hub", "marked"):
            if getattr(wanted, name) not in ("", "yes"):
                changes[name] = "yes"
        found = wanted.changed(**changes) if changes else wanted
        return found.changed(beside="") if found.beside == found.encoder else found

    def named(self, **given: str | None) -> Wanted:
        """Return the filters that options name; raise InputError for a name that is not known."""
        known = {
            "encoder": list(self.queries),
            "source": self.data.languages,
            "target": self.data.languages,
            "kind": KINDS,
            "outcome": tuple(OUTCOMES),
        }
        changes = {name: value for name, value in given.items() if value}
        for name, value in changes.items():
            if name in known and value not in known[name]:
                raise InputError(
                    f"--{name} {value}: there is none.{did_you_mean(value, known[name])} Known: "
                    f"{listed(known[name], 20)}"
                )
        if "rank" in changes:
            rank_range(changes["rank"])
        if "slice" in changes:
            one = self.slices.named(changes["slice"])
            if one is None:
                words = [f"{each.group}: {each.label}" for each in self.slices.shown if each.key[0] == "f"]
                near = did_you_mean(changes["slice"], words)
                raise InputError(
                    f"--slice {changes['slice']}: there is none.{near} They are named so: {listed(words, 6)}"
                )
            changes["slice"] = one.key
        return self.usual().changed(**changes)


def open_looking(
    results: Results,
    manifest: ManifestLike | None = None,
    *,
    marks: Marks,
    encoders: Sequence[str] = (),
    measure: str | None = None,
    text_encoders: Sequence[str] = (),
    image_encoder: ImageModelLike | None = None,
    vectors: bool = True,
    slices: bool = True,
    store: StoreLike = "default",
    progress: Progress | None = None,
) -> Looking:
    """Return what pages show of results.

    Args:
        results: of Backretrieval or cross-lingual retrieval.
        manifest: the data that were evaluated; None: those that the results name.
        marks: marks and notes.
        encoders: those of the results that are looked at, in this order; none: all, the best first.
        measure: by which queries fail; None: the first whose values are between 0 and 1.
        text_encoders: specs of encoders that encode all texts, and typed ones.
        image_encoder: makes vectors of images, for the way back and slices by the look of images.
        vectors: look for vectors at all.
        slices: search slices, which takes longest.
        store: where vectors are kept.
        progress: called with (what, done, total).

    """
    task_of(results)  # before the data are read
    data = data_of(results, manifest)
    known = {entry.encoder for entry in results.entries}
    inspected = inspect_results(
        results,
        data,
        encoders=tuple(name for name in encoders if name in known) if text_encoders else tuple(encoders),
        measure=measure,
        image_encoder=image_encoder,
        examples=False,
        store=store,
        progress=progress,
        only_kept=True,
        slices=slices,
    )
    names = [one.encoder for one in inspected.looked]
    opener = Opener(data, open_store(store), progress)
    spaces = opener.spaces(results, names, text_encoders, image_encoder) if vectors else Spaces({}, {})
    return Looking(results, data, inspected, spaces, marks)
