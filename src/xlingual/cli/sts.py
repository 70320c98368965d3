"""`xlingual evaluate sts`: do cosines of sentence pairs follow people's scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from xlingual.cli import screen
from xlingual.cli.options import (
    check_output,
    chosen_store,
    encoding_options,
    output_options,
    text_encoder_option,
)
from xlingual.cli.outcome import say_written, write_and_show
from xlingual.cli.ranking_options import threads_option
from xlingual.cli.sections import Sectioned

NAME = "sts"


@click.command(NAME, cls=Sectioned, short_help="Do cosines of sentences follow people's scores of likeness.")
@click.argument("files", type=click.Path(path_type=Path), nargs=-1, required=True, metavar="FILE…")
@click.option(
    "--lang", "language", required=True, metavar="TAG", help="Language of all sentences, such as en."
)
@text_encoder_option
@click.option(
    "--baseline",
    metavar="NAME",
    help="The encoder that the others are held against.  [default: the best one]",
)
@click.option(
    "--columns",
    metavar="ROLE=NAME,…",
    help="Columns of other names, such as score=label,sentence1=a,sentence2=b; also id.",
)
@encoding_options
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the bootstrap.")
@threads_option
@output_options
def sts(files: tuple[Path, ...], **given: Any) -> None:  # noqa: ANN401  (options)
    """Textual similarity: do cosines of two sentences follow what people say of how alike they are.

    Every FILE holds sentence pairs with a score: Parquet, JSONL, CSV or TSV with the columns score,
    sentence1, sentence2 and, if any, id; or a TSV of SemEval without a header. Shown are Pearson's and
    Spearman's correlation of cosine and score, and whether the encoders differ.
    """
    from xlingual.data.sentence_pairs import parse_columns
    from xlingual.evaluation.sts.evaluate import sts

    check_output(given["out"], given["report"], NAME)
    columns = parse_columns(given.pop("columns"))
    store = chosen_store(given)
    with screen.warnings_as_lines(), screen.progress(given["quiet"] or given["as_json"]) as progress:
        results = sts(
            files,
            columns=columns,
            progress=progress,
            store=store,
            **{name: value for name, value in given.items() if name not in _OUTPUT},
        )
    write_and_show(results, given)
    say_written(results, given)


_OUTPUT = ("out", "report", "as_json", "quiet")
