"""Textual similarity: the numbers of results by file and encoder, and the verdict on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xlingual.report import numbers
from xlingual.report.findings import chance
from xlingual.report.findings.leads import MOST_NAMED, lead, without_value
from xlingual.report.leaders import BoardRow, contains
from xlingual.report.table import Cell
from xlingual.results import Entry, Results, Summary, by_key
from xlingual.results.views import AgreementAgainst, StsViews
from xlingual.tasks import Task

TASK, HEADLINE = "sts", "Pearson"
MEAN = None  # the key of the mean over files
FEW_PAIRS = 50
ALPHA = 0.05
Place = tuple[str | None, str]  # file and encoder


@dataclass(frozen=True)
class Grid:
    """Files by encoders of one run, for one measure."""

    measure: str
    language: str
    files: list[str]
    encoders: list[str]
    pairs: dict[str, int]  # by file
    cells: dict[Place, Entry | Summary]
    gaps: dict[Place, AgreementAgainst]  # to the reference, those with an interval

    @property
    def rows(self) -> list[str | None]:
        """The files, and the mean over them where there are several."""
        return [*self.files, *([MEAN] if len(self.files) > 1 else [])]

    @property
    def reference(self) -> str | None:
        """The encoder to compare the others with."""
        return next((gap.baseline for gap in self.gaps.values()), None)

    @property
    def tests(self) -> list[tuple[str, str, AgreementAgainst]]:
        """(file, encoder, difference to the reference) of all files."""
        places = [(file, name) for file in self.files for name in self.encoders]
        return [(*place, self.gaps[place]) for place in places if place in self.gaps]

    def value(self, row: str | None, name: str) -> float | None:
        """Return the number of an encoder on a file, or on average."""
        cell = self.cells.get((row, name))
        return None if cell is None else cell.value

    def best(self, row: str | None) -> list[str]:
        """Return who of several encoders has the highest number."""
        values = {name: found for name in self.encoders if (found := self.value(row, name)) is not None}
        return [n for n, value in values.items() if value == max(values.values()) and len(self.encoders) > 1]


def grid_of(run: Results, measure: str) -> Grid | None:
    """Return the numbers of a run by file and encoder; None where it has none of the measure."""
    entries = by_key(run.entries, task=TASK, measure=measure)
    if not entries:
        return None
    pairs = {entry.target: entry.n_source for entry in entries}
    means = by_key(run.summary, task=TASK, measure=measure, source=None) if len(pairs) > 1 else []
    gaps: dict[Place, AgreementAgainst] = {}
    for entry in entries:
        views = entry.views if isinstance(entry.views, StsViews) else StsViews()
        for row, gap in ((entry.target, views.against), (MEAN, views.against_mean if means else None)):
            if gap is not None and gap.ci is not None:
                gaps[row, entry.encoder] = gap
    encoders = list(dict.fromkeys(entry.encoder for entry in entries))
    cells = {(row.target, row.encoder): row for row in [*entries, *means]}
    return Grid(measure, entries[0].source, list(pairs), encoders, pairs, cells, gaps)


def is_real(gap: AgreementAgainst) -> bool:
    """Tell whether the interval of a difference excludes zero."""
    return gap.ci is not None and not contains(gap.ci, 0.0)


def of_run(runs: Sequence[Results], task: Task, rows: Sequence[BoardRow]) -> list[str]:
    """Return the findings of one run, from the rows of its leaderboard; the most important first."""
    measure = rows[0].measure
    grid = grid_of(runs[rows[0].run - 1], measure)
    found = [row for row in rows if row.value is not None]
    sentences = []
    if grid is not None and found:
        leader = next((row for row in found if row.standing == "leader"), found[0])
        one = len(grid.files) == 1
        where = f" on {grid.files[0]}" if one else f" on average over {len(grid.files)} files"
        if chance.none_above(found):
            sentences += chance.nothing_found(found[0], found, measure, where)
        else:
            sentences.append(lead(leader, found, measure, where))
            sentences += _against_baseline(grid, leader.encoder)
            sentences += _other_best(grid, leader.encoder)
        if not (chance.none_above(found) and all(row.at_chance for row in found)):
            sentences += chance.at_or_below(found)
        sentences += _few(grid)
    return sentences + without_value(rows, measure)


def _against_baseline(grid: Grid, leader: str) -> list[str]:
    """Return how encoders differ from a baseline that is not the leader itself."""
    if grid.reference is None or grid.reference == leader:
        return _tested(grid, leader)
    found = {
        name: grid.gaps[grid.rows[-1], name] for name in grid.encoders if (grid.rows[-1], name) in grid.gaps
    }
    if not found or list(found) == [leader]:  # the lead says it
        return []
    if len(found) > MOST_NAMED:
        better = sum(is_real(gap) and gap.value > 0 for gap in found.values())
        worse = sum(is_real(gap) and gap.value < 0 for gap in found.values())
        counts = {"better": better, "worse": worse, "not distinguishable": len(found) - better - worse}
        outcomes = [f"{count} {outcome}" for outcome, count in counts.items() if count]
    else:
        outcomes = [f"{name} {_signed(gap)}" for name, gap in found.items()]
    return [f"Against the baseline {grid.reference}: {numbers.in_words(outcomes)}."]


def _signed(gap: AgreementAgainst) -> str:
    sign = "+" if gap.value > 0 else ""
    return f"{sign}{Cell.difference(gap.value, gap.ci).plain}{'' if is_real(gap) else ' (may be zero)'}"


def _tested(grid: Grid, leader: str) -> list[str]:
    """Return which leads over others do not withstand the correction for several tests."""
    weak = [
        f"{name}{f' on {file}' if len(grid.files) > 1 else ''}"
        for file, name, gap in grid.tests
        if is_real(gap) and gap.p_holm is not None and gap.p_holm >= ALPHA
    ]
    if not weak or len(grid.tests) < 2:  # a single test was not corrected
        return []
    return [
        f"After Holm's correction for {len(grid.tests)} tests the difference between {leader} and "
        f"{numbers.in_words(weak, MOST_NAMED)} may be luck."
    ]


def _other_best(grid: Grid, leader: str) -> list[str]:
    """Return the files on which another encoder is best."""
    found = []
    for file in grid.files if len(grid.files) > 1 else ():
        best = grid.best(file)
        if best and leader not in best:
            found.append(f"on {file} it is {best[0]} with {numbers.number(grid.value(file, best[0]))}")
    return [f"Not the best everywhere: {numbers.in_words(found, MOST_NAMED)}."] if found else []


def _few(grid: Grid) -> list[str]:
    few = {file: count for file, count in grid.pairs.items() if count < FEW_PAIRS}
    if not few:
        return []
    where = f" in {numbers.in_words(list(few), MOST_NAMED)}" if len(grid.files) > 1 else ""
    return [f"Only {numbers.span(list(few.values()))} pairs{where}: the intervals are wide."]
