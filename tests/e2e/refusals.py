"""What the tests of bad input share."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

LANGUAGES = ("en", "de", "es")


GOOD = "v/good.{lang}.npy"


def refused(outcome: Any, *words: str, code: int = 2) -> None:
    printed = outcome.err.splitlines()
    lines = [line for line in printed if not line.startswith("encoding texts: ")]  # a service's cost
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


def with_bad_values() -> np.ndarray:
    vectors = np.ones((120, 4), np.float32)
    vectors[4, 2], vectors[9, 0] = np.nan, np.inf
    return vectors
