"""Approximate numbers: no digit that is not known, and under the table how far off they are."""

import pytest

from xlingual.report import as_html, leaderboard, numbers, verdict
from xlingual.report.findings import approximation
from xlingual.results import Approximation, Behind, Interval

TASK = "backretrieval"


def off(error, **changes):
    fields = {
        "search": "ivf", "depth": 100, "candidates": None, "n_checked": 1000, "recall_nearest": 0.9983,
        "recall_way_back": 0.982, "difference": -0.001,
        "ci": Interval(-0.001 - error, -0.001 + error, 0.95, "checked"), "error": error,
        "oracle_error": 0.03,
    }  # fmt: skip
    return Approximation(**(fields | changes))


def made_run(made, error, **changes):
    given = {
        "chance": 0.01,
        "oracle": 0.9123,
        "normalized": 0.3826,
        "approximation": off(error, **changes),
    }
    rows = [
        made.summary(TASK, "e", "R@10", 0.3456, **given),
        made.summary(TASK, "e", "R@10", 0.3456, source="en", target="de", **given),
    ]
    return made.results([made.entry(TASK, "en", "de", "e", "R@10", 0.3456)], rows)


@pytest.mark.parametrize(
    ("error", "value", "share"),
    [(0.0, "0.346", "38 %"), (0.0015, "0.346", "38 %"), (0.0038, "0.35", "38 %"), (0.03, "0.35", "40 %")],
)
def test_only_known_digits_are_shown(made, error, value, share):
    (row,) = leaderboard(made_run(made, error), TASK, "R@10")
    assert (row.value_text, row.normalized_text) == (value, share)
    assert row.interval_text == "[0.316, 0.376]"  # an interval says itself how far off it is


def test_the_verdict_and_the_page_have_no_other_digits(made):
    results = made_run(made, 0.0038)
    told = " ".join(verdict(results))
    assert "0.35 [" in told and "0.346" not in told and "(0.9)" in told and "0.912" not in told
    html = as_html([results])
    assert ">0.35<" in html and "0.346" not in html and "0.912" not in html
    assert "nearest text found for 99.8 %" in html


def test_what_stands_under_the_table(made):
    rows = leaderboard(made_run(made, 0.0038), TASK, "R@10")
    first, second = approximation.sentences(rows)
    assert first.startswith(
        "Approximate: each query scores the 100 best candidates that a search (ivf) finds"
    )
    assert second == (
        "e: 1,000 queries were also ranked exactly, nearest text found for 99.8 %, 98.2 % of the nearest "
        "images found, R@10 is off by −0.001 [−0.005, 0.003]."
    )


def test_a_sample_of_candidates_says_its_size(made):
    row = made.summary(
        TASK,
        "e",
        "MedR",
        1234.5,
        ci=Interval(1100.0, 1400.0, 0.95, "Woodruff"),
        approximation=off(66.0, candidates=10_000, difference=None, ci=None, recall_way_back=None),
    )
    rows = leaderboard(made.results([], [row]), TASK, "MedR")
    assert rows[0].value_text == "1200"
    first, second = approximation.sentences(rows)
    assert "10,000 random candidates" in first and second.endswith("MedR is off by 66 at most (95 %).")


def test_what_an_error_is_at_most_is_rounded_up(made):
    """0.0141 is not within 0.01."""
    found = off(0.0141, candidates=10_000, difference=None, ci=None, recall_way_back=None)
    rows = leaderboard(
        made.results([], [made.summary(TASK, "e", "R@1%", 0.0191, approximation=found)]), TASK, "R@1%"
    )
    assert approximation.sentences(rows)[1].endswith("R@1% is off by 0.015 at most (95 %).")


def test_a_difference_of_approximate_values_has_known_digits_alone(made):
    gap = Behind("a", 0.2027, Interval(0.1962, 0.2092, 0.95, "Wilson, checked"), 0.0053)
    rows = [
        made.summary(TASK, "a", "R@10", 0.2033, approximation=off(0.0037)),
        made.summary(TASK, "b", "R@10", 0.0006, approximation=off(0.0037), behind=gap),
    ]
    assert leaderboard(made.results([], rows), TASK, "R@10")[1].behind_text == "0.20 [0.196, 0.209]"


def test_exact_numbers_say_nothing(made):
    rows = leaderboard(made.results([], [made.summary(TASK, "e", "R@10", 0.3)]), TASK, "R@10")
    assert approximation.sentences(rows) == []


def test_a_number_below_its_error_says_no_digit_that_is_not_known():
    assert numbers.number(0.0062, error=0.05) == "0.0"
    low = Interval(0.0, 0.0044, 0.95, "Wilson, checked")
    assert numbers.number(0.0006, error=0.0038, ci=low) == "0.00"
    assert numbers.number(0.73, error=0.5) == "0.7"  # a share says a tenth at least
    near = Interval(0.001, 0.009, 0.95, "Wilson, checked")
    assert numbers.number(0.0062, error=0.0051) == "0.01"
    assert numbers.number(0.0062, error=0.0051, ci=near) == "0.006"  # what is shown lies in its interval
    assert numbers.number(0.0, error=0.05) == "0.0"
    assert numbers.number(42.4, "MedR", error=300.0) == "40"


def test_ranks_of_examples_are_bounds(made):
    """Beyond the depth of a search every rank would look like the first after it."""
    shown = {}
    for approximate in (off(0.004), None):
        run = made.results(
            [made.entry(TASK, "en", "de", "e", "R@10", 0.3456, approximation=approximate)],
            [made.summary(TASK, "e", "R@10", 0.3456, approximation=approximate)],
            examples=made.examples([made.example("e", "en", "de", "worst", 0, above=20, tied=1)]),
        )
        shown[approximate is None] = as_html([run])
    assert "ranked 21 at best, of 365" in shown[False]
    assert "ranked 21 of 365" in shown[True] and "at best" not in shown[True]


def test_where_the_search_is_too_far_off_no_way_is_told(made):
    results = made_run(made, 0.4)
    (row,) = leaderboard(results, TASK, "R@10")
    assert row.normalized_text == "–"
    told = " ".join(verdict(results))
    assert "is not known, because the search is too inexact" in told and "%" not in told


def test_in_python_the_error_stands_beside_the_value(made):
    assert repr(made_run(made, 0.0038)).endswith(", off by up to 0.0038")


def test_ends_of_estimated_ranks_are_rounded_outwards(made):
    ci = Interval(12346.2, 13370.2, 0.95, "Woodruff")
    assert numbers.with_interval(12829.3, ci, "MedR", error=340.0) == "13000 [12300, 13400]"
    assert numbers.with_interval(12829.3, ci, "MedR") == "12829.3 [12346.2, 13370.2]"
