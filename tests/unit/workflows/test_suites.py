"""What a suite's steps read, how its tables become requests, and its page where names are hostile."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from xlingual.report import page_of
from xlingual.report.render import html
from xlingual.requests import read, values
from xlingual.requests.evaluating import CrosslingualRetrievalRequest
from xlingual.results.suite import Evaluated, Gated, Headline, Suite
from xlingual.results.values import Interval
from xlingual.workflows.suites.inputs import changed, inputs
from xlingual.workflows.suites.reading import is_suite, read_suite

CONTENT = {
    "options": {"seed": 1, "threads": 1},
    "encoders": {"a": "random"},
    "data": {"x": {"manifest": "x.csv", "seed": 2, "encoders": ["b=chargram"]}},
    "tasks": {"xlr": {}, "again": {"task": "xlr", "seed": 3}},
}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_task_wins_over_its_data_these_over_the_suite_and_the_command_line_over_all() -> None:
    first, second = read_suite(CONTENT, "s.toml").steps
    assert (first.name, second.name) == ("x/xlr", "x/again")
    assert [values(step.request)["seed"] for step in (first, second)] == [2, 3]
    assert values(first.request)["text_encoders"] == ("a=random", "b=chargram")
    assert values(first.request)["out"] == Path("results/x/xlr") and values(first.request)["threads"] == 1
    over = read_suite(CONTENT, "s.toml", out=Path("o"), over={"seed": 4}).steps
    assert [(values(step.request)["seed"], step.folder.parts[0]) for step in over] == [(4, "o")] * 2


@pytest.mark.parametrize(
    ("content", "answer"),
    [
        (CONTENT, True),
        ({"data": {"command": "data check", "manifest": "x"}}, False),
        ({"command": "gate", "data": {}}, False),
        ({"first": {"command": "gate"}}, False),
        ({"tasks": ["bkr"]}, True),
    ],
)
def test_files_of_commands_are_no_suites(content: dict[str, object], answer: bool) -> None:
    assert is_suite(content) is answer


def test_files_within_specs_are_inputs_and_their_bytes_count() -> None:
    Path("v").mkdir()
    for name in ("v/m.en.npy", "v/m.de.npy", "v/other.en.npy", "fit.csv", "x.csv"):
        np.save(name, np.zeros(2)) if name.endswith("npy") else Path(name).write_text(name)
    specs = ["v/m.{lang}.npy", "lsa:?fit=fit.csv#train"]
    request = read(CrosslingualRetrievalRequest, {"manifest": "x.csv", "text-encoder": specs})
    before = inputs(request)
    assert list(before) == ["fit.csv", "v/m.de.npy", "v/m.en.npy", "x.csv"]
    Path("fit.csv").touch()
    assert inputs(request) == before
    Path("fit.csv").write_text("another")
    assert changed(before, inputs(request)) == ["fit.csv"]
    Path("v/m.fr.npy").write_bytes(b"")
    assert changed(before, inputs(request)) == ["fit.csv", "v/m.fr.npy"]


def test_the_page_escapes_names_and_names_what_is_absent() -> None:
    interval = Interval(0.4, 0.6, 0.95, "percentile")
    rows = [Headline("<b>&a", 0.5, interval, "leader"), Headline("مثال", 0.3, interval, "behind")]
    where = ("shop", "bkr", "shop/bkr", ["Use <b>&a."])
    found = Suite(
        title="<script>",
        evaluations=[Evaluated(*where, kind="backretrieval", measure="R@10", numbers=rows)],
        gates=[Gated("shop", "bkr", "shop/bkr/gates/g", ["FAIL: it is worse."], name="g", outcome="fail")],
        absent=["shop/xlr"],
        run={"date": "2026-01-02T03:04:05+00:00"},
    )
    text = html.render(page_of(found))
    assert "<script>" not in text and "<b>&a" not in text and "&lt;script&gt;" in text
    assert "shop/xlr is part of this suite and not computed yet" in text and "2026-01-02" in text
    assert 'href="shop/bkr/report.html"' in text and text.index("FAIL") < text.index("Use ")
