"""`xlingual data mix-pool`: from a manifest to a pool folder."""

from __future__ import annotations

from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import pytest

from xlingual.data.pools.pool import MultilingualPool

shared = SimpleNamespace(**run_path(str(Path(__file__).with_name("refusals.py"))))
refused = shared.refused


def captions(languages: tuple[str, ...] = ("en", "de"), n: int = 20) -> str:
    rows = [
        row | {"id": f"{row['id']}.{k}", "text": f"{row['text']}, caption {k}"}
        for row in shared.long_rows(n, languages)
        for k in range(3)
    ]
    return shared.write_lines("captions.jsonl", rows)


def test_a_pool_is_written_and_shown(xlingual: Any) -> None:
    outcome = xlingual("data", "mix-pool", captions(), "--out", "out", "--mix", "en=3, de=1")
    assert (outcome.code, outcome.err) == (0, "wrote out\n")
    assert "40 questions, 53 candidates, 2.65 relevant to a question" in outcome.out
    assert [line.split() for line in outcome.out.splitlines() if line[1:3] in ("en", "de")] == [
        ["en", "20", "40", "75.5%"],
        ["de", "20", "13", "24.5%"],
    ]
    pool = MultilingualPool.read("out")
    assert pool.languages == ("en", "de") and len(pool.questions) == 40 and len(pool.candidates) == 53


def test_a_pool_that_is_there_is_replaced_by_force_only(xlingual: Any) -> None:
    make = ("data", "mix-pool", captions(), "--out", "p")
    assert xlingual(*make).code == 0
    refused(xlingual(*make), "p holds questions.parquet, candidates.parquet", "--force")
    forced = xlingual(*make, "--force", "--format", "jsonl")
    assert (forced.code, forced.err) == (0, "wrote p, replacing questions.parquet, candidates.parquet\n")
    assert sorted(path.name for path in Path("p").iterdir()) == ["candidates.jsonl", "questions.jsonl"]


def test_every_option(xlingual: Any) -> None:
    command = ("data", "mix-pool", captions(), "--quiet", "--format", "jsonl", "--per-item", "one")
    options = ("--question-languages", "en", "--candidates", 8, "--questions", 5, "--rows", "0:60")
    outcomes = [
        xlingual(*command, *options, "--seed", seed, "--out", out)
        for seed, out in ((1, "a"), (1, "b"), (2, "c"))
    ]
    for outcome in outcomes:
        assert (outcome.code, outcome.out) == (0, "")
        assert outcome.err == (
            "warning: captions.jsonl: 2 of 10 questions are dropped: no text of their item is a candidate\n"
        )
    pools = [MultilingualPool.read(folder) for folder in "abc"]
    assert pools[0].digest == pools[1].digest != pools[2].digest
    assert len(pools[0].questions) == 5 and len(pools[0].candidates) == 8
    assert set(pools[0].questions.language) == {pools[0].languages.index("en")}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--mix", "en:3,de:1"), ("--mix 'en:3,de:1': found 'en:3'", "as in en=3,de=1")),
        (("--mix", "en=3,de=x"), ("found 'de=x' where language=share is expected",)),
        (("--mix", "en=3,en=1"), ("names 'en' twice",)),
        (("--mix", "en=3,fr=1"), ("names 'fr'", "Its languages: en, de")),
        (("--question-languages", "ed"), ("name 'ed'", "has no texts in it")),
        (("--candidates", "1000"), ("only 80 can (possible candidates: en 40, de 40)",)),
        (("--per-item", "two"), ("'two' is not one of 'all', 'one'",)),
        (("another.jsonl",), ("unexpected argument 'another.jsonl'",)),
    ],
)
def test_bad_options_are_refused(xlingual: Any, options: tuple[str, ...], words: tuple[str, ...]) -> None:
    refused(xlingual("data", "mix-pool", captions(), "--out", "out", *options), *words)


def test_texts_without_company_are_refused(xlingual: Any) -> None:
    manifest = shared.write_lines("texts.jsonl", [row | {"item": row["id"]} for row in shared.long_rows(5)])
    outcome = xlingual("data", "mix-pool", manifest, "--out", "out")
    refused(outcome, "texts.jsonl: no question has a relevant candidate", "--item-column")
