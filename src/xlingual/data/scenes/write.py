"""Scenes on disk: a folder with pictures and a manifest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from xlingual.data.scenes.items import SceneItem, scene_rows
from xlingual.files import atomic_file, make_folder

if TYPE_CHECKING:
    import pyarrow as pa

MANIFEST = "manifest.parquet"
BLOCK = 5000  # items in memory at a time


def write_scenes(
    out: str | Path,
    *,
    n: int,
    languages: Sequence[str],
    seed: int = 0,
    train: float = 0.5,
    size: int = 96,
    progress: Callable[[int], None] | None = None,
) -> Path:
    """Write n items into the folder `out` and return the path of its manifest.

    The manifest has the columns id, split, image (path relative to the folder) and text_<language>. It is
    written last, and an older one is removed first, so that a manifest never describes other pictures than
    those beside it. `progress` is called after each item with the number of items written so far.

    Raise InputError where an argument is not what it must be or the folder cannot be made.
    """
    import pyarrow.parquet as pq

    items = scene_rows(n, languages, seed, train=train, size=size)
    folder = make_folder(out)
    manifest = folder / MANIFEST
    manifest.unlink(missing_ok=True)
    make_folder(folder / "images")
    done = 0
    with (
        atomic_file(manifest) as path,
        pq.ParquetWriter(path, _schema(languages), compression="zstd") as writer,
    ):
        while block := list(islice(items, BLOCK)):
            for item in block:
                with atomic_file(folder / _image_path(item), durable=False) as picture:
                    picture.write_bytes(item.picture)
                done += 1
                if progress is not None:
                    progress(done)
            writer.write_table(_table(block, languages))
    return manifest


def _image_path(item: SceneItem) -> str:
    return f"images/{item.id}.png"


def _schema(languages: Sequence[str]) -> pa.Schema:
    import pyarrow as pa

    columns = ("id", "split", "image", *(f"text_{language}" for language in languages))
    return pa.schema([(column, pa.string()) for column in columns])


def _table(items: Sequence[SceneItem], languages: Sequence[str]) -> pa.Table:
    import pyarrow as pa

    columns = {
        "id": [item.id for item in items],
        "split": [item.split for item in items],
        "image": [_image_path(item) for item in items],
    }
    texts = {f"text_{language}": [item.texts[language] for item in items] for language in languages}
    return pa.table(columns | texts, schema=_schema(languages))
