"""`xlingual data from`: a public corpus, from the folder that it was downloaded to."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xlingual.cli import screen
from xlingual.cli.checks import check_file, check_pool_folder
from xlingual.cli.from_request import command
from xlingual.errors import InputError
from xlingual.report.blocks import Page, Prose
from xlingual.report.numbers import counted
from xlingual.report.table import Cell, Table, narrower
from xlingual.requests.making import FromRequest

if TYPE_CHECKING:
    from xlingual.data.corpora.convert import Converted
    from xlingual.data.corpora.table import Corpus


@command(FromRequest, short_help="Read a public corpus from the folder that holds it.")
def from_(request: FromRequest) -> None:
    """Convert the public corpus NAME in FOLDER to a manifest, a pool or files of sentence pairs.

    Nothing is downloaded: download and unpack the corpus to FOLDER first. --list shows the corpora and what
    each is converted to. The command prints the licence and the citation.
    """
    from xlingual.data.corpora.convert import convert
    from xlingual.data.corpora.suite import write_suite
    from xlingual.data.corpora.table import CORPORA, corpus_of

    if request.every:
        screen.show_page(_list(), {"corpora": [asdict(one) for one in CORPORA.values()]}, request)
        return
    if request.name is None:
        raise InputError("NAME is missing: name a corpus; xlingual data from --list shows all")
    corpus = corpus_of(request.name)
    if request.folder is None or request.out is None:
        missing = "FOLDER" if request.folder is None else "--out"
        becomes = "manifest.parquet" if corpus.kind == "manifest" else corpus.name
        raise InputError(
            f"{missing} is missing: write xlingual data from {corpus.name} FOLDER --out {becomes}"
        )
    _check_free(corpus, request.out, request.suite, request.force)
    with screen.warnings_as_lines(), screen.progress(screen.silent(request)) as progress:
        made = convert(
            corpus.name,
            request.folder,
            request.out,
            languages=request.languages,
            split=request.split,
            format=request.file_format,
            overwrite=request.force,
            progress=progress,
        )
        suite = None if request.suite is None else write_suite(made, request.suite)
    screen.show_page(_page(made), _content(made), request)
    for path in filter(None, (request.out, suite)):
        screen.wrote(path, quiet=screen.silent(request))


def _check_free(corpus: Corpus, out: Path, suite: Path | None, force: bool) -> None:
    """Refuse what cannot be written, or stands there already, before any work is done."""
    check_file(suite)
    if corpus.kind == "pool":
        check_pool_folder(out, force)
    elif corpus.kind == "manifest":
        check_file(out)
    there = [path for path in (out, suite) if path is not None and path.exists() and corpus.kind != "pool"]
    if there and not force:
        raise InputError(f"{there[0]} is there already: choose another name, or replace it with --force")


def _list() -> Page:
    from xlingual.data.corpora.table import CORPORA

    becomes = {"manifest": "manifest", "pool": "pool", "pairs": "sentence pairs"}
    rows = [(one.name, becomes[one.kind], one.licence, one.title, one.about) for one in CORPORA.values()]
    table = Table.of_texts(
        "public corpora",
        ("name", "becomes", "licence", "title", "what"),
        rows,
        names=5,
        where="both",
        looks=narrower("what", "licence", "title"),
    )
    return Page.of("corpora", "public corpora", [table])


def _content(made: Converted) -> dict[str, Any]:
    return {
        "corpus": asdict(made.corpus),
        "out": str(made.out),
        "texts": dict(made.texts),
        "items": made.n_items,
        "questions": made.n_questions,
        "images": dict(made.images),
        "empty": made.n_empty,
    }


def _page(made: Converted) -> Page:
    corpus = made.corpus
    what = {"manifest": "texts", "pool": "candidates", "pairs": "pairs"}[corpus.kind]
    rows = [(tag, Cell.count(count)) for tag, count in made.texts.most_common()]
    head = "languages" if corpus.kind == "pairs" else "language"
    table = Table.of_texts(corpus.title, (head, what), rows, where="both")
    lines = [_counts(made), f"Licence: {corpus.licence}", f"Cite: {corpus.citation}", corpus.url]
    return Page.of("corpus", corpus.title, [table, *(Prose(line, where="both") for line in lines)])


def _counts(made: Converted) -> str:
    total = sum(made.texts.values())
    if made.corpus.kind == "pairs":
        return f"{counted(total, 'pair')} in {counted(len(made.texts), 'file')}"
    if made.corpus.kind == "pool":
        return f"{counted(made.n_questions, 'question')}, {counted(total, 'candidate')}"
    parts = [f"{counted(total, 'text')} of {counted(made.n_items, 'item')}"]
    if made.images:
        there, missing, none = (made.images[name] for name in ("there", "missing", "none"))
        parts.append(
            f"texts whose image file is there: {there:,}, missing: {missing:,}, without a name: {none:,}"
        )
    if made.n_empty:
        parts.append(f"{counted(made.n_empty, 'empty text')} left out")
    return "; ".join(parts)
