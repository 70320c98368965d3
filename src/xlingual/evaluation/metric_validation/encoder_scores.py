"""Scores of several encoders side by side: what agreement over encoders is computed from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.errors import InputError, listed
from xlingual.evaluation.estimates import Score
from xlingual.evaluation.metric_validation.two_way import (
    FEWEST_ENCODERS,
    Drawn,
    constant,
    draw_families,
    draw_items,
)
from xlingual.results.validation import MEASURES, TRUTH, TRUTH_AT_1, SeedScores
from xlingual.stats import variance

NAMES = (TRUTH, *MEASURES)
REPLICATES = 2000
_DUST = 1e-12  # spread of equal values that were added up in another order
_ONE_SEED = "one seed, no spread over seeds"


@dataclass(frozen=True)
class EncoderSeries:
    """One encoder on one language pair; keys are XLR, BkR, SIM and CORR, and XLR@1 where it is wanted.

    `per_seed` has a value for each seed. `influence` [clusters] is what each cluster adds to the error of the
    mean over seeds; empty where items are not resampled. Clusters are the same for all encoders.
    """

    encoder: str
    family: str
    per_seed: Mapping[str, Sequence[float | None]]
    influence: Mapping[str, Floats]


@dataclass(frozen=True)
class ScoreTable:
    """Scores of E encoders: by seed [seeds, E], their means [E], changes of these on other items [B, E].

    Missing scores are NaN here; `missing` gives the reason in words.
    """

    encoders: tuple[str, ...]
    families: tuple[str, ...]
    per_seed: dict[str, Floats]
    mean: dict[str, Floats]
    moved: dict[str, Floats]

    def __len__(self) -> int:
        return len(self.encoders)

    @property
    def n_families(self) -> int:
        """Return the number of distinct families."""
        return len(set(self.families))

    def take(self, rows: Ints) -> ScoreTable:
        """Return some of the encoders."""
        return ScoreTable(
            tuple(self.encoders[i] for i in rows),
            tuple(self.families[i] for i in rows),
            {name: values[:, rows] for name, values in self.per_seed.items()},
            {name: values[rows] for name, values in self.mean.items()},
            {name: values[:, rows] for name, values in self.moved.items()},
        )

    def draw(self, seed: int) -> Drawn:
        """Return families drawn anew, once for each draw of items; raises NoIntervalError for too few."""
        return draw_families(self.families, seed, len(self.moved[TRUTH]))

    def replicates(self, name: str) -> Floats:
        """Return the mean scores [B, E] on other items."""
        return self.mean[name] + self.moved[name]

    def having(self, names: Sequence[str]) -> tuple[ScoreTable, str | None]:
        """Return the encoders that have a mean of all these scores, and a note that names the others."""
        gone = np.zeros(len(self), dtype=bool)
        notes = []
        for name in names:
            lacks = np.isnan(self.mean[name]) & ~gone
            if lacks.any():
                who = listed([self.encoders[i] for i in np.flatnonzero(lacks)])
                notes.append(f"no encoder has {name}" if lacks.all() else f"without {who} (no {name})")
            gone |= lacks
        return (self.take(np.flatnonzero(~gone)), "; ".join(notes)) if notes else (self, None)

    def missing(self, names: Sequence[str], seed: int | None = None) -> str | None:
        """Return why these scores (of one seed, or the means) have no coefficient; None where they have."""
        if len(self) < FEWEST_ENCODERS:
            encoders = "1 encoder" if len(self) == 1 else f"{len(self)} encoders"
            return f"{encoders}: at least {FEWEST_ENCODERS} are needed"
        for name in names:
            values = self.mean[name] if seed is None else self.per_seed[name][seed]
            gaps = np.flatnonzero(np.isnan(values))
            if len(gaps):
                return f"{self.encoders[gaps[0]]} has no {name}"
            if constant(values):
                return f"all encoders have the same {name}"
        return None


def table_of(series: Sequence[EncoderSeries], seed: int) -> ScoreTable:
    """Put encoders side by side, and draw items for the intervals.

    Raises InputError where encoders have other numbers of seeds or one name.
    """
    if len({one.encoder for one in series}) < len(series):
        raise InputError("agreement: two encoders have the same name; give them different names (NAME=SPEC)")
    names: tuple[str, ...] = NAMES
    if series and all(TRUTH_AT_1 in one.per_seed for one in series):
        names = (*NAMES, TRUTH_AT_1)
    lengths = {len(one.per_seed[name]) for one in series for name in names}
    if len(lengths) > 1:
        found = " and ".join(map(str, sorted(lengths)))
        raise InputError(f"agreement: encoders and measures have {found} seeds; give all of them the same")
    per_seed = {name: _rows([one.per_seed[name] for one in series]) for name in names}
    mean = {name: _means(values) for name, values in per_seed.items()}
    influences = [np.asarray(one.influence.get(name, ())) for name in names for one in series]
    drawn = draw_items(influences, seed, REPLICATES).reshape(-1, len(names), len(series))
    moved = {name: drawn[:, i] for i, name in enumerate(names)}
    encoders, families = tuple(one.encoder for one in series), tuple(one.family for one in series)
    return ScoreTable(encoders, families, per_seed, mean, moved)


def reason_of(table: ScoreTable, names: Sequence[str], without: str | None) -> str | None:
    """Return why the encoders left by `ScoreTable.having` have no coefficient; None where they have one.

    `without` is the note of `having`, which is added.
    """
    reason = table.missing(names)
    if reason is None:
        return None
    return without if without and not len(table) else joined(reason, without)


def joined(*notes: str | None) -> str | None:
    """Return the notes that are not None joined into one; None where there is none."""
    return "; ".join(note for note in notes if note) or None


def _rows(values: Sequence[Sequence[float | None]]) -> Floats:
    """Return scores [seeds, E], NaN where there is none."""
    filled = [[np.nan if value is None else value for value in one] for one in values]
    return np.array(filled, dtype=np.float64).reshape(len(values), -1).T


def _means(values: Floats) -> Floats:
    """Return the mean [E] over the seeds that have a score."""
    there = ~np.isnan(values)
    count = there.sum(axis=0)
    total = np.where(there, values, 0.0).sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


@dataclass(frozen=True)
class MeasureColumn:
    """The scores of a measure, and their mean over seeds with residuals (None if a seed has none)."""

    scores: SeedScores
    mean: Score | None


def column(scores: Sequence[Score | None], notes: Sequence[str | None] = ()) -> MeasureColumn:
    """Return the scores of all seeds as one; `notes` say why a score is missing or how it was drawn."""
    values = [None if score is None else score.value for score in scores]
    present = [score for score in scores if score is not None]
    if len(present) < len(scores):
        missing = next(note for score, note in zip(scores, notes, strict=True) if score is None)
        return MeasureColumn(SeedScores(None, None, values, None, missing), None)
    mean = Score.mean(present)
    sd = spread([score.value for score in present]) if len(present) > 1 else None
    note = next((note for note in notes if note), _ONE_SEED if sd is None else None)
    return MeasureColumn(SeedScores(mean.value, sd, values, mean.interval(), note), mean)


def spread(values: Sequence[float]) -> float:
    """Return the standard deviation of two values or more; 0 where only rounding sets them apart."""
    found = float(np.std(values, ddof=1))
    return found if found >= _DUST else 0.0


def influence(mean: Score | None, n_clusters: int) -> Floats:
    """Return the contribution of each cluster of items to the error of a mean, float64 [n_clusters].

    It is the sum of the residuals of the cluster's queries. A query of BkR is in two clusters, its own and
    that of the text it retrieved, and counts in both; so the sums are scaled until their squares add up to
    the variance of the mean's interval, which counts what two clusters share once. Zeros where there is no
    mean.
    """
    total = np.zeros(n_clusters)
    if mean is None:
        return total
    for part in mean.parts:
        for number, clusters in enumerate(part.ways):
            # a query for which several texts tie is in its own cluster only: its second id is negative
            counted = clusters >= 0 if number == 0 else (clusters >= 0) & (clusters != part.ways[0])
            total += np.bincount(clusters[counted], part.residuals[counted], n_clusters)
    squares = float(total @ total)
    wanted = max(variance(mean.parts) - mean.counted_twice, 0.0)
    return total * (wanted / squares) ** 0.5 if squares > 0 else total
