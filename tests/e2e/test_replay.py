"""Figures come out again on the real data: IKEA's Backretrieval, with compare, gate and plan on it."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from xlingual.cli.main import run

pytestmark = [
    pytest.mark.slow,
    pytest.mark.data,
    pytest.mark.filterwarnings("ignore::xlingual.errors.DataWarning"),
]
ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "results"
PAGE = json.loads((RESULTS / "backretrieval.json").read_text("utf-8"))["commands"]
CLAIMS = json.loads((RESULTS / "claims.json").read_text("utf-8"))["commands"]
OF_IKEA = [command for command in PAGE if "out/ikea#" in command]


def words(text):
    return " ".join(text.split())


@pytest.fixture(scope="module")
def printed():
    """Return what the committed run of the page's command printed."""
    return PAGE["python -m benchmarks.results_pages backretrieval"]["output"]


@pytest.fixture(scope="module")
def folder(real_data, printed, tmp_path_factory):
    """Run the first command that the page's run printed; return the folder in which out/ikea is then."""
    if not (real_data / "ikea").is_dir():
        pytest.skip(f"{real_data / 'ikea'} is missing")
    folder = tmp_path_factory.mktemp("replay")
    line = printed[0]["line"].replace("DATA", str(real_data)).replace("out/pages/ikea", "out/ikea")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert run(shlex.split(line)[1:]) == 0
    return folder


def test_the_table_of_ikea_comes_out_again(folder, printed, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    pages = __import__("benchmarks.results_pages", fromlist=["number"])
    content = json.loads((folder / "out" / "ikea" / "results.json").read_text("utf-8"))
    head, *rows = next(block["table"] for block in printed if "table" in block)
    assert len(rows) == 24
    for measure, column in (("R@10", head.index("BkR R@10")), ("SIM", head.index("SIM"))):
        found = pages.overall(content, measure)
        again = {name: pages.number(row["value"], row["ci"]) for name, row in found.items()}
        assert again == {row[0]: row[column] for row in rows}
    for name in [name for name in sys.modules if name.partition(".")[0] == "benchmarks"]:
        del sys.modules[name]


@pytest.mark.parametrize("command", OF_IKEA, ids=lambda command: command.split()[1])
def test_commands_print_what_the_page_shows(folder, command, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    assert run(shlex.split(command)[1:]) == 0
    shown = words(" ".join(block["line"] for block in PAGE[command]["output"])).removesuffix(" …")
    assert len(shown) > 100
    assert words(capsys.readouterr().out).startswith(shown)


def test_the_page_compares_passes_and_plans_on_ikea():
    assert [command.split()[1] for command in OF_IKEA] == ["compare", "gate", "plan"]


def test_a_claim_of_the_table_is_verified(folder, printed, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    assert run(["cite", "out/ikea", "--encoder", "ridge_2860"]) == 0
    claim = capsys.readouterr().out.strip()
    rows = next(block["table"] for block in printed if "table" in block)
    (cell,) = [row[2] for row in rows if row[0] == "ridge_2860"]
    assert claim.startswith(
        f"xlingual:bkr|R@10={cell.replace('0.', '.').replace(' ', '').strip()}|ridge_2860|"
    )
    assert run(["verify", claim, "--in", "out/ikea", "--inputs-only"]) == 0
    assert run(["verify", claim.replace("R@10=.3", "R@10=.4"), "--in", "out/ikea", "--inputs-only"]) == 1


def test_the_claims_of_the_index_are_those_of_the_table(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    assert run(["cite", "out/ikea"]) == 0
    own = capsys.readouterr().out.splitlines()
    assert len(own) == 24
    page = [block["line"] for block in CLAIMS["xlingual cite out/ikea"]["output"]]
    assert [line.rpartition("|")[0] for line in own] == [line.rpartition("|")[0] for line in page]
