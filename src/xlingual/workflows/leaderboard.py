"""A leaderboard as a site: one page over all, an ordinary report of each result, and the numbers as JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from xlingual.comparison.board import Source, read_sources
from xlingual.comparison.leaderboard import board_of
from xlingual.comparison.outcome import Rules
from xlingual.comparison.references import SeveralGiven, as_references
from xlingual.errors import InputError
from xlingual.files import make_folder
from xlingual.report import page_of
from xlingual.report.pages.leaderboard import FOLDER
from xlingual.report.render import html
from xlingual.requests import sign
from xlingual.requests.comparing import LeaderboardRequest
from xlingual.requests.provenance import note_argument
from xlingual.results.leaderboard import Leaderboard
from xlingual.results.provenance import noting

Progress = Callable[[str, int, int], None]  # progress: what, done, total


def leaderboard(
    results: SeveralGiven,
    *,
    measures: Sequence[str] = (),
    per_pair: bool = False,
    alpha: float = 0.05,
    correction: str = "holm",
    seed: int = 0,
    title: str | None = None,
    out: str | Path | None = None,
    progress: Progress | None = None,
) -> Leaderboard:
    """Put the encoders of several results on one leaderboard; with `out` write it as a site.

    `results` are `Results`, folders of results, or folders of such folders. A
    column is a data set, task and measure under equal conditions; numbers of unequal conditions are never in
    one column. Ranks come from paired tests of all pairs of a column's encoders, corrected for their number.
    `measures` default to the first of each task; with `per_pair` each language pair is a column.

    The site `out` has index.html, results/NAME.html (the report of each result) and leaderboard.json. It
    loads nothing from anywhere.

    Raises:
        InputError: something is no folder of results, or there is nothing to show; the text says why.

    """
    place = None if out is None else Path(out)
    if place is not None and place.exists() and not place.is_dir():
        raise InputError(f"{place} is a file: name a folder for the leaderboard")
    with noting():
        note_argument(results)
        sources = read_sources(results)
        found = board_of(
            sources,
            measures=measures,
            per_pair=per_pair,
            rules=Rules(correction, alpha, None),
            seed=seed,
            progress=progress,
        )
        made = {"results": _named(results), "measures": measures, "per_pair": per_pair, "alpha": alpha}
        made |= {"correction": correction, "seed": seed, "title": title, "out": place}
        found = sign(found, LeaderboardRequest, made)
        if place is not None:
            write_site(found, sources, place, title=title, progress=progress)
    return found


def _named(results: SeveralGiven) -> list[str]:
    """Return the results as a request names them."""
    return [str(reference) for reference in as_references(results)]


def write_site(
    board: Leaderboard,
    sources: Sequence[Source],
    out: Path,
    *,
    title: str | None = None,
    progress: Progress | None = None,
) -> None:
    """Write a leaderboard as a folder; index.html comes last, so that its links lead somewhere."""
    make_folder(out / FOLDER)
    for place, one in enumerate(sources):
        if progress is not None:
            progress("writing reports", place, len(sources))
        html.write(page_of([one.results]), out / FOLDER / f"{one.name}.html")
    board.write(out)
    html.write(page_of(board, title=title), out / "index.html")
