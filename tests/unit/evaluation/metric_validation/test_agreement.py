"""Agreement of measures with true retrieval over encoders."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from xlingual.evaluation.metric_validation.agreement import EncoderSeries, directions, spread, subsets
from xlingual.evaluation.metric_validation.coefficients import (
    FisherZ,
    accuracy,
    difference_interval,
    draw_families,
    draw_items,
    midranks,
    pearson,
    spearman,
)
from xlingual.results.validation import COEFFICIENTS, MEASURES

NAMES = ("XLR", *MEASURES)


def encoders(n=12, family=1, seeds=3, clusters=40, seed=0):
    """Return encoders of rising quality; CORR is a worse measure than BkR and SIM."""
    rng = np.random.default_rng(seed)
    quality = np.linspace(0.1, 0.9, n)
    noise = {"XLR": 0.0, "BkR": 0.02, "SIM": 0.03, "CORR": 0.2}
    return [
        EncoderSeries(
            f"encoder {i}",
            f"family {i // family}",
            {
                name: list(quality[i] + rng.normal(0, size) + rng.normal(0, 0.02, seeds))
                for name, size in noise.items()
            },
            {name: rng.normal(0, 0.01 / np.sqrt(clusters), clusters) for name in NAMES},
        )
        for i in range(n)
    ]


def changed(series, name, change):
    """Return the series with a measure's scores of encoder i replaced by change(i, scores)."""
    return [
        replace(row, per_seed={**row.per_seed, name: change(i, row.per_seed[name])})
        for i, row in enumerate(series)
    ]


def test_coefficients_are_those_of_scipy():
    series = encoders()
    agreement = subsets(series)["all"].agreement["CORR"]
    for kind, function in (("pearson", stats.pearsonr), ("spearman", stats.spearmanr)):
        scores = {name: np.array([row.per_seed[name] for row in series]) for name in NAMES}
        each = [function(scores["XLR"][:, s], scores["CORR"][:, s])[0] for s in range(3)]
        sd = np.std(each, ddof=1)
        assert (agreement[kind].mean, agreement[kind].sd) == pytest.approx((np.mean(each), sd))
        assert agreement[kind].se == pytest.approx(sd / np.sqrt(3))
        value = function(scores["XLR"].mean(axis=1), scores["CORR"].mean(axis=1))[0]
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
    tied = changed(encoders(4), "BkR", lambda i, _: [y[i]] * 3)
    share = subsets(changed(tied, "XLR", lambda i, _: [x[i]] * 3))["all"].accuracy["BkR"]
    assert (share.concordant, share.discordant, share.tied_both, share.tied_one) == (3, 0, 1, 2)
    assert share.value == pytest.approx(4 / 6)
    flat = changed(changed(encoders(5), "XLR", lambda *_: [0.1] * 3), "BkR", lambda *_: [0.03] * 3)
    shares = subsets(flat)["all"].accuracy
    assert (shares["BkR"].value, shares["BkR"].ci, shares["BkR"].tied_both) == (None, None, 10)
    assert shares["SIM"].value == 0  # an order where there is none


@settings(max_examples=10, deadline=None)
@given(st.permutations(range(8)), st.floats(0.1, 10), st.floats(-5, 5))
def test_order_of_encoders_and_scale_of_a_measure_change_nothing(order, scale, shift):
    series = encoders(8)
    moved = changed(series, "BkR", lambda _, scores: [scale * v + shift for v in scores])
    moved = [replace(row, influence={**row.influence, "BkR": scale * row.influence["BkR"]}) for row in moved]
    before, after = subsets(series)["all"], subsets([moved[i] for i in order])["all"]
    for kind in COEFFICIENTS:
        a, b = before.agreement["BkR"][kind], after.agreement["BkR"][kind]
        assert (a.mean, a.value) == pytest.approx((b.mean, b.value))
        assert (a.ci.low, a.ci.high) == pytest.approx((b.ci.low, b.ci.high), abs=1e-6)
        d, e = before.differences["BkR-CORR"][kind], after.differences["BkR-CORR"][kind]
        assert (d.value, d.p) == pytest.approx((e.value, e.p))
        assert (d.ci.low, d.ci.high) == pytest.approx((e.ci.low, e.ci.high), abs=1e-6)
    assert before.accuracy["BkR"].value == after.accuracy["BkR"].value


