"""`xlingual casestudy`: evaluate encoders, train on the best without parallel texts, and say what changed."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xlingual.cli import screen
from xlingual.cli.checks import check_folder, named_folder
from xlingual.cli.from_request import command, keywords
from xlingual.cli.opening import columns, store_of
from xlingual.cli.outcome import check_emphasis, emphasis_of, say_written
from xlingual.cli.ranking import chosen_ranker
from xlingual.cli.train import of_conventions
from xlingual.errors import InputError, did_you_mean
from xlingual.training.requests import CaseStudyRequest

if TYPE_CHECKING:
    from xlingual.ranking import Ranker
    from xlingual.workflows.case_study_models import Trained


_FURTHER = {"mlmme": "xlingual.cli.casestudy_mlmme:mlmme"}
_INSTEAD = {  # word → line of help
    "mlmme": "Another study: images and sentences of several languages in one space.",
}


def _check_manifest(path: Path) -> None:
    """Raise InputError where nothing is at the path, or where a word was meant."""
    if not os.path.exists(path):  # Path.exists raises for names that are too long
        from xlingual.data.files import no_such_file

        found = str(no_such_file(path))
        found += "" if found.endswith(("?", ".")) else "."
        raise InputError(
            f"{found}{did_you_mean(str(path), _INSTEAD)} In place of a manifest may stand mlmme "
            "(another study): see xlingual casestudy --help"
        )


@command(CaseStudyRequest, presets=of_conventions, further=_FURTHER, instead=_INSTEAD)
def casestudy(request: CaseStudyRequest) -> None:
    """Evaluate text encoders, train Triplet and TripletXL on one of them, and show what training changed.

    MANIFEST holds texts with images in several languages (--split) and further texts, which need neither
    images nor translations, to train on (--train-split). All are evaluated by Backretrieval over all
    language pairs.

    A word may stand in its place. A file or folder that is called mlmme is given as ./mlmme.
    """
    from xlingual.data.manifest import Manifest
    from xlingual.workflows.case_study import EVALUATION, Evaluated, run_case_study

    out, quiet = named_folder(request.output.out), request.output.quiet
    _check_manifest(request.data.manifest)
    check_folder(out)
    store = store_of(request.keeping)
    evaluated = Evaluated(**keywords(request, Evaluated), ranker=_ranker(request, store))
    trained, data = _trained(request), request.data
    with screen.warnings_as_lines(), screen.progress(screen.silent(request.output)) as progress:
        progress("reading the manifest", 0, 1)
        read = partial(Manifest.read, data.manifest, **columns(data))
        training = trained.anything or request.pivot_image_encoder is not None
        train = read(split=request.train_split) if training else None
        evaluated_on = read(split=data.split or "test", rows=data.rows)
        check_emphasis(request, evaluated_on)
        study = run_case_study(
            evaluated_on,
            out,
            text_encoders=request.text_encoders,
            evaluated=evaluated,
            train=train,
            base=request.base,
            trained=trained,
            worst=request.worst,
            control=request.control,
            pivot_image_encoder=request.pivot_image_encoder,
            store=store,
            progress=progress,
        )
    emphasis = emphasis_of(request)
    screen.show(study, request.output, emphasis)
    say_written(study, request.output, "case_study.json", emphasis)
    if request.output.report:
        from xlingual.report import write_report
        from xlingual.results import Results

        page = out / EVALUATION / "report.html"
        write_report(Results.read(page.parent), page, emphasis=emphasis)
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
        fit={"epochs": request.epochs, "rate": request.rate, "keep_epoch": request.keep_epoch, **device},
        validation=request.validation,
        triplet=request.triplet,
        triplet_xl=request.triplet_xl,
        resume=request.resume,
        replace=request.force,
    )
