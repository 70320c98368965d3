"""What raters said, in one SQLite file: an answer is on the disk before anybody is told that it is saved.

The file is in WAL mode with synchronous=FULL: a commit that returned survives a killed process and a cut of
the power. There is one connection for each `Ratings`, used by one thread at a time; other processes (an
import beside a running server) wait for each other. Every change is written to a log too, which is never
shortened: it shows how answers came about, and it is what "undo" goes back by.

Only digests of the raters' tokens are in the file: who reads it cannot rate in another's name.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from types import TracebackType

from xlingual.errors import InputError
from xlingual.study.folder import RATINGS
from xlingual.study.records import Rating
from xlingual.study.tables import connect, in_words, now, put, take_back

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
class Change:
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

    Raises:
        InputError: (from any method) the file is not a database of ratings, or cannot be opened.

    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / RATINGS
        self._lock = RLock()
        self._open: sqlite3.Connection | None = None

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

    def undo(self, rater: str, change: int) -> Change | None:
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

    def log(self, number: int | None = None) -> list[Change]:
        """Return all changes in their order, or the one with the number."""
        columns = "number, written, rater, query, suggestion, occasion, score, score_before, undoes"
        where, values = ("WHERE number = ?", (number,)) if number is not None else ("", ())
        return [
            Change(*row) for row in self._rows(f"SELECT {columns} FROM log {where} ORDER BY number", *values)
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
            number = max((rater.number for rater in raters), default=-1) + 1
            rater = Rater(number, name or _free_name(number, raters), token_digest, now())
            if rater.name in {other.name for other in raters}:
                raise InputError(f"{self.path}: there is a rater {rater.name!r} already: choose another name")
            db.execute(
                "INSERT INTO raters VALUES (?, ?, ?, ?, NULL)",
                (rater.number, rater.name, rater.token_digest, rater.created),
            )
        return rater

    def change_token(self, number: int, token_digest: str) -> None:
        """Give a rater another token: the link from before leads nowhere any more."""
        with self._writing() as db:
            db.execute("UPDATE raters SET token_digest = ? WHERE number = ?", (token_digest, number))

    def note_seen(self, number: int) -> None:
        """Note that a rater opened a page now."""
        with self._writing() as db:
            db.execute("UPDATE raters SET seen = ? WHERE number = ?", (now(), number))

    def setting(self, name: str) -> str | None:
        """Return what was kept under a name, or None."""
        rows = self._rows("SELECT value FROM settings WHERE name = ?", name)
        return rows[0][0] if rows else None

    def set(self, name: str, value: str) -> None:
        """Keep a value under a name."""
        with self._writing() as db:
            db.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (name, value))

    def close(self) -> None:
        """Close the file; what the WAL holds goes into it, so that the study is one file again."""
        with self._lock:
            if self._open is not None:
                self._open.close()
                self._open = None

    def __enter__(self) -> Ratings:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _rows(self, sql: str, *values: object) -> list[tuple]:  # type: ignore[type-arg]
        with self._lock, in_words(self.path):
            if self._open is None and not self.path.exists():
                return []  # nobody has rated: reading makes no file
            return self._connection().execute(sql, values).fetchall()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Hold the lock for a transaction; on the disk after the block, or undone by an error."""
        with self._lock, in_words(self.path):
            db = self._connection()
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                db.execute("ROLLBACK")
                raise

    def _connection(self) -> sqlite3.Connection:
        if self._open is None:
            self._open = connect(self.path)
        return self._open


def _free_name(number: int, raters: list[Rater]) -> str:
    taken = {rater.name for rater in raters}
    return next(name for name in map(str, range(number + 1, number + len(raters) + 2)) if name not in taken)
