"""One measure of one encoder over the seeds: its record, its mean, what each cluster adds to the error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from xlingual.evaluation.estimates import Score, mean_of
from xlingual.records import Floats
from xlingual.results.validation import SeedScores
from xlingual.stats import variance

_DUST = 1e-12  # spread of equal values that were added up in another order
_ONE_SEED = "one seed, no spread over seeds"


@dataclass(frozen=True)
class Column:
    """What is reported of a measure, and its mean over seeds with residuals (None where a seed has none)."""

    scores: SeedScores
    mean: Score | None


def column(scores: Sequence[Score | None], notes: Sequence[str | None] = ()) -> Column:
    """Return the scores of all seeds as one; `notes` say why a score is missing or how it was drawn."""
    values = [None if score is None else score.value for score in scores]
    present = [score for score in scores if score is not None]
    note = next((note for note in notes if note), None)
    if len(present) < len(scores):
        missing = next(note for score, note in zip(scores, notes, strict=True) if score is None)
        return Column(SeedScores(None, None, values, None, missing), None)
    mean = mean_of(present)
    sd = spread([score.value for score in present]) if len(present) > 1 else None
    return Column(
        SeedScores(mean.value, sd, values, mean.interval(), note or (_ONE_SEED if sd is None else None)), mean
    )


def spread(values: Sequence[float]) -> float:
    """Return the standard deviation of two values or more; 0 where only rounding sets them apart."""
    found = float(np.std(values, ddof=1))
    return found if found >= _DUST else 0.0


def influence(mean: Score | None, n_clusters: int) -> Floats:
    """Return what each cluster of items adds to the error of a mean, float64 [n_clusters].

    It is the sum of the residuals that hang on the cluster. A query of BkR hangs on two, its own and that of
    the text it retrieved, and counts in both; so the sums are scaled until their squares add up to the
    variance of the mean's interval, which counts what two clusters share once. Zeros where there is no mean.
    """
    total = np.zeros(n_clusters)
    if mean is None:
        return total
    for part in mean.parts:
        for place, way in enumerate(part.ways):
            # a query for which several texts tie hangs on its own cluster only: its second node is negative
            counted = way >= 0 if place == 0 else (way >= 0) & (way != part.ways[0])
            total += np.bincount(way[counted], part.residuals[counted], n_clusters)
    squares = float(total @ total)
    wanted = max(variance(mean.parts) - mean.counted_twice, 0.0)
    return total * (wanted / squares) ** 0.5 if squares > 0 else total
