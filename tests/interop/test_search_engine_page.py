"""docs/results/search-engine.md, from answers of _msearch to the gate, with the numbers that it shows."""

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("bm25s")

from xlingual.cli.main import run

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "results" / "search-engine.md").read_text(encoding="utf-8")
TUTORIAL = (DOCS / "tutorials" / "search-engine.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")
def test_from_answers_to_the_gate(real_data, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XLINGUAL_STORE", str(tmp_path / "store"))
    (tmp_path / "xquad_r").symlink_to((real_data / "xquad_r").resolve())
    data, judge, gate, by_files = blocks("bash")
    (engine,) = blocks("python")

    def shell(block):
        for line in block.replace("\\\n", "").splitlines():
            assert run(shlex.split(line)[1:]) == 0, capsys.readouterr().err
        return capsys.readouterr().out

    shell(data)
    exec(compile(engine, "engine.py", "exec"), {})
    shown = shell(judge)
    leaderboard = re.search(r"```\n(    system .*?)```", PAGE, re.DOTALL)[1]
    assert leaderboard in shown
    assert "engine has no results for 508 of 4,004 queries, which count as misses" in shown
    verdict = re.search(r"```\n( PASS.*?)```", PAGE, re.DOTALL)[1]
    assert verdict in shell(gate)
    kept, found = (
        json.loads(path.read_text(encoding="utf-8"))["results"]
        for path in (DOCS / "results" / "search-engine.json", Path("judged/results.json"))
    )
    assert [(one["encoder"], one["value"], one["ci"]) for one in found] == [
        (one["encoder"], pytest.approx(one["value"], abs=1e-9), pytest.approx(one["ci"], abs=1e-6))
        for one in kept
    ]

    answers = json.loads(Path("answers.json").read_text())["responses"]
    halves = [{"took": 3, "responses": part} for part in (answers[:1000], answers[1000:])]
    Path("new.json").write_text("\n".join(map(json.dumps, halves)))  # two requests
    worse = [{"hits": {"hits": one["hits"]["hits"][1:]}} for one in answers]
    Path("old.json").write_text(json.dumps({"responses": worse}))
    assert "PASS: new is" in shell(by_files)


@pytest.mark.skipif(not shutil.which("jq"), reason="no jq")
def test_the_request_is_made_of_the_queries(tmp_path):
    (tmp_path / "search").mkdir()
    queries = [{"id": f"de:{n}", "lang": "de", "text": f'Wer "{n}"?\n'} for n in range(3)]
    (tmp_path / "search" / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)))
    (make,) = re.findall(r"^jq .*$", TUTORIAL, re.MULTILINE)
    subprocess.run(make, shell=True, cwd=tmp_path, check=True)
    lines = [json.loads(line) for line in (tmp_path / "searches.ndjson").read_text().splitlines()]
    assert lines[::2] == [{}] * 3
    assert [one["query"]["match"]["text"] for one in lines[1::2]] == [one["text"] for one in queries]
    assert {one["size"] for one in lines[1::2]} == {100}
