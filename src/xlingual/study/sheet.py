"""A sheet: one rater's pages as a single HTML file that needs no server and no network.

It holds the texts, the images (as data URLs) and this rater's order, and nothing that shows which
system made a text.
Answers are saved to a file by the browser, come back by loading that file, and go into the study by
`xlingual study import`. The page's policy allows its own script and style alone, by their hashes.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from xlingual.errors import InputError
from xlingual.files import atomic_file, make_folder
from xlingual.languages import direction
from xlingual.results.document import plain
from xlingual.serving.single_file import json_in_html, source_digest
from xlingual.study.database import Rater
from xlingual.study.exchange import ANSWERS_SCHEMA
from xlingual.study.folder import IMAGES
from xlingual.study.records import Shown, Study
from xlingual.study.server.title import read_title
from xlingual.visible import visible_value

_FILES = Path(__file__).parent / "sheet_files"


def write_sheet(path: Path, folder: str | Path, study: Study, rater: Rater) -> None:
    """Write the sheet of a rater of the study in `folder`; raise InputError where an image is missing."""
    import jinja2
    from markupsafe import Markup

    title = read_title(Path(folder), study.title)
    style, script = ((_FILES / name).read_text(encoding="utf-8") for name in ("sheet.css", "sheet.js"))
    template = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FILES),
        autoescape=True,
        finalize=visible_value,
        undefined=jinja2.StrictUndefined,
    ).get_template("sheet.html")
    page = template.render(
        title=title.text,
        instructions=Markup(title.html),  # of a renderer that lets no HTML through
        labels=study.labels,
        style=Markup(style),
        script=Markup(script),
        style_digest=source_digest(style),
        script_digest=source_digest(script),
        content=Markup(json_in_html(_content(Path(folder), study, rater))),  # "<" is escaped
    )
    make_folder(path.parent)
    with atomic_file(path) as temporary:
        temporary.write_text(page, encoding="utf-8")


def _content(folder: Path, study: Study, rater: Rater) -> dict[str, Any]:
    """Return what the page's script needs."""
    texts = [one for query in study.queries for one in (query.shown, *query.suggestions)]
    return {
        "schema": ANSWERS_SCHEMA,
        "id": study.id,
        "rater": rater.name,
        "file": f"answers-{re.sub(r'[^0-9A-Za-z_-]+', '-', rater.name)}.json",
        "labels": study.labels,
        "directions": {one.language: direction(one.language) for one in texts},
        "queries": [
            {"shown": plain(query.shown), "suggestions": plain(query.suggestions)} for query in study.queries
        ],
        "pages": plain(study.orders[rater.number % len(study.orders)]),
        "images": _images(folder, texts),
    }


def _images(folder: Path, texts: Iterable[Shown]) -> dict[str, str]:
    """Return the images of the texts as data URLs, by file name."""
    found: dict[str, str] = {}
    for one in texts:
        if one.image is None or one.image in found:
            continue
        path = folder / IMAGES / one.image
        try:
            content = path.read_bytes()
        except OSError as error:
            raise InputError(
                f"{path} cannot be read ({error.strerror}): put back the images of the study"
            ) from error
        kind = path.suffix[1:].replace("jpg", "jpeg")
        found[one.image] = f"data:image/{kind};base64,{b64encode(content).decode('ascii')}"
    return found
