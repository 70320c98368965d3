"""Answers that sheets saved: the last one counts, and what is none of this study is refused."""

from __future__ import annotations

import json
import os
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest

from xlingual.errors import InputError
from xlingual.results.schemas import schema_of
from xlingual.study.answers import collect, read_answers

studies = SimpleNamespace(**run_path(str(Path(__file__).with_name("studies.py"))))


@pytest.fixture
def made(tmp_path: Path) -> Any:
    return studies.make_study(tmp_path / "s", images=False)


def saved(path: Path, study: Any, rater: str, scores: list[int], minute: int = 0, more: Any = None) -> Path:
    """Write what a sheet saves after the first answers."""
    texts = [(page.query, text) for page in study.orders[0] for text in page.suggestions]
    ratings = [
        {"rater": rater, "query": query, "suggestion": text, "occasion": 0, "score": score, "seconds": 1.5}
        | {"at": f"2026-01-01T00:{minute:02}:00.500Z"} | (more or {})
        for (query, text), score in zip(texts, scores, strict=False)
    ]  # fmt: skip
    content = {"schema": "xlingual/study_answers/1", "study": study.id, "ratings": ratings}
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_the_last_score_counts_in_whatever_order_files_come(made: Any, tmp_path: Path) -> None:
    early = saved(tmp_path / "b.json", made.study, "1", [1, 2, 3])
    late = saved(tmp_path / "a.json", made.study, "1", [1, 4], minute=5)
    other = saved(tmp_path / "c.json", made.study, "2", [4] * 12)
    one, two = collect(made.folder, [late, other, early])
    assert (one.rater, one.given, one.asked, one.new, one.changed) == ("1", 3, 12, 3, 0)
    assert (two.rater, two.given, two.new) == ("2", 12, 12)
    scores = [rating.score for rating in read_answers(made.folder, made.study) if rating.rater == "1"]
    assert sorted(scores) == [1, 3, 4]
    before = (made.folder / "answers" / "1.json").read_bytes()
    assert [(row.new, row.changed) for row in collect(made.folder, [early, late])] == [(0, 0), (0, 0)]
    assert (made.folder / "answers" / "1.json").read_bytes() == before
    saved(early, made.study, "1", [2], minute=9)
    assert [(row.new, row.changed) for row in collect(made.folder, [tmp_path])] == [(0, 1), (0, 0)]
    content = json.loads((made.folder / "answers" / "1.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(schema_of("study_answers")).validate(content)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"query": "q999"}, "rating 1: the study has no suggestion"),
        ({"suggestion": "nothing"}, "no suggestion 'nothing'"),
        ({"score": 5}, "score"),
        ({"score": 1.5}, "score"),
        ({"rater": "../x"}, "rater"),
        ({"occasion": 2}, "occasion"),
        ({"at": "yesterday"}, "at"),
        ({"at": "2026-01-01T00:00:00"}, "at"),
        ({"seconds": -1}, "seconds"),
    ],
)
def test_what_is_no_answer_is_refused_and_nothing_is_written(
    made: Any, tmp_path: Path, more: dict[str, Any], words: str
) -> None:
    good, bad = saved(tmp_path / "a.json", made.study, "1", [1]), tmp_path / "b.json"
    saved(bad, made.study, "2", [1], more=more)
    with pytest.raises(InputError, match=words):
        collect(made.folder, [good, bad])
    assert not (made.folder / "answers").exists()


def test_files_that_hold_no_answers_of_the_study(made: Any, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "list.json").write_text("[1]")
    other = studies.make_study(tmp_path / "o", images=False)
    content = saved(tmp_path / "c.json", other.study, "1", [1]).read_text()
    (tmp_path / "c.json").write_text(content.replace(other.study.id, "another"))
    for name, words in (
        ("empty", "no .json"),
        ("pipe.json", "pipe"),
        ("list.json", "list"),
        ("c.json", "another"),
    ):
        with pytest.raises(InputError, match=words):
            collect(made.folder, [tmp_path / name])
