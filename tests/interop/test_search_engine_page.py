"""docs/search-engine.md from answers of _msearch to the gate, on XQuAD-R, with the numbers that it shows."""

import json
import os
import re
import shlex
import shutil
from pathlib import Path

import pytest

pytest.importorskip("bm25s")

from xlingual.cli.main import run

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "search-engine.md").read_text(encoding="utf-8")
DATA = Path(os.environ.get("XLINGUAL_DATA", "../shared/data")).resolve() / "xquad_r"


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.mark.skipif(not DATA.is_dir(), reason="no XQuAD-R")
@pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning")
def test_from_answers_to_the_gate(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XLINGUAL_STORE", str(tmp_path / "store"))
    (tmp_path / "xquad_r").symlink_to(DATA)
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

    judge = "xlingual evaluate retrieval pool --split test --trec runs --trec-depth 100 --quiet"
    shell(f"{judge} --text-encoder bm25: --text-encoder random")
    shutil.copy("runs/bm25.run", "new.trec")
    shutil.copy("runs/random.run", "old.trec")
    assert "PASS" in shell(by_files)
