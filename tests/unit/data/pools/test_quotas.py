"""Shares into whole numbers, against searches through every possibility."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlingual.data.pools.mix import draw_languages, largest_remainder, most_possible

GROUPS = 3
things = st.lists(
    st.sets(st.integers(0, GROUPS - 1)).map(lambda own: tuple(sorted(own))), min_size=1, max_size=6
)
weights = st.lists(st.integers(0, 5), min_size=GROUPS, max_size=GROUPS).filter(any)


def possible_counts(options):
    """Return every count by language that an assignment of the things can have."""
    found = set()
    for chosen in product(*[(*own, None) for own in options]):
        found.add(tuple(chosen.count(code) for code in range(GROUPS)))
    return found


@pytest.mark.parametrize(
    ("shares", "total", "quotas"),
    [
        ([0.5, 0.3, 0.2], 7, [4, 2, 1]),  # 3.5 2.1 1.4
        ([0.1, 0.9], 30, [3, 27]),  # 0.1 · 30 is a little more than 3 in floating point
        ([1 / 3, 1 / 3, 1 / 3], 5, [2, 2, 1]),
        ([0.0, 1.0], 4, [0, 4]),
        ([0.6, 0.4], 0, [0, 0]),
    ],
)
def test_largest_remainders(shares, total, quotas):
    assert largest_remainder(np.array(shares), total).tolist() == quotas


@given(weights=weights, total=st.integers(0, 1000))
def test_quotas_stay_within_one_of_the_shares(weights, total):
    shares = np.array(weights) / sum(weights)
    quotas = largest_remainder(shares, total)
    assert quotas.sum() == total and (np.abs(quotas - shares * total) < 1).all()


@given(options=things, weights=weights, seed=st.integers(0, 5))
def test_the_most_that_is_possible_is_drawn(options, weights, seed):
    shares, supply = np.array(weights) / sum(weights), Counter(own for own in options if own)
    possible = possible_counts(options)
    totals = [n for n in range(len(options) + 1) if tuple(largest_remainder(shares, n).tolist()) in possible]
    assert most_possible(supply, shares) == max(totals)
    assert most_possible(supply, shares, 2) == max(total for total in totals if total <= 2)
    quotas = largest_remainder(shares, max(totals))
    language = draw_languages(options, quotas, np.random.default_rng(seed))
    assert [Counter(language.tolist())[code] for code in range(GROUPS)] == quotas.tolist()
    assert all(code == -1 or code in own for code, own in zip(language.tolist(), options, strict=True))
