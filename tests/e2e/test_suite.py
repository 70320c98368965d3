"""`xlingual run` of a suite: what is computed, what is kept, what the gates say, and what a kill leaves."""

from __future__ import annotations

import json
import random
import shutil
import signal
import time
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from runpy import run_path
from subprocess import DEVNULL
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from xlingual.results import Results
from xlingual.results.suite import Suite

refused = SimpleNamespace(**run_path(str(Path(__file__).with_name("refusals.py")))).refused

SUITE = """
title = "Scenes"
out = "kept"
[options]
threads = 1
examples = false
[encoders]
good = "v/good.{lang}.npy"
bad = "v/bad.{lang}.npy"
[data.scenes]
manifest = "s"
image-encoder = "img.npy"
pairs = "en-de"
[tasks.bkr]
[tasks.xlr]
sample = 50
"""
GATE = """
[gates.new]
tasks = ["xlr"]
candidate = "{candidate}"
baseline = "{baseline}"
margin = 0.01
"""
STEPS = ["scenes/bkr", "scenes/xlr"]


def write(text: str, name: str = "suite.toml") -> str:
    Path(name).write_text(text, encoding="utf-8")
    return name


def computed(outcome: Any) -> list[str]:
    """Return the steps that a run has computed, by what it says of them."""
    lines = [line.split(": ", 1) for line in outcome.err.splitlines() if ": computed in " in line]
    return [head.split()[1] for head, _ in lines]


def found(folder: Path) -> dict[str, Any]:
    """Return everything that a suite has found, without times."""
    out: dict[str, Any] = {}
    for path in sorted(folder.rglob("*.json")):
        content = json.loads(path.read_text(encoding="utf-8"))
        for name in ("run", "timings", "costs", "files", "diagnostics"):
            content.pop(name, None)
        out[path.relative_to(folder).as_posix()] = content
    for path in sorted(folder.rglob("per_query.parquet")):
        out[path.relative_to(folder).as_posix()] = pq.read_table(path).to_pydict()
    return out


class Links(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for name, value in attrs if tag == "a" and name == "href"]


@pytest.fixture
def suite(xlingual: Any, work: Path) -> Callable[..., Any]:
    """Return a function that runs the text of a suite with options."""

    def run(text: str, *options: object) -> Any:
        return xlingual("run", write(text), *options)

    return run


def test_a_suite_is_computed_once_and_its_results_are_those_of_the_commands(
    suite: Any, xlingual: Any
) -> None:
    done = suite(SUITE + GATE.format(candidate="good", baseline="bad"))
    assert done.code == 0, done.err
    assert computed(done) == [*STEPS, "scenes/xlr/gates/new"]
    again = suite(SUITE + GATE.format(candidate="good", baseline="bad"))
    assert again.code == 0 and computed(again) == [] and again.out == done.out
    encoders = ("--text-encoder", "good=v/good.{lang}.npy", "--text-encoder", "bad=v/bad.{lang}.npy")
    options = ("--pairs", "en-de", "--sample", "50", "--threads", "1", "--out", "alone", "--quiet")
    assert xlingual("evaluate", "xlr", "s", *encoders, *options).code == 0
    one, other = Results.read("kept/scenes/xlr"), Results.read("alone")
    assert one.entries == other.entries and one.request == other.request


