"""Recording: what comes back, what is recorded once, what is refused."""

from __future__ import annotations

import os
import sqlite3

import pytest

from xlingual import History, InputError, compare
from xlingual.comparison.history.database import SCHEMA, VERSION
from xlingual.results.document import plain


def rows(table, *columns):
    order = ("measure", "source", "query")
    found = sorted(table.to_pylist(), key=lambda row: [row[name] for name in order])
    return [{name: row[name] for name in columns} for row in found]


@pytest.mark.parametrize("task", ["xlr", "bkr"])
def test_results_come_back_to_the_last_digit(history, versions, task):
    results = getattr(versions, task)(0.5)
    back = history.results(history.record(results))
    assert plain(back.entries) == plain(results.entries) and plain(back.summary) == plain(results.summary)
    kept = (
        "task",
        "encoder",
        "source",
        "target",
        "measure",
        "seed",
        "query",
        "value",
        "cluster",
        "by.category",
    )
    assert rows(back.per_query, *kept) == rows(results.per_query, *kept)
    assert rows(back.per_query, "retrieved_cluster") == rows(results.per_query, "retrieved_cluster")


@pytest.mark.parametrize("task", ["xlr", "bkr"])
def test_a_comparison_from_the_file_alone_is_that_of_the_results(history, versions, task):
    one, other = getattr(versions, task)(0.5), getattr(versions, task)(0.8, 1, name="other")
    held = compare([one, other], by=["category"], per_pair=True)
    stored = [history.results(history.record(results)) for results in (one, other)]
    read = compare(stored, by=["category"], per_pair=True)
    assert plain(read.boards) == plain(held.boards)


def test_a_record_has_label_date_version_and_digest(history, versions):
    made = history.record(versions.xlr(0.5), label=" v1.4 ", revision="abc123")
    (found,) = history.records
    assert found == made and (made.label, made.revision, made.date[:10]) == ("v1.4", "abc123", "2026-01-01")
    assert len(made.digest) == 64 and made.version


def test_the_same_results_are_recorded_once_for_each_label(history, versions):
    results = versions.xlr(0.5)
    first = history.record(results)
    assert history.record(results).id == first.id
    labelled = history.record(results, label="v1")  # the record without a label gets it
    assert (labelled.id, labelled.label) == (first.id, "v1") and history.record(results).id == first.id
    other = history.record(results, label="v2")
    assert other.id != first.id and [one.label for one in history.records] == ["v1", "v2"]


def test_equal_numbers_of_another_day_are_another_record_and_cost_little(history, versions):
    history.record(versions.xlr(0.5))
    with sqlite3.connect(history.path) as db:
        before = db.execute("SELECT count(*) FROM block").fetchone()[0]
    history.record(versions.xlr(0.5))
    assert len(history.records) == 2
    with sqlite3.connect(history.path) as db:  # the document alone, which has another date
        assert db.execute("SELECT count(*) FROM block").fetchone()[0] == before + 1


def test_records_are_in_the_order_of_time_in_whatever_order_they_come(history, versions):
    dates = ["2026-03-01T00:00:00+00:00", "2026-01-01T00:00:00+02:00", "2025-12-31T23:00:00", "someday"]
    for number, date in enumerate(dates):
        history.record(versions.xlr(0.5, date=date), label=str(number))
    found = history.records
    assert [one.label for one in found] == ["1", "2", "0", "3"]  # the last has no date: now
    assert [one.date for one in found[:2]] == ["2025-12-31T22:00:00+00:00", "2025-12-31T23:00:00+00:00"]


def test_a_folder_without_a_date_has_that_of_its_file_and_says_so(history, versions, tmp_path):
    results = versions.xlr(0.5)
    results.run.clear()
    results.write(tmp_path / "old")
    os.utime(tmp_path / "old" / "results.json", (1_700_000_000, 1_700_000_000))
    made = history.record(tmp_path / "old", label="old")
    assert made.date == "2023-11-14T22:13:20+00:00" and "date is that of the file" in made.note
    assert history.record(tmp_path / "old", label="old").id == made.id


