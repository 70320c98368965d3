"""Opening a manifest: which file of a folder it is, and which reader its format needs."""

from __future__ import annotations

import os
from errno import ELOOP, ENAMETOOLONG
from pathlib import Path

from xlingual.data.reading.formats import READERS, read_arrow
from xlingual.data.reading.problems import AT_ONCE, Reading
from xlingual.data.reading.shards import joined, shards_in, shards_like
from xlingual.data.reading.tables import Table
from xlingual.errors import InputError, listed, nearest, why
from xlingual.files import regular_file

FOLDER_NAMES = (
    "metadata.jsonl",
    "metadata.csv",
    "metadata.parquet",
    "manifest.parquet",
    "manifest.jsonl",
    "manifest.ndjson",
    "manifest.csv",
    "manifest.tsv",
)
_READERS = READERS | dict.fromkeys((".arrow", ".feather", ".ipc"), read_arrow)
_OF_POOLS = tuple(
    f"{stem}{ending}" for stem in ("questions", "candidates") for ending in (".parquet", ".jsonl")
)


def open_table(path: str | Path, how: Reading = AT_ONCE) -> tuple[Table, Path]:
    """Return the table of a manifest, and its file: `path` itself or the one found in the folder `path`.

    A folder of numbered Parquet or Arrow files, or a pattern with `*` that matches such files, is one table;
    the folder then stands for its file.
    """
    path = Path(path)
    if os.path.isdir(path):
        if not _manifests_in(path) and (shards := shards_in(path)):
            return _joined(shards, str(path), path, how), path
        path = _find_in_folder(path)
    elif not os.path.isfile(path) and "*" in path.name and (shards := shards_like(str(path))):
        return _joined(shards, str(path), path.parent, how), path
    elif not os.path.isfile(path):
        if os.path.exists(path):
            regular_file(path, "a manifest")
        raise _no_such_file(path)
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise InputError(
            f"{path}: a manifest ends in {listed(_READERS, 20)}, not in {path.suffix!r}: "
            "convert it (a spreadsheet: save it as CSV UTF-8), or give the folder that holds it"
        )
    try:
        return reader(path, how), path
    except OSError as error:
        raise InputError(f"{path} cannot be read: {why(error)}") from error


def _joined(shards: list[Path], source: str, folder: Path, how: Reading) -> Table:
    reader = _READERS[shards[0].suffix.lower()]
    try:
        return joined(shards, source, folder, lambda path: reader(path, how), how)
    except OSError as error:
        raise InputError(f"{source} cannot be read: {why(error)}") from error


def _manifests_in(folder: Path) -> list[Path]:
    return [folder / name for name in FOLDER_NAMES if (folder / name).is_file()]


def _find_in_folder(folder: Path) -> Path:
    found = _manifests_in(folder)
    if not found and any((folder / name).is_file() for name in _OF_POOLS):
        raise InputError(
            f"{folder} is a multilingual pool, no manifest: xlingual data describe {folder} counts what it "
            f"holds, xlingual evaluate multilingual-pool {folder} … evaluates encoders on it"
        )
    if not found:
        raise InputError(
            f"{folder} holds no manifest: looked for {listed(FOLDER_NAMES)}; name the file to read"
        )
    if len(found) > 1:
        raise InputError(f"{folder} holds {listed(path.name for path in found)}: name the one to read")
    return found[0]


def _no_such_file(path: Path) -> InputError:
    name = str(path)
    try:
        os.stat(path)
    except OSError as error:
        if error.errno in (ENAMETOOLONG, ELOOP):
            return InputError(
                f"{name if len(name) <= 80 else name[:80] + '…'} is no path to a manifest ({error.strerror}; "
                f"{len(os.fsencode(name))} bytes): give the path of a file"
            )
    except ValueError:  # a zero byte
        return InputError(f"{name!r:.80} is no path to a manifest: it holds a zero byte")
    return InputError(f"{path}: no such file or folder; give a manifest to read.{_near_file(path)}")


def _near_file(path: Path) -> str:
    """Return a hint at a file or folder of a like name; endings do not count, since many files share one."""
    stems: dict[str, str] = {}
    for name in _names_in(path.parent):
        stems.setdefault(Path(name).stem, name)
    near = nearest(path.stem, stems)
    return f" Did you mean {stems[near]!r}?" if near is not None else ""


def _names_in(folder: Path) -> list[str]:
    try:
        return sorted(path.name for path in folder.iterdir())
    except OSError:
        return []
