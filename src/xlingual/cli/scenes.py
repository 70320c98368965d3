"""`xlingual data scenes`: make built-in data, described pictures or recipes."""

from __future__ import annotations

from pathlib import Path

from xlingual.cli import screen
from xlingual.cli.from_request import command
from xlingual.errors import InputError
from xlingual.requests.making import ScenesRequest

LANGUAGES, RECIPE_LANGUAGES = ("en", "de", "es", "ja", "ar"), ("ar", "en", "es", "id", "ru")
TRAIN = 0.5


@command(ScenesRequest, short_help="Make pictures with texts in several languages.")
def scenes(asked: ScenesRequest) -> None:
    """Make pictures of simple scenes, and independent descriptions of them in several languages.

    With --recipes: recipes in five languages, each with title, body and picture, each of a dish of its own.
    """
    screen.wrote(_recipes(asked) if asked.recipes else _scenes(asked), quiet=asked.quiet)


def _scenes(asked: ScenesRequest) -> Path:
    from xlingual.demo_data.scenes import write_scenes

    n, train = asked.n, TRAIN if asked.train is None else asked.train
    for name, value in (("--items", asked.items), ("--parallel", asked.parallel)):
        if value is not None:
            raise InputError(f"'{name}' is for recipes: add --recipes, or leave it out")
    if n is None:
        raise InputError("'--n' is missing: how many scenes? (with --recipes: --items)")
    if train > 1:
        raise InputError(f"'--train' is {train:g}: give the share of the scenes for training, from 0 to 1")
    with screen.progress(asked.quiet) as progress:
        return write_scenes(
            asked.out,
            n=n,
            languages=LANGUAGES if asked.languages is None else asked.languages,
            seed=asked.seed,
            train=train,
            progress=None if progress is None else lambda done: progress("painting scenes", done, n),
        )


def _recipes(asked: ScenesRequest) -> Path:
    from xlingual.demo_data.recipes import write_recipes

    train = asked.train or 0.0
    if asked.n is not None:
        raise InputError("'--n' counts scenes: with --recipes, write --items N (recipes for each language)")
    if asked.items is None:
        raise InputError("'--items' is missing: how many recipes with pictures for each language?")
    if not train.is_integer():
        raise InputError(f"'--train' is {train:g}: with --recipes it is a number of recipes, such as 4000")
    with screen.progress(asked.quiet) as progress:
        return write_recipes(
            asked.out,
            items=asked.items,
            languages=RECIPE_LANGUAGES if asked.languages is None else asked.languages,
            seed=asked.seed,
            train=int(train),
            parallel=asked.parallel or 0,
            progress=None
            if progress is None
            else lambda done, total: progress("writing recipes", done, total),
        )
