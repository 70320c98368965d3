"""`xlingual model`: what a trained model is, and how other programs get it."""

from __future__ import annotations

import shlex
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
        for line in _lines(card(found, shlex.quote(str(folder)).strip("'"))):
            click.echo(line)


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
