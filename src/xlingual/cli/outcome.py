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


def write_and_show(found: Results | FolderDocument, request: Output) -> None:
    """Write results to --out, and print them, as the output options say."""
    if request.out is not None:
        found.write(request.out)
    screen.show(found, request)


def emphasis_of(request: Any) -> Emphasis:  # noqa: ANN401  (any request)
    """Return the language pairs that a request names on the report's box plots."""
    from xlingual.report import Emphasis

    return Emphasis(getattr(request, "annotate", ()))


def check_emphasis(request: Any, manifest: Manifest) -> None:  # noqa: ANN401
    """Refuse language pairs that no box plot can name, before any work is done."""
    if not request.annotate:
        return
    if not request.output.report:
        raise InputError("--annotate is for the report: add --out DIR --report, or leave it out")
    from xlingual.data.samples import resolve_pairs
    from xlingual.report.emphasis import language_pairs

    language_pairs(request.annotate, resolve_pairs(request.sampling.pairs, manifest.languages))


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
