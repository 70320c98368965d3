"""What results say about textual similarity: encoders by file, and how they differ from the baseline."""

from __future__ import annotations

from dataclasses import dataclass, replace

from xlingual.results import Interval, Results, by_key
from xlingual.results.views import AgreementAgainst, StsViews

TASK = "sts"
HEADLINE = "Pearson"
MEAN = None  # stands for the mean over files


@dataclass(frozen=True)
class Against:
    """An encoder's agreement less the baseline's; `p_holm` is corrected over all encoders and files."""

    baseline: str
    value: float
    ci: Interval
    p: float | None
    p_holm: float | None
    test: str | None
    note: str | None

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
    """Files by encoders of one run, for one measure; `reference` is what the others are held against."""

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
    named = [cell.against.baseline for cell in cells.values() if cell.against is not None]
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
    if found is None or found.ci is None:
        return None
    return Against(found.baseline, found.value, found.ci, found.p, found.p_holm, found.test, found.note)
