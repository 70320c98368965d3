"""The built-in data of a case study: recipes in five languages, and encoders of rising quality for them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xlingual.embed.encoding import Progress

BUILT_IN = "recipes"  # in place of a manifest
ITEMS, TRAIN, PARALLEL = (
    1000,
    3000,
    1000,
)  # recipes of each language to evaluate and to train on; dishes for LSA


def is_built_in(manifest: object) -> bool:
    """Return whether a manifest is the word for the built-in recipes, and no file or folder of that name."""
    return str(manifest) == BUILT_IN and not Path(BUILT_IN).exists()


def recipes_path(out: Path, seed: int) -> Path:
    """Return where a study keeps the recipes of a seed."""
    return out / f"recipes-{seed}" / "manifest.parquet"


def built_in_options(out: Path, seed: int) -> Mapping[str, Any]:
    """Return the options of a study on the built-in recipes: encoders, base, and three trainings."""
    from xlingual.encoders.spec import written

    fit = f"fit={written(str(recipes_path(out, seed)))}#fit"
    base, few = f"lsa-{PARALLEL}", PARALLEL // 10
    return {
        "text_encoders": ("random", "chargram", f"lsa-{few}=lsa:?pairs={few}&{fit}", f"{base}=lsa:?{fit}"),
        "image_encoder": "pixels",
        "base": base,
        "trainings": 3,
    }


def make_recipes(out: Path, seed: int, progress: Progress) -> Path:
    """Make the recipes of a seed, where they are not there yet, and return the path of their manifest."""
    from xlingual.demo_data.recipes import write_recipes

    path = recipes_path(out, seed)
    if path.is_file():  # it is written last, and a seed always makes the same recipes
        return path
    return write_recipes(
        path.parent,
        items=ITEMS,
        train=TRAIN,
        parallel=PARALLEL,
        seed=seed,
        progress=partial(progress, "writing recipes"),
    )
