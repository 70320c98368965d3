"""What a map changes on items held apart: retrieval, Backretrieval, and neighbours within languages."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from xlingual.arrays import Floats, Ints, Vectors
from xlingual.comparison.compare import compare
from xlingual.data.manifest import Manifest
from xlingual.data.pools.mix import mix_pool
from xlingual.encoders import Encoder
from xlingual.encoders.transform import MappedTexts
from xlingual.errors import DataWarning, InputError, parameter, warn
from xlingual.evaluation.backretrieval import backretrieval
from xlingual.evaluation.crosslingual_retrieval import crosslingual_retrieval
from xlingual.evaluation.multilingual_pool import multilingual_pool
from xlingual.ranking import rows_of, similarity_of, top
from xlingual.results import Results
from xlingual.results.pivot import UNTESTED, PivotChange, PivotKept
from xlingual.results.repair import BETTER, UNDECIDED, WORSE
from xlingual.store import Store
from xlingual.transforms.affine import Affine, unit_rows
from xlingual.workflows.pivoting.data import Embedded
from xlingual.workflows.places import Places

BEFORE, AFTER = "before", "after"
_COMPARED = 5_000  # texts of a language whose neighbours are compared
_NEAREST = 10  # texts of a language whose change is counted
_FEWEST = 20  # items that a language pair is tested on


class Known(Encoder):
    """Gives vectors that were made before, by the language, id and text of a row."""

    identity = "known"

    def __init__(self, embedded: Embedded) -> None:
        self._places = Places.of(embedded.data)
        self._rows = embedded.rows
        self._candidates, self._queries = embedded.text[0], embedded.text[-1]
        self.by_role = len(embedded.text) > 1

    def encode(self, batch: Any, /) -> Vectors:  # noqa: ANN401  (Texts)
        """Return the vectors of the batch, of candidates but where they are queries."""
        keys = zip(batch.language, batch.ids, batch.text, strict=True)
        rows = [self._places.row(key) for key in keys]
        lines = np.searchsorted(self._rows, rows)
        side = self._queries if batch.role == "query" else self._candidates
        return np.asarray(side[lines], dtype=np.float32)


@dataclass(frozen=True)
class HeldOut:
    """The rows that are held out, on which maps are tested."""

    embedded: Embedded
    rows: Ints
    judge: Encoder | None  # of images, for Backretrieval
    languages: Sequence[str]
    seed: int
    store: Store | None  # for the images of the judge

    @property
    def items(self) -> int:
        """How many items are held out."""
        return len(np.unique(self.embedded.data.item[self.rows]))

    def changes(self, map: Affine) -> list[PivotChange]:
        """Return what a map changes, the change that the outcome is of first; warn where rows test nothing.

        The identity changes nothing.
        """
        if map.matrix is None and not map.offset.any():
            return []
        if not len(self.rows):
            return []
        found = self._tested(map)
        if not found:
            _warn_of_untested(self.items)
        return found

    @cached_property
    def _part(self) -> Manifest:
        data = self.embedded.data
        return data.part(np.unique(data.table_row[self.rows]))

    @cached_property
    def _known(self) -> Known:
        return Known(self.embedded)

    def _tested(self, map: Affine) -> list[PivotChange]:
        """Return all changes that the data allow."""
        both: dict[str, Encoder] = {BEFORE: self._known, AFTER: MappedTexts(self._known, map)}
        found: list[PivotChange] = []
        matching = _pairs(self._part, self.languages, matching=True)
        if matching:
            found += _changes(
                crosslingual_retrieval(
                    self._part,
                    both,
                    pairs=matching,
                    measures=("R@10", "RR"),
                    seed=self.seed,
                    store=None,
                    neighbours=False,
                )
            )
        if self.judge is not None and (apart := _pairs(self._part, self.languages, matching=False)):
            found += _changes(
                backretrieval(
                    self._part,
                    both,
                    image_encoder=self.judge,
                    pairs=apart,
                    examples=False,
                    neighbours=False,
                    seed=self.seed,
                    store=self.store,
                )
            )
        if matching and set(self._part.languages) <= set(self.languages):
            found += self._pool(both)
        return found

    def _pool(self, both: Mapping[str, Encoder]) -> list[PivotChange]:
        """Return the change of search in one pool of all languages of the data."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # of items in one language, which are candidates
            pool = mix_pool(self._part, question_languages=list(self.languages), seed=self.seed)
        return _changes(multilingual_pool(pool, both, seed=self.seed, store=None), pairs=False)


