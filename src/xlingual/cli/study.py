"""`xlingual study`: let people judge what systems retrieve, without knowing which system it was."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from xlingual.cli import screen
from xlingual.cli.checks import check_folder, check_output
from xlingual.cli.from_request import command, keywords
from xlingual.cli.opening import read_manifest, store_of
from xlingual.cli.outcome import say_written
from xlingual.cli.ranking import chosen_ranker
from xlingual.requests import signed
from xlingual.requests.study import (
    AnalyseStudyRequest,
    CollectStudyRequest,
    NewStudyRequest,
    StudySheetsRequest,
)

if TYPE_CHECKING:
    from xlingual.study.records import Study


@click.group()
def study() -> None:
    """Run a blind study in which people rate the texts that systems retrieve.

    `new` draws queries and gathers the suggestions of each system. `sheets` writes an HTML file for each
    rater. `collect` reads the answers that raters save. `analyse` compares the systems by them.
    """


@command(NewStudyRequest, study, short_help="Draw queries and suggestions; write a study.")
def new(request: NewStudyRequest) -> None:
    """Make a study: draw queries from MANIFEST and gather the suggestions of each system.

    A text that two systems suggest is shown once and counts for both. STUDY/secret records which system
    suggested which text; no sheet has it.
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
            systems=request.text_encoders,
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
    """Print the size of the study and the next steps."""
    from xlingual.study.folder import TITLE_FILE

    suggestions = sum(len(query.suggestions) for query in study.queries)
    screen.say(
        f"{len(study.queries)} queries ({study.source}) with {suggestions} suggestions ({study.target}); "
        f"{len(study.orders[0])} pages for each rater"
        "\n\nNext:\n"
        f"  edit {out / TITLE_FILE}, the title and instructions\n"
        f"  xlingual study sheets {out}, one HTML file for each rater\n"
        f"  xlingual study collect {out} FILE…, the answers that raters save\n"
        f"  xlingual study analyse {out} --out DIR --report"
    )


@command(StudySheetsRequest, study, short_help="Write one HTML file for each rater.")
def sheets(request: StudySheetsRequest) -> None:
    """Write a sheet for each rater: one HTML file that works without a network.

    The rater's browser keeps the answers and saves them to a file. A sheet has the rater's own order of texts
    and nothing about systems. The same study gives the same sheets: to add raters, ask for more.
    """
    from xlingual.study.folder import read_study
    from xlingual.study.sheet import write_sheets

    out = request.study / "sheets" if request.out is None else request.out
    check_folder(out)
    for path in write_sheets(request.study, read_study(request.study), out, request.raters):
        screen.wrote(path, quiet=request.quiet)


@command(CollectStudyRequest, study, short_help="Read the answers that raters saved.")
def collect(request: CollectStudyRequest) -> None:
    """Add the answers in FILEs, or in folders of them, to STUDY and show how far each rater is.

    The last score that a rater gave a suggestion counts. Reading a file again changes nothing.
    """
    from xlingual.study.answers import collect as run

    rows = run(request.study, request.files)
    if request.as_json:
        screen.print_json({"raters": [asdict(row) for row in rows]})
    elif not request.quiet:
        for row in rows:
            screen.say(
                f"rater {row.rater}: {row.given} of {row.asked} answers, {row.new} new, {row.changed} changed"
            )


@command(AnalyseStudyRequest, study, short_help="Compare the systems by the ratings.")
def analyse(request: AnalyseStudyRequest) -> None:
    """Analyse the ratings of STUDY: which system is better, by how much, and how certain it is.

    The command opens STUDY/secret/key.json, which names the system of each suggestion. Run it when rating has
    ended.
    """
    from xlingual.records import digest
    from xlingual.results.provenance import note_data, note_file
    from xlingual.study.analysis import analyse as run
    from xlingual.study.answers import read_answers
    from xlingual.study.folder import ANSWERS, KEY_FILE, STUDY_FILE, read_key, read_study

    check_output(request.out, request.report)
    made = read_study(request.study)
    ratings = read_answers(request.study, made)
    for name in (STUDY_FILE, KEY_FILE):
        note_file("study", request.study / name)
    rows = (digest(*map(repr, ratings)).hex(), len(ratings))
    note_data("ratings", request.study / ANSWERS, ratings, lambda: rows)
    given = {"study": made, "key": read_key(request.study, made), "ratings": ratings}
    found = signed(run(**keywords(request, run) | given), request)
    try:
        screen.show(found, request)
    finally:  # also where the reader of standard output has gone
        if request.out is not None:
            found.write(request.out)
        say_written(found, request, "analysis.json")
