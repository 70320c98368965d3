"""The command line end to end, on small built-in data: every verb, what it prints and what it writes."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from xlingual.cli import console
from xlingual.results import Results

GOOD, BOTH = "v/good.{lang}.npy", "v/*.{lang}.npy"


def read_json(path: str | Path) -> dict[str, Any]:
    return json.loads(Path(path).read_text(encoding="utf-8"))


@pytest.mark.parametrize("task", ["bkr", "corr", "xlr"])
def test_json_is_what_is_written(xlingual: Any, task: str) -> None:
    image = [] if task == "xlr" else ["--image-encoder", "img.npy"]
    outcome = xlingual("evaluate", task, "s", "--text-encoder", GOOD, *image, "--json", "--out", "out")
    assert outcome.code == 0
    written = read_json("out/results.json")
    assert "per_query.parquet" in written.pop("files")
    assert json.loads(outcome.out) == written


@pytest.mark.parametrize("arguments", ["--version", "data scenes --n 4 --out few --quiet"])
@pytest.mark.cases(1)
def test_a_closed_output_is_no_error(tmp_path: Path, arguments: str) -> None:
    command = f'exec "$0" -m xlingual {arguments} >&-'
    done = subprocess.run(
        ["sh", "-c", command, sys.executable], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.cases(2)
def test_tables_fit_the_terminal(bkr: Any, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setattr(console, "output", lambda: Console(width=width, highlight=False))
    long_name = "a-model-with-quite-a-long-name-of-its-own"
    outcome = bkr("--text-encoder", f"{long_name}=random", text=BOTH)
    lines = outcome.out.splitlines()
    assert max(map(len, lines)) <= width and "…" not in outcome.out
    (row,) = [line for line in lines[lines.index("") :] if re.match(r" 1 +good ", line)][:1]
    assert re.search(r"\d\.\d{3} +\[\d\.\d{3}, \d\.\d{3}\]", row)  # an interval stays on one line
    (head,) = [line for line in lines if re.match(r" +#? +encoder ", line)][:1]
    assert ("normalised" in head) == (width >= 80)


def test_splits(bkr: Any, xlingual: Any) -> None:
    order = np.random.default_rng(1).permutation(120)
    np.savez("splits.npz", S=[order[:40], order[40:80]], T=[order[80:], order[:40]])
    assert bkr("--quiet", "--sample", "splits.npz", "--pairs", "en-de").code == 0
    entries = [e for e in read_json("out/results.json")["results"] if e["measure"] == "R@10"]
    assert [(e["seed"], e["n_source"], e["n_target"]) for e in entries] == [(0, 40, 40), (1, 40, 40)]
    queries = pq.read_table("out/per_query.parquet").to_pylist()
    asked = {row["query"] for row in queries if row["seed"] == 1 and row["measure"] == "R@10"}
    assert asked == {f"scene-{item:06}" for item in order[40:80]}
    run = ("evaluate", "xlr", "s", "--text-encoder", GOOD, "--sample", "splits.npz", "--out", "out2")
    assert xlingual(*run, "--quiet", "--pairs", "en-de").code == 0
    queries = pq.read_table("out2/per_query.parquet").to_pylist()
    for seed, chosen in ((0, order[:40]), (1, order[40:80])):  # both sides are S
        assert {row["query"] for row in queries if row["seed"] == seed} == {f"scene-{i:06}" for i in chosen}


def test_named_encoders_and_languages_with_hyphens(bkr: Any) -> None:
    table = pq.read_table("s/manifest.parquet").rename_columns({"text_de": "text_zh-Hant"})
    pq.write_table(table, "s/hyphen.parquet")
    Path("v/good.de.npy").rename("v/good.zh-Hant.npy")
    outcome = bkr(
        *("--pairs", "en-zh-Hant,zh-Hant-es,es:zh-Hant", "--text-encoder", "a.b-1=random:?seed=3", "--quiet"),
        manifest="s/hyphen.parquet",
    )
    assert outcome.code == 0, outcome.err
    entries = read_json("out/results.json")["results"]
    pairs = list(dict.fromkeys((entry["source"], entry["target"]) for entry in entries))
    assert pairs == [("en", "zh-Hant"), ("zh-Hant", "es"), ("es", "zh-Hant")]
    assert list(dict.fromkeys(entry["encoder"] for entry in entries)) == ["good", "a.b-1"]


def test_wide_long_bytes_and_paths_give_the_same_numbers(bkr: Any) -> None:
    table = pq.read_table("s/manifest.parquet").to_pylist()
    rows = [
        {"id": row["id"], "lang": language, "text": row[f"text_{language}"], "image": row["image"]}
        for row in table
        for language in ("en", "de", "es")
    ]
    Path("s/long.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    bytes_of = [{**row, "image": (Path("s") / str(row["image"])).read_bytes()} for row in rows]
    pq.write_table(pa.Table.from_pylist(bytes_of), "bytes.parquet")
    found = []
    for manifest in ("s/manifest.parquet", "s/long.jsonl", "bytes.parquet"):
        assert bkr("--quiet", manifest=manifest, image="pixels").code == 0
        entries = read_json("out/results.json")["results"]
        found.append([{k: v for k, v in entry.items() if k != "signature"} for entry in entries])
    assert found[0] == found[1] == found[2]


def test_given_columns_hold_for_the_texts_that_are_fitted_on(xlingual: Any) -> None:
    table = pq.read_table("s/manifest.parquet")
    run = ("--text-encoder", "lsa:?pairs=20&fit={}#train", "--split", "test", "--quiet", "--out")
    found = []
    for name, stem, more in (("usual", "text", ()), ("given", "name", ("--text-column", "name_{lang}"))):
        names = [column.replace("text_", f"{stem}_").replace("id", "key") for column in table.schema.names]
        file = f"{name}.parquet"
        pq.write_table(table.rename_columns(names), file)
        words = [word.format(file) if "fit=" in word else word for word in run]
        outcome = xlingual("evaluate", "xlr", file, *words, name, *more, "--id-column", "key")
        assert (outcome.code, outcome.err) == (0, "")
        found.append([entry["value"] for entry in read_json(f"{name}/results.json")["results"]])
    assert found[0] == found[1]
    assert np.mean(found[0]) > 0.3  # chance is 1/6


def test_fitted_on_some_rows_and_evaluated_on_others(xlingual: Any) -> None:
    run = ("evaluate", "xlr", "s", "--rows", "60:120", "--text-encoder", "lsa:?fit=s#0:60", "--out", "out")
    outcome = xlingual(*run, "--quiet")
    assert (outcome.code, outcome.err) == (0, "")
    entries = read_json("out/results.json")["results"]
    assert {entry["n_source"] for entry in entries} == {60}
    assert np.mean([entry["value"] for entry in entries]) > 0.3  # chance is 1/6


def test_demo(tmp_path: Path, full: bool) -> None:
    from xlingual.workflows.demo import run_demo

    works: list[str] = []
    results = run_demo(
        tmp_path / "demo", items=120 if full else 50, progress=lambda what, done, total: works.append(what)
    )
    assert {result.entries[0].task for result in results} == {"backretrieval", "crosslingual-retrieval"}
    assert (tmp_path / "demo" / "report.html").stat().st_size > 10_000
    assert Results.read(tmp_path / "demo" / "backretrieval").entries == results[0].entries
    assert "painting scenes" in works


def test_demo_says_what_to_do_next(xlingual: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from xlingual.workflows import demo

    monkeypatch.setattr(demo, "run_demo", partial(demo.run_demo, items=50))
    last = xlingual("demo", "--out", "d").err.splitlines()[-1]
    assert xlingual(*last.rpartition("xlingual ")[2].split()).code == 0


def test_data_check(xlingual: Any) -> None:
    Path("s/images/scene-000003.png").unlink()
    outcome = xlingual("data", "check", "s")
    assert outcome.code == 0
    assert re.search(r"items +120", outcome.out) and re.search(r"\n ?en +120 +120", outcome.out)
    found = json.loads(xlingual("data", "check", "s", "--json").out)
    assert (found["n_items"], found["n_texts"]) == (120, 360)
    assert found["pairs"] == {"en-de": 120, "en-es": 120, "de-es": 120}
    assert [row for row, _ in found["pictures"]["missing"]] == ["scene-000003"]


def test_data_check_lists_all_problems_and_fails_for_errors(xlingual: Any) -> None:
    rows = [f"{i};{tag};Stühle und Größe {i}" for i in range(20) for tag in ("de", "en")]
    rows.insert(0, "id;lang;titel")
    rows[3:5] = ["1;de DE;Stuhl", "2;;Tisch"]
    Path("shop.csv").write_bytes("\n".join(rows).encode())
    options = ("--text-column", "titel")
    outcome = xlingual("data", "check", "shop.csv", *options)
    lines = outcome.err.splitlines()
    assert outcome.code == 2 and re.search(r"texts +38", outcome.out)
    kinds = [line.partition(" ")[0] for line in lines]
    assert kinds == ["error:", "error:"] + ["warning:"] * (len(lines) - 2)
    found = json.loads(xlingual("data", "check", "shop.csv", *options, "--json").out)
    assert [one["kind"] for one in found["findings"]][:2] == ["empty language", "language tag"]
    outcome = xlingual("data", "check", "nothing.csv", "--json")
    (_one,) = json.loads(outcome.out)["findings"]


def test_data_scenes_gives_the_same_bytes_twice(xlingual: Any) -> None:
    make = ("data", "scenes", "--n", "12", "--languages", "en, ja", "--seed", "3", "--out")
    for out in ("one", "two"):
        outcome = xlingual(*make, out)
        assert (outcome.code, outcome.out, outcome.err) == (0, "", f"wrote {out}/manifest.parquet\n")
    one, two = (
        {str(p.relative_to(out)): p.read_bytes() for p in Path(out).rglob("*") if p.is_file()}
        for out in ("one", "two")
    )
    assert one == two and len(one) == 13


XLR = ("evaluate", "xlr", "s", "--text-encoder", GOOD)
ASCII_ONLY = {"PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}


@pytest.mark.slow  # tables: test_output_in_an_encoding_without_our_letters
def test_json_in_an_encoding_without_our_letters(process: Any) -> None:
    found = process(*XLR, "--text-encoder", "Vögel=random", "--json", variables=ASCII_ONLY)
    assert (found.code, found.err) == (0, "")
    assert "Vögel" in {entry["encoder"] for entry in json.loads(found.out)["results"]}


def test_interrupted(spawn: Any, xlingual: Any) -> None:
    assert xlingual(*XLR, "--out", "out", "--quiet").code == 0
    before = {path.name: path.read_bytes() for path in Path("out").iterdir()}
    n = 20_000
    table = {"id": [str(i) for i in range(n)]}
    table |= {f"text_{tag}": [f"{tag} {i}" for i in range(n)] for tag in ("en", "de", "es")}
    pq.write_table(pa.table(table), "many.parquet")
    run = ("evaluate", "xlr", "many.parquet", "--text-encoder", "random:?dim=256", "--threads", "2")
    with spawn(*run, "--out", "out", ready=True) as running:
        assert running.stdout.readline() == b"ready\n"
        time.sleep(0.7)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=300)
    assert (running.returncode, out, err) == (130, b"", b"error: interrupted\n")
    assert {path.name: path.read_bytes() for path in Path("out").iterdir()} == before


TRUTH = ("evaluate", "xlr", "s", "--text-encoder", GOOD, "--pairs", "en-de", "--out", "o", "--quiet")


def test_a_folder_with_results_of_another_task_is_refused(xlingual, work):
    assert xlingual(*TRUTH).code == 0
    before = Path("o/results.json").read_bytes()
    corr = ("evaluate", "corr", *TRUTH[2:], "--image-encoder", "vectors:img.npy")
    refused = xlingual(*corr)
    assert refused.code == 2
    assert Path("o/results.json").read_bytes() == before


def test_an_old_report_does_not_outlive_its_numbers(xlingual, work):
    assert xlingual(*TRUTH, "--report").code == 0
    assert Path("o/report.html").is_file()
    assert xlingual(*TRUTH).code == 0
    assert not Path("o/report.html").exists()
