"""One HTML file of chosen queries that sorts, filters and searches without a server or a network."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xlingual.browsing.looking import Looking
from xlingual.browsing.queries import Queries
from xlingual.browsing.viewing import KIND_WORDS, Card, Viewer, outcome_of
from xlingual.browsing.wanted import Wanted
from xlingual.data.thumbnails import thumbnails
from xlingual.files import atomic_file, make_folder
from xlingual.languages import name_of
from xlingual.serving.single_file import json_in_html, source_digest
from xlingual.visible import visible, visible_value

_HERE = Path(__file__).parent
_STYLES = (_HERE.parent / "serving" / "static" / "shared.css", _HERE / "static" / "browse.css")
_SIDE = 112  # pixels of an image
_MOST_BYTES = 24_000_000  # of images; further ones are placeholders
_NEIGHBOURS = 5  # of a query


@dataclass(frozen=True)
class Written:
    """What a file holds, and what had no room."""

    queries: int
    left_out: int
    images_left_out: int


def write_static(looking: Looking, wanted: Wanted, path: Path, most: int = 500) -> Written:
    """Write the first of the wanted queries, with texts and thumbnails; a crash leaves the old file."""
    import jinja2
    from markupsafe import Markup

    lines = looking.lines(wanted)
    maker = _Maker(looking, looking.queries[wanted.encoder])
    rows = [maker.line(line) for line in lines[:most].tolist()]
    written = Written(len(rows), len(lines) - len(rows), maker.left_out)
    style = "\n".join(one.read_text(encoding="utf-8") for one in _STYLES)
    script = (_HERE / "static_page" / "failures.js").read_text(encoding="utf-8")
    template = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE / "static_page"),
        autoescape=True,
        finalize=visible_value,
        undefined=jinja2.StrictUndefined,
    ).get_template("failures.html")
    tags = {tag for row in rows for tag in (row["query"]["lang"], row["target"])}
    what = "failures" if wanted.outcome == "failed" else "queries"
    page = template.render(
        title=f"{looking.found.data}: {what} of {wanted.encoder}",
        looking=looking,
        wanted=wanted,
        chosen=_in_words(looking, wanted),
        written=written,
        most_mb=_MOST_BYTES // 1_000_000,
        kinds=KIND_WORDS,
        languages=[(tag, name_of(tag) or tag) for tag in looking.data.languages if tag in tags],
        style=Markup(style),
        script=Markup(script),
        style_digest=source_digest(style),
        script_digest=source_digest(script),
        content=Markup(
            json_in_html(
                {
                    "rows": rows,
                    "images": maker.images,
                    "kinds": KIND_WORDS,
                    "languages": {tag: name_of(tag) or tag for tag in looking.data.languages},
                }
            )
        ),  # "<" is escaped
    )
    make_folder(path.parent)
    with atomic_file(path) as temporary:
        temporary.write_text(page, encoding="utf-8")
    return written


class _Maker:
    """Makes the lines of a file, and keeps the images that they show."""

    def __init__(self, looking: Looking, queries: Queries) -> None:
        self.looking, self.queries, self.viewer = looking, queries, Viewer(looking)
        self.images: dict[str, str] = {}
        self.left_out = self._bytes = 0
        self._missing: set[int] = set()
        self._thumbnail = thumbnails(looking.data, _SIDE, most=1)

    def line(self, line: int) -> dict[str, Any]:
        """Return what the page shows of a query."""
        one, looking = self.queries, self.looking
        row, target = int(one.row[line]), one.pairs[one.pair[line]][1]
        outcome, answer = outcome_of(one, line), self.viewer.answer(row, target)
        near = one.neighbours(line)[:_NEIGHBOURS]
        source = looking.data.languages[looking.data.language[row]]
        mark = looking.marks.of(source, target, looking.data.ids[row])
        return {
            "query": self._text(self.viewer.card(row)),
            "target": target,
            "near": [self._text(self.viewer.card(each.row, each.score, row, one.hubs)) for each in near],
            "answer": None if answer is None else self._text(answer),
            "rank": outcome.rank,
            "kind": outcome.kind,
            "slices": looking.slices.weak_of(row),
            "marked": mark.marked,
            "note": visible(mark.note, keep="\n"),
        }

    def _text(self, card: Card) -> dict[str, Any]:
        return {
            "id": card.id,
            "text": visible(card.text, keep="\n\t"),
            "lang": card.language,
            "dir": card.dir,
            "image": self._image(card.slot),
            "score": card.score,
            "right": card.right,
            "hub": card.hub,
        }

    def _image(self, slot: int) -> str | None:
        """Return the key of an image, None where there is none to show."""
        if slot < 0 or slot in self._missing:
            return None
        if (key := str(slot)) not in self.images:
            content = self._thumbnail(slot)
            if content is None or self._bytes + len(content) > _MOST_BYTES:
                self._missing.add(slot)
                self.left_out += content is not None
                return None
            self._bytes += len(content)
            self.images[key] = f"data:image/jpeg;base64,{b64encode(content).decode('ascii')}"
        return key


def _in_words(looking: Looking, wanted: Wanted) -> str:
    """Return which queries were chosen."""
    one = looking.slices.get(wanted.slice) if wanted.slice else None
    parts = [
        "queries that failed" if wanted.outcome == "failed" else
        "queries that were answered" if wanted.outcome == "answered" else "all queries",
        wanted.source and f"from {name_of(wanted.source) or wanted.source}",
        wanted.target and f"to {name_of(wanted.target) or wanted.target}",
        wanted.kind and KIND_WORDS[wanted.kind],
        wanted.rank and f"rank {wanted.rank}",
        one and (one.label if one.key[0] == "w" else f"{one.group}: {one.label}"),
    ]  # fmt: skip
    return "; ".join(str(part) for part in parts if part)
