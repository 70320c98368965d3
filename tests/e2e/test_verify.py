"""`xlingual verify` finds all kinds of tampering, and none where nothing changed."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

refused = SimpleNamespace(**run_path(str(Path(__file__).with_name("refusals.py")))).refused

MANIFEST = "s/manifest.parquet"
XLR = ("evaluate", "xlr", MANIFEST, "--pairs", "en-de,de-en", "--threads", "1")
TWO = ("--text-encoder", "v/good.{lang}.npy", "--text-encoder", "poor=v/bad.{lang}.npy")
BKR = ("evaluate", "bkr", *XLR[2:], "--image-encoder", "vectors:img.npy")


def edited(change: Callable[[Any], object], file: str = "r/results.json") -> None:
    """Change what a file of JSON holds."""
    content = json.loads(Path(file).read_text(encoding="utf-8"))
    change(content)
    Path(file).write_text(json.dumps(content), encoding="utf-8")


def table(change: Callable[[pa.Table], pa.Table], name: str = "per_query") -> None:
    """Change a table of the result, and the digest that the result lists, as a forger would."""
    path = Path("r") / f"{name}.parquet"
    pq.write_table(change(pq.read_table(path)), path)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    edited(lambda content: content["files"].__setitem__(path.name, digest))


def one_byte(path: str) -> None:
    """Change a byte in the middle of a file."""
    content = bytearray(Path(path).read_bytes())
    content[len(content) // 2] ^= 1
    Path(path).write_bytes(bytes(content))


def value_of_a_query(found: pa.Table) -> pa.Table:
    """Change one number."""
    values = found["value"].to_pylist()
    values[5] = 1.0 - values[5]
    return found.set_column(found.column_names.index("value"), "value", pa.array(values))


def another_row(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Change a text."""
    rows[3]["text_de"] = f"{rows[3]['text_de']}!"
    return rows


def swapped(one: str, other: str) -> None:
    """Exchange two files."""
    first, second = Path(one).read_bytes(), Path(other).read_bytes()
    Path(one).write_bytes(second)
    Path(other).write_bytes(first)


