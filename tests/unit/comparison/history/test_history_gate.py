"""The gate against the last run of a history that passed."""

from __future__ import annotations

import pytest

from xlingual import InputError, gate
from xlingual.results.document import plain


def passed(history, results, label=None, **options):
    """Record results and gate them as a CI does, and return the decision, which lies beside them."""
    folder = history.record(results, label)
    found = history.gate(folder, **options)
    found.write(folder / found.file)
    return found


def test_the_first_run_passes_and_later_ones_are_compared_with_the_last_that_passed(history, versions):
    first = passed(history, versions.xlr(0.4))
    assert (first.outcome, first.first, first.decisions, first.baseline) == ("pass", True, [], "")
    assert passed(history, versions.xlr(0.9)).outcome == "fail"
    third = passed(history, versions.xlr(0.4, 0))
    assert third.outcome == "pass" and third.baseline == "001#mine"  # not the one that failed
    gates = [[one.outcome for one in record.gates] for record in history.trend().series[0].records]
    assert gates == [["pass"], ["fail"], ["pass"]]


def test_the_decision_from_the_file_is_that_of_the_results(history, versions):
    base, candidate = versions.xlr(0.5), versions.xlr(0.6, 1)
    passed(history, base)
    found = history.gate(candidate)
    wanted = gate(candidate, base, margin=0.05)
    assert [plain(one) for one in found.decisions] == [plain(one) for one in wanted.decisions]
    assert (found.outcome, found.conditions) == (wanted.outcome, wanted.conditions)


def test_a_recorded_run_without_a_gate_is_no_baseline(history, versions):
    history.record(versions.xlr(0.4))
    assert history.gate(versions.xlr(0.9)).first


def test_a_run_that_is_gated_again_is_not_compared_with_itself(history, versions):
    passed(history, versions.xlr(0.4))
    again = versions.xlr(0.5, 1)
    first = passed(history, again)
    second = history.gate(again)
    assert second.baseline == first.baseline == "001#mine"


def test_runs_on_other_conditions_do_not_count_and_a_note_says_so(history, versions):
    passed(history, versions.xlr(0.4))
    found = history.gate(versions.xlr(0.9, sample=60))
    assert found.first and found.outcome == "pass"
    (note,) = [one for one in found.warnings if "other conditions" in one]
    assert "sample: " in note


def test_an_encoder_of_the_same_name_comes_first_else_any(history, versions):
    passed(history, versions.xlr(0.4))
    passed(history, versions.xlr(0.4, 5, name="other"))
    assert history.gate(versions.xlr(0.5)).baseline == "001#mine"
    assert history.gate(versions.xlr(0.5, name="new")).baseline == "other"


def test_a_decision_that_lies_beside_other_results_does_not_count(history, versions):
    folder = history.record(versions.xlr(0.4))
    history.gate(folder).write(folder / "gate.json")
    versions.xlr(0.5, 1).write(folder)  # evaluated again, and not gated
    assert history.gate(versions.xlr(0.4)).first


def test_a_baseline_or_a_history_is_needed_and_not_both(history, versions):
    results = versions.xlr(0.4)
    for options in ({}, {"baseline": results, "history": history.folder}):
        with pytest.raises(InputError, match="a gate needs one baseline"):
            gate(results, margin=0.05, **options)


def test_several_encoders_need_a_name(history, versions, folders):
    folder = folders.xlr("history/v1", [folders.given("a", 0.4), folders.given("b", 0.5, 1)])
    with pytest.raises(InputError, match="has 2 encoders: name one"):
        history.gate(folder)
    history.gate(f"{folder}#a").write(f"{folder}/gate.json")
    (record,) = history.trend().series[0].records
    assert [one.encoder for one in record.gates] == ["a"]
