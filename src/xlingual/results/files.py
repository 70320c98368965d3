"""Files of results: readable JSON without not-a-number, and a folder of several files that are one result.

Both are written so that a crash leaves the old one or the new one. The main file of a folder lists the
SHA-256 of each of the others. A new result is first written under temporary names (`per_query.parquet.new`)
and synced to disk. Then the main file is replaced: from that moment the new result counts. Last, the
others are moved to their places. A reader takes the version of each file whose digest the main file lists: in
its place or, after a crash before the last step, under its temporary name.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping
from io import BufferedReader
from pathlib import Path
from typing import Any

from xlingual.errors import InputError, why
from xlingual.files import atomic_file, make_folder, regular_file, sync, writing
from xlingual.visible import visible_json

REPORT = "report.html"
MOST_JSON = 1 << 29  # bytes of a file
MOST_TABLE = 1 << 36
DIGESTS = "files"  # the key of the main file: name → SHA-256
_TEMPORARY = ".new"

Writer = Callable[[Path], None]


def to_json(content: Mapping[str, Any]) -> str:
    """Return readable JSON; not-a-number values are refused (ValueError), never written.

    Characters that a terminal obeys or that reorder a line are escaped: a JSON parser reads the same.
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

    `made_by` is the command that writes such a file ("xlingual evaluate … --out DIR").
    """
    if not path.exists():
        raise InputError(f"{path} is missing: give what was written by {made_by}")
    content = json_content(path, made_by, parse_constant=_no_number)
    if not isinstance(content, dict):
        raise InputError(f"{path} holds no results: expected an object with the key 'schema'")
    found = content.get("schema")
    if found != schema:
        remedy = f"give what was written by {made_by}"
        if isinstance(found, str) and found.rpartition("/")[0] == schema.rpartition("/")[0]:
            remedy = f"made by another version of xlingual; run {made_by} again"
        raise InputError(f"{path}: schema {found!r}, expected {schema!r}: {remedy}")
    return content


def json_content(path: Path, made_by: str, **options: Any) -> Any:  # noqa: ANN401  (what JSON holds)
    """Return what a file of results holds; `options` are those of `json.loads`."""
    try:
        return json.loads(result_file(path).read_text(encoding="utf-8"), **options)
    except InputError:
        raise
    except (RecursionError, ValueError) as error:
        reason = "nested too deep" if isinstance(error, RecursionError) else error
        raise InputError(f"{path} is not valid JSON ({reason}): run {made_by} again") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read: {why(error)}") from error


def result_file(path: Path, most: int = MOST_JSON) -> Path:
    """Return a regular file of `most` bytes that no link takes outside of its folder; else raise InputError.

    Folders of results come from strangers too.
    """
    regular_file(path, "a file of results")
    if not path.resolve().is_relative_to(path.parent.resolve()):
        raise InputError(
            f"{path} is a link out of its folder, to {path.resolve()}: put the file itself there"
        )
    if (size := path.stat().st_size) > most:
        raise InputError(
            f"{path} has {size:,} bytes, and a file of results has {most:,} at most: is it another file?"
        )
    return path


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number")


def write_together(
    folder: str | Path,
    main: str,
    content: Mapping[str, Any],
    parts: Mapping[str, Writer],
    *,
    derived: Iterable[str] = (),
    obsolete: Iterable[str] = (),
) -> None:
    """Write the JSON `content` as the file `main` with the files `parts`, each by its writer, as one.

    `derived` are files that were made from an earlier result, `obsolete` those of an earlier result that the
    new one lacks: both are removed, the first before the new result counts. An error before that leaves the
    old result as it was.
    """
    to_json(content)  # refuses what is not a number before any file is touched
    folder = make_folder(folder)
    _finish(folder, main)
    digests = {}
    try:
        for name, write in parts.items():
            temporary = _temporary(folder / name)
            with writing(folder / name):
                write(temporary)
                sync(temporary)
                digests[name] = _digest_of(temporary)
        temporary = _temporary(folder / main)
        with writing(folder / main):
            temporary.write_text(to_json({**content, DIGESTS: digests}), encoding="utf-8")
            sync(temporary)
            sync(folder)
        for name in derived:
            (folder / name).unlink(missing_ok=True)
        os.replace(temporary, folder / main)
    except BaseException:
        for name in (*parts, main):
            _temporary(folder / name).unlink(missing_ok=True)
        raise
    sync(folder)
    for name in parts:
        os.replace(_temporary(folder / name), folder / name)
    for name in obsolete:
        if name not in parts:
            (folder / name).unlink(missing_ok=True)
            _temporary(folder / name).unlink(missing_ok=True)
    sync(folder)


def open_part(path: Path, digest: str) -> BufferedReader:
    """Open a file whose digest the main file lists.

    Raises FileNotFoundError where there is no such file, InputError where it belongs to another result.
    """
    found = False
    # the place twice: a run that is just writing may move the file there meanwhile
    for place in (path, _temporary(path), path):
        if not place.exists():
            continue
        file = result_file(place, MOST_TABLE).open("rb")
        if _digest(file) == digest:
            file.seek(0)
            return file
        file.close()
        found = True
    if not found:
        raise FileNotFoundError(path)
    raise InputError(
        f"{path} does not belong to the numbers beside it: it was written by another run, or changed since "
        "(its SHA-256 is another); copy the whole folder of results again, or run it again"
    )


def _finish(folder: Path, main: str) -> None:
    """Move to their places the temporary files of a stopped run that the main file lists."""
    if not (folder / main).is_file():
        return
    try:
        listed = json.loads((folder / main).read_text(encoding="utf-8"))[DIGESTS]
        digests = {str(name): str(digest) for name, digest in listed.items() if Path(name).name == name}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return  # a damaged result, or one without digests: nothing to keep whole
    for name, digest in digests.items():
        path = folder / name
        temporary = _temporary(path)
        if not temporary.is_file() or (path.is_file() and _digest_of(path) == digest):
            continue
        if _digest_of(temporary) == digest:
            os.replace(temporary, path)


def _digest_of(path: Path) -> str:
    with path.open("rb") as file:
        return _digest(file)


def _digest(file: BufferedReader) -> str:
    return hashlib.file_digest(file, "sha256").hexdigest()


def _temporary(path: Path) -> Path:
    return path.with_name(f"{path.name}{_TEMPORARY}")
