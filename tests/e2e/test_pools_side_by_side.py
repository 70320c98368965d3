"""`xlingual evaluate multilingual-pool POOL1 POOL2`: one table, also of finished results, in every form."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import pytest

squads = SimpleNamespace(**run_path(str(Path(__file__).with_name("squads.py"))))
TITLE = "mAP, 2 pools side by side"
ENCODERS = ("--text-encoder", "chargram", "--text-encoder", "random:?dim=8")


@pytest.fixture
def evaluate(work: Path, xlingual: Any) -> Any:
    """Return the command on two pools, XQuAD-like and MLQA-like."""
    squads.write_squad("xquad", n=12, languages=("de", "en", "es"))
    squads.write_mlqa("mlqa")

    def command(*more: object, pools: tuple[str, ...] = ("xquad", "second=mlqa")) -> Any:
        return xlingual("evaluate", "lareqa", *pools, *ENCODERS, "--threads", "1", *more)

    return command


def content_of(folder: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(folder, "results.json").read_text(encoding="utf-8"))
    return found


def numbers(content: dict[str, Any]) -> dict[str, Any]:
    return {name: content[name] for name in ("results", "summary", "request")}


def test_each_pool_has_the_results_of_an_evaluation_of_its_own(evaluate: Any) -> None:
    both = evaluate("--out", "out", "--report", "--trec", "trec")
    assert both.code == 0, both.err
    assert TITLE in both.out
    head = next(line for line in both.out.splitlines() if line.startswith(" encoder") and "second" in line)
    assert head.split() == ["encoder", "xquad", "second"]
    for name, path in (("xquad", "xquad"), ("second", "mlqa")):
        alone = evaluate("--out", "alone", pools=(path,))
        assert alone.code == 0, alone.err
        assert numbers(content_of(f"out/{name}")) == numbers(content_of("alone"))
        assert content_of(f"out/{name}")["run"]["name"] == name
        assert "name" not in content_of("alone")["run"]
        assert Path("trec", name, "qrels.txt").is_file()
        assert "side by side" not in alone.out
    page = Path("out/report.html").read_text(encoding="utf-8")
    assert TITLE in page and "chargram (second)" in page and "Pool by pool" in page


def test_finished_results_are_joined_in_every_form(evaluate: Any, xlingual: Any) -> None:
    assert evaluate("--out", "out").code == 0
    folders = ("report", "out/xquad", "out/second")
    shown = {form: xlingual(*folders, "--format", form) for form in ("table", "markdown", "latex", "csv")}
    assert {one.code for one in shown.values()} == {0}
    again = evaluate()
    assert again.out[again.out.index(TITLE) :] == shown["table"].out[shown["table"].out.index(TITLE) :]
    values = {
        (name, row["encoder"]): row
        for name in ("xquad", "second")
        for row in content_of(f"out/{name}")["summary"]
        if row["source"] is None
    }
    rows = [row for row in csv.DictReader(io.StringIO(shown["csv"].out)) if row["table"] == TITLE]
    assert {(row["pool"], row["encoder"]) for row in rows} == values.keys()
    for row in rows:
        own = values[row["pool"], row["encoder"]]
        assert float(row["value"]) == own["value"] and float(row["value_low"]) == own["ci"]["low"]
        behind = own["behind"] and own["behind"]["value"]
        assert (float(row["behind"]) if row["behind"] else None) == behind
    best = f"{values['xquad', 'chargram']['value']:.3f}"
    assert "No encoder is above chance on xquad and second." in shown["markdown"].out  # so none is bold
    assert f"| chargram | {best} " in shown["markdown"].out
    assert f"chargram & {best} [" in shown["latex"].out and r"\toprule" in shown["latex"].out
    written = xlingual(*folders, "--out", "both.html", "--title", "Two")
    assert written.code == 0 and not written.out
    assert TITLE in Path("both.html").read_text(encoding="utf-8")


def test_json_holds_each_pool(evaluate: Any) -> None:
    found = json.loads(evaluate("--json").out)
    assert list(found["pools"]) == ["xquad", "second"]
    assert {row["task"] for row in found["pools"]["second"]["results"]} == {"multilingual-pool"}


@pytest.mark.parametrize(
    ("pools", "words"),
    [
        (("xquad", "./xquad"), "two pools are called 'xquad': name one of them, as in other="),
        (("xquad", "nowhere"), "nowhere: no such file or folder: expected a pool"),
        (("xquad", "v/a.questions.npy"), "a.questions.npy is a file of vectors, where a pool is expected"),
    ],
)
def test_what_is_no_pool_is_refused_before_any_work(evaluate: Any, pools: Any, words: str) -> None:
    found = evaluate("--out", "out", pools=pools)
    assert found.code == 2 and words in found.err and "Traceback" not in found.err
    assert not Path("out").exists()


def test_a_second_pool_that_cannot_be_read_is_refused_before_the_first_is_evaluated(evaluate: Any) -> None:
    squads.changed("en", lambda paragraph: paragraph.pop("context"), "xquad")
    found = evaluate("--out", "out", pools=("mlqa", "xquad"))
    assert found.code == 2 and "en.json" in found.err
    assert not Path("out/mlqa/results.json").exists()


def test_a_name_for_one_pool(evaluate: Any) -> None:
    assert evaluate("--out", "out", pools=("mine=xquad",)).code == 0
    assert content_of("out")["run"]["name"] == "mine" and content_of("out")["request"]["pool"] == "xquad"


def test_a_report_goes_somewhere(xlingual: Any, evaluate: Any) -> None:
    assert evaluate("--out", "out", pools=("xquad",)).code == 0
    found = xlingual("report", "out")
    assert found.code == 2 and "write the report with --out FILE, or print it with --format" in found.err
