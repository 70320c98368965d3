"""Small pools with many ties, their counts, and the plain definitions they are compared with."""

from fractions import Fraction
from itertools import groupby, permutations, product

import numpy as np
from hypothesis import strategies as st

from xlingual.records import TargetCounts


def counts_of(queries):
    """Return the counts of queries, each (scores [m], relevant [m] of bool)."""
    rows = [
        (number, sum(s > scores[i] for s in scores), scores.count(scores[i]))
        for number, (scores, relevant) in enumerate(queries)
        for i in np.flatnonzero(relevant)
    ]
    columns = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    return TargetCounts(*columns, np.array([len(scores) for scores, _ in queries], dtype=np.int64))


def orders(scores, relevant):
    """Yield the relevance by rank (0 or 1) for every order of the tied candidates."""
    ranked = sorted(range(len(scores)), key=lambda i: -scores[i])
    groups = [[relevant[i] for i in tied] for _, tied in groupby(ranked, key=lambda i: scores[i])]
    for parts in product(*(permutations(group) for group in groups)):
        yield [int(one) for part in parts for one in part]


def mean_over_orders(value, scores, relevant):
    """Return the exact expectation of `value` (of a ranking) under random tie-breaking."""
    values = [value(ranking) for ranking in orders(scores, relevant)]
    return float(sum(values, Fraction(0)) / len(values))


def plain_ap(ranking, cut=None, of_least=False):
    """Return AP by its definition: the mean of the precision at the ranks of relevant candidates."""
    total, found = Fraction(0), 0
    for rank, one in enumerate(ranking[:cut], start=1):
        found += one
        total += Fraction(found, rank) * one
    divisor = min(sum(ranking), cut) if of_least else sum(ranking)
    return total / divisor


def plain_set_recall(ranking, k):
    return Fraction(sum(ranking[:k]), sum(ranking))


def plain_hit(ranking, k):
    return Fraction(int(any(ranking[:k])))


def plain_precision(ranking, k):
    return Fraction(sum(ranking[:k]), k)


def plain_rr(ranking, cut=None):
    rank = ranking.index(1) + 1
    return Fraction(0) if cut is not None and rank > cut else Fraction(1, rank)


@st.composite
def pools(draw, most=7, levels=3):
    """Draw (scores, relevant) with few distinct scores and at least one relevant candidate."""
    scores = draw(st.lists(st.integers(0, levels), min_size=1, max_size=most))
    relevant = draw(st.lists(st.booleans(), min_size=len(scores), max_size=len(scores)))
    relevant[draw(st.integers(0, len(scores) - 1))] = True
    return scores, relevant
