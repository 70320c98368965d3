"""`xlingual rerank generate`: n-best lists by beam search with a network of transformers."""

from __future__ import annotations

import click

from xlingual.cli import screen
from xlingual.cli.checks import check_file
from xlingual.cli.from_request import command
from xlingual.requests.rerank import GenerateRequest


@command(GenerateRequest)
def generate(asked: GenerateRequest) -> None:
    """Translate each line of SRC by beam search and write the n best, the most probable first.

    The features are `logprob`, the log-probability of a translation divided by its number of tokens, and
    `tokens`, that number. Lists hold different texts, so some may be shorter than n.
    """
    from xlingual.nbest.generate import Search, generate_nbest

    check_file(asked.out)
    search = Search(asked.n, asked.beams, asked.batch, asked.max_tokens)
    named = {"source_language": asked.source_language, "target_language": asked.target_language}
    languages = {name: tag for name, tag in named.items() if tag is not None}
    with screen.warnings_as_lines(), screen.progress(asked.quiet) as progress:
        made = generate_nbest(asked.source, asked.out, asked.model, search, **languages, progress=progress)
    if not asked.quiet:
        click.echo(f"{made:,} translations", err=True)
    screen.wrote(asked.out, quiet=asked.quiet)
