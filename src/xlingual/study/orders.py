"""The orders in which raters see queries and suggestions: random, with no system ahead of another.

Raters tire and compare with what they saw before, so a place on the page is worth something. Within each
rater's pages the mean places of the systems differ by at most `BOUND` (or by a step or two, where there are
too few suggestions for that), and every second rater sees each page of the one before turned round, so that
over the two every suggestion has the same mean place. Orders of queries are random for each rater.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from xlingual.arrays import Floats, Ints
from xlingual.study.records import Query, StudyPage

BOUND = 0.1  # places by which the means of two systems may differ within a rater
_EPSILON = 1e-9
_TRIES = 800  # exchanges that are tried for a rater at the most


@dataclass(frozen=True)
class Credited:
    """A query's suggestions [n], and which of the systems made them, float [systems, n] of 0 and 1."""

    query: str
    suggestions: tuple[str, ...]
    made: Floats


def credited(
    queries: Sequence[Query], credits: Mapping[str, Sequence[str]], systems: Sequence[str]
) -> list[Credited]:
    """Return who made what of each query; `credits` has the systems of a suggestion, none for controls."""
    found = []
    for query in queries:
        ids = tuple(shown.id for shown in query.suggestions)
        made = np.array([[float(name in credits.get(one, ())) for one in ids] for name in systems])
        found.append(Credited(query.shown.id, ids, made))
    return found


def make_orders(
    pages: Sequence[Credited], raters: int, n_repeats: int, random: np.random.Generator
) -> tuple[tuple[StudyPage, ...], ...]:
    """Return the pages of each rater: every query once, then `n_repeats` of them again.

    A query is not asked again right after its first time: the last one of the first round is never repeated,
    so `n_repeats` is below the number of queries. The repeated page has another order, where there is one.
    """
    orders, orders_of = [], list[Ints]()
    for rater in range(raters):
        orders_of = [order[::-1] for order in orders_of] if rater % 2 else balanced(pages, random)
        sequence = random.permutation(len(pages))
        again = random.permutation(sequence[:-1])[:n_repeats]
        first = [_page(pages[q], orders_of[q], 0) for q in sequence]
        second = [_page(pages[q], _another(orders_of[q], random), 1) for q in again]
        orders.append((*first, *second))
    return tuple(orders)


def balanced(pages: Sequence[Credited], random: np.random.Generator) -> list[Ints]:
    """Return a random order of each page's suggestions, in which systems have about the same mean place.

    Starts from orders drawn at random, and exchanges two suggestions of a page drawn at random as long as
    that brings the means no further apart, until they are close enough.
    """
    orders = [random.permutation(len(page.suggestions)) for page in pages]
    count = np.maximum(sum(page.made.sum(axis=1) for page in pages), 1)
    total = np.zeros(len(count))
    for page, order in zip(pages, orders, strict=True):
        # places are counted from the middle of a page, so that pages of any length weigh alike
        total = total + page.made[:, order] @ (np.arange(len(order)) - (len(order) - 1) / 2)
    spread, enough = np.ptp(total / count), max(BOUND, 1 / count.min()) + _EPSILON
    for number, i, j in _exchanges(orders, random):
        if spread <= enough:
            break
        order, made = orders[number], pages[number].made
        moved = total + (made[:, order[i]] - made[:, order[j]]) * (j - i)
        if np.ptp(moved / count) <= spread:
            total, spread = moved, np.ptp(moved / count)
            order[[i, j]] = order[[j, i]]
    return orders


def _exchanges(orders: Sequence[Ints], random: np.random.Generator) -> list[tuple[int, int, int]]:
    """Return (page, place, other place) of exchanges to try, drawn at random among all possible ones."""
    sizes = np.array([len(order) for order in orders])
    numbers = random.choice(np.flatnonzero(sizes > 1), _TRIES) if (sizes > 1).any() else sizes[:0]
    first = random.integers(sizes[numbers])
    second = (first + random.integers(1, sizes[numbers])) % sizes[numbers]
    return list(zip(numbers.tolist(), first.tolist(), second.tolist(), strict=True))


def _page(page: Credited, order: Ints, occasion: int) -> StudyPage:
    return StudyPage(page.query, tuple(page.suggestions[place] for place in order), occasion)


def _another(order: Ints, random: np.random.Generator) -> Ints:
    """Return another order of the same suggestions."""
    other = order
    while len(order) > 1 and (other == order).all():
        other = random.permutation(order)
    return other
