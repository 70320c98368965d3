"""The page of failures: one HTML file that sorts, filters and searches without a server or a network."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from xlingual.data.images import cut, thumbnails
from xlingual.inspection.encoder import Looked
from xlingual.languages import direction, name_of
from xlingual.results.inspection import KIND_WORDS, POOL_KIND_WORDS, Inspection
from xlingual.visible import visible
from xlingual.webpage import data_url, write_page

_TEMPLATE = Path(__file__).parent / "page" / "failures.html"
_SIDE = 112  # pixels of an image
_MOST_BYTES = 24_000_000  # of images; further ones are placeholders
_NEIGHBOURS = 5  # of a query
MOST = 500  # queries of a page


@dataclass(frozen=True)
class Written:
    """How many queries a page holds, and what had no room."""

    queries: int
    left_out: int
    images_left_out: int


def write_failures_page(inspection: Inspection, looked: Looked, path: Path, most: int = MOST) -> Written:
    """Write the worst failed queries of an encoder, with their nearest texts, images and slices."""
    lines = looked.lines()
    content = _Content(looked)
    rows = [content.row(line) for line in lines[:most].tolist()]
    written = Written(len(rows), len(lines) - len(rows), content.left_out)
    tags = {tag for row in rows for tag in (row["query"]["lang"], row["target"])}
    languages = {tag: name_of(tag) or tag for tag in looked.data.languages if tag in tags}
    kinds = POOL_KIND_WORDS if looked.served.in_pool else KIND_WORDS
    write_page(
        path,
        _TEMPLATE,
        {"rows": rows, "images": content.images, "kinds": kinds, "languages": languages},
        title=f"{inspection.data}: failures of {looked.encoder}",
        inspection=inspection,
        written=written,
        most_mb=_MOST_BYTES // 1_000_000,
        kinds=kinds,
        languages=languages,
    )
    return written


class _Content:
    """What the page shows of queries, and the images that they need."""

    def __init__(self, looked: Looked) -> None:
        self.looked, self.images, self.left_out = looked, dict[str, str](), 0
        self._slices = [(words, set(rows.tolist())) for words, rows in looked.slices]
        self._hubs = {row: n for _, row, n in sorted(looked.served.hubs, key=lambda hub: hub[2])}
        self._bytes, self._thumbnail = 0, thumbnails(looked.data.image_source, _SIDE, most=1)
        self._image = lru_cache(maxsize=None)(self._image_key)

    def row(self, line: int) -> dict[str, Any]:
        """Return what the page shows of the query in a line."""
        looked, asked = self.looked, self.looked.asked
        row, above, answer = int(asked.row[line]), int(asked.above[line]), int(looked.served.answer[line])
        kind = int(looked.kind[line])
        return {
            "query": self._text(row),
            "target": asked.pairs[asked.pair[line]][1],
            "near": [self._near(row, other, score) for other, score in looked.nearest_of(line)[:_NEIGHBOURS]],
            "answer": None if answer < 0 else self._text(answer),
            "rank": above + 1 if above >= 0 else None,
            "kind": looked.served.kinds[kind],
            "slices": [words for words, rows in self._slices if row in rows],
        }

    def _near(self, query: int, row: int, score: float | None) -> dict[str, Any]:
        right = row != query and int(self.looked.data.item[row]) == int(self.looked.data.item[query])
        return {**self._text(row), "score": score, "right": right, "hub": self._hubs.get(row, 0)}

    def _text(self, row: int) -> dict[str, Any]:
        data = self.looked.data
        language = data.languages[data.language[row]]
        return {
            "id": data.ids[row],
            "text": visible(cut(data.text[row]), keep="\n\t"),
            "lang": language,
            "dir": direction(language),
            "image": self._image(int(data.image[row])),
        }

    def _image_key(self, slot: int) -> str | None:
        """Return the key of an image, None where there is none to show or no room for it."""
        content = self._thumbnail(slot)
        if content is None or self._bytes + len(content) > _MOST_BYTES:
            self.left_out += content is not None
            return None
        self._bytes += len(content)
        self.images[str(slot)] = data_url("jpeg", content)
        return str(slot)
