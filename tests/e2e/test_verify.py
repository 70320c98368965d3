"""`xlingual verify` finds all kinds of tampering, and none where nothing changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from xlingual import Manifest, crosslingual_retrieval

MANIFEST = "s/manifest.parquet"
XLR = ("evaluate", "xlr", MANIFEST, "--pairs", "en-de,de-en", "--threads", "1")
TWO = ("--text-encoder", "v/good.{lang}.npy", "--text-encoder", "poor=v/bad.{lang}.npy")
BKR = ("evaluate", "bkr", *XLR[2:], "--image-encoder", "vectors:img.npy")


def edited(change: Callable[[Any], object], file: str = "r/results.json") -> None:
    """Change what a file of JSON holds."""
    content = json.loads(Path(file).read_text(encoding="utf-8"))
    change(content)
    Path(file).write_text(json.dumps(content), encoding="utf-8")


def one_byte(path: str) -> None:
    """Change a byte in the middle of a file."""
    content = bytearray(Path(path).read_bytes())
    content[len(content) // 2] ^= 1
    Path(path).write_bytes(bytes(content))


def manifest(change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> None:
    """Change rows of the manifest."""
    old = pq.read_table(MANIFEST)
    pq.write_table(pa.Table.from_pylist(change(old.to_pylist()), schema=old.schema), MANIFEST)


@pytest.fixture
def result(xlingual: Any) -> Any:
    """Return the command line, where `r` and `other` are results."""
    assert xlingual(*XLR, *TWO, "--out", "r", "--quiet").code == 0
    assert xlingual(*XLR, *TWO, "--out", "other", "--quiet", "--seed", "1", "--sample", "50").code == 0
    return xlingual


@pytest.mark.parametrize(
    "asked",
    [
        (*XLR, *TWO, "--seeds", "2", "--sample", "60"),
        (*BKR, *TWO, "--text-encoder", "chargram"),
        (*XLR, *TWO, "--measure", "RR", "--measure", "MedR"),
        ("evaluate", "corr", *BKR[2:], *TWO),
    ],
)
@pytest.mark.cases(2)
def test_nothing_is_found_where_nothing_changed(xlingual: Any, work: Path, asked: tuple[str, ...]) -> None:
    assert xlingual(*asked, "--out", "deep/r", "--quiet").code == 0
    done = xlingual("verify", "deep/r", "--json")
    found = json.loads(done.out)
    assert done.code == 0, found
    assert (found["outcome"], found["n_different"], found["problems"]) == ("equal", 0, [])
    assert list(Path("deep").iterdir()) == [Path("deep/r")]  # nothing is left behind


def test_a_suite_is_verified_step_by_step(result: Any, work: Path) -> None:
    Path("suite.toml").write_text(
        'out = "kept"\n[encoders]\ngood = "v/good.{lang}.npy"\npoor = "v/bad.{lang}.npy"\n'
        '[data.s]\nmanifest = "s"\npairs = "en-de"\n[tasks.xlr]\n'
        '[gates.new]\ncandidate = "good"\nbaseline = "poor"\nmargin = 0.1\n'
    )
    assert result("run", "suite.toml", "--set", "threads=1").code == 0
    done = result("verify", "kept", "--json")
    files = json.loads(done.out)["files"]
    steps = ["kept/s/xlr/results.json", "kept/s/xlr/gates/new/gate.json"]
    assert done.code == 0 and [(one["path"], one["outcome"]) for one in files] == [
        (one, "equal") for one in steps
    ]
    one_byte("v/good.de.npy")
    assert result("verify", "kept").code == 1


def test_of_what_was_in_memory_nothing_is_made_again(result: Any, work: Path) -> None:
    crosslingual_retrieval(Manifest.read(MANIFEST), ["chargram"], pairs=["en-de"]).write("python")
    done = result("verify", "python")
    assert done.code == 3 and "Python" in done.out


def test_results_that_are_derived_from_results(result: Any, work: Path) -> None:
    assert result("inspect", "r", "--out", "i", "--quiet").code == 0
    assert result("inspect", "r", "--no-examples", "--out", "bare", "--quiet").code == 0
    for folder in ("i", "bare"):
        assert "EQUAL" in result("verify", folder).out
    assert result("compare", "r", "--out", "c", "--quiet").code == 0
    assert result("gate", "r#good", "r#poor", "--margin", "0.01", "--out", "g", "--quiet").code == 0
    for folder in "cg":
        assert result("verify", folder, "--quiet").code == 0
    edited(lambda content: content["summary"][-1].update(value=0.5))
    for folder in "cg":
        result("verify", folder)
