"""`xlingual study analyse` end to end: a study on disk, rated by three, and what it refuses."""

import json
from datetime import UTC, datetime
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import pytest

from xlingual.results.study import StudyAnalysis
from xlingual.study.folder import ANSWERS, read_key, read_study, write_study
from xlingual.study.records import Answers, Rating

HERE = Path(__file__).parents[1] / "unit" / "study"
rated = SimpleNamespace(**run_path(str(HERE / "rated.py")))
FEW = ("--replicates", "199")


def better(rater, query, suggestion):
    if suggestion.endswith("c"):
        return 4
    return 1 if "a" in suggestion or (query in ("q1", "q4", "q7") and suggestion.endswith("0")) else 3


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a study of twelve queries, not rated yet."""
    monkeypatch.chdir(tmp_path)
    bkr = {
        name: {f"q{q}": float((q + shift) % 3 > 0) for q in range(12)} for name, shift in (("a", 1), ("b", 0))
    }
    study, key = rated.study_of(queries=12, per_system=3, raters=3, controls=4, bkr=bkr)
    write_study(tmp_path / "STUDY", study, key, "# Which texts fit?\n")
    return tmp_path / "STUDY"


def rate(folder, raters=("1", "2", "3"), **options):
    study, _ = rated.study_of(queries=12, per_system=3, raters=3, controls=4)
    ratings = rated.rate(study, better, raters=raters, **options)
    Answers(study.id, tuple(ratings)).write(folder / ANSWERS / "all.json")


def test_a_verdict_in_the_terminal_and_files(folder, xlingual, tmp_path):
    rate(folder)
    outcome = xlingual("study", "analyse", "STUDY", "--out", "out", "--report", *FEW)
    assert outcome.code == 0, outcome.err
    assert "12 times" in " ".join(outcome.out.split()) and "Traceback" not in outcome.err
    found = StudyAnalysis.read(tmp_path / "out")
    assert found.pairs[0].outcome == "better" and found.n_raters == 3 and found.bkr[0].measure == "R@10"
    assert "<html" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    again = xlingual("report", "out", "--out", "page.html")
    assert again.code == 0 and (tmp_path / "page.html").is_file()


def test_json_is_the_file(folder, xlingual, tmp_path):
    rate(folder)
    outcome = xlingual("study", "analyse", "STUDY", "--json", "--out", "out", *FEW)
    assert json.loads(outcome.out) == json.loads((tmp_path / "out" / "analysis.json").read_text("utf-8"))
    again = xlingual("study", "analyse", "STUDY", "--format", "json", *FEW)
    assert json.loads(again.out)["systems"] == json.loads(outcome.out)["systems"]


def test_tables_for_other_programs(folder, xlingual):
    rate(folder)
    xlingual("study", "analyse", "STUDY", "--format", "csv", *FEW).out.splitlines()
    assert "| systems |" in xlingual("study", "analyse", "STUDY", "--format", "markdown", *FEW).out


def test_from_two_encoders_to_a_verdict(work, xlingual):
    """A new study of real suggestions, rated by somebody who likes what one encoder found."""
    systems = ("--system", "good=v/good.{lang}.npy", "--system", "bad=v/bad.{lang}.npy")
    layout = (
        "--queries",
        "15",
        "--per-system",
        "3",
        "--raters",
        "1",
        "--repeats",
        "0.4",
        "--controls",
        "0.5",
    )
    made = xlingual(
        *("study", "new", "s", "--source", "en", "--target", "de", "--image-encoder", "img.npy"),
        *(*systems, *layout, "--out", "STUDY"),
    )
    assert made.code == 0, made.err
    study = read_study("STUDY")
    key = read_key("STUDY", study)

    def score(suggestion):
        if suggestion in key.controls:
            return key.controls[suggestion]
        return 1 if any(credit.system == "good" for credit in key.credits[suggestion]) else 4

    given = [
        Rating(
            "1", page.query, one, page.occasion, score(one), datetime(2026, 1, 1, 0, place, tzinfo=UTC), 2.0
        )
        for place, page in enumerate(study.orders[0])
        for one in page.suggestions
    ]
    Answers(study.id, tuple(given)).write(work / "answers.json")
    assert xlingual("study", "collect", "STUDY", "answers.json").code == 0
    outcome = xlingual("study", "analyse", "STUDY", "--json")
    found = json.loads(outcome.out)
    good, bad = found["systems"]
    assert (good["system"], bad["system"]) == ("good", "bad")
    assert good["share"] == 1 and bad["share"] < 0.5 and good["bkr"] > bad["bkr"]
    (pair,) = found["pairs"]
    assert pair["outcome"] == "better" and pair["wins"] == 15
    (rater,) = found["raters"]
    assert rater["n_missing"] == 0 and rater["flagged"] is None
    assert rater["repeats"] > 0 and rater["repeats_equal"] == 1
    assert rater["controls"] > 0 and rater["controls_passed"] == 1
    assert found["bkr"][0]["same_direction"] is True
    assert found["n_ratings"] == sum(each.occasion == 0 and each.suggestion in key.credits for each in given)
