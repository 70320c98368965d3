"""What a verdict says to do, before any number."""

from __future__ import annotations

from xlingual.report import verdict
from xlingual.report.findings.leads import advice
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
    found = made.results([], list(summaries))
    return advice(task_of(TASK), rows_of(made, *summaries), found, **more)


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


def test_what_to_do_then_what_the_measure_is_then_the_numbers(made):
    found = verdict(made.results([], [mean(made, "a", 0.4), mean(made, "b", 0.3, 0.1)]))
    assert [sentence.partition(" ")[0] for sentence in found[:3]] == ["Use", "BkR", "a"]
