"""Ratings to a table and back: nothing lost, twice is once, and what differs is named."""

from __future__ import annotations

import os
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import pytest

from xlingual.errors import InputError
from xlingual.study.exchange import (
    _answers,
)
from xlingual.study.folder import read_key, write_study
from xlingual.study.records import Rating, Study
from xlingual.study.tabular import read_rows, write_ratings

designs = SimpleNamespace(**run_path(str(Path(__file__).with_name("designs.py"))))
Given = tuple[Path, Study, list[Rating]]


@pytest.fixture
def given(tmp_path: Path) -> Given:
    """Return a study on disk, and ratings of it that are in no file yet."""
    made = designs.design(designs.random_lists(3), repeats=0.3, controls=0.3)
    folder = tmp_path / "study"
    study = write_study(folder, made.study, made.key, "")
    ratings = [
        Rating(
            rater,
            page.query,
            one,
            page.occasion,
            1 + (place + len(rater)) % 4,
            "2026-01-01T00:00:00Z",
            seconds,
        )
        for rater, seconds in (("1", 2.5), ("zwei, ü", None))
        for page in study.orders[0]
        for place, one in enumerate(page.suggestions)
    ]
    return folder, study, ratings


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("ratings.csv", read_rows),
        ("ratings.parquet", read_rows),
        ("answers.json", lambda path: _answers(path, None)),
        ("secret/key.json", lambda path: read_key(path.parents[1], None)),
    ],
)
def test_a_named_pipe_is_refused_and_not_waited_for(tmp_path: Path, name: str, read: Any) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    os.mkfifo(path)
    with pytest.raises(InputError, match="is a named pipe"):
        read(path)


def test_names_that_a_spreadsheet_would_compute_come_back_from_csv(tmp_path: Path) -> None:
    rating = Rating("=cmd()", "+q", "'-s", 0, 1, "2026-01-01T00:00:00Z", 1.0)
    write_ratings(tmp_path / "r.csv", [rating])
    lines = (tmp_path / "r.csv").read_text(encoding="utf-8").splitlines()
    assert lines[1].startswith("'=cmd(),'+q,''-s,0,1,")
    (row,) = read_rows(tmp_path / "r.csv")
    assert (row["rater"], row["query"], row["suggestion"]) == ("=cmd()", "+q", "'-s")
