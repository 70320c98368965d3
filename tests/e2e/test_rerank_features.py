"""`xlingual rerank features` end to end: similarities that tuning and applying then use."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xlingual.nbest.lists import read_nbest

SENTENCES = 12


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return what runs the command line beside lists whose good hypotheses are spelt like the source."""
    from xlingual.cli import main

    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    words = ["hotel", "museum", "garten", "haus", "baum", "see", "radio", "auto"]
    sources, lines = [], []
    for sentence in range(SENTENCES):
        source = random.choice(words, 7)
        sources.append(" ".join(source))
        for _ in range(4):
            wrong = random.random(7) < random.random()
            words_of = np.where(wrong, random.choice(words, 7), source)
            score = random.normal()
            lines.append(f"{sentence} ||| {' '.join(words_of)} ||| lm= {score:.4f} ||| {score:.4f}\n")
    Path("a.nbest").write_text("".join(lines), encoding="utf-8")
    Path("src").write_text("\n".join(sources) + "\n", encoding="utf-8")
    rows = "".join(f'{{"id": "r{i}", "text_en": "{text}"}}\n' for i, text in enumerate(sources))
    Path("m.jsonl").write_text(rows, encoding="utf-8")
    np.save("img.npy", random.standard_normal((SENTENCES, 8)).astype(np.float32))
    return lambda *arguments: main.run([str(argument) for argument in arguments])


def right(texts: Sequence[str], sources: Sequence[str]) -> float:
    """Return the share of words that are those of the source."""
    pairs = zip(texts, sources, strict=True)
    return float(np.mean([np.mean(np.array(a.split()) == np.array(b.split())) for a, b in pairs]))


def test_a_similarity_helps_from_end_to_end(run: Any, capsys: pytest.CaptureFixture[str]) -> None:
    add = ("rerank", "features", "a.nbest", "--source", "src", "--out", "b.nbest")
    assert run(*add, "--text-encoder", "letters=chargram", "--source-language", "en") == 0
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.splitlines()[-1] == "wrote b.nbest"
    assert "of 12 sentences" in shown.err
    tune = ("rerank", "tune", "b.nbest", "--references", "src", "--epochs", "5", "--out", "w.json", "--quiet")
    assert run(*tune) == 0
    assert run("rerank", "apply", "b.nbest", "--weights", "w.json", "--out", "best", "--quiet") == 0
    before = read_nbest("b.nbest")
    assert before.names == ("lm", "letters")
    sources = Path("src").read_text().splitlines()
    chosen = right(Path("best").read_text().splitlines(), sources)
    assert chosen > right(before.hypotheses, [sources[sentence] for sentence in before.sentence]) + 0.05


def test_images_several_encoders_and_no_source(run: Any, capsys: pytest.CaptureFixture[str]) -> None:
    add = ("rerank", "features", "a.nbest", "--images", "m.jsonl", "--out", "b.nbest.gz", "--no-store")
    one = ("--text-encoder", "random:?dim=8", "--image-encoder", "vectors:img.npy")
    assert run(*add, *one, "--quiet") == 0
    assert read_nbest("b.nbest.gz").names == ("lm", "img") and capsys.readouterr().err == ""
    two = ("--text-encoder", "two=random:?dim=8&seed=3", "--source", "src")
    assert run(*add, *one, *two, "--image-encoder", "other=vectors:img.npy") == 0
    assert read_nbest("b.nbest.gz").names == ("lm", "random", "img", "two", "other")


def test_refusals(run: Any, capsys: pytest.CaptureFixture[str]) -> None:
    def refused(*arguments: str) -> str:
        capsys.readouterr()
        assert run("rerank", "features", "a.nbest", "--out", "b.nbest", *arguments) == 2
        shown = capsys.readouterr()
        assert shown.out == "" and shown.err.startswith("error: ") and shown.err.count("\n") == 1
        assert not Path("b.nbest").exists()
        return shown.err

    refused("--text-encoder", "lsa:?fit=m.jsonl", "--source", "src")
    Path("src").write_text("one\n")
