"""Sheets: each rater's pages as a single HTML file that needs no server and no network.

A sheet holds the texts, the images and its rater's order, and nothing that shows which system made a text.
The browser keeps the answers, and saves them to a file that `xlingual study collect` reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xlingual.errors import InputError, why
from xlingual.files import regular_file
from xlingual.languages import direction
from xlingual.results.document import plain
from xlingual.study.folder import IMAGES, TITLE_FILE
from xlingual.study.records import ANSWERS_SCHEMA, Shown, Study
from xlingual.webpage import data_url, write_page

_TEMPLATE = Path(__file__).parent / "page" / "sheet.html"
_MOST_BYTES = 100_000  # of instructions
_DEFAULT = "Choose for each suggestion how relevant it is to the query."


def write_sheets(folder: str | Path, study: Study, out: str | Path, raters: int | None = None) -> list[Path]:
    """Write the sheets of raters 1 to `raters` (None: as many as were planned) into the folder `out`.

    The same study, title page and rater give the same sheet. Raises InputError where an image is missing or
    the title page cannot be read.
    """
    title, images = read_title(Path(folder), study.title), _images(Path(folder), study)
    paths = []
    for rater in range(1, 1 + (study.raters if raters is None else raters)):
        path = Path(out) / f"sheet-{rater}.html"
        content = _content(study, rater, images)
        write_page(path, _TEMPLATE, content, title=title.text, instructions=title.html, labels=study.labels)
        paths.append(path)
    return paths


def _content(study: Study, rater: int, images: dict[str, str]) -> dict[str, Any]:
    """Return what the page's script needs."""
    return {
        "schema": ANSWERS_SCHEMA,
        "id": study.id,
        "rater": str(rater),
        "labels": study.labels,
        "directions": {text.language: direction(text.language) for text in _texts(study)},
        "queries": [
            {"shown": plain(row.shown), "suggestions": plain(row.suggestions)} for row in study.queries
        ],
        "pages": plain(study.order_of(rater)),
        "images": images,
    }


def _texts(study: Study) -> Iterable[Shown]:
    return (text for query in study.queries for text in (query.shown, *query.suggestions))


def _images(folder: Path, study: Study) -> dict[str, str]:
    """Return the images of the texts as data URLs, by file name."""
    urls: dict[str, str] = {}
    for name in {text.image: None for text in _texts(study) if text.image is not None}:
        path = folder / IMAGES / name
        try:
            urls[name] = data_url(path.suffix[1:].replace("jpg", "jpeg"), path.read_bytes())
        except OSError as error:
            raise InputError(
                f"{path} cannot be read ({why(error)}): put back the images of the study"
            ) from error
    return urls


@dataclass(frozen=True)
class Title:
    """The title in plain text, and the instructions as HTML (Markup) that is safe to show."""

    text: str
    html: str


def read_title(folder: Path, title: str) -> Title:
    """Return what `title.md` says: its first heading is the title, `title` where it has none.

    The file is Markdown; HTML in it is shown as text, images are left out. Raises InputError where it is too
    long, or not UTF-8.
    """
    path = folder / TITLE_FILE
    if not path.exists():
        return _rendered(_DEFAULT, title)
    raw = regular_file(path, "the title page of a study").read_bytes()
    if len(raw) > _MOST_BYTES:
        raise InputError(
            f"{path}: {len(raw)} bytes of instructions, at most {_MOST_BYTES} are shown: shorten it"
        )
    try:
        return _rendered(raw.decode("utf-8-sig"), title)
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8 text: save it as UTF-8") from None


def _rendered(markdown: str, title: str) -> Title:
    from markdown_it import MarkdownIt
    from markupsafe import Markup

    reader = MarkdownIt("commonmark", {"html": False}).disable(["image", "html_block", "html_inline"])
    tokens: Sequence[Any] = reader.parse(markdown)
    if len(tokens) > 2 and tokens[0].tag == "h1":
        words = [" " if token.type.endswith("break") else token.content for token in tokens[1].children or ()]
        title, tokens = "".join(words).strip() or title, tokens[3:]
    for link in (each for token in tokens for each in token.children or () if each.type == "link_open"):
        link.attrSet("rel", "noopener noreferrer")
    return Title(title, Markup(reader.renderer.render(tokens, reader.options, {})))
