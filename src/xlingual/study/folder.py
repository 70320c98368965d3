"""The folder of a study. All of it can be moved; sheets are made without `secret/`.

Files:
    study.json            texts, pages and orders: what raters may see
    title.md              title and instructions, for the organiser to edit
    images/               images, by names drawn at random
    answers/              the answers of raters, a file of JSON for each
    secret/key.json       which system made what; opened by the analysis alone
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from xlingual.errors import InputError
from xlingual.files import atomic_file, make_folder, regular_file
from xlingual.images import ImageSource, open_image
from xlingual.results.document import read_record, remedy
from xlingual.results.files import to_json
from xlingual.study.records import BEST, MADE_BY, WORST, Study, StudyKey

STUDY_FILE, TITLE_FILE, IMAGES, ANSWERS = "study.json", "title.md", "images", "answers"
SIDE = 1024  # pixels of the longer side of an image at the most
_QUALITY = 85
KEY_FILE = "secret/key.json"
_PUT_BACK = "put back the key that was written with the study"
_TITLE_PAGE = """# {title}

Thank you for taking part. You will see {count} texts, one after the other. Below each are some suggestions.

**For each suggestion, say how relevant it is to the text above:**

{labels}

- Judge each suggestion by itself: any number of them may be "{best}", or none.
- Take what comes to mind first; there is no need to look anything up.
- You can stop whenever you like and go on later on the same device.
"""

Record = TypeVar("Record", Study, StudyKey)


def refuse_study_in(folder: str | Path) -> None:
    """Raise InputError where a folder has a study, or answers, already: nothing is ever written over them."""
    for name in (STUDY_FILE, ANSWERS):
        if (Path(folder) / name).exists():
            raise InputError(f"{folder} holds a study already ({name}): choose another folder with --out")


def write_study(folder: str | Path, study: Study, key: StudyKey, title: str) -> Study:
    """Write a new study: its key first, then the title page, last `study.json`; return it with its digest.

    A folder without `study.json` holds no study, so a run that was killed leaves none that is half there.
    `title` is Markdown. Raises InputError where the folder has a study.
    """
    refuse_study_in(folder)
    root = make_folder(folder)
    make_folder((root / KEY_FILE).parent).chmod(0o700)  # for the owner alone
    text = to_json(checked_key(key, study).to_dict())
    write_private(root / KEY_FILE, text)
    study = replace(checked_study(study), key_digest=_digest(text.encode("utf-8")))
    if not (root / TITLE_FILE).exists():
        (root / TITLE_FILE).write_text(title, encoding="utf-8")
    write_private(root / STUDY_FILE, to_json(study.to_dict()))
    return study


def title_page(study: Study) -> str:
    """Return the first title page in Markdown: the question, and what the scores mean."""
    labels = "\n".join(f"{score}. {label}" for score, label in enumerate(study.labels, start=1))
    best, count = study.labels[0].lower(), len(study.orders[0])
    return _TITLE_PAGE.format(title=study.title, count=count, labels=labels, best=best)


def read_study(folder: str | Path) -> Study:
    """Return the study of a folder; raise InputError where there is none, or one that is damaged."""
    path = Path(folder) / STUDY_FILE
    return _checked(path, lambda: checked_study(read_record(path, Study, MADE_BY)))


def read_key(folder: str | Path, study: Study) -> StudyKey:
    """Return which system made what; raise InputError where the key was changed or is another study's.

    The analysis alone calls this; sheets are made without it.
    """
    path = Path(folder) / KEY_FILE
    if path.exists():
        regular_file(path, "the key of a study")
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}): {_PUT_BACK}") from error
    if _digest(raw) != study.key_digest:
        raise InputError(f"{path} {_why_refused(raw, study)}: {_PUT_BACK}")
    return _checked(path, lambda: checked_key(read_record(path, StudyKey, MADE_BY), study))


def _checked(path: Path, read: Callable[[], Record]) -> Record:
    """Return the record that `read` gives; raise InputError that names the file where it is inconsistent."""
    try:
        return read()
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"{path}: {error}: {remedy(MADE_BY)}") from error


def checked_study(study: Study) -> Study:
    """Return the study; raise ValueError where two texts have an id, or an order shows other texts."""
    ids = [shown.id for query in study.queries for shown in (query.shown, *query.suggestions)]
    if len(set(ids)) < len(ids):
        raise ValueError("two texts have the same id")
    if not study.queries or not study.orders:
        raise ValueError("there are no queries, or no orders")
    shown = {query.shown.id: sorted(one.id for one in query.suggestions) for query in study.queries}
    for order in study.orders:
        asked = [page.query for page in order if page.occasion == 0]
        twice = len({(page.query, page.occasion) for page in order}) < len(order)
        if twice or set(asked) != set(shown):
            raise ValueError("an order does not ask each query once")
        for page in order:
            if page.query not in shown:
                raise ValueError(f"an order has a page of an unknown query or occasion: {page.query!r:.60}")
            if sorted(page.suggestions) != shown[page.query]:
                raise ValueError(f"a page of {page.query!r} does not show each of its suggestions once")
    return study


def checked_key(key: StudyKey, study: Study) -> StudyKey:
    """Return the key; raise ValueError where it is not about the suggestions of this study."""
    if key.study != study.id:
        raise ValueError(f"the key is of the study {key.study!r:.60}, not of {study.id!r}")
    known = {shown.id for query in study.queries for shown in query.suggestions}
    made, controls = set(key.credits), set(key.controls)
    if made | controls != known:
        raise ValueError("credits and controls are not about the suggestions of the study")
    if made & controls:
        raise ValueError("a control is credited to a system")
    systems = {credit.system for credits in key.credits.values() for credit in credits}
    if systems - set(key.systems):
        raise ValueError(f"unknown systems are credited: {', '.join(sorted(systems - set(key.systems)))}")
    if set(key.controls.values()) - {BEST, WORST}:
        raise ValueError(f"the score of a control is not {BEST} or {WORST}")
    return key


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read (mode 600), atomically and flushed to the disk."""
    with atomic_file(path, private=True) as temporary:
        temporary.write_bytes(text.encode("utf-8"))


def _digest(raw: bytes) -> str:
    return sha256(raw).hexdigest()


def _why_refused(raw: bytes, study: Study) -> str:
    """Return why a key has another digest: it belongs to another study, was changed, or is damaged."""
    try:
        of = json.loads(raw)["study"]
    except (ValueError, KeyError, TypeError):
        return "is damaged"
    if of != study.id:
        return f"is the key of another study ({of!r:.40}, not {study.id!r})"
    return f"was changed since the study was made (its SHA-256 is not {study.key_digest[:12]}…)"


def encoded_image(source: ImageSource | None, *, row: str | None = None) -> bytes:
    """Return an image as WebP of at most `SIDE` pixels, without EXIF or other data about it.

    `row` is the id of the row that shows it, for messages. Raises InputError where it cannot be opened.
    """
    with open_image(source, row=row, side=SIDE) as image:
        image.thumbnail((SIDE, SIDE))
        image.info.clear()  # older versions of Pillow write a profile that they find here
        out = BytesIO()
        image.save(out, "WEBP", quality=_QUALITY, method=4)
    return out.getvalue()


def write_images(folder: str | Path, images: Mapping[str, bytes]) -> None:
    """Write the images of a study, by file name, into its folder of images."""
    root = Path(folder) / IMAGES
    if images:
        make_folder(root)
    for name, content in images.items():
        with atomic_file(root / name, durable=False) as temporary:
            temporary.write_bytes(content)
