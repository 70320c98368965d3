"""`xlingual train`: better embeddings on your own data."""

from __future__ import annotations

import click

from xlingual.cli.train_dual_encoder import dual_encoder
from xlingual.cli.train_mlmme import mlmme
from xlingual.cli.train_triplet import triplet, triplet_xl


@click.group()
def train() -> None:
    """Train embeddings on your own texts and pictures; what comes out is an encoder (model:DIR)."""


for command in (mlmme, triplet, triplet_xl, dual_encoder):
    train.add_command(command)
