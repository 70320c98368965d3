"""`xlingual rerank`: tune weights for the features of n-best lists, apply them, measure what they choose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from xlingual.cli import screen
from xlingual.cli.checks import check_file
from xlingual.cli.from_request import command, keywords
from xlingual.cli.opening import store_of
from xlingual.cli.rerank_tables import ablation_page, scores_page, weights_page
from xlingual.errors import InputError
from xlingual.requests import signed
from xlingual.requests.rerank import (
    AblateRequest,
    ApplyRequest,
    FeaturesRequest,
    GenerateRequest,
    ScoreRequest,
    TuneRequest,
    Tuning,
)
from xlingual.requests.values import comma_list

if TYPE_CHECKING:
    from xlingual.nbest.lists import NBestLists
    from xlingual.nbest.mira import Mira
    from xlingual.nbest.pro import Pro
    from xlingual.report.blocks import Page


@click.group()
def rerank() -> None:
    """Re-rank n-best lists of translations.

    `generate` makes lists, `features` adds similarities to them, `tune` finds weights for the features,
    `apply` chooses by them, `score` measures the choice, `ablate` says which features help.

    Lists are in the format of Moses, plain or gzip: id ||| hypothesis ||| Name= value … ||| score.
    """


@command(GenerateRequest, rerank)
def generate(request: GenerateRequest) -> None:
    """Translate each line of SRC by beam search and write the n best, the most probable first.

    The features are `logprob`, the log-probability of a translation divided by its number of tokens, and
    `tokens`, that number. Lists hold different texts, so some may be shorter than n.
    """
    from xlingual.nbest.generate import BeamSearch, generate_nbest

    check_file(request.out)
    search = BeamSearch(request.n, request.beams, request.batch, request.max_tokens)
    with screen.warnings_as_lines(), screen.progress(request.quiet) as progress:
        made = generate_nbest(
            request.source, request.out, request.model, search, **_languages(request), progress=progress
        )
    if not request.quiet:
        click.echo(f"{made:,} translations", err=True)
    screen.wrote(request.out, quiet=request.quiet)


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
        **_languages(request),
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


def _languages(request: GenerateRequest | FeaturesRequest) -> dict[str, str]:
    """Return the languages that are given; a function has defaults for the others."""
    given = {name: getattr(request, name) for name in _LANGUAGES}
    return {name: tag for name, tag in given.items() if tag is not None}


@command(AblateRequest, rerank)
def ablate(request: AblateRequest) -> None:
    """Measure which features of NBEST help: tune without some, and compare BLEU on held-out sentences.

    Translations of a sentence are chosen by weights that were tuned on the other folds; with --on, weights
    are tuned on NBEST and compared on the other lists. The interval and p come from a paired bootstrap over
    sentences.
    """
    from xlingual.nbest.ablation import ablate as find

    on = request.on
    if (on is None) != (not request.on_references):
        raise InputError("--on and --on-references belong together: give both or none")
    if request.folds is not None and on is not None:
        raise InputError("--folds belongs to cross-validation, and --on names other lists: give one of them")
    check_file(request.out)
    settings = chosen_settings(request.tuning)
    with screen.warnings_as_lines(), screen.progress(screen.silent(request)) as report:
        other = None if on is None else _with_references(on, request.on_references, "--on-references")
        found = find(
            *_with_references(request.nbest, request.references),
            settings,
            without=[comma_list(names) for names in request.without],
            other=other,
            folds=5 if request.folds is None else request.folds,
            progress=report,
            **keywords(request.tuning, find),
        )
    _write_and_show(signed(found, request, run=False), ablation_page, request)


_LANGUAGES = ("source_language", "target_language")
_OF_MIRA = ("c", "decay", "epochs", "no_shuffle", "background", "precision", "average")


def chosen_settings(request: Tuning) -> Mira | Pro:
    """Return the settings of the algorithm that was asked for."""
    from xlingual.nbest.mira import Mira
    from xlingual.nbest.pro import Pro

    own = {
        name: value
        for name in _OF_MIRA
        if (value := getattr(request, name)) is not None and value is not False
    }
    if request.algorithm == "pro":
        if own:
            option = f"--{'C' if 'c' in own else next(iter(own)).replace('_', '-')}"
            raise InputError(f"{option} is an option of mira: leave it out, or use --algorithm mira")
        return Pro()
    if "c" in own:
        own["C"] = own.pop("c")
    if own.pop("no_shuffle", False):
        own["shuffle"] = False
    return Mira(**own)


@command(TuneRequest, rerank)
def tune(request: TuneRequest) -> None:
    """Tune weights of the features of NBEST for the best BLEU.

    `apply` uses the weights of the first tuning. The other tunings show how much the result depends on
    chance.
    """
    from xlingual.nbest.tune import tune as find

    check_file(request.out)
    settings = chosen_settings(request.tuning)
    with screen.warnings_as_lines(), screen.progress(screen.silent(request)) as report:
        lists, references = _with_references(request.nbest, request.references)
        given = keywords(request, find) | {"lists": lists, "references": references}
        found = signed(find(**given, settings=settings, progress=report), request, run=False)
    _write_and_show(found, weights_page, request)


def _with_references(
    nbest: Path, references: Sequence[Path], option: str = "--references"
) -> tuple[NBestLists, list[list[str]]]:
    """Return the lists of a file, and their references from files of as many lines."""
    from xlingual.nbest.apply import read_aligned
    from xlingual.nbest.format import read_nbest

    lists = read_nbest(nbest)
    return lists, [read_aligned(path, option, len(lists), nbest) for path in references]


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
    standard deviation. Systems with a NAME stand side by side: files of one NAME are its runs, and
    differences are to --baseline or to the first NAME. Needs the extra `mt`.
    """
    from xlingual.nbest.apply import read_texts
    from xlingual.nbest.format import read_nbest
    from xlingual.nbest.score import score as measure

    nbest = request.nbest
    check_file(request.out)
    if request.test is not None and request.baseline is None:
        raise InputError("--test compares with --baseline: give both or none")
    named = [_named(path) for path in request.best]
    best = [path for _, path in named]
    if len(set(best)) < len(best):
        raise InputError("a file of translations is given twice: give each once")
    if 0 < sum(name is None for name, _ in named) < len(named):
        raise InputError("some BEST have a NAME= and some have none: name all of them, or none")
    groups = {str(path): name for name, path in named if name is not None}
    if request.baseline and str(request.baseline) in groups.values() and not request.baseline.exists():
        raise InputError(
            f"--baseline {request.baseline}: expected a file, and this is the name of a system: write that "
            "system first and leave --baseline out, since differences are to the first"
        )
    baseline = None if request.baseline is None else _named(request.baseline)
    with screen.warnings_as_lines(), screen.progress(screen.silent(request)) as report:
        found = measure(
            {str(path): read_texts(path) for path in best},
            list(map(read_texts, request.references)),
            baseline=None if baseline is None else (baseline[0] or str(baseline[1]), read_texts(baseline[1])),
            groups=groups or None,
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


def _named(given: Path) -> tuple[str | None, Path]:
    """Return the name and the path of NAME=FILE; no name for a file that is called so, or without =."""
    name, equals, path = str(given).partition("=")
    if not equals or given.exists() or not name or not path:
        return None, given
    return name, Path(path)


def _write_and_show(found: Any, page: Callable[[Any], Page], request: Any) -> None:  # noqa: ANN401  (a request)
    """Write what was found, show it on its page, and say where it was written."""
    if request.out is not None:
        found.write(request.out)
    screen.show_page(page(found), found.to_dict(), request)
    if request.out is not None:
        screen.wrote(request.out, quiet=request.quiet)
