"""The tests of one family of comparisons: random numbers of their own, and as many replicates as it takes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xlingual.comparison.outcome import Found, Rules, tested_pair
from xlingual.comparison.queries import Queries
from xlingual.stats.paired import t_test
from xlingual.streams import stream

REPLICATES = 1999
MOST_REPLICATES = 19_999  # unless told
_SPARE = 1.25  # times as many replicates as a p of none among them needs
_OPEN = 0.005  # a p beyond this is as good with the usual number of replicates
_CLEAR = 1e-4  # Student's p under which these are not tried first


@dataclass(frozen=True)
class Part:
    """Queries that get a board of their own, and what they are."""

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
        """What the part is, for the stream of random numbers."""
        words = (self.queries.task, self.queries.measure, self.source, self.target, self.column, self.label)
        return "|".join(str(word) for word in words)


class Resampling:
    """Makes the tests of one family, with replicates enough for the correction over all of them."""

    def __init__(self, replicates: int | None, seed: int, n_tests: int, rules: Rules) -> None:
        self.told, self.replicates = replicates, replicates or enough_replicates(n_tests, rules)
        self.seed, self.n_tests, self.margin = seed, n_tests, rules.margin

    def test(self, part: Part, encoder: str, other: str) -> Found:
        """Test an encoder against another; its random numbers hang on what the two are, not on their labels.

        More than the usual number of replicates are drawn, anew, only where the test may need them: that a
        first p is small decides it, so what is found stays a p-value.
        """
        if self.told is not None or self.replicates <= REPLICATES:
            return self._tested(part, encoder, other, self.replicates, "")
        student = t_test(part.queries.paired(encoder, other))[3]
        if self.margin is not None or student >= _CLEAR:
            found = self._tested(part, encoder, other, REPLICATES, "")
            if found.test is None or not found.test.standard_error or self._settled(found):
                return found
        return self._tested(part, encoder, other, self.replicates, "|more")

    def _settled(self, found: Found) -> bool:
        if self.margin is not None and found.test is not None:
            return min(found.p, found.test.p_equivalent(self.margin)) > _OPEN
        return found.p > _OPEN

    def _tested(self, part: Part, encoder: str, other: str, replicates: int, stage: str) -> Found:
        names = part.queries.identity(encoder), part.queries.identity(other)
        rng = stream(self.seed, "|".join([part.name, *names]) + stage)
        return tested_pair(part.queries, encoder, other, replicates, rng)


def enough_replicates(n_tests: int, rules: Rules) -> int:
    """Return how many replicates can show a difference although p is corrected for so many tests."""
    count = 1 if rules.correction == "none" else n_tests
    return min(max(REPLICATES, int(np.ceil(_SPARE * count / rules.alpha)) - 1), MOST_REPLICATES)
