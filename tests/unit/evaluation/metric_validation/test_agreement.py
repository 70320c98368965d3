"""Agreement of measures with true retrieval over encoders."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from xlingual.evaluation.metric_validation.agreement import (
    EncoderSeries,
    _interval_and_p,
    agreement_by_seed_and_mean,
    directions,
    subsets,
)
from xlingual.evaluation.metric_validation.encoder_scores import spread
from xlingual.evaluation.metric_validation.two_way import (
    OnZ,
    accuracy,
    draw_families,
    draw_items,
    midranks,
    pearson,
    spearman,
)
from xlingual.results.validation import COEFFICIENTS, MEASURES

NAMES = ("XLR", *MEASURES)


def made(
    n: int = 12, family: int = 1, seeds: int = 3, clusters: int = 40, seed: int = 0
) -> list[EncoderSeries]:
    """Return encoders of rising quality; CORR is a worse measure than BkR and SIM."""
    rng = np.random.default_rng(seed)
    quality = np.linspace(0.1, 0.9, n)
    worse = {"XLR": 0.0, "BkR": 0.02, "SIM": 0.03, "CORR": 0.2}
    return [
        EncoderSeries(
            f"encoder {i}",
            f"family {i // family}",
            {
                name: list(quality[i] + rng.normal(0, spread) + rng.normal(0, 0.02, seeds))
                for name, spread in worse.items()
            },
            {name: rng.normal(0, 0.01 / np.sqrt(clusters), clusters) for name in NAMES},
        )
        for i in range(n)
    ]


def changed(series: list[EncoderSeries], name: str, change) -> list[EncoderSeries]:
    """Return the series with a measure's scores of encoder i replaced by change(i, scores)."""
    return [
        replace(one, per_seed={**one.per_seed, name: change(i, one.per_seed[name])})
        for i, one in enumerate(series)
    ]


def test_coefficients_are_those_of_scipy():
    series = made()
    found = agreement_by_seed_and_mean(series)["CORR"]
    for kind, function in (("pearson", stats.pearsonr), ("spearman", stats.spearmanr)):
        scores = {name: np.array([one.per_seed[name] for one in series]) for name in NAMES}
        each = [function(scores["XLR"][:, s], scores["CORR"][:, s])[0] for s in range(3)]
        assert found[kind].mean == pytest.approx(np.mean(each))
        assert found[kind].sd == pytest.approx(np.std(each, ddof=1))
        assert found[kind].se == pytest.approx(np.std(each, ddof=1) / np.sqrt(3))
        value = function(scores["XLR"].mean(axis=1), scores["CORR"].mean(axis=1))[0]
        assert found[kind].value == pytest.approx(value)
        assert found[kind].ci.low < value < found[kind].ci.high


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
    # encoder 3 twice: its pairs with the others count twice, that with itself does not
    assert accuracy(x, y, np.array([1, 1, 1, 2])) == pytest.approx(7 / 9)
    tied = changed(made(4), "BkR", lambda i, _: [y[i]] * 3)
    found = subsets(changed(tied, "XLR", lambda i, _: [x[i]] * 3))["all"].accuracy["BkR"]
    assert (found.concordant, found.discordant, found.tied_both, found.tied_one) == (3, 0, 1, 2)
    assert found.value == pytest.approx(4 / 6)


@settings(max_examples=15, deadline=None)
@given(st.permutations(range(8)), st.floats(0.1, 10), st.floats(-5, 5))
def test_order_of_encoders_and_scale_of_a_measure_change_nothing(order, scale, shift):
    series = made(8, family=1)
    moved = changed(series, "BkR", lambda _, scores: [scale * v + shift for v in scores])
    moved = [replace(one, influence={**one.influence, "BkR": scale * one.influence["BkR"]}) for one in moved]
    before, after = subsets(series)["all"], subsets([moved[i] for i in order])["all"]
    for kind in COEFFICIENTS:
        one, two = before.agreement["BkR"][kind], after.agreement["BkR"][kind]
        assert (one.mean, one.value) == pytest.approx((two.mean, two.value))
        assert (one.ci.low, one.ci.high) == pytest.approx((two.ci.low, two.ci.high), abs=1e-6)
        d, e = before.differences["BkR-CORR"][kind], after.differences["BkR-CORR"][kind]
        assert (d.value, d.p) == pytest.approx((e.value, e.p))
        assert (d.ci.low, d.ci.high) == pytest.approx((e.ci.low, e.ci.high), abs=1e-6)
    assert before.accuracy["BkR"].value == after.accuracy["BkR"].value


