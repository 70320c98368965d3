"""`evaluate --record`, `history` and `gate --against last-passing` as commands."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from xlingual import History
from xlingual.cli.main import run

ITEMS = 60


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """A folder with a manifest, and a function that evaluates a version of an encoder."""
    monkeypatch.chdir(tmp_path)
    rows = [
        {"id": f"{lang}{i}", "lang": lang, "text": f"{lang} {i}", "item": f"i{i}"}
        for lang in ("en", "de")
        for i in range(ITEMS)
    ]
    (tmp_path / "shop.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    def evaluate(version: str, noise: float, *more: str) -> int:
        rng = np.random.default_rng(3)
        for lang in ("en", "de"):
            vectors = np.eye(ITEMS) + noise * rng.standard_normal((ITEMS, ITEMS))
            np.save(tmp_path / f"{version}.{lang}.npy", vectors.astype(np.float32))
        command = [
            "evaluate",
            "xlr",
            "shop.jsonl",
            "--text-encoder",
            f"search=vectors:{version}.{{lang}}.npy",
        ]
        return run([*command, "--measure", "R@1", "--out", f"out/{version}", "--no-store", "--quiet", *more])

    return evaluate


def recorded(version: str) -> list[str]:
    return ["--record", "h.sqlite", "--label", version]


def test_a_weekly_run_in_ci(shop, capsys, tmp_path):
    """Versions are evaluated, gated against the last that passed and recorded; a loss fails and is named."""
    codes = []
    for version, noise in (("v1", 0.1), ("v2", 0.1), ("v3", 0.3), ("v4", 0.1)):
        assert shop(version, noise) == 0
        gate = ["gate", f"out/{version}", "--against", "last-passing", "--margin", "0.05", "--quiet"]
        codes.append(run([*gate, *recorded(version), "--junit", f"{version}.xml"]))
    assert codes == [0, 0, 1, 0]
    assert (
        'tests="1" failures="0"' in (tmp_path / "v1.xml").read_text()
        and "first run" in (tmp_path / "v1.xml").read_text()
    )
    capsys.readouterr()
    assert run(["history", "h.sqlite", "--out", "h.html", "--export", "h.parquet"]) == 0
    shown = capsys.readouterr().out
    assert "search got better with v4" in shown and "search worse with v3" in shown and "●" in shown
    assert "search got better with" in (tmp_path / "h.html").read_text(encoding="utf-8").replace(
        "<bdi>", ""
    ).replace("</bdi>", "").replace("<b>", "").replace("</b>", "")
    assert run(["history", "h.sqlite", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    line = found["series"][0]["lines"][0]
    assert [point["change"] and point["change"]["outcome"] for point in line["points"]] == [
        *(None, "unchanged", "worse", "better")
    ]
    assert [one["gates"][0]["outcome"] for one in found["series"][0]["records"]] == [
        "pass",
        "pass",
        "fail",
        "pass",
    ]


def test_evaluate_records_and_old_folders_are_imported(shop, capsys):
    assert shop("v1", 0.1, *recorded("v1")) == 0
    assert shop("v2", 0.3) == 0
    capsys.readouterr()
    assert run(["history", "h.sqlite", "--import", "out/v2", "--import", "out/v1", "--label", "x"]) == 2
    assert "--label names one folder" in capsys.readouterr().err
    assert run(["history", "h.sqlite", "--import", "out/v2", "--label", "v2", "--by", "label"]) == 0
    assert "search got worse with v2" in capsys.readouterr().out
    assert [one.label for one in History("h.sqlite").records] == ["v1", "v2"]
    assert run(["history", "h.sqlite", "--import", "out/v1", "--quiet"]) == 0
    assert len(History("h.sqlite").records) == 2  # it is there already


def test_recording_that_cannot_work_is_refused_before_the_evaluation(shop, capsys, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    for options, said in (
        (["--record", "notes.txt"], "no SQLite file"),
        (["--record", "none/h.sqlite"], "there is no folder"),
        (["--label", "v1"], "add --record FILE"),
    ):
        assert shop("v1", 0.1, *options) == 2
        assert said in capsys.readouterr().err and not (tmp_path / "out").exists()
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_gate_needs_a_baseline_or_a_history(shop, capsys):
    assert shop("v1", 0.1) == 0
    for options, said in (
        ([], "the baseline is missing"),
        (["--against", "last-passing"], "needs a history: say which with --history"),
        (["out/v1", "--against", "last-passing", "--history", "h.sqlite"], "stand in place of a baseline"),
    ):
        assert run(["gate", "out/v1", "--margin", "0.05", *options]) == 2
        assert said in capsys.readouterr().err
    assert (
        run(["gate", "out/v1", "--margin", "0.05", "--against", "last-passing", "--history", "h.sqlite"]) == 0
    )
    assert "is the first run on these conditions" in capsys.readouterr().out
    assert History("h.sqlite").records == []  # only --record writes
    gate = ["gate", "out/v1", "--margin", "0.05", "--against", "last-passing", "--history", "h.sqlite"]
    assert run([*gate, "--record", "h.sqlite"]) == 0 and run(gate) == 0
    assert "no other run that passed" in " ".join(capsys.readouterr().out.split()), (
        "it is not its own baseline"
    )


def test_short_names_of_tasks_are_known(shop, capsys):
    assert shop("v1", 0.1, *recorded("v1")) == 0
    for name in ("xlr", "XLR", "crosslingual-retrieval"):
        assert run(["history", "h.sqlite", "--task", name, "--quiet"]) == 0
    capsys.readouterr()
    assert run(["history", "h.sqlite", "--task", "xrl"]) == 2
    assert "no results of the task 'xrl'. Did you mean 'xlr'?" in capsys.readouterr().err
    assert shop("v2", 0.1) == 0
    assert run(["gate", "out/v2", "out/v1", "--margin", "0.1", "--task", "xlr", "--quiet"]) == 0
    assert run(["gate", "out/v2", "out/v1", "--margin", "0.1", "--task", "bkr", "--quiet"]) == 2
    assert "Tasks: crosslingual-retrieval, xlr" in capsys.readouterr().err


def test_another_encoder_of_results_that_passed_is_compared_with_it(shop, capsys):
    assert shop("poor", 3.0) == 0 and shop("v1", 0.1, "--text-encoder", "poor=vectors:poor.{lang}.npy") == 0
    gate = ["--against", "last-passing", "--margin", "0.05", "--record", "h.sqlite", "--quiet"]
    assert [run(["gate", f"out/v1#{name}", *gate]) for name in ("search", "poor", "search")] == [0, 1, 0]


def test_a_history_that_cannot_be_written_is_refused_before_any_work(shop, capsys, monkeypatch):
    assert shop("v1", 0.1, *recorded("v1")) == 0
    capsys.readouterr()
    monkeypatch.setattr("os.access", lambda path, mode: mode != os.W_OK or path != Path("h.sqlite"))
    assert shop("v2", 0.1, *recorded("v2")) == 2
    assert "h.sqlite is read-only" in capsys.readouterr().err
    assert run(["history", "h.sqlite", "--quiet"]) == 0
