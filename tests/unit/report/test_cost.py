"""Quality beside cost: what is kept, the table, and the frontier."""

import itertools
import time

import numpy as np
import pytest

from xlingual.embed.spent import Spent
from xlingual.report.figures.cost import Placed, frontier


def test_the_first_piece_counts_where_it_is_alone():
    spent = Spent()
    assert spent.per_second is None
    spent.add(32, 8.0)
    assert spent.per_second == 4
    spent.add(100, 1.0)
    spent.add(300, 1.0)
    assert spent.per_second == 200


def test_reading_the_candidates_is_part_of_encoding():
    spent = Spent()
    with spent.preparing():
        time.sleep(0.02)
    spent.add(30, 1.0)
    spent.add(10, 0.01)
    assert 40 / 1.2 < spent.per_second <= 40 / 1.03


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
