"""What a page shows about textual similarity: files by encoders, tests, and the pairs as drawings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xlingual.report import leaders, numbers
from xlingual.report.blocks import Block, Figure, Fold, Group, Heading, Legend, Prose, Section
from xlingual.report.figures.sts import drawings
from xlingual.report.findings.retrieval import findings
from xlingual.report.findings.sts import HEADLINE, MEAN, Grid, grid_of, is_real, of_run
from xlingual.report.pages.boards import boards
from xlingual.report.pages.evaluation import TaskPart
from xlingual.report.shapes import Drawing, path, polyline
from xlingual.report.table import Cell, Column, Key, Row, Table, TableRoom
from xlingual.results import Results, by_key
from xlingual.tasks import Task

MOST_DRAWN = 6  # drawings of the first encoders; those of the others are folded
BEST, REAL = "*", "†"
_LONG_LOOKS = tuple(
    TableRoom(names=names, bare=bare)
    for bare in ((), ("difference",), ("difference", "Pearson", "Spearman"))
    for names in (28, 14)
)
TERMS = {
    "Pearson": "The correlation of cosine and score: 1 where they lie on a rising line, 0 where they have "
    "nothing to do with each other. Shifting or stretching the cosines, as in multiplying by 5, changes "
    "nothing.",
    "Spearman": "The same of ranks: whether the order agrees, whatever the shape of the curve.",
    "Chance": "0: cosines that have nothing to do with the scores.",
    "Interval": "Where the number would land for another sample of as many pairs from the same source. Pairs "
    "that share a sentence are drawn again together.",
    "Difference": "An encoder's correlation less the reference's, on the same pairs. Both are with the same "
    "scores, so they are compared as dependent correlations: Zou's interval, Williams' test. p is corrected "
    "for the number of encoders and files (Holm).",
}


def part(runs: Sequence[Results], task: Task, budget: int) -> TaskPart:
    """Return the part of textual similarity."""
    blocks: list[Block] = boards(runs, task, where="page")
    sizes: dict[str, int] = {}
    for place, run in enumerate(runs, 1):
        if not by_key(run.entries, task=task.name):
            continue
        name = f"run {place}" if len(runs) > 1 else ""
        blocks += [Heading(name.capitalize())] if name else []
        blocks += _of_run(run, task, name)
        own = by_key(run.entries, task=task.name, measure=HEADLINE)
        sizes |= {entry.target: entry.n_source for entry in own}
    each = "sentence pairs" if len(sizes) == 1 else "sentence pairs per file"
    return TaskPart(
        section=Section(task.title, blocks, task.about),
        findings=findings(runs, task, of_run),
        counts=[(len(sizes), "file")] if sizes else [],
        sizes={each: list(sizes.values())} if sizes else {},
        terms=list(TERMS.items()),
        title=f"{task.title} in",
    )


def _of_run(run: Results, task: Task, name: str) -> list[Block]:
    measures = sorted(leaders.measures([run], task.name), key=lambda measure: measure != HEADLINE)
    first, *others = [grid for measure in measures if (grid := grid_of(run, measure)) is not None]
    blocks: list[Block] = [Heading(_title(first)), *_files(first, name)]
    blocks += [Fold(_title(grid), _files(grid, name)) for grid in others]
    if first.tests:
        blocks.append(Fold(f"Differences to {first.reference}: tests", [_tests(first)]))
    return [*blocks, *_drawn(drawings(run, first))]


def _title(grid: Grid) -> str:
    return f"{grid.measure}, file by file"


def _files(grid: Grid, name: str) -> list[Block]:
    """Return a row for each file and a column for each encoder, and what its marks mean."""
    title = f"sts · {grid.measure} · {grid.language}{f' ({name})' if name else ''}"
    table = Table(
        title,
        (Column("file", "name", data=True), *(Column(encoder, data=True) for encoder in grid.encoders)),
        tuple(
            Row(
                (Cell(_name(row)), *(_cell(grid, row, encoder) for encoder in grid.encoders)),
                begins=row is MEAN,
            )
            for row in grid.rows
        ),
        style="figures two-lines",
        titled=False,
        looks=(TableRoom(), TableRoom(stacked=True), TableRoom(stacked=True, names=14)),
        instead=_long(grid, title),
        where="both",
    )
    return [table, *_legend(grid)]


def _cell(grid: Grid, row: str | None, encoder: str) -> Cell:
    found, gap = grid.cells.get((row, encoder)), grid.gaps.get((row, encoder))
    below = Cell("reference", tone="quiet") if encoder == grid.reference else None
    title = "" if found is None else found.note or ""
    if gap is not None:
        marks: dict[str, Any] = {"tone": "real", "mark": REAL} if is_real(gap) else {"tone": "quiet"}
        below = Cell.difference(gap.value, gap.ci, signed=True, **marks)
        if gap.p_holm is not None:
            title = f"p {numbers.p_value(gap.p)}, corrected {numbers.p_value(gap.p_holm)}"
    best: dict[str, Any] = {"tone": "best", "mark": BEST} if encoder in grid.best(row) else {}
    ci = None if found is None else found.ci
    return Cell.of(grid.value(row, encoder), ci, gap=below, title=title, **best)


def _legend(grid: Grid) -> list[Block]:
    """Return what marks and second lines mean, and why numbers are missing."""
    levels = sorted({cell.ci.level for cell in grid.cells.values() if cell.ci})
    level = " / ".join(numbers.percent(level) for level in levels)
    on_page = [f"Beside each value its {level} interval."] if levels else []
    notes_in_text = []
    if any(map(grid.best, grid.rows)):
        on_page.append("The best of each file is set apart.")
        notes_in_text.append(f"{BEST} best of its file.")
    if to := grid.reference:
        on_page.append(f"Below it the difference to {to}, in strong type where its interval excludes zero.")
        notes_in_text.append(f"Differences are to {to}; {REAL} the interval excludes 0.")
    notes: dict[tuple[str, str], list[str]] = {}
    for name in grid.encoders:
        for file in grid.files:
            if (cell := grid.cells.get((file, name))) is not None and cell.note is not None:
                notes.setdefault((name, cell.note), []).append(file)
    for (name, note), where in notes.items():
        on = "" if len(where) == len(grid.files) else f" on {numbers.in_words(where)}"
        notes_in_text.append(f"{name}{on}: {note}.")
    below = [Prose(" ".join(notes_in_text), "note-line", "terminal")] if notes_in_text else []
    return [Prose(" ".join(on_page), "note-line"), *below]


def _long(grid: Grid, title: str) -> Table:
    """Return a row for each file and encoder, for narrow terminals."""
    columns = (
        Column("file", "name", data=True),
        Column("encoder", "name", data=True),
        Column(grid.measure, interval="95 % interval"),
        Column("difference", interval="its interval"),
        Column("p (Holm)"),
    )
    rows = []
    for row in grid.rows:
        for name in grid.encoders:
            shown, gap = _cell(grid, row, name), grid.gaps.get((row, name))
            file = Cell(_name(row) if name == grid.encoders[0] else "")
            p = Cell(numbers.p_value(None if gap is None else gap.p_holm))
            rows.append(Row((file, Cell(name), shown.alone, shown.gap or Cell(numbers.MISSING), p)))
    return Table(title, columns, tuple(rows), looks=_LONG_LOOKS).without_empty()


def _tests(grid: Grid) -> Table:
    """Return the difference of every encoder and file to the reference with its test."""
    rows = [
        [
            name,
            file,
            Cell.difference(gap.value, gap.ci),
            numbers.p_value(gap.p),
            numbers.p_value(gap.p_holm),
            gap.test or gap.note or numbers.MISSING,
        ]
        for file, name, gap in grid.tests
    ]
    heads = ["encoder", "file", "difference", "p", "p, Holm", "test"]
    note = (
        f"{grid.measure} of the encoder less that of {grid.reference}, on the same pairs. n: the effective "
        "number of independent pairs, since pairs that share a sentence are not independent."
    )
    title = f"Differences to {grid.reference}"
    more: dict[str, Any] = {"data": True, "titled": False, "notes": (note,)}
    return Table.of_texts(title, heads, rows, names=2, words=["test"], **more)


def _drawn(found: Sequence[Drawing]) -> list[Block]:
    if not found:
        return []
    point = Drawing((path("M6 6h0", "pairs key"),), 12, 12, "")
    line = Drawing((polyline([(1, 9), (15, 6), (29, 3)], "means"),), 12, 30, "")
    keys = Key("a pair of sentences", point), Key("mean cosine of fifths of the scores' range", line)
    first, rest = (
        Group("scatters", list(map(Figure, some))) for some in (found[:MOST_DRAWN], found[MOST_DRAWN:])
    )
    blocks: list[Block] = [Heading("Cosine against score"), first, Legend(keys)]
    if rest.blocks:
        count = len(rest.blocks)
        blocks.append(Fold("The other drawing" if count == 1 else f"The other {count} drawings", [rest]))
    return blocks


def _name(row: str | None) -> str:
    return "mean of files" if row is MEAN else row
