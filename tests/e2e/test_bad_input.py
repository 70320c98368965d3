"""Bad input: exit code 2, one line that names what, where and the remedy, and nothing written."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

LANGUAGES = ("en", "de", "es")
GOOD = "v/good.{lang}.npy"


def refused(outcome: Any, *words: str, code: int = 2) -> None:
    lines = outcome.err.splitlines()
    assert (outcome.code, len(lines), outcome.out) == (code, 1, ""), outcome
    assert lines[0].startswith("error: "), outcome.err
    for word in words:
        assert word in lines[0], f"{word!r} is not in {lines[0]!r}"
    out = Path("out")
    assert not out.exists() or (out.is_dir() and not any(out.iterdir()))


def write_lines(name: str, rows: Sequence[object]) -> str:
    Path(name).write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return name


def long_rows(n: int = 40, languages: Sequence[str] = ("en", "de")) -> list[dict[str, object]]:
    return [
        {"id": f"{language}{i}", "lang": language, "text": f"{language} text {i}", "item": i}
        for i in range(n)
        for language in languages
    ]


def for_all_languages(name: str, vectors: np.ndarray) -> None:
    for language in LANGUAGES:
        np.save(f"v/{name}.{language}.npy", vectors)


# Options of a command that is right otherwise.
OPTIONS: dict[str, tuple[list[object], list[str]]] = {
    "unknown language": (["--pairs", "en-fr"], ["'en-fr'", "'fr'", "en, de, es"]),
    "nearest language": (["--pairs", "en-dee"], ["'dee'", "Did you mean 'de'?"]),
    "letter case of a language": (["--pairs", "EN-DE"], ["'EN'", "Did you mean 'en'?"]),
    "same language twice": (["--pairs", "en-en"], ["'en-en'", "same language"]),
    "half a pair": (["--pairs", "en"], ["'en'", "en-de"]),
    "no pair": (["--pairs", ","], ["--pairs en-de"]),
    "another separator": (["--pairs", "en>de"], ["'en>de'", "source-target"]),
    "column that is not there": (
        ["--image-column", "image_png"],
        ["s/manifest.parquet", "'image_png'", "image"],
    ),
    "pattern that fits nothing": (["--text-column", "txt_{lang}"], ["txt_{lang}", "'text_{lang}'"]),
    "unknown split": (["--split", "tset"], ["'tset'", "'test'", "train, test"]),
    "rows": (["--rows", "5"], ["--rows '5'", "A:B"]),
    "rows beyond": (["--rows", "500:"], ["500:", "rows 0 to 119"]),
    "sample larger than the data": (["--sample-size", "61"], ["--sample-size 61", "60", "'en'", "less"]),
    "sample of none": (["--sample-size", "0"], ["--sample-size", "at least 1", "0"]),
    "K not below the pictures": (["--measure", "R@60"], ["R@60", "60", "en-de", "smaller k"]),
    "R@0": (["--measure", "R@0"], ["'R@0'", "k of at least 1"]),
    "unknown measure": (["--measure", "recal@10"], ["'recal@10'", "Did you mean 'R@10'?"]),
    "measure of another task": (["--measure", "CORR"], ["'CORR'", "R@k"]),
    "unknown option of a spec": (["--text-encoder", "random:?dims=3"], ["'dims'", "Did you mean 'dim'?"]),
    "value in a spec": (["--text-encoder", "random:?dim=0"], ["dim", "at least 1", "'0'"]),
    "two encoders of one name": (["--text-encoder", GOOD], ["'good'", "good-2=vectors:v/good.{lang}.npy"]),
    "no seeds": (["--seeds", "0"], ["--seeds", "1 to", "0"]),
    "negative seed": (["--seed", "-1"], ["--seed", "-1"]),
    "huge seed": (["--seed", "9" * 25], ["--seed", "9" * 25]),
    "no threads": (["--threads", "0"], ["--threads", "0"]),
    "threads in words": (["--threads", "two"], ["--threads", "'two'", "--help"]),
    "unknown option": (["--text-encodr", "x"], ["'--text-encodr'", "'--text-encoder'"]),
    "splits that are not there": (["--splits", "no.npz"], ["no.npz", "no such file", "S and T"]),
    "unquoted pattern": (["v/good.de.npy", "v/good.en.npy"], ["'v/good.de.npy'", "quotes", "*.{lang}.npy"]),
}


@pytest.mark.parametrize("case", OPTIONS)
def test_option(bkr: Any, case: str) -> None:
    more, words = OPTIONS[case]
    refused(bkr(*more), *words)


SPECS: dict[str, tuple[str, list[str]]] = {
    "unknown scheme": ("vectro:x.npy", ["'vectro'", "Did you mean 'vectors'?"]),
    "mistyped word": ("randm", ["'randm'", "Did you mean 'random'?"]),
    "empty": ("", ["empty", "vectors:model.{lang}.npy"]),
    "pictures only": ("pixels", ["'pixels'", "does not encode texts", "random"]),
    "A on top of B": ("random::lsa", ["'random'", "cannot be applied"]),
    "no fit": ("lsa", ["lsa", "fit=products.parquet#train"]),
    "fit file": ("lsa:?fit=no.parquet#train", ["fit=no.parquet#train", "no such file"]),
    "fit split": ("lsa:?fit=s#trian", ["fit=s#trian", "'trian'", "Did you mean 'train'?"]),
    "fitted on what is evaluated": ("lsa:?fit=s#train", ["'lsa'", "180 of the 360", "--split test"]),
    "chargram fitted on what is evaluated": ("chargram:?fit=s#test", ["'chargram'", "of the 360"]),
    "too many pairs to fit": ("lsa:?pairs=9999&fit=s#train", ["9999", "lower pairs="]),
    "missing file": ("v/god.{lang}.npy", ["v/god.en.npy", "Did you mean 'good.en.npy'?"]),
    "missing folder": ("w/good.{lang}.npy", ["w/good.en.npy", "no folder w"]),
    "pattern without a match": ("v/*.{lang}.safetensors", ["v/*.{lang}.safetensors", "no file matches"]),
    "other suffix": ("v/good.npz", ["v/good.npz", ".npy, .safetensors"]),
    "a folder": ("s.npy", ["s.npy is a folder"]),
}


@pytest.mark.parametrize("case", SPECS)
def test_spec(bkr: Any, case: str) -> None:
    spec, words = SPECS[case]
    Path("s.npy").mkdir()
    refused(bkr(text=spec), *words)


def with_bad_values() -> np.ndarray:
    vectors = np.ones((120, 4), np.float32)
    vectors[4, 2], vectors[9, 0] = np.nan, np.inf
    return vectors


FILES: dict[str, tuple[Callable[[], np.ndarray], list[str]]] = {
    "rows": (lambda: np.ones((7, 4)), ["v/x.en.npy", "7 lines", "120 items", "one vector for each"]),
    "no rows": (lambda: np.ones((0, 4)), ["v/x.en.npy", "0 lines"]),
    "NaN and infinity": (with_bad_values, ["v/x.en.npy", "NaN", "line 5", "5, 10", "again"]),
    "one dimension": (lambda: np.ones(120), ["v/x.en.npy", "one vector per line", "120"]),
    "no dimension": (lambda: np.ones((120, 0)), ["v/x.en.npy", "120×0"]),
    "strings": (lambda: np.full((120, 2), "a"), ["v/x.en.npy", "numbers", "<U1"]),
    "complex": (lambda: np.ones((120, 2), complex), ["v/x.en.npy", "complex128"]),
    "objects": (lambda: np.full((120, 2), None), ["v/x.en.npy", "pickle", "plain array"]),
}


@pytest.mark.parametrize("case", FILES)
def test_vectors_of_texts(bkr: Any, case: str) -> None:
    vectors, words = FILES[case]
    for_all_languages("x", vectors())
    refused(bkr(text="v/x.{lang}.npy"), *words)


@pytest.mark.parametrize("case", FILES)
def test_vectors_of_pictures(bkr: Any, case: str) -> None:
    vectors, words = FILES[case]
    np.save("pictures.npy", vectors())
    refused(bkr(image="pictures.npy"), "pictures.npy", *words[1:])


def test_dimensions_that_differ(bkr: Any) -> None:
    for_all_languages("x", np.ones((120, 4)))
    np.save("v/x.de.npy", np.ones((120, 5)))
    refused(bkr(text="v/x.{lang}.npy"), "v/x.en.npy has 4", "v/x.de.npy has 5", "one model")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (pickle.dumps({"a": 1}), ["pickle", "run code"]),
        (b"0.1 0.2 0.3\n", ["not a .npy file", "numpy.save"]),
        (b"", ["empty file", "numpy.save"]),
        (b"\x93NUMPY\x01", ["damaged or cut short"]),
    ],
)
def test_file_that_is_no_npy(bkr: Any, content: bytes, words: list[str]) -> None:
    Path("x.npy").write_bytes(content)
    refused(bkr(text="x.npy"), "x.npy", *words)
    refused(bkr(image="x.npy"), "x.npy", *words)


def test_npy_cut_short(bkr: Any) -> None:
    Path("x.npy").write_bytes(Path("img.npy").read_bytes()[:1000])
    refused(bkr(image="x.npy"), "x.npy", "cut short", "again")


def test_all_zero_rows_are_a_counted_warning(bkr: Any) -> None:
    vectors = np.load("v/good.en.npy")
    vectors[:5] = 0
    np.save("v/good.en.npy", vectors)
    outcome = bkr("--quiet", "--pairs", "en-de,de-en")  # both ways: all texts are used
    assert (outcome.code, outcome.out, len(outcome.err.splitlines())) == (0, "", 1)
    (warning,) = outcome.warnings
    for words in ("'good'", "5 of 240 texts", "all-zero", "'scene-000000' (en)", "and 2 more", "ties"):
        assert words in warning
    entry = json.loads(Path("out/results.json").read_text(encoding="utf-8"))
    assert any("all-zero" in line for line in entry["warnings"])


def test_zero_vectors_score_exactly_chance(bkr: Any) -> None:
    for_all_languages("zero", np.zeros((120, 3)))
    assert bkr("--quiet", text="v/zero.{lang}.npy").code == 0
    for entry in json.loads(Path("out/results.json").read_text(encoding="utf-8"))["results"]:
        decimals = 1e-9 if entry["measure"] == "SIM" else 1e-12  # similarities are rounded
        assert entry["value"] == pytest.approx(entry["chance"], abs=decimals)
        assert entry["n_tied"] == entry["n_source"]


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_equal_vectors_of_pictures_leave_nothing_to_normalise(bkr: Any, value: float) -> None:
    np.save("flat.npy", np.full((120, 3), value))
    outcome = bkr(image="flat.npy")
    assert outcome.code == 0
    entries = json.loads(Path("out/results.json").read_text(encoding="utf-8"))["results"]
    assert all(entry["normalized"] is None for entry in entries)
    assert all(entry["value"] == pytest.approx(entry["chance"]) for entry in entries)
    assert "cannot tell texts apart" in outcome.out.replace("\n", " ").replace("  ", " ")


def test_missing_picture_when_its_bytes_are_needed(bkr: Any) -> None:
    Path("s/images/scene-000003.png").unlink()
    refused(
        bkr(image="pixels"), "'scene-000003'", "s/images/scene-000003.png", "put it there", "vectors:PATH"
    )


def test_missing_picture_is_a_warning_beside_vectors(bkr: Any) -> None:
    Path("s/images/scene-000003.png").unlink()
    outcome = bkr("--quiet")
    assert outcome.code == 0 and len(outcome.err.splitlines()) == 1
    assert "1 of 120 picture files" in outcome.warnings[0] and "scene-000003.png" in outcome.warnings[0]


def test_unreadable_picture(bkr: Any) -> None:
    Path("s/images/scene-000003.png").write_text("no picture")
    refused(bkr(image="pixels"), "'scene-000003'", "scene-000003.png", "not a picture", "replace")


def test_no_pictures_at_all(bkr: Any) -> None:
    manifest = write_lines("m.jsonl", long_rows())
    refused(bkr(manifest=manifest, text="random", image="pixels"), "no row has a picture", "--image-column")


def test_a_row_without_a_picture(bkr: Any) -> None:
    rows = long_rows()
    for row in rows[2:]:
        row["image"] = "s/images/scene-000001.png"
    manifest = write_lines("m.jsonl", rows)
    refused(bkr(manifest=manifest, text="random", image="pixels"), "'en0'", "no picture", "vectors:PATH")


@pytest.mark.parametrize("path", ["../../etc/passwd", "/etc/passwd", "link.png"])
def test_picture_outside_the_folder(bkr: Any, path: str) -> None:
    Path("m").mkdir()
    os.symlink("/etc/passwd", "m/link.png")
    manifest = write_lines("m/m.jsonl", [row | {"image": path} for row in long_rows()])
    refused(
        bkr(manifest=manifest, text="random", image="pixels"),
        *("m/m.jsonl, row 1, column 'image'", path, "outside the manifest's folder", "copy"),
    )


def rewritten(**columns: object) -> str:
    table = pq.read_table("s/manifest.parquet")
    for name, values in columns.items():
        table = table.set_column(table.schema.get_field_index(name), name, pa.array(values))
    pq.write_table(table, "s/changed.parquet")
    return "s/changed.parquet"


def test_duplicate_id(bkr: Any) -> None:
    ids = [f"i{max(i, 1)}" for i in range(120)]
    refused(
        bkr(manifest=rewritten(id=ids)), "s/changed.parquet", "'id'", "rows 1 and 2", "'i1'", "--id-column"
    )


def test_empty_manifests(bkr: Any) -> None:
    pq.write_table(pq.read_table("s/manifest.parquet").slice(0, 0), "s/none.parquet")
    refused(bkr(manifest="s/none.parquet"), "s/none.parquet", "no rows", "at least one")
    for name in ("empty.csv", "empty.jsonl"):
        Path(name).touch()
        refused(bkr(manifest=name), name, "empty", "at least one text")
    Path("head.csv").write_text("id,lang,text\n")
    refused(bkr(manifest="head.csv"), "head.csv", "no rows")


MANIFESTS: dict[str, tuple[str, bytes, list[str]]] = {
    "no language column": ("m.csv", b"id,text\n1,a\n", ["'text'", "no column 'lang'", "--lang-column"]),
    "no text column": ("m.csv", b"id,lang\n1,en\n", ["'lang'", "no column 'text'", "--text-column"]),
    "other separator": ("m.csv", b"id;lang;text\n1;en;a\n", ["';'", "commas"]),
    "fields": ("m.csv", b"id,lang,text\n1,en,a,b\n", ["row 1", "4 fields", "header has 3", "quote"]),
    "open quote": ("m.csv", b'id,lang,text\n1,en,"a\n', ["line 2", "quotes"]),
    "not UTF-8": ("m.csv", b"id,lang,text\n1,en,\xff\n", ["line 2", "UTF-8"]),
    "not JSON": ("m.jsonl", b'{"id": 1}\n{bad\n', ["line 2", "character 2", "mend"]),
    "not an object": ("m.jsonl", b"[1]\n", ["line 1", "object"]),
    "not Parquet": ("m.parquet", b"x", ["not a Parquet file"]),
    "not a manifest": ("m.xlsx", b"x", [".parquet", "'.xlsx'", "convert"]),
    "tag": ("m.csv", b"id,lang,text\n1,en_US,a\n", ["row 1", "'lang'", "'en-US'"]),
    "empty id": ("m.csv", b"id,lang,text\n,en,a\n", ["row 1", "'id'", "empty id"]),
    "number for a text": ("m.jsonl", b'{"lang": "en", "text": 3}\n', ["row 1", "'text'", "the number 3"]),
    "one language": ("m.csv", b"id,lang,text\n1,en,a\n2,en,b\n", ["only 'en'", "two are needed"]),
    "non-matching impossible": (
        "m.csv",
        b"id,lang,text,item\n1,en,a,i\n2,de,b,i\n",
        ["en-de", "non-matching sample is impossible", "'de' side", "more items"],
    ),
}


@pytest.mark.parametrize("case", MANIFESTS)
def test_manifest(bkr: Any, case: str) -> None:
    name, content, words = MANIFESTS[case]
    Path(name).write_bytes(content)
    outcome = bkr(manifest=name, text="random")
    refused(outcome, *words)
    assert name in outcome.err or "pair" in outcome.err or "the manifest" in outcome.err


def test_manifest_that_is_not_there(bkr: Any, xlingual: Any) -> None:
    refused(bkr(manifest="no.parquet"), "no.parquet", "no such file")
    refused(bkr(manifest="s/manifst.parquet"), "Did you mean 'manifest.parquet'?")
    Path("hollow").mkdir()
    refused(bkr(manifest="hollow"), "hollow holds no manifest", "metadata.jsonl", "name the file")
    refused(xlingual("data", "check", "no.parquet"), "no.parquet", "no such file")


def test_asked_for_a_pair_without_matching_texts(xlingual: Any) -> None:
    rows = long_rows() + [row | {"item": f"own {i}"} for i, row in enumerate(long_rows(20, ["fr"]))]
    manifest = write_lines("m.jsonl", rows)
    run = ("evaluate", "xlr", manifest, "--text-encoder", "random", "--out", "out")
    refused(xlingual(*run, "--pairs", "en-fr"), "'en'", "'fr'", "item column", "backretrieval")
    outcome = xlingual(*run, "--quiet")
    assert (outcome.code, len(outcome.err.splitlines())) == (0, 1)
    assert "4 language pairs are left out (en-fr, de-fr, fr-en, fr-de)" in outcome.warnings[0]
    entries = json.loads(Path("out/results.json").read_text(encoding="utf-8"))["results"]
    assert {(entry["source"], entry["target"]) for entry in entries} == {("en", "de"), ("de", "en")}


def test_language_with_one_text(bkr: Any, xlingual: Any) -> None:
    manifest = write_lines("m.jsonl", [*long_rows(), *long_rows(1, ["fr"])])
    np.save("pictures.npy", np.eye(40, dtype=np.float32))
    again = {"manifest": manifest, "text": "random", "image": "pictures.npy"}
    refused(bkr(**again), "R@10", "fr-en has 1", "--pairs")
    assert bkr("--quiet", "--pairs", "en-de,en-fr", **again).code == 0


SPLITS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "nothing": ({}, ["no array 'S'", "found none", "[seeds, n]"]),
    "no T": ({"S": [[1, 2]]}, ["no array 'T'", "found S"]),
    "floats": ({"S": [[1.5]], "T": [[2]]}, ["S is float64", "integers"]),
    "one dimension": ({"S": [1], "T": [2]}, ["(1,)", "[seeds, n]"]),
    "beyond the data": ({"S": [[1]], "T": [[120]]}, ["T holds item 120", "0 to 119"]),
    "negative": ({"S": [[-1]], "T": [[1]]}, ["S holds item -1"]),
    "twice": ({"S": [[1, 1]], "T": [[2, 3]]}, ["S names an item twice", "row 0"]),
    "rows": ({"S": [[1], [2]], "T": [[3]]}, ["S has 2 rows and T 1"]),
    "matching": ({"S": [[1, 2]], "T": [[2, 3]]}, ["1 items are both", "'scene-000002'", "non-matching"]),
    "objects": ({"S": np.array([[None]]), "T": [[1]]}, ["plain arrays", "numpy.savez"]),
}


@pytest.mark.parametrize("case", SPLITS)
def test_splits(bkr: Any, case: str) -> None:
    arrays, words = SPLITS[case]
    np.savez("splits.npz", **arrays)
    refused(bkr("--splits", "splits.npz"), "splits", *words)


@pytest.mark.parametrize("content", [b"", b"text", b"PK\x03\x04 cut short", b"\x93NUMPY"])
def test_splits_that_are_no_npz(bkr: Any, content: bytes) -> None:
    Path("splits.npz").write_bytes(content)
    refused(bkr("--splits", "splits.npz"), "splits.npz", "numpy.savez")


def test_splits_fix_the_samples(bkr: Any) -> None:
    np.savez("splits.npz", S=[np.arange(40)], T=[np.arange(40, 80)])
    for more in (["--sample-size", "5"], ["--seeds", "2"], ["--seed", "3"]):
        refused(bkr("--splits", "splits.npz", *more), "--splits fixes", more[0])


def test_missing_options_and_words(xlingual: Any) -> None:
    refused(xlingual("evaluate", "bkr", "s", "--image-encoder", "img.npy"), "'--text-encoder'", "--help")
    refused(xlingual("evaluate", "bkr", "s", "--text-encoder", GOOD), "'--image-encoder'", "pixels", "--help")
    refused(xlingual("evaluate", "bkr"), "'MANIFEST'")
    refused(xlingual("evaluate", "bkrr", "s"), "'bkrr'", "Did you mean 'bkr'?")
    refused(xlingual("evalute"), "'evalute'", "Did you mean 'evaluate'?")
    refused(xlingual("data", "chekc"), "'chekc'", "Did you mean 'check'?")
    refused(xlingual("data", "check", "s", "v"), "unexpected argument 'v'", "one manifest")
    refused(xlingual("report", "--out", "r.html"), "DIR")


def test_output_that_cannot_be_written(xlingual: Any) -> None:
    Path("file").touch()
    run = ("evaluate", "bkr", "s", "--text-encoder", GOOD, "--image-encoder", "img.npy")
    refused(xlingual(*run, "--out", "file"), "--out file is a file", "folder")
    refused(xlingual(*run, "--out", "file/below/it"), "file is a file", "choose another")
    refused(xlingual(*run, "--report"), "--report", "--out DIR")
    refused(xlingual("demo", "--out", "file"), "--out file is a file")
    refused(xlingual("data", "scenes", "--n", "3", "--out", "file"), "file", "another --out")
    assert Path("file").read_bytes() == b""


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_output_without_permission(xlingual: Any) -> None:
    Path("locked").mkdir(mode=0o500)
    run = ("evaluate", "bkr", "s", "--text-encoder", GOOD, "--image-encoder", "img.npy")
    for out in ("locked", "locked/below"):
        refused(xlingual(*run, "--out", out), out, "cannot be written to", "another folder")


def test_report_of_what_is_no_result(xlingual: Any, bkr: Any) -> None:
    assert bkr("--quiet").code == 0
    Path("out").rename("kept")
    refused(xlingual("report", "v", "--out", "r.html"), "v/results.json is missing", "--out")
    refused(xlingual("report", "kept", "--out", "s"), "s is a folder", "report.html")
    file = Path("kept/results.json")
    content = file.read_text(encoding="utf-8")
    for broken, words in (
        (content[:-20], ["not valid JSON", "again"]),
        ("[]", ["holds no results"]),
        (content.replace("results/1", "results/9"), ["'xlingual/results/9'", "another version"]),
        (content.replace('"measure"', '"mesure"'), ["lacks a field", "again"]),
    ):
        file.write_text(broken, encoding="utf-8")
        refused(xlingual("report", "kept", "--out", "r.html"), "kept/results.json", *words)
    assert not Path("r.html").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--n", "0"], ["'--n'", "x>=1"]),
        (["--n", "3", "--languages", "en,xx"], ["'xx'", "en"]),
        (["--n", "3", "--languages", ","], ["no language", "en"]),
        (["--n", "3", "--languages", "en,en"], ["'en'", "twice"]),
        (["--n", "3", "--train", "2"], ["'--train'", "2"]),
        ([], ["'--n'"]),
    ],
)
def test_scenes(xlingual: Any, arguments: list[str], words: list[str]) -> None:
    refused(xlingual("data", "scenes", *arguments, "--out", "out"), *words)


def test_a_failing_evaluation_leaves_earlier_results(bkr: Any) -> None:
    assert bkr("--quiet", "--report").code == 0
    before = {path.name: path.read_bytes() for path in Path("out").iterdir()}
    np.save("img.npy", with_bad_values())
    outcome = bkr("--report")
    assert (outcome.code, outcome.out, len(outcome.err.splitlines())) == (2, "", 1)
    assert {path.name: path.read_bytes() for path in Path("out").iterdir()} == before
