"""Quality beside cost: what is kept, the table, and the frontier."""

import itertools

import numpy as np
import pytest

from xlingual.report.figures.cost import Placed, frontier


@pytest.mark.parametrize("lower", [False, True])
def test_the_frontier_is_what_nothing_dominates(lower):
    rng = np.random.default_rng(1)
    sign = -1 if lower else 1
    for size, _ in itertools.product((1, 2, 5, 9), range(30)):
        placed = [Placed(str(i), *map(float, rng.integers(0, 4, 2))) for i in range(size)]

        def dominated(one, placed=placed):
            return any(
                other.cost <= one.cost
                and sign * other.value >= sign * one.value
                and (other.cost, other.value) != (one.cost, one.value)
                for other in placed
            )

        assert {one.name for one in frontier(placed, lower=lower)} == {
            one.name for one in placed if not dominated(one)
        }
