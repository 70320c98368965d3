"""Generated items as a folder of images and a manifest, and the checks of every generator's arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Protocol

from xlingual.errors import InputError, did_you_mean
from xlingual.files import atomic_file, make_folder

MANIFEST = "manifest.parquet"
BLOCK = 5000  # items in memory at a time
SMALLEST, LARGEST = 16, 512  # side of an image, in pixels


class ManifestRow(Protocol):
    """One row of a manifest."""

    @property
    def cells(self) -> Mapping[str, str | None]:
        """Its texts by column; `image` is a path in the folder, or None where there is no image."""

    @property
    def image(self) -> bytes | None:
        """The image as PNG bytes."""


def write_items(
    out: str | Path,
    items: Iterator[ManifestRow],
    columns: Sequence[str],
    progress: Callable[[int], None] | None,
) -> Path:
    """Write items into the folder `out` and return the path of its manifest.

    The manifest is written last, and an older one is removed first, so that a manifest never describes other
    images than those beside it. `progress` is called after each item with the number written so far.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = make_folder(out)
    manifest = folder / MANIFEST
    manifest.unlink(missing_ok=True)
    schema = pa.schema([(column, pa.string()) for column in columns])
    done = 0
    with (
        atomic_file(manifest) as path,
        pq.ParquetWriter(path, schema, compression="zstd") as writer,
    ):
        while block := [(item.cells, item) for item in islice(items, BLOCK)]:
            for cells, item in block:
                if cells["image"]:
                    image = folder / cells["image"]
                    make_folder(image.parent)
                    with atomic_file(image, durable=False) as temporary:
                        temporary.write_bytes(item.image or b"")
                done += 1
                if progress is not None:
                    progress(done)
            writer.write_table(pa.Table.from_pylist([cells for cells, _ in block], schema=schema))
    return manifest


def check_request(what: str, languages: Sequence[str], known: Sequence[str], size: int) -> None:
    """Raise InputError unless the languages are known and named once, and an image can have that size."""
    names = ", ".join(known)
    if isinstance(languages, str):
        raise InputError(f"{what}: languages is the text {languages!r}: give a list, such as ['en', 'es']")
    if not languages:
        raise InputError(f"{what}: no language given: choose from {names}")
    for language in languages:
        if language not in known:
            raise InputError(
                f"{what}: unknown language {language!r}.{did_you_mean(language, known)} Known: {names}"
            )
        if list(languages).count(language) > 1:
            raise InputError(f"{what}: language {language!r} is given twice: name each language once")
    if not SMALLEST <= size <= LARGEST:
        raise InputError(f"{what}: size is {size}: give an image side from {SMALLEST} to {LARGEST} pixels")
