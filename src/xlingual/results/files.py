"""Files of results: readable JSON without not-a-number, written atomically, read with an error that helps."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from xlingual.errors import InputError, why
from xlingual.files import atomic_file, make_folder, regular_file
from xlingual.visible import visible_json

REPORT = "report.html"


def to_json(content: Mapping[str, Any]) -> str:
    """Return readable JSON; not-a-number values are refused (ValueError), never written.

    Characters that a terminal obeys or that reorder a line stand as escapes: they mean the same to a reader.
    """
    return visible_json(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)) + "\n"


def write_json(path: Path, content: Mapping[str, Any], *, derived: Iterable[str] = ()) -> None:
    """Write JSON to `path` atomically, in a folder that is made if need be.

    `derived` are files beside it that were made from what it held before: they are removed first.
    """
    text = to_json(content)  # refuses what is not a number before any file is touched
    make_folder(path.parent)
    with atomic_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
        for name in derived:
            (path.parent / name).unlink(missing_ok=True)


def read_json(path: Path, schema: str, made_by: str) -> dict[str, Any]:
    """Read a JSON object of a schema; raise InputError where it is missing, damaged or of another schema.

    Its fields are not checked: `xlingual.typed.convert` does.

    `made_by` says in words what writes such a file ("xlingual evaluate … --out DIR").
    """
    if not path.exists():
        raise InputError(f"{path} is missing: give what was written by {made_by}")
    regular_file(path, f"what was written by {made_by}")
    try:
        content = json.loads(path.read_text(encoding="utf-8"), parse_constant=_no_number)
    except RecursionError as error:
        raise InputError(f"{path} is not valid JSON (nested too deep): run {made_by} again") from error
    except ValueError as error:
        raise InputError(f"{path} is not valid JSON ({error}): run {made_by} again") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read: {why(error)}") from error
    if not isinstance(content, dict):
        raise InputError(f"{path} holds no results: expected an object with the key 'schema'")
    found = content.get("schema")
    if found != schema:
        raise InputError(_wrong_schema(path, found, schema, made_by))
    return content


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number")


def _wrong_schema(path: Path, found: object, schema: str, made_by: str) -> str:
    kind = schema.rpartition("/")[0]
    if isinstance(found, str) and found.rpartition("/")[0] == kind:
        return (
            f"{path}: schema {found!r}, expected {schema!r}: made by another version of xlingual; "
            f"run {made_by} again"
        )
    return f"{path}: schema {found!r}, expected {schema!r}: give what was written by {made_by}"
