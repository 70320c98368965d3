"""Evaluations in MLflow, Weights & Biases (offline) and TensorBoard, with the real libraries."""

import json
import time

import pytest

from xlingual import Manifest, backretrieval, write_scenes
from xlingual.integrations.tracking import log_results, numbers_of
from xlingual.training.trackers import parse_sink


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    path = write_scenes(tmp_path_factory.mktemp("scenes") / "data", n=40, languages=["en", "de"], seed=3)
    return backretrieval(
        Manifest.read(path), text_encoders=["chargram", "random:?dim=8"], image_encoder="pixels", store=None
    )


def test_mlflow_has_a_run_for_each_encoder(results, tmp_path):
    mlflow = pytest.importorskip("mlflow")
    uri = f"sqlite:///{tmp_path / 'runs.db'}"
    log_results(results, [f"mlflow:{uri}"])
    runs = {run.info.run_name: run for run in mlflow.MlflowClient(uri).search_runs(["0"])}
    assert set(runs) == {"chargram", "random"} and {run.info.status for run in runs.values()} == {"FINISHED"}
    for name, run in runs.items():
        expected = {key.replace("@", "_at_"): value for key, value in numbers_of(results, name).items()}
        assert run.data.metrics == expected
        assert run.data.params["encoder"] == name
        assert run.data.params["command"] == "evaluate backretrieval"


def test_wandb_writes_a_run_for_each_encoder(results, tmp_path, monkeypatch):
    wandb = pytest.importorskip("wandb")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    made, log = [], wandb.Run.log

    def kept(run, values, **more):
        made.append((run.name, dict(run.config), values, run.project))
        log(run, values, **more)

    monkeypatch.setattr(wandb.Run, "log", kept)
    log_results(results, ["wandb:tests"])
    assert [name for name, *_ in made] == ["chargram", "random"]
    for name, config, values, project in made:
        assert project == "tests" and config["encoder"] == name and config["measures"] == ["R@10"]
        assert values == numbers_of(results, name)
    files = list((tmp_path / "wandb").glob("offline-run-*/*.wandb"))
    assert len(files) == 2
    for path in files:  # a process of the library's own writes them
        end = time.monotonic() + 30
        while b"bkr/R@10/en-de/low" not in path.read_bytes() and time.monotonic() < end:
            time.sleep(0.1)
        assert b"bkr/R@10/en-de/low" in path.read_bytes()


def test_tensorboard_has_a_folder_for_each_encoder(results, tmp_path):
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    log_results(results, [f"tensorboard:{tmp_path}"])
    for name in ("chargram", "random"):
        found = accumulator.EventAccumulator(str(tmp_path / name)).Reload()
        values = {tag: found.Scalars(tag)[0].value for tag in found.Tags()["scalars"]}
        assert values == pytest.approx(numbers_of(results, name), rel=1e-6)


def test_a_training_logs_measures_with_their_names(tmp_path):
    mlflow = pytest.importorskip("mlflow")
    uri = f"sqlite:///{tmp_path / 'runs.db'}"
    sink = parse_sink(f"mlflow:{uri}")
    sink.config({"languages": ["en"], "fit": {"epochs": 2}}, 0)
    for epoch in (1, 2):
        sink.epoch(
            {"epoch": epoch, "loss": 1 / epoch, "validation": {"score": 0.1, "parts": {"en-de R@10": 0.5}}}
        )
    sink.close()
    (run,) = mlflow.MlflowClient(uri).search_runs(["0"])
    assert run.data.metrics == {"loss": 0.5, "validation/score": 0.1, "validation/en-de R_at_10": 0.5}
    assert run.data.params == {"languages": "['en']", "fit.epochs": "2"}
    assert json.dumps(run.data.metrics)
