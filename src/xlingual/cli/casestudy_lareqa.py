"""`xlingual casestudy lareqa`: regimes of dual encoders side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xlingual.cli import interruption, screen
from xlingual.cli.checks import check_folder, named_folder
from xlingual.cli.from_request import command, keywords
from xlingual.cli.opening import store_of
from xlingual.cli.outcome import say_written
from xlingual.requests import signed
from xlingual.training.requests import RegimeStudyRequest


def _presets(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the settings of the fit loop that the base has by default; 150 batches for built-in data."""
    from xlingual.workflows.train_dual_encoder import fit_presets

    own = {"epochs": 5, "steps": 30} if given.get("pool") is None else {}
    return fit_presets(given.get("base", "words"), own | dict(given), frozen=given.get("frozen", False)) | own


@command(RegimeStudyRequest, presets=_presets)
def lareqa(request: RegimeStudyRequest) -> None:
    """Train a dual encoder in each regime, and say which aligns languages and what that costs within one.

    POOL is a multilingual pool. A part of its questions is trained on, the rest evaluated: by its own splits
    (--train-split, --split), else by --train. Without POOL it runs on built-in data, for 150 batches by
    default. Models that DIR has already are not trained again: if interrupted, the same command goes on.
    """
    from xlingual.workflows.regime_models import RegimeTrainings
    from xlingual.workflows.regime_study import run_regime_study, trained_and_tested

    out = named_folder(request.output.out)
    check_folder(out)
    base = request.base
    with (
        interruption.goes_on(out),
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
