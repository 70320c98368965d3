"""`xlingual evaluate multilingual-pool`: answers from a multilingual pool."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from xlingual.cli import screen
from xlingual.cli.options import (
    check_folder,
    check_output,
    chosen_store,
    cluster_option,
    encoding_options,
    output_options,
    refuse_extra,
    text_encoder_option,
)
from xlingual.cli.outcome import say_written, write_and_show
from xlingual.cli.pools import listed_languages
from xlingual.cli.ranking_options import chosen_ranker, ranking_options
from xlingual.cli.sections import Sectioned
from xlingual.errors import InputError

NAME = "multilingual-pool"


def _depth(ctx: click.Context, parameter: click.Parameter, value: str) -> int | None:
    """Read a number of candidates, or "all"."""
    if value == "all":
        return None
    if not value.isdecimal() or int(value) < 1:
        raise click.BadParameter(f"{value!r} is neither a number of at least 1 nor 'all'")
    return int(value)


@click.command(
    NAME,
    cls=Sectioned,
    context_settings={"allow_extra_args": True},
    short_help="Find answers among candidates of all languages (lareqa).",
)
@click.argument("pool", type=click.Path(path_type=Path))
@click.option("--languages", metavar="ar,de,…", help="Only these languages, in this order.  [default: all]")
@click.option("--split", metavar="NAME", help="Use only the rows of this split.")
@text_encoder_option
@encoding_options
@click.option(
    "--candidate-text",
    default="sentence",
    show_default=True,
    metavar="TEXT",
    help="sentence, or sentence+context.",
)
@click.option(
    "--measure",
    "measures",
    multiple=True,
    default=("AP",),
    show_default=True,
    metavar="NAME",
    help="AP, AP@k, AP@k/min, R@k (set recall), Success@k (hit rate), P@k, RR, RR@k or MedR; repeat for "
    "several.",
)
@click.option(
    "--views",
    default="all",
    show_default=True,
    metavar="NAME,…",
    help="all, none, or some of one-target, remove-one, monolingual-pool, subsets, loss, shares, fairness, "
    "hubs, worst, language-id, picture.",
)
@click.option(
    "--subset",
    "subsets",
    multiple=True,
    metavar="ar,de,…",
    help="Also restrict pool and questions to these languages; repeat for several.",
)
@click.option(
    "--policy",
    default="agnostic",
    show_default=True,
    metavar="NAME",
    help="agnostic: an answer in any language is right; prefer-own: only one in the question's language.",
)
@click.option("--picture", metavar="en,zh", help="Languages of the picture.  [default: the two most apart]")
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Of the paragraphs held out for language identification.",
)
@click.option("--trec", type=click.Path(path_type=Path), metavar="DIR", help="Write run and qrels files.")
@click.option(
    "--trec-depth",
    default="1000",
    show_default=True,
    callback=_depth,
    metavar="N|all",
    help="Candidates of each question in a run: a line of some 55 bytes for each; all may take gigabytes.",
)
@cluster_option
@ranking_options
@output_options
@click.option("--examples/--no-examples", default=True, help="Keep texts for the report.")
@click.pass_context
def multilingual_pool(ctx: click.Context, /, pool: Path, **given: Any) -> None:  # noqa: ANN401  (options)
    """Find answers in a multilingual pool, and see whether an encoder prefers its own language.

    Every question is asked in one language; its answers are among the candidates of all languages. POOL is a
    pool folder (see: xlingual data squad-to-pool, xlingual data mix-pool), or a folder of SQuAD-style files
    with sentence breaks, one for each language.
    """
    from xlingual.data.pools.pool import MultilingualPool
    from xlingual.evaluation.multilingual_pool.evaluate import multilingual_pool

    refuse_extra(ctx)
    check_output(given["out"], given["report"], NAME)
    if given["trec"] is not None:
        check_folder(given["trec"], "--trec")
    elif ctx.get_parameter_source("trec_depth") is not ParameterSource.DEFAULT:
        raise InputError(
            "--trec-depth is for the runs that --trec DIR writes: name a folder, or leave it out"
        )
    store = chosen_store(given)
    given["ranker"] = chosen_ranker(given, store)
    languages = given.pop("languages")
    wanted = None if languages is None else listed_languages(languages)
    with screen.warnings_as_lines(), screen.progress(given["quiet"] or given["as_json"]) as progress:
        if progress is not None:
            progress("reading the pool", 0, 1)
        results = multilingual_pool(
            MultilingualPool.read(pool, wanted, given.pop("split")),
            picture=_pair(given.pop("picture")),
            progress=progress,
            store=store,
            **{name: value for name, value in given.items() if name not in _OUTPUT},
        )
    write_and_show(results, given)
    say_written(results, given)
    if given["trec"] is not None:
        screen.wrote(given["trec"], quiet=given["quiet"])


_OUTPUT = ("out", "report", "as_json", "quiet")


def _pair(languages: str | None) -> tuple[str, str] | None:
    if languages is None:
        return None
    named = listed_languages(languages)
    if len(named) != 2:
        raise InputError(f"--picture {languages}: name two languages, such as en,zh")
    return named[0], named[1]
