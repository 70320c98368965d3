"""Ratings: every answer once, the last one counts, the log has all."""

from __future__ import annotations

import sqlite3
import stat
from dataclasses import replace
from threading import Thread, Timer

import pytest

from xlingual.errors import InputError
from xlingual.study.database import Ratings
from xlingual.study.folder import RATINGS
from xlingual.study.records import Rating

ONE = Rating("1", "q1", "s1", 0, 2, "2026-01-01T10:00:00.000+00:00", 3.5)


@pytest.fixture
def ratings(tmp_path):
    with Ratings(tmp_path) as opened:
        yield opened


def test_reading_makes_no_file(ratings):
    assert ratings.all() == [] and ratings.raters() == [] and ratings.counts() == {}
    assert ratings.last_change("1") is None and ratings.setting("x") is None
    assert not ratings.path.exists()


def test_the_same_score_again_counts_once(ratings):
    assert ratings.add(ONE) is True
    assert ratings.add(replace(ONE, at="2026-01-01T10:00:01.000+00:00")) is False
    assert ratings.all() == [ONE]
    assert len(ratings.log()) == 1


def test_the_last_score_counts_and_the_log_keeps_the_first(ratings):
    ratings.add(ONE)
    better = replace(ONE, score=1)
    assert ratings.add(better) is True
    assert ratings.all() == [better]
    assert [(line.score_before, line.score) for line in ratings.log()] == [(None, 2), (2, 1)]


def test_occasions_and_raters_are_apart(ratings):
    others = [ONE, replace(ONE, occasion=1, score=3), replace(ONE, rater="2", score=4)]
    assert ratings.add_all(others) == 3
    assert sorted(ratings.all(), key=lambda one: (one.rater, one.occasion)) == others
    assert ratings.counts() == {"1": 2, "2": 1}
    assert ratings.of("2") == others[2:]


def test_a_refused_rating_leaves_none_of_its_company(ratings):
    with pytest.raises(InputError, match="CHECK"):
        ratings.add_all([ONE, replace(ONE, suggestion="s2", score=5)])
    assert ratings.all() == [] and ratings.log() == []


def test_undo_walks_back_through_the_changes(ratings):
    ratings.add(ONE)
    ratings.add(replace(ONE, score=4))
    ratings.add(replace(ONE, suggestion="s2"))
    ratings.add(replace(ONE, rater="2"))
    assert ratings.undo("1", ratings.last_change("1")).suggestion == "s2"
    assert ratings.undo("1", ratings.last_change("1")).score == 2
    assert ratings.of("1") == [ONE]
    assert ratings.undo("1", ratings.last_change("1")).score is None
    assert ratings.of("1") == [] and ratings.last_change("1") is None
    assert ratings.counts() == {"2": 1}
    assert len(ratings.log()) == 7


def test_undo_asked_twice_takes_back_one(ratings):
    ratings.add(ONE)
    ratings.add(replace(ONE, suggestion="s2"))
    change = ratings.last_change("1")
    assert ratings.undo("1", change) is not None
    assert ratings.undo("1", change) is None
    assert ratings.all() == [ONE]


def test_a_change_after_undo_can_be_undone(ratings):
    ratings.add(ONE)
    ratings.undo("1", ratings.last_change("1"))
    ratings.add(replace(ONE, score=3))
    assert ratings.undo("1", ratings.last_change("1")).score is None
    assert ratings.last_change("1") is None


def test_another_rater_s_change_cannot_be_undone(ratings):
    ratings.add(ONE)
    assert ratings.undo("2", ratings.last_change("1")) is None
    assert ratings.all() == [ONE]


def test_raters_get_numbers_from_nought_and_names_from_one(ratings):
    first, named, third = ratings.add_rater("a"), ratings.add_rater("b", "Chen"), ratings.add_rater("c")
    assert [(one.number, one.name) for one in (first, named, third)] == [(0, "1"), (1, "Chen"), (2, "3")]
    assert ratings.raters() == [first, named, third]
    with pytest.raises(InputError, match="rater 'Chen' already"):
        ratings.add_rater("d", "Chen")


def test_a_default_name_makes_way_for_one_that_is_taken(ratings):
    ratings.add_rater("a", "2")
    assert ratings.add_rater("b").name == "3"


def test_seen_and_another_token(ratings):
    ratings.add_rater("a")
    ratings.note_seen(0)
    ratings.change_token(0, "b")
    assert ratings.raters()[0].seen is not None and ratings.raters()[0].token_digest == "b"


def test_two_openings_at_a_time_and_threads(tmp_path):
    def rate(number):
        with Ratings(tmp_path) as mine:
            for place in range(20):
                mine.add(replace(ONE, rater=str(number), suggestion=f"s{place}"))

    threads = [Thread(target=rate, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with Ratings(tmp_path) as after:
        assert after.counts() == {str(number): 20 for number in range(4)}


def test_who_opens_a_new_file_waits_for_another_who_does(tmp_path):
    """SQLite does not wait where the mode of a file is changed while another one writes."""
    other = sqlite3.connect(tmp_path / RATINGS, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    release = Timer(0.1, other.execute, ["COMMIT"])
    release.start()
    with Ratings(tmp_path) as ratings:
        assert ratings.add(ONE)
        assert ratings.all() == [ONE]
    release.join()
    other.close()


def test_it_is_durable_by_its_settings(ratings):
    ratings.add(ONE)
    db = ratings._writer.opened()
    assert db.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    assert db.execute("PRAGMA synchronous").fetchone()[0] == 2  # FULL


def test_a_closed_study_is_one_file(tmp_path):
    with Ratings(tmp_path) as ratings:
        ratings.add(ONE)
    assert [path.name for path in tmp_path.iterdir()] == [RATINGS]
    with Ratings(tmp_path) as again:
        assert again.all() == [ONE]


def test_the_file_is_its_owner_s_alone(ratings):
    ratings.add(ONE)
    for path in ratings.path.parent.iterdir():  # the WAL and its index too
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_folder_that_is_not_there_is_said_in_one_line(tmp_path):
    with pytest.raises(InputError, match="unable to open"):
        Ratings(tmp_path / "nothing").add(ONE)


def test_no_database_is_said_in_one_line(tmp_path):
    (tmp_path / RATINGS).write_text("rater,score\n1,2\n" * 100)
    with pytest.raises(InputError, match=r"ratings\.sqlite: the ratings cannot be read"):
        Ratings(tmp_path).all()


def test_a_later_version_is_refused(tmp_path):
    with Ratings(tmp_path) as ratings:
        ratings.add(ONE)
    with sqlite3.connect(tmp_path / RATINGS) as db:
        db.execute("PRAGMA user_version = 2")
    with pytest.raises(InputError, match="version 2"):
        Ratings(tmp_path).all()
