"""The verdict on textual similarity, in plain sentences."""

from __future__ import annotations

from collections.abc import Sequence

from xlingual.report import chance, numbers
from xlingual.report.findings.leads import MOST_NAMED, lead, without_value
from xlingual.report.leaders import Row
from xlingual.report.sts.reading import MEAN, Against, Grid, grid_of
from xlingual.results import Results

FEW_PAIRS = 50
ALPHA = 0.05


def run_verdict(runs: Sequence[Results], rows: Sequence[Row]) -> list[str]:
    """Return the findings of one run, from the rows of its leaderboard; the most important first."""
    grid = grid_of(runs[rows[0].run - 1], rows[0].measure)
    found = [row for row in rows if row.value is not None]
    sentences = []
    if grid is not None and found:
        leader = next((row for row in found if row.standing == "leader"), found[0])
        where = (
            f" on {grid.files[0]}" if len(grid.files) == 1 else f" on average over {len(grid.files)} files"
        )
        if chance.none_above(found):
            sentences += chance.nothing_found(found[0], found, rows[0].measure, where)
        else:
            sentences.append(lead(leader, found, rows[0].measure, where))
            sentences += _held_against(grid, leader.encoder)
            sentences += _other_best(grid, leader.encoder)
        if not (chance.none_above(found) and all(row.at_chance for row in found)):
            sentences += chance.at_or_below(found)
        sentences += _few(grid)
    return sentences + without_value(list(rows), rows[0].measure)


def p_text(p: float | None) -> str:
    """Return a p-value as text.

    >>> p_text(0.0312), p_text(0.00001), p_text(None)
    ('0.031', '< 0.001', '–')
    """
    return "< 0.001" if p is not None and p < 0.001 else numbers.number(p)


def _held_against(grid: Grid, leader: str) -> list[str]:
    """Return how encoders differ from a baseline that is not the leader itself."""
    if grid.reference is None or grid.reference == leader:
        return _tested(grid, leader)
    row = MEAN if len(grid.files) > 1 else grid.files[0]
    held = [(name, grid.cells[row, name].against) for name in grid.encoders]
    found = [(name, one) for name, one in held if one is not None]
    if not found or [name for name, _ in found] == [leader]:  # the lead says it
        return []
    if len(found) > MOST_NAMED:
        better = [name for name, one in found if one.is_real and one.value > 0]
        worse = [name for name, one in found if one.is_real and one.value < 0]
        parts = [f"{len(better)} better" if better else "", f"{len(worse)} worse" if worse else ""]
        parts.append(
            f"{rest} cannot be told apart" if (rest := len(found) - len(better) - len(worse)) else ""
        )
        said = numbers.in_words([part for part in parts if part])
    else:
        said = numbers.in_words([f"{name} {_signed(one)}" for name, one in found])
    return [f"Against the baseline {grid.reference}: {said}."]


def _signed(one: Against) -> str:
    text = numbers.difference(one.value, one.ci)
    sign = "+" if one.value > 0 else ""
    return f"{sign}{text}{'' if one.is_real else ' (may be zero)'}"


def _tested(grid: Grid, leader: str) -> list[str]:
    """Return which leads over others do not withstand the correction for several tests."""
    if len(grid.against) < 2:  # nothing was corrected
        return []
    weak = [
        f"{name}{f' on {file}' if len(grid.files) > 1 else ''}"
        for file, name, one in grid.against
        if one.is_real and one.p_holm is not None and one.p_holm >= ALPHA
    ]
    if not weak:
        return []
    return [
        f"After Holm's correction for {len(grid.against)} tests the difference between {leader} and "
        f"{numbers.in_words(weak, MOST_NAMED)} may be luck."
    ]


def _other_best(grid: Grid, leader: str) -> list[str]:
    """Return the files on which another encoder is best."""
    if len(grid.files) < 2:
        return []
    found = []
    for file in grid.files:
        best = [name for name in grid.encoders if grid.cells[file, name].best]
        if best and leader not in best:
            value = grid.cells[file, best[0]].value
            found.append(f"on {file} it is {best[0]} with {numbers.number(value)}")
    return [f"Not the best everywhere: {numbers.in_words(found, MOST_NAMED)}."] if found else []


def _few(grid: Grid) -> list[str]:
    few = [file for file in grid.files if grid.pairs[file] < FEW_PAIRS]
    if not few:
        return []
    named = f"Only {numbers.span([grid.pairs[file] for file in few])} pairs"
    if len(grid.files) > 1:
        named += f" in {numbers.in_words(few, MOST_NAMED)}"
    return [f"{named}: the intervals are wide."]
