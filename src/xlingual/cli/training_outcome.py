"""What a training tells when it is over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from xlingual.workflows.trained import Trained


def show(trained: Trained, uses: Sequence[str]) -> None:
    """Tell what came out: the best epoch, its sums of recalls, and how the model is used."""
    why = "all were run" if trained.stopped == "epochs" else "no later one was better"
    texts = ", ".join(f"{tag} {count:,}" for tag, count in trained.texts.items())
    pictures = "" if trained.pictures is None else f" and {trained.pictures:,} pictures"
    click.echo(
        f"Trained on {texts} texts{pictures} in {_duration(trained.seconds)}: epoch {trained.best_epoch} of "
        f"{trained.epochs} is the best ({why}), with a mean sum of recalls of {trained.score:.1f} of 600 on "
        "the validation."
    )
    for name, value in trained.scores.items():
        click.echo(f"  {name:<16} {value:6.1f}")
    for number, use in enumerate(uses):
        click.echo(f"  {'use:' if number == 0 else '    '} {use}")


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
