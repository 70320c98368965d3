"""The image that a cell of an export names: the first of several, as a path within the manifest's folder."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from xlingual.errors import InputError

SEVERAL, URL, FOUND, OUTSIDE = (
    "several images: the first is kept",
    "the image is a URL: nothing is downloaded",
    "image found by its name",
    "image outside the folder: left out",
)
_URL = re.compile(r"(?i)^(?:https?|ftp|s3|gs)://|^//[\w.-]+/")
_IMAGE = re.compile(r"(?i)^(?:https?|ftp|s3|gs)://|\.(?:jpe?g|png|webp|gif|bmp|tiff?|ppm|avif)(?:\?.*)?$")
_ABSOLUTE = re.compile(r"^/|^[A-Za-z]:/")  # of this computer, or of one with Windows
_NAMES = ("src", "url", "path", "image", "file_name")  # in lists of objects


class ImageCells:
    """Cells into paths; `folder` holds the images, `base` is the manifest's folder."""

    def __init__(self, folder: Path, base: Path) -> None:
        self.folder, self.base = os.path.abspath(folder), os.path.abspath(base)
        self._real_base = os.path.realpath(base)
        self._known: dict[str, tuple[str | None, str, tuple[str, ...]]] = {}
        self.found, self.outside = 0, ""  # different images within the folder; the first one outside

    def path(self, cell: Any) -> tuple[str | None, str, tuple[str, ...]]:  # noqa: ANN401
        """Return the path for the manifest (None: no image), the cell's URL ("": none), and what changed."""
        named = named_images(cell)
        if not named:
            return None, "", ()
        first = named[0]
        if first not in self._known:
            self._known[first] = self._of_url(first) if _URL.search(first) else self._of_path(first)
        path, url, kinds = self._known[first]
        return path, url, (SEVERAL, *kinds) if len(named) > 1 else kinds

    def _of_url(self, url: str) -> tuple[str | None, str, tuple[str, ...]]:
        path = self._find(unquote(os.path.basename(urlsplit(url).path)))
        return path, url, (FOUND if path else URL,)

    def _of_path(self, named: str) -> tuple[str | None, str, tuple[str, ...]]:
        plain = named.removeprefix("file://").replace("\\", "/")
        if path := self._find(plain):
            return path, "", ()
        if "/" in plain and (path := self._find(os.path.basename(plain))):
            return path, "", (FOUND,)
        if _ABSOLUTE.search(plain):
            return None, "", (OUTSIDE,)
        path = os.path.relpath(os.path.join(self.folder, plain.replace("\0", "")), self.base)
        return (None, "", (OUTSIDE,)) if _leads_out(path) else (path.replace(os.sep, "/"), "", ())

    def _find(self, name: str) -> str | None:
        """Return the path of an image that is there, relative to the manifest; None where it is not."""
        place = os.path.join(self.folder, name) if name and "\0" not in name else ""
        if not place or not os.path.isfile(place):
            return None
        path = os.path.relpath(os.path.realpath(place), self._real_base)
        if _leads_out(path):
            self.outside = self.outside or place
            return None
        self.found += 1
        return path.replace(os.sep, "/")

    def refuse_all_outside(self, where: str) -> None:
        """Raise InputError where there are images, and all of them lie outside the manifest's folder."""
        if self.outside and not self.found:
            raise InputError(
                f"{where}: the image {self.outside} lies outside the manifest's folder ({self.base}), where "
                "none is read, and so do all others: write the manifest beside the images, such as --out "
                f"{self.folder}/manifest.parquet"
            )


def _leads_out(path: str) -> bool:
    return path == os.pardir or path.startswith(os.pardir + os.sep)


def named_images(cell: Any) -> list[str]:  # noqa: ANN401  (a cell)
    """Return the images that a cell names: a path, a list, a list as JSON, or several with |, ; or , between.

    >>> named_images("a.jpg|b.jpg"), named_images('["x.png"]'), named_images("red, small.png")
    (['a.jpg', 'b.jpg'], ['x.png'], ['red, small.png'])
    """
    if isinstance(cell, Mapping):
        cell = next((cell[name] for name in _NAMES if isinstance(cell.get(name), str)), None)
    if isinstance(cell, (list, tuple)):
        return [name for one in cell for name in named_images(one)]
    text = cell.strip() if isinstance(cell, str) else ""
    if text[:1] in ("[", "{"):
        try:
            return named_images(json.loads(text))
        except (ValueError, RecursionError):
            text = text.strip("[]").replace("'", "").replace('"', "")
    for mark in ("|", "\n", ";", ","):
        parts = [part for part in (part.strip() for part in text.split(mark)) if part]
        if len(parts) > 1 and all(_IMAGE.search(part) for part in parts):
            return parts
    return [text] if text else []