@given(st.floats(0.2, 3))
@settings(max_examples=10, deadline=None)
def test_monotone_maps_of_a_measure_leave_spearman(power):
    series = [replace(one, influence={}) for one in made(9)]
    moved = changed(series, "SIM", lambda _, scores: [float(np.exp(power * v)) for v in scores])
    one, two = (agreement_by_seed_and_mean(s)["SIM"]["spearman"] for s in (series, moved))
    assert one.mean == pytest.approx(two.mean)


def test_the_same_seed_gives_the_same():
    assert subsets(made(), seed=3) == subsets(made(), seed=3)
    one, two = (subsets(made(), seed=seed)["all"].agreement["BkR"]["pearson"].ci for seed in (3, 4))
    assert one != two and one.low == pytest.approx(two.low, abs=0.05)


def test_items_drawn_in_linear_form_are_items_drawn():
    rng = np.random.default_rng(0)
    values = rng.normal(size=50)
    influence = (values - values.mean()) / 50
    moved = draw_items([influence, influence, np.empty(0)], 0, 4000)
    assert np.array_equal(moved[:, 0], moved[:, 1]) and not moved[:, 2].any()
    assert np.std(moved[:, 0]) == pytest.approx(np.std(values) / np.sqrt(50), rel=0.05)


def test_families_enter_whole():
    drawn = draw_families(["b", "a", "b", "c", "d", "e", "f"], 0, 500)
    assert drawn.n_families == 6
    assert np.array_equal(drawn.weight[:, 0], drawn.weight[:, 2])
    assert drawn.weight[:, [0, 1, 3, 4, 5, 6]].sum(axis=1).max() == 6


def test_more_alike_families_widen_the_interval():
    rng = np.random.default_rng(1)
    luck = np.repeat(rng.normal(0, 0.3, 8), 3)  # a family's members share their luck in BkR
    series = changed(made(24), "BkR", lambda i, scores: [v + luck[i] for v in scores])
    whole = [replace(one, family=f"family {i // 3}") for i, one in enumerate(series)]
    alone, by_family = (subsets(s)["all"].agreement["BkR"]["pearson"].ci for s in (series, whole))
    assert by_family.high - by_family.low > 1.2 * (alone.high - alone.low)


def test_differences_and_their_tests():
    found = subsets(made(24))["all"]
    for kind in COEFFICIENTS:
        corr, sim = found.differences["BkR-CORR"][kind], found.differences["BkR-SIM"][kind]
        values = {name: found.agreement[name][kind].value for name in MEASURES}
        assert corr.value == pytest.approx(values["BkR"] - values["CORR"]) and corr.p < 0.05
        assert corr.ci.low < corr.value < corr.ci.high and corr.ci.low > 0
        assert (sim.ci.low < 0 < sim.ci.high) == (sim.p > 0.05)
        assert corr.test == "two-way bootstrap, Zou 2007, p of this interval; 24 families, items"
    few = subsets(made(24, family=3))["all"].differences["BkR-CORR"]
    assert all("8 families" in few[kind].test for kind in COEFFICIENTS)


ON_Z = st.builds(
    lambda z, error: OnZ("pearson", float(np.tanh(z)), z, error, 9, ""), st.floats(-3, 3), st.floats(0.01, 2)
)


@given(ON_Z, ON_Z, st.floats(-1, 1))
def test_p_is_below_05_exactly_where_the_interval_leaves_out_zero(one, two, c):
    ci, p = _interval_and_p(one, two, c)
    assert ci.low <= one.value - two.value <= ci.high and 0 <= p <= 1
    if abs(p - 0.05) > 1e-9:  # on the border an end is zero
        assert (p < 0.05) == (ci.low > 0 or ci.high < 0)


def test_interval_and_p_of_a_difference_are_those_of_zou_with_t():
    """With independent coefficients both distances add up by squares."""
    one, two = (OnZ("pearson", float(np.tanh(z)), z, 0.2, 10, "") for z in (1.5, 0.7))
    t = stats.t.ppf(0.975, 9)
    low_1, high_2 = np.tanh(1.5 - t * 0.2), np.tanh(0.7 + t * 0.2)
    arm = np.hypot(one.value - low_1, high_2 - two.value)
    ci, p = _interval_and_p(one, two, 0.0)
    assert ci.low == pytest.approx(one.value - two.value - arm)
    assert p == pytest.approx(2 * stats.t.sf(t * (one.value - two.value) / arm, 9))
    back, same = _interval_and_p(two, one, 0.0)
    assert (back.low, back.high, same) == pytest.approx((-ci.high, -ci.low, p))
    assert _interval_and_p(one, one, 0.5)[1] == 1


