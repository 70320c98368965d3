"""Ratings to a table and back: nothing lost, twice is once, and what differs is named."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import pyarrow.parquet as pq
import pytest

from xlingual.errors import InputError
from xlingual.study.database import Ratings
from xlingual.study.exchange import ANSWERS_SCHEMA, Imported, import_ratings, read_ratings, refuse_conflicts
from xlingual.study.folder import read_key, write_study
from xlingual.study.records import Key, Rating, Study
from xlingual.study.tabular import COLUMNS, write_ratings

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


@pytest.mark.parametrize("name", ["ratings.csv", "ratings.parquet", "RATINGS.CSV"])
def test_a_table_brings_back_every_rating(given: Given, tmp_path: Path, name: str) -> None:
    folder, study, ratings = given
    write_ratings(tmp_path / name, ratings)
    assert read_ratings(tmp_path / name, study) == ratings
    assert import_ratings(folder, ratings) == Imported(len(ratings), 0, 0, 0, ("1", "zwei, ü"))
    with Ratings(folder) as kept:
        assert sorted(kept.all(), key=repr) == sorted(ratings, key=repr)
        assert [rater.name for rater in kept.raters()] == ["1", "zwei, ü"]


def test_importing_twice_changes_nothing(given: Given) -> None:
    folder, _, ratings = given
    import_ratings(folder, ratings)
    with Ratings(folder) as kept:
        before = kept.all(), kept.log(), kept.raters()
    assert import_ratings(folder, ratings) == Imported(0, 0, len(ratings), 0, ())
    with Ratings(folder) as kept:
        assert (kept.all(), kept.log(), kept.raters()) == before


def changed(rating: Rating) -> Rating:
    return Rating(
        rating.rater, rating.query, rating.suggestion, rating.occasion, 5 - rating.score, rating.at, None
    )


def test_a_conflict_is_named_and_nothing_is_imported(given: Given) -> None:
    folder, _, ratings = given
    import_ratings(folder, ratings[:3])
    other = [changed(ratings[0]), *ratings[1:]]
    with pytest.raises(
        InputError, match=rf"1 of {len(other)} ratings differ .*nothing is imported"
    ) as raised:
        import_ratings(folder, other)
    for part in (ratings[0].query, ratings[0].suggestion, f"{5 - ratings[0].score} in the file", "--prefer"):
        assert part in str(raised.value)
    with Ratings(folder) as kept:
        assert len(kept.all()) == 3


@pytest.mark.parametrize(("prefer", "replaced"), [("file", 1), ("study", 0)])
def test_a_conflict_is_settled_as_told(given: Given, prefer: str, replaced: int) -> None:
    folder, _, ratings = given
    import_ratings(folder, ratings)
    done = import_ratings(folder, [changed(ratings[0]), *ratings[1:]], prefer)
    assert done == Imported(0, replaced, len(ratings) - 1, 1 - replaced, ())
    with Ratings(folder) as kept:
        scores = {(one.rater, one.suggestion, one.occasion): one.score for one in kept.all()}
    first = ratings[0]
    expected = 5 - first.score if replaced else first.score
    assert scores[first.rater, first.suggestion, first.occasion] == expected


def test_of_several_files_that_differ_none_is_imported(given: Given) -> None:
    folder, _, ratings = given
    files = [(Path("one.csv"), ratings), (Path("two.csv"), [changed(ratings[0])])]
    with pytest.raises(
        InputError, match=r"two\.csv: 1 of 1 ratings differ from those in one\.csv: nothing is imp"
    ):
        refuse_conflicts(folder, files)
    refuse_conflicts(folder, [files[0], files[0]])
    import_ratings(folder, ratings)
    with pytest.raises(InputError, match=f"differ from those in {folder}: nothing"):
        refuse_conflicts(folder, files[1:])


@pytest.mark.parametrize(
    ("at", "kept"),
    [
        ("2026-01-01T09:30:00+00:00", "2026-01-01T09:30:00+00:00"),
        ("2026-01-01T09:30:00.250Z", "2026-01-01T09:30:00.250Z"),
        ("2026-01-01T09:30:00+02:00", "2026-01-01T07:30:00+00:00"),
        ("2026-01-01 09:30", "2026-01-01T09:30:00+00:00"),
    ],
)
def test_times_are_kept_in_an_order(given: Given, tmp_path: Path, at: str, kept: str) -> None:
    write_ratings(tmp_path / "r.csv", [replace(given[2][0], at=at)])
    assert read_ratings(tmp_path / "r.csv", given[1])[0].at == kept


def test_the_key_is_added_where_it_is_asked_for(given: Given, tmp_path: Path) -> None:
    folder, study, ratings = given
    key: Key = read_key(folder, study)
    write_ratings(tmp_path / "open.csv", ratings, key)
    write_ratings(tmp_path / "blind.csv", ratings)
    rows = list(csv.DictReader((tmp_path / "open.csv").read_text(encoding="utf-8").splitlines()))
    assert (tmp_path / "blind.csv").read_text().splitlines()[0] == ",".join(COLUMNS)
    for row in rows:
        made = key.credits.get(row["suggestion"], ())
        assert row["systems"].split(";") == ([credit.system for credit in made] or [""])
        assert row["ranks"].split(";") == ([str(credit.rank) for credit in made] or [""])
        assert row["control"] == str(key.controls.get(row["suggestion"], ""))
    assert {row["control"] for row in rows} == {"", "1", "4"}
    assert read_ratings(tmp_path / "open.csv", study) == ratings


def test_parquet_has_types(given: Given, tmp_path: Path) -> None:
    write_ratings(tmp_path / "r.parquet", given[2])
    schema = pq.read_schema(tmp_path / "r.parquet")
    assert [str(schema.field(name).type) for name in COLUMNS] == [
        *("string", "string", "string", "int64", "int64", "string", "double")
    ]


def answers(study: Study, ratings: list[Rating], **more: Any) -> dict[str, Any]:
    names = ("query", "suggestion", "occasion", "score", "at", "seconds")
    rows = [{name: getattr(one, name) for name in names} for one in ratings]
    return {"schema": ANSWERS_SCHEMA, "study": study.id, "rater": "1", "ratings": rows} | more


def test_the_file_of_a_sheet(given: Given, tmp_path: Path) -> None:
    _, study, ratings = given
    mine = [one for one in ratings if one.rater == "1"]
    path = tmp_path / "answers-1.json"
    path.write_text(json.dumps(answers(study, mine)))
    assert read_ratings(path, study) == mine


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda made: made | {"study": "other"}, "is of another study"),
        (lambda made: made | {"schema": "xlingual/study/1"}, "has not the schema"),
        (lambda made: made | {"ratings": 3}, "no list of ratings"),
        (lambda made: made | {"rater": " "}, "the rater has no name"),
        (lambda made: {name: made[name] for name in made if name != "rater"}, "the rater has no name"),
        (lambda made: [], "has not the schema"),
    ],
)
def test_a_file_that_is_no_sheets(
    given: Given, tmp_path: Path, spoil: Callable[[dict[str, Any]], Any], words: str
) -> None:
    _, study, ratings = given
    path = tmp_path / "a.json"
    path.write_text(json.dumps(spoil(answers(study, ratings[:2]))))
    with pytest.raises(InputError, match=words) as raised:
        read_ratings(path, study)
    assert "\n" not in str(raised.value) and str(raised.value).startswith(str(path))
    assert "a field is not" not in str(raised.value)


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("score", "5", "rating 1: score is '5', expected a whole number from 1 to 4"),
        ("score", "2.5", "score is '2.5'"),
        ("score", "", "score is ''"),
        ("score", "nan", "score is 'nan'"),
        ("occasion", "2", "occasion is '2', expected a whole number from 0 to 1"),
        ("at", "yesterday", "at is 'yesterday', expected a time"),
        ("at", "01.11.2026 00:05", "a spreadsheet may have rewritten it"),
        ("seconds", "-1", "seconds is '-1'"),
        ("seconds", "inf", "seconds is 'inf'"),
        ("query", "nowhere", "query 'nowhere' is not of this study"),
        ("suggestion", "nothing", "suggestion 'nothing' is not one of query"),
        ("rater", "", "the rater has no name"),
    ],
)
def test_a_row_that_cannot_be_right(
    given: Given, tmp_path: Path, column: str, value: str, words: str
) -> None:
    _, study, ratings = given
    path = tmp_path / "r.csv"
    row = {name: getattr(ratings[0], name) for name in COLUMNS} | {column: value}
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerow(row)
    with pytest.raises(InputError, match=words):
        read_ratings(path, study)


def test_the_same_suggestion_twice_in_a_file(given: Given, tmp_path: Path) -> None:
    _, study, ratings = given
    write_ratings(tmp_path / "same.csv", [ratings[0], ratings[0]])
    assert read_ratings(tmp_path / "same.csv", study) == ratings[:1]
    write_ratings(tmp_path / "other.csv", [ratings[0], changed(ratings[0])])
    with pytest.raises(InputError, match=r"other.csv, rating 2: .* has another score further up"):
        read_ratings(tmp_path / "other.csv", study)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("r.csv", b"", "no column 'rater'; found none"),
        ("r.csv", b"rater,query,score\n1,a,2\n", "no column 'suggestion'; found rater, query, score"),
        ("r.csv", b"\xff\xfe", "cannot be read"),
        ("r.parquet", b"PAR1", "cannot be read"),
        ("r.json", b"{", "cannot be read"),
        ("r.xlsx", b"", r"must end in \.csv, \.parquet or \.json"),
        ("missing.csv", None, "cannot be read"),
    ],
)
def test_a_file_that_is_no_table(
    given: Given, tmp_path: Path, name: str, content: bytes | None, words: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=words) as raised:
        read_ratings(tmp_path / name, given[1])
    assert "\n" not in str(raised.value)


def test_a_table_needs_a_known_format(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"must end in \.csv or \.parquet"):
        write_ratings(tmp_path / "r.txt", [])
