"""`xlingual casestudy`: the experiments of the papers on one's own data, each in one command."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from xlingual.cli import screen
from xlingual.cli.checks import check_folder
from xlingual.cli.from_request import DefaultGroup, command, keywords
from xlingual.cli.opening import columns, store_of, within_cost
from xlingual.cli.outcome import say_written
from xlingual.cli.ranking import chosen_ranker
from xlingual.errors import InputError
from xlingual.requests import signed
from xlingual.training.requests import CaseStudyRequest, RegimeStudyRequest

if TYPE_CHECKING:
    from xlingual.ranking import Ranker
    from xlingual.workflows.case_study_models import Trained


@click.group(cls=DefaultGroup, default="recipes")
def casestudy() -> None:
    """Repeat an experiment of the papers on your own data: train, evaluate, and say what changed.

    Without a name it is `recipes`: xlingual casestudy MANIFEST.
    """


@command(CaseStudyRequest, casestudy, short_help="Train Triplet and TripletXL on an encoder (Backretrieval).")
def recipes(request: CaseStudyRequest) -> None:
    """Evaluate text encoders, train Triplet and TripletXL on one of them, and say what the trainings changed.

    MANIFEST holds texts with images in several languages (--split) and further texts, which need neither
    images nor translations, to train on (--train-split). All are evaluated by Backretrieval over all
    language pairs.
    """
    from xlingual.data.manifest import Manifest
    from xlingual.workflows.case_study import EVALUATION, Evaluated, run_case_study

    out, quiet = request.output.out, request.output.quiet
    if out is None:
        raise InputError("--out is missing: the study writes models and results, so say where with --out DIR")
    check_folder(out)
    store = store_of(request.keeping)
    evaluated = Evaluated(**keywords(request, Evaluated), ranker=_ranker(request, store))
    trained, data = _trained(request), request.data
    with screen.warnings_as_lines(), screen.progress(screen.silent(request.output)) as progress:
        progress("reading the manifest", 0, 1)
        read = partial(Manifest.read, data.manifest, **columns(data))
        train = read(split=request.train_split) if trained.anything else None
        study = run_case_study(
            read(split=data.split or "test", rows=data.rows),
            out,
            text_encoders=within_cost(request.text_encoders, request.keeping),
            evaluated=evaluated,
            train=train,
            base=request.base,
            trained=trained,
            worst=request.worst,
            store=store,
            progress=progress,
        )
    screen.show(study, request.output)
    say_written(study, request.output, "case_study.json")
    if request.output.report:
        from xlingual.report import write_report
        from xlingual.results import Results

        page = out / EVALUATION / "report.html"
        write_report(Results.read(page.parent), page)
        screen.wrote(page, quiet=quiet)


def _ranker(request: CaseStudyRequest, store: Any) -> Ranker:  # noqa: ANN401
    """Return the ranker; --device is for the trainings too, and some devices serve only these."""
    ranking = request.ranking
    if ranking.backend in ("cpu", "ray") or (ranking.device or "").startswith("mps"):
        ranking = ranking.changed(device=None)
    return chosen_ranker(ranking, store, quiet=request.output.quiet)


def _trained(request: CaseStudyRequest) -> Trained:
    from xlingual.workflows.case_study_models import Trained

    options = request.model.settings()
    del options["seed"]  # each training has its own
    device = {} if request.ranking.device is None else {"device": request.ranking.device}
    return Trained(
        times=request.trainings,
        seed=request.sampling.seed,
        options=options,
        fit={"epochs": request.epochs, "rate": request.rate, **device},
        validation=request.validation,
        triplet=request.triplet,
        triplet_xl=request.triplet_xl,
        resume=request.resume,
        replace=request.force,
    )


def _of_base(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the settings of the fit loop that the base has by default."""
    from xlingual.workflows.train_dual_encoder import fit_presets

    return fit_presets(given.get("base", "words"), given, frozen=given.get("frozen", False))


@contextmanager
def _says_how_to_go_on(out: Path) -> Iterator[None]:
    """Say, where a study is interrupted, what is kept."""
    try:
        yield
    except KeyboardInterrupt:
        screen.say(f"{out} keeps what was trained: the same command goes on from there", err=True)
        raise


@command(
    RegimeStudyRequest,
    casestudy,
    presets=_of_base,
    short_help="Train dual encoders in several regimes (LAReQA): Tables 2 and 4.",
)
def lareqa(request: RegimeStudyRequest) -> None:
    """Train a dual encoder in each regime, and say which aligns languages and what that costs within one.

    POOL is a multilingual pool. A part of its questions is trained on, the rest evaluated: by its own splits
    (--train-split, --split), else by --train. Models that DIR has already are not trained again, so a study
    that was interrupted goes on with the same command.
    """
    from xlingual.workflows.regime_models import RegimeTrainings
    from xlingual.workflows.regime_study import run_regime_study, trained_and_tested

    out = request.output.out
    if out is None:
        raise InputError("--out is missing: the study writes models and results, so say where with --out DIR")
    check_folder(out)
    (base,) = within_cost([request.base], request.keeping)
    with (
        _says_how_to_go_on(out),
        screen.warnings_as_lines(),
        screen.progress(screen.silent(request.output)) as progress,
    ):
        progress("reading the pool", 0, 1)
        train, pool = trained_and_tested(**keywords(request, trained_and_tested))
        study = run_regime_study(
            train,
            pool,
            out,
            trainings=RegimeTrainings(
                request.regimes,
                request.trainings,
                request.model,
                base,
                request.frozen,
                request.fit,
                replace=request.force,
            ),
            threads=request.fit.threads or 1,
            store=store_of(request.keeping),
            progress=progress,
        )
    study = signed(study, request)
    study.write(out)
    screen.show(study, request.output)
    say_written(study, request.output, study.file)
