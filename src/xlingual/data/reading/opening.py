"""Opening a manifest: which file of a folder it is, and which reader its format needs."""

from __future__ import annotations

from pathlib import Path

from xlingual.data.reading.formats import READERS, read_arrow
from xlingual.data.reading.shards import joined, shards_in, shards_like
from xlingual.data.reading.tables import Table
from xlingual.errors import InputError, listed, nearest

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


def open_table(path: str | Path) -> tuple[Table, Path]:
    """Return the table of a manifest, and its file: `path` itself or the one found in the folder `path`.

    A folder of numbered Parquet or Arrow files, or a pattern with `*` that matches such files, is one table;
    the folder then stands for its file.
    """
    path = Path(path)
    if path.is_dir():
        if not _manifests_in(path) and (shards := shards_in(path)):
            return _joined(shards, str(path), path), path
        path = _find_in_folder(path)
    elif not path.is_file() and "*" in path.name and (shards := shards_like(str(path))):
        return _joined(shards, str(path), path.parent), path
    elif not path.is_file():
        near = _near_file(path)
        raise InputError(f"{path}: no such file or folder; give a manifest to read.{near}")
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise InputError(
            f"{path}: a manifest ends in {listed(_READERS)}, not in {path.suffix!r}: "
            "convert it, or give the folder that holds it"
        )
    try:
        return reader(path), path
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error


def _joined(shards: list[Path], source: str, folder: Path) -> Table:
    try:
        return joined(shards, source, folder, _READERS[shards[0].suffix.lower()])
    except OSError as error:
        raise InputError(f"{source} cannot be read: {error.strerror or error}") from error


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
