"""Writing results to a folder, showing them on the screen, and making their report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xlingual.cli import screen
from xlingual.errors import InputError

if TYPE_CHECKING:
    from xlingual.data.manifest import Manifest
    from xlingual.report import Emphasis
    from xlingual.requests.shared import Output, Recording
    from xlingual.results import Results
    from xlingual.results.document import FolderDocument
    from xlingual.results.gate import Gate
    from xlingual.results.validation import Validation
    from xlingual.results.validation_table import ValidationTable


def write_and_show(found: Results | Validation | ValidationTable | FolderDocument, request: Output) -> None:
    """Write results to --out, and print them, as the output options say."""
    if request.out is not None:
        found.write(request.out)
    screen.show(found, request)


def emphasis_of(request: Any) -> Emphasis:  # noqa: ANN401  (any request)
    """Return what a request says of the report's figures."""
    from xlingual.report import Emphasis

    seed = getattr(request, "seed_shown", "mean")
    return Emphasis(
        getattr(request, "highlight", ()),
        seed if isinstance(seed, int) else None,
        getattr(request, "annotate", ()),
    )


def _emphasises(request: Any) -> bool:  # noqa: ANN401
    """Return whether an option of figures is given; the classes of reports need not be imported for that."""
    given = (getattr(request, name, ()) for name in ("highlight", "annotate"))
    return any(given) or getattr(request, "seed_shown", "mean") != "mean"


def check_emphasis(request: Any, manifest: Manifest) -> None:  # noqa: ANN401
    """Refuse options of figures that cannot be met, before any work is done."""
    if not _emphasises(request):
        return
    emphasis = emphasis_of(request)
    if emphasis.options and not request.output.report:
        raise InputError(f"{emphasis.options[0]} is for the report: add --out DIR --report, or leave it out")
    if emphasis.highlight:
        from xlingual.encoders import text_specs
        from xlingual.report.emphasis import encoders
        from xlingual.systems import joined

        systems = joined(request.text_encoders, getattr(request, "runs", ()))
        encoders(emphasis.highlight, text_specs(systems, languages=manifest.languages))
    if emphasis.annotate:
        from xlingual.data.samples import resolve_pairs
        from xlingual.report.emphasis import language_pairs

        language_pairs(emphasis.annotate, resolve_pairs(request.sampling.pairs, manifest.languages))


def say_written(
    found: Any,  # noqa: ANN401
    request: Any,  # noqa: ANN401
    file: str = "results.json",
    emphasis: Emphasis | None = None,
) -> None:
    """Say which files were written, unless the request is quiet; with --report write the report first."""
    out = request.out
    if out is None:
        return
    screen.wrote(out / file, quiet=request.quiet)
    if request.report:
        from xlingual.report import Emphasis, write_report

        write_report(found, out / "report.html", emphasis=emphasis or Emphasis())
        screen.wrote(out / "report.html", quiet=request.quiet)


def check_recording(request: Recording) -> None:
    """Refuse options of a history that cannot be met, before any work is done."""
    if request.record is not None:
        from xlingual.comparison.history.database import check_writable

        check_writable(request.record)
        return
    for name, value in (("--label", request.label), ("--revision", request.revision)):
        if value is not None:
            raise InputError(f"{name} is for results that are recorded: add --record FILE, or leave it out")


def record_results(found: Any, request: Any, gate: Gate | None = None) -> None:  # noqa: ANN401
    """Record results, or the folder that holds them, in the history of a request, if it names one."""
    asked: Recording = request.recording
    if asked.record is None:
        return
    from xlingual.comparison.history.recording import record

    made = record(found, asked.record, asked.label, revision=asked.revision, gate=gate)
    if not request.quiet:
        screen.say(f"recorded in {asked.record} as {made.label or f'record {made.id}'}", err=True)
