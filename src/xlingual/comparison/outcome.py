"""The tests of one family of comparisons: of two encoders each, and the word for each outcome.

Each test has its own random numbers; all have as many replicates as the correction needs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from xlingual.arrays import Floats
from xlingual.comparison.queries import Queries
from xlingual.errors import InputError, did_you_mean
from xlingual.results import comparison as record
from xlingual.results.comparison import Compared
from xlingual.stats.corrections import benjamini_hochberg, holm
from xlingual.stats.paired import FEWEST_CLUSTERS, PairedTest, paired_test, t_test
from xlingual.streams import stream

REPLICATES = 1999
MOST_REPLICATES = 19_999  # unless a number is given
_SPARE = 1.25  # times as many replicates as the smallest possible p needs
_OPEN = 0.005  # above this p the usual number of replicates is enough
_CLEAR = 1e-4  # below this Student's p the usual number is not tried first
_AGREE = "the two agree on every query"
_ALIKE = "the two score alike on every query, though they retrieve different texts"
_CONSTANT = "nothing varies in the difference: p and interval follow from the number of clusters alone"
CORRECTIONS: dict[str, Callable[[Floats], Floats]] = {
    "holm": holm,
    "bh": benjamini_hochberg,
    "none": lambda p: p,
}


@dataclass(frozen=True)
class Rules:
    """The rules of a decision: correction, level, margin of equivalence."""

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
class EncoderTest:
    """A test of one encoder against the baseline; without a test the note says why."""

    encoder: str
    value: float
    difference: float
    test: PairedTest | None
    note: str | None

    @property
    def p(self) -> float:
        """The two-sided p."""
        return 1.0 if self.test is None else self.test.p


def tested_pair(
    queries: Queries, encoder: str, baseline: str, replicates: int, rng: np.random.Generator
) -> EncoderTest:
    """Test whether an encoder differs from the baseline on the queries."""
    i, j = queries.row_of(encoder), queries.row_of(baseline)
    a, b, value = queries.values[i], queries.values[j], float(queries.means[i])
    difference = value - float(queries.means[j])
    note = too_few(queries.n_clusters)
    if note is None and np.ptp(a) == 0 and np.ptp(b) == 0 and a[0] == b[0]:
        note = f"both give every query {a[0]:.3f}: nothing varies"
    if note is None and (hub := queries.one_retrieved(encoder, baseline)):
        note = f"{hub}: nothing is known about other texts"
    if note is not None:
        return EncoderTest(encoder, value, difference, None, note)
    test = paired_test(queries.paired(encoder, baseline), rng=rng, replicates=replicates, span=queries.span)
    if np.array_equal(a, b):
        return EncoderTest(encoder, value, 0.0, test, _AGREE if queries.agree(encoder, baseline) else _ALIKE)
    return EncoderTest(encoder, value, difference, test, None if test.standard_error > 0 else _CONSTANT)


def too_few(clusters: int) -> str | None:
    """Return why there is no test of so many clusters of queries, None where there is one."""
    if clusters >= FEWEST_CLUSTERS:
        return None
    noun = "cluster" if clusters == 1 else "clusters"
    return f"only {clusters} {noun} of queries: at least {FEWEST_CLUSTERS} are needed"


@dataclass(frozen=True)
class QuerySubset:
    """Queries that get a separate board, and the language pair or label that they share."""

    queries: Queries
    source: str | None = None
    target: str | None = None
    column: str | None = None
    label: str | None = None

    @property
    def whole(self) -> bool:
        """Whether these are all queries."""
        return self.column is None and self.source is None

    @property
    def name(self) -> str:
        """The name of the part, for the stream of random numbers."""
        words = (self.queries.task, self.queries.measure, self.source, self.target, self.column, self.label)
        return "|".join(str(word) for word in words)


class Resampling:
    """Makes the tests of one family, with replicates enough for the correction over all of them."""

    def __init__(self, replicates: int | None, seed: int, n_tests: int, rules: Rules) -> None:
        self.requested, self.replicates = replicates, replicates or enough_replicates(n_tests, rules)
        self.seed, self.n_tests, self.margin = seed, n_tests, rules.margin

    def test(self, part: QuerySubset, encoder: str, other: str) -> EncoderTest:
        """Test an encoder against another; random numbers depend on their identities, not on labels.

        More than the usual number of replicates are drawn, anew, only where the test may need them: a small
        first p decides that, and the second draw does not use the first, so its result stays a p-value.
        """
        names = part.queries.identity(encoder), part.queries.identity(other)

        def tested(replicates: int, stage: str = "") -> EncoderTest:
            rng = stream(self.seed, "|".join([part.name, *names]) + stage)
            return tested_pair(part.queries, encoder, other, replicates, rng)

        if self.requested is not None or self.replicates <= REPLICATES:
            return tested(self.replicates)
        if self.margin is not None or t_test(part.queries.paired(encoder, other))[3] >= _CLEAR:
            found = tested(REPLICATES)
            if found.test is None or not found.test.standard_error:
                return found
            equal = 1.0 if self.margin is None else found.test.p_equivalent(self.margin)
            if min(found.p, equal) > _OPEN:
                return found
        return tested(self.replicates, "|more")


def enough_replicates(n_tests: int, rules: Rules) -> int:
    """Return how many replicates can show a difference although p is corrected for so many tests."""
    count = 1 if rules.correction == "none" else n_tests
    return min(max(REPLICATES, int(np.ceil(_SPARE * count / rules.alpha)) - 1), MOST_REPLICATES)


def decide(boards: Sequence[Sequence[EncoderTest]], rules: Rules, others: Floats) -> list[list[Compared]]:
    """Return the outcomes of all tests of one family.

    The correction counts the tests of all its boards, made or not, and those that no board shows: `others`
    are their p-values.
    """
    shown = [found for board in boards for found in board]
    p = rules.adjusted(np.concatenate([[found.p for found in shown], others]))
    equal: Sequence[float | None] = [None] * len(shown)
    if rules.margin is not None:
        margin = rules.margin
        one_sided = [1.0 if found.test is None else found.test.p_equivalent(margin) for found in shown]
        equal = rules.adjusted(np.concatenate([one_sided, np.ones(len(others))])).tolist()
    place = iter(range(len(shown)))
    return [[_compared(found, p[i := next(place)], equal[i], rules) for found in board] for board in boards]


def _compared(found: EncoderTest, p: float, equal: float | None, rules: Rules) -> Compared:
    test, note = found.test, found.note
    outcome = record.CANNOT_TELL if test is None else word(found.difference, p, rules.alpha)
    if test is not None and equal is not None and equal <= rules.alpha:
        outcome = record.EQUIVALENT
        note = "the difference is real, but smaller than the margin" if p <= rules.alpha else note
    return Compared(
        encoder=found.encoder,
        value=found.value,
        difference=found.difference,
        ci=None if test is None else test.interval(1 - rules.alpha),
        p=None if test is None else test.p,
        p_adjusted=None if test is None else float(p),
        p_equivalent=None if test is None else equal,
        outcome=outcome,
        rank_low=None,
        rank_high=None,
        note=note,
    )


def word(difference: float, p: float, alpha: float) -> str:
    """Return the word for a difference with this two-sided p."""
    if p > alpha or difference == 0:
        return record.NO_DIFFERENCE
    return record.BETTER if difference > 0 else record.WORSE
