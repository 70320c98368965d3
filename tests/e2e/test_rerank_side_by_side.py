"""`xlingual rerank score NAME=FILE …`: systems side by side, runs of a system under one name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xlingual.nbest.score import Scores

WORDS = np.array(["ein", "das", "haus", "und", "baum", "ist", "da", "groß", "."])
QUALITY = {"mt=mt": 0.5, "vse=vse.0": 0.5, "vse=vse.1": 0.5, "mlmme=best.0": 0.95}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    references = random.choice(WORDS, (40, 9))
    systems = {"ref": references}
    for name, quality in QUALITY.items():
        kept = random.random(references.shape) < quality
        systems[name.partition("=")[2]] = np.where(kept, references, random.choice(WORDS, references.shape))
    for name, lines in systems.items():
        Path(name).write_text("".join(f"{' '.join(line)}\n" for line in lines), encoding="utf-8")


@pytest.mark.usefixtures("files")
def test_systems_side_by_side(xlingual: Any) -> None:
    pytest.importorskip("sacrebleu")
    common = ("--references", "ref", "--samples", "50")
    outcome = xlingual("rerank", "score", *QUALITY, *common, "--out", "s.json")
    assert outcome.code == 0, outcome.err
    table, rest = outcome.out.split("Systems side by side")[1].split("Best in bold (*).")
    assert "vse (2 runs)" in table and "reference" in table and "TER ↓" in table
    assert "Of 2 systems, mlmme has the best BLEU: +" in " ".join(outcome.out.split())
    assert "difference to mt" in " ".join(table.split())
    assert "nrefs:1" in rest
    found = Scores.read("s.json")
    assert [one.name for one in found.side_by_side] == ["mt", "vse", "mlmme"]
    gain = found.side_by_side[2].scores["BLEU"].gain
    assert gain is not None and gain.value > 0 and gain.p_adjusted is not None and gain.p_adjusted < 0.05
    assert not found.mean  # of runs of different systems it would mean nothing
    against = xlingual("rerank", "score", "best.0", "vse.0", *common, "--baseline", "MT=mt", "--json")
    content = json.loads(against.out)
    assert [one["name"] for one in content["side_by_side"]] == ["MT", "best.0", "vse.0"]


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("vse.0", "mt=mt"), "name all of them, or none"),
        (("a=mt", "b=mt"), "given twice"),
        (("a=nowhere",), "nowhere"),
        (("a=best.0", "b=vse.0", "--baseline", "a=mt"), "the baseline and a system are both called 'a'"),
        (("a=mt", "b=vse.0", "--baseline", "a"), "is the name of a system: write that system first"),
    ],
)
def test_bad_names_are_one_line(xlingual: Any, given: tuple[str, ...], words: str) -> None:
    outcome = xlingual("rerank", "score", *given, "--references", "ref")
    assert outcome.code == 2 and outcome.out == "" and words in outcome.err
    assert "Traceback" not in outcome.err
