"""How much more rating is needed, and whether people and BkR say the same."""

from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest
from xlingual.study.analysis.needed import Components, more_needed

from xlingual.stats.power import power
from xlingual.study.analysis import analyse
from xlingual.study.analysis.with_bkr import mean_bkr, with_bkr

rated = SimpleNamespace(**run_path(str(Path(__file__).with_name("rated.py"))))
OPTIONS = {"level": 0.95, "seed": 0, "replicates": 499}


def additive(rng, raters, queries, sd=(1.0, 0.5, 2.0), mean=1.0):
    q, r, e = sd
    return (
        mean
        + q * rng.normal(size=(1, queries))
        + r * rng.normal(size=(raters, 1))
        + e * rng.normal(size=(raters, queries))
    )


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_components_are_those_of_the_population(missing):
    rng = np.random.default_rng(0)
    found = []
    for _ in range(200):
        values = additive(rng, 8, 30)
        seen = rng.random(values.shape) >= missing
        seen[0], seen[:, 0] = True, True
        parts = Components.of(values * seen, seen)
        found.append((parts.queries, parts.raters, parts.rest))
    assert np.mean(found, axis=0) == pytest.approx([1, 0.25, 4], rel=0.15)


def test_power_of_one_rater_is_that_of_a_t_test():
    parts = Components(queries=4.0, raters=0.0, rest=0.0)
    assert parts.power(1.0, 30, 1, 0.05) == pytest.approx(power(1.0, 4 / 30, 29, 0.05))
    # 34 pairs show a difference of half a standard deviation with power .8 (Cohen 1988, table 2.4.1)
    assert parts.power(1.0, 33, 1, 0.05) < 0.8 <= parts.power(1.0, 34, 1, 0.05)


def test_queries_needed_are_the_fewest_that_do():
    counts = np.zeros((1, 20, 2))
    counts[0, :, 0] = [3, 1] * 10
    counts[0, :, 1] = [2, 1, 1, 2, 1] * 4
    found = more_needed(rated.scores_from(counts), (0, 1), 0.05)
    apart = counts[0, :, 0] - counts[0, :, 1]
    parts = Components(float(np.var(apart, ddof=1)), 0.0, 0.0)
    chances = [parts.power(apart.mean(), n, 1, 0.05) for n in (found.queries - 1, found.queries)]
    assert chances[0] < 0.8 <= chances[1]
    assert found.raters is None and "one rater" in found.note


def test_no_difference_needs_no_number():
    found = more_needed(rated.scores_from(np.ones((2, 6, 2))), (0, 1), 0.05)
    assert (found.queries, found.raters) == (None, None) and "is 0" in found.note


@pytest.mark.parametrize(
    ("queries", "raters", "least", "message"),
    [(1, 1, None, "fewer than 5"), (4, 2, None, "fewer than 5"), (5, 2, 6, "so few queries"), (8, 2, 6, "")],
)
def test_no_number_is_promised_that_the_test_could_not_find(queries, raters, least, message):
    values = np.zeros((raters, queries, 2))
    values[:, :, 0] = [4, 4, 3, 4, 4, 4, 4, 4][:queries]
    found = more_needed(rated.scores_from(values), (0, 1), 0.05)
    assert found.queries == least and message in (found.note or "")
    assert (found.raters is None) == (queries < 6)


def test_raters_who_differ_much_let_no_number_of_queries_do():
    values = np.zeros((6, 20, 2))
    values[:, :, 0] = np.array([5, 0, 5, 0, 4, 0])[:, None]
    values[:, :, 1] = np.array([0, 5, 0, 5, 0, 3])[:, None]
    values[0, :3, 0] = 4
    found = more_needed(rated.scores_from(values), (0, 1), 0.05)
    assert found.queries is None and "raters differ" in found.note


def test_queries_that_differ_much_let_no_number_of_raters_do():
    values = np.zeros((2, 8, 2))
    values[:, :, 0] = [5, 0, 5, 0, 5, 0, 5, 1]
    values[:, :, 1] = [0, 5, 0, 5, 0, 5, 0, 0]
    values[0, 0, 1] = 1
    found = more_needed(rated.scores_from(values), (0, 1), 0.05)
    assert found.raters is None and "queries differ" in found.note


def study_with_bkr(a, b, relevant):
    n = len(a)
    study = rated.study_of(
        queries=n,
        per_system=1,
        bkr={
            name: {f"q{q}": float(v) for q, v in enumerate(values)} for name, values in (("a", a), ("b", b))
        },
    )
    return study, rated.scores_from(np.array(relevant, dtype=float)[None], most=1)


def test_bkr_and_people_on_the_same_queries():
    a, b = [1, 1, 1, 0, 1, 0], [0, 1, 0, 0, 1, 1]
    people = [(1, 0), (1, 1), (1, 0), (0, 0), (1, 1), (0, 0)]
    study, scores = study_with_bkr(a, b, people)
    found = with_bkr(scores, study[1], (0, 1), **OPTIONS)
    assert found.difference == pytest.approx(1 / 6) and found.measure == "R@10"
    assert found.correlation == pytest.approx(np.corrcoef([1, 0, 1, 0, 0, -1], [1, 0, 1, 0, 0, 0])[0, 1])
    assert found.correlation_ci.low < found.correlation < found.correlation_ci.high
    assert found.ci.low < 1 / 6 < found.ci.high and found.same_direction is True
    assert mean_bkr(scores, study[1]) == {"a": pytest.approx(4 / 6), "b": pytest.approx(3 / 6)}
    turned = with_bkr(scores, study[1], (1, 0), **OPTIONS)
    assert turned.same_direction is True and turned.correlation == pytest.approx(found.correlation)


def test_bkr_that_says_the_opposite():
    study, scores = study_with_bkr([0] * 6, [1] * 6, [(1, 0)] * 5 + [(0, 0)])
    found = with_bkr(scores, study[1], (0, 1), **OPTIONS)
    assert found.same_direction is False and found.correlation is None
    assert "BkR difference is the same" in found.note


def test_no_direction_is_neither_the_same_nor_another():
    study, scores = study_with_bkr([0, 1] * 3, [1, 0] * 3, [(1, 0)] * 5 + [(0, 0)])
    assert with_bkr(scores, study[1], (0, 1), **OPTIONS).same_direction is None


def test_queries_without_bkr_are_left_out_and_reported():
    study, scores = study_with_bkr([1] * 6, [0] * 6, [(1, 0)] * 6)
    del study[1].bkr["a"]["q5"]
    found = with_bkr(scores, study[1], (0, 1), **OPTIONS)
    assert "5 of 6 queries" in found.note and "a" not in mean_bkr(scores, study[1])


def test_without_bkr_nothing_is_said_of_it():
    study = rated.study_of(queries=3)
    found = analyse(*study, rated.rate(study[0], lambda *_: 1), replicates=99)
    assert found.bkr == [] and found.systems[0].bkr is None
