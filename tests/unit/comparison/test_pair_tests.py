"""Decisions by bounds of p-values are those of exact ones; ranks are those of tests made pair by pair."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xlingual.comparison.outcome import Rules
from xlingual.comparison.queries import Queries
from xlingual.comparison.ranks import PairTests, pairwise_p, rank_intervals
from xlingual.stats.paired import skewed_t_test, t_test

RULES = st.sampled_from([Rules("holm", 0.05, None), Rules("bh", 0.05, None), Rules("none", 0.05, None)])


def queries(seed, count=7, n=90, near=0.04, *, retrieved=True):
    """Return encoders that are near to each other, two of them one."""
    rng = np.random.default_rng(seed)
    hard = rng.random(n)
    values = np.stack([(hard + 0.2 * rng.random(n) < 0.4 + near * i).astype(float) for i in range(count)])
    chosen = np.where(rng.random((count, n)) < 0.6, rng.integers(0, 60, n), rng.integers(0, 60, (count, n)))
    values[-1], chosen[-1] = values[0], chosen[0]
    names = [f"e{i}" for i in range(count)]
    found = Queries.of_one_sample("t", "R@1", names, values, rng.integers(0, 30, n))
    return found if not retrieved else Queries(**vars(found) | {"retrieved": chosen})


def plainly(found, known, baseline, rules, test):
    """Return the p of all pairs, one test after the other."""
    p = {}
    for a, b in combinations(found.encoders, 2):
        if baseline in (a, b):
            p[a, b] = known[b if a == baseline else a]
        elif found.agree(a, b):
            p[a, b] = 1.0
        else:
            _, error, _, own = t_test(found.paired(a, b))
            p[a, b] = own if error > 0 else test(a, b)
    adjusted = rules.adjusted(np.array(list(p.values())))
    for (a, b), one in zip(list(p), adjusted, strict=True):
        if rules.alpha / 10 <= one <= rules.alpha and baseline not in (a, b):
            p[a, b] = max(p[a, b], test(a, b))
    return p


def ranks_of(found, p, rules):
    """Return 1 + how many are better, E − how many are worse, of each encoder."""
    adjusted = dict(zip(p, rules.adjusted(np.array(list(p.values()))), strict=True))
    ranks = {}
    for name in found.encoders:
        own = found.means[found.row_of(name)]
        beyond = [
            np.sign(found.means[found.row_of(other)] - own)
            for other in found.encoders
            if other != name and adjusted.get((name, other), adjusted.get((other, name))) <= rules.alpha
        ]
        ranks[name] = (1 + beyond.count(1), len(found.encoders) - beyond.count(-1))
    return ranks


@given(st.integers(0, 100_000), RULES, st.booleans(), st.booleans(), st.booleans())
@settings(max_examples=150)
def test_ranks_are_those_of_tests_made_pair_by_pair(seed, rules, retrieved, named, bounded):
    found = queries(seed, retrieved=retrieved)
    known = {name: 0.001 * (1 + i) ** 3 for i, name in enumerate(found.encoders)} if named else {}
    baseline = "e2" if named else ""

    def test(a, b):
        return skewed_t_test(found.paired(a, b))

    bounds = (lambda pairs, a, b: pairs.skewed(a, b)) if bounded else None
    plain = plainly(found, known, baseline, rules, test)
    tests = pairwise_p(found, known, baseline, rules, test, bounds)
    assert rank_intervals(found, tests, rules) == ranks_of(found, plain, rules)
    assert tests.pairs == tuple(plain)
    exact = np.array(list(plain.values()))
    assert (tests.low <= exact).all() and (exact <= tests.high).all()
    if named:  # the corrected p of the pairs that are shown, to the last digit
        shown = np.array([baseline in pair for pair in plain])
        adjusted = rules.adjusted(np.concatenate([exact[shown], tests.without(baseline)]))
        wanted = rules.adjusted(np.concatenate([exact[shown], exact[~shown]]))
        n = np.count_nonzero(shown)
        np.testing.assert_array_equal(adjusted[:n], wanted[:n])


@given(st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=12), RULES, st.floats(0, 0.9), st.integers(0, 99))
@settings(max_examples=200)
def test_wide_bounds_decide_as_exact_values_do(exact, rules, width, seed):
    p = np.array(exact)
    rng = np.random.default_rng(seed)
    low, high = p * (1 - width * rng.random(len(p))), np.minimum(p * (1 + width * rng.random(len(p))), 1.0)
    pairs = [(str(i), "x") for i in range(len(p))]
    tests = PairTests(pairs, low, high, rules, lambda pair: p[int(pair[0])])
    found = tests.adjusted(lambda corrected: corrected <= rules.alpha)
    np.testing.assert_array_equal(found, rules.adjusted(p) <= rules.alpha)
    np.testing.assert_array_equal(tests.adjusted(lambda corrected: corrected), rules.adjusted(p))


def test_what_is_clear_is_not_tested_again():
    asked = []
    rules = Rules("holm", 0.05, None)
    low, high = np.array([1e-9, 0.0124, 0.4]), np.array([2e-9, 0.0126, 0.5])
    pairs = [("a", "b"), ("a", "c"), ("b", "c")]
    tests = PairTests(pairs, low, high, rules, lambda p: asked.append(p) or 0.0125)
    assert tests.adjusted(lambda p: p <= 0.025).tolist() == [True, True, False]
    assert asked == [("a", "c")]


def test_a_test_may_be_given_in_place_of_another():
    rules = Rules("none", 0.05, None)
    tests = PairTests([("a", "b")], np.array([0.01]), np.array([0.01]), rules, lambda p: 0.01)
    tests.replace(0, 0.01, 1.0, lambda p: 0.2)
    assert tests.adjusted(lambda p: p).tolist() == pytest.approx([0.2])
