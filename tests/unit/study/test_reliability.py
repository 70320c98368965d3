"""Raters: what repeats and controls say of them, when that is compared with them, and how far they agree."""

from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest

from xlingual.study.analysis.raters import agreement_of, rater_scores, weighted_kappa
from xlingual.study.analysis.scores import last_ratings

rated = SimpleNamespace(**run_path(str(Path(__file__).with_name("rated.py"))))


def rows(study, ratings):
    return rater_scores(*study, last_ratings(*study, ratings))


def steady(rater, query, suggestion):
    return 4 if suggestion.endswith("c") else 1 + (int(query[1:]) + int(suggestion[-1])) % 4


def test_a_steady_rater_is_not_flagged():
    study = rated.study_of(queries=8, per_system=2, controls=8)
    first = rated.rate(study[0], steady, seconds=3.0)
    (row,) = rows(study, [*first, *rated.rate(study[0], steady, occasion=1, seconds=5.0)])
    assert (row.n_ratings, row.n_missing, row.repeats, row.repeats_equal, row.repeats_near) == (
        40,
        0,
        40,
        1,
        1,
    )
    assert (row.controls, row.controls_passed, row.seconds, row.flagged) == (8, 1, 4.0, None)
    assert row.mean_score == np.mean([steady("1", f"q{q}", f"x{i}") for q in range(8) for i in (0, 1)])


def test_failed_controls_are_reported_where_two_or_more_fail():
    for controls, flagged in ((1, False), (2, True), (4, True)):
        study = rated.study_of(queries=5, controls=controls)
        (row,) = rows(study, rated.rate(study[0], lambda r, q, s: 1 if s.endswith("c") else steady(r, q, s)))
        assert row.controls_passed == 0
        assert bool(row.flagged) == flagged
    assert "4 of 4 obvious" in row.flagged


@pytest.mark.parametrize(
    ("controls", "failed", "flagged"), [(3, 1, False), (3, 2, True), (8, 2, False), (8, 3, True)]
)
def test_one_slip_does_not_flag_a_rater(controls, failed, flagged):
    study = rated.study_of(queries=8, controls=controls)
    slips = {f"q{q}c" for q in range(failed)}
    (row,) = rows(study, rated.rate(study[0], lambda r, q, s: 1 if s in slips else steady(r, q, s)))
    assert row.controls == controls and bool(row.flagged) == flagged


def test_a_control_beside_the_expected_score_is_passed():
    study = rated.study_of(queries=5, controls=4)
    (row,) = rows(study, rated.rate(study[0], lambda r, q, s: 3 if s.endswith("c") else steady(r, q, s)))
    assert row.controls_passed == 1 and row.flagged is None


def test_repeats_at_random_are_reported_when_there_are_enough():
    study = rated.study_of(queries=8, per_system=2)
    rng = np.random.default_rng(1)
    first, again = (
        rated.rate(study[0], lambda *_: rng.integers(1, 5), occasion=occasion) for occasion in (0, 1)
    )
    (row,) = rows(study, [*first, *again])
    (row,) = rows(study, [*first, *again[:9]])
    assert row.flagged is None and row.repeats == 9


def test_one_score_for_all_and_haste_are_reported():
    study = rated.study_of(queries=8, per_system=2)
    one, fast = (
        rated.rate(study[0], lambda *_: 2, raters=("1",)),
        rated.rate(study[0], steady, raters=("2",), seconds=0.4),
    )
    found = rows(study, [*one, *fast])
    assert found[0].flagged == "all 32 ratings are 2"
    assert "0.4 seconds" in found[1].flagged


def test_raters_are_in_the_order_of_their_numbers():
    study = rated.study_of(queries=1)
    found = rows(study, rated.rate(study[0], steady, raters=("10", "9", "anna")))
    assert [row.rater for row in found] == ["9", "10", "anna"]


@pytest.mark.parametrize(
    ("twice", "kappa"),
    [
        ([[1, 1], [4, 4]], 1),
        ([[1, 4], [4, 1]], -1),
        ([[1, 1], [1, 4], [4, 1], [4, 4]], 0),
        ([[2, 2], [2, 2]], None),
    ],
)
def test_weighted_kappa_by_hand(twice, kappa):
    assert weighted_kappa(np.array(twice)) == kappa


def agreed(study, ratings):
    return agreement_of(study[1], last_ratings(*study, ratings), level=0.95, seed=0, replicates=199)


def test_agreement_has_an_interval_that_controls_do_not_narrow():
    rng = np.random.default_rng(3)
    noise = {}

    def score(rater, query, suggestion):
        if suggestion.endswith("c"):
            return 4
        centre = noise.setdefault(suggestion, rng.normal())
        return int(np.digitize(centre + 0.5 * rng.normal(), [-0.7, 0, 0.7])) + 1

    study = rated.study_of(queries=12, per_system=3, controls=12)
    ratings = rated.rate(study[0], score, raters=("1", "2", "3"))
    found = agreed(study, ratings)
    assert 0.4 < found.ci.low < found.alpha < found.ci.high < 1
    assert found.n_units == 72
    without = agreed(study, [rating for rating in ratings if not rating.suggestion.endswith("c")])
    assert found == without


def test_complete_agreement_is_one_without_an_interval():
    study = rated.study_of(queries=6, per_system=2)
    found = agreed(study, rated.rate(study[0], steady, raters=("1", "2")))
    assert found.alpha == 1 and found.ci is None and "no interval" in found.note
