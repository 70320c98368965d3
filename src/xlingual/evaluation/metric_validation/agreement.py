"""How measures that need no translations agree with true retrieval, over encoders.

The unit of inference is the encoder, better its family: `value`, its interval and all tests use each
encoder's mean over seeds. The spread over seeds shows how much the division of the items matters; divided by
the root of their number it is Monte Carlo error, not what another set of encoders would give.

Intervals and tests are about other families of encoders and other items from the same sources; interval and p
of a difference are one method for Pearson and Spearman alike (`coefficients.difference_interval`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.errors import InputError, listed
from xlingual.evaluation.metric_validation.coefficients import (
    FEWEST_ENCODERS,
    KINDS,
    METHOD,
    FisherZ,
    NoIntervalError,
    difference_interval,
    draw_families,
    draw_items,
    pearson,
    without_rounding,
    z_of,
)
from xlingual.results import Interval
from xlingual.results.validation import (
    COEFFICIENTS,
    MEASURES,
    TRUTH,
    TRUTH_AT_1,
    Agreement,
    CoefficientDifference,
    DirectionDifference,
    RankingAccuracy,
    Subset,
)

REPLICATES = 2000
_CONTRASTS = (("BkR", "CORR"), ("BkR", "SIM"))
_DUST = 1e-12  # spread of equal values that were added up in another order


@dataclass(frozen=True)
class EncoderSeries:
    """One encoder on one language pair; keys are XLR, BkR, SIM and CORR, and XLR@1 where K is above 1.

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

    Missing scores are NaN; `missing` gives the reason in words.
    """

    encoders: tuple[str, ...]
    families: tuple[str, ...]
    per_seed: dict[str, Floats]
    mean: dict[str, Floats]
    moved: dict[str, Floats]

    @classmethod
    def of(cls, series: Sequence[EncoderSeries], seed: int) -> ScoreTable:
        """Put encoders side by side, and draw items for the intervals."""
        names: tuple[str, ...] = (TRUTH, *MEASURES)
        if series and all(TRUTH_AT_1 in row.per_seed for row in series):
            names = (*names, TRUTH_AT_1)
        lengths = sorted({len(row.per_seed[name]) for row in series for name in names})
        if len(lengths) > 1:
            counts = " and ".join(map(str, lengths))
            raise InputError(
                f"agreement: encoders and measures have {counts} seeds; give all of them the same"
            )
        per_seed, mean = {}, {}
        for name in names:
            values = np.array([row.per_seed[name] for row in series], dtype=np.float64)  # None becomes NaN
            per_seed[name] = scores = values.reshape(len(series), -1).T
            count = (~np.isnan(scores)).sum(axis=0)
            total = np.where(np.isnan(scores), 0.0, scores).sum(axis=0)
            mean[name] = np.where(count > 0, total / np.maximum(count, 1), np.nan)
        influences = [np.asarray(row.influence.get(name, ())) for name in names for row in series]
        moved = draw_items(influences, seed, REPLICATES).reshape(-1, len(names), len(series))
        return cls(
            tuple(row.encoder for row in series),
            tuple(row.family for row in series),
            per_seed,
            mean,
            {name: moved[:, i] for i, name in enumerate(names)},
        )

    def __len__(self) -> int:
        return len(self.encoders)

    @property
    def n_families(self) -> int:
        """The number of distinct families."""
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
            if np.ptp(without_rounding(values)) == 0:
                return f"all encoders have the same {name}"
        return None

    def by_seed(self, names: tuple[str, str], kind: str) -> tuple[list[float | None], list[str]]:
        """Return the coefficient of each seed, None where it has none, and the reasons of these."""
        reasons = [self.missing(names, i) for i in range(len(self.per_seed[TRUTH]))]
        truth, measured = (self.per_seed[name] for name in names)
        values = [
            float(KINDS[kind](truth[i], measured[i], None)) if reason is None else None
            for i, reason in enumerate(reasons)
        ]
        return values, [reason for reason in reasons if reason is not None]

    def on_z(self, names: tuple[str, str], kind: str, value: float, seed: int) -> tuple[FisherZ, Floats]:
        """Return a coefficient with its standard error, and its replicates [B]; raises NoIntervalError."""
        weight = draw_families(self.families, seed, len(self.moved[TRUTH]))
        x, y = (self.mean[name] + self.moved[name] for name in names)
        replicates = KINDS[kind](x, y, weight)
        return FisherZ.of(kind, value, replicates, len(self), self.n_families), replicates


def subsets(series: Sequence[EncoderSeries], *, threshold: float = 0.5, seed: int = 0) -> dict[str, Subset]:
    """Return agreement over all encoders, those with a mean XLR below the threshold, and the others.

    An encoder without XLR is in neither of the two.
    """
    whole = ScoreTable.of(series, seed)
    truth = whole.mean[TRUTH]
    tables = {
        "all": whole,
        "below": whole.take(np.flatnonzero(truth < threshold)),
        "above": whole.take(np.flatnonzero(truth >= threshold)),
    }
    return {
        name: Subset(
            n_encoders=len(table),
            n_families=table.n_families,
            agreement=agreements(table, seed),
            accuracy={measure: _accuracy(table, measure, seed) for measure in MEASURES},
            differences={f"{a}-{b}": _contrast(table, a, b, seed) for a, b in _CONTRASTS},
            agreement_at_1=agreements(table, seed, TRUTH_AT_1) if TRUTH_AT_1 in table.mean else {},
        )
        for name, table in tables.items()
    }


def agreements(table: ScoreTable, seed: int, truth: str = TRUTH) -> dict[str, dict[str, Agreement]]:
    """Return the agreement of each measure with XLR; keys are a measure, then a coefficient."""
    return {
        measure: {kind: _agreement(table, (truth, measure), kind, seed) for kind in COEFFICIENTS}
        for measure in MEASURES
    }


def directions(
    first: Sequence[EncoderSeries], second: Sequence[EncoderSeries], names: tuple[str, str], *, seed: int = 0
) -> list[DirectionDifference]:
    """Return how the agreement of each measure differs between two directions, over the encoders of both.

    Where both have as many clusters, these are taken for the same ones in the same order: one draw. Encoders
    that lack a score in one direction are left out of both.
    """
    tables = [ScoreTable.of(series, seed) for series in (first, second)]
    both = [name for name in tables[0].encoders if name in tables[1].encoders]
    tables = [t.take(np.array([t.encoders.index(name) for name in both], dtype=np.int64)) for t in tables]
    differences = []
    for measure in MEASURES:
        scores = TRUTH, measure
        there = np.all([~np.isnan(table.mean[name]) for table in tables for name in scores], axis=0)
        without = joined(*dict.fromkeys(table.having(scores)[1] for table in tables))
        one, two = ((table.take(np.flatnonzero(there)), measure) for table in tables)
        for kind in COEFFICIENTS:
            difference = _difference(kind, one, two, seed, without)
            differences.append(DirectionDifference(measure, kind, *names, difference))
    return differences


def joined(*notes: str | None) -> str | None:
    """Return the notes that are not None joined into one; None where there is none."""
    return "; ".join(note for note in notes if note) or None


def spread(values: Sequence[float]) -> float:
    """Return the standard deviation of two values or more; 0 where only rounding sets them apart."""
    sd = float(np.std(values, ddof=1))
    return sd if sd >= _DUST else 0.0


def _reason(table: ScoreTable, names: Sequence[str], without: str | None) -> str | None:
    """Return why the encoders that `ScoreTable.having` leaves have no coefficient, with its note."""
    reason = table.missing(names)
    if reason is None:
        return None
    return without if without and not len(table) else joined(reason, without)


def _agreement(table: ScoreTable, names: tuple[str, str], kind: str, seed: int) -> Agreement:
    """Return one coefficient of the truth and a measure: over seeds, and of the means with its interval."""
    table, without = table.having(names)
    of_seeds, reasons = table.by_seed(names, kind)
    values = [value for value in of_seeds if value is not None]
    mean, sd = float(np.mean(values)) if values else None, spread(values) if len(values) > 1 else None
    se = None if sd is None else sd / float(np.sqrt(len(values)))
    if (reason := _reason(table, names, without)) is not None:
        return Agreement(mean, sd, se, None, None, reason)
    note = f"no coefficient in {len(reasons)} of {len(of_seeds)} seeds ({reasons[0]})" if reasons else None
    value = float(KINDS[kind](table.mean[names[0]], table.mean[names[1]], None))
    ci, no_interval = _interval(table, names, kind, value, seed)
    return Agreement(mean, sd, se, value, ci, joined(note, no_interval, without))


def _interval(
    table: ScoreTable, names: tuple[str, str], kind: str, value: float, seed: int
) -> tuple[Interval | None, str | None]:
    """Return (interval, None), or (None, why there is none)."""
    try:
        return table.on_z(names, kind, value, seed)[0].interval, None
    except NoIntervalError as error:
        return None, str(error)


def _accuracy(table: ScoreTable, measure: str, seed: int) -> RankingAccuracy:
    """Return how often the measure orders two encoders as XLR does."""
    table, without = table.having((TRUTH, measure))
    if (reason := _reason(table, (), without)) is not None:
        return RankingAccuracy(None, None, 0, 0, 0, 0, reason)
    i, j = np.triu_indices(len(table), 1)
    x, y = (without_rounding(table.mean[name]) for name in (TRUTH, measure))
    a, b = np.sign(x[i] - x[j]), np.sign(y[i] - y[j])
    both, tied = int(np.sum((a == 0) & (b == 0))), int(np.sum((a == 0) != (b == 0)))
    concordant, discordant = (int(np.sum(a * b == sign)) for sign in (1, -1))
    if both == len(i):
        note = joined(f"all encoders have the same XLR and the same {measure}: there is no order", without)
        return RankingAccuracy(None, None, 0, 0, both, 0, note)
    value = (concordant + both) / len(i)
    ci, note = _interval(table, (TRUTH, measure), "accuracy", value, seed)
    return RankingAccuracy(value, ci, concordant, discordant, both, tied, joined(note, without))


def _contrast(table: ScoreTable, a: str, b: str, seed: int) -> dict[str, CoefficientDifference]:
    """Return the coefficients of `a` with XLR less those of `b`, over the encoders that have all three."""
    table, without = table.having((TRUTH, a, b))
    return {kind: _difference(kind, (table, a), (table, b), seed, without) for kind in COEFFICIENTS}


def _difference(
    kind: str, first: tuple[ScoreTable, str], second: tuple[ScoreTable, str], seed: int, without: str | None
) -> CoefficientDifference:
    """Return the difference of the coefficients of two (table, measure), with interval, p and notes."""
    for table, name in (first, second):
        if (reason := _reason(table, (TRUTH, name), without)) is not None:
            return CoefficientDifference(None, None, None, None, reason)
    values = [float(KINDS[kind](t.mean[TRUTH], t.mean[name], None)) for t, name in (first, second)]
    try:
        (one, these), (two, those) = (
            table.on_z((TRUTH, name), kind, value, seed)
            for (table, name), value in zip((first, second), values, strict=True)
        )
        if np.allclose(these, those, rtol=0, atol=1e-12, equal_nan=True):
            raise NoIntervalError("no interval: both coefficients are equal in every replicate")
        defined = np.isfinite(these) & np.isfinite(those)
        c = float(pearson(*(z_of(kind, r[defined], len(first[0])) for r in (these, those))))
        ci, p = difference_interval(one, two, c if np.isfinite(c) else 0.0)
    except NoIntervalError as error:
        return CoefficientDifference(values[0] - values[1], None, None, None, joined(str(error), without))
    test = f"{METHOD}, p of this interval; {one.n_families} families, items"
    return CoefficientDifference(values[0] - values[1], ci, p, test, without)
