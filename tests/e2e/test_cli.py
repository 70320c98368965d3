"""The command line end to end, on small built-in data: every verb, what it prints and what it writes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
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
ENTRY_KEYS = (
    *("task", "source", "target", "encoder", "image_encoder", "measure", "value", "ci", "chance", "oracle"),
    *("ceiling", "normalized", "n_source", "n_target", "n_tied", "seed", "signature"),
)


def read_json(path: str | Path) -> dict[str, Any]:
    return json.loads(Path(path).read_text(encoding="utf-8"))


def test_backretrieval_prints_tables_and_writes_files(bkr: Any) -> None:
    outcome = bkr("--report", text=BOTH)
    assert outcome.code == 0
    assert "good leads: BkR R@10" in outcome.out and "backretrieval · R@10" in outcome.out
    table = outcome.out[outcome.out.index("backretrieval · SIM") :]
    assert re.search(r"1 +good +\d\.\d{3} +\[", table) and re.search(r"2 +bad ", table)
    assert outcome.err.splitlines() == ["wrote out/results.json", "wrote out/report.html"]
    tables = {f"{name}.parquet" for name in ("per_query", "neighbours", "examples", "hubs")}
    assert {path.name for path in Path("out").iterdir()} == tables | {"results.json", "report.html"}
    content = read_json("out/results.json")
    assert content["schema"] == "xlingual/results/1"
    entries = content["results"]
    assert len(entries) == 2 * 6 * 2  # encoders, ordered pairs, R@10 and SIM
    for entry in entries:
        assert list(entry)[: len(ENTRY_KEYS)] == list(ENTRY_KEYS)
        assert entry["image_encoder"] == "img" and entry["seed"] == 0
        assert entry["n_source"] == entry["n_target"] == 60
        assert entry["ci"]["low"] <= entry["value"] <= entry["ci"]["high"]
    assert {entry["measure"] for entry in entries} == {"R@10", "SIM"}
    assert "<html" in Path("out/report.html").read_text(encoding="utf-8")


def test_crosslingual_retrieval(xlingual: Any) -> None:
    outcome = xlingual(
        *("evaluate", "xlr", "s", "--text-encoder", GOOD, "--text-encoder", "random", "--pairs", "en:de"),
        *("--measure", "R@1", "--measure", "mrr", "--measure", "MedR", "--out", "out"),
    )
    assert outcome.code == 0 and "crosslingual-retrieval · MedR" in outcome.out
    entries = read_json("out/results.json")["results"]
    assert [(e["encoder"], e["measure"]) for e in entries] == [
        (encoder, measure) for encoder in ("good", "random") for measure in ("R@1", "RR", "MedR")
    ]
    for entry in entries:
        assert (entry["source"], entry["target"], entry["n_source"], entry["n_target"]) == (
            "en",
            "de",
            120,
            120,
        )
        assert entry["image_encoder"] is entry["oracle"] is entry["ceiling"] is entry["normalized"] is None
    assert entries[0]["value"] > 0.9 > entries[3]["value"]
    assert entries[0]["chance"] == pytest.approx(1 / 120)
    assert "normalised" not in outcome.out  # a column without numbers is left out


def test_distance_correlation(xlingual: Any) -> None:
    outcome = xlingual(
        *("evaluate", "corr", "s", "--text-encoder", BOTH, "--image-encoder", "img.npy", "--out", "out")
    )
    assert outcome.code == 0 and "distance-correlation · CORR" in outcome.out
    entries = read_json("out/results.json")["results"]
    assert {entry["measure"] for entry in entries} == {"CORR"}
    values = {entry["encoder"]: entry["value"] for entry in entries}
    assert values["good"] > 0.6 > values["bad"]


@pytest.mark.parametrize("task", ["bkr", "corr", "xlr"])
def test_json_is_what_is_written(xlingual: Any, task: str) -> None:
    image = [] if task == "xlr" else ["--image-encoder", "img.npy"]
    outcome = xlingual("evaluate", task, "s", "--text-encoder", GOOD, *image, "--json", "--out", "out")
    assert outcome.code == 0
    written = read_json("out/results.json")
    assert "per_query.parquet" in written.pop("files")
    assert json.loads(outcome.out) == written


def test_quiet_is_silent(bkr: Any, xlingual: Any) -> None:
    for outcome in (
        bkr("--quiet", "--report"),
        xlingual("report", "out", "--out", "r.html", "--quiet"),
        xlingual("data", "check", "s", "--quiet"),
        xlingual("data", "scenes", "--n", "4", "--out", "few", "--quiet"),
    ):
        assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    assert Path("r.html").exists() and Path("few/manifest.parquet").exists()


@pytest.mark.parametrize("task", ["bkr", "corr", "xlr"])
@pytest.mark.cases(1)
def test_threads_change_no_number(xlingual: Any, task: str) -> None:
    image = [] if task == "xlr" else ["--image-encoder", "pixels"]
    found = []
    for threads in ("1", "2"):
        outcome = xlingual(
            *("evaluate", task, "s", "--text-encoder", BOTH, "--text-encoder", "chargram", *image),
            *("--seeds", "2", "--threads", threads, "--json", "--out", f"out{threads}"),
            *("--pairs", "en-de,de-es"),
        )
        content = json.loads(outcome.out)
        assert content.pop("timings") and content.pop("run") and content.pop("costs")
        found.append(content)
    assert found[0] == found[1]
    assert pq.read_table("out1/per_query.parquet").equals(pq.read_table("out2/per_query.parquet"))


@pytest.mark.parametrize("arguments", ["--version", "data scenes --n 4 --out few --quiet"])
@pytest.mark.cases(1)
def test_a_closed_output_is_no_error(tmp_path: Path, arguments: str) -> None:
    command = f'exec "$0" -m xlingual {arguments} >&-'
    done = subprocess.run(
        ["sh", "-c", command, sys.executable], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("task", ["bkr", "xlr"])
def test_few_queries_among_all_candidates(xlingual: Any, task: str) -> None:
    image = [] if task == "xlr" else ["--image-encoder", "img.npy"]
    outcome = xlingual("evaluate", task, "s", "--text-encoder", GOOD, *image, "--queries", 7, "--json")
    entries = json.loads(outcome.out)["results"]
    assert {entry["n_source"] for entry in entries} == {7}
    assert all(entry["n_target"] > 7 and "|queries:7|" in entry["signature"] for entry in entries)


def test_seeds_and_sample_size(bkr: Any) -> None:
    assert bkr("--quiet", "--seeds", "3", "--seed", "5", "--sample-size", "30", "--pairs", "en-de").code == 0
    content = read_json("out/results.json")
    entries = [entry for entry in content["results"] if entry["measure"] == "R@10"]
    assert [entry["seed"] for entry in entries] == [5, 6, 7]
    assert {(entry["n_source"], entry["n_target"]) for entry in entries} == {(30, 30)}
    (mean,) = [row for row in content["summary"] if row["measure"] == "R@10" and row["source"] == "en"]
    assert mean["value"] == pytest.approx(np.mean([entry["value"] for entry in entries]))
    assert bkr("--quiet", "--seed", "6", "--sample-size", "30", "--pairs", "en-de").code == 0
    (again,) = [e for e in read_json("out/results.json")["results"] if e["measure"] == "R@10"]
    assert again["value"] == entries[1]["value"]  # a seed is a seed, however many there are


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
    (head,) = [line for line in lines if " encoder " in line][:1]
    assert ("normalised" in head) == (width >= 80)
    assert ("left out for lack of room" in " ".join(outcome.out.split())) == (
        not {"normalised", "tied"} <= set(head.split())
    )


def test_splits(bkr: Any, xlingual: Any) -> None:
    order = np.random.default_rng(1).permutation(120)
    np.savez("splits.npz", S=[order[:40], order[40:80]], T=[order[80:], order[:40]])
    assert bkr("--quiet", "--splits", "splits.npz", "--pairs", "en-de").code == 0
    entries = [e for e in read_json("out/results.json")["results"] if e["measure"] == "R@10"]
    assert [(e["seed"], e["n_source"], e["n_target"]) for e in entries] == [(0, 40, 40), (1, 40, 40)]
    queries = pq.read_table("out/per_query.parquet").to_pylist()
    asked = {row["query"] for row in queries if row["seed"] == 1 and row["measure"] == "R@10"}
    assert asked == {f"scene-{item:06}" for item in order[40:80]}
    run = ("evaluate", "xlr", "s", "--text-encoder", GOOD, "--splits", "splits.npz", "--out", "out2")
    assert xlingual(*run, "--quiet", "--pairs", "en-de").code == 0
    queries = pq.read_table("out2/per_query.parquet").to_pylist()
    for seed, chosen in ((0, order[:40]), (1, order[40:80])):  # both sides are S
        assert {row["query"] for row in queries if row["seed"] == seed} == {f"scene-{i:06}" for i in chosen}


def test_named_encoders_and_languages_with_hyphens(bkr: Any) -> None:
    table = pq.read_table("s/manifest.parquet").rename_columns(
        ["id", "split", "image", "text_en", "text_zh-Hant", "text_es"]
    )
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


def test_one_report_from_two_folders(bkr: Any, xlingual: Any) -> None:
    assert bkr("--quiet").code == 0
    assert xlingual("evaluate", "xlr", "s", "--text-encoder", GOOD, "--out", "xlr", "--quiet").code == 0
    outcome = xlingual("report", "out", "xlr", "--out", "made/on/the/way.html", "--title", "A <b> title")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "wrote made/on/the/way.html\n")
    page = Path("made/on/the/way.html").read_text(encoding="utf-8")
    assert "A &lt;b&gt; title" in page and "backretrieval" in page and "crosslingual-retrieval" in page


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


def test_data_check(xlingual: Any) -> None:
    Path("s/images/scene-000003.png").unlink()
    outcome = xlingual("data", "check", "s")
    assert outcome.code == 0
    assert re.search(r"items +120", outcome.out) and re.search(r"\n ?en +120 +120", outcome.out)
    assert len(outcome.warnings) == 1 and "1 image file is missing" in outcome.warnings[0]
    found = json.loads(xlingual("data", "check", "s", "--json").out)
    assert (found["n_items"], found["n_texts"]) == (120, 360)
    assert found["pairs"] == {"en-de": 120, "en-es": 120, "de-es": 120}
    assert [row for row, _ in found["pictures"]["missing"]] == ["scene-000003"]


def test_data_check_lists_all_problems_and_fails_for_errors(xlingual: Any) -> None:
    rows = [f"{i};{tag};Stühle und Größe {i}" for i in range(20) for tag in ("de", "en")]
    rows.insert(0, "id;lang;titel")
    rows[3:5] = ["1;de_DE;Stuhl", "2;;Tisch"]
    Path("shop.csv").write_bytes("\n".join(rows).encode("cp1252"))
    outcome = xlingual("data", "check", "shop.csv", "--text-column", "titel")
    lines = outcome.err.splitlines()
    assert outcome.code == 2 and re.search(r"texts +38", outcome.out)
    kinds = [line.partition(" ")[0] for line in lines]
    assert kinds == ["error:", "error:"] + ["warning:"] * (len(lines) - 2)
    assert "write 'de-DE'" in outcome.err and "empty language" in outcome.err
    assert "with encoding cp1252 (confidence 0.95) and separator ';' (confidence 0.9" in outcome.warnings[0]
    options = ("--text-column", "titel", "--encoding", "cp1252", "--separator", ";")
    found = json.loads(xlingual("data", "check", "shop.csv", *options, "--json").out)
    assert [one["kind"] for one in found["findings"]][:2] == ["empty language", "language tag"]
    assert "guessed format" not in {one["kind"] for one in found["findings"]}
    outcome = xlingual("data", "check", "nothing.csv", "--json")
    (one,) = json.loads(outcome.out)["findings"]
    assert outcome.code == 2 and one["severity"] == "error" and "no such file" in one["sentence"]


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


@pytest.mark.parametrize("word", ["x", "ßø "])
@pytest.mark.cases(1)
def test_very_long_texts_on_one_line(bkr: Any, word: str) -> None:
    rows = [
        {"id": f"{language}{i}", "lang": language, "text": f"{language} {i} {word * 50_000}", "item": i}
        for i in range(30)
        for language in ("en", "de")
    ]
    Path("m.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    np.save("images.npy", np.eye(30, dtype=np.float32))
    outcome = bkr("--report", manifest="m.jsonl", text="random", image="images.npy")
    assert outcome.code == 0 and len(outcome.out) < 10_000
    assert Path("out/report.html").stat().st_size < 500_000
    shown = pq.read_table("out/examples.parquet").column("query_text").to_pylist()
    assert shown and all(len(text) == 1000 and text.endswith("…") for text in shown)


def test_texts_and_images_can_be_left_out(bkr: Any) -> None:
    assert bkr("--quiet").code == 0 and Path("out/examples.parquet").exists()
    assert bkr("--quiet", "--no-examples").code == 0
    assert not Path("out/examples.parquet").exists()


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["evaluate", "bkr", "-h"], ["data", "--help"]])
def test_help(xlingual: Any, arguments: list[str]) -> None:
    outcome = xlingual(*arguments)
    assert (outcome.code, outcome.err) == (0, "") and outcome.out.startswith("Usage: xlingual")


@pytest.mark.parametrize("arguments", [[], ["data"], ["evaluate"]])
def test_no_arguments_show_help(xlingual: Any, arguments: list[str]) -> None:
    outcome = xlingual(*arguments)
    assert (outcome.code, outcome.out) == (2, "") and outcome.err.startswith("Usage: xlingual")


def test_in_a_process_of_its_own(process: Any) -> None:
    assert re.fullmatch(r"xlingual \d+\.\d+\S*\n", process("--version").out)
    refused = process("evaluate", "xlr", "nowhere", "--text-encoder", "random")
    assert (refused.code, refused.out) == (2, "") and re.fullmatch(r"error: nowhere: .*\n", refused.err)


@pytest.mark.parametrize(
    "arguments", [["--help"], ["evaluate", "xlr", "s", "--text-encoder", GOOD, "--json"]]
)
@pytest.mark.cases(1)
def test_a_closed_pipe_is_no_error(process: Any, arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)  # before anything is written
    with os.fdopen(writer, "wb") as pipe:
        outcome = process(*arguments, stdout=pipe)
    assert (outcome.code, outcome.err) == (141, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [["--help"], ["data", "check", "s"]])
@pytest.mark.cases(1)
def test_a_full_disk_is_one_line(process: Any, arguments: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        outcome = process(*arguments, stdout=full)
    assert outcome.code == 2 and re.fullmatch(r"error: .*No space left on device: make room.*\n", outcome.err)


XLR = ("evaluate", "xlr", "s", "--text-encoder", GOOD)
ASCII_ONLY = {"PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}


def test_output_in_an_encoding_without_our_letters(process: Any) -> None:
    table = process(*XLR, variables=ASCII_ONLY)
    assert (table.code, table.err) == (0, "") and "crosslingual-retrieval ? R@10" in table.out


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
    assert "crosslingual-retrieval, which would be lost" in refused.err
    assert Path("o/results.json").read_bytes() == before


def test_an_old_report_does_not_outlive_its_numbers(xlingual, work):
    assert xlingual(*TRUTH, "--report").code == 0
    assert Path("o/report.html").is_file()
    assert xlingual(*TRUTH).code == 0
    assert not Path("o/report.html").exists()


def test_seeds_that_change_nothing_are_warned_of(xlingual, work):
    assert "all 3 seeds give the same sample" in xlingual(*TRUTH, "--seeds", "3").err
    assert "the same sample" not in xlingual(*TRUTH, "--seeds", "3", "--sample-size", "20").err
