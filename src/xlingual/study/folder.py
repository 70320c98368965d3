"""The folder of a study. All of it can be moved; a server needs none of what is in `secret/`.

Files:
    study.json            texts, pages and orders: what raters may see
    title.md              title and instructions, for the organiser to edit
    images/               pictures, by names drawn at random
    ratings.sqlite        what raters said, and who they are (numbers and links)
    secret/key.json       which system made what; opened by the analysis alone
    links.csv             a link for each rater, and the organiser's: to hand out
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from xlingual.errors import InputError
from xlingual.files import atomic_file, make_folder, regular_file
from xlingual.results.document import read_record, remedy
from xlingual.results.files import to_json
from xlingual.study.records import MADE_BY, Key, Study
from xlingual.study.validity import checked_key, checked_study

STUDY_FILE, TITLE_FILE, IMAGES, RATINGS = "study.json", "title.md", "images", "ratings.sqlite"
KEY_FILE, LINKS_FILE = "secret/key.json", "links.csv"
_PRIVATE_FOLDER = 0o700  # for the owner alone

Record = TypeVar("Record", Study, Key)


def refuse_study_in(folder: str | Path) -> None:
    """Raise InputError where a folder has a study, or ratings, already: nothing is ever written over them."""
    for name in (STUDY_FILE, RATINGS):
        if (Path(folder) / name).exists():
            raise InputError(f"{folder} holds a study already ({name}): choose another folder with --out")


def write_study(folder: str | Path, study: Study, key: Key, title: str) -> Study:
    """Write a new study: its key first, then the title page, last `study.json`; return it with its digest.

    A folder without `study.json` holds no study, so a run that was killed leaves none that is half there.
    `title` is Markdown. Raises InputError where the folder has a study.
    """
    refuse_study_in(folder)
    root = make_folder(folder)
    secret = make_folder((root / KEY_FILE).parent)
    secret.chmod(_PRIVATE_FOLDER)
    text = to_json(checked_key(key, study).to_dict())
    write_private(root / KEY_FILE, text)
    study = replace(checked_study(study), key_digest=_digest(text.encode("utf-8")))
    if not (root / TITLE_FILE).exists():
        (root / TITLE_FILE).write_text(title, encoding="utf-8")
    write_private(root / STUDY_FILE, to_json(study.to_dict()))
    return study


def read_study(folder: str | Path) -> Study:
    """Return the study of a folder; raise InputError where there is none, or one that is damaged."""
    path = Path(folder) / STUDY_FILE
    return _checked(path, lambda: checked_study(read_record(path, Study, MADE_BY)))


def read_key(folder: str | Path, study: Study) -> Key:
    """Return which system made what; raise InputError where the key was changed or is another study's.

    The analysis alone calls this; nothing that a server runs does.
    """
    path = Path(folder) / KEY_FILE
    if path.exists():
        regular_file(path, "the key of a study")
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"{path} cannot be read ({error.strerror}): put back the key that was written with the study"
        ) from error
    if _digest(raw) != study.key_digest:
        raise InputError(
            f"{path} {_why_refused(raw, study)}: put back the key that was written with the study"
        )
    return _checked(path, lambda: checked_key(read_record(path, Key, MADE_BY), study))


def _checked(path: Path, read: Callable[[], Record]) -> Record:
    """Return what is read; raise InputError that names the file where it does not fit together."""
    try:
        return read()
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"{path}: {error}: {remedy(MADE_BY)}") from error


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read (mode 600), atomically and flushed to the disk."""
    with atomic_file(path, private=True) as temporary:
        temporary.write_bytes(text.encode("utf-8"))


def _digest(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def _why_refused(raw: bytes, study: Study) -> str:
    """Return what is wrong with a key of another digest: it belongs to another study, or was changed."""
    try:
        of = json.loads(raw)["study"]
    except (ValueError, KeyError, TypeError):
        return "is damaged"
    if of != study.id:
        return f"is the key of another study ({of!r:.40}, not {study.id!r})"
    return f"was changed since the study was made (its SHA-256 is not {study.key_digest[:12]}…)"
