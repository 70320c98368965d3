"""`xlingual rerank`: tune weights for the features of n-best lists, apply them, measure what they choose."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from xlingual.cli import screen
from xlingual.cli.checks import check_file
from xlingual.cli.from_request import command, keywords
from xlingual.cli.opening import store_of
from xlingual.cli.rerank_tables import scores_page, weights_page
from xlingual.errors import InputError
from xlingual.requests import signed
from xlingual.requests.rerank import (
    ApplyRequest,
    FeaturesRequest,
    ScoreRequest,
    TuneRequest,
)

if TYPE_CHECKING:
    from xlingual.report.blocks import Page


@click.group()
def rerank() -> None:
    """Re-rank n-best lists of translations.

    `features` adds similarities to lists, `tune` finds weights for the features, `apply` chooses by them,
    `score` measures the choice.

    Lists are in the format of Moses, plain or gzip: id ||| hypothesis ||| Name= value … ||| score.
    """


@command(FeaturesRequest, rerank)
def features(request: FeaturesRequest) -> None:
    """Add similarities to the hypotheses of NBEST: one feature for each encoder, with its name.

    With --source: cosine of source and hypothesis. With --images and --image-encoder: cosine of image and
    hypothesis. Every different text is encoded once; vectors are kept in the store.
    """
    from xlingual.nbest.features import add_features

    check_file(request.out)
    given = {name: value for name, value in keywords(request, add_features).items() if name not in _LANGUAGES}
    given |= {
        "text_encoders": request.text_encoders,
        "store": store_of(request.keeping),
        **{name: tag for name in _LANGUAGES if (tag := getattr(request, name)) is not None},
    }
    with screen.warnings_as_lines(), screen.progress(request.quiet) as progress:
        found = add_features(**given, progress=progress)
    if not request.quiet:
        screen.say(
            f"added {', '.join(found.features)} to {found.n_hypotheses:,} hypotheses ({found.n_distinct:,} "
            f"different) of {found.n_lists:,} sentences",
            err=True,
        )
    screen.wrote(request.out, quiet=request.quiet)


_LANGUAGES = ("source_language", "target_language")


@command(TuneRequest, rerank)
def tune(request: TuneRequest) -> None:
    """Tune weights of the features of NBEST for the best BLEU.

    `apply` uses the weights of the first tuning. The other tunings show how much the result depends on
    chance.
    """
    from xlingual.nbest.apply import read_aligned
    from xlingual.nbest.format import read_nbest
    from xlingual.nbest.mira import Mira
    from xlingual.nbest.tune import tune as find

    check_file(request.out)
    asked = request.tuning
    options = {"C": asked.c} | {
        name: getattr(asked, name) for name in ("decay", "epochs", "background", "precision", "average")
    }
    settings = Mira(
        **{name: value for name, value in options.items() if value is not None},
        shuffle=not asked.no_shuffle,
    )
    with screen.warnings_as_lines(), screen.progress(screen.silent(request)) as report:
        lists = read_nbest(request.nbest)
        references = [
            read_aligned(path, "--references", len(lists), request.nbest) for path in request.references
        ]
        given = keywords(request, find) | {"lists": lists, "references": references}
        found = signed(find(**given, settings=settings, progress=report), request, run=False)
    _write_and_show(found, weights_page, request)


@command(ApplyRequest, rerank)
def apply(request: ApplyRequest) -> None:
    """Choose a hypothesis from each list of NBEST by the weights, and write one a line.

    NBEST must have the features of the weights, in the same order.
    """
    from xlingual.nbest.apply import apply_weights, write_texts
    from xlingual.nbest.format import read_nbest
    from xlingual.nbest.weights import Weights

    check_file(request.out)
    weights = Weights.read(request.weights)
    with screen.warnings_as_lines():
        lists = read_nbest(request.nbest)
    write_texts(apply_weights(lists, weights, request.tuning), request.out)
    screen.wrote(request.out, quiet=request.quiet)


@command(ScoreRequest, rerank)
def score(request: ScoreRequest) -> None:
    """Measure translations: BLEU, chrF and TER by sacrebleu, METEOR (exact + stem) by nltk.

    BEST are files of one translation a line; give those of several tunings together for their mean and
    standard deviation. Needs the extra `mt`.
    """
    from xlingual.nbest.apply import read_texts
    from xlingual.nbest.format import read_nbest
    from xlingual.nbest.score import score as measure

    nbest = request.nbest
    check_file(request.out)
    if request.test is not None and request.baseline is None:
        raise InputError("--test compares with --baseline: give both or none")
    if len(set(request.best)) < len(request.best):
        raise InputError("a file of translations is given twice: give each once")
    baseline = request.baseline
    with screen.warnings_as_lines(), screen.progress(screen.silent(request)) as report:
        found = measure(
            {str(path): read_texts(path) for path in request.best},
            list(map(read_texts, request.references)),
            baseline=None if baseline is None else (str(baseline), read_texts(baseline)),
            lists=None if nbest is None else read_nbest(nbest),
            tokenize=request.tokenize,
            lowercase=request.lowercase,
            language=request.language,
            test=request.test or "bootstrap",
            samples=request.samples or 0,  # 0: sacrebleu's own number
            seed=request.seed,
            progress=report,
        )
    _write_and_show(signed(found, request, run=False), scores_page, request)


def _write_and_show(found: Any, page: Callable[[Any], Page], request: Any) -> None:  # noqa: ANN401  (a request)
    """Write what was found, show it on its page, and say where it was written."""
    if request.out is not None:
        found.write(request.out)
    screen.show_page(page(found), found.to_dict(), request)
    if request.out is not None:
        screen.wrote(request.out, quiet=request.quiet)
