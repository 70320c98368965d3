"""`xlingual rerank`: tune weights for the features of n-best lists, apply them, measure what they choose."""

from __future__ import annotations

import click

from xlingual.cli import screen
from xlingual.cli.checks import check_file
from xlingual.cli.from_request import command, keywords
from xlingual.cli.rerank_ablate import ablate
from xlingual.cli.rerank_features import features
from xlingual.cli.rerank_generate import generate
from xlingual.cli.rerank_settings import chosen_settings
from xlingual.cli.rerank_tables import scores_page, weights_page
from xlingual.errors import InputError
from xlingual.requests import signed
from xlingual.requests.rerank import ApplyRequest, ScoreRequest, TuneRequest


@click.group()
def rerank() -> None:
    """Re-rank n-best lists of translations, so that better ones come first.

    `generate` makes lists, `features` adds similarities to them, `tune` finds weights for the features,
    `apply` chooses by them, `score` measures the choice, `ablate` says which features help.

    Lists are in the format of Moses, plain or gzip: id ||| hypothesis ||| Name= value … ||| score.
    """


@command(TuneRequest)
def tune(asked: TuneRequest) -> None:
    """Find weights for the features of NBEST that choose the translations with the best BLEU.

    The weights of the first tuning are those that `apply` uses; the others say how much chance decides.
    """
    from xlingual.nbest.apply import read_texts
    from xlingual.nbest.format import read_nbest
    from xlingual.nbest.tune import tune as find

    check_file(asked.out)
    settings = chosen_settings(asked.tuning)
    with screen.warnings_as_lines(), screen.progress(screen.silent(asked)) as report:
        lists = read_nbest(asked.nbest)
        texts = [read_texts(path) for path in asked.references]
        given = keywords(asked, find) | {"references": texts}
        found = signed(find(lists, settings=settings, progress=report, **given), asked, run=False)
    found.write(asked.out)
    screen.show_page(weights_page(found), found.to_dict(), asked)
    screen.wrote(asked.out, quiet=asked.quiet)


@command(ApplyRequest)
def apply(asked: ApplyRequest) -> None:
    """Write the hypothesis of each list of NBEST that the weights choose, one a line.

    NBEST must have the features that the weights are for, in the same order.
    """
    from xlingual.nbest.apply import apply_weights, write_texts
    from xlingual.nbest.format import read_nbest
    from xlingual.nbest.weights import Weights

    check_file(asked.out)
    found = Weights.read(asked.weights)
    with screen.warnings_as_lines():
        lists = read_nbest(asked.nbest)
    write_texts(apply_weights(lists, found, asked.tuning), asked.out)
    screen.wrote(asked.out, quiet=asked.quiet)


@command(ScoreRequest)
def score(asked: ScoreRequest) -> None:
    """Measure translations: BLEU, chrF and TER by sacrebleu, METEOR (exact + stem) by nltk.

    BEST are files of one translation a line; give those of several tunings together for their mean and
    standard deviation. Needs the extra `mt`.
    """
    from xlingual.nbest.apply import read_texts
    from xlingual.nbest.format import read_nbest
    from xlingual.nbest.score import score as measure

    best, baseline, nbest, out = asked.best, asked.baseline, asked.nbest, asked.out
    if out is not None:
        check_file(out)
    if asked.test is not None and baseline is None:
        raise InputError("--test compares with --baseline: give both or none")
    if len({str(path) for path in best}) < len(best):
        raise InputError("a file of translations is given twice: give each once")
    with screen.warnings_as_lines(), screen.progress(screen.silent(asked)) as report:
        found = measure(
            {str(path): read_texts(path) for path in best},
            [read_texts(path) for path in asked.references],
            baseline=None if baseline is None else (str(baseline), read_texts(baseline)),
            lists=None if nbest is None else read_nbest(nbest),
            tokenize=asked.tokenize,
            lowercase=asked.lowercase,
            language=asked.language,
            test=asked.test or "bootstrap",
            samples=asked.samples or 0,  # 0: sacrebleu's own number
            seed=asked.seed,
            progress=report,
        )
    found = signed(found, asked, run=False)
    if out is not None:
        found.write(out)
    screen.show_page(scores_page(found), found.to_dict(), asked)
    if out is not None:
        screen.wrote(out, quiet=asked.quiet)


for one in (generate, features, ablate, tune, apply, score):
    rerank.add_command(one)
