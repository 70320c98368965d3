"""`xlingual cite`: numbers as lines that a paper can carry and that `verify` checks."""

from __future__ import annotations

from xlingual.cli import screen
from xlingual.cli.from_request import command
from xlingual.requests.verifying import CiteRequest


@command(CiteRequest)
def cite(request: CiteRequest) -> None:
    """Print numbers of RESULTS as claims: one line each, with value, interval and digest of the result.

    `xlingual verify CLAIM --in DIR` finds the result by its digest and checks the line.
    """
    from xlingual.results import Results
    from xlingual.results.claims import claims

    results = Results.read(request.results)
    found = claims(results, encoders=request.encoders, measure=request.measure, pair=request.pair)
    for claim in found:
        screen.say(str(claim))
