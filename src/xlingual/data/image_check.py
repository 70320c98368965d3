"""Checking the images of a manifest: every one is opened, and those that many items share are named."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from xlingual.arrays import Ints
from xlingual.columns import shown_paths, view
from xlingual.data.images import items_of_images
from xlingual.data.manifest import Manifest
from xlingual.errors import InputError, parameter
from xlingual.images import GLANCE, THREADS, ImageSource, decode, missing_files, read_bytes
from xlingual.records import digest

MANY = 10  # items that may show one image without a warning

Progress = Callable[[int, int], None]  # images done, images in all


@dataclass(frozen=True)
class ImageCheck:
    """The images; `missing` and `unreadable` hold (id of a row that shows it, the problem)."""

    n_rows_with: int  # text rows that have an image
    n_rows_without: int
    without: list[str]  # ids of those
    n_distinct: int  # different bytes among those that could be read, different paths among the others
    missing: list[tuple[str, str]]
    unreadable: list[tuple[str, str]]
    same_bytes: list[tuple[str, str]]  # paths that hold the same bytes as an earlier path
    shared: list[tuple[str, int]]  # (image, items) of the images that very many items show


def check_images(manifest: Manifest, progress: Progress | None = None) -> ImageCheck:
    """Open every image; `progress` is called with (images done, images in all)."""
    report = progress or (lambda done, total: None)
    rows = np.flatnonzero(manifest.image >= 0)
    first = np.unique(manifest.image[rows], return_index=True)[1]
    sources, row_of = manifest.image_source, rows[first]  # the first that shows it
    shown_by = manifest.ids.view(row_of)
    total, absent = len(sources), missing_files(sources, os.path.exists)
    there = np.setdiff1d(np.arange(total), absent, assume_unique=True)
    contents: dict[bytes, int] = {}
    unreadable, same_bytes = [], []
    first_of = np.arange(total)  # equal numbers for equal bytes

    for done in range(1, len(absent) + 1):
        report(done, total)
    opened = zip(there.tolist(), _opened(view(sources, there), shown_by.view(there)), strict=True)
    for done, (number, content) in enumerate(opened, len(absent) + 1):
        if isinstance(content, InputError):
            unreadable.append((shown_by[number], str(content)))
        elif (earlier := contents.setdefault(content, number)) != number:
            first_of[number] = earlier
            same_bytes.append((image_name(manifest, row_of[number]), image_name(manifest, row_of[earlier])))
        report(done, total)
    return ImageCheck(
        n_rows_with=len(rows),
        n_rows_without=len(manifest) - len(rows),
        without=manifest.ids.pick(np.flatnonzero(manifest.image < 0)),
        n_distinct=total - len(same_bytes),
        missing=list(zip(shown_by.view(absent), shown_paths(view(sources, absent)), strict=True)),
        unreadable=unreadable,
        same_bytes=same_bytes,
        shared=shared_images(manifest, np.append(first_of, -1)[manifest.image]),
    )


def _opened(sources: Sequence[ImageSource], rows: Sequence[str]) -> Iterator[bytes | InputError]:
    """Yield a digest of each image's bytes, or why it cannot be opened; some are opened side by side."""

    def content(source: ImageSource, row: str) -> bytes | InputError:
        if isinstance(source, tuple):
            parts = [content(part, row) for part in source]
            wrong = next((part for part in parts if isinstance(part, InputError)), None)
            return wrong or digest(*(part for part in parts if isinstance(part, bytes)))
        try:
            raw = read_bytes(source, row=row)
            decode(raw, source if isinstance(source, Path) else None, row=row, side=GLANCE)
        except InputError as error:
            return error
        return digest(raw)

    with ThreadPoolExecutor(THREADS, thread_name_prefix="decoding") as executor:
        for start in range(0, len(sources), 64):  # so many are in memory at a time
            yield from executor.map(content, sources[start : start + 64], rows[start : start + 64])


def shared_images(manifest: Manifest, image: Ints) -> list[tuple[str, int]]:
    """Return (name, items) of the images that more than `MANY` items show, those of most items first.

    `image` [n] is the image of each text, -1 for none: equal numbers for equal content.
    """
    n_items = items_of_images(image, manifest.item)
    first = dict(zip(image.tolist()[::-1], range(len(manifest) - 1, -1, -1), strict=True))
    images = np.flatnonzero(n_items > MANY)
    images = images[np.argsort(-n_items[images], kind="stable")]
    return [(image_name(manifest, first[number]), int(n_items[number])) for number in images.tolist()]


def shared_sentence(shared: Sequence[tuple[str, int]]) -> str:
    """Return one sentence on images such as no-image.png, which say nothing of an item."""
    are = "image is" if len(shared) == 1 else "images are"
    return (
        f"{len(shared):,} {are} shown by more than {MANY} items ({shared[0][0]}: {shared[0][1]:,} items): "
        f"they say nothing of an item; {parameter('drop_shared_images', str(MANY))} leaves their rows out"
    )


def image_name(manifest: Manifest, row: int) -> str:
    """Return how messages call the image of a text: by its path, or by the id of the text."""
    source = manifest.image_source[manifest.image[row]] if manifest.image[row] >= 0 else None
    return str(source) if isinstance(source, Path) else f"the image of {manifest.ids[row]!r}"
