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
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from xlingual.errors import InputError
from xlingual.files import atomic_file, make_folder, regular_file
from xlingual.results.files import read_json, to_json
from xlingual.results.reading import fields_of, record
from xlingual.study.records import Credit, Key, Page, Query, Shown, Study
from xlingual.study.validity import checked_key, checked_study

STUDY_FILE, TITLE_FILE, IMAGES, RATINGS = "study.json", "title.md", "images", "ratings.sqlite"
KEY_FILE, LINKS_FILE = "secret/key.json", "links.csv"
STUDY_SCHEMA, KEY_SCHEMA = "xlingual/study/1", "xlingual/study_key/1"
_MADE_BY = "xlingual study new MANIFEST … --out STUDY"
_PRIVATE_FOLDER = 0o700  # for the owner alone


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
    text = to_json({"schema": KEY_SCHEMA} | asdict(checked_key(key, study)))
    write_private(root / KEY_FILE, text)
    study = replace(checked_study(study), key_digest=_digest(text.encode("utf-8")))
    if not (root / TITLE_FILE).exists():
        (root / TITLE_FILE).write_text(title, encoding="utf-8")
    write_private(root / STUDY_FILE, to_json({"schema": STUDY_SCHEMA} | asdict(study)))
    return study


def read_study(folder: str | Path) -> Study:
    """Return the study of a folder; raise InputError where there is none, or one that is damaged."""
    path = Path(folder) / STUDY_FILE
    content = read_json(path, STUDY_SCHEMA, _MADE_BY)
    with fields_of(path, _MADE_BY):
        return checked_study(
            record(
                Study,
                content,
                queries=tuple(_query(row) for row in content["queries"]),
                orders=tuple(tuple(_page(page) for page in order) for order in content["orders"]),
                labels=tuple(content["labels"]),
            )
        )


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
    content = read_json(path, KEY_SCHEMA, _MADE_BY)
    with fields_of(path, _MADE_BY):
        credits = {
            name: tuple(record(Credit, one) for one in rows) for name, rows in content["credits"].items()
        }
        return checked_key(record(Key, content, credits=credits), study)


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read (mode 600), atomically and flushed to the disk."""
    with atomic_file(path, private=True) as temporary:
        temporary.write_bytes(text.encode("utf-8"))


def _query(row: Mapping[str, Any]) -> Query:
    suggestions = tuple(record(Shown, one) for one in row["suggestions"])
    return record(Query, row, shown=record(Shown, row["shown"]), suggestions=suggestions)


def _page(row: Mapping[str, Any]) -> Page:
    return record(Page, row, suggestions=tuple(row["suggestions"]))


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