def manifest(change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> None:
    """Change rows of the manifest."""
    old = pq.read_table(MANIFEST)
    pq.write_table(pa.Table.from_pylist(change(old.to_pylist()), schema=old.schema), MANIFEST)


def first(content: Any) -> Any:
    """Return the first number of a result."""
    return content["results"][0]


# what was done → how, and the words by which verify says so
TAMPERED: dict[str, tuple[Callable[[], object], str]] = {
    "a byte of a vector": (lambda: one_byte("v/good.en.npy"), "Changed: v/good.en.npy"),
    "vectors of another encoder": (lambda: shutil.copy("v/bad.de.npy", "v/good.de.npy"), "v/good.de.npy"),
    "vectors of two languages exchanged": (
        lambda: swapped("v/good.en.npy", "v/good.de.npy"),
        "v/good.de.npy and v/good.en.npy",
    ),
    "a vector added": (
        lambda: np.save("v/good.en.npy", np.vstack([np.load("v/good.en.npy"), np.ones((1, 16))])),
        "Changed: v/good.en.npy",
    ),
    "a row of the manifest": (lambda: manifest(another_row), f"Changed: {MANIFEST}"),
    "a row of the manifest left out": (lambda: manifest(lambda rows: rows[:-1]), f"Changed: {MANIFEST}"),
    "rows of the manifest in another order": (lambda: manifest(lambda rows: rows[::-1]), MANIFEST),
    "a number": (lambda: edited(lambda c: first(c).update(value=first(c)["value"] + 1e-9)), "].value"),
    "the end of an interval": (lambda: edited(lambda c: first(c)["ci"].update(low=0.0)), "].ci.low"),
    "a mean over pairs": (lambda: edited(lambda c: c["summary"][-1].update(value=0.5)), "summary["),
    "a number of queries": (lambda: edited(lambda c: first(c).update(n_source=119)), "].n_source"),
    "an encoder's name": (
        lambda: edited(lambda c: [row.update(encoder="x") for row in c["results"] + c["summary"]]),
        "results[",
    ),
    "a signature": (
        lambda: edited(lambda c: first(c).update(signature=first(c)["signature"].replace("R@10", "R@11"))),
        "",
    ),
    "a number left out": (lambda: edited(lambda c: c["results"].pop()), "nothing"),
    "the seed": (lambda: edited(lambda c: first(c).update(seed=1)), "seed"),
    "a value of a query": (lambda: table(value_of_a_query), "value"),
    "a query left out": (lambda: table(lambda found: found.slice(1)), "nothing"),
    "queries of another result": (
        lambda: shutil.copy("other/per_query.parquet", "r/per_query.parquet"),
        "does not belong to the numbers beside it",
    ),
    "a table beside it": (lambda: one_byte("r/hubs.parquet"), "hubs.parquet does not belong to the numbers"),
    "what was asked": (lambda: edited(lambda c: c["request"].update(measures=["R@1"])), "R@1"),
    "which encoders were asked for": (
        lambda: edited(
            lambda c: c["request"].update(text_encoders=["v/bad.{lang}.npy", "poor=v/bad.{lang}.npy"])
        ),
        "results[",
    ),
    "who was evaluated": (
        lambda: edited(lambda c: c["provenance"]["encoders"][0].update(identity="another")),
        "identity of",
    ),
}


@pytest.fixture
def result(xlingual: Any) -> Any:
    """Return the command line, where `r` and `other` are results."""
    assert xlingual(*XLR, *TWO, "--out", "r", "--quiet").code == 0
    assert xlingual(*XLR, *TWO, "--out", "other", "--quiet", "--seed", "1", "--sample-size", "50").code == 0
    return xlingual


@pytest.mark.parametrize("what", TAMPERED)
@pytest.mark.cases(7)
def test_tampering_is_found_and_named(result: Any, work: Path, what: str) -> None:
    for name in (MANIFEST, *(f"v/{name}.{tag}.npy" for name in ("good", "bad") for tag in ("en", "de"))):
        own = Path(name).read_bytes()  # the folder may share its files with other tests
        Path(name).unlink()
        Path(name).write_bytes(own)
    change, words = TAMPERED[what]
    change()
    done = result("verify", "r")
    said = " ".join(done.out.split())
    assert done.code == 1, (said, done.err)
    assert said.startswith(("CHANGED", "DIFFERENT")) and words in said.replace("… ", "")


@pytest.mark.parametrize(
    "asked",
    [
        (*XLR, *TWO, "--seeds", "2", "--sample-size", "60"),
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
    assert found["n_compared"] > 20 and {one["state"] for one in found["inputs"]} <= {"same", "not looked at"}
    assert list(Path("deep").iterdir()) == [Path("deep/r")]  # nothing is left behind


def test_what_is_missing_is_named(result: Any, work: Path) -> None:
    Path("v/bad.de.npy").unlink()
    done = result("verify", "r")
    assert done.code == 3 and "MISSING" in done.out and "Missing: v/bad.de.npy." in done.out


def test_a_missing_table_is_missing_and_not_changed(result: Any, work: Path) -> None:
    Path("r/per_query.parquet").unlink()
    done = result("verify", "r")
    assert done.code == 3 and "MISSING" in done.out and "per_query.parquet is missing" in done.out


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


def test_files_alone(result: Any, work: Path) -> None:
    done = result("verify", "r", "--inputs-only")
    assert done.code == 0 and done.out.strip().startswith("UNCHANGED") and "Nothing was computed" in done.out
    edited(lambda content: first(content).update(value=0.5))
    assert result("verify", "r", "--inputs-only").code == 0  # a number is no input


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
        done = result("verify", folder)
        assert done.code == 1 and "Changed: r/results.json." in done.out


def test_data_in_memory_cannot_be_read_again(work: Path, xlingual: Any) -> None:
    from xlingual import Manifest, crosslingual_retrieval

    data = Manifest.from_rows([{"id": f"{i}", "text_en": f"a {i}", "text_de": f"b {i}"} for i in range(30)])
    crosslingual_retrieval(data, "random").write("m")
    done = xlingual("verify", "m")
    assert done.code == 3 and "data in memory" in done.out


def test_images_of_a_manifest_are_compared_by_the_numbers(work: Path, xlingual: Any) -> None:
    command = (
        "evaluate",
        "bkr",
        *XLR[2:],
        "--image-encoder",
        "pixels:",
        "--text-encoder",
        "v/good.{lang}.npy",
    )
    assert xlingual(*command, "--out", "seen", "--quiet").code == 0
    done = xlingual("verify", "seen")
    assert done.code == 0 and "images of the manifest" in done.out and "compared by the numbers" in done.out
    assert xlingual("verify", "seen", "--inputs-only").code == 0
