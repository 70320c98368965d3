"""`--help` of every verb, as a program of its own."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.parametrize(
    ("verb", "words"),
    [
        (["validate"], "bkr is a short name"),
        (["validate", "backretrieval"], "--degrade-images"),
        (["calibrate"], "--family"),
        (["compare"], "--by COLUMN"),
        (["gate"], "3 cannot tell"),
        (["plan"], "--effect"),
        (["rerank", "tune"], "the largest step"),
        (["rerank", "score"], "METEOR (exact + stem)"),
        (["study", "new"], "which the server never opens"),
        (["study", "import"], "changes nothing"),
        (["model", "export"], "no code comes with it"),
        (["encoders"], "whether the packages it needs are installed"),
    ],
)
def test_help_of_a_verb(process: Any, verb: list[str], words: str) -> None:
    done = process(*verb, "--help")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"Usage: xlingual {' '.join(verb)} ")
    assert words in " ".join(done.out.split())
