"""`xlingual model`: what a trained model is, and how other programs get it."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from xlingual.cli import screen
from xlingual.cli.from_request import command
from xlingual.requests.keeping import ExportModelRequest, ShowModelRequest

if TYPE_CHECKING:
    from xlingual.models.card import Card, Section

_WIDEST = 110


@click.group()
def model() -> None:
    """Show a model that xlingual train made, or export it."""


@command(ShowModelRequest)
def show(asked: ShowModelRequest) -> None:
    """Tell what a model is: its base, data, scores, options, sizes and signature, and how it is used."""
    from xlingual.models.card import card, identity, parameters, signature
    from xlingual.models.folder import ModelFolder

    found = ModelFolder.read(asked.folder)
    if asked.as_json:
        told = {"identity": identity(found), "digest": found.digest, "signature": str(signature(found))}
        screen.print_json({**found.config, **told, "parameters": parameters(found)})
    elif asked.markdown:
        click.echo(card(found).markdown().encode(), nl=False)
    else:
        for line in _lines(card(found, str(asked.folder))):
            screen.say(line)


@command(ExportModelRequest)
def export(asked: ExportModelRequest) -> None:
    """Write a model of train triplet or triplet-xl for other programs.

    sentence-transformers: the encoder below and the layers, for one field of a text; no code comes with it.
    onnx: the layers alone, from the vectors of titles and bodies to the model's vectors. What is written is
    run, and refused where it gives other vectors than the model.
    """
    from xlingual.workflows.export import export_model

    with screen.warnings_as_lines():
        made = export_model(
            asked.folder, asked.to, asked.out, base=asked.base, field=asked.field, replace=asked.force
        )
    if not asked.quiet:
        screen.say(
            f"Gives the model's vectors ({made.dim:,} dimensions); the largest difference found is "
            f"{made.difference:.1g}."
        )
    screen.wrote(asked.out, quiet=asked.quiet)


for one in (show, export):
    model.add_command(one)


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
