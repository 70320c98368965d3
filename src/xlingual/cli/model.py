"""`xlingual model`: what a trained model is, and how other programs get it."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from xlingual.cli import screen

if TYPE_CHECKING:
    from xlingual.models.card import Card, Section

_WIDEST = 110
model_argument = click.argument("folder", type=click.Path(path_type=Path), metavar="MODEL")


@click.group()
def model() -> None:
    """Show a model that xlingual train made, or export it."""


@model.command()
@model_argument
@click.option("--markdown", is_flag=True, help="Print the card as its README.md has it.")
@click.option("--json", "as_json", is_flag=True, help="Print config.json, with digest and signature.")
def show(folder: Path, markdown: bool, as_json: bool) -> None:
    """Tell what a model is: its base, data, scores, options, sizes and signature, and how it is used."""
    from xlingual.models.card import card, identity, parameters, signature
    from xlingual.models.folder import ModelFolder

    found = ModelFolder.read(folder)
    if as_json:
        told = {"identity": identity(found), "digest": found.digest, "signature": str(signature(found))}
        screen.print_json({**found.config, **told, "parameters": parameters(found)})
    elif markdown:
        click.echo(card(found).markdown().encode(), nl=False)
    else:
        for line in _lines(card(found, str(folder))):
            screen.say(line)


@model.command()
@model_argument
@click.option(
    "--to", required=True, type=click.Choice(("sentence-transformers", "onnx")), help="What is to be written."
)
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="A new folder for sentence-transformers, a file NAME.onnx for onnx.",
)
@click.option(
    "--base",
    metavar="SPEC",
    help="The encoder that it was trained on, for sentence-transformers: st: or hf:.",
)
@click.option(
    "--field",
    type=click.Choice(("title", "body")),
    help="Whose layers, for sentence-transformers, where title and body have layers of their own.",
)
@click.option("--force", is_flag=True, help="Replace what was exported to PATH before.")
@click.option("--quiet", is_flag=True, help="Print nothing but warnings and errors.")
def export(
    folder: Path, to: str, out: Path, base: str | None, field: str | None, force: bool, quiet: bool
) -> None:
    """Write a model of train triplet or triplet-xl for other programs.

    sentence-transformers: the encoder below and the layers, for one field of a text; no code comes with it.
    onnx: the layers alone, from the vectors of titles and bodies to the model's vectors. What is written is
    run, and refused where it gives other vectors than the model.
    """
    from xlingual.workflows.export import export_model

    with screen.warnings_as_lines():
        made = export_model(folder, to, out, base=base, field=field, replace=force)
    if not quiet:
        screen.say(
            f"Gives the model's vectors ({made.dim:,} dimensions); the largest difference found is "
            f"{made.difference:.1g}."
        )
    screen.wrote(out, quiet=quiet)


def _lines(card: Card) -> Iterator[str]:
    """Give a card as lines that fit the terminal; commands and signatures are left whole."""
    width = min(shutil.get_terminal_size((_WIDEST, 24)).columns, _WIDEST)
    yield from ("", f" {card.title}")
    for section in card.sections:
        yield from ("", f" {section.title}", *_section(section, width))


def _section(section: Section, width: int) -> Iterator[str]:
    for sentence in section.sentences:
        yield from _wrapped(sentence.replace("`", ""), "   ", "   ", width)
    for line in section.code:
        yield f"     {line}"
    column = max((len(name) for name, _ in section.rows), default=0)
    for name, value in section.rows:
        yield from _wrapped(value, f"   {name:<{column}}  ", " " * (column + 5), width)


def _wrapped(text: str, first: str, later: str, width: int) -> list[str]:
    return textwrap.wrap(
        text,
        max(width, len(later) + 20),
        initial_indent=first,
        subsequent_indent=later,
        break_long_words=False,
        break_on_hyphens=False,
    )
