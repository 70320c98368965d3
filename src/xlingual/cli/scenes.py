"""`xlingual data scenes`: make built-in data, described pictures or recipes."""

from __future__ import annotations

from pathlib import Path

import click

from xlingual.cli import screen
from xlingual.errors import InputError

LANGUAGES, RECIPE_LANGUAGES = "en,de,es,ja,ar", "ar,en,es,id,ru"
TRAIN = 0.5


@click.command(short_help="Make pictures with texts in several languages.")
@click.option("--n", type=click.IntRange(min=1), metavar="N", help="How many scenes.")
@click.option(
    "--languages",
    metavar="en,de,…",
    help=f"Languages of the texts.  [default: {LANGUAGES}; with --recipes {RECIPE_LANGUAGES}]",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Same seed, same bytes."
)
@click.option(
    "--train",
    type=click.FloatRange(min=0),
    metavar="SHARE|N",
    help="Share of the scenes in the split 'train' [default: 0.5]; with --recipes, so many recipes for each "
    "language, without pictures, in the split 'train' [default: 0].",
)
@click.option("--recipes", is_flag=True, help="Make recipes instead, none a translation of another.")
@click.option(
    "--items",
    type=click.IntRange(min=0),
    metavar="N",
    help="With --recipes: so many with pictures for each language, in the split 'test'.",
)
@click.option(
    "--parallel",
    type=click.IntRange(min=0),
    metavar="N",
    help="With --recipes: so many dishes told in every language, without pictures, in the split 'fit'.  "
    "[default: 0]",
)
@click.option("--out", type=click.Path(path_type=Path), required=True, metavar="DIR", help="Folder to write.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
def scenes(
    n: int | None,
    languages: str | None,
    seed: int,
    train: float | None,
    recipes: bool,
    items: int | None,
    parallel: int | None,
    out: Path,
    quiet: bool,
) -> None:
    """Make pictures of simple scenes, and independent descriptions of them in several languages.

    With --recipes: recipes in five languages, each with title, body and picture, each of a dish of its own.
    """
    if recipes:
        if n is not None:
            raise InputError(
                "'--n' counts scenes: with --recipes, write --items N (recipes for each language)"
            )
        if items is None:
            raise InputError("'--items' is missing: how many recipes with pictures for each language?")
        path = _recipes(languages or RECIPE_LANGUAGES, seed, train or 0.0, items, parallel or 0, out, quiet)
    else:
        for name, value in (("--items", items), ("--parallel", parallel)):
            if value is not None:
                raise InputError(f"'{name}' is for recipes: add --recipes, or leave it out")
        if n is None:
            raise InputError("'--n' is missing: how many scenes? (with --recipes: --items)")
        path = _scenes(n, languages or LANGUAGES, seed, TRAIN if train is None else train, out, quiet)
    screen.wrote(path, quiet=quiet)


def _scenes(n: int, languages: str, seed: int, train: float, out: Path, quiet: bool) -> Path:
    from xlingual.demo_data.scenes import write_scenes

    if train > 1:
        raise InputError(f"'--train' is {train:g}: give the share of the scenes for training, from 0 to 1")
    with screen.progress(quiet) as progress:
        return write_scenes(
            out,
            n=n,
            languages=_split(languages),
            seed=seed,
            train=train,
            progress=None if progress is None else lambda done: progress("painting scenes", done, n),
        )


def _recipes(
    languages: str, seed: int, train: float, items: int, parallel: int, out: Path, quiet: bool
) -> Path:
    from xlingual.demo_data.recipes import write_recipes

    if not train.is_integer():
        raise InputError(f"'--train' is {train:g}: with --recipes it is a number of recipes, such as 4000")
    with screen.progress(quiet) as progress:
        return write_recipes(
            out,
            items=items,
            languages=_split(languages),
            seed=seed,
            train=int(train),
            parallel=parallel,
            progress=None
            if progress is None
            else lambda done, total: progress("writing recipes", done, total),
        )


def _split(languages: str) -> list[str]:
    return [language.strip() for language in languages.split(",") if language.strip()]
