"""One test of two encoders, and the word for what it says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from xlingual.comparison.queries import Queries
from xlingual.errors import InputError, did_you_mean
from xlingual.records import Floats
from xlingual.results import comparison as record
from xlingual.results.comparison import Compared
from xlingual.stats.corrections import benjamini_hochberg, holm
from xlingual.stats.paired import FEWEST_CLUSTERS, PairedTest, paired_test

CORRECTIONS: dict[str, Callable[[Floats], Floats]] = {
    "holm": holm,
    "bh": benjamini_hochberg,
    "none": lambda p: p,
}


@dataclass(frozen=True)
class Rules:
    """What a difference must show: correction, level, margin of equivalence."""

    correction: str
    alpha: float
    margin: float | None

    def __post_init__(self) -> None:
        if self.correction not in CORRECTIONS:
            near = did_you_mean(self.correction, CORRECTIONS)
            raise InputError(f"unknown correction {self.correction!r}: expected holm, bh or none.{near}")
        if not 0 < self.alpha < 0.5:
            raise InputError(f"alpha must lie between 0 and 0.5, got {self.alpha:g}: 0.05 is usual")
        if self.margin is not None and not 0 < self.margin < np.inf:
            raise InputError(f"the margin must be above 0, got {self.margin:g}: 0.01 is one point of R@k")

    def adjusted(self, p: Floats) -> Floats:
        """Return the p-values corrected for their number."""
        return CORRECTIONS[self.correction](p)


@dataclass(frozen=True)
class Found:
    """A test of one encoder against the baseline; without one the note says why."""

    encoder: str
    value: float
    difference: float
    test: PairedTest | None
    note: str | None

    @property
    def p(self) -> float:
        """The two-sided p; by the rule of three where every query has the same difference."""
        if self.test is None:
            return 1.0
        if self.test.standard_error > 0 or self.test.difference == 0:
            return self.test.p
        tail = self.test.p_above(0) if self.difference > 0 else self.test.p_below(0)
        return min(1.0, 2 * tail)


def tested_pair(
    queries: Queries, encoder: str, baseline: str, replicates: int, rng: np.random.Generator
) -> Found:
    """Test whether an encoder differs from the baseline on the queries."""
    i, j = queries.place(encoder), queries.place(baseline)
    value, other = float(queries.means[i]), float(queries.means[j])
    difference = value - other
    if queries.n_clusters < FEWEST_CLUSTERS:
        noun = "cluster" if queries.n_clusters == 1 else "clusters"
        note = f"only {queries.n_clusters} {noun} of queries: at least {FEWEST_CLUSTERS} are needed"
        return Found(encoder, value, difference, None, note)
    a, b = queries.values[i], queries.values[j]
    if np.ptp(a) == 0 and np.ptp(b) == 0 and a[0] == b[0]:
        note = f"both give every query {a[0]:.3f}: nothing varies"
        return Found(encoder, value, difference, None, note)
    test = paired_test(queries.paired(encoder, baseline), rng=rng, replicates=replicates, span=queries.span)
    same = np.array_equal(a, b)
    return Found(encoder, value, 0.0 if same else difference, test, _SAME if same else None)


_SAME = "both give every query the same value"


def decide(boards: Sequence[Sequence[Found]], rules: Rules) -> list[list[Compared]]:
    """Return the outcomes of all tests of one family; the correction counts those of all its boards."""
    tested = [found for board in boards for found in board if found.test is not None]
    p = rules.adjusted(np.array([found.p for found in tested]))
    equal: Sequence[float | None] = [None] * len(tested)
    if rules.margin is not None:
        one_sided = [found.test.p_equivalent(rules.margin) for found in tested if found.test is not None]
        equal = rules.adjusted(np.array(one_sided)).tolist()
    by_test = {id(found): (float(p[i]), equal[i]) for i, found in enumerate(tested)}
    return [[_compared(found, by_test.get(id(found)), rules) for found in board] for board in boards]


def _compared(found: Found, adjusted: tuple[float, float | None] | None, rules: Rules) -> Compared:
    if found.test is None or adjusted is None:
        return Compared(
            found.encoder,
            found.value,
            found.difference,
            None,
            None,
            None,
            None,
            record.CANNOT_TELL,
            None,
            None,
            found.note,
        )
    p, equal = adjusted
    outcome = _word(found.difference, p, equal, rules.alpha)
    note = found.note
    if outcome == record.EQUIVALENT and p <= rules.alpha:
        note = "it differs, by less than the margin"
    return Compared(
        encoder=found.encoder,
        value=found.value,
        difference=found.difference,
        ci=found.test.interval(1 - rules.alpha),
        p=found.p,
        p_adjusted=p,
        p_equivalent=equal,
        outcome=outcome,
        rank_low=None,
        rank_high=None,
        note=note,
    )


def _word(difference: float, p: float, equal: float | None, alpha: float) -> str:
    if equal is not None and equal <= alpha:
        return record.EQUIVALENT
    if p <= alpha and difference != 0:
        return record.BETTER if difference > 0 else record.WORSE
    return record.NO_DIFFERENCE
