"""The organiser's title and instructions: Markdown, without HTML, images or scripts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from xlingual.errors import InputError
from xlingual.study.folder import TITLE_FILE

_MOST_BYTES = 100_000
_DEFAULT = "Choose for each suggestion how relevant it is to the query."


@dataclass(frozen=True)
class Title:
    """The title in plain text, and the instructions as HTML that is safe to show."""

    text: str
    html: str


def read_title(folder: Path, title: str) -> Title:
    """Return what `title.md` says now: its first heading is the title, `title` where it has none.

    Raises:
        InputError: the file is too long, or is not UTF-8.

    """
    path = folder / TITLE_FILE
    if not path.is_file():
        return render(_DEFAULT, title)
    raw = path.read_bytes()
    if len(raw) > _MOST_BYTES:
        raise InputError(
            f"{path}: {len(raw)} bytes of instructions, at most {_MOST_BYTES} are shown: shorten it"
        )
    try:
        return render(raw.decode("utf-8-sig"), title)
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8 text: save it as UTF-8") from None


def render(markdown: str, title: str) -> Title:
    """Render Markdown (CommonMark). HTML in it is shown as text; images are left out."""
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": False}).disable(["image", "html_block", "html_inline"])
    tokens = reader.parse(markdown)
    if len(tokens) > 2 and tokens[0].tag == "h1":
        words = [" " if one.type.endswith("break") else one.content for one in tokens[1].children or ()]
        title, tokens = "".join(words).strip() or title, tokens[3:]
    for token in tokens:
        for link in (child for child in token.children or () if child.type == "link_open"):
            link.attrSet("rel", "noopener noreferrer")
    return Title(title, reader.renderer.render(tokens, reader.options, {}))
