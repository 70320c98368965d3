"""Whether people and BkR say the same."""

from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest

from xlingual.study.analysis import analyse
from xlingual.study.analysis.with_bkr import mean_bkr, with_bkr

rated = SimpleNamespace(**run_path(str(Path(__file__).with_name("rated.py"))))
OPTIONS = {"level": 0.95, "seed": 0, "replicates": 499}


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
