"""Files of results: readable JSON without not-a-number, written atomically, read with an error that helps."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from xlingual.errors import InputError


def to_json(content: Mapping[str, Any]) -> str:
    """Return readable JSON; not-a-number values are refused (ValueError), never written."""
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def make_folder(folder: str | Path) -> Path:
    """Make an output folder and return it; raise InputError where that fails (a file is in the way)."""
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"cannot make the output folder {folder}: {error.strerror}: choose another --out"
        ) from error
    return folder


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Give a temporary path beside `path`, moved there on success and removed on failure."""
    with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as handle:
        temporary = Path(handle.name)
    try:
        yield temporary
        temporary.chmod(0o644)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write JSON to `path` atomically, in a folder that is made if need be."""
    text = to_json(content)  # refuses what is not a number before any file is touched
    make_folder(path.parent)
    with atomic_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def read_json(path: Path, schema: str, made_by: str) -> dict[str, Any]:
    """Read a JSON object of a schema; raise InputError where it is missing, damaged or of another schema.

    `made_by` says in words what writes such a file ("xlingual evaluate … --out DIR").
    """
    if not path.is_file():
        raise InputError(f"{path} is missing: give what was written by {made_by}")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not valid JSON ({error}): run {made_by} again") from error
    if not isinstance(content, dict):
        raise InputError(f"{path} holds no results: expected an object with the key 'schema'")
    found = content.get("schema")
    if found != schema:
        raise InputError(_wrong_schema(path, found, schema, made_by))
    return content


def _wrong_schema(path: Path, found: object, schema: str, made_by: str) -> str:
    kind = schema.rpartition("/")[0]
    if isinstance(found, str) and found.rpartition("/")[0] == kind:
        return (
            f"{path}: schema {found!r}, expected {schema!r}: made by another version of xlingual; "
            f"run {made_by} again"
        )
    return f"{path}: schema {found!r}, expected {schema!r}: give what was written by {made_by}"
