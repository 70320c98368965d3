"""`xlingual embed` and `xlingual store`, and the store behind every evaluation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xlingual.encoders.pixels import PixelsEncoder
from xlingual.encoders.random import RandomEncoder
from xlingual.store import Store


@pytest.fixture
def keeping(monkeypatch: pytest.MonkeyPatch, work: Path) -> dict[str, int]:
    """Let two built-in encoders be kept, and count what they encode."""
    asked = {"random": 0, "pixels": 0}
    monkeypatch.setattr(RandomEncoder, "content", ("text", "language"), raising=False)
    monkeypatch.setattr(PixelsEncoder, "content", ("bytes",), raising=False)
    monkeypatch.setenv("XLINGUAL_STORE", str(work / "own"))
    for name, kind in (("random", RandomEncoder), ("pixels", PixelsEncoder)):
        encode = kind.encode

        def counting(self: Any, batch: Any, name: str = name, encode: Any = encode) -> Any:
            asked[name] += len(batch)
            return encode(self, batch)

        monkeypatch.setattr(kind, "encode", counting)
    return asked


EMBED = ("embed", "s", "--text-encoder", "random:?dim=8", "--image-encoder", "pixels", "--out", "e")


def numbers(folder: str) -> list[Any]:
    return [row["value"] for row in json.loads(Path(folder, "results.json").read_text())["results"]]


def test_files_of_embed_are_what_evaluations_read(xlingual: Any, keeping: dict[str, int]) -> None:
    done = xlingual(*EMBED)
    assert (done.code, done.err) == (0, "")
    assert "use: --text-encoder 'random=vectors:e/random.{lang}.npy'" in done.out
    assert "use: --image-encoder pixels=vectors:e/pixels.npy" in done.out
    assert keeping["pixels"] == len(np.load("e/pixels.npy")) > 0
    once = dict(keeping)
    for text, image, out in (
        ("random:?dim=8", "pixels", "a"),
        ("random=vectors:e/random.{lang}.npy", "pixels=vectors:e/pixels.npy", "b"),
    ):
        run = ("--text-encoder", text, "--image-encoder", image, "--out", out, "--threads", "1")
        assert xlingual("evaluate", "bkr", "s", *run).code == 0
    assert numbers("a") == numbers("b")
    assert keeping == once  # the evaluation was served


def test_no_store(xlingual: Any, keeping: dict[str, int]) -> None:
    run = ("evaluate", "bkr", "s", "--text-encoder", "random", "--image-encoder", "pixels", "--threads", "1")
    first = xlingual(*run, "--no-store", "--json")
    assert not Path("own").exists()
    counted = dict(keeping)
    second = xlingual(*run, "--store", "mine", "--json")
    third = xlingual(*run, "--store", "mine", "--json")
    assert keeping == {name: 2 * count for name, count in counted.items()}
    values = [[row["value"] for row in json.loads(done.out)["results"]] for done in (first, second, third)]
    assert values[0] == values[1] == values[2]
    assert not Path("own").exists() and len(Store("mine").folders()) == 2
    refused = xlingual(*run, "--no-store", "--store", "mine")
    assert (refused.code, refused.err.startswith("error: --store and --no-store exclude")) == (2, True)


def test_half_precision(xlingual: Any, keeping: dict[str, int]) -> None:
    assert xlingual(*EMBED, "--half").code == 0
    assert np.load("e/random.en.npy").dtype == np.float16


def test_a_pool(xlingual: Any, keeping: dict[str, int], tmp_path: Path) -> None:
    rows = [
        ({"id": f"{tag}{i}", "lang": tag, "text": f"text {i} {tag}"}, str(i))
        for tag in ("en", "de")
        for i in range(12)
    ]
    folder = tmp_path / "pool"
    folder.mkdir()
    questions = [{**row, "key": number} for row, number in rows]
    candidates = [{**row, "keys": [number]} for row, number in rows]
    for name, lines in (("questions", questions), ("candidates", candidates)):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    done = xlingual("embed", folder, "--text-encoder", "random", "--out", "e")
    assert "random=vectors:e/random.{role}.{lang}.npy" in done.out
    assert np.load("e/random.questions.de.npy").shape == (12, 64)
    run = ("evaluate", "lareqa", folder, "--no-views", "--json", "--threads", "1")
    values = [
        [row["value"] for row in json.loads(xlingual(*run, "--text-encoder", spec).out)["results"]]
        for spec in ("random", "vectors:e/random.{role}.{lang}.npy")
    ]
    assert values[0] == values[1]
    for arguments in (
        ("data", "--languages=en"),
        (folder, "--image-encoder", "pixels"),
        (folder, "--rows", "0:3"),
    ):
        refused = xlingual("embed", *arguments, "--text-encoder", "random", "--out", "e")
        assert (refused.code, refused.err.count("\n")) == (2, 1)


def test_a_full_disk_leaves_no_half_a_file(xlingual: Any) -> None:
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, limits[1]))
    try:
        done = xlingual("embed", "s", "--text-encoder", "random:?dim=64", "--no-store", "--out", "e")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (done.code, done.err.count("\n")) == (2, 1) and not list(Path("e").iterdir())


def test_refusals_and_notes_of_embed(xlingual: Any) -> None:
    refused = xlingual("embed", "s", "--out", "e")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    done = xlingual("embed", "s", "--text-encoder", "lsa:?fit=s#train&dim=8", "--out", "e")
    assert (done.code, len(done.warnings)) == (0, 1) and "(not in the store)" in done.out


def test_looking_after_the_store(xlingual: Any, keeping: dict[str, int]) -> None:
    assert xlingual("store", "list").code == 0
    xlingual(*EMBED)
    listed = json.loads(xlingual("store", "list", "--json").out)["encoders"]
    assert sorted(row["dim"] for row in listed if row["identity"] != "pixels:v1") == [8]
    assert xlingual("store", "verify").code == 0
    path = next(Path("own").rglob("*.safetensors"))
    content = bytearray(path.read_bytes())
    content[-2] ^= 1
    path.write_bytes(bytes(content))
    done = xlingual("store", "verify")
    assert (done.code, path.name in done.err) == (1, True)
    again = xlingual(*EMBED)
    assert (again.code, len(again.warnings)) == (0, 1)
    assert xlingual("store", "verify", "--quiet").code == 0
    assert xlingual("store", "clean", "--encoder", "pixels:v1").code == 0
    assert "pixels" not in xlingual("store", "list").out
    assert xlingual("store", "list", "--encoder", "nothing").code == 2


@pytest.mark.parametrize("verb", ["list", "verify", "clean"])
def test_a_store_that_is_not_there_is_refused(xlingual: Any, verb: str) -> None:
    assert xlingual("store", verb, "--store", "onw").code == 2
    assert not Path("onw").exists()


def test_a_retrieval_folder_says_its_language(xlingual: Any, tmp_path: Path) -> None:
    for folder in (tmp_path / "b" / "en", tmp_path / "b" / "de", tmp_path / "one"):
        (folder / "qrels").mkdir(parents=True)
        for name in ("corpus", "queries"):
            lines = [{"_id": f"{name[0]}{i}", "text": f"{name} {i} {folder.name}"} for i in range(3)]
            (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
        lines = [f"q{i}\tc{i}\t1" for i in range(3)]
        (folder / "qrels" / "test.tsv").write_text("\n".join(["query-id\tcorpus-id\tscore", *lines]))
    run = ("embed", tmp_path / "b", "--text-encoder", "random", "--out", "e")
    assert "warning" not in xlingual(*run).err
    assert xlingual("embed", tmp_path / "one", *run[2:]).code == 2
    assert xlingual("embed", tmp_path / "one", *run[2:], "--languages", "en").code == 0
    assert np.load("e/random.questions.en.npy").shape == (3, 64)