def test_equal_measures_differ_by_nothing():
    series = [
        replace(one, per_seed={**one.per_seed, "SIM": one.per_seed["BkR"]}, influence={}) for one in made()
    ]
    for found in subsets(series)["all"].differences["BkR-SIM"].values():
        assert (found.value, found.ci, found.p) == (0, None, None)


def test_agreement_with_truth_at_1_is_that_of_another_truth():
    series = [
        replace(
            one,
            per_seed={**one.per_seed, "XLR@1": [v**2 for v in one.per_seed["XLR"]]},
            influence={**one.influence, "XLR@1": one.influence["SIM"]},
        )
        for one in made(8)
    ]
    as_truth = [
        replace(
            one,
            per_seed={**one.per_seed, "XLR": one.per_seed["XLR@1"]},
            influence={**one.influence, "XLR": one.influence["XLR@1"]},
        )
        for one in series
    ]
    found = subsets(series)["all"]
    assert found.agreement_at_1 == subsets(as_truth)["all"].agreement
    plain = subsets(made(8))["all"]
    assert found.agreement == plain.agreement and plain.agreement_at_1 == {}
    assert found.differences == plain.differences


def test_perfect_order_has_an_interval_of_some_width():
    series = changed(made(10), "BkR", lambda i, _: [i**2] * 3)
    series = [replace(one, influence={}) for one in changed(series, "XLR", lambda i, _: [i / 10] * 3)]
    found = subsets(series)["all"]
    spearman_ci, share = found.agreement["BkR"]["spearman"].ci, found.accuracy["BkR"]
    assert found.agreement["BkR"]["spearman"].value == pytest.approx(1)
    assert 0.8 < spearman_ci.low < 0.99 < spearman_ci.high <= 1
    assert share.value == 1 and 0.7 < share.ci.low < 0.99


def test_subsets_are_divided_by_mean_xlr():
    found = subsets(made(24), threshold=0.5)
    assert [found[name].n_encoders for name in ("all", "below", "above")] == [24, 12, 12]
    alone = subsets(made(24)[:12])["all"]
    assert alone.agreement["BkR"]["pearson"].value == found["below"].agreement["BkR"]["pearson"].value


@pytest.mark.parametrize(("n", "words"), [(0, "0 encoders"), (1, "1 encoder:"), (2, "2 encoders")])
def test_too_few_encoders(n, words):
    found = subsets(made(8), threshold=made(8)[n].per_seed["XLR"][0] - 0.05)["below"]
    assert found.n_encoders == n
    pearson_of = found.agreement["BkR"]["pearson"]
    assert (pearson_of.mean, pearson_of.value, pearson_of.ci) == (None, None, None)
    for one in (pearson_of, found.accuracy["BkR"], found.differences["BkR-SIM"]["spearman"]):
        assert one.value is None and words in one.note


def test_few_families_have_no_interval_but_a_reason():
    found = subsets(made(4))["all"].agreement["BkR"]["pearson"]
    found = subsets(made(6, family=6))["all"].agreement["BkR"]["pearson"]
    assert found.ci is None and "one family" in found.note


def test_constant_and_missing_scores_say_so():
    flat = subsets(changed(made(), "CORR", lambda *_: [0.3] * 3))["all"]
    assert flat.agreement["CORR"]["pearson"].value is None
    assert flat.differences["BkR-CORR"]["pearson"].note == "all encoders have the same CORR"
    assert flat.accuracy["CORR"].value == 0  # ties against an order
    assert flat.agreement["BkR"]["pearson"].note is None
    gap = changed(made(), "BkR", lambda i, scores: [None, *scores[1:]] if i == 4 else scores)
    found = agreement_by_seed_and_mean(gap)["BkR"]["spearman"]
    assert found.value is not None and found.sd is not None
    none = changed(made(), "BkR", lambda i, scores: [None] * 3 if i == 4 else scores)
    found = subsets(none)["all"]
    rest = subsets([one for i, one in enumerate(made()) if i != 4])["all"]
    for kind in COEFFICIENTS:
        one, other = found.agreement["BkR"][kind], rest.agreement["BkR"][kind]
        assert (one.mean, one.value) == (other.mean, other.value) and one.ci is not None
        assert one.note == "without encoder 4 (no BkR)"
        gap, whole = found.differences["BkR-SIM"][kind], rest.differences["BkR-SIM"][kind]
        assert (gap.value, gap.p, gap.test) == (whole.value, whole.p, whole.test)
        assert gap.note == "without encoder 4 (no BkR)"
    assert found.accuracy["BkR"].value == rest.accuracy["BkR"].value
    assert found.accuracy["BkR"].note == "without encoder 4 (no BkR)"
    assert found.agreement["SIM"]["pearson"].note is None
    two = subsets(changed(made(4), "CORR", lambda i, scores: [None] * 3 if i < 2 else scores))["all"]
    for one in (
        two.agreement["CORR"]["pearson"],
        two.accuracy["CORR"],
        two.differences["BkR-CORR"]["pearson"],
    ):
        assert one.value is None
        assert one.note == "2 encoders: at least 3 are needed; without encoder 0, encoder 1 (no CORR)"


