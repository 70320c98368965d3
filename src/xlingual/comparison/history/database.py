"""The file of a history: one SQLite database, opened for one operation at a time.

Rollback journal, not a write-ahead log: between operations the file is alone and whole, so that it can be
copied or kept as an artefact. A writer holds the lock from its first statement to its last, others wait; one
that is killed leaves the state before it, which the next reader restores.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from xlingual.errors import InputError
from xlingual.files import regular_file

APPLICATION = 0x786C6869  # "xlhi", in the header of the file
VERSION = 1  # of the tables; a later one migrates, an earlier one refuses
PATIENCE = 60.0  # seconds to wait for another writer
_SQLITE = b"SQLite format 3\x00"
_WHAT = "a history (made by --record FILE)"

# Text of `document` and `data`: JSON, compressed with zlib. docs/reference/history.md explains every column.
SCHEMA = """
CREATE TABLE block (
  digest TEXT PRIMARY KEY,
  data BLOB NOT NULL
);
CREATE TABLE record (
  id INTEGER PRIMARY KEY,
  digest TEXT NOT NULL,
  date TEXT NOT NULL,
  label TEXT,
  revision TEXT,
  version TEXT,
  remark TEXT,
  document TEXT NOT NULL REFERENCES block
);
CREATE UNIQUE INDEX record_once ON record (digest, date, ifnull(label, ''));
CREATE TABLE number (
  record INTEGER NOT NULL REFERENCES record ON DELETE CASCADE,
  task TEXT NOT NULL,
  encoder TEXT NOT NULL,
  source TEXT NOT NULL,
  target TEXT NOT NULL,
  measure TEXT NOT NULL,
  seed INTEGER NOT NULL,
  value REAL,
  low REAL,
  high REAL,
  n_queries INTEGER NOT NULL,
  signature TEXT NOT NULL,
  queries TEXT REFERENCES block,
  answers TEXT REFERENCES block,
  retrieved TEXT REFERENCES block,
  PRIMARY KEY (record, task, encoder, source, target, measure, seed)
);
CREATE TABLE gate (
  id INTEGER PRIMARY KEY,
  record INTEGER NOT NULL REFERENCES record ON DELETE CASCADE,
  encoder TEXT NOT NULL,
  task TEXT NOT NULL,
  measure TEXT NOT NULL,
  outcome TEXT NOT NULL CHECK (outcome IN ('pass', 'fail', 'cannot tell')),
  document TEXT NOT NULL REFERENCES block,
  UNIQUE (record, encoder, document)
);
"""


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a history for reading; raise InputError where there is none, or it cannot be read."""
    regular_file(path, _WHAT)
    _check_header(path)
    with _explained(path), closing(_connect(path, "rw")) as db:
        try:
            db.execute("BEGIN")
            state = _state(db)
        except sqlite3.OperationalError as error:  # a folder that cannot be written: no lock, nothing to undo
            if not _read_only(error):
                raise
            state = None
        if state is not None:
            _check(state, path)
            yield db
            return
    with _explained(path), closing(_connect(path, "ro")) as db:
        _check(_state(db), path)
        yield db


@contextmanager
def writing(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a history for writing, made if need be; all that the block writes counts, or nothing of it."""
    check_writable(path)
    with _explained(path), closing(_connect(path, "rwc")) as db:
        db.execute("PRAGMA journal_mode = DELETE")
        db.execute("BEGIN IMMEDIATE")
        try:
            state = _state(db)
            if state == (0, 0, 0):
                for statement in SCHEMA.split(";\n"):
                    if statement.strip():
                        db.execute(statement)
                db.execute(f"PRAGMA application_id = {APPLICATION}")
                db.execute(f"PRAGMA user_version = {VERSION}")
            else:
                _check(state, path)
            yield db
        except BaseException:
            db.rollback()
            raise
        db.commit()


def check_writable(path: Path) -> None:
    """Raise InputError, before any work is done, where a history cannot be at a path."""
    if path.exists():
        regular_file(path, _WHAT)
        _check_header(path)
        if not os.access(path, os.W_OK):
            raise InputError(f"{path} is read-only: check its rights, or name another file")
    elif not path.absolute().parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.parent}: make it, or name another file")
    if not os.access(path.absolute().parent, os.W_OK):  # a journal lies there while it is written
        raise InputError(
            f"{path}: its folder {path.parent} is read-only: check its rights, or name another file"
        )


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    address = f"{path.absolute().as_uri()}?mode={mode}"
    db = sqlite3.connect(address, timeout=PATIENCE, isolation_level=None, uri=True)
    db.execute("PRAGMA foreign_keys = ON")
    return db


def _state(db: sqlite3.Connection) -> tuple[int, int, int]:
    """Return the application's mark, the version, and how many tables there are."""
    (mark,), (version,), (tables,) = (
        db.execute(query).fetchone()
        for query in ("PRAGMA application_id", "PRAGMA user_version", "SELECT count(*) FROM sqlite_master")
    )
    return mark, version, tables


def _check(state: tuple[int, int, int], path: Path) -> None:
    mark, version, tables = state
    if mark != APPLICATION:
        what = "another program's SQLite file" if tables else "empty"
        raise InputError(f"{path} is {what}: expected {_WHAT}; name another file")
    if version != VERSION:
        raise InputError(
            f"{path} has tables of version {version}, this program reads version {VERSION}: "
            "use the version of xlingual that wrote it, or a newer one"
        )


def _check_header(path: Path) -> None:
    """Raise InputError for a file that is no SQLite database; an empty one is a database without tables."""
    with path.open("rb") as file:
        begin = file.read(len(_SQLITE))
    if begin not in (b"", _SQLITE):
        raise InputError(f"{path} is no SQLite file: expected {_WHAT}; name another file")


def _read_only(error: sqlite3.OperationalError) -> bool:
    return error.sqlite_errorname.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN"))


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn what SQLite raises into an InputError that says what to do."""
    try:
        yield
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", "") or ""
        if name.startswith("SQLITE_BUSY"):
            said = f"is written by another process for more than {PATIENCE:.0f} seconds: try again later"
        elif name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
            said = f"is damaged ({error}): restore a copy of it, or name another file"
        elif name.startswith("SQLITE_FULL"):
            said = "cannot be written, the disk is full: nothing was recorded"
        elif name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_IOERR", "SQLITE_PERM")):
            said = f"cannot be opened for this ({error}): check the rights of the file and of its folder"
        else:
            said = f"cannot be used ({error}): restore a copy of it, or name another file"
        raise InputError(f"{path} {said}") from error
