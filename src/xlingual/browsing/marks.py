"""Marks and notes on queries: in one file, written whole or not at all, and given out as CSV."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path

import msgspec

from xlingual.data.manifest import Manifest
from xlingual.errors import InputError
from xlingual.files import atomic_file, make_folder
from xlingual.visible import csv_text

LONGEST = 2000  # characters of a note
FILE = "marks.json"
_MOST_BYTES = 100_000_000
_WAIT_S = 10
_COLUMNS = ("source", "target", "id", "text", "marked", "note", "changed")


class Mark(msgspec.Struct, frozen=True):
    """A mark on the query with an id, in a language, for candidates in another."""

    source: str
    target: str
    id: str
    marked: bool = False
    note: str = ""
    changed: str = ""  # when, in UTC


class MarksFile(msgspec.Struct, frozen=True, tag_field="schema", tag="xlingual/marks/1"):
    """All marks."""

    marks: list[Mark]


class Marks:
    """The marks in a file; several servers may share it, since each change reads it first."""

    def __init__(self, path: Path) -> None:
        self.path, self.version = path, 0
        if path.is_dir():
            raise InputError(f"--marks {path} is a folder: name a file")
        self._known = self._read()

    def of(self, source: str, target: str, own: str) -> Mark:
        """Return the mark on a query; one that says nothing where there is none."""
        return self._known.get((source, target, own), Mark(source, target, own))

    def all(self) -> list[Mark]:
        """Return all marks, those of the last change last."""
        return sorted(self._known.values(), key=lambda mark: mark.changed)

    def put(self, source: str, target: str, own: str, *, marked: bool, note: str) -> Mark:
        """Keep a mark and a note; they are then on the disk. A mark that says nothing is removed."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        mark = Mark(source, target, own, marked, note.strip()[:LONGEST], now)
        with self._lock():
            known = self._read()
            known.pop((source, target, own), None)
            if mark.marked or mark.note:
                known[source, target, own] = mark
            content = MarksFile(list(known.values()))
            make_folder(self.path.parent)
            with atomic_file(self.path) as temporary:
                temporary.write_bytes(msgspec.json.format(msgspec.json.encode(content), indent=1))
            self._known, self.version = known, self.version + 1
        return mark

    def csv(self, data: Manifest, rows: Mapping[str, Mapping[str, int]]) -> str:
        """Return all marks as CSV, with texts; no cell is a formula."""
        out = StringIO(newline="")
        writer = csv.writer(out)
        writer.writerow(_COLUMNS)
        for mark in self.all():
            row = rows.get(mark.source, {}).get(mark.id)
            text = "" if row is None else data.text[row]
            cells = (
                mark.source,
                mark.target,
                mark.id,
                text,
                "yes" if mark.marked else "",
                mark.note,
                mark.changed,
            )
            writer.writerow(map(csv_text, cells))
        return "\ufeff" + out.getvalue()  # the mark tells Excel that this is UTF-8

    def _read(self) -> dict[tuple[str, str, str], Mark]:
        try:
            if self.path.stat().st_size > _MOST_BYTES:
                raise InputError(f"{self.path} is too large to hold marks: name another file (--marks FILE)")
            found = msgspec.json.decode(self.path.read_bytes(), type=MarksFile)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise InputError(
                f"{self.path} cannot be read ({error.strerror}): name another (--marks FILE)"
            ) from None
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise InputError(
                f"{self.path} holds no marks of xlingual browse ({error}): name another file (--marks FILE)"
            ) from None
        return {(mark.source, mark.target, mark.id): mark for mark in found.marks}

    @contextmanager
    def _lock(self) -> Iterator[None]:
        from filelock import FileLock, Timeout

        make_folder(self.path.parent)
        try:
            with FileLock(self.path.with_name(f".{self.path.name}.lock"), timeout=_WAIT_S):
                yield
        except Timeout:
            raise InputError(f"{self.path} is being written by another program: try again") from None
        except OSError as error:
            raise InputError(f"{self.path} cannot be written ({error.strerror})") from None
