"""The tables of the ratings, and their writes, each in one transaction."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from xlingual.errors import InputError
from xlingual.study.records import BEST, WORST, Rating

_VERSION = 1  # of the tables; SQLite keeps it as user_version
WAIT_S = 10.0  # for others who write, at most
_TABLES = f"""
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE raters (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, token_digest TEXT NOT NULL UNIQUE,
    created TEXT NOT NULL, seen TEXT);
CREATE TABLE ratings (
    rater TEXT NOT NULL, query TEXT NOT NULL, suggestion TEXT NOT NULL, occasion INTEGER NOT NULL,
    score INTEGER NOT NULL CHECK (score BETWEEN {BEST} AND {WORST}), at TEXT NOT NULL, seconds REAL,
    PRIMARY KEY (rater, query, suggestion, occasion)) WITHOUT ROWID;
CREATE TABLE log (
    number INTEGER PRIMARY KEY AUTOINCREMENT, written TEXT NOT NULL,
    rater TEXT NOT NULL, query TEXT NOT NULL, suggestion TEXT NOT NULL, occasion INTEGER NOT NULL,
    score INTEGER, at TEXT, seconds REAL,
    score_before INTEGER, at_before TEXT, seconds_before REAL,
    undoes INTEGER UNIQUE REFERENCES log (number));
CREATE INDEX log_by_rater ON log (rater, number);
"""
_AT = "WHERE rater = ? AND query = ? AND suggestion = ? AND occasion = ?"


class BusyError(InputError):
    """Others have been writing to the ratings for longer than the limit."""


def now() -> str:
    """Return the time as ISO 8601 in UTC, with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def put(db: sqlite3.Connection, rating: Rating) -> bool:
    """Write a rating and its line of the log; return False where the score is there already."""
    key = (rating.rater, rating.query, rating.suggestion, rating.occasion)
    before = db.execute(f"SELECT score, at, seconds FROM ratings {_AT}", key).fetchone()
    if before is not None and before[0] == rating.score:
        return False
    _write(db, key, (rating.score, rating.at, rating.seconds), before or (None, None, None), None)
    return True


def take_back(db: sqlite3.Connection, rater: str, change: int) -> int:
    """Write the state before a change back, and that into the log; return the number of its line."""
    row = db.execute(
        "SELECT query, suggestion, occasion, score, at, seconds, score_before, at_before, seconds_before"
        " FROM log WHERE number = ?",
        (change,),
    ).fetchone()
    return _write(db, (rater, *row[:3]), row[6:], row[3:6], change)


def _write(
    db: sqlite3.Connection,
    key: tuple[object, ...],
    given: tuple[object, ...],
    before: tuple[object, ...],
    undoes: int | None,
) -> int:
    """Write score, time and seconds (None: no score) and a line of the log; return its number."""
    if given[0] is None:
        db.execute(f"DELETE FROM ratings {_AT}", key)
    else:
        db.execute("INSERT OR REPLACE INTO ratings VALUES (?, ?, ?, ?, ?, ?, ?)", (*key, *given))
    written = db.execute(
        "INSERT INTO log VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (now(), *key, *given, *before, undoes),
    )
    return int(written.lastrowid or 0)


def connect(path: Path) -> sqlite3.Connection:
    """Open the file, and make its tables where it is new: for its owner alone (mode 600)."""
    # Only a file that is not there yet is opened here, so that it is its owner's alone: closing a descriptor
    # of a database takes away the locks of this process's other connections to it.
    if path.parent.is_dir() and not path.exists():
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    db = sqlite3.connect(path, timeout=WAIT_S, isolation_level=None, check_same_thread=False)
    try:
        _write_ahead(db)
        db.execute("PRAGMA synchronous = FULL")
        _prepare(db, path)
    except BaseException:
        db.close()
        raise
    return db


def _write_ahead(db: sqlite3.Connection) -> None:
    """Put the file into WAL mode, waiting for others who open a new one: there SQLite itself does not wait.

    It first reads the mode and then locks the file to change it, and says at once that it is busy, lest two
    that do so wait for each other.
    """
    until = time.monotonic() + WAIT_S
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if not _is_busy(error) or time.monotonic() > until:
                raise
            time.sleep(0.01)
        else:
            return


def _prepare(db: sqlite3.Connection, path: Path) -> None:
    """Make the tables in a new file; two processes may come at the same time."""
    if _version(db) == 0:
        db.execute("BEGIN IMMEDIATE")
        if _version(db) == 0:
            for statement in _TABLES.split(";"):
                db.execute(statement)
            db.execute(f"PRAGMA user_version = {_VERSION}")
        db.execute("COMMIT")
    if _version(db) != _VERSION:
        raise InputError(
            f"{path}: ratings of version {_version(db)}, this program reads {_VERSION}: update it"
        )


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def _is_busy(error: Exception) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY


@contextmanager
def in_words(path: Path) -> Iterator[None]:
    """Raise errors of SQLite and of the file as an InputError of one line."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        if _is_busy(error):
            raise BusyError(f"{path}: another program is writing: try again when it is done") from None
        raise InputError(
            f"{path}: the ratings cannot be read or written ({error}): give the folder of a study, or make "
            "room on the disk"
        ) from None
