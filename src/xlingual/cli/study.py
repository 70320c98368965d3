"""`xlingual study`: let people judge, without knowing which system it was, what systems retrieve."""

from __future__ import annotations

import click

from xlingual.cli.study_exchange import export, import_
from xlingual.cli.study_new import new
from xlingual.cli.study_serve import serve


@click.group()
def study() -> None:
    """Ask people, blind, which system retrieves more relevant texts.

    `new` draws queries and lets each system suggest texts for them, `serve` shows them to raters, `analyse`
    says what came of it; `export` and `import` carry ratings to and from files, and make sheets for raters
    without a network.
    """


for command in (new, serve, export, import_):
    study.add_command(command)
