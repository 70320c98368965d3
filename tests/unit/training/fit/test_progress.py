"""What a person sees of a training, and the log where it was cut."""

import pytest

from xlingual.training import loop
from xlingual.training.loop import FitOptions, ValidationScores, fit, read_log


@pytest.fixture
def heard(monkeypatch):
    """Give what was reported, with a clock that moves a second at each look."""
    clock = iter(range(10**6))
    monkeypatch.setattr(loop, "monotonic", lambda: float(next(clock)))
    calls = []
    return calls, lambda *call: calls.append(call)


def scores(model, epoch):
    return ValidationScores([10.0, 412.34, 3.0][epoch - 1])


def test_the_line_counts_the_steps_of_the_whole_training(toy, tmp_path, heard):
    calls, report = heard
    fit(toy(), FitOptions(epochs=3), tmp_path, settings={}, validate=scores, progress=report)
    steps = [call for call in calls if call[2] >= 0]
    assert [done for what, done, _ in steps if "loss" in what] == list(range(1, 16))
    assert {total for *_, total in steps} == {15}
    assert steps[0][0].startswith("training · epoch 1/3 · loss ") and "best" not in steps[0][0]
    assert steps[0][0].endswith(" · rate 0.001")
    assert steps[-2][0].startswith("training · epoch 3/3 · loss ") and steps[-2][0].endswith(" · best 412.3")
    assert steps[-1] == ("training · epoch 3/3 · validation · best 412.3", 15, 15)
    sentences = [what for what, _, total in calls if total < 0]
    assert [text.split(" · ")[0] for text in sentences] == ["epoch 1/3", "epoch 2/3", "epoch 3/3"]
    assert "score 412.34, the best so far" in sentences[1] and "best" not in sentences[2]


def test_steps_are_reported_ten_times_a_second_at_most(toy, tmp_path, heard, monkeypatch):
    calls, report = heard
    clock = iter(range(10**6))
    monkeypatch.setattr(loop, "monotonic", lambda: next(clock) / 25)
    fit(toy(), FitOptions(epochs=3), tmp_path, settings={}, progress=report)
    assert len([call for call in calls if "loss" in call[0] and call[2] >= 0]) == 5


def test_a_continued_training_counts_what_was_done(toy, tmp_path, heard):
    calls, report = heard
    fit(toy(), FitOptions(epochs=1), tmp_path, settings={})
    fit(toy(), FitOptions(epochs=2), tmp_path, settings={}, resume=True, progress=report)
    assert calls[0] == ("continuing after epoch 1", 0, -1)
    assert calls[1][1:] == (6, 10) and calls[1][0].startswith("training · epoch 2/2")


def test_a_log_that_was_cut_keeps_its_whole_lines(toy, tmp_path):
    fit(toy(), FitOptions(epochs=2), tmp_path, settings={})
    path = tmp_path / "log.jsonl"
    path.write_bytes(path.read_bytes()[:-7])
    assert [line["epoch"] for line in read_log(path)] == [1]
    assert read_log(tmp_path / "none.jsonl") == []
