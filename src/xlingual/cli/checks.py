"""Refusing output that cannot be written, before any work is done."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from xlingual.errors import InputError, listed
from xlingual.results.files import json_content


def check_output(out: Path | None, report: bool, task: str | None = None) -> None:
    """Refuse output options that cannot be met, before any work is done.

    A folder that holds the results of another task is refused: they would be lost.
    """
    if report and out is None:
        raise InputError("--report writes DIR/report.html: say where with --out DIR")
    if out is None:
        return
    check_folder(out)
    present = _tasks_in(out)
    if task is not None and present and task not in present:
        raise InputError(
            f"--out {out} holds results of {listed(sorted(present))}, which would be lost: choose another "
            "folder"
        )


def _tasks_in(folder: Path) -> set[str]:
    """Return the tasks whose results a folder holds; none where it holds no results that can be read."""
    try:
        content = json_content(folder / "results.json", "its command")
        return {str(entry["task"]) for entry in content["results"]}
    except (InputError, KeyError, TypeError):
        return set()  # nothing that could be lost


def held(out: Path | None) -> AbstractContextManager[None]:
    """Keep other processes from writing an output folder; refuse one that another process writes."""
    if out is None:
        return nullcontext()
    from xlingual.locks import writing_alone

    return writing_alone(out)


def named_folder(out: Path | None) -> Path:
    """Return the folder of a study; raise InputError where none is named."""
    if out is None:
        raise InputError("--out is missing: the study writes models and results, so say where with --out DIR")
    return out


def check_folder(out: Path, option: str = "--out") -> None:
    """Raise InputError where a folder cannot be written or made."""
    if out.exists() and not out.is_dir():
        raise InputError(f"{option} {out} is a file: name a folder")
    present = next(folder for folder in (out, *out.absolute().parents) if folder.exists())
    if not present.is_dir():
        raise InputError(f"{option} {out}: {present} is a file: choose another folder")
    if not os.access(present, os.W_OK | os.X_OK):
        raise InputError(f"{option} {out}: {present} cannot be written to: choose another folder")


def check_pool_folder(out: Path, force: bool) -> str:
    """Refuse a folder that cannot take a pool, before any work is done; return the files to be replaced.

    Files of a pool in it are refused, unless `force`: then their names are returned ("" for none).
    """
    from xlingual.data.pools.folder import pool_files, refuse_pool_in

    check_folder(out)
    refuse_pool_in(out, "" if force else "replace them with --force")
    return listed(path.name for path in pool_files(out))


def check_file(out: Path | None) -> None:
    """Refuse a file that cannot be written, before any work is done."""
    if out is None:
        return
    if out.is_dir():
        raise InputError(f"--out {out} is a folder: name a file")
    check_folder(out.absolute().parent)


def refuse_vectors(path: Path, expected: str, placeholder: str) -> None:
    """Raise InputError for vectors in the place of data, as a pattern without quotes gives them."""
    if path.suffix in (".npy", ".npz", ".safetensors"):
        raise InputError(
            f"{path} is a file of vectors, where {expected} is expected: if it comes from a pattern with *, "
            "put quotes around the pattern so that the shell passes it on, for example --text-encoder "
            f"'vectors/*.{placeholder}.npy'"
        )
