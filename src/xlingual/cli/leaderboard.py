"""`xlingual leaderboard`: many encoders, data sets and tasks on one page."""

from __future__ import annotations

from xlingual.cli import screen
from xlingual.cli.from_request import command, keywords
from xlingual.requests.comparing import LeaderboardRequest


@command(LeaderboardRequest)
def leaderboard(request: LeaderboardRequest) -> None:
    """Make one page of many encoders, data sets and tasks: which encoders are best on which, with ties.

    RESULTS are folders that `xlingual evaluate … --out DIR` wrote, or folders that hold such folders. A
    column holds only numbers of the same data, samples and other conditions.
    """
    from xlingual.workflows.leaderboard import leaderboard as run

    with screen.warnings_as_lines(), screen.progress(screen.silent(request)) as progress:
        found = run(**keywords(request, run), progress=progress)
    screen.show(found, request)
    if request.out is not None:
        screen.wrote(request.out / "index.html", quiet=screen.silent(request))
