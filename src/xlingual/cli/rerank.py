"""`xlingual rerank`: tune weights for the features of n-best lists, apply them, measure what they choose."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from xlingual.cli import screen
from xlingual.cli.rerank_ablate import ablate
from xlingual.cli.rerank_features import features
from xlingual.cli.rerank_generate import generate
from xlingual.cli.rerank_options import (
    PATH,
    check_file,
    chosen_settings,
    lowercase_option,
    quiet_option,
    references_option,
    tuning_options,
)
from xlingual.cli.rerank_tables import show_scores, show_weights
from xlingual.errors import InputError


@click.group()
def rerank() -> None:
    """Re-rank n-best lists of translations, so that better ones come first.

    `generate` makes lists, `features` adds similarities to them, `tune` finds weights for the features,
    `apply` chooses by them, `score` measures the choice, `ablate` says which features help.

    Lists are in the format of Moses, plain or gzip: id ||| hypothesis ||| Name= value … ||| score.
    """


for command in (generate, features, ablate):
    rerank.add_command(command)


@rerank.command()
@click.argument("nbest", type=PATH, metavar="NBEST")
@references_option
@click.option("--out", required=True, type=PATH, metavar="FILE", help="Write the weights there, as JSON.")
@tuning_options
@click.option(
    "--folds", type=int, metavar="K", help="Show too what K-fold cross-validation gives.  [default: none]"
)
@click.option("--json", "as_json", is_flag=True, help="Print the weights as JSON instead of tables.")
@quiet_option
def tune(
    nbest: Path,
    references: tuple[Path, ...],
    out: Path,
    as_json: bool,
    quiet: bool,
    **given: Any,  # noqa: ANN401
) -> None:
    """Find weights for the features of NBEST that choose the translations with the best BLEU.

    The weights of the first tuning are those that `apply` uses; the others say how much chance decides.
    """
    from xlingual.nbest.apply import read_texts
    from xlingual.nbest.format import read_nbest
    from xlingual.nbest.tune import tune as find

    check_file(out)
    settings = chosen_settings(given)
    with screen.warnings_as_lines(), screen.progress(quiet or as_json) as report:
        lists = read_nbest(nbest)
        texts = [read_texts(path) for path in references]
        found = find(lists, texts, settings, progress=report, **given)
    found.write(out)
    if as_json:
        screen.print_json(found.to_dict())
    elif not quiet:
        show_weights(found)
    screen.wrote(out, quiet=quiet)


@rerank.command()
@click.argument("nbest", type=PATH, metavar="NBEST")
@click.option(
    "--weights", required=True, type=PATH, metavar="FILE", help="What xlingual rerank tune --out wrote."
)
@click.option("--out", required=True, type=PATH, metavar="FILE", help="Write the best translations there.")
@click.option(
    "--tuning", type=int, default=0, show_default=True, metavar="N", help="Use the weights of this tuning."
)
@quiet_option
def apply(nbest: Path, weights: Path, out: Path, tuning: int, quiet: bool) -> None:
    """Write the hypothesis of each list of NBEST that the weights choose, one a line.

    NBEST must have the features that the weights are for, in the same order.
    """
    from xlingual.nbest.apply import apply_weights, write_texts
    from xlingual.nbest.format import read_nbest
    from xlingual.nbest.weights import Weights

    check_file(out)
    found = Weights.read(weights)
    with screen.warnings_as_lines():
        lists = read_nbest(nbest)
    write_texts(apply_weights(lists, found, tuning), out)
    screen.wrote(out, quiet=quiet)


@rerank.command()
@click.argument("best", nargs=-1, required=True, type=PATH, metavar="BEST…")
@references_option
@click.option("--baseline", type=PATH, metavar="FILE", help="Test BEST against these translations.")
@click.option("--nbest", type=PATH, metavar="NBEST", help="Show what the lists hold: oracle, random choice …")
@click.option("--language", metavar="CODE", help="Of the translations (de): adds METEOR.")
@click.option(
    "--tokenize",
    type=click.Choice(["none", "13a", "intl", "char", "zh"]),
    default="none",
    show_default=True,
    help="Of BLEU; none where the texts are tokenised.",
)
@lowercase_option
@click.option(
    "--test",
    type=click.Choice(["bootstrap", "randomization"]),
    help="Of the difference to --baseline.  [default: bootstrap]",
)
@click.option(
    "--samples",
    type=click.IntRange(min=1),
    metavar="N",
    help="Resamples of test and intervals.  [default: 1,000; trials of randomization: 10,000]",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of random choice.")
@click.option("--out", type=PATH, metavar="FILE", help="Write the scores there, as JSON.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@quiet_option
def score(
    best: tuple[Path, ...],
    references: tuple[Path, ...],
    baseline: Path | None,
    nbest: Path | None,
    out: Path | None,
    as_json: bool,
    quiet: bool,
    **given: Any,  # noqa: ANN401
) -> None:
    """Measure translations: BLEU, chrF and TER by sacrebleu, METEOR (exact + stem) by nltk.

    BEST are files of one translation a line; give those of several tunings together for their mean and
    standard deviation. Needs the extra `mt`.
    """
    from xlingual.nbest.apply import read_texts
    from xlingual.nbest.format import read_nbest
    from xlingual.nbest.score import score as measure

    if out is not None:
        check_file(out)
    if given["test"] is not None and baseline is None:
        raise InputError("--test compares with --baseline: give both or none")
    given["test"] = given["test"] or "bootstrap"
    given["samples"] = given["samples"] or 0  # sacrebleu's own number
    if len({str(path) for path in best}) < len(best):
        raise InputError("a file of translations is given twice: give each once")
    with screen.warnings_as_lines(), screen.progress(quiet or as_json) as report:
        found = measure(
            {str(path): read_texts(path) for path in best},
            [read_texts(path) for path in references],
            baseline=None if baseline is None else (str(baseline), read_texts(baseline)),
            lists=None if nbest is None else read_nbest(nbest),
            progress=report,
            **given,
        )
    if out is not None:
        found.write(out)
    if as_json:
        screen.print_json(found.to_dict())
    elif not quiet:
        show_scores(found)
    if out is not None:
        screen.wrote(out, quiet=quiet)