def test_items_drawn_in_linear_form_are_items_drawn():
    values = np.random.default_rng(0).normal(size=50)
    influence = (values - values.mean()) / 50
    moved = draw_items([influence, influence, np.empty(0)], 0, 4000)
    assert np.array_equal(moved[:, 0], moved[:, 1]) and not moved[:, 2].any()
    assert np.std(moved[:, 0]) == pytest.approx(np.std(values) / np.sqrt(50), rel=0.05)


def test_families_are_drawn_whole_and_widen_the_interval_where_they_are_alike():
    weight = draw_families(["b", "a", "b", "c", "d", "e", "f"], 0, 500)
    assert np.array_equal(weight[:, 0], weight[:, 2])
    assert weight[:, [0, 1, 3, 4, 5, 6]].sum(axis=1).max() == 6
    five = draw_families(list("abcde"), 0, 2000)
    assert np.count_nonzero(five, axis=1).min() == 3 and np.all(five.sum(axis=1) == 5)
    luck = np.repeat(np.random.default_rng(1).normal(0, 0.3, 8), 3)  # members share their luck in BkR
    series = changed(encoders(24), "BkR", lambda i, scores: [v + luck[i] for v in scores])
    whole = [replace(row, family=f"family {i // 3}") for i, row in enumerate(series)]
    alone, by_family = (subsets(s)["all"].agreement["BkR"]["pearson"].ci for s in (series, whole))
    assert by_family.high - by_family.low > 1.2 * (alone.high - alone.low)


def test_differences_and_their_tests():
    whole = subsets(encoders(24))["all"]
    for kind in COEFFICIENTS:
        corr, sim = whole.differences["BkR-CORR"][kind], whole.differences["BkR-SIM"][kind]
        values = {name: whole.agreement[name][kind].value for name in MEASURES}
        assert corr.value == pytest.approx(values["BkR"] - values["CORR"]) and corr.p < 0.05
        assert corr.ci.low < corr.value < corr.ci.high and corr.ci.low > 0
        assert (sim.ci.low < 0 < sim.ci.high) == (sim.p > 0.05)
    equal = [replace(row, influence={}) for row in encoders()]
    equal = changed(equal, "SIM", lambda i, _: equal[i].per_seed["BkR"])
    for difference in subsets(equal)["all"].differences["BkR-SIM"].values():
        assert (difference.value, difference.ci, difference.p) == (0, None, None)


ON_Z = st.builds(
    lambda z, error: FisherZ("pearson", float(np.tanh(z)), z, error, 9, ""),
    st.floats(-3, 3),
    st.floats(0.01, 2),
)


@given(ON_Z, ON_Z, st.floats(-1, 1))
def test_p_is_below_05_exactly_where_the_interval_leaves_out_zero(first, second, c):
    ci, p = difference_interval(first, second, c)
    assert ci.low <= first.value - second.value <= ci.high and 0 <= p <= 1
    if abs(p - 0.05) > 1e-9:  # on the border an end is zero
        assert (p < 0.05) == (ci.low > 0 or ci.high < 0)


def test_interval_and_p_of_a_difference_are_those_of_zou_with_t():
    """With independent coefficients both distances add up by squares."""
    first, second = (FisherZ("pearson", float(np.tanh(z)), z, 0.2, 10, "") for z in (1.5, 0.7))
    t = stats.t.ppf(0.975, 9)
    low, high = np.tanh(1.5 - t * 0.2), np.tanh(0.7 + t * 0.2)
    arm = np.hypot(first.value - low, high - second.value)
    ci, p = difference_interval(first, second, 0.0)
    assert ci.low == pytest.approx(first.value - second.value - arm)
    assert p == pytest.approx(2 * stats.t.sf(t * (first.value - second.value) / arm, 9))
    back, same = difference_interval(second, first, 0.0)
    assert (back.low, back.high, same) == pytest.approx((-ci.high, -ci.low, p))
    assert difference_interval(first, first, 0.5)[1] == 1