def test_the_page_is_named_from_where_the_command_was_given(
    xlingual: Any, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(SUITE)
    Path("deep").mkdir()
    monkeypatch.chdir("deep")
    last = xlingual("run", "../suite.toml", "--only", "scenes/xlr").err.splitlines()[-1]
    assert Path(last.removeprefix("wrote ")).is_file(), last


@pytest.mark.parametrize(
    ("change", "steps"),
    [
        ("vectors", [*STEPS, "scenes/xlr/gates/new"]),
        ("date", []),
        ("images", ["scenes/bkr"]),
        ("setting", ["scenes/xlr", "scenes/xlr/gates/new"]),
        ("number", ["scenes/xlr"]),
        ("report", ["scenes/bkr"]),
        ("threads", []),
        ("margin", ["scenes/xlr/gates/new"]),
    ],
)
def test_only_what_changed_is_computed_again(suite: Any, change: str, steps: list[str]) -> None:
    text = SUITE + GATE.format(candidate="good", baseline="bad")
    assert suite(text).code == 0
    vectors = Path("v/bad.en.npy")
    match change:
        case "vectors":
            np.save(vectors, np.load(vectors)[::-1])
        case "date":
            vectors.touch()
            Path("s/manifest.parquet").touch()
        case "images":
            np.save("img.npy", np.load("img.npy") + np.float32(0.1) * np.eye(120, 16, dtype=np.float32))
        case "setting":
            text = text.replace("sample = 50", "sample = 40")
        case "number":
            path = Path("kept/scenes/xlr/results.json")
            path.write_text(path.read_text().replace('"n_seeds": 1', '"n_seeds": 2', 1))
        case "report":
            Path("kept/scenes/bkr/report.html").unlink()
        case "threads":
            text = text.replace("threads = 1", "threads = 2")
        case "margin":
            text = text.replace("margin = 0.01", "margin = 0.02")
    done = suite(text)
    assert done.code == 0, done.err
    assert computed(done) == steps


def test_images_in_files_are_looked_at(suite: Any) -> None:
    text = SUITE.replace('"img.npy"', '"pixels"').replace("[tasks.xlr]\nsample = 50\n", "")
    assert computed(suite(text)) == ["scenes/bkr"]
    one, other = sorted(Path("s/images").iterdir())[:2]
    content = other.read_bytes()
    one.unlink()
    one.write_bytes(content)
    assert computed(suite(text)) == ["scenes/bkr"] and computed(suite(text)) == []


def test_suites_in_a_folder_are_a_history(suite: Any, xlingual: Any) -> None:
    for label in ("v1", "v2"):
        assert suite(SUITE + GATE.format(candidate="good", baseline="bad"), "--out", f"h/{label}").code == 0
    shown = xlingual("history", "h", "--task", "crosslingual-retrieval", "--json")
    (series,) = json.loads(shown.out)["series"]
    assert [one["label"] for one in series["records"]] == ["v1", "v2"]
    assert all(one["gates"] for one in series["records"])


def test_the_record_of_a_suite_says_what_it_was_made_from(suite: Any) -> None:
    assert suite(SUITE).code == 0
    first = Suite.read("kept/suite.json").provenance
    assert suite(SUITE).code == 0  # from results that are there
    again = Suite.read("kept/suite.json").provenance
    assert first == again
    assert [one.path for one in first.inputs] == ["suite.toml"]
    origins = sorted(str(one.path) for one in first.derived_from)
    assert origins == [f"kept/{step}/results.json" for step in STEPS]


def test_the_command_line_wins_over_the_file(suite: Any, work: Path) -> None:
    (work / "elsewhere").mkdir()
    done = suite(SUITE, "--out", "other", "--set", "sample=30", "--only", "xlr")
    assert done.code == 0, done.err
    assert not Path("kept").exists() and computed(done) == ["scenes/xlr"]
    assert Results.read("other/scenes/xlr").request["sample"] == 30
    assert Suite.read("other").absent == ["scenes/bkr"]


def test_a_dry_run_says_why_and_writes_nothing(suite: Any) -> None:
    before = sorted(Path().rglob("*"))
    planned = suite(SUITE, "--dry-run")
    assert planned.code == 0 and "2 of 2 steps would be computed" in planned.out
    assert sorted(Path().rglob("*")) == [*before, Path("suite.toml")] or set(Path().rglob("*")) - set(
        before
    ) == {Path("suite.toml")}
    assert suite(SUITE).code == 0
    assert suite(SUITE, "--dry-run").out.startswith("scenes/bkr: kept\nscenes/xlr: kept\n0 of 2 steps")
    changed = suite(SUITE.replace("= 50", "= 40"), "--dry-run").out
    assert "scenes/xlr: sample changed" in changed and "1 of 2 steps" in changed


BROKEN = {
    "[dat.x]\nmanifest = 's'\n[tasks.bkr]": ["'dat' is not known", "Did you mean 'data'?"],
    "[data.x]\nmanifst = 's'\n[tasks.bkr]": ["[data.x] names no data", "manifest"],
    "[data.x]\nmanifest = 's'\npears = 'en-de'\n[tasks.bkr]": [
        "[data.x]",
        "'pears'",
        "Did you mean 'pairs'?",
    ],
    "[data.x]\nmanifest = 's'\n[tasks.retrieva]": ["no task 'retrieva'", "Did you mean 'retrieval'?"],
    "[data.x]\nmanifest = 's'\n[tasks.lareqa]": ["no task of this suite reads one"],
    "[data.x]\nmanifest = 's'\n[tasks.bkr]\nsede = 1": ["[tasks.bkr]", "'sede'", "Did you mean 'seed'?"],
    "[data.x]\nmanifest = 's'\n[tasks.bkr]\nseed = 'one'": ["[tasks.bkr]", "seed must be"],
    "[data.x]\nmanifest = 's'\n[tasks.bkr]\nout = 'x'": ["the suite gives 'out' itself"],
    "[data.x]\nmanifest = 's'\ntext-encoder = ['lsa']\n[tasks.bkr]": ["write encoders instead"],
    "[options]\nthread = 1\n[data.x]\nmanifest = 's'\n[tasks.bkr]": ["[options]", "Did you mean 'threads'?"],
    "[data.'a/b']\nmanifest = 's'\n[tasks.bkr]": ["is to be a folder"],
    "[data.x]\nmanifest = 's'\n[tasks.xlr]": ["text_encoders or runs", "name one system at least"],
    "tasks = 7\n[data.x]\nmanifest = 's'": ["tasks must be", "found 7"],
    "[encoders]\na = 1\n[data.x]\nmanifest = 's'\n[tasks.xlr]": ["encoders.a must be text, found 1"],
}


@pytest.mark.parametrize("text", BROKEN)
def test_what_is_wrong_is_named_with_its_place(suite: Any, text: str) -> None:
    refused(suite(text), "suite.toml", *(word for word in BROKEN[text] if word != "text_encoders or runs"))


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (
            "[gates.x]\ncandidate = 'god'\nbaseline = 'bad'\nmargin = 0.1",
            ["no encoder 'god'", "mean 'good'?"],
        ),
        (
            "[gates.x]\ncandidate = 'good'\nbaseline = 'bad'\nmargn = 0.1",
            ["'margn'", "Did you mean 'margin'?"],
        ),
        ("[gates.x]\ncandidate = 'good'\nbaseline = 'bad'", ["[gates.x]: margin is missing"]),
        ("[gates.x]\ntasks = 'xrl'\nmargin = 0.1", ["tasks has 'xrl'", "Did you mean 'xlr'?"]),
        ("[comparisons.x]\nalpah = 0.1", ["[comparisons.x]", "Did you mean 'alpha'?"]),
    ],
)
def test_gates_and_comparisons_are_checked_before_anything_is_computed(
    suite: Any, more: str, words: list[str]
) -> None:
    refused(suite(SUITE + more), "suite.toml", *words)
    assert not Path("kept").exists()


