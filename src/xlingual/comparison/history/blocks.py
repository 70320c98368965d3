"""Blocks: JSON that is compressed and named by its digest, so that what is equal is kept once."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zlib
from typing import Any

from xlingual.errors import InputError


class Blocks:
    """Blocks to be written: those of one record, or of several."""

    def __init__(self) -> None:
        self.found: dict[str, bytes] = {}

    def add(self, content: Any) -> str:  # noqa: ANN401  (what JSON holds)
        """Return the digest of a block with this content."""
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        plain = text.encode("utf-8", "surrogatepass")
        digest = hashlib.sha256(plain).hexdigest()
        if digest not in self.found:
            self.found[digest] = zlib.compress(plain)
        return digest

    def write(self, db: sqlite3.Connection) -> None:
        """Write those that are not there yet."""
        db.executemany("INSERT OR IGNORE INTO block VALUES (?, ?)", self.found.items())


def read_block(db: sqlite3.Connection, digest: str) -> Any:  # noqa: ANN401  (as above)
    """Return the content of a block; raise InputError where it is missing or changed."""
    row = db.execute("SELECT data FROM block WHERE digest = ?", [digest]).fetchone()
    try:
        plain = zlib.decompress(row[0])
        if hashlib.sha256(plain).hexdigest() != digest:
            raise ValueError("another digest")
        return json.loads(plain.decode("utf-8", "surrogatepass"))
    except (TypeError, zlib.error, ValueError) as error:
        raise InputError(
            f"the history is damaged, its block {digest[:12]} cannot be read: restore a copy of the file"
        ) from error