def test_numbers_are_columns_that_sql_reads(history, versions):
    results = versions.xlr(0.5)
    history.record(results)
    with sqlite3.connect(history.path) as db:
        found = db.execute(
            "SELECT value, low, high, n_queries FROM number WHERE measure = 'R@1' AND source = 'en'"
        ).fetchone()
    (entry,) = [one for one in results.entries if (one.measure, one.source) == ("R@1", "en")]
    assert found == (entry.value, entry.ci.low, entry.ci.high, entry.n_source)


@pytest.mark.parametrize("label", ["", " ", "two\nlines", "x" * 201, "red\x1b[31m"])
def test_a_label_is_one_short_line(history, versions, label):
    with pytest.raises(InputError, match=r"label .*: give one line"):
        history.record(versions.xlr(0.5), label=label)
    assert not history.path.exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"id,lang\n", "is no SQLite file"),
        (b"SQLite format 3\x00" + bytes(100), "damaged|cannot be used|no SQLite"),
    ],
)
def test_other_files_are_refused_and_left_as_they_are(history, versions, content, said):
    history.path.write_bytes(content)
    for what in (lambda: history.record(versions.xlr(0.5)), history.trend, lambda: history.records):
        with pytest.raises(InputError, match=said):
            what()
    assert history.path.read_bytes() == content


def test_another_programs_database_is_refused_and_left_as_it_is(history, versions):
    with sqlite3.connect(history.path) as db:
        db.execute("CREATE TABLE mine (x)")
    before = history.path.read_bytes()
    for what in (lambda: history.record(versions.xlr(0.5)), history.trend):
        with pytest.raises(InputError, match="another program's SQLite file"):
            what()
    assert history.path.read_bytes() == before


def test_a_newer_file_is_refused(history, versions):
    history.record(versions.xlr(0.5))
    with sqlite3.connect(history.path) as db:
        db.execute(f"PRAGMA user_version = {VERSION + 1}")
    with pytest.raises(InputError, match=f"version {VERSION + 1}, this program reads version {VERSION}"):
        history.record(versions.xlr(0.5))


def test_a_truncated_file_is_damaged(history, versions):
    history.record(versions.xlr(0.5))
    whole = history.path.read_bytes()
    history.path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match="damaged"):
        history.trend()


def test_a_changed_block_is_found(history, versions):
    history.record(versions.xlr(0.5))
    history.record(versions.xlr(0.6, 1))
    with sqlite3.connect(history.path) as db:
        db.execute("UPDATE block SET data = (SELECT data FROM block LIMIT 1)")
    with pytest.raises(InputError, match="damaged, its block"):
        history.trend()


def test_a_missing_file_and_an_empty_one(history, versions, tmp_path):
    assert history.records == []
    with pytest.raises(InputError, match="is missing"):
        history.trend()
    history.path.touch()  # as a writer leaves it that was killed at its first step
    history.record(versions.xlr(0.5))
    assert len(history.records) == 1
    with pytest.raises(InputError, match="there is no folder"):
        History(tmp_path / "none" / "history.sqlite").record(versions.xlr(0.5))
    with pytest.raises(InputError, match="is a folder"):
        History(tmp_path).record(versions.xlr(0.5))


def test_a_file_that_may_only_be_read_is_read(history, versions, tmp_path):
    history.record(versions.xlr(0.5))
    history.path.chmod(0o444)
    tmp_path.chmod(0o555)
    try:
        assert len(history.records) == 1
    finally:
        tmp_path.chmod(0o755)


def test_no_file_stays_beside_it(history, versions, tmp_path):
    history.record(versions.xlr(0.5))
    history.trend()
    assert [path.name for path in tmp_path.iterdir()] == ["history.sqlite"]


def test_the_documented_tables_are_those_of_the_file(history, versions):
    history.record(versions.xlr(0.5))
    with sqlite3.connect(history.path) as db:
        names = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert names == {"block", "record", "number", "gate"} and all(
        f"TABLE {name} " in SCHEMA for name in names
    )
