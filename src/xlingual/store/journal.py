"""The journal of a collection: one line for each whole shard, and for each that was found damaged.

Lines are only ever appended. Each begins and ends with a line break, so that one that a crash has cut short
spoils no other, and carries a checksum of itself.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from xlingual.records import digest
from xlingual.store.disk import append

NAME = "journal.jsonl"
# what a crash leaves of a line ends before its checksum does
_WHOLE = re.compile(rb'\}|"check":"[0-9a-f]{16}".$')


@dataclass(frozen=True)
class ShardLine:
    """A shard that is whole: its file, its sizes, and the checksum of all in the file but the vectors."""

    shard: str
    rows: int
    dim: int
    dtype: str
    head: str
    form: str = ""  # of sparse rows and token vectors, and how they are compared; "" of an array


@dataclass
class Journal:
    """What the lines of a journal say.

    `seal` is the name of the collection, so that no line is taken for another's. `damaged` are marks of lines
    that are whole but wrong; each is reported once, since `dropped` holds marks as well as names of shards.
    """

    path: Path
    seal: str
    shards: dict[str, ShardLine] = field(default_factory=dict)
    dropped: set[str] = field(default_factory=set)
    damaged: list[str] = field(default_factory=list)
    _read: int = 0  # bytes

    def refresh(self) -> bool:
        """Read what was appended since the last time; return whether there was anything."""
        try:
            with self.path.open("rb") as handle:
                if handle.seek(0, 2) < self._read:  # another file: the old one was removed
                    self._read = 0
                handle.seek(self._read)
                content = handle.read()
        except OSError:
            return False
        whole = content[: content.rfind(b"\n") + 1]
        self._read += len(whole)
        for line in filter(None, whole.split(b"\n")):
            self._take(line)
        return bool(whole)

    def live(self) -> list[ShardLine]:
        """Return the shards that count."""
        return [line for name, line in self.shards.items() if name not in self.dropped]

    def unseen_damage(self) -> list[str]:
        """Return the marks of damaged lines that were not reported yet."""
        return [mark for mark in dict.fromkeys(self.damaged) if mark not in self.dropped]

    def add(self, line: ShardLine) -> None:
        """Append a shard that is whole and in its place."""
        record = {name: value for name, value in asdict(line).items() if name != "form" or value}
        append(self.path, self._sealed(record))
        self.shards[line.shard] = line

    def drop(self, name: str) -> None:
        """Append that a shard, or the mark of a damaged line, counts no longer."""
        self.dropped.add(name)
        append(self.path, self._sealed({"drop": name}))

    def _take(self, line: bytes) -> None:
        record = self._opened(line)
        if record is None and _WHOLE.search(line):
            self.damaged.append(f"line {digest(line).hex()[:16]}")
        elif record and "drop" in record:
            self.dropped.add(record["drop"])
        elif record:
            self.shards[record["shard"]] = ShardLine(**record)

    def _sealed(self, record: dict[str, Any]) -> bytes:
        content = record | {"check": self._check(record)}
        return b"\n" + json.dumps(content, separators=(",", ":")).encode() + b"\n"

    def _opened(self, line: bytes) -> dict[str, Any] | None:
        """Return the record of a line, or None where it is not as it was written."""
        try:
            record: dict[str, Any] = json.loads(line)
            check = record.pop("check")
            whole = check == self._check(record) and line == self._sealed(record).strip()
        except (ValueError, KeyError, TypeError, AttributeError):
            return None
        return record if whole else None

    def _check(self, record: dict[str, Any]) -> str:
        return digest(self.seal, json.dumps(record, separators=(",", ":"))).hex()[:16]
