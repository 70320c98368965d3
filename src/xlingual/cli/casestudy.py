"""`xlingual casestudy`: the study of MLMME."""

from __future__ import annotations

import click

from xlingual.cli.casestudy_mlmme import mlmme


@click.group()
def casestudy() -> None:
    """Run the study of MLMME; the other studies are under xlingual papers."""


casestudy.add_command(mlmme)
