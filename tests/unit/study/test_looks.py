"""Looks before the end: what each tests on, at which level, and what it does to the outcome."""

from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import pytest

from xlingual.stats.sequential import levels
from xlingual.study.analysis import analyse

rated = SimpleNamespace(**run_path(str(Path(__file__).with_name("rated.py"))))
LOOKS = [0.5, 1.0]


def clear(rater, query, suggestion):
    return 1 if "a" in suggestion else 4


@pytest.fixture
def study():
    return rated.study_of(queries=24, per_system=2, raters=2)


def test_an_early_clear_difference_stops(study):
    ratings = rated.rate(study[0], clear)  # one rater of two: half of what was planned
    found = analyse(*study, ratings, looks=LOOKS, replicates=99)
    first, last = found.looks
    assert [first.level, last.level] == pytest.approx(levels(LOOKS))
    assert first.stop and first.note == "passed by a against b"
    assert not last.stop and last.note == "not reached: 96 of 192 ratings"
    assert found.pairs[0].outcome == "better"
    assert not any("name the looks" in warning for warning in found.warnings)


def test_before_the_first_look_nothing_is_found(study):
    ratings = rated.rate(study[0], clear)[:80]
    found = analyse(*study, ratings, looks=LOOKS, replicates=999)
    assert found.pairs[0].p_adjusted < 0.01 and found.pairs[0].outcome == "no difference found"
    assert any("No planned look is reached" in warning for warning in found.warnings)


def test_a_look_sees_the_first_ratings_only(study):
    one = rated.rate(study[0], clear)
    # the second rater says the opposite, and comes later by name and by time
    late = [
        r
        for r in rated.rate(study[0], lambda r, q, s: 5 - clear(r, q, s), raters=("0", "2"))
        if r.rater == "2"
    ]
    found = analyse(*study, [*late, *one], looks=LOOKS, replicates=999)
    assert found.looks[0].stop and not found.looks[1].stop
    assert found.pairs[0].ratio == 1


def test_a_difference_that_is_plain_at_five_percent_is_not_enough_at_half(study):
    # 24 queries, of which 10 are won and 2 lost: p about .04, above the .003 of a look at half
    won, lost = {f"q{q}" for q in range(10)}, {"q10", "q11"}

    def score(rater, query, suggestion):
        system = "a" if query in won else "b" if query in lost else "none"
        return 1 if suggestion.endswith("0") and system in suggestion else 3

    found = analyse(*study, rated.rate(study[0], score), looks=LOOKS, replicates=4999)
    assert 0.003 < found.pairs[0].p_adjusted < 0.05
    assert not found.looks[0].stop and found.pairs[0].outcome == "no difference found"


def test_without_looks_an_unfinished_study_is_warned_of(study):
    found = analyse(*study, rated.rate(study[0], clear), replicates=99)
    assert any("96 of 192 planned ratings" in warning for warning in found.warnings)
    found = analyse(*study, rated.rate(study[0], clear), replicates=99, planned=96)
    assert not any("planned ratings" in warning for warning in found.warnings)