def _pairs(part: Manifest, languages: Sequence[str], *, matching: bool) -> list[str]:
    """Return the pairs of languages with enough items: in both of them, or in each."""
    items = {tag: set(part.item[part.rows_of(tag)].tolist()) for tag in languages if tag in part.languages}
    return [
        f"{a}-{b}"
        for a in items
        for b in items
        if a != b and (len(items[a] & items[b]) if matching else min(len(items[a]), len(items[b]))) >= _FEWEST
    ]


def _changes(found: Results, *, pairs: bool = True) -> list[PivotChange]:
    """Return the changes over all pairs of each measure, then those of each pair."""
    boards = [one for one in compare(found, baseline=BEFORE, per_pair=pairs).boards if one.column is None]
    boards.sort(key=lambda one: not one.overall)
    changes = []
    for board in boards:
        by_name = {row.encoder: row for row in board.rows}
        before, after = by_name[BEFORE], by_name[AFTER]
        difference = after.value - before.value if after.difference is None else after.difference
        changes.append(
            PivotChange(
                task=board.task,
                measure=board.measure,
                source=board.source,
                target=board.target,
                before=before.value,
                after=after.value,
                difference=difference,
                ci=after.ci,
                n_queries=board.n_queries,
            )
        )
    return changes


def outcome_of(changes: Sequence[PivotChange]) -> str:
    """Return what the interval of the first change says."""
    if not changes or changes[0].ci is None:
        return UNTESTED
    interval = changes[0].ci
    return BETTER if interval.low > 0 else WORSE if interval.high < 0 else UNDECIDED


def kept_within(embedded: Embedded, rows: Ints, map: Affine) -> list[PivotKept]:
    """Return for each language how much of its own neighbourhoods the map keeps, on some of the rows."""
    data = embedded.data
    kept = []
    for code, tag in enumerate(data.languages):
        own = rows[data.language[rows] == code][:_COMPARED]
        vectors = unit_rows(embedded.text[0][np.searchsorted(embedded.rows, own)])
        vectors = vectors[vectors.any(axis=1)]
        if len(vectors) <= _NEAREST:
            continue
        moved = unit_rows(map.apply(vectors, [tag] * len(vectors)))
        kept.append(PivotKept(tag, neighbourhoods_kept(vectors, moved), len(vectors)))
    return kept


def neighbourhoods_kept(before: Vectors, after: Vectors) -> float:
    """Return the mean overlap of the ten nearest rows of each row, before and after: 1 if all are the same.

    The overlap of two lists is Σ min(chance before, chance after) / 10, the chance of a row to be among the
    ten under random ties.
    """
    (first, weight), (second, changed) = _nearest(before), _nearest(after)
    _, a, b = np.intersect1d(first, second, assume_unique=True, return_indices=True)
    return float(np.minimum(weight[a], changed[b]).sum() / (len(before) * _NEAREST))


def _nearest(vectors: Vectors) -> tuple[Ints, Floats]:
    """Return pairs of rows, as row · n + neighbour, and the chance of each to be among the ten nearest."""
    (best,) = top(similarity_of(rows_of(vectors), rows_of(vectors)), _NEAREST + 1)
    itself = best.query == best.candidate
    rank, ties = np.zeros(len(vectors), dtype=np.int64), np.ones(len(vectors), dtype=np.int64)
    rank[best.query[itself]], ties[best.query[itself]] = best.above[itself], best.tied[itself]
    row, neighbour, above, tied = (
        column[~itself] for column in (best.query, best.candidate, best.above, best.tied)
    )
    above, tied = above - (above > rank[row]), tied - (above == rank[row])
    listed = above < _NEAREST
    chance = np.clip(_NEAREST - above[listed], 0, tied[listed]) / tied[listed]
    return row[listed] * len(vectors) + neighbour[listed], chance


def refuse_as_judge(judge: Encoder, fitted: Encoder) -> None:
    """Raise InputError where Backretrieval would be judged by the images that the map was fitted on."""
    if judge.identity == fitted.identity:
        raise InputError(
            f"{parameter('judge')} is the image encoder that pairs come from, which cannot judge what was "
            "fitted on them: name another one, or test on items with texts in two languages"
        )


def _warn_of_untested(held_out: int) -> None:
    """Warn where nothing of what was held out could be tested."""
    warn(
        f"nothing was tested: of {held_out:,} items held out fewer than {_FEWEST} have texts in two "
        "languages, and no other image encoder judges"
    )
