"""`xlingual study analyse`: from ratings to a verdict; the only verb that opens the key."""

from __future__ import annotations

from xlingual.cli import screen
from xlingual.cli.checks import check_output
from xlingual.cli.from_request import command, keywords
from xlingual.cli.outcome import report
from xlingual.errors import InputError
from xlingual.requests import signed
from xlingual.requests.study import AnalyseStudyRequest


@command(AnalyseStudyRequest, short_help="Say whose suggestions people find better.")
def analyse(asked: AnalyseStudyRequest) -> None:
    """Say what people found in STUDY: whose suggestions are better, by how much, and how sure that is.

    Opens STUDY/secret/key.json, which says which system made what: analyse when rating has ended, or at looks
    that were planned (--looks).
    """
    from xlingual.study.analysis import analyse as run
    from xlingual.study.database import Ratings
    from xlingual.study.folder import read_key, read_study

    study, out, quiet = asked.study, asked.out, asked.quiet
    check_output(out, asked.report)
    fractions = _fractions(asked.looks)
    made = read_study(study)
    with Ratings(study) as kept:
        ratings = kept.all()
    given = {**keywords(asked, run), "study": made, "looks": fractions}
    found = signed(run(**given, key=read_key(study, made), ratings=ratings), asked)
    try:
        screen.show(found, asked)
    finally:  # also where the reader of standard output has gone
        if out is not None:
            found.write(out)
            screen.wrote(out / "analysis.json", quiet=quiet)
        if out is not None and asked.report:
            report(found, out, quiet=quiet)


def _fractions(looks: str | None) -> list[float] | None:
    if looks is None:
        return None
    try:
        return [float(each) for each in looks.split(",")]
    except ValueError as error:
        raise InputError(
            f"--looks {looks!r}: expected fractions of the planned ratings joined by commas, such as 0.5,1"
        ) from error
