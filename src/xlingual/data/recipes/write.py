"""Recipes on disk: a folder with pictures and a manifest in long form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from xlingual.data.recipes.items import LANGUAGES, Recipe, recipe_rows
from xlingual.files import atomic_file, make_folder

if TYPE_CHECKING:
    import pyarrow as pa

MANIFEST = "manifest.parquet"
BLOCK = 5000  # recipes in memory at a time
COLUMNS = ("id", "lang", "text", "title", "body", "image", "item", "split")


def write_recipes(
    out: str | Path,
    *,
    items: int,
    languages: Sequence[str] = LANGUAGES,
    seed: int = 0,
    train: int = 0,
    parallel: int = 0,
    size: int = 64,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Write recipes (see `recipe_rows`) into the folder `out` and return the path of its manifest.

    The manifest has one row per recipe, with COLUMNS; `image` is a path relative to the folder, and empty
    where there is no picture. It is written last, and an older one is removed first, so that a manifest never
    describes other pictures than those beside it. `progress` is called with the number of recipes written so
    far and of all.

    Raise InputError where an argument is not what it must be or the folder cannot be made.
    """
    import pyarrow.parquet as pq

    recipes = recipe_rows(items, languages, seed, train=train, parallel=parallel, size=size)
    total = len(languages) * (items + train + parallel)
    folder = make_folder(out)
    manifest = folder / MANIFEST
    manifest.unlink(missing_ok=True)
    if items:
        make_folder(folder / "images")
    done = 0
    with (
        atomic_file(manifest) as path,
        pq.ParquetWriter(path, _schema(), compression="zstd") as writer,
    ):
        while block := list(islice(recipes, BLOCK)):
            for recipe in block:
                _write_picture(recipe, folder)
                done += 1
                if progress is not None and (done % 50 == 0 or done == total):
                    progress(done, total)
            writer.write_table(_table(block))
    return manifest


def _write_picture(recipe: Recipe, folder: Path) -> None:
    content = recipe.picture
    if content is not None:
        with atomic_file(folder / _image_path(recipe), durable=False) as path:
            path.write_bytes(content)


def _image_path(recipe: Recipe) -> str:
    return f"images/{recipe.id}.png"


def _schema() -> pa.Schema:
    import pyarrow as pa

    return pa.schema([(column, pa.string()) for column in COLUMNS])


def _table(recipes: Sequence[Recipe]) -> pa.Table:
    import pyarrow as pa

    columns = {
        "id": [recipe.id for recipe in recipes],
        "lang": [recipe.language for recipe in recipes],
        "text": [recipe.text for recipe in recipes],
        "title": [recipe.title for recipe in recipes],
        "body": [recipe.body for recipe in recipes],
        "image": [_image_path(recipe) if recipe.split == "test" else None for recipe in recipes],
        "item": [recipe.item for recipe in recipes],
        "split": [recipe.split for recipe in recipes],
    }
    return pa.table(columns, schema=_schema())
