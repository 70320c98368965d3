"""Agreement of measures with true retrieval over encoders: scipy's coefficients, bootstrap, notes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from xlingual.evaluation.metric_validation.agreement import ScoreTable, spread, subsets
from xlingual.evaluation.metric_validation.coefficients import (
    FisherZ,
    accuracy,
    difference_interval,
    midranks,
    pearson,
    spearman,
)
from xlingual.results.validation import COEFFICIENTS, MEASURES

NAMES = ("XLR", *MEASURES)


def scores_of(n=12, seeds=3, seed=0):
    """Return scores [seeds, n] of encoders of rising quality; CORR is a worse measure than BkR and SIM."""
    rng = np.random.default_rng(seed)
    noise = {"XLR": 0.0, "BkR": 0.02, "SIM": 0.03, "CORR": 0.2}
    quality = np.linspace(0.1, 0.9, n)
    return {
        name: quality + rng.normal(0, size, n) + rng.normal(0, 0.02, (seeds, n))
        for name, size in noise.items()
    }


def agreed(scores, *, families=1, clusters=40, threshold=0.5, order=None):
    """Return the subsets of some scores, with influences of 40 clusters (none: items are not drawn)."""
    n = scores["XLR"].shape[1]
    rng = np.random.default_rng(7)
    influence = {
        name: rng.normal(0, 0.01 / np.sqrt(max(clusters, 1)), (n, clusters)) for name in (*NAMES, "XLR@1")
    }
    order = list(range(n)) if order is None else list(order)
    names = {f"encoder {i}": f"family {i // families}" for i in order}
    scores = {name: values[:, order] for name, values in scores.items()}
    return subsets(ScoreTable.of(names, scores, {name: influence[name][order] for name in scores}), threshold)


def test_coefficients_are_those_of_scipy():
    scores = scores_of()
    agreement = agreed(scores)["all"].agreement["CORR"]
    for kind, function in (("pearson", stats.pearsonr), ("spearman", stats.spearmanr)):
        each = [function(scores["XLR"][s], scores["CORR"][s])[0] for s in range(3)]
        assert agreement[kind].per_seed == pytest.approx(each)
        sd = np.std(each, ddof=1)
        assert (agreement[kind].mean, agreement[kind].sd) == pytest.approx((np.mean(each), sd))
        assert agreement[kind].se == pytest.approx(sd / np.sqrt(3))
        value = function(scores["XLR"].mean(axis=0), scores["CORR"].mean(axis=0))[0]
        assert agreement[kind].value == pytest.approx(value)
        assert agreement[kind].ci.low < value < agreement[kind].ci.high


@given(
    st.lists(st.integers(0, 4), min_size=3, max_size=8),
    st.lists(st.integers(0, 4), min_size=8, max_size=8),
    st.lists(st.integers(1, 3), min_size=8, max_size=8),
)
def test_weights_are_copies(x, y, weight):
    n = len(x)
    x, y, weight = np.array(x, float), np.array(y[:n], float), np.array(weight[:n])
    copies = np.repeat(x, weight), np.repeat(y, weight)
    assert midranks(x, weight).repeat(weight) == pytest.approx(stats.rankdata(copies[0]) - 0.5)
    if np.ptp(x) > 0 and np.ptp(y) > 0:
        assert pearson(x, y, weight) == pytest.approx(np.corrcoef(*copies)[0, 1], abs=1e-9)
        assert spearman(x, y, weight) == pytest.approx(stats.spearmanr(*copies)[0], abs=1e-9)
    else:
        assert np.isnan(pearson(x, y, weight)) and np.isnan(spearman(x, y, weight))


def test_accuracy_counts_ties_as_ties_and_no_copies():
    x, y = np.array([1.0, 1, 2, 3]), np.array([5.0, 5, 5, 9])
    # pairs: 01 tied in both, 02 and 12 tied in one, 03, 13, 23 in the same order
    assert accuracy(x, y) == pytest.approx(4 / 6)
    # encoder 3 twice: its pairs with the others count twice, its pair with itself does not
    assert accuracy(x, y, np.array([1, 1, 1, 2])) == pytest.approx(7 / 9)
    share = agreed(scores_of(4) | {"XLR": np.tile(x, (3, 1)), "BkR": np.tile(y, (3, 1))})["all"].accuracy[
        "BkR"
    ]
    assert (share.concordant, share.discordant, share.tied_both, share.tied_one) == (3, 0, 1, 2)
    assert share.value == pytest.approx(4 / 6)


@settings(max_examples=10, deadline=None)
@given(st.permutations(range(8)), st.floats(0.1, 10), st.floats(-5, 5))
def test_order_of_encoders_and_scale_of_a_measure_change_nothing(order, scale, shift):
    scores = scores_of(8)
    before = agreed(scores, clusters=0)["all"]
    after = agreed(scores | {"BkR": scale * scores["BkR"] + shift}, clusters=0, order=order)["all"]
    for kind in COEFFICIENTS:
        a, b = before.agreement["BkR"][kind], after.agreement["BkR"][kind]
        assert (a.mean, a.value) == pytest.approx((b.mean, b.value))
        assert (a.ci.low, a.ci.high) == pytest.approx((b.ci.low, b.ci.high), abs=1e-6)
        d, e = before.differences["BkR-CORR"][kind], after.differences["BkR-CORR"][kind]
        assert (d.value, d.p) == pytest.approx((e.value, e.p))
    assert before.accuracy["BkR"].value == after.accuracy["BkR"].value


def test_interval_and_p_of_a_difference_are_those_of_zou_with_t():
    """With independent coefficients both distances add up by squares."""
    first, second = (FisherZ("pearson", float(np.tanh(z)), z, 0.2, 10, "") for z in (1.5, 0.7))
    t = stats.t.ppf(0.975, 9)
    low, high = np.tanh(1.5 - t * 0.2), np.tanh(0.7 + t * 0.2)
    arm = np.hypot(first.value - low, high - second.value)
    ci, p = difference_interval(first, second, 0.0)
    assert ci.low == pytest.approx(first.value - second.value - arm)
    assert p == pytest.approx(2 * stats.t.sf(t * (first.value - second.value) / arm, 9))


def test_subsets_are_divided_by_mean_xlr_and_too_few_encoders_say_so():
    scores = scores_of(24)
    parts = agreed(scores)
    assert [parts[name].n_encoders for name in ("all", "below", "above")] == [24, 12, 12]
    half = agreed({name: values[:, :12] for name, values in scores.items()})["all"]
    assert half.agreement["BkR"]["pearson"].value == parts["below"].agreement["BkR"]["pearson"].value
    below = agreed(scores_of(8), threshold=0.25)["below"]
    records = (
        below.agreement["BkR"]["pearson"],
        below.accuracy["BkR"],
        below.differences["BkR-SIM"]["spearman"],
    )
    for record in records:
        assert record.value is None and "encoders" in record.note
    few = agreed(scores_of(6), families=6)["all"].agreement["BkR"]["pearson"]
    assert few.value is not None and few.ci is None and few.note
    single = agreed(scores_of(seeds=1))["all"].agreement["SIM"]["pearson"]
    assert single.mean == single.value and single.sd is None and single.se is None
    assert spread([0.1 + 0.2, 0.3, 0.3]) == 0
