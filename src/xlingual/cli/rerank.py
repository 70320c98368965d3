"""`xlingual rerank`: tune weights for the features of n-best lists, apply them, measure what they choose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from xlingual.cli import screen
from xlingual.cli.checks import check_file
from xlingual.cli.from_request import command, keywords
from xlingual.cli.opening import store_of
from xlingual.errors import InputError
from xlingual.report import numbers
from xlingual.report.blocks import Block, Page, Prose
from xlingual.report.table import Cell, Column, Table
from xlingual.requests import signed
from xlingual.requests.rerank import ApplyRequest, FeaturesRequest, ScoreRequest, TuneRequest

if TYPE_CHECKING:
    from xlingual.nbest.score import Scores
    from xlingual.nbest.tune import Spread, Weights

SIGNIFICANT = 0.05
_TUNINGS = 5  # whose weights are shown
_CI = "95 % interval"


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
    options = keywords(request, add_features) | {"store": store_of(request.keeping)}
    with screen.warnings_as_lines(), screen.progress(request.quiet) as progress:
        lists = add_features(**options, progress=progress)
    if not request.quiet:
        count = f"{len(lists.hypotheses):,} hypotheses of {len(lists):,} sentences"
        screen.say(f"{count} have the features {', '.join(lists.names)}", err=True)
    screen.wrote(request.out, quiet=request.quiet)


@command(TuneRequest, rerank)
def tune(request: TuneRequest) -> None:
    """Tune weights of the features of NBEST for the best BLEU.

    `apply` uses the weights of the first tuning. The other tunings show how much the result depends on
    chance.
    """
    from xlingual.nbest.lists import read_aligned, read_nbest
    from xlingual.nbest.mira import Mira
    from xlingual.nbest.tune import tune as find

    check_file(request.out)
    settings = Mira(request.tuning.c, request.tuning.decay, request.tuning.epochs)
    with screen.warnings_as_lines(), screen.progress(screen.silent(request)) as report:
        lists = read_nbest(request.nbest)
        references = [
            read_aligned(path, "--references", len(lists), request.nbest) for path in request.references
        ]
        options = keywords(request, find) | {"lists": lists, "references": references}
        weights = signed(find(**options, settings=settings, progress=report), request, run=False)
    _show(weights, weights_page(weights), request)


@command(ApplyRequest, rerank)
def apply(request: ApplyRequest) -> None:
    """Choose a hypothesis from each list of NBEST by the weights, and write one a line.

    NBEST must have the features of the weights, in the same order.
    """
    from xlingual.nbest.lists import read_nbest, write_texts
    from xlingual.nbest.tune import Weights

    check_file(request.out)
    weights = Weights.read(request.weights)
    with screen.warnings_as_lines():
        lists = read_nbest(request.nbest)
    write_texts([lists.hypotheses[row] for row in weights.choose(lists, request.tuning)], request.out)
    screen.wrote(request.out, quiet=request.quiet)


@command(ScoreRequest, rerank)
def score(request: ScoreRequest) -> None:
    """Measure translations: BLEU, chrF and TER by sacrebleu, METEOR (exact + stem) by nltk.

    BEST are files of one translation a line; give those of several tunings together for their mean and
    standard deviation. Needs the extra `mt`.
    """
    from xlingual.nbest.lists import read_nbest, read_texts
    from xlingual.nbest.score import score as measure

    check_file(request.out)
    if len(set(request.best)) < len(request.best):
        raise InputError("a file of translations is given twice: give each once")
    baseline = request.baseline
    options = keywords(request, measure) | {
        "systems": {str(path): read_texts(path) for path in request.best},
        "references": list(map(read_texts, request.references)),
        "baseline": None if baseline is None else (str(baseline), read_texts(baseline)),
    }
    with screen.warnings_as_lines(), screen.progress(screen.silent(request)) as report:
        lists = None if request.nbest is None else read_nbest(request.nbest)
        scores = measure(**options, lists=lists, progress=report)
    scores = signed(scores, request, run=False)
    _show(scores, scores_page(scores), request)


def _show(record: Any, page: Page, request: Any) -> None:  # noqa: ANN401  (an answer, a request)
    """Write a record where a file is named, and show its page."""
    if request.out is not None:
        record.write(request.out)
    screen.show_page(page, record.to_dict(), request)
    if request.out is not None:
        screen.wrote(request.out, quiet=request.quiet)


def weights_page(weights: Weights) -> Page:
    """Return the page of a tuning: BLEU between its bounds, and the weights of each run."""
    bounds, n = weights.bounds, weights.bleu.n
    validated = weights.cross_validated
    rows = [
        ("decoder's choice", Cell.of(bounds.decoder, digits=2)),
        ("mira, " + (f"mean of {n} tunings ± sd" if n > 1 else "one tuning"), _spread(weights.bleu)),
        *([("the same, cross-validated", _spread(validated))] if validated else []),
        ("oracle (best sentence BLEU)", Cell.of(bounds.oracle, digits=2)),
        ("anti-oracle (worst sentence BLEU)", Cell.of(bounds.anti_oracle, digits=2)),
        (f"random choice, {bounds.random.n} times ± sd", _spread(bounds.random)),
    ]
    tunings = weights.tunings[:_TUNINGS]
    of_features = [
        [name, *(Cell.of(run.weights[i], digits=4) for run in tunings)]
        for i, name in enumerate(weights.features)
    ]
    scaled = any(size != 1 for size in weights.scale)
    notes = ("Weights are of features divided by their spread.",) if scaled else ()
    choice = ("choice", Column("BLEU", interval="± sd"))
    heads = ["feature", *(f"seed {run.seed}" for run in tunings)]
    blocks = [
        Table.of_texts(f"BLEU on {weights.n_lists:,} lists", choice, rows, where="both"),
        Table.of_texts("Weights", heads, of_features, data=True, notes=notes, where="both"),
    ]
    room, gain = bounds.oracle - bounds.decoder, weights.bleu.mean - bounds.decoder
    of = f", of {room:.2f} that the oracle does" if room > 0 else ""
    verdict = f"Tuning gains {_points(gain)} BLEU over the decoder's choice{of}, on the lists it was tuned on"
    if validated is None:
        verdict += ": --folds shows what it gains on others."
    else:
        verdict += f", and {_points(validated.mean - bounds.decoder)} on sentences held out."
    return Page.of("weights", "weights", blocks, [verdict])


def scores_page(scores: Scores) -> Page:
    """Return the systems with their measures, intervals and p-values, and the signatures."""
    blocks: list[Block] = []
    paired = any(system.kind == "baseline" for system in scores.systems)
    for measure in scores.signatures:
        mean = scores.mean.get(measure)
        value = Column("value", interval=f"{_CI}, ± sd" if mean else _CI)
        heads = [Column("system", "name", data=True), value, *([Column("p (bootstrap)")] if paired else [])]
        rows = []
        for system in scores.systems:
            measured = system.scores[measure]
            name = Cell(system.name, tone="quiet" if system.kind == "bound" else "")
            p = Cell("baseline") if system.kind == "baseline" else Cell.by(numbers.p_value, measured.p)
            rows.append((name, Cell.of(measured.value, measured.ci, digits=2), p)[: len(heads)])
        if mean:
            name = Cell(f"mean of {mean.n} systems ± sd", tone="best")
            rows.append((name, _spread(mean), Cell())[: len(heads)])
        better = " (smaller is better)" if measure == "TER" else ""
        blocks.append(Table.of_texts(f"{measure}{better}", heads, rows, where="both"))
    signatures = scores.signatures.items()
    blocks += [Prose(f"{name}: {text}", whole=True, where="both") for name, text in signatures]
    return Page.of("scores", "scores", blocks, _gain(scores))


def _gain(scores: Scores) -> list[str]:
    """Return what systems gain in BLEU over their baseline, and whether that is significant."""
    systems = [system for system in scores.systems if system.kind == "system"]
    base = next((system for system in scores.systems if system.kind == "baseline"), None)
    if base is None:
        return []
    over = base.scores["BLEU"].value
    oracle = next((bound.scores["BLEU"].value for bound in scores.systems if bound.name == "oracle"), None)
    gain = sum(system.scores["BLEU"].value for system in systems) / len(systems) - over
    room = f", of {oracle - over:.2f} that the oracle does" if oracle is not None and gain > 0 else ""
    changed = f"{'gain' if gain >= 0 else 'lose'}{'s' if len(systems) == 1 else ''} {abs(gain):.2f} BLEU"
    ps = [system.scores["BLEU"].p for system in systems]
    significant = sum(p is not None and p < SIGNIFICANT for p in ps)
    if len(systems) == 1:
        chance = f"{'' if significant else 'not '}significant (p {numbers.p_value(ps[0])})"
        return [f"{systems[0].name} {changed} over {base.name}{room}: {chance}."]
    return [
        f"{len(systems)} systems {changed} over {base.name} on average{room}: {significant} of them "
        f"significantly (p below {SIGNIFICANT:g})."
    ]


def _points(value: float) -> str:
    return numbers.number(value, digits=2)


def _spread(spread: Spread) -> Cell:
    """Return a mean, with the standard deviation where there is one."""
    after = "" if spread.sd is None else f"± {_points(spread.sd)}"
    return Cell(_points(spread.mean), after, value=spread.mean, spread=spread.sd)
