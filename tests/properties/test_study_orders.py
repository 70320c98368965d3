"""Orders of a study, for any lists: systems stand equally far up, and pairs of raters balance each other."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from xlingual.study.orders import BOUND, Credited, balanced, make_orders


@st.composite
def pages(draw: st.DrawFn) -> list[Credited]:
    """Return pages on which 2 to 4 systems suggest k texts each, some of them the same, and some controls."""
    systems, k = draw(st.integers(2, 4)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    found = []
    for number in range(draw(st.integers(1, 12))):
        lists = [rng.choice(k * draw(st.integers(2, 6)), k, replace=False) for _ in range(systems)]
        texts = sorted({int(one) for row in lists for one in row})
        made = np.array([[float(one in row) for one in texts] for row in lists])
        extra = draw(st.integers(0, 2))
        ids = tuple(f"{number}x{one}" for one in range(len(texts) + extra))
        found.append(Credited(f"q{number}", ids, np.hstack([made, np.zeros((systems, extra))])))
    return found


def mean_places(shown: list[Credited], orders: list[np.ndarray]) -> np.ndarray:
    """Return the mean place of each system over the pages, counted from the middle of a page; plainly."""
    places: dict[int, list[float]] = {}
    for page, order in zip(shown, orders, strict=True):
        for place, which in enumerate(order):
            for system in np.flatnonzero(page.made[:, which]):
                places.setdefault(int(system), []).append(place - (len(order) - 1) / 2)
    return np.array([np.mean(places[system]) for system in sorted(places)])


@given(pages(), st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_systems_have_the_same_mean_place(shown: list[Credited], seed: int) -> None:
    orders = balanced(shown, np.random.default_rng(seed))
    assert all(
        sorted(order) == list(range(len(page.suggestions))) for page, order in zip(shown, orders, strict=True)
    )
    fewest = min(sum(page.made[system].sum() for page in shown) for system in range(len(shown[0].made)))
    assert np.ptp(mean_places(shown, orders)) <= max(BOUND, len(shown[0].made) / fewest) + 1e-9


@given(pages(), st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_over_two_raters_every_suggestion_is_in_the_middle(shown: list[Credited], seed: int) -> None:
    orders = make_orders(shown, 4, len(shown) // 2, np.random.default_rng(seed))
    for even, odd in ((orders[0], orders[1]), (orders[2], orders[3])):
        first = {page.query: page.suggestions for page in even if page.occasion == 0}
        second = {page.query: page.suggestions for page in odd if page.occasion == 0}
        assert {query: one[::-1] for query, one in first.items()} == second


@given(st.integers(2, 9), st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_repeats_keep_away_from_the_first_time(queries: int, seed: int) -> None:
    shown = [Credited(f"q{i}", ("a", "b", "c"), np.eye(2, 3)) for i in range(queries)]
    for order in make_orders(shown, 6, queries - 1, np.random.default_rng(seed)):
        asked = [page.query for page in order]
        assert len(asked) == 2 * queries - 1
        assert all(one != other for one, other in pairwise(asked))
        first = {page.query: page.suggestions for page in order if page.occasion == 0}
        assert all(page.suggestions != first[page.query] for page in order if page.occasion)


def test_places_are_uniform_over_raters() -> None:
    """Each suggestion is about equally often at each place: chi-squared of 3 × 6 counts over 1200 orders."""
    made = np.array([[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]], dtype=float)
    shown = [Credited(f"q{i}", tuple("abcdef"), made) for i in range(3)]
    counts = np.zeros((6, 6))
    random = np.random.default_rng(5)
    for _ in range(1200):
        for place, which in enumerate(balanced(shown, random)[0]):
            counts[which, place] += 1
    assert ((counts - 200) ** 2 / 200).sum() < 60  # 25 degrees of freedom: .9999 quantile
