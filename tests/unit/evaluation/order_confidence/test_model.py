"""The fitted probability: its formula, what it must obey, and that it is what the benchmark printed."""

import json
from math import exp, log
from pathlib import Path

import numpy as np
import pytest
from benchmarks import order_boards, order_fit
from hypothesis import given
from hypothesis import strategies as st

from xlingual.evaluation.order_confidence import model

BASIS = model.fitted()
FIGURES = Path(__file__).parents[4] / "docs/results/order-confidence.json"
gaps = st.floats(-60, 60)


def by_hand(z, z_sim, best):
    def damped(x):
        return (1 if x > 0 else -1) * log(1 + abs(x))

    first, second = BASIS.coefficients
    x = first * damped(z) * log(1 + max(best, 0) / 0.02) + second * damped(z_sim)
    return 1 / (1 + exp(-x))


@pytest.mark.parametrize(("z", "z_sim", "best"), [(2.0, 1.0, 0.2), (0.5, -3.0, 0.05), (1.0, 1.0, -0.01)])
def test_the_formula(z, z_sim, best):
    assert model.probability(BASIS, z, z_sim, best) == pytest.approx(by_hand(z, z_sim, best), abs=1e-12)


@given(gaps, gaps, st.floats(-0.1, 1))
def test_exchanging_two_encoders_gives_the_complement(z, z_sim, best):
    both = model.probability(BASIS, z, z_sim, best) + model.probability(BASIS, -z, -z_sim, best)
    assert both == pytest.approx(1, abs=1e-12)


@given(gaps, gaps, st.floats(0, 1), st.floats(0, 5))
def test_it_rises_with_either_gap_and_with_the_resolution(z, z_sim, best, more):
    here = model.probability(BASIS, z, z_sim, best)
    assert model.probability(BASIS, z + more, z_sim, best) >= here
    assert model.probability(BASIS, z, z_sim + more, best) >= here
    if z >= 0:
        assert model.probability(BASIS, z, z_sim, best + more) >= here


def test_beyond_what_was_seen_nothing_is_surer():
    most = model.probability(BASIS, BASIS.most_z, BASIS.most_z, BASIS.most_best)
    assert model.probability(BASIS, 10 * BASIS.most_z, 10 * BASIS.most_z, 1.0) == most


def test_bins_cover_all_probabilities_and_figures_follow_the_rule():
    for leader in (True, False):
        own = [one for one in BASIS.bins if one.leader == leader]
        assert [one.low for one in own] == [0, *(one.high for one in own[:-1])]
        assert own[-1].high == 1
        for p in np.linspace(0, 1, 101):
            found = model.bin_of(BASIS, float(p), leader)
            assert found.leader == leader
            assert found.low <= p <= found.high
    for one in BASIS.bins:
        values = [one.right[name] for name in BASIS.data_sets]
        mean, error = np.mean(values), np.std(values, ddof=1) / np.sqrt(len(values))
        assert one.mean == pytest.approx(mean)
        assert one.ci.low == pytest.approx(max(mean - 3.182446 * error, 0), abs=1e-6)  # t with 3 degrees
        n = min(int(10 * mean), 9)
        good = n >= 6 and one.ci.low >= n / 10 - 0.1 and min(one.n_by_set.values()) >= 20
        assert one.said == (n if good else None)


def test_what_ships_is_what_the_page_shows():
    (run,) = json.loads(FIGURES.read_text(encoding="utf-8"))["commands"].values()
    tables, title = {}, ""
    for block in run["output"]:
        title = block.get("line", title)
        if "table" in block:
            tables[title] = block["table"][1:]
    shown = [float(row[1]) for row in tables["### Coefficients"]]
    assert shown == pytest.approx(BASIS.coefficients, abs=5e-5)
    for leader, name in ((True, "the leader and another"), (False, "other neighbours")):
        own = [one for one in BASIS.bins if one.leader == leader]
        rows = tables[f"### Reliability on data sets left out: {name}"]
        assert [row[-1] for row in rows] == ["–" if one.said is None else f"{one.said} of 10" for one in own]
        assert [float(row[7]) for row in rows] == pytest.approx([one.mean for one in own], abs=5e-4)


def planted(seed, data, families):
    """Return rows of a data set whose order is right as a known model has it."""
    rng = np.random.default_rng(seed)
    n = 500
    z, sim, best = rng.exponential(2, n), rng.normal(1, 2, n), rng.uniform(0, 0.4, n)
    x = model.features(z, sim, best) @ np.array([0.6, 0.9])
    return {
        "data": np.full(n, data), "pair": np.full(n, "a-b"), "condition": np.full(n, "own"),
        "family a": rng.choice(families, n), "family b": rng.choice(families, n),
        "z": z, "z sim": sim, "best": best, "p": model.expit(x),
    }  # fmt: skip


def test_the_fit_finds_planted_coefficients_and_judges_what_it_did_not_see():
    parts = [planted(seed, name, ["f", "g", "h"]) for seed, name in enumerate("xyz")]
    rows = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    x = model.features(rows["z"], rows["z sim"], rows["best"])
    assert order_fit.fit(x, rows["p"], order_fit.weights(rows)) == pytest.approx([0.6, 0.9], abs=0.05)
    p = order_fit.left_out(rows, x)
    changed = {**rows, "p": np.where(rows["data"] == "x", 1 - rows["p"], rows["p"])}
    again = order_fit.left_out(changed, x)
    own = rows["data"] == "x"
    assert np.array_equal(p[own], again[own])  # a data set's truth has no part in what is said of it
    assert not np.allclose(p[~own], again[~own])


def test_boards_state_the_leader_and_neighbours():
    names, value = "abcd", {"a": 0.4, "b": 0.3, "c": 0.2, "d": 0.1}
    pairs = [(x, y) for i, x in enumerate(names) for y in names[i + 1 :]]
    rows = {
        "data": np.full(6, "D"), "pair": np.full(6, "p"), "condition": np.full(6, "c"),
        "a": np.array([x for x, _ in pairs]), "b": np.array([y for _, y in pairs]),
        "a above chance": np.array([value[x] for x, _ in pairs]),
        "b above chance": np.array([value[y] for _, y in pairs]),
        "best": np.zeros(6),
    }  # fmt: skip
    found = order_boards.stated(rows)
    whole = found["size"] == 4
    stated = set(zip(found["a"][whole], found["b"][whole], strict=True))
    assert stated == {("a", "b"), ("a", "c"), ("a", "d"), ("b", "c"), ("c", "d")}  # not b before d
    assert (found["leader"] == (found["best"] == found["a above chance"])).all()
