"""What a verdict says to do, before any number."""

from __future__ import annotations

import pytest
from scipy.stats import norm

from xlingual.report import verdict
from xlingual.report.findings.advice import advice
from xlingual.report.findings.leads import may_be_luck
from xlingual.report.leaders import leaderboard
from xlingual.tasks import task_of

TASK = "backretrieval"
TO = "to match texts across languages"
MARKS = {"chance": 0.02, "oracle": 0.92, "normalized": 0.3}


def rows_of(made, *summaries):
    return leaderboard(made.results([], list(summaries)), TASK, "R@10")


def mean(made, encoder, value, behind=None, half=0.02, **changes):
    gap = {} if behind is None else {"behind": made.behind("a", behind, half)}
    return made.summary(TASK, encoder, "R@10", value, n_pairs=2, **MARKS | gap | changes)


def said(made, *summaries, **more):
    return advice(task_of(TASK), rows_of(made, *summaries), **more)


def test_one_is_plainly_best(made):
    rows = [mean(made, "a", 0.4), mean(made, "b", 0.3, 0.1), mean(made, "c", 0.2, 0.2)]
    assert said(made, *rows) == [f"Use a {TO}: it is clearly the best of these 3 encoders."]
    assert said(made, *rows[:2]) == [f"Use a {TO}: it is better than the other."]


def test_a_lead_that_holds_for_one_rival_may_be_luck_among_several(made):
    rows = [mean(made, "a", 0.4), mean(made, "b", 0.378, 0.022), mean(made, "c", 0.2, 0.2)]
    assert said(made, *rows[:2]) == [f"Use a {TO}: it is better than the other."]
    (found,) = said(made, *rows, mean(made, "d", 0.1, 0.3))
    assert found.endswith("s the lead may be luck.")


@pytest.mark.parametrize("sign", [1, -1])
def test_an_interval_for_several_rivals_is_as_wide_as_bonferroni_says(made, sign):
    n, half = 5, 0.02
    least = half * norm.ppf(1 - 0.025 / n) / norm.ppf(0.975)  # of a lead that is clear among n
    for lead, luck in ((least * 1.001, False), (least * 0.999, True), (half * 1.001, True)):
        rivals = [made.behind("a", sign * lead, half), *[made.behind("a", sign * 0.5, half)] * (n - 1)]
        assert may_be_luck([*rivals, None]) is luck
    assert not may_be_luck([made.behind("a", sign * half * 1.001, half)])  # one rival: as it stands


def test_level_ones_are_chosen_by_cost(made):
    rows = [mean(made, "a", 0.4), mean(made, "b", 0.39, 0.01), mean(made, "c", 0.2, 0.2)]
    (found,) = said(made, *rows)
    assert found.startswith(
        f"Use either of a and b {TO}: no difference between these 2 is found on this data."
    )
    assert found.endswith("Choose by cost, or evaluate more queries to tell them apart.")
    costs = {name: {"bytes_per_text": size} for name, size in (("a", 4096.0), ("b", 1024.0), ("c", 8.0))}
    assert said(made, *rows, costs=costs)[0].endswith("Choose by cost: b has the smallest vectors.")
    costs["b"]["bytes_per_text"] = 4096.0  # equal: no smallest
    assert said(made, *rows, costs=costs)[0].endswith("to tell them apart.")


def test_many_level_ones_are_counted(made):
    rows = [mean(made, f"e{i}", 0.39 - i / 1000, 0.01) for i in range(5)]
    (found,) = said(made, mean(made, "a", 0.4), *rows)
    assert found.startswith(f"Use any of a, e0, e1 and 3 more {TO}: no difference between these 6 is found")


@pytest.mark.parametrize("alone", [True, False])
def test_none_above_chance(made, alone):
    rows = [mean(made, "a", 0.03), mean(made, "b", 0.02, 0.01)][: 1 if alone else 2]
    (found,) = said(made, *rows)
    who = "a" if alone else "any of these 2 encoders"
    assert found.startswith(f"Do not use {who} {TO}: ") and "better than chance on this data." in found


def test_one_alone_is_not_called_the_best(made):
    (found,) = said(made, mean(made, "a", 0.4))
    assert found.startswith(f"a can be used {TO}; evaluate")
    unknown = mean(made, "a", 0.4, normalized=None)  # images tell too little to say what is good enough
    assert said(made, unknown) == []


def test_kinds_that_images_cannot_compare_are_not_chosen_from(made):
    rows = [mean(made, "a", 0.4), mean(made, "b", 0.3, 0.1)]
    assert said(made, *rows, unlike=True)[0].endswith("by Backretrieval: they are of different kinds.")
    for kinds, first in (
        ({"a": {"trained_on_images": True}}, "Do not choose between these encoders"),
        ({"a": {"kind": "general"}, "b": {"kind": "fitted"}}, "Do not choose between these encoders"),
        ({name: {"trained_on_images": True} for name in "ab"}, "Use a"),
    ):
        assert verdict(made.results([], rows, encoders=kinds))[0].startswith(first)


def test_without_a_paired_difference_nothing_is_chosen(made):
    assert said(made, mean(made, "a", 0.4), mean(made, "b", 0.3)) == [
        "Do not choose yet: a has the best value, but no test shows whether that is luck."
    ]


def test_correlations_and_missing_values_give_no_advice(made):
    assert said(made, mean(made, "a", None, ci=None), mean(made, "b", None, ci=None)) == []
    rows = leaderboard(
        made.results([], [made.summary("distance-correlation", "a", "CORR", 0.4, n_pairs=2)]),
        "distance-correlation",
        "CORR",
    )
    assert advice(task_of("distance-correlation"), rows) == []


def test_what_to_do_then_what_the_measure_is_then_the_numbers(made):
    found = verdict(made.results([], [mean(made, "a", 0.4), mean(made, "b", 0.3, 0.1)]))
    assert [sentence.partition(" ")[0] for sentence in found[:3]] == ["Use", "BkR", "a"]
    assert "among the 10 nearest" in found[1]
    assert (
        "among the 5 nearest"
        in verdict(made.results([], [made.summary(TASK, "a", "R@5", 0.4, n_pairs=2, **MARKS)]))[1]
    )
