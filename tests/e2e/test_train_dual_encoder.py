"""`xlingual train dual-encoder` on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from xlingual.cli import screen
from xlingual.cli.training_outcome import _page, how_to_go_on, uses
from xlingual.requests.shared import Output

pytest.importorskip("torch")

PAIRS = [
    ("Who sang?", "Ann sang."),
    ("Where is Rome?", "In Italy."),
    ("What fell?", "Snow fell."),
    ("Why?", "So."),
]
GERMAN = [
    ("Wer sang?", "Ann sang."),
    ("Wo ist Rom?", "In Italien."),
    ("Was fiel?", "Schnee."),
    ("Warum?", "Darum."),
]
FAST = ("--epochs", "2", "--dim", "8", "--buckets", "64", "--threads", "1", "--device", "cpu")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rows = [
        {"question_en": q, "answer_en": a, "question_de": f, "answer_de": b}
        for (q, a), (f, b) in zip(PAIRS, GERMAN, strict=True)
    ]
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_a_training(xlingual: Any, table: Path, tmp_path: Path) -> None:
    out = tmp_path / "model"
    done = xlingual("train", "dual-encoder", table, "--out", out, "--validation", "0.3", *FAST)
    assert done.code == 0
    words = " ".join(done.out.split())
    assert "Trained on 3 questions in 2 languages (x-y)" in words
    assert max(map(len, done.out.split("use:")[0].splitlines())) <= 120
    assert "mAP on 1 held-out question:" in words and f"use: --text-encoder model:{out}" in words
    told = ("--force", "--format", "csv", "--validation", "0.3")
    lines = xlingual("train", "dual-encoder", table, "--out", out, *told, *FAST).out.splitlines()
    assert [line.partition(",")[0] for line in lines] == ["validation", "pool", "own-language"]
    again = xlingual("train", "dual-encoder", table, "--out", out, *FAST)
    assert again.code == 2 and "already has a model" in again.err
    more = xlingual(
        *("train", "dual-encoder", table, "--out", out, "--force", "--json", "--regime", "en-en"),
        *("--validation", "none", "--ngrams", "none", "--positive", "outside", "--sub-batch", "2"),
        *("--epochs", "1", "--threads", "1"),
    )
    config = json.loads(more.out)
    assert config["training"]["regime"] == "en-en" and config["training"]["scores"] is None
    assert config["model"]["ngrams"] is None and config["training"]["epochs_run"] == 1


def test_vectors_of_a_file_show_how_they_are_replaced(capsys: pytest.CaptureFixture[str]) -> None:
    lines = uses("--text-encoder", "model:m", "vectors:v.npy", "texts")
    screen.show_page(_page("Trained.", "", (), (), 1, lines), {}, Output())
    assert capsys.readouterr().out.splitlines()[2:] == [
        "  use: --text-encoder model:m::vectors:v.npy",
        "       --text-encoder 'model:m?base=trusted::vectors:OTHER'  (for other texts)",
    ]
    assert uses("--text-encoder", "model:m", "hf:x", "texts") == ["--text-encoder model:m::hf:x"]
    assert uses("--text-encoder", "model:m", None, "texts") == ["--text-encoder model:m"]


def test_an_interrupted_training_says_how_it_goes_on(tmp_path: Path) -> None:
    assert how_to_go_on(tmp_path) is None
    (tmp_path / "checkpoint").mkdir()
    (tmp_path / "checkpoint" / "state.json").touch()
    assert (
        how_to_go_on(tmp_path) == f"{tmp_path} keeps the training up to its last epoch: go on with --resume"
    )


def test_options_from_a_file(xlingual: Any, table: Path, tmp_path: Path) -> None:
    (tmp_path / "o.toml").write_text('regime = "x-x"\nngrams = [2, 3]\nrate = 0.01\n', encoding="utf-8")
    done = xlingual(
        *("train", "dual-encoder", table, "--out", tmp_path / "m", "--config", tmp_path / "o.toml", "--json"),
        *("--rate", "0.5", *FAST),
    )
    config = json.loads(done.out)
    assert config["model"]["ngrams"] == [2, 3] and config["training"]["rate"] == 0.5
    assert config["training"]["regime"] == "x-x" and config["training"]["epochs"] == 2


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--languages", "en"), "regime x-y draws languages, and there is only en"),
        (("--regime", "en-en", "--language", "fr"), "regime en-en trains on 'fr'"),
        (("--validation", "2"), "give a share between 0 and 1"),
        (("--validation", "some"), "give a share between 0 and 1"),
        (("--ngrams", "5-3"), "neither a range such as 3-5 nor 'none'"),
        (("--frozen",), "words are trained from scratch"),
        (("--base", "words:x"), "unknown scheme 'words'"),
        (("--base", "random", "--separate"), "over a frozen encoder leave them out"),
        (("--sub-batch", "1000"), "more than the 256 pairs of a batch"),
    ],
)
def test_what_is_refused(
    xlingual: Any, table: Path, tmp_path: Path, more: tuple[str, ...], words: str
) -> None:
    done = xlingual("train", "dual-encoder", table, "--out", tmp_path / "m", *FAST, *more)
    assert done.code == 2 and words in done.err and len(done.err.splitlines()) == 1


def test_mini_batches(xlingual: Any, table: Path, tmp_path: Path) -> None:
    out = tmp_path / "model"
    given = ("--batch", "8", "--mini-batch", "2", "--sub-batch", "4", "--validation", "none", "--json")
    done = xlingual("train", "dual-encoder", table, "--out", out, *given, *FAST)
    assert done.code == 0, done.err
    assert json.loads(done.out)["training"]["mini_batch"] == 2
    refused = xlingual("train", "dual-encoder", table, "--out", tmp_path / "m", "--mini-batch", "0", *FAST)
    assert refused.code == 2 and "--mini-batch" in refused.err
