"""`xlingual data from`: a corpus of the papers, from the folder that it was downloaded to."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from xlingual.cli import screen
from xlingual.cli.checks import check_file
from xlingual.cli.from_request import command
from xlingual.errors import InputError
from xlingual.report.blocks import Page, Prose
from xlingual.report.numbers import counted
from xlingual.report.table import Cell, Table, narrower
from xlingual.requests.making import FromRequest

if TYPE_CHECKING:
    from xlingual.data.corpora import Converted, Corpus


@command(FromRequest, short_help="Read a corpus of the papers from the folder that holds it.")
def from_(request: FromRequest) -> None:
    """Convert the corpus NAME in FOLDER to a manifest.

    Nothing is downloaded: download and unpack the corpus to FOLDER first. --list shows the corpora. The
    command prints the licence and the citation.
    """
    from xlingual.data.corpora import CORPORA, convert, corpus_of

    if request.every:
        rows = [(one.name, one.licence, one.title, one.about) for one in CORPORA.values()]
        looks = narrower("what", "licence", "title")
        heads = ("name", "licence", "title", "what")
        table = Table.of_texts("public corpora", heads, rows, names=4, where="both", looks=looks)
        page = Page.of("corpora", "public corpora", [table])
        screen.show_page(page, {"corpora": [_row(one) for one in CORPORA.values()]}, request)
        return
    if request.name is None:
        raise InputError("NAME is missing: name a corpus; xlingual data from --list shows all")
    corpus, out = corpus_of(request.name), request.out
    if request.folder is None or out is None:
        missing = "FOLDER" if request.folder is None else "--out"
        raise InputError(
            f"{missing} is missing: write xlingual data from {corpus.name} FOLDER --out manifest.parquet"
        )
    check_file(out)
    if out.exists() and not request.force:
        raise InputError(f"{out} is there already: choose another name, or replace it with --force")
    with screen.warnings_as_lines(), screen.progress(screen.silent(request)) as progress:
        made = convert(
            corpus.name,
            request.folder,
            out,
            languages=request.languages,
            split=request.split,
            progress=progress,
        )
    content = {
        "corpus": _row(corpus),
        "out": str(out),
        "texts": dict(made.texts),
        "items": made.n_items,
        "images": dict(made.images),
        "empty": made.n_empty,
    }
    screen.show_page(_page(made), content, request)
    screen.wrote(out, quiet=screen.silent(request))


def _row(corpus: Corpus) -> dict[str, Any]:
    return {name: value for name, value in asdict(corpus).items() if name != "read"}


def _page(made: Converted) -> Page:
    """Return the texts of each language, and the counts in a sentence."""
    corpus, total = made.corpus, sum(made.texts.values())
    rows = [(tag, Cell.count(count)) for tag, count in made.texts.most_common()]
    table = Table.of_texts(corpus.title, ("language", "texts"), rows, where="both")
    there, missing, none = (made.images[name] for name in ("there", "missing", "none"))
    counts = (
        f"{counted(total, 'text')} of {counted(made.n_items, 'item')}; texts whose image file is there: "
        f"{there:,}, missing: {missing:,}, without a name: {none:,}"
    )
    if made.n_empty:
        counts += f"; {counted(made.n_empty, 'empty text')} left out"
    lines = [counts, f"Licence: {corpus.licence}", f"Cite: {corpus.citation}", corpus.url]
    return Page.of("corpus", corpus.title, [table, *(Prose(line, where="both") for line in lines)])
