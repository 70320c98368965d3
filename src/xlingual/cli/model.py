"""`xlingual model`: show a trained model, and export it to other programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from xlingual.cli import screen
from xlingual.cli.from_request import command
from xlingual.report.blocks import Block, Finding, Heading, Page, Prose, Section
from xlingual.report.table import Column, Table
from xlingual.requests.keeping import ExportModelRequest, ShowModelRequest

if TYPE_CHECKING:
    from xlingual.models.card import ModelCard


@click.group()
def model() -> None:
    """Show a model that xlingual train or repair made, or export it."""


@command(ShowModelRequest, model)
def show(request: ShowModelRequest) -> None:
    """Show a model: its base, data, scores, options, sizes, signature and usage."""
    from xlingual.models.card import card, identity, parameters, signature
    from xlingual.models.folder import ModelFolder

    found = ModelFolder.read(request.folder)
    described = {"identity": identity(found), "digest": found.digest, "signature": str(signature(found))}
    content = {**found.config, **described, "parameters": parameters(found)}
    if request.markdown or request.form == "markdown":
        click.echo(card(found).markdown().encode(), nl=False)
    else:
        screen.show_page(_page(card(found, str(request.folder))), content, request)


@command(ExportModelRequest, model)
def export(request: ExportModelRequest) -> None:
    """Write a model for other programs.

    sentence-transformers: a folder that gives the model's vectors of texts; of a Triplet, those of one field.
    onnx: the layers of a Triplet alone, from the vectors of titles and bodies to the model's vectors; the
    maps that repair chose, from the encoder's vectors. safetensors: the same maps as a matrix and an offset
    for each language. The export is checked: it is refused if its vectors differ from those of the model.
    """
    from xlingual.workflows.export import export_model

    with screen.warnings_as_lines():
        made = export_model(
            request.folder,
            request.to,
            request.out,
            base=request.base,
            field=request.field,
            language=request.language,
            replace=request.force,
        )
    if not request.quiet:
        screen.say(
            f"Gives the model's vectors ({made.dim:,} dimensions); the largest difference found is "
            f"{made.difference:.1g}."
        )
    screen.wrote(request.out, quiet=request.quiet)


def _page(card: ModelCard) -> Page:
    """Return a card as a page; commands and signatures are left whole."""
    sections = []
    for section in card.sections:
        blocks: list[Block] = [Heading(section.title, where="both")]
        blocks += [Prose(sentence.replace("`", ""), where="both") for sentence in section.sentences]
        blocks += [Prose(f"  {line}", whole=True, where="both") for line in section.code]
        if section.rows:
            columns = ("name", Column("value", "name", data=True))
            blocks.append(Table.of_texts("", columns, section.rows, headed=False, where="both"))
        sections.append(Section(section.title, blocks))
    return Page("model", card.title, [Finding([card.title])], sections)
