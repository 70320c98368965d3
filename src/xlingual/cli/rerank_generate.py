"""`xlingual rerank generate`: n-best lists by beam search with a network of transformers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from xlingual.cli import screen
from xlingual.cli.rerank_options import PATH, check_file, quiet_option


@click.command()
@click.argument("source", type=PATH, metavar="SRC")
@click.option(
    "--model",
    required=True,
    metavar="hf:PATH",
    help="A translation model of transformers: folder, or name on the hub; ?device=, dtype=, revision=.",
)
@click.option(
    "--n", type=click.IntRange(min=1), default=20, show_default=True, help="Translations of a line."
)
@click.option("--beams", type=click.IntRange(min=1), metavar="N", help="Width of the beam.  [default: --n]")
@click.option("--batch", type=click.IntRange(min=1), default=8, show_default=True, help="Lines of a batch.")
@click.option(
    "--max-tokens", type=click.IntRange(min=1), default=256, show_default=True, help="Of a translation."
)
@click.option("--source-language", metavar="TAG", help="Such as en, for models of several languages.")
@click.option(
    "--target-language", metavar="TAG", help="Of the translations, for models of several languages."
)
@click.option("--out", required=True, type=PATH, metavar="NBEST", help="Write the list there.")
@quiet_option
def generate(source: Path, out: Path, quiet: bool, **given: Any) -> None:  # noqa: ANN401  (options)
    """Translate each line of SRC by beam search and write the n best, the most probable first.

    The features are `logprob`, the log-probability of a translation divided by its number of tokens, and
    `tokens`, that number. Lists hold different texts, so some may be shorter than n.
    """
    from xlingual.nbest.beam import Search
    from xlingual.nbest.generate import generate_nbest

    check_file(out)
    search = Search(*(given.pop(name) for name in ("n", "beams", "batch", "max_tokens")))
    chosen = {name: value for name, value in given.items() if value is not None}
    with screen.warnings_as_lines(), screen.progress(quiet) as progress:
        made = generate_nbest(source, out, search=search, progress=progress, **chosen)
    if not quiet:
        click.echo(f"{made:,} translations", err=True)
    screen.wrote(out, quiet=quiet)
