"""`xlingual study`: let people judge what systems retrieve, without knowing which system it was."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from xlingual.cli import screen
from xlingual.cli.checks import check_folder, check_output
from xlingual.cli.from_request import command, keywords
from xlingual.cli.opening import read_manifest, store_of, within_cost
from xlingual.cli.outcome import say_written
from xlingual.cli.ranking import chosen_ranker
from xlingual.errors import InputError, MissingExtraError, listed
from xlingual.extras import missing
from xlingual.requests import signed
from xlingual.requests.study import (
    AnalyseStudyRequest,
    ExportStudyRequest,
    ImportStudyRequest,
    NewStudyRequest,
    ServeStudyRequest,
)

if TYPE_CHECKING:
    from xlingual.study.records import Study


@click.group()
def study() -> None:
    """Run a blind study in which people rate the texts that systems retrieve.

    `new` draws queries and collects the suggestions of each system. `serve` shows them to raters. `analyse`
    compares the systems by the ratings. `export` and `import` write and read files of ratings, and sheets for
    raters without a network.
    """


@command(ServeStudyRequest, study, short_help="Show a study to raters, until Ctrl-C.")
def serve(request: ServeStudyRequest) -> None:
    """Serve the study in the folder STUDY to raters, until Ctrl-C.

    The command prints a personal link for each rater and one for the organiser. Every answer is saved before
    the page confirms it, so you can stop and restart the server at any time. The server never opens the
    folder STUDY/secret; the folder may be absent.
    """
    if missing("study"):
        raise MissingExtraError("the study's server", "study")
    from xlingual.study.server.run import serve as run

    study, host, url = request.study, request.host, request.url
    run(
        study,
        host,
        request.port,
        lambda base, links: _announce(study, host, base, links, url),
        url,
        request.trust_proxy,
    )
    screen.say("\nStopped. Every answer that raters saw as saved is in the study's folder.")


def _announce(study: Path, host: str, base: str, links: list[tuple[str, str]], url: str | None) -> None:
    """Print where the study is served, and the links to hand out."""
    from xlingual.serving.run import is_loopback, is_unspecified

    screen.say(f"Serving {study} at {base}  (Ctrl-C stops it)\n")
    width = max((len(who) for who, _ in links), default=0)
    for who, address in links:
        shown = address if url is None else url.rstrip("/") + address.removeprefix(base)
        screen.say(f"  {who:<{width}}  {shown}")
    if not links:
        screen.say("  links.csv is not in the folder: raters use the links they have.")
    if is_unspecified(host) and url is None and links:
        screen.say(
            f"\n{host} stands for every address of this machine: in the links, put its name or address as"
            " raters' devices know it in its place, or give it by --url."
        )
    if not is_loopback(host):
        screen.say(
            "\nwarning: other machines can reach this server, over http without encryption: whoever listens"
            " on the network can read answers and links. Outside a network you trust leave --host at"
            " 127.0.0.1 and put a proxy with TLS before it (--url names its address).",
            err=True,
        )
    elif url is None:
        screen.say("\nOnly this machine reaches it; --host 0.0.0.0 opens it to the network.")


_ADDRESS = "http://127.0.0.1:8080"  # where xlingual study serve listens by default


@command(NewStudyRequest, study, short_help="Draw queries and suggestions; write a study.")
def new(request: NewStudyRequest) -> None:
    """Make a study: draw queries from MANIFEST and collect the suggestions of each system.

    A text that two systems suggest is shown once and counts for both. STUDY/secret records which system
    suggested which text; the server never opens it.
    """
    from xlingual.study.folder import refuse_study_in
    from xlingual.workflows.study import new_study

    out, quiet = request.out, request.quiet
    check_folder(out)
    refuse_study_in(out)
    store = store_of(request.keeping)
    ranker = chosen_ranker(request.ranking, store, quiet=quiet)
    with screen.warnings_as_lines(), screen.progress(quiet) as progress:
        made = new_study(
            read_manifest(request.data),
            out,
            source=request.source,
            target=request.target,
            systems=within_cost(request.text_encoders, request.keeping),
            runs=request.runs,
            layout=request.layout,
            image_encoder=request.image_encoder,
            threads=request.ranking.threads,
            ranker=ranker,
            store=store,
            progress=progress,
        )
    screen.wrote(out, quiet=quiet)
    if not quiet:
        _show(made, out)


def _show(study: Study, out: Path) -> None:
    """Print the size of the study, the links to hand out, and the next steps."""
    from xlingual.study.folder import LINKS_FILE, TITLE_FILE
    from xlingual.study.links import addresses, read_links

    suggestions = sum(len(query.suggestions) for query in study.queries)
    screen.say(
        f"{len(study.queries)} queries ({study.source}) with {suggestions} suggestions ({study.target}); "
        f"{len(study.orders[0])} pages for each rater"
    )
    screen.say(f"\nLinks, each for one person, good while the server runs (also in {out / LINKS_FILE}):")
    for who, address in addresses(read_links(out), _ADDRESS):
        screen.say(f"  {who:<10} {address}")
    screen.say(
        "\nNext:\n"
        f"  edit {out / TITLE_FILE}, the title and instructions\n"
        f"  xlingual study serve {out}\n"
        f"  xlingual study analyse {out} --out DIR --report"
    )


@command(ExportStudyRequest, study, short_help="Write ratings to a table, or make an offline sheet.")
def export(request: ExportStudyRequest) -> None:
    """Write the ratings of STUDY to a table, or a sheet that a rater can fill in without a network."""
    from xlingual.study.database import Ratings
    from xlingual.study.folder import read_key, read_study
    from xlingual.study.links import add_rater
    from xlingual.study.sheet import write_sheet
    from xlingual.study.tabular import check_format, write_ratings

    study, out, sheet, name = request.study, request.out, request.sheet, request.rater
    if (out is None) == (sheet is None):
        raise InputError("say what to write: ratings with --out FILE, or a rater's sheet with --sheet FILE")
    if sheet is not None and (request.with_key or name is None):
        raise InputError("--sheet needs --rater NAME, and goes without --with-key")
    if out is not None and name is not None:
        raise InputError("--rater belongs to --sheet: leave it out")
    made = read_study(study)  # first, for its error
    summary = ""
    if out is not None:
        check_format(out)
        with Ratings(study) as ratings:
            rows = ratings.all()
        write_ratings(out, rows, read_key(study, made) if request.with_key else None)
        summary = f"{len(rows)} ratings, raters: {listed({row.rater: None for row in rows}) or 'none'}"
    elif sheet is not None and name is not None:
        if sheet.suffix.lower() not in (".html", ".htm"):
            raise InputError(f"--sheet {sheet}: the name must end in .html")
        with Ratings(study) as ratings:
            known = {rater.name: rater for rater in ratings.raters()}
            rater = known.get(name) or add_rater(ratings, name)[0]
        write_sheet(sheet, study, made, rater)
        new = "" if name in known else " (a new rater)"
        summary = (
            f"sheet of rater {name}{new}; what it saves comes back by: xlingual study import {study} FILE"
        )
    if not request.quiet:
        screen.say(summary)
    for path in filter(None, (out, sheet)):
        screen.wrote(path, quiet=request.quiet)


@command(ImportStudyRequest, study, short_help="Add ratings of tables and sheets.")
def import_(request: ImportStudyRequest) -> None:
    """Add ratings to STUDY: tables (.csv, .parquet) of `export`, or what an offline sheet saved (.json).

    Importing the same file again changes nothing.
    """
    from xlingual.study.exchange import import_ratings, read_ratings, refuse_conflicts
    from xlingual.study.folder import read_study

    study, prefer = request.study, request.prefer
    found = read_study(study)
    given = [
        (path, read_ratings(path, found)) for path in request.files
    ]  # all are read before any is imported
    if prefer is None:
        refuse_conflicts(study, given)
    for path, ratings in given:
        done = import_ratings(study, ratings, prefer)
        if not request.quiet:
            parts = [f"{done.new} new", f"{done.same} known already"]
            parts += [f"{done.replaced} replaced"] if done.replaced else []
            parts += [f"{done.kept} that differ left out"] if done.kept else []
            parts += [f"new raters: {listed(done.raters)}"] if done.raters else []
            screen.say(f"{path}: {', '.join(parts)}")


@command(AnalyseStudyRequest, study, short_help="Compare the systems by the ratings.")
def analyse(request: AnalyseStudyRequest) -> None:
    """Analyse the ratings of STUDY: which system is better, by how much, and how certain it is.

    The command opens STUDY/secret/key.json, which names the system of each suggestion. Run it when rating has
    ended, or at planned looks (--looks).
    """
    from xlingual.records import digest
    from xlingual.results.provenance import note_data, note_file
    from xlingual.study.analysis import analyse as run
    from xlingual.study.database import Ratings
    from xlingual.study.folder import KEY_FILE, RATINGS, STUDY_FILE, read_key, read_study

    check_output(request.out, request.report)
    looks, made = _fractions(request.looks), read_study(request.study)
    with Ratings(request.study) as kept:
        ratings = kept.all()
    for name in (STUDY_FILE, KEY_FILE):
        note_file("study", request.study / name)
    rows = (digest(*map(repr, ratings)).hex(), len(ratings))
    note_data("ratings", request.study / RATINGS, ratings, lambda: rows)
    given = {"study": made, "looks": looks, "key": read_key(request.study, made), "ratings": ratings}
    found = signed(run(**keywords(request, run) | given), request)
    try:
        screen.show(found, request)
    finally:  # also where the reader of standard output has gone
        if request.out is not None:
            found.write(request.out)
        say_written(found, request, "analysis.json")


def _fractions(looks: str | None) -> list[float] | None:
    if looks is None:
        return None
    try:
        return [float(each) for each in looks.split(",")]
    except ValueError as error:
        raise InputError(
            f"--looks {looks!r}: expected fractions of the planned ratings joined by commas, such as 0.5,1"
        ) from error