def test_one_word_names_the_task_of_a_suite(suite: Any) -> None:
    text = SUITE.partition("[tasks.bkr]")[0].replace("title", 'tasks = "bkr"\ntitle')
    assert computed(suite(text)) == ["scenes/bkr"]


def test_one_run_writes_a_folder_at_a_time(suite: Any, xlingual: Any) -> None:
    from xlingual.locks import writing_alone

    with writing_alone(Path("kept")):
        refused(suite(SUITE), "kept is being written by another process", "--out")
        assert suite(SUITE, "--dry-run").code == 0
    assert computed(suite(SUITE)) == STEPS
    assert sorted(path.name for path in Path("kept").iterdir()) == ["index.html", "scenes", "suite.json"]
    with writing_alone(Path("kept/scenes/xlr")):
        done = xlingual("evaluate", "xlr", "s", "--text-encoder", "random", "--out", "kept/scenes/xlr")
        refused(done, "kept/scenes/xlr is being written by another process")


def test_missing_data_are_named_before_anything_is_computed(suite: Any) -> None:
    text = SUITE + "[data.more]\nmanifest = 'more.csv'\ntasks = ['xlr']\n"
    refused(suite(text), "[data.more]: manifest more.csv: no such file or folder")
    assert not Path("kept").exists()
    refused(suite(text, "--dry-run"), "[data.more]: manifest more.csv: no such file or folder")


