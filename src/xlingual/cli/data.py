"""`xlingual data`: check a manifest, make built-in data."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from xlingual.cli import screen
from xlingual.cli.options import manifest_options, read_manifest, refuse_extra
from xlingual.errors import DataWarning

if TYPE_CHECKING:
    from rich.table import Table

    from xlingual.data.check import Check


@click.group()
def data() -> None:
    """Check a manifest, or make built-in data."""


@data.command(context_settings={"allow_extra_args": True}, short_help="Count what a manifest holds.")
@manifest_options
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
@click.option("--quiet", is_flag=True, help="Print warnings only.")
@click.pass_context
def check(ctx: click.Context, /, manifest: Path, as_json: bool, quiet: bool, **given: Any) -> None:  # noqa: ANN401
    """Count what a manifest holds, and warn of what deserves a look."""
    from xlingual.data.check import check

    refuse_extra(ctx)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # the check itself tells more of the same
        read = read_manifest(manifest, given)
    with screen.progress(quiet or as_json) as progress:
        tell = None if progress is None else lambda done, total: progress("opening pictures", done, total)
        found = check(read, tell)
    if as_json:
        _print_json(found)
        return
    if not quiet:
        _print_tables(found)
    for warning in found.warnings:
        click.echo(f"warning: {warning}", err=True)


@data.command(short_help="Make pictures with descriptions in several languages.")
@click.option("--n", type=click.IntRange(min=1), required=True, metavar="N", help="How many items.")
@click.option(
    "--languages",
    default="en,de,es,ja,ar",
    show_default=True,
    metavar="en,de,…",
    help="Languages of the texts.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Same seed, same bytes."
)
@click.option(
    "--train",
    type=click.FloatRange(0, 1),
    default=0.5,
    show_default=True,
    help="Share of the items in the split 'train'.",
)
@click.option("--out", type=click.Path(path_type=Path), required=True, metavar="DIR", help="Folder to write.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
def scenes(n: int, languages: str, seed: int, train: float, out: Path, quiet: bool) -> None:
    """Make pictures of simple scenes, and independent descriptions of them in several languages."""
    from xlingual.data.scenes import write_scenes

    with screen.progress(quiet) as progress:
        path = write_scenes(
            out,
            n=n,
            languages=[language.strip() for language in languages.split(",") if language.strip()],
            seed=seed,
            train=train,
            progress=None if progress is None else lambda done: progress("painting scenes", done, n),
        )
    screen.wrote(path, quiet=quiet)


def _print_json(found: Check) -> None:
    from dataclasses import asdict

    from xlingual.results import to_json

    content = asdict(found)
    for name in ("pairs", "shared_texts"):
        content[name] = {f"{a}-{b}": count for (a, b), count in content[name].items()}
    click.echo(to_json(content), nl=False)


def _print_tables(found: Check) -> None:
    output = screen.console()
    output.print()
    output.print(_overview(found))
    output.print(_languages(found))


def _overview(found: Check) -> Table:
    table = screen.plain_table(found.source, header=False)
    table.add_column()
    table.add_column(justify="right")
    table.add_column()
    rows = [
        ("rows", found.n_table_rows, ""),
        ("items", found.n_items, f"{found.n_items_multilingual:,} with texts in several languages"),
        ("texts", found.n_texts, f"in {len(found.languages)} languages"),
    ]
    if found.pictures is None:
        rows.append(("pictures", 0, "the manifest names none"))
    else:
        pictures = found.pictures
        rows.append(
            (
                "pictures",
                pictures.n_distinct + len(pictures.same_bytes),
                f"{pictures.n_distinct:,} distinct, {len(pictures.missing):,} missing, "
                f"{len(pictures.unreadable):,} unreadable",
            )
        )
    for name, count, remark in rows:
        table.add_row(name, f"{count:,}", remark)
    return table


def _languages(found: Check) -> Table:
    table = screen.plain_table()
    table.add_column("language")
    for column in ("texts", "items", "empty", "repeated", "other script", "median length", "longest"):
        table.add_column(column, justify="right")
    table.add_column("longest text")
    for language in found.languages:
        longest_id, longest = language.longest[0] if language.longest else ("", 0)
        counts = (language.n_texts, language.n_items, len(language.empty), len(language.repeated))
        table.add_row(
            language.language,
            *(f"{count:,}" for count in counts),
            f"{len(language.other_script):,}",
            f"{language.median_length:,.0f}",
            f"{longest:,}",
            longest_id,
        )
    return table
