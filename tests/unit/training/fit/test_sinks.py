"""Sinks: real TensorBoard files, stand-ins for the services, and failures that cost no training."""

import csv
import sys
from types import SimpleNamespace

import pytest

from xlingual.errors import DataWarning, InputError, MissingExtraError
from xlingual.training.loop import FitOptions, fit
from xlingual.training.trackers import numbers, parse_sink

LINE = {
    "epoch": 3,
    "loss": 0.5,
    "rate": 0.1,
    "parts": {"x": None, "y": 2.0},
    "validation": None,
    "seconds": 1.0,
}


def test_numbers_of_a_line_leave_out_what_is_null():
    assert numbers(LINE) == {"loss": 0.5, "rate": 0.1, "seconds": 1.0, "loss/y": 2.0}


def test_tensorboard_files_have_every_epoch_once(toy, tmp_path, log_of):
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    folder = tmp_path / "events"
    for epochs in (2, 4):
        recipe = toy()
        fit(
            recipe,
            FitOptions(epochs=epochs),
            tmp_path / "model",
            settings={"languages": ["en"], "deep": {"er": 1}},
            validate=recipe.validate,
            sinks=[parse_sink(f"tensorboard:{folder}")],
            resume=epochs == 4,
        )
    found = accumulator.EventAccumulator(str(folder)).Reload()
    lines = log_of(tmp_path / "model")
    assert [event.step for event in found.Scalars("loss")] == [1, 2, 3, 4]
    assert [e.value for e in found.Scalars("loss")] == pytest.approx([line["loss"] for line in lines])
    assert {"rate", "seconds", "loss/l1", "validation/score", "validation/mse"} <= set(
        found.Tags()["scalars"]
    )
    text = found.Tensors("settings/text_summary")[0].tensor_proto.string_val[0].decode()
    assert "deep.er = 1" in text and "fit.rate = 0.001" in text and "languages = ['en']" in text


@pytest.fixture
def calls(monkeypatch):
    """Put stand-ins in the place of mlflow and wandb; give what was called."""
    made = []

    def recorder(name):
        return lambda *given, **more: made.append((name, given, more))

    names = ("set_tracking_uri", "start_run", "log_params", "log_param", "log_metrics", "end_run")
    monkeypatch.setitem(sys.modules, "mlflow", SimpleNamespace(**{name: recorder(name) for name in names}))
    run = SimpleNamespace(log=recorder("log"), finish=recorder("finish"))
    init = lambda **more: made.append(("init", (), more)) or run  # noqa: E731
    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(init=init))
    return made


def test_mlflow(toy, tmp_path, calls):
    fit(
        toy(),
        FitOptions(epochs=2),
        tmp_path,
        settings={"beta": 0.5},
        sinks=[parse_sink("mlflow:http://x:5000")],
    )
    assert [name for name, *_ in calls] == [
        *("set_tracking_uri", "start_run", "log_params", "log_metrics", "log_metrics", "end_run")
    ]
    assert calls[0][1] == ("http://x:5000",) and calls[2][1][0]["beta"] == "0.5"
    assert calls[4][2] == {"step": 2} and "loss/l1" in calls[4][1][0]


def test_wandb(toy, tmp_path, calls):
    fit(toy(), FitOptions(epochs=1), tmp_path, settings={"beta": 0.5}, sinks=[parse_sink("wandb:mine")])
    assert [name for name, *_ in calls] == ["init", "log", "finish"]
    assert calls[0][2]["project"] == "mine" and calls[0][2]["config"]["fit.epochs"] == 1
    parse_sink("wandb").config({}, 0)
    assert calls[-1][2]["project"] is None


def test_a_file_of_csv_has_every_epoch_once_and_keeps_other_runs(toy, tmp_path, log_of):
    path = tmp_path / "all.csv"
    parse_sink(f"csv:{path}", "other").log({"loss": 9.0}, 4)
    for epochs in (2, 4):
        recipe = toy()
        options = {"settings": {}, "validate": recipe.validate, "resume": epochs == 4}
        fit(recipe, FitOptions(epochs=epochs), tmp_path / "m", sinks=[parse_sink(f"csv:{path}")], **options)
    parse_sink(f"csv:{path}").config({}, 3)  # the fourth epoch will be trained again
    lines = list(csv.DictReader(path.open(newline="")))
    assert [(line["run"], line["step"]) for line in lines] == [
        ("other", "4"),
        ("", "1"),
        ("", "2"),
        ("", "3"),
    ]
    assert [float(line["loss"]) for line in lines[1:]] == [line["loss"] for line in log_of(tmp_path / "m")][
        :3
    ]
    assert lines[1]["validation/score"] and not lines[0]["validation/score"]


@pytest.mark.parametrize("kind", ["mlflow", "wandb"])
def test_a_package_that_is_missing_is_named(kind, monkeypatch):
    monkeypatch.setitem(sys.modules, kind, None)
    with pytest.raises(InputError, match=f"needs the package {kind}: pip install {kind}"):
        parse_sink(kind).config({}, 0)


def test_tensorboard_that_is_missing_names_its_extra(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'xlingual\[track\]'"):
        parse_sink(f"tensorboard:{tmp_path}").config({}, 0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tensorbord:x", "Did you mean 'tensorboard'"),
        ("tensorboard", "needs a folder"),
        ("csv", "needs a file"),
        ("", "Write tensorboard:DIR"),
    ],
)
def test_what_is_no_sink_is_refused(text, message):
    with pytest.raises(InputError, match=message):
        parse_sink(text)


class Failing:
    """Fails at one epoch, and when it is closed."""

    def __init__(self, at):
        self.at, self.heard, self.closed = at, [], 0

    def config(self, settings, after):
        self.heard.append(after)

    def epoch(self, line):
        if line["epoch"] == self.at:
            raise ConnectionError("gone\naway")
        self.heard.append(line["epoch"])

    def close(self):
        self.closed += 1


def test_a_sink_that_fails_is_dropped_with_one_warning(toy, tmp_path, log_of):
    failing, good = Failing(2), Failing(None)
    with pytest.warns(DataWarning) as caught:
        fit(toy(), FitOptions(epochs=4), tmp_path, settings={}, sinks=[failing, good])
    (warning,) = [str(item.message) for item in caught]
    assert "sink Failing failed at epoch 2 (ConnectionError: gone away) and is dropped" in warning
    assert (failing.heard, failing.closed) == ([0, 1], 1)
    assert (good.heard, good.closed) == ([0, 1, 2, 3, 4], 1)
    assert len(log_of(tmp_path)) == 4


def test_sinks_are_closed_when_a_training_fails(toy, tmp_path):
    sink = Failing(None)
    with pytest.raises(InputError):
        fit(
            toy(spoil=lambda epoch, number: lambda loss: loss / 0),
            FitOptions(epochs=1),
            tmp_path,
            settings={},
            sinks=[sink],
        )
    assert sink.closed == 1


def test_a_sink_that_cannot_be_closed_is_reported_in_a_warning(toy, tmp_path):
    sink = Failing(None)
    sink.close = lambda: 1 / 0
    with pytest.warns(DataWarning, match="could not be closed"):
        fit(toy(), FitOptions(epochs=1), tmp_path, settings={}, sinks=[sink])
