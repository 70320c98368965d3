"""Bad manifests and images: exit code 2, and one line that names row, column and the remedy."""

from __future__ import annotations

import json
import os
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

shared = SimpleNamespace(**run_path(str(Path(__file__).with_name("refusals.py"))))
refused = shared.refused
write_lines = shared.write_lines
long_rows = shared.long_rows


def broken(image: str) -> None:
    """Put something else in place of an image, which is shared with other tests."""
    Path(image).unlink()
    Path(image).write_text("no image")


def test_parquet_with_a_damaged_column_name(bkr: Any) -> None:
    pq.write_table(pa.table({"id": ["1"], "lang": ["en"], "text": ["a"], "cluster": [1]}), "m.parquet")
    content = Path("m.parquet").read_bytes()
    Path("m.parquet").write_bytes(content.replace(b"cluster", b"cluste\xed"))
    refused(bkr(manifest="m.parquet"), "m.parquet", "no Parquet file")


def test_missing_image_when_its_bytes_are_needed(bkr: Any) -> None:
    Path("s/images/scene-000003.png").unlink()
    refused(
        bkr(image="pixels"), "'scene-000003'", "s/images/scene-000003.png", "put it there", "vectors:PATH"
    )


def test_missing_image_is_a_warning_beside_vectors(bkr: Any) -> None:
    Path("s/images/scene-000003.png").unlink()
    outcome = bkr("--quiet")
    assert outcome.code == 0 and len(outcome.err.splitlines()) == 1
    assert "1 of 120 image files" in outcome.warnings[0] and "scene-000003.png" in outcome.warnings[0]


def test_unreadable_image(bkr: Any) -> None:
    broken("s/images/scene-000003.png")
    refused(bkr(image="pixels"), "'scene-000003'", "scene-000003.png", "not an image", "replace")


def test_broken_pictures_are_skipped_where_asked_for(bkr: Any) -> None:
    broken("s/images/scene-000003.png")
    Path("s/images/scene-000004.png").unlink()
    words = ("2 of 120 images are missing or broken", "--skip-broken", "'scene-000003'")
    refused(bkr(image="pixels"), *words)
    outcome = bkr("--skip-broken", "--quiet", image="pixels")
    assert outcome.code == 0 and len(outcome.warnings) == 1
    assert "texts take no part (--skip-broken)" in outcome.warnings[0]
    assert "show 2 images that cannot be opened (first: row 'scene-000003'" in outcome.warnings[0]


def test_no_images_at_all(bkr: Any) -> None:
    manifest = write_lines("m.jsonl", long_rows())
    refused(bkr(manifest=manifest, text="random", image="pixels"), "no row has an image", "--image-column")


def test_a_row_without_a_image(bkr: Any) -> None:
    rows = long_rows()
    for row in rows[2:]:
        row["image"] = "s/images/scene-000001.png"
    manifest = write_lines("m.jsonl", rows)
    refused(bkr(manifest=manifest, text="random", image="pixels"), "'en0'", "no image", "vectors:PATH")


@pytest.mark.parametrize("path", ["../../etc/passwd", "/etc/passwd", "link.png"])
def test_image_outside_the_folder(bkr: Any, path: str) -> None:
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
    "no language column": ("m.csv", b"id,text\n1,a\n", ["no column 'lang'", "--lang-column"]),
    "no text column": ("m.csv", b"id,lang\n1,en\n", ["no column 'text'", "--text-column"]),
    "other names": (
        "m.csv",
        b"id,language,title\n1,en,a\n",
        ["language, title", "--lang-column", "--text-column"],
    ),
    "fields": ("m.csv", b"id,lang,text\n1,en,a,b\n", ["row 1", "4 fields", "header has 3", "quote"]),
    "open quote": ("m.csv", b'id,lang,text\n1,en,"a\n', ["line 2", "quotes"]),
    "not UTF-8": ("m.csv", b"id,lang,text\n1,en,\xff\n", ["line 2", "UTF-8"]),
    "not JSON": ("m.jsonl", b'{"id": 1}\n{bad\n', ["line 2", "JSON", "mend"]),
    "not an object": ("m.jsonl", b"[1]\n", ["row 1", "the number 1"]),
    "not Parquet": ("m.parquet", b"x", ["no Parquet file"]),
    "not a manifest": ("m.ods", b"x", [".parquet", "'.ods'", "convert"]),
    "tag": ("m.csv", b"id,lang,text\n1,en US,a\n", ["row 1", "'lang'", "'en US'"]),
    "empty id": ("m.csv", b"id,lang,text\n,en,a\n", ["row 1", "'id'", "empty id"]),
    "number for a text": ("m.jsonl", b'{"lang": "en", "text": 3}\n', ["row 1", "'text'", "the number 3"]),
    "one language": ("m.csv", b"id,lang,text\n1,en,a\n2,en,b\n", ["only 'en'", "needs at least two"]),
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
    np.save("images.npy", np.eye(40, dtype=np.float32))
    again = {"manifest": manifest, "text": "random", "image": "images.npy"}
    refused(bkr(**again), "R@10", "fr-en has 1", "--pairs")
    assert bkr("--quiet", "--pairs", "en-de,en-fr", **again).code == 0
