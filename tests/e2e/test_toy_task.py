"""A task is a row: it appears in help, TOML, schema, terminal and report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from xlingual.report.blocks import Finding, Section
from xlingual.report.pages.evaluation import TaskPart
from xlingual.report.table import Table
from xlingual.requests.evaluating import ManifestOptions as ManifestTable
from xlingual.requests.record import Request
from xlingual.requests.shared import Keeping, Output, TextEncoders
from xlingual.results import Entry, Results, Summary
from xlingual.tasks import TASKS, Task


class CountRequest(Request, frozen=True, kw_only=True):
    """Count letters: how many letters the texts of each language have."""

    command = "evaluate letters"

    data: ManifestTable
    text_encoders: TextEncoders
    keeping: Keeping
    output: Output


def count_letters(manifest: Any, *, text_encoders: Any, store: Any = None, progress: Any = None) -> Results:
    tags = [manifest.languages[code] for code in manifest.language]
    nothing = dict.fromkeys(("ci", "chance", "oracle", "ceiling", "normalized"))
    entries, summary = [], []
    for tag in manifest.languages:
        same = {"task": "letters", "encoder": "counted", "image_encoder": None, "measure": "letters"}
        value = float(sum(len(text) for text, own in zip(manifest.text, tags, strict=True) if own == tag))
        more = {"n_source": 1, "n_target": 1, "n_tied": None, "seed": 0, "signature": "task:letters"}
        entries.append(Entry(**same, source=tag, target=tag, value=value, **nothing, **more))
        of = {"n_pairs": 1, "n_seeds": 1, "sd_seeds": None, "behind": None}
        summary.append(Summary(**same, source=tag, target=tag, value=value, **nothing, **of))
    return Results(entries, summary, pa.table({"task": pa.array([], pa.string())}))


def part(runs: Any, task: Task, budget: int) -> TaskPart:
    rows = [[row.source, f"{row.value:g}"] for run in runs for row in run.summary]
    table = Table.of_texts("letters by language", ["language", "letters"], rows, where="both")
    return TaskPart(Section(task.title, [table]), [Finding([f"{len(rows)} languages have letters."])])


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "toy", sys.modules[__name__])
    row = Task(
        name="letters", short=("abc",), title="Letters", sentence="How many letters are there?",
        measures=("letters",), request="toy:CountRequest", evaluation="toy:count_letters", page="toy:part",
    )  # fmt: skip
    monkeypatch.setitem(TASKS, "letters", row)  # type: ignore[arg-type]


@pytest.mark.usefixtures("toy")
def test_a_row_is_enough(xlingual: Any) -> None:
    assert "--text-encoder" in xlingual("evaluate", "abc", "--help").out
    schema = json.loads(xlingual("run", "--schema", "evaluate letters").out)
    assert schema["properties"]["command"]["enum"] == ["evaluate letters"]

    lines = [{"id": str(i), "lang": tag, "text": tag * 3} for i, tag in enumerate(("en", "de"))]
    Path("m.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    asked = ('command = "evaluate abc"', 'manifest = "m.jsonl"', 'text-encoder = ["random"]', 'out = "out"')
    Path("ask.toml").write_text("\n".join((*asked, "report = true")), encoding="utf-8")
    done = xlingual("run", "ask.toml")
    assert done.code == 0, done.err
    content = json.loads(Path("out/results.json").read_text(encoding="utf-8"))
    assert content["request"]["command"] == "evaluate letters" and content["results"][0]["value"] == 6.0
    Path("out/report.html").read_text(encoding="utf-8")
