"""Opening a manifest: which file of a folder it is, and which reader its format needs."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from errno import ELOOP, ENAMETOOLONG
from pathlib import Path

from xlingual.data.reading.formats import READERS, read_arrow
from xlingual.data.reading.joining import as_splits, joined
from xlingual.data.reading.problems import STRICT, Reading
from xlingual.data.reading.remote import local_copy, remote_address
from xlingual.data.reading.tables import SourceTable
from xlingual.errors import InputError, listed, nearest, why
from xlingual.files import regular_file
from xlingual.results.provenance import apart, note_file
from xlingual.saved import saved_shards, saved_splits

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


def open_table(path: str | Path, reading: Reading = STRICT) -> tuple[SourceTable, Path]:
    """Return the table of a manifest, and its file: `path` itself or the one found in the folder `path`.

    A folder of numbered Parquet or Arrow files, or a pattern with `*` that matches such files, is one table;
    the folder then stands for its file. So is a folder that `save_to_disk` of Hugging Face datasets wrote;
    its splits are a column `split`. A file at an address (`hf://datasets/…`, `s3://…`) is copied first.
    """
    path = Path(path)
    if (url := remote_address(path)) is not None:
        return _open_remote(url, reading), path
    if splits := saved_splits(path):
        tables = {name: open_table(folder, reading)[0] for name, folder in splits.items()}
        return as_splits(tables, str(path), path, reading), path
    shards, folder = [], path.parent
    if os.path.isdir(path):
        shards, folder = ([] if _manifests_in(path) else saved_shards(path) or shards_in(path)), path
        path = path if shards else _find_in_folder(path)
    elif not os.path.isfile(path):
        shards = shards_like(str(path)) if "*" in path.name else []
        if os.path.exists(path):
            regular_file(path, "a manifest")
        if not shards:
            raise no_such_file(path)
    reader = _READERS.get((shards[0] if shards else path).suffix.lower())
    if reader is None:
        raise InputError(
            f"{path}: a manifest ends in {listed(_READERS, 20)}, not in {path.suffix!r}: "
            "convert it (a spreadsheet: save it as CSV UTF-8), or give the folder that holds it"
        )
    try:
        found = [reader(file, reading) for file in shards or [path]]
        for file in shards or [path]:
            note_file("manifest", file)
        return (joined(found, str(path), folder, reading) if shards else found[0]), path
    except OSError as error:
        raise InputError(f"{path} cannot be read: {why(error)}") from error


def _open_remote(url: str, reading: Reading) -> SourceTable:
    """Return the table of a file on the net; images in files of their own are not copied."""
    copy = local_copy(url)
    try:
        with apart():  # the copies are no files of the user's
            table = open_table(copy, reading)[0]
    except InputError as error:
        raise InputError(str(error).replace(str(copy), url)) from error
    return replace(table, source=url, folder=None if table.folder is None else Path(url).parent)


def _manifests_in(folder: Path) -> list[Path]:
    return [folder / name for name in FOLDER_NAMES if (folder / name).is_file()]


def _find_in_folder(folder: Path) -> Path:
    found = _manifests_in(folder)
    what = _pool_in(folder)
    if not found and what:
        raise InputError(
            f"{folder} is {what}, no manifest: xlingual data describe {folder} counts what it "
            f"holds, xlingual evaluate multilingual-pool {folder} … evaluates encoders on it"
        )
    if not found:
        raise InputError(
            f"{folder} holds no manifest: looked for {listed(FOLDER_NAMES)}; name the file to read"
        )
    if len(found) > 1:
        raise InputError(f"{folder} holds {listed(path.name for path in found)}: name the one to read")
    return found[0]


def _pool_in(folder: Path) -> str:
    """Return what kind of multilingual pool a folder looks like; "" where it looks like none."""
    if any((folder / name).is_file() for name in _OF_POOLS):
        return "a multilingual pool"
    for place in (folder, *sorted(path for path in folder.iterdir() if path.is_dir())):
        with suppress(OSError):  # of a folder in it that may not be read
            parts = {path.name.partition(".")[0].rpartition("-")[2] for path in place.iterdir()}
            if "corpus" in parts and parts & {"queries", "query", "qrels"}:
                return "a retrieval folder of BEIR or MTEB, which is a multilingual pool"
    return ""


def no_such_file(path: Path) -> InputError:
    """Return the error for a path where nothing is, with the name of a file that may have been meant."""
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
    near = _near_file(path)
    return InputError(f"{path}: no such file or folder; give a manifest to read{near and '.' + near}")


def _near_file(path: Path) -> str:
    """Return a hint at a file or folder of a like name; endings do not count, since many files share one."""
    stems: dict[str, str] = {}
    with suppress(OSError):
        for other in sorted(path.parent.iterdir()):
            stems.setdefault(other.stem, other.name)
    near = nearest(path.stem, stems)
    return f" Did you mean {stems[near]!r}?" if near is not None else ""


_NAME = re.compile(r"(?P<stem>.*?)[-_.]?(?P<number>[0-9]+)(?:-of-(?P<count>[0-9]+))?")
ENDINGS = (".parquet", ".arrow", ".feather", ".ipc")


def shards_in(folder: Path) -> list[Path]:
    """Return the numbered Parquet or Arrow files of a folder, in the order of their numbers; [] for none.

    Raises InputError where they are of several tables, or one of them is missing.
    """
    return _in_order(sorted(path for path in folder.iterdir() if path.is_file()), str(folder))


def shards_like(pattern: str) -> list[Path]:
    """Return the numbered files that a pattern with `*` matches; see `shards_in`."""
    return _in_order(sorted(Path(path) for path in glob.glob(pattern) if Path(path).is_file()), pattern)


def _in_order(paths: Sequence[Path], where: str) -> list[Path]:
    found: dict[tuple[str, str], dict[int, Path]] = {}
    counts: dict[tuple[str, str], int] = {}
    for path in paths:
        match = _NAME.fullmatch(path.stem)
        if match is None or path.suffix.lower() not in ENDINGS:
            continue
        table = (match["stem"], path.suffix.lower())
        other = found.setdefault(table, {}).setdefault(int(match["number"]), path)
        if other != path:
            raise InputError(
                f"{where}: {other.name} and {path.name} have the same number: keep the shards of one "
                "table, or name one of them"
            )
        if match["count"]:
            counts[table] = max(counts.get(table, 0), int(match["count"]))
    if len(found) > 1:
        names = [f"{stem}*{ending}" for stem, ending in found]
        raise InputError(f"{where} holds shards of several tables ({listed(names)}): name one, in quotes")
    for table, numbered in found.items():
        expected = counts.get(table, len(numbered))
        start = 0 if expected == 0 else min(min(numbered), 1)
        missing = sorted(set(range(start, start + expected)) - set(numbered))
        if missing and table in counts:
            raise InputError(
                f"{where}: {len(missing)} of {expected} shards are missing (first: number {missing[0]}): put "
                "all of them there"
            )
        if table in counts and len(numbered) > expected:
            raise InputError(
                f"{where}: {len(numbered)} shards are there of a table in {expected}: keep those of one table"
            )
        return [numbered[number] for number in sorted(numbered)]
    return []
