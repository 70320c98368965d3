"""`xlingual export`: results for MTEB, model cards and trackers."""

from __future__ import annotations

from pathlib import Path

from xlingual.cli import screen
from xlingual.cli.from_request import command
from xlingual.errors import InputError, did_you_mean
from xlingual.requests.single import ExportRequest

_FILES = ("mteb", "model-index")


@command(ExportRequest)
def export(request: ExportRequest) -> None:
    """Export results to other programs.

    mteb:DIR writes the files in which MTEB keeps results. model-index:README.md writes the numbers to the
    front matter of a model card and changes nothing else in it. The other targets get a run for each encoder.
    """
    from xlingual.integrations.found import encoder_of
    from xlingual.integrations.model_index import write_model_index
    from xlingual.integrations.mteb_results import write_mteb_results
    from xlingual.integrations.tracking import check_sinks, log_results
    from xlingual.results import Results
    from xlingual.training.trackers import SINKS

    for target in request.to:
        kind, _, where = target.partition(":")
        if kind not in (*_FILES, *SINKS):
            raise InputError(
                f"--to {target!r} is unknown.{did_you_mean(kind, [*_FILES, *SINKS])} Write mteb:DIR, "
                "model-index:README.md, tensorboard:DIR, mlflow[:URI], wandb[:PROJECT] or csv:FILE"
            )
        if kind in _FILES and not where:
            raise InputError(
                f"--to {target} names no place: write {kind}:{'DIR' if kind == 'mteb' else 'README.md'}"
            )
    sinks = [target for target in request.to if target.partition(":")[0] in SINKS]
    check_sinks(sinks)
    results = Results.read(request.folder)
    if request.encoder is not None or len(sinks) < len(request.to):
        encoder_of(results, request.encoder)  # refused before anything is written
    with screen.warnings_as_lines():
        for target in request.to:
            kind, _, where = target.partition(":")
            named = {"model": request.model, "name": request.name}
            if kind == "mteb":
                for path in write_mteb_results(results, where, request.encoder, **named):
                    screen.wrote(path, quiet=request.quiet)
            elif kind == "model-index":
                new = write_model_index(results, where, request.encoder, **named)
                screen.wrote(Path(where), quiet=request.quiet)
                if new and not request.quiet:
                    screen.note(f"{where} is a new file, with these numbers alone.")
        said = log_results(results, sinks, encoder=request.encoder)
    screen.logged(said, quiet=request.quiet)
