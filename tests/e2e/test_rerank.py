"""`xlingual rerank` end to end on small lists: what it prints, writes and refuses."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

WORDS = ["ein", "das", "haus", "und", "baum", "ist", "da", "."]


@pytest.fixture
def lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make dev and test lists with a feature that follows their quality; `small.ref` is too short."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    for split in ("dev", "test"):
        lines, references = [], []
        for sentence in range(30):
            reference = random.choice(WORDS, 8)
            references.append(" ".join(reference))
            for _ in range(5):
                wrong = random.random(8) < random.random()
                words = np.where(wrong, random.choice(WORDS, 8), reference)
                right = (words == reference).sum()
                noise = random.normal(size=3)
                lines.append(
                    f"{sentence} ||| {' '.join(words)} ||| good= {right + noise[0]:.4f} tm= {noise[1]:.4f} "
                    f"{noise[2]:.4f} ||| {noise[1]:.4f}\n"
                )
        Path(f"{split}.nbest").write_text("".join(lines), encoding="utf-8")
        Path(f"{split}.ref").write_text("\n".join(references) + "\n", encoding="utf-8")
    Path("small.ref").write_text("ein haus\n", encoding="utf-8")
    return tmp_path


def tuned(run: Any, *more: str) -> Any:
    return run("rerank", "tune", "dev.nbest", "--references", "dev.ref", "--out", "w.json", *more)


@pytest.fixture
def run(lists: Path) -> Any:
    """Return what runs the command line where the lists are."""
    from xlingual.cli import main

    def call(*arguments: str) -> int:
        return main.run([str(argument) for argument in arguments])

    return call


def test_tune_apply_score(run: Any, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("sacrebleu")
    assert tuned(run, "--epochs", "5", "--folds", "5") == 0
    shown = capsys.readouterr()
    assert "mira, mean of 3 tunings ± sd" in shown.out and "the same, cross-validated" in shown.out
    assert "oracle" in shown.out and "tm[1]" in shown.out
    lines = shown.out.splitlines()
    assert lines[1].startswith(" Tuning gains ") and "on sentences held out." in " ".join(lines[1:3])
    begin = next(i for i, line in enumerate(lines) if "decoder's choice  " in line)
    assert len({line.index(".") for line in lines[begin : begin + 6]}) == 1  # points below each other
    assert shown.err == "wrote w.json\n"
    weights = json.loads(Path("w.json").read_text())
    assert weights["features"] == ["good", "tm[0]", "tm[1]"] and weights["settings"]["epochs"] == 5
    for tuning in range(3):
        out = f"best.{tuning}"
        assert (
            run("rerank", "apply", "test.nbest", "--weights", "w.json", "--tuning", tuning, "--out", out) == 0
        )
    assert len(Path("best.0").read_text().splitlines()) == 30
    Path("base").write_text(
        "".join(f"{line.split(' ||| ')[1]}\n" for line in Path("test.nbest").read_text().splitlines()[::5])
    )
    capsys.readouterr()
    score = (
        "rerank",
        "score",
        "best.0",
        "best.1",
        "best.2",
        "--references",
        "test.ref",
        "--baseline",
        "base",
    )
    more = ("--samples", "100", "--out", "s.json")
    assert run(*score, "--nbest", "test.nbest", *more) == 0
    shown = capsys.readouterr()
    for words in (
        "BLEU",
        "chrF2",
        "TER (smaller is better)",
        "anti-oracle",
        "mean of 3 systems ± sd",
        "nrefs:1",
    ):
        assert words in shown.out
    assert "no METEOR: it needs the language" in shown.out
    assert "3 systems gain" in shown.out and "3 of them significantly" in " ".join(shown.out.split())
    assert run(*score[:3], *score[5:], "--samples", "100") == 0
    assert "best.0 gains" in capsys.readouterr().out
    worse = (
        "rerank",
        "score",
        "base",
        "--references",
        "test.ref",
        "--baseline",
        "best.0",
        "--samples",
        "100",
    )
    assert run(*worse) == 0
    assert "base loses" in capsys.readouterr().out
    found = json.loads(Path("s.json").read_text())
    values = {one["name"]: one["scores"]["BLEU"]["value"] for one in found["systems"]}
    assert values["base"] < values["best.0"] <= values["oracle"] + 1e-9
    assert run(*score, *more, "--json", "--language", "de", "--test", "randomization") == 0
    content = json.loads(capsys.readouterr().out)
    assert content["test"] == "randomization" and "METEOR (exact + stem)" in content["signatures"]


def test_equal_runs_write_equal_files(run: Any) -> None:
    assert tuned(run, "--epochs", "4", "--standardize", "--quiet") == 0
    first = Path("w.json").read_bytes()
    assert tuned(run, "--epochs", "4", "--standardize", "--quiet") == 0
    assert Path("w.json").read_bytes() == first
    Path("dev.nbest").write_bytes(gzip.compress(Path("dev.nbest").read_bytes()))  # told by its content
    assert tuned(run, "--epochs", "4", "--standardize", "--quiet") == 0
    before, after = (json.loads(content) for content in (first, Path("w.json").read_bytes()))
    assert before.pop("provenance") != after.pop("provenance")  # it is another file
    assert before == after


def test_options_reach_the_algorithm(run: Any, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--C", "0.1", "--decay", "0.9", "--epochs", "2", "--no-shuffle", "--background", "paper")
    assert tuned(run, *options, "--precision", "float32", "--average", "updates", "--json") == 0
    settings = json.loads(capsys.readouterr().out)["settings"]
    expected = {"C": 0.1, "decay": 0.9, "epochs": 2, "shuffle": False, "background": "paper"}
    assert settings | expected | {"precision": "float32", "average": "updates"} == settings
    assert tuned(run, "--algorithm", "pro") == 0
    assert "one tuning instead of 3: all pairs are taken" in " ".join(capsys.readouterr().out.split())


def test_ablate(run: Any, capsys: pytest.CaptureFixture[str]) -> None:
    dev = ("rerank", "ablate", "dev.nbest", "--references", "dev.ref", "--epochs", "3", "--tunings", "2")
    assert run(*dev, "--out", "a.json") == 0
    shown = capsys.readouterr()
    assert "BLEU on 30 lists, 5-fold cross-validation" in shown.out and "without tm[0–1]" in shown.out
    assert "Having them helps: good." in shown.out and "Not significant: tm[0–1]." in shown.out
    good, tm = json.loads(Path("a.json").read_text())["rows"]
    assert good["gain"]["value"] > 1 and good["gain"]["ci"]["low"] > 0 and good["gain"]["p"] < 0.05
    assert tm["gain"]["ci"]["low"] < 0 < tm["gain"]["ci"]["high"]
    other = ("--on", "test.nbest", "--on-references", "test.ref", "--without", "good", "--json")
    assert run(*dev, *other) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["judged"] == "other lists" and [row["without"] for row in content["rows"]] == [["good"]]


def test_refusals(run: Any, capsys: pytest.CaptureFixture[str]) -> None:
    def refused(*arguments: str) -> str:
        capsys.readouterr()
        assert run("rerank", *arguments) == 2
        shown = capsys.readouterr()
        assert shown.out == "" and shown.err.startswith("error: ") and shown.err.count("\n") == 1
        return shown.err

    dev = ("tune", "dev.nbest", "--references", "dev.ref")
    assert "is a folder: name a file" in refused(*dev, "--out", ".")
    out = ("--out", "w.json")
    short = refused("tune", "dev.nbest", "--references", "small.ref", *out)
    assert "--references small.ref has 1 line, dev.nbest 30 lists: give the reference of each list" in short
    short = refused("ablate", *dev[1:], "--on", "dev.nbest", "--on-references", "small.ref")
    assert "--on-references small.ref has 1 line, dev.nbest 30 lists" in short
    assert "--epochs is an option of mira" in refused(*dev, *out, "--algorithm", "pro", "--epochs", "3")
    assert "--C is an option of mira" in refused(*dev, *out, "--algorithm", "pro", "--C", "3")
    assert "Invalid value for '--seed': found '-1'" in refused(*dev, *out, "--seed", "-1")
    assert "C, the largest step of MIRA" in refused(*dev, *out, "--C", "0")
    assert "epochs must be 1 or more" in refused(*dev, *out, "--epochs", "0")
    assert "--on and --on-references belong together" in refused("ablate", *dev[1:], "--on", "test.nbest")
    assert "Did you mean 'good'?" in refused("ablate", *dev[1:], "--without", "god,tm")
    assert "leave some" in refused("ablate", *dev[1:], "--without", "good,tm")
    assert "folds must be from 2 to the number of lists, 30: found 31" in refused(
        "ablate", *dev[1:], "--folds", "31"
    )
    other = ("--on", "test.nbest", "--on-references", "test.ref", "--folds", "5")
    assert "--folds belongs to cross-validation" in refused("ablate", *dev[1:], *other)
    assert "a set of features to leave out is empty" in refused("ablate", *dev[1:], "--without", ",")
    test = ("score", "dev.ref", "--references", "dev.ref", "--test", "bootstrap")
    assert "--test compares with --baseline" in refused(*test)
    assert "nowhere cannot be read" in refused("tune", "nowhere", "--references", "dev.ref", *out)
    assert not Path("w.json").exists()
    assert "w.json is missing: give what was written by xlingual rerank tune" in refused(
        "apply", "dev.nbest", "--weights", "w.json", "--out", "b"
    )
    assert tuned(run, "--quiet", "--epochs", "1") == 0
    Path("o.nbest").write_text("0 ||| a ||| lm= 1 ||| 1\n")
    error = refused("apply", "o.nbest", "--weights", "w.json", "--out", "b")
    assert "weights for good, tm[0], tm[1]; the list has lm" in error
    assert not Path("b").exists()
    assert "given twice" in refused("score", "dev.ref", "dev.ref", "--references", "dev.ref")


def test_empty_hypotheses_are_a_warning(run: Any, capsys: pytest.CaptureFixture[str]) -> None:
    text = Path("dev.nbest").read_text().splitlines(keepends=True)
    text[7] = "1 |||  ||| good= 0 tm= 0 0 ||| 0\n"
    Path("dev.nbest").write_text("".join(text))
    assert tuned(run, "--epochs", "1") == 0
    assert "warning: dev.nbest: 1 hypothesis is empty (line 8); kept\n" in capsys.readouterr().err