def test_directions_leave_out_what_one_of_them_lacks():
    second = changed(made(16, seed=5), "CORR", lambda i, scores: [None] * 3 if i == 2 else scores)
    found = {(d.measure, d.coefficient): d.difference for d in directions(made(16), second, ("a", "b"))}
    assert found["CORR", "pearson"].test.endswith("15 families, items")
    assert found["CORR", "spearman"].note == "without encoder 2 (no CORR)"
    assert found["BkR", "pearson"].test.endswith("16 families, items")


def test_ties_of_all_encoders_are_no_agreement():
    flat = changed(changed(made(5), "XLR", lambda *_: [0.1] * 3), "BkR", lambda *_: [0.03] * 3)
    found = subsets(flat)["all"].accuracy
    assert (found["BkR"].value, found["BkR"].ci, found["BkR"].tied_both) == (None, None, 10)
    assert found["BkR"].note == "all encoders have the same XLR and the same BkR: there is no order"
    assert found["SIM"].value == 0  # an order where there is none


def test_equal_values_have_no_spread():
    thirds = [0.1 + 0.2, 0.3, 0.3]
    assert np.std(thirds) > 0 and spread(thirds) == 0
    assert spread([0.1, 0.2]) == pytest.approx(np.std([0.1, 0.2], ddof=1))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.cases(2)
def test_five_families_have_an_interval_whatever_the_seed(seed):
    assert subsets(made(5), seed=seed)["all"].agreement["BkR"]["pearson"].ci is not None
    weight = draw_families(list("abcde"), seed, 2000).weight
    assert np.count_nonzero(weight, axis=1).min() == 3 and np.all(weight.sum(axis=1) == 5)


@pytest.mark.parametrize(("n", "shuffled"), [(5, False), (6, False), (9, False), (24, False), (9, True)])
@pytest.mark.cases(2)
def test_intervals_contain_their_estimates(n, shuffled):
    series = changed(made(n), "BkR", lambda i, _: [i**2] * 3)
    series = changed(series, "XLR", lambda i, _: [(-i if shuffled else i) / 10] * 3)
    found = subsets(series)["all"]
    for one in (*found.agreement["BkR"].values(), found.accuracy["BkR"]):
        if one.ci is not None:
            assert one.ci.low <= one.value <= one.ci.high
    assert found.accuracy["BkR"].ci is not None
    assert found.accuracy["BkR"].value == (0 if shuffled else 1)


def test_one_seed_has_no_spread():
    found = agreement_by_seed_and_mean(made(seeds=1))["SIM"]["pearson"]
    assert found.mean == found.value and found.sd is None and found.se is None


def test_directions_over_the_encoders_of_both():
    first, second = made(16), changed(made(17, seed=5), "BkR", lambda i, s: [v + 0.3 * (i % 2) for v in s])
    found = {(d.measure, d.coefficient): d for d in directions(first, second, ("en-de", "de-en"))}
    assert set(found) == {(m, k) for m in MEASURES for k in COEFFICIENTS}
    one = found["BkR", "pearson"]
    assert (one.first, one.second) == ("en-de", "de-en")
    assert one.difference.value > 0 and one.difference.p < 0.05 and one.difference.ci.low > 0
    ranks = found["BkR", "spearman"].difference
    assert ranks.ci.low < ranks.value < ranks.ci.high and 0 < ranks.p < 1
    few = directions(first[:2], second, ("a", "b"))
    assert all(d.difference.value is None and "2 encoders" in d.difference.note for d in few)
