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
from xlingual.errors import listed
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
    RIVALS,
    TRUTH,
    TRUTH_AT_1,
    Agreement,
    CoefficientDifference,
    RankingAccuracy,
    Subset,
)

REPLICATES = 2000
_DUST = 1e-12  # spread of equal values that were added up in another order


@dataclass(frozen=True)
class ScoreTable:
    """Scores of E encoders by measure: of each seed [seeds, E], their means [E], changes of these [B, E].

    The changes are what B other draws of items would do to the means. Missing scores are NaN.
    """

    encoders: tuple[str, ...]
    families: tuple[str, ...]
    per_seed: Mapping[str, Floats]
    mean: Mapping[str, Floats]
    moved: Mapping[str, Floats]
    seed: int = 0  # of the bootstrap

    @classmethod
    def of(
        cls,
        families: Mapping[str, str],
        per_seed: Mapping[str, Floats],
        influence: Mapping[str, Sequence[Floats]],
        seed: int = 0,
    ) -> ScoreTable:
        """Average scores over seeds, and draw items.

        `families` are by encoder. `influence` is what each cluster of items adds to the error of the mean of
        each measure and encoder [clusters]; it is empty where items are not drawn again.
        """
        means = {}
        for name, scores in per_seed.items():
            count = (~np.isnan(scores)).sum(axis=0)
            total = np.where(np.isnan(scores), 0.0, scores).sum(axis=0)
            means[name] = np.where(count > 0, total / np.maximum(count, 1), np.nan)
        rows = [row for name in per_seed for row in influence[name]]
        moved = draw_items(rows, seed, REPLICATES).reshape(REPLICATES, len(per_seed), len(families))
        moves = {name: moved[:, place] for place, name in enumerate(per_seed)}
        return cls(tuple(families), tuple(families.values()), per_seed, means, moves, seed)

    def __len__(self) -> int:
        return len(self.encoders)

    def take(self, rows: Ints) -> ScoreTable:
        """Select some of the encoders."""
        encoders, families = (tuple(row[i] for i in rows) for row in (self.encoders, self.families))
        per_seed, mean, moved = (
            {name: values[..., rows] for name, values in scores.items()}
            for scores in (self.per_seed, self.mean, self.moved)
        )
        return ScoreTable(encoders, families, per_seed, mean, moved, self.seed)

    def usable(self, *names: str, varied: bool = True) -> tuple[ScoreTable, str | None, str | None]:
        """Select the encoders that have a mean of all these scores.

        Beside them: a note on the others, and why those left have no coefficient (`varied`: of scores that
        differ), None where they have one.
        """
        gone, notes = np.zeros(len(self), dtype=bool), []
        for name in names:
            lacks = np.isnan(self.mean[name]) & ~gone
            if lacks.any():
                encoders = listed([self.encoders[i] for i in np.flatnonzero(lacks)])
                notes.append(f"no encoder has {name}" if lacks.all() else f"without {encoders} (no {name})")
            gone |= lacks
        table, note = self.take(np.flatnonzero(~gone)) if notes else self, "; ".join(notes) or None
        reason = table.missing(names if varied else ())
        return table, note, note if reason and note and not len(table) else reason and _joined(reason, note)

    def missing(self, names: Sequence[str], seed: int | None = None) -> str | None:
        """Say why these scores (of one seed, or the means) have no coefficient; None where they have."""
        if len(self) < FEWEST_ENCODERS:
            return (
                f"{len(self)} encoder{'' if len(self) == 1 else 's'}: at least {FEWEST_ENCODERS} are needed"
            )
        for name in names:
            values = self.mean[name] if seed is None else self.per_seed[name][seed]
            if np.isnan(values).any():
                return f"{self.encoders[int(np.argmax(np.isnan(values)))]} has no {name}"
            if np.ptp(without_rounding(values)) == 0:
                return f"all encoders have the same {name}"
        return None

    def coefficient(self, kind: str, names: tuple[str, str]) -> float:
        """Correlate the means of two scores."""
        return float(KINDS[kind](self.mean[names[0]], self.mean[names[1]], None))

    def on_z(self, kind: str, names: tuple[str, str]) -> tuple[FisherZ, Floats]:
        """Put a coefficient with its standard error on Fisher's scale, and draw its replicates [B].

        Raises NoIntervalError.
        """
        weight = draw_families(self.families, self.seed, REPLICATES)
        x, y = (self.mean[name] + self.moved[name] for name in names)
        replicates = KINDS[kind](x, y, weight)
        value, n_families = self.coefficient(kind, names), len(set(self.families))
        return FisherZ.of(kind, value, replicates, len(self), n_families), replicates

    def interval(self, kind: str, names: tuple[str, str]) -> tuple[Interval | None, str | None]:
        """Compute the interval of a coefficient: (interval, None), or (None, why there is none)."""
        try:
            return self.on_z(kind, names)[0].interval, None
        except NoIntervalError as error:
            return None, str(error)


