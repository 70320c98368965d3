"""`history` and `gate --history` as commands."""

from __future__ import annotations

import json

import numpy as np
import pytest

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
        return run([*command, "--measure", "R@1", "--out", f"h/{version}", "--no-store", "--quiet", *more])

    return evaluate


def test_a_weekly_run_in_ci(shop, capsys, tmp_path):
    """Versions are evaluated and gated against the last that passed; a loss fails and is named."""
    codes = []
    for version, noise in (("v1", 0.1), ("v2", 0.1), ("v3", 0.3), ("v4", 0.1)):
        assert shop(version, noise) == 0
        gate = ["gate", f"h/{version}", "--history", "h", "--margin", "0.05", "--quiet"]
        codes.append(run([*gate, "--out", f"h/{version}", "--junit", f"{version}.xml"]))
    assert codes == [0, 0, 1, 0]
    assert (
        'tests="1" failures="0"' in (tmp_path / "v1.xml").read_text()
        and "first run" in (tmp_path / "v1.xml").read_text()
    )
    capsys.readouterr()
    assert run(["history", "h", "--out", "page"]) == 0
    shown = capsys.readouterr().out
    assert "search got better with v4" in shown and "search worse with v3" in shown
    assert "got better with" in (tmp_path / "page" / "report.html").read_text(encoding="utf-8")
    assert run(["history", "page", "--json"]) == 2  # no folder of results in it
    capsys.readouterr()
    assert run(["history", "h", "--json"]) == 0
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


def test_two_encoders_of_one_folder_are_no_versions(shop, capsys):
    """Gating both leaves one record with both: nothing is said to be unchanged."""
    assert shop("poor", 3.0) == 0 and shop("v1", 0.1, "--text-encoder", "poor=vectors:poor.{lang}.npy") == 0
    for name in ("search", "poor"):
        gate = ["gate", f"h/v1#{name}", "--history", "h", "--margin", "0.05", "--quiet"]
        run([*gate, "--out", f"h/v1/gates/{name}"])
    capsys.readouterr()
    assert run(["history", "h", "--encoder", "poor", "--json"]) == 0
    (series,) = json.loads(capsys.readouterr().out)["series"]
    by_label = {one["label"]: [gate["encoder"] for gate in one["gates"]] for one in series["records"]}
    assert by_label["v1"] == ["poor", "search"] and len(by_label) == len(series["records"])


def test_short_names_of_tasks_are_known(shop, capsys):
    assert shop("v1", 0.1) == 0
    for name in ("xlr", "XLR", "crosslingual-retrieval"):
        assert run(["history", "h", "--task", name, "--quiet"]) == 0
    capsys.readouterr()
    assert run(["history", "h", "--task", "xrl"]) == 2
    assert "no results of the task 'xrl'. Did you mean 'xlr'?" in capsys.readouterr().err
