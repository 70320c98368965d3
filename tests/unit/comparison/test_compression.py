"""Whether a form is kept in every pair: an intersection–union test, and Holm's correction over forms."""

import numpy as np
import pytest

from xlingual.comparison.compression import FULL, full_values, losses
from xlingual.comparison.queries import Labels, Queries, sample_weights
from xlingual.results.compression import KEPT, LOSES, UNDECIDED
from xlingual.stats.corrections import holm
from xlingual.stats.paired import paired_test
from xlingual.streams import stream

PAIRS = (("en", "de"), ("de", "en"), ("en", "zh"))
TAGS = ("en", "de", "zh")


def queries(full, **forms):
    """Return queries with the values [pairs, n] of the full vectors and of forms; each is its own cluster."""
    n = full.shape[1]
    pair = np.repeat(np.arange(len(full)), n)
    codes = np.array([[TAGS.index(tag) for tag in own] for own in PAIRS])[pair]
    labels = {
        "pair": Labels(pair, tuple("-".join(own) for own in PAIRS)),
        "source": Labels(codes[:, 0], TAGS),
        "target": Labels(codes[:, 1], TAGS),
        "seed": Labels(np.zeros(len(pair), dtype=np.int64), ("0",)),
    }
    values = np.stack([one.ravel() for one in (full, *forms.values())])
    names = (FULL, *forms)
    own = np.tile(np.arange(n), len(full))
    return Queries("t", "RR", names, values, sample_weights(pair), own, None, labels, {})


def drawn(seed=0, n=400):
    return np.random.default_rng(seed).uniform(0.3, 0.9, (3, n))


def lowered(full, by, noise=0.01, seed=1):
    """Return values that are lower by so much in each pair, and vary."""
    return full - np.array(by)[:, None] + noise * np.random.default_rng(seed).normal(size=full.shape)


def test_outcomes_and_numbers():
    full = drawn()
    forms = {
        "fine": lowered(full, [0.001, 0.0, -0.002]),
        "one": lowered(full, [0.001, 0.03, 0.0]),
        "noisy": lowered(full, [0.001, 0.005, 0.0], noise=0.2),
    }
    given = queries(full, **forms)
    found = losses(given, 0.01, 0.05)
    assert {name: one.outcome for name, one in found.items()} == {
        "fine": KEPT, "one": LOSES, "noisy": UNDECIDED
    }  # fmt: skip
    for name, one in found.items():
        means = full.mean(axis=1) - forms[name].mean(axis=1)
        assert [pair.loss for pair in one.pairs] == pytest.approx(means)
        assert one.loss == pytest.approx(means.mean())
        assert one.p == max(pair.p_kept for pair in one.pairs)
    assert [one.p_adjusted for one in found.values()] == pytest.approx(
        holm(np.array([one.p for one in found.values()]))
    )
    assert found["one"].pairs[1].p_loses < 0.001 < found["one"].pairs[0].p_loses
    assert [one.value for one in full_values(given)] == pytest.approx(full.mean(axis=1))
    assert [(one.source, one.target) for one in full_values(given)] == list(PAIRS)


def test_bounds_and_intervals_are_those_of_the_paired_test():
    full = drawn()
    form = lowered(full, [0.002, 0.004, 0.006])
    given = queries(full, form=form)
    (found,) = losses(given, 0.01, 0.05, replicates=999).values()
    for place, (own, pair) in enumerate(zip(found.pairs, PAIRS, strict=True)):
        part = list(given.slices("pair").values())[place]
        rng = stream(0, f"compress|form|{'-'.join(pair)}")
        test = paired_test(part.paired("form", FULL), rng=rng, replicates=999, span=1.0)
        assert own.most == pytest.approx(-test.lower(0.05))
        assert own.p_kept == test.p_above(-0.01)
        wide = test.interval(1 - 0.05 / 3)
        assert (own.ci.low, own.ci.high) == pytest.approx((-wide.high, -wide.low))
        assert own.ci.level == pytest.approx(1 - 0.05 / 3)
        # the bound and the p say the same
        assert (own.most < 0.01) == (own.p_kept < 0.05)


def test_equal_values_are_kept_only_where_queries_are_many():
    full = drawn(n=100)
    few, many = (losses(queries(drawn(n=n), same=drawn(n=n)), 0.01, 0.05)["same"] for n in (100, 1000))
    assert (few.outcome, many.outcome) == (UNDECIDED, KEPT)
    assert few.pairs[0].most == pytest.approx(1 - 0.05 ** (1 / 100))  # the rule of three
    assert full.shape == (3, 100)


def test_with_too_few_clusters_nothing_is_told():
    full = drawn(n=4)
    (found,) = losses(queries(full, form=full - 0.5), 0.01, 0.05).values()
    assert found.outcome == UNDECIDED
    assert found.note == "only 4 clusters of queries: at least 5 are needed"
    assert found.p == found.p_adjusted == 1
    assert all(pair.ci is None and pair.most is None for pair in found.pairs)


def test_the_order_of_forms_changes_nothing():
    full = drawn()
    forms = {name: lowered(full, [0.001 * i] * 3, seed=i) for i, name in enumerate("abc")}
    one = losses(queries(full, **forms), 0.01, 0.05, replicates=299)
    other = losses(queries(full, **dict(reversed(forms.items()))), 0.01, 0.05, replicates=299)
    assert one == {name: other[name] for name in one}


@pytest.mark.slow
def test_a_form_that_loses_delta_in_a_pair_is_rarely_kept():
    """In 400 samples at most the 5 % and three standard errors, where one of five forms is at the border."""
    kept = 0
    for seed in range(400):
        full = drawn(seed, n=60)
        forms = {f"f{i}": lowered(full, [0.0, 0.01, 0.0], noise=0.02, seed=1000 * i + seed) for i in range(5)}
        found = losses(queries(full, **forms), 0.01, 0.05, seed=seed, replicates=199)
        kept += any(one.outcome == KEPT for one in found.values())
    assert kept / 400 < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)
