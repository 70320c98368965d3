"""Folders that `save_to_disk` of Hugging Face datasets writes: read without that library."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from xlingual.errors import InputError, listed
from xlingual.files import regular_file

_SPLITS, _STATE = "dataset_dict.json", "state.json"


def saved_splits(folder: Path) -> dict[str, Path]:
    """Return the folder of each split of a saved DatasetDict; {} where it is none.

    Raises InputError where one of them is missing, or where it names none.
    """
    if not os.path.isfile(folder / _SPLITS):
        return {}
    named = _read(folder / _SPLITS).get("splits")
    splits = [Path(str(name)).name for name in named] if isinstance(named, list) else []
    if not splits:
        raise InputError(f"{folder}: {_SPLITS} names no splits: save the data set again")
    missing = [name for name in splits if not (folder / name).is_dir()]
    if missing:
        raise InputError(
            f"{folder}: the folders of the splits {listed(missing)}, which {_SPLITS} names, are missing: "
            "save the data set again"
        )
    return {name: folder / name for name in splits}


def saved_shards(folder: Path) -> list[Path]:
    """Return the Arrow files of a saved Dataset, in their order; [] where it is none.

    Raises InputError where one of them is missing.
    """
    parts = _read(folder / _STATE).get("_data_files") or []
    try:
        names = [str(part["filename"]) for part in parts]
    except (KeyError, TypeError) as error:
        raise InputError(
            f"{folder / _STATE} is damaged (_data_files without filename): save the data set again"
        ) from error
    return [
        regular_file(folder / Path(name).name, f"a part of the data set that {_STATE} names")
        for name in names
    ]


def _read(path: Path) -> dict[str, Any]:
    if not os.path.isfile(path):
        return {}
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{path} is damaged ({error}): save the data set again") from error
    return found if isinstance(found, dict) else {}
