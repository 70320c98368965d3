"""`xlingual data mix-pool`: from texts with items to a multilingual pool."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from xlingual.cli import screen
from xlingual.cli.options import (
    check_pool_folder,
    force_option,
    manifest_options,
    read_manifest,
    refuse_extra,
)
from xlingual.cli.sections import Sectioned
from xlingual.errors import InputError
from xlingual.report.terminal import plain_table

if TYPE_CHECKING:
    from rich.table import Table

    from xlingual.data.pools.pool import MultilingualPool


@click.command(
    "mix-pool",
    cls=Sectioned,
    context_settings={"allow_extra_args": True},
    short_help="Make a multilingual pool with a chosen mix of languages.",
)
@manifest_options
@click.option("--out", type=click.Path(path_type=Path), required=True, metavar="DIR", help="Folder to write.")
@click.option(
    "--question-languages",
    metavar="en,de,…",
    help="Languages in which items ask.  [default: those of the mix, else all]",
)
@click.option(
    "--mix", metavar="en=3,de=1,…", help="Shares of languages among the candidates.  [default: all texts]"
)
@click.option(
    "--per-item",
    type=click.Choice(["all", "one"]),
    default="all",
    show_default=True,
    help="Candidates of an item: all its texts, or one in one language.",
)
@click.option(
    "--candidates",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many candidates.  [default: as many as possible]",
)
@click.option(
    "--questions", type=click.IntRange(min=1), metavar="N", help="How many questions.  [default: all]"
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Same seed, same pool."
)
@click.option(
    "--format",
    "file_format",
    type=click.Choice(["parquet", "jsonl"]),
    default="parquet",
    show_default=True,
    help="Format of the files.",
)
@force_option
@click.option("--quiet", is_flag=True, help="Print nothing but warnings and errors.")
@click.pass_context
def mix_pool(
    ctx: click.Context,
    /,
    *,
    manifest: Path,
    out: Path,
    question_languages: str | None,
    mix: str | None,
    file_format: str,
    force: bool,
    quiet: bool,
    **given: Any,  # noqa: ANN401
) -> None:
    """Make a pool of questions and candidates from texts with items, with a chosen mix of languages.

    The first text of an item in every question language asks; its other texts are candidates, of which the
    mix draws. See docs/mixing.md.
    """
    from xlingual.data.pools.mix import mix_pool

    refuse_extra(ctx)
    replaced = check_pool_folder(out, force)
    shares = None if mix is None else _shares(mix)
    languages = None if question_languages is None else _names(question_languages)
    with screen.warnings_as_lines():
        pool = mix_pool(
            read_manifest(manifest, given),
            question_languages=languages,
            mix=shares,
            **{name: given[name] for name in ("per_item", "candidates", "questions", "seed")},
        )
        pool.write(out, format=file_format, overwrite=force)
    if not quiet:
        output = screen.console()
        n, m, relevant = len(pool.questions), len(pool.candidates), len(pool.relevant[0])
        output.print()
        output.print(f"{n:,} questions, {m:,} candidates, {relevant / n:.2f} relevant to a question")
        output.print(_table(pool))
    screen.wrote(out, quiet=quiet, replaced=replaced)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _shares(text: str) -> dict[str, float]:
    """Return the shares that "en=3,de=1" names."""
    shares: dict[str, float] = {}
    for part in _names(text):
        tag, equals, number = (piece.strip() for piece in part.partition("="))
        try:
            share = float(number)
        except ValueError:
            equals = ""
        if not equals or not tag:
            raise InputError(
                f"--mix {text!r}: found {part!r} where language=share is expected, as in en=3,de=1"
            )
        if tag in shares:
            raise InputError(f"--mix {text!r} names {tag!r} twice: give each language one share")
        shares[tag] = share
    return shares


def _table(pool: MultilingualPool) -> Table:
    """Return questions and candidates of each language."""
    import numpy as np
    from rich.text import Text

    table = plain_table()
    table.add_column("language", no_wrap=True)
    for column in ("questions", "candidates", "share"):
        table.add_column(column, justify="right")
    counts = (
        np.bincount(side.language, minlength=len(pool.languages)).tolist()
        for side in (pool.questions, pool.candidates)
    )
    for tag, asked, held in zip(pool.languages, *counts, strict=True):
        table.add_row(Text(tag), f"{asked:,}", f"{held:,}", f"{held / len(pool.candidates):.1%}")
    return table
