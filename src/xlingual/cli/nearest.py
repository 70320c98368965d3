"""`xlingual nearest`: the texts that an encoder puts nearest to any text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from xlingual.cli import screen
from xlingual.cli.from_request import command
from xlingual.cli.opening import read_manifest, store_of
from xlingual.languages import name_of
from xlingual.requests.single import NearestRequest
from xlingual.visible import visible

if TYPE_CHECKING:
    from xlingual.workflows.nearest import NearText


@command(NearestRequest)
def nearest(request: NearestRequest) -> None:
    """Show the texts of MANIFEST that ENCODER puts nearest to TEXT, in each language.

    The similarity is the cosine, or that of the encoder's own kind of vectors.
    """
    from xlingual.report.blocks import Page
    from xlingual.report.table import Table
    from xlingual.workflows.nearest import nearest as run

    with screen.warnings_as_lines(), screen.progress(screen.silent(request)) as progress:
        near = run(
            read_manifest(request.data),
            request.encoder,
            request.text,
            language=request.language,
            k=request.k,
            store=store_of(request.keeping),
            progress=progress,
        )
    if request.form == "table" and not screen.silent(request):
        _print(near)
        return
    rows = [(row.language, f"{row.score:.3f}", row.id, row.text) for each in near.values() for row in each]
    table = Table.of_texts("Nearest texts", ["language", "score", "id", "text"], rows, where="both")
    content = {tag: [asdict(row) for row in each] for tag, each in near.items()}
    page = Page.of("nearest texts", request.text, [table])
    screen.show_page(page, {"text": request.text, "nearest": content}, request)


def _print(near: Mapping[str, Sequence[NearText]]) -> None:
    """Print a table of each language; long texts go on in their column."""
    from rich.table import Table as Lines
    from rich.text import Text

    from xlingual.cli.console import output

    for tag, rows in near.items():
        lines = Lines(box=None, title=Text(name_of(tag) or tag, "bold"), title_justify="left", padding=(0, 1))
        lines.add_column("score", no_wrap=True)
        lines.add_column("id", no_wrap=True)
        lines.add_column("text", overflow="fold")
        for row in rows:
            lines.add_row(
                f"{row.score:.3f}", *(Text(visible(" ".join(cell.split()))) for cell in (row.id, row.text))
            )
        output().print(lines)
