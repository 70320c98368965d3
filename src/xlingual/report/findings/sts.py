"""Textual similarity: what results say by file and encoder, and the verdict on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xlingual.report import numbers
from xlingual.report.findings import chance
from xlingual.report.findings.leads import MOST_NAMED, lead, without_value
from xlingual.report.leaders import Row
from xlingual.results import Interval, Results, by_key
from xlingual.results.views import AgreementAgainst, StsViews
from xlingual.tasks import Task

TASK = "sts"
HEADLINE = "Pearson"
MEAN = None  # stands for the mean over files
FEW_PAIRS = 50
ALPHA = 0.05


@dataclass(frozen=True)
class Against:
    """An encoder's agreement less the baseline's, with its interval."""

    found: AgreementAgainst
    ci: Interval

    @property
    def is_real(self) -> bool:
        """Whether the interval excludes zero."""
        return not self.ci.low <= 0.0 <= self.ci.high


@dataclass(frozen=True)
class Cell:
    """One encoder on one file, or on average over the files."""

    value: float | None
    ci: Interval | None
    note: str | None
    best: bool
    against: Against | None


@dataclass(frozen=True)
class Grid:
    """Files by encoders of one run, for one measure; the others are compared with `reference`."""

    measure: str
    language: str
    files: list[str]
    encoders: list[str]
    pairs: dict[str, int]  # by file
    cells: dict[tuple[str | None, str], Cell]
    reference: str | None

    @property
    def rows(self) -> list[str | None]:
        """The files, and the mean over them where there are several."""
        return [*self.files, *([MEAN] if len(self.files) > 1 else [])]

    @property
    def against(self) -> list[tuple[str, str, Against]]:
        """(file, encoder, difference) of all files, best encoders of the mean first."""
        found = [
            (file, name, self.cells[file, name].against) for file in self.files for name in self.encoders
        ]
        return [(file, name, one) for file, name, one in found if one is not None]


def grid_of(run: Results, measure: str) -> Grid | None:
    """Return the numbers of a run by file and encoder; None where it has none of the measure."""
    entries = by_key(run.entries, task=TASK, measure=measure)
    summary = by_key(run.summary, task=TASK, measure=measure)
    if not entries:
        return None
    files = list(dict.fromkeys(entry.target for entry in entries))
    encoders = list(dict.fromkeys(entry.encoder for entry in entries))
    cells: dict[tuple[str | None, str], Cell] = {}
    for entry in entries:
        views = entry.views if isinstance(entry.views, StsViews) else StsViews()
        own = _against(views.against)
        cells[entry.target, entry.encoder] = Cell(entry.value, entry.ci, entry.note, False, own)
        over = _against(views.against_mean)
        for row in by_key(summary, source=None, encoder=entry.encoder):
            held = over if len(files) > 1 else own
            cells[MEAN, entry.encoder] = Cell(row.value, row.ci, row.note, False, held)
    rows = [*files, *([MEAN] if len(files) > 1 else [])]
    for place in ((row, name) for row in rows for name in encoders):
        cells.setdefault(place, Cell(None, None, None, False, None))
    for row in {file for file, _ in cells}:
        known = [cell.value for (file, _), cell in cells.items() if file == row and cell.value is not None]
        for name in encoders:
            cell = cells.get((row, name))
            if cell is not None and known and len(encoders) > 1 and cell.value == max(known):
                cells[row, name] = replace(cell, best=True)
    named = [cell.against.found.baseline for cell in cells.values() if cell.against is not None]
    return Grid(
        measure,
        entries[0].source,
        files,
        encoders,
        {entry.target: entry.n_source for entry in entries},
        cells,
        named[0] if named else None,
    )


def _against(found: AgreementAgainst | None) -> Against | None:
    return None if found is None or found.ci is None else Against(found, found.ci)


def of_run(runs: Sequence[Results], task: Task, rows: Sequence[Row]) -> list[str]:
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
            sentences += _against_baseline(grid, leader.encoder)
            sentences += _other_best(grid, leader.encoder)
        if not (chance.none_above(found) and all(row.at_chance for row in found)):
            sentences += chance.at_or_below(found)
        sentences += _few(grid)
    return sentences + without_value(rows, rows[0].measure)


def _against_baseline(grid: Grid, leader: str) -> list[str]:
    """Return how encoders differ from a baseline that is not the leader itself."""
    if grid.reference is None or grid.reference == leader:
        return _tested(grid, leader)
    row = MEAN if len(grid.files) > 1 else grid.files[0]
    differences = [(name, grid.cells[row, name].against) for name in grid.encoders]
    found = [(name, one) for name, one in differences if one is not None]
    if not found or [name for name, _ in found] == [leader]:  # the lead says it
        return []
    if len(found) > MOST_NAMED:
        better = [name for name, one in found if one.is_real and one.found.value > 0]
        worse = [name for name, one in found if one.is_real and one.found.value < 0]
        parts = [f"{len(better)} better" if better else "", f"{len(worse)} worse" if worse else ""]
        parts.append(
            f"{rest} cannot be told apart" if (rest := len(found) - len(better) - len(worse)) else ""
        )
        said = numbers.in_words([part for part in parts if part])
    else:
        said = numbers.in_words([f"{name} {_signed(one)}" for name, one in found])
    return [f"Against the baseline {grid.reference}: {said}."]


def _signed(one: Against) -> str:
    text = numbers.difference(one.found.value, one.ci)
    sign = "+" if one.found.value > 0 else ""
    return f"{sign}{text}{'' if one.is_real else ' (may be zero)'}"


def _tested(grid: Grid, leader: str) -> list[str]:
    """Return which leads over others do not withstand the correction for several tests."""
    if len(grid.against) < 2:  # nothing was corrected
        return []
    weak = [
        f"{name}{f' on {file}' if len(grid.files) > 1 else ''}"
        for file, name, one in grid.against
        if one.is_real and one.found.p_holm is not None and one.found.p_holm >= ALPHA
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