def test_subsets_are_divided_by_mean_xlr_and_too_few_encoders_say_so():
    parts = subsets(encoders(24), threshold=0.5)
    assert [parts[name].n_encoders for name in ("all", "below", "above")] == [24, 12, 12]
    alone = subsets(encoders(24)[:12])["all"]
    assert alone.agreement["BkR"]["pearson"].value == parts["below"].agreement["BkR"]["pearson"].value
    for n in range(3):
        below = subsets(encoders(8), threshold=encoders(8)[n].per_seed["XLR"][0] - 0.05)["below"]
        coefficient = below.agreement["BkR"]["pearson"]
        assert (below.n_encoders, coefficient.mean, coefficient.ci) == (n, None, None)
        for record in (coefficient, below.accuracy["BkR"], below.differences["BkR-SIM"]["spearman"]):
            assert record.value is None and f"{n} encoder" in record.note


def test_few_families_have_no_interval_and_one_seed_has_no_spread():
    few = subsets(encoders(6, family=6))["all"].agreement["BkR"]["pearson"]
    assert few.value is not None and few.ci is None and few.note
    single = subsets(encoders(seeds=1))["all"].agreement["SIM"]["pearson"]
    assert single.mean == single.value and single.sd is None and single.se is None
    thirds = [0.1 + 0.2, 0.3, 0.3]
    assert np.std(thirds) > 0 and spread(thirds) == 0


def test_constant_and_missing_scores_say_so():
    flat = subsets(changed(encoders(), "CORR", lambda *_: [0.3] * 3))["all"]
    assert flat.agreement["CORR"]["pearson"].value is None
    assert flat.differences["BkR-CORR"]["pearson"].note == "all encoders have the same CORR"
    assert flat.accuracy["CORR"].value == 0  # ties against an order
    gap = changed(encoders(), "BkR", lambda i, scores: [None, *scores[1:]] if i == 4 else scores)
    of_gap = subsets(gap)["all"].agreement["BkR"]["spearman"]
    assert of_gap.value is not None and of_gap.sd is not None
    without = subsets(changed(encoders(), "BkR", lambda i, s: [None] * 3 if i == 4 else s))["all"]
    rest = subsets([row for i, row in enumerate(encoders()) if i != 4])["all"]
    note = "without encoder 4 (no BkR)"
    for kind in COEFFICIENTS:
        a, b = without.agreement["BkR"][kind], rest.agreement["BkR"][kind]
        assert (a.mean, a.value, a.note) == (b.mean, b.value, note) and a.ci is not None
        d, e = without.differences["BkR-SIM"][kind], rest.differences["BkR-SIM"][kind]
        assert (d.value, d.p, d.test, d.note) == (e.value, e.p, e.test, note)
    assert (without.accuracy["BkR"].value, without.accuracy["BkR"].note) == (rest.accuracy["BkR"].value, note)


@pytest.mark.parametrize(("n", "turned"), [(5, False), (9, False), (24, False), (9, True)])
@pytest.mark.cases(2)
def test_intervals_contain_their_estimates_and_perfect_order_has_some_width(n, turned):
    series = changed(encoders(n), "BkR", lambda i, _: [i**2] * 3)
    whole = subsets(changed(series, "XLR", lambda i, _: [(-i if turned else i) / 10] * 3))["all"]
    for record in (*whole.agreement["BkR"].values(), whole.accuracy["BkR"]):
        assert record.ci is None or record.ci.low <= record.value <= record.ci.high
    share = whole.accuracy["BkR"]
    assert share.value == (0 if turned else 1) and share.ci.low < share.ci.high


def test_directions_are_compared_over_the_encoders_of_both():
    first, second = (
        encoders(16),
        changed(encoders(17, seed=5), "BkR", lambda i, s: [v + 0.3 * (i % 2) for v in s]),
    )
    second = changed(second, "CORR", lambda i, scores: [None] * 3 if i == 2 else scores)
    records = {(d.measure, d.coefficient): d for d in directions(first, second, ("en-de", "de-en"))}
    assert set(records) == {(m, k) for m in MEASURES for k in COEFFICIENTS}
    bkr = records["BkR", "pearson"]
    assert (bkr.first, bkr.second) == ("en-de", "de-en")
    assert bkr.difference.value > 0 and bkr.difference.p < 0.05 and bkr.difference.ci.low > 0
    assert bkr.difference.test.endswith("16 families, items")
    assert records["CORR", "pearson"].difference.test.endswith("15 families, items")
    few = directions(first[:2], second, ("a", "b"))
    assert all(d.difference.value is None and "2 encoders" in d.difference.note for d in few)
