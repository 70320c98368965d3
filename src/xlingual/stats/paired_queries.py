"""The queries that two systems answered, and what makes them dependent."""

from __future__ import annotations

from dataclasses import dataclass

from xlingual.arrays import Floats, Ints
from xlingual.stats.intervals import ResidualPart


@dataclass(frozen=True)
class Paired:
    """Values [n] of two systems for the same n queries, and what makes queries dependent.

    `weight` [n] sums to 1: what each query counts for in the mean. `own` [n] is the id of the query's own
    cluster; `retrieved_a` and `retrieved_b` [n] those of the texts a system retrieved, in the same name
    space, None where nothing is retrieved.
    """

    a: Floats
    b: Floats
    weight: Floats
    own: Ints
    retrieved_a: Ints | None = None
    retrieved_b: Ints | None = None

    @property
    def difference(self) -> float:
        """The mean of a less the mean of b."""
        return float(self.weight @ (self.a - self.b))

    def parts(self) -> tuple[ResidualPart, ResidualPart]:
        """Return the residuals of both means, the second negated, with their cluster ids."""
        return (
            ResidualPart(
                self.weight * (self.a - self.weight @ self.a), _ways(self.own, self.retrieved_a), self.weight
            ),
            ResidualPart(
                -self.weight * (self.b - self.weight @ self.b), _ways(self.own, self.retrieved_b), self.weight
            ),
        )


def _ways(own: Ints, retrieved: Ints | None) -> tuple[Ints, ...]:
    return (own,) if retrieved is None else (own, retrieved)
