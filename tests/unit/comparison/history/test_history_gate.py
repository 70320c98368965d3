"""The gate against the last run that passed, from the file alone."""

from __future__ import annotations

import pytest

from xlingual import InputError, gate
from xlingual.results.document import plain


def passed(history, results, **options):
    """Gate results as a CI does, record them with the decision, and return the decision."""
    found = history.gate(results, margin=0.05, **options)
    history.record(results, gate=found)
    return found


def test_the_first_run_passes_and_later_ones_are_compared_with_the_last_that_passed(history, versions):
    first = passed(history, versions.xlr(0.4))
    assert (first.outcome, first.first, first.decisions, first.baseline) == ("pass", True, [], "")
    assert passed(history, versions.xlr(0.9)).outcome == "fail"
    third = passed(history, versions.xlr(0.4, 0))
    assert third.outcome == "pass" and third.baseline == "record 1#mine"  # not the one that failed
    assert [[one.outcome for one in record.gates] for record in history.records] == [
        ["pass"],
        ["fail"],
        ["pass"],
    ]


def test_the_decision_from_the_file_is_that_of_the_results(history, versions):
    base, candidate = versions.xlr(0.5), versions.xlr(0.6, 1)
    passed(history, base)
    found = history.gate(candidate, margin=0.05)
    wanted = gate(candidate, base, margin=0.05)
    assert [plain(one) for one in found.decisions] == [plain(one) for one in wanted.decisions]
    assert (found.outcome, found.conditions) == (wanted.outcome, wanted.conditions)


def test_a_recorded_run_without_a_gate_is_no_baseline(history, versions):
    history.record(versions.xlr(0.4))
    assert history.gate(versions.xlr(0.9), margin=0.05).first


def test_a_run_that_is_gated_again_is_not_compared_with_itself(history, versions):
    passed(
        history,
        versions.xlr(0.4),
    )
    again = versions.xlr(0.5, 1)
    first = passed(history, again)
    second = history.gate(again, margin=0.05)
    assert second.baseline == first.baseline == "record 1#mine"


def test_runs_on_other_conditions_do_not_count_and_a_note_says_so(history, versions):
    passed(
        history,
        versions.xlr(0.4),
    )
    found = history.gate(versions.xlr(0.9, sample_size=60), margin=0.05)
    assert found.first and found.outcome == "pass"
    (note,) = [one for one in found.warnings if "other conditions" in one]
    assert "sample: " in note


def test_an_encoder_of_the_same_name_comes_first_else_any(history, versions):
    passed(history, versions.xlr(0.4))
    passed(history, versions.xlr(0.4, 5, name="other"))
    assert history.gate(versions.xlr(0.5), margin=0.05).baseline == "record 1#mine"
    assert history.gate(versions.xlr(0.5, name="new"), margin=0.05).baseline == "other"


def test_a_label_names_the_baseline_unless_it_is_a_path(history, versions, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    results = versions.xlr(0.4)
    history.record(results, label="v1", gate=history.gate(results, margin=0.05))
    assert history.gate(versions.xlr(0.5), margin=0.05).baseline == "v1#mine"
    (tmp_path / "v1").mkdir()
    assert history.gate(versions.xlr(0.5), margin=0.05).baseline == "v1, record 1#mine"


def test_what_is_missing_is_named(history, versions):
    results = versions.xlr(0.4)
    for options, said in (
        ({}, "the baseline is missing"),
        ({"against": "last-passing"}, "needs a history"),
        ({"against": "best", "history": history.path}, "give 'last-passing'"),
        ({"baseline": results, "history": history.path}, "in place of a baseline"),
    ):
        with pytest.raises(InputError, match=said):
            gate(results, margin=0.05, **options)


def test_several_encoders_need_a_name(history, versions, folders, tmp_path):
    both = [folders.given("a", 0.4), folders.given("b", 0.5, 1)]
    folder = folders.xlr("two", both)
    with pytest.raises(InputError, match="has 2 encoders: name one"):
        history.gate(folder, margin=0.05)
    found = history.gate(f"{folder}#a", margin=0.05)
    with pytest.raises(InputError, match="name the one that the gate decided on"):
        history.record(folder, gate=found)
    made = history.record(f"{folder}#a", gate=found)
    assert [one.encoder for one in made.gates] == ["a"]
    assert {one.encoder for one in history.results(made).entries} == {"a", "b"}  # all are recorded
