"""Writing results to a folder, showing them on the screen, and making their report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xlingual.cli import screen
from xlingual.errors import InputError

if TYPE_CHECKING:
    from xlingual.data.manifest import Manifest
    from xlingual.report import Emphasis
    from xlingual.requests.shared import Output
    from xlingual.results import Results
    from xlingual.results.document import FolderDocument
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
        from xlingual.evaluation.run_systems import joined
        from xlingual.report.emphasis import encoders

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
