"""`xlingual data import`: an export of a shop or a database as a clean manifest."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from xlingual.cli import screen
from xlingual.cli.checks import check_file
from xlingual.cli.from_request import command
from xlingual.errors import InputError
from xlingual.report.blocks import Page, Prose
from xlingual.report.numbers import counted
from xlingual.report.table import Cell, Table
from xlingual.requests.making import ImportRequest

if TYPE_CHECKING:
    from xlingual.data.exports.made import Change, Imported

_LONGEST = 40  # characters of an example
_ROLES = ("text", "lang", "id", "image", "item", "cluster")


@command(ImportRequest, short_help="Make a clean manifest of an export of a shop or a database.")
def import_(request: ImportRequest) -> None:
    """Convert EXPORT to a manifest: a Parquet file with one row per text, and a list of all changes.

    Options name the columns; without options they are found by their names. Language names become tags. HTML
    and extra whitespace are removed. If a cell has several images, the first one is kept. Ids are made
    unique. Nothing is downloaded. MANIFEST.changes.csv lists each change with row, column and reason.
    """
    from xlingual.data.exports.importing import import_export
    from xlingual.data.exports.made import changes_path

    check_file(request.out)
    if request.out.exists() and not request.force:
        raise InputError(
            f"--out {request.out} is there already: choose another name, or replace it with --force"
        )
    read = request.columns
    with screen.warnings_as_lines(), screen.progress(screen.silent(request)) as progress:
        made = import_export(
            request.export,
            request.out,
            columns={role: getattr(read, f"{role}_column") for role in _ROLES},
            join=read.join,
            language=read.language,
            images=read.images,
            separator=read.separator,
            encoding=read.encoding,
            progress=partial(progress, "reading the export"),
        )
    screen.show_page(_page(made), _content(made), request)
    silent = screen.silent(request)
    screen.wrote(request.out, quiet=silent)
    screen.wrote(changes_path(request.out), quiet=silent)


def _content(made: Imported) -> dict[str, Any]:
    return {
        "source": made.source,
        "columns": made.columns,
        "rows": made.n_rows,
        "texts": dict(made.texts),
        "urls": made.n_urls,
        "changes": {kind: len(found) for kind, found in made.counts().items()},
    }


def _page(made: Imported) -> Page:
    roles = {"lang": "language"}
    columns = Table.of_texts(
        made.source,
        ("what", "column of the export"),
        [(roles.get(role, role), column) for role, column in made.columns.items()],
        where="both",
    )
    n_texts = sum(made.texts.values())
    sentences = [
        f"{counted(made.n_rows, 'row')} read, {counted(n_texts, 'text')} written: "
        + ", ".join(f"{tag} {count:,}" for tag, count in made.texts.most_common())
    ]
    if made.n_urls:
        sentences.append(
            f"{counted(made.n_urls, 'image is a URL', 'images are URLs')}, and nothing is downloaded: put "
            "the files into a folder under their names and import again with --images DIR; the URLs are in "
            "the column image_url"
        )
    blocks = [columns, *([_changes(made)] if made.changes else [])]
    return Page.of("import", made.source, [*blocks, *(Prose(one, where="both") for one in sentences)])


def _changes(made: Imported) -> Table:
    rows = [(kind, Cell.count(len(found)), _example(found[0])) for kind, found in made.counts().items()]
    return Table.of_texts(
        "what was changed or dropped", ("what", "times", "the first"), rows, words=["the first"], where="both"
    )


def _example(change: Change) -> str:
    where = f"row {change.row}" + (f", {change.column}" if change.column else "")
    before, after = (" ".join(text.split()) for text in (change.before, change.after))
    before, after = (text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…" for text in (before, after))
    return f"{where}: {before or '(nothing)'}" + (f" → {after}" if after else "")
