"""The answers of raters, in one SQLite file: the server confirms an answer when it is on the disk.

The file is in WAL mode with synchronous=FULL: a commit that returned survives a killed process and a cut of
the power. Each `Ratings` has a connection that reads and one that writes, each used by one thread at a time:
reading never waits for writing. Writers, other processes too (an import beside a running server), wait for
each other, ten seconds at most. Every change is also written to a log, which is never shortened: it shows how
answers came about, and "undo" goes back by it.

Only digests of the raters' tokens are in the file: who reads it cannot rate in another's name.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from itertools import count
from pathlib import Path
from threading import RLock

from xlingual.errors import InputError
from xlingual.study.folder import RATINGS
from xlingual.study.records import Rating
from xlingual.study.tables import WAIT_S, BusyError, connect, in_words, now, put, take_back

_COLUMNS = "rater, query, suggestion, occasion, score, at, seconds"


@dataclass(frozen=True)
class Rater:
    """Someone who may rate. `number`, from 0 on, chooses the order of pages; `name` is in the ratings."""

    number: int
    name: str
    token_digest: str  # SHA-256, hex
    created: str  # ISO 8601, UTC
    seen: str | None = None  # when a page was last opened


@dataclass(frozen=True)
class RatingChange:
    """A line of the log. `score` is None where an answer was taken back."""

    number: int
    written: str
    rater: str
    query: str
    suggestion: str
    occasion: int
    score: int | None
    score_before: int | None
    undoes: int | None  # the number of the change that this one takes back


class Ratings:
    """The ratings of the study in a folder, and its raters. The file is made by the first write.

    Args:
        folder: the study's folder.
        wait_s: how many seconds a writer waits for others who write.

    Raises:
        InputError: (from any method) the file is not a database of ratings, or cannot be opened.
        BusyError: (from methods that write) others write for longer than `wait_s`.

    """

    def __init__(self, folder: Path, wait_s: float = WAIT_S) -> None:
        self.path, self.wait_s = folder / RATINGS, wait_s
        self._reader, self._writer = _Connection(self.path), _Connection(self.path)

    def add(self, rating: Rating) -> bool:
        """Keep a rating: on the disk when this returns. The last one given for a suggestion counts.

        Returns:
            Whether something changed: the same score again (a double click, a retry) changes nothing.

        """
        return self.add_all([rating]) == 1

    def add_all(self, ratings: list[Rating]) -> int:
        """Keep ratings, all of them or none; return how many changed something."""
        with self._writing() as db:
            return sum(put(db, rating) for rating in ratings)

    def all(self) -> list[Rating]:
        """Return the ratings that count, by rater and in the order in which they were given."""
        rows = self._rows(f"SELECT {_COLUMNS} FROM ratings ORDER BY rater, at, query, suggestion, occasion")
        return [Rating(*row) for row in rows]

    def of(self, rater: str) -> list[Rating]:
        """Return the ratings of one rater, by name."""
        return [Rating(*row) for row in self._rows(f"SELECT {_COLUMNS} FROM ratings WHERE rater = ?", rater)]

    def counts(self) -> dict[str, int]:
        """Return the number of ratings of each rater who has any, by name."""
        return dict(self._rows("SELECT rater, COUNT(*) FROM ratings GROUP BY rater"))

    def last_change(self, rater: str) -> int | None:
        """Return the number of the change that `undo` would take back, or None."""
        rows = self._rows(
            "SELECT MAX(number) FROM log WHERE rater = ? AND undoes IS NULL"
            " AND number NOT IN (SELECT undoes FROM log WHERE undoes IS NOT NULL AND rater = ?)",
            rater,
            rater,
        )
        return rows[0][0] if rows else None

    def undo(self, rater: str, change: int) -> RatingChange | None:
        """Take back a rater's last change: what was there before it counts again.

        Args:
            rater: name of the rater.
            change: number of the change, from `last_change`: asking twice takes back one change only.

        Returns:
            The line that was written to the log, or None where `change` is not the rater's last one.

        """
        with self._writing() as db:
            if self.last_change(rater) != change:
                return None
            number = take_back(db, rater, change)
        return self.log(number)[0]

    def log(self, number: int | None = None) -> list[RatingChange]:
        """Return all changes in their order, or the one with the number."""
        columns = "number, written, rater, query, suggestion, occasion, score, score_before, undoes"
        where, values = ("", ()) if number is None else ("WHERE number = ?", (number,))
        return [
            RatingChange(*row)
            for row in self._rows(f"SELECT {columns} FROM log {where} ORDER BY number", *values)
        ]

    def raters(self) -> list[Rater]:
        """Return who may rate, by number."""
        rows = self._rows("SELECT number, name, token_digest, created, seen FROM raters ORDER BY number")
        return [Rater(*row) for row in rows]

    def add_rater(self, token_digest: str, name: str | None = None) -> Rater:
        """Add a rater with the next number; the name is that number, counted from 1, unless one is given.

        Raises:
            InputError: another rater has the name.

        """
        with self._writing() as db:
            raters = self.raters()
            taken = {rater.name for rater in raters}
            if name in taken:
                raise InputError(f"{self.path}: there is a rater {name!r} already: choose another name")
            number = max((rater.number for rater in raters), default=-1) + 1
            name = name or next(free for free in map(str, count(number + 1)) if free not in taken)
            rater = Rater(number, name, token_digest, now())
            db.execute("INSERT INTO raters VALUES (?, ?, ?, ?, ?)", astuple(rater))
        return rater

    def change_token(self, number: int, token_digest: str) -> None:
        """Give a rater another token: the link from before leads nowhere any more."""
        with self._writing() as db:
            db.execute("UPDATE raters SET token_digest = ? WHERE number = ?", (token_digest, number))

    def note_seen(self, number: int) -> bool:
        """Note that a rater opened a page now; return False where somebody is writing, without waiting."""
        try:
            with self._writing(wait_s=0) as db:
                db.execute("UPDATE raters SET seen = ? WHERE number = ?", (now(), number))
        except BusyError:
            return False
        return True

    def setting(self, name: str) -> str | None:
        """Return the value of a setting, or None."""
        rows = self._rows("SELECT value FROM settings WHERE name = ?", name)
        return rows[0][0] if rows else None

    def set(self, name: str, value: str) -> None:
        """Keep the value of a setting."""
        with self._writing() as db:
            db.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (name, value))

    def close(self) -> None:
        """Close the file; what the WAL holds goes into it, so that the study is one file again."""
        self._reader.close()
        self._writer.close()

    def __enter__(self) -> Ratings:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _rows(self, sql: str, *values: object) -> list[tuple]:  # type: ignore[type-arg]
        with self._reader.used(), in_words(self.path):
            if self._reader.connection is None and not self.path.exists():
                return []  # nobody has rated: reading makes no file
            return self._reader.opened().execute(sql, values).fetchall()

    @contextmanager
    def _writing(self, wait_s: float | None = None) -> Iterator[sqlite3.Connection]:
        """Hold a transaction; on the disk after the block, or undone by an error.

        Raises BusyError where others write for longer than `wait_s` (None: as this object waits).
        """
        wait_s = self.wait_s if wait_s is None else wait_s
        until = time.monotonic() + wait_s
        with self._writer.used(wait_s), in_words(self.path):
            db = self._writer.opened()
            left_ms = max(0, round((until - time.monotonic()) * 1000))
            db.execute(f"PRAGMA busy_timeout = {left_ms}")
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                db.execute("ROLLBACK")
                raise


class _Connection:
    """A connection that is opened when it is first used, and used by one thread at a time."""

    def __init__(self, path: Path) -> None:
        self.connection: sqlite3.Connection | None = None
        self._path, self._lock = path, RLock()

    @contextmanager
    def used(self, wait_s: float = WAIT_S) -> Iterator[None]:
        """Keep other threads away; raise BusyError where another one has it for longer."""
        if not self._lock.acquire(timeout=wait_s):
            raise BusyError(f"{self._path}: others are writing: try again")
        try:
            yield
        finally:
            self._lock.release()

    def opened(self) -> sqlite3.Connection:
        if self.connection is None:
            self.connection = connect(self._path)
        return self.connection

    def close(self) -> None:
        with self._lock:
            if self.connection is not None:
                self.connection.close()
                self.connection = None