def test_ctrl_c_keeps_what_is_done(suite: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from xlingual.cli import suite as module

    answered = module.answer

    def interrupted(found: Any, request: Any) -> int:
        if request.command.endswith("retrieval") and "crosslingual" in request.command:
            raise KeyboardInterrupt
        return answered(found, request)

    with monkeypatch.context() as patch:
        patch.setattr(module, "answer", interrupted)
        suite(SUITE)
    assert not Path("kept/index.html").exists()
    assert computed(suite(SUITE)) == ["scenes/xlr"]


def killed_and_resumed(
    suite: Any, spawn: Any, undisturbed: dict[str, Any], moments: list[float], text: str
) -> None:
    """Kill runs after some seconds each, go on to the end, and compare with an undisturbed run."""
    for moment in moments:
        shutil.rmtree("kept")
        with spawn("run", write(text), ready=True, stderr=DEVNULL) as running:
            assert running.stdout.readline() == b"ready\n"
            time.sleep(moment)
            running.send_signal(signal.SIGKILL)
        done = suite(text)
        assert done.code == 0, done.err
        assert found(Path("kept")) == undisturbed, moment


@pytest.mark.parametrize("n", [2, pytest.param(12, marks=pytest.mark.slow)])
def test_runs_that_are_killed_go_on_to_equal_results(suite: Any, spawn: Any, n: int) -> None:
    text = SUITE + GATE.format(candidate="good", baseline="bad")
    begun = time.monotonic()
    assert suite(text).code == 0
    length = time.monotonic() - begun
    draw = random.Random(0)
    killed_and_resumed(
        suite, spawn, found(Path("kept")), [draw.uniform(0, 1.5 * length) for _ in range(n)], text
    )


@pytest.mark.slow
@pytest.mark.data
def test_the_example_runs_from_a_clone_to_its_page(xlingual: Any, real_data: Path, work: Path) -> None:
    examples = Path(__file__).parents[2] / "examples"
    shutil.copytree(examples, work / "project" / "examples")
    (work / "shared").mkdir()
    (work / "shared" / "data").symlink_to(real_data.resolve())
    done = xlingual("run", "project/examples/suite.toml")
    assert done.code == 0, done.err
    out = work / "project" / "out" / "suite"
    read = Suite.read(out)
    assert [(one.data, one.task) for one in read.evaluations] == [
        *(("ikea", task) for task in ("bkr", "xlr", "corr")),
        *(("emoji", task) for task in ("bkr", "xlr")),
        ("xquad_r", "lareqa"),
    ]
    assert [one.outcome for one in read.gates] == ["pass", "pass"] and not read.absent
    links = Links((out / "index.html").read_text(encoding="utf-8")).found
    assert len(links) == 9 and all((out / link).is_file() for link in links)
    best = {f"{one.data}/{one.task}": one.numbers[0].encoder for one in read.evaluations}
    assert best["ikea/bkr"] == best["ikea/xlr"] == "ridge" and best["emoji/bkr"] == "chargram"
    assert computed(xlingual("run", "project/examples/suite.toml")) == []
