"""Several processes write one history at once, or are killed while they write: nothing is lost or torn."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import pytest

from xlingual import History, InputError
from xlingual.comparison.history import database

WRITER = textwrap.dedent(
    """
    import sys
    from xlingual.comparison.history.recording import record
    from xlingual.results import Results

    results, path, name = Results.read(sys.argv[1]), sys.argv[2], sys.argv[3]
    for number in range(int(sys.argv[4])):
        record(results, path, f"{name}.{number}")
    """
)
KILLED = textwrap.dedent(
    """
    import sys, time
    from pathlib import Path
    from xlingual.comparison.history import recording
    from xlingual.comparison.history.database import writing
    from xlingual.results import Results

    made = recording._made(Results.read(sys.argv[1]), "killed", None, None)
    with writing(Path(sys.argv[2])) as db:
        db.execute("PRAGMA cache_size = 1")  # pages of the open transaction go to the file
        db.execute("PRAGMA cache_spill = 1")
        recording._written(db, made)
        db.execute("UPDATE block SET data = zeroblob(4096)")
        print("writing", flush=True)
        time.sleep(60)
    """
)


def test_threads_that_write_at_once_lose_nothing(history, versions):
    results = versions.xlr(0.5)
    with ThreadPoolExecutor(6) as pool:
        made = list(pool.map(lambda number: history.record(results, label=str(number)), range(24)))
    assert sorted(one.id for one in made) == list(range(1, 25))
    assert {one.label for one in history.records} == set(map(str, range(24)))


@pytest.mark.slow
def test_processes_that_write_at_once_lose_nothing(history, versions, tmp_path):
    versions.xlr(0.5).write(tmp_path / "out")
    writers, each = 6, 4
    running = [
        subprocess.Popen([sys.executable, "-c", WRITER, tmp_path / "out", history.path, f"w{i}", str(each)])
        for i in range(writers)
    ]
    assert [one.wait() for one in running] == [0] * writers
    wanted = {f"w{i}.{number}" for i in range(writers) for number in range(each)}
    assert {one.label for one in history.records} == wanted and len(history.records) == len(wanted)
    with sqlite3.connect(history.path) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
        (numbers,) = db.execute("SELECT count(*) FROM number").fetchone()
    assert numbers == len(wanted) * len(history.results(1).entries)


@pytest.mark.slow
def test_a_writer_that_is_killed_leaves_what_was_there(history, versions, tmp_path):
    history.record(versions.xlr(0.5), label="whole")
    versions.xlr(0.7, 1).write(tmp_path / "out")
    running = subprocess.Popen(
        [sys.executable, "-c", KILLED, tmp_path / "out", history.path], stdout=subprocess.PIPE, text=True
    )
    assert running.stdout.readline() == "writing\n"
    running.send_signal(signal.SIGKILL)
    running.wait()
    assert os.path.exists(f"{history.path}-journal")  # it was in the middle
    assert [one.label for one in history.records] == ["whole"]
    assert history.results(1).entries
    history.record(tmp_path / "out", label="after")
    assert [one.label for one in history.records] == ["whole", "after"]


def test_a_writer_waits_for_another_and_says_so_when_it_takes_too_long(history, versions, monkeypatch):
    history.record(versions.xlr(0.5))
    monkeypatch.setattr(database, "PATIENCE", 0.05)
    with sqlite3.connect(history.path, isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(InputError, match="is written by another process"):
            history.record(versions.xlr(0.6, 1))
        assert len(history.records) == 1  # others may read meanwhile
    other.close()


def test_an_error_within_writes_nothing(history, versions):
    history.record(versions.xlr(0.5))

    def fails():
        with database.writing(history.path) as db:
            db.execute("DELETE FROM record")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fails()
    assert len(History(history.path).records) == 1