def subsets(table: ScoreTable, threshold: float = 0.5) -> dict[str, Subset]:
    """Compute agreement over all encoders, those with a mean XLR below the threshold, and the others.

    An encoder without XLR is in neither of the two.
    """
    truth = table.mean[TRUTH]
    parts = {
        "all": table,
        "below": table.take(np.flatnonzero(truth < threshold)),
        "above": table.take(np.flatnonzero(truth >= threshold)),
    }
    return {
        name: Subset(
            n_encoders=len(part),
            n_families=len(set(part.families)),
            agreement=_agreements(part, TRUTH),
            accuracy={measure: _accuracy(part, measure) for measure in MEASURES},
            differences={
                f"BkR-{rival}": {kind: _difference(part, rival, kind) for kind in COEFFICIENTS}
                for rival in RIVALS
            },
            agreement_at_1=_agreements(part, TRUTH_AT_1) if TRUTH_AT_1 in part.mean else {},
        )
        for name, part in parts.items()
    }


def spread(values: Sequence[float]) -> float | None:
    """Return the standard deviation; 0 where only rounding sets values apart, None for fewer than two."""
    if len(values) < 2:
        return None
    sd = float(np.std(values, ddof=1))
    return sd if sd >= _DUST else 0.0


def _joined(*notes: str | None) -> str | None:
    """Join the notes that are not None."""
    return "; ".join(note for note in notes if note) or None


def _agreements(table: ScoreTable, truth: str) -> dict[str, dict[str, Agreement]]:
    return {
        measure: {kind: _agreement(table, (truth, measure), kind) for kind in COEFFICIENTS}
        for measure in MEASURES
    }


def _agreement(table: ScoreTable, names: tuple[str, str], kind: str) -> Agreement:
    """Compute one coefficient of the truth and a measure: over seeds, and of the means with its interval."""
    table, note, reason = table.usable(*names)
    truth, measured = (table.per_seed[name] for name in names)
    reasons = [table.missing(names, seed) for seed in range(len(truth))]
    per_seed = [
        float(KINDS[kind](truth[seed], measured[seed], None)) if reason is None else None
        for seed, reason in enumerate(reasons)
    ]
    values = [value for value in per_seed if value is not None]
    mean, sd = float(np.mean(values)) if values else None, spread(values)
    se = None if sd is None else sd / float(np.sqrt(len(values)))
    if reason is not None:
        return Agreement(mean, sd, se, None, None, reason, per_seed)
    lacking = [reason for reason in reasons if reason is not None]
    in_seeds = f"no coefficient in {len(lacking)} of {len(reasons)} seeds ({lacking[0]})" if lacking else None
    ci, no_interval = table.interval(kind, names)
    note = _joined(in_seeds, no_interval, note)
    return Agreement(mean, sd, se, table.coefficient(kind, names), ci, note, per_seed)


def _accuracy(table: ScoreTable, measure: str) -> RankingAccuracy:
    """Count how often the measure orders two encoders as XLR does; a tie counts as a tie."""
    table, without, reason = table.usable(TRUTH, measure, varied=False)
    if reason is not None:
        return RankingAccuracy(None, None, 0, 0, 0, 0, reason)
    i, j = np.triu_indices(len(table), 1)
    x, y = (without_rounding(table.mean[name]) for name in (TRUTH, measure))
    a, b = np.sign(x[i] - x[j]), np.sign(y[i] - y[j])
    concordant, discordant = (int(np.sum(a * b == sign)) for sign in (1, -1))
    both, tied = int(np.sum((a == 0) & (b == 0))), int(np.sum((a == 0) != (b == 0)))
    if both == len(i):
        note = _joined(f"all encoders have the same XLR and the same {measure}: there is no order", without)
        return RankingAccuracy(None, None, 0, 0, both, 0, note)
    ci, note = table.interval("accuracy", (TRUTH, measure))
    value = (concordant + both) / len(i)
    return RankingAccuracy(value, ci, concordant, discordant, both, tied, _joined(note, without))


def _difference(table: ScoreTable, rival: str, kind: str) -> CoefficientDifference:
    """Compare BkR's coefficient with a rival's, over the encoders that have all three scores."""
    table, without, reason = table.usable(TRUTH, "BkR", rival)
    if reason is not None:
        return CoefficientDifference(None, None, None, None, reason)
    columns = [(TRUTH, "BkR"), (TRUTH, rival)]
    value = table.coefficient(kind, columns[0]) - table.coefficient(kind, columns[1])
    try:
        (first, these), (second, those) = (table.on_z(kind, names) for names in columns)
        if np.allclose(these, those, rtol=0, atol=_DUST, equal_nan=True):
            raise NoIntervalError("no interval: both coefficients are equal in every replicate")
        defined = np.isfinite(these) & np.isfinite(those)
        c = float(pearson(*(z_of(kind, r[defined], len(table)) for r in (these, those))))
        ci, p = difference_interval(first, second, c if np.isfinite(c) else 0.0)
    except NoIntervalError as error:
        return CoefficientDifference(value, None, None, None, _joined(str(error), without))
    test = f"{METHOD}, p of this interval; {first.n_families} families, items"
    return CoefficientDifference(value, ci, p, test, without)
