"""What a page shows about textual similarity: files by encoders, tests, and the pairs as drawings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xlingual.report import leaders, numbers
from xlingual.report.blocks import Block, Figure, Fold, Group, Heading, Legend, Prose, Section
from xlingual.report.figures.sts import drawings
from xlingual.report.findings.retrieval import findings
from xlingual.report.findings.sts import HEADLINE, MEAN, Grid, grid_of, of_run
from xlingual.report.pages.boards import boards
from xlingual.report.pages.evaluation import Part
from xlingual.report.shapes import Drawing, path, polyline
from xlingual.report.table import Cell, Column, Key, Look, Row, Table
from xlingual.results import Results, by_key
from xlingual.tasks import Task

MEAN_NAME = "mean of files"
MOST_DRAWN = 6  # drawings of the first encoders; those of the others are folded
BEST, REAL = "*", "†"
TERMS = (
    (
        "Pearson",
        "The correlation of cosine and score: 1 where they lie on a rising line, 0 where they have nothing "
        "to do with each other. Shifting or stretching the cosines, as in multiplying by 5, changes nothing.",
    ),
    ("Spearman", "The same of ranks: whether the order agrees, whatever the shape of the curve."),
    ("Chance", "0: cosines that have nothing to do with the scores."),
    (
        "Interval",
        "Where the number would land for another sample of as many pairs from the same source. Pairs that "
        "share a sentence are drawn again together.",
    ),
    (
        "Difference",
        "An encoder's correlation less the reference's, on the same pairs. Both are with the same scores, so "
        "they are compared as dependent correlations: Zou's interval, Williams' test. p is corrected for the "
        "number of encoders and files (Holm).",
    ),
)


def part(runs: Sequence[Results], task: Task, budget: int) -> Part:
    """Return the part of textual similarity."""
    blocks: list[Block] = boards(runs, task, where="page")
    own = [(place, run) for place, run in enumerate(runs, 1) if by_key(run.entries, task=task.name)]
    for place, run in own:
        name = f"run {place}" if len(runs) > 1 else ""
        blocks += [Heading(name.capitalize())] if name else []
        blocks += _of_run(run, task, name)
    entries = [entry for _, run in own for entry in by_key(run.entries, task=task.name, measure=HEADLINE)]
    sizes = {entry.target: entry.n_source for entry in entries}
    each = "sentence pairs" if len(sizes) == 1 else "sentence pairs per file"
    return Part(
        section=Section(task.title, blocks, task.about),
        findings=findings(runs, task, of_run),
        counts=[(len(sizes), "file")] if sizes else [],
        sizes={each: list(sizes.values())} if sizes else {},
        terms=TERMS,
        title=f"{task.title} in",
    )


def _of_run(run: Results, task: Task, name: str) -> list[Block]:
    measures = sorted(leaders.measures([run], task.name), key=lambda measure: measure != HEADLINE)
    grids = [grid for measure in measures if (grid := grid_of(run, measure)) is not None]
    first, *others = grids
    blocks: list[Block] = [Heading(_title(first)), *_files(first, name)]
    blocks += [Fold(_title(grid), _files(grid, name)) for grid in others]
    if first.against:
        blocks.append(Fold(f"Differences to {first.reference}: tests", [_tests(first)]))
    return [*blocks, *_drawn(drawings(run, first))]


def _title(grid: Grid) -> str:
    return f"{grid.measure}, file by file"


def _files(grid: Grid, name: str) -> list[Block]:
    """Return a row for each file and a column for each encoder, and what its marks mean."""
    columns = [Column("file", "name", data=True), *(Column(encoder, data=True) for encoder in grid.encoders)]
    rows = [
        Row((Cell(_name(row)), *(_cell(grid, row, encoder) for encoder in grid.encoders)), begins=row is MEAN)
        for row in grid.rows
    ]
    title = f"sts · {grid.measure} · {grid.language}{f' ({name})' if name else ''}"
    table = Table(
        title,
        tuple(columns),
        tuple(rows),
        style="figures two-lines",
        titled=False,
        looks=(Look(), Look(stacked=True), Look(stacked=True, names=14)),
        instead=_long(grid, title),
        where="both",
    )
    return [table, *_legend(grid)]


def _cell(grid: Grid, row: str | None, encoder: str) -> Cell:
    cell = grid.cells[row, encoder]
    gap_to, title = None, cell.note or ""
    if cell.against is not None:
        one = cell.against
        tone, mark = ("real", REAL) if one.is_real else ("quiet", "")
        gap_to = Cell.difference(one.found.value, one.ci, signed=True, tone=tone, mark=mark)
        if one.found.p_holm is not None:
            title = f"p {numbers.p_value(one.found.p)}, corrected {numbers.p_value(one.found.p_holm)}"
    elif encoder == grid.reference:
        gap_to = Cell("reference", tone="quiet")
    best: dict[str, Any] = {"tone": "best", "mark": BEST} if cell.best else {}
    return Cell.of(cell.value, cell.ci, gap=gap_to, title=title, **best)


def _legend(grid: Grid) -> list[Block]:
    """Return what marks and second lines mean, and why numbers are missing."""
    levels = sorted({cell.ci.level for cell in grid.cells.values() if cell.ci})
    level = " / ".join(numbers.percent(level) for level in levels)
    on_page = [f"Beside each value its {level} interval."] if levels else []
    said = []
    if any(cell.best for cell in grid.cells.values()):
        on_page.append("The best of each file is set apart.")
        said.append(f"{BEST} best of its file.")
    if grid.reference is not None:
        on_page.append(
            f"Below it the difference to {grid.reference}, in strong type where its interval excludes zero."
        )
        said.append(f"Differences are to {grid.reference}; {REAL} the interval excludes 0.")
    notes: dict[tuple[str, str], list[str]] = {}
    for name in grid.encoders:
        for row in grid.files:
            if (note := grid.cells[row, name].note) is not None:
                notes.setdefault((name, note), []).append(row)
    for (name, note), where in notes.items():
        on = "" if len(where) == len(grid.files) else f" on {numbers.in_words(where)}"
        said.append(f"{name}{on}: {note}.")
    return [
        Prose(" ".join(on_page), "note-line"),
        *([Prose(" ".join(said), "note-line", "terminal")] if said else []),
    ]


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
        for place, encoder in enumerate(grid.encoders):
            shown, one = _cell(grid, row, encoder), grid.cells[row, encoder].against
            p = Cell(numbers.p_value(None if one is None else one.found.p_holm))
            gap = shown.gap or Cell(numbers.MISSING)
            rows.append(Row((Cell(_name(row) if place == 0 else ""), Cell(encoder), shown.alone, gap, p)))
    return Table(title, columns, tuple(rows), looks=_LONG_LOOKS).without_empty()


_LONG_LOOKS = tuple(
    Look(names=names, bare=bare)
    for bare in ((), ("difference",), ("difference", *("Pearson", "Spearman")))
    for names in (28, 14)
)


def _tests(grid: Grid) -> Table:
    """Return the difference of every encoder and file to the reference with its test."""
    rows = [
        [
            name,
            file,
            Cell.difference(one.found.value, one.ci),
            numbers.p_value(one.found.p),
            numbers.p_value(one.found.p_holm),
            one.found.test or one.found.note or numbers.MISSING,
        ]
        for file, name, one in grid.against
    ]
    return Table.of_texts(
        f"Differences to {grid.reference}",
        ["encoder", "file", "difference", "p", "p, Holm", "test"],
        rows,
        names=2,
        words=["test"],
        data=True,
        titled=False,
        notes=(
            f"{grid.measure} of the encoder less that of {grid.reference}, on the same pairs. n: as how many "
            "independent pairs they count, since pairs that share a sentence are not independent.",
        ),
    )


def _drawn(found: Sequence[Drawing]) -> list[Block]:
    if not found:
        return []
    legend = Legend(
        (
            Key("a pair of sentences", Drawing((path("M6 6h0", "pairs key"),), 12, 12, "")),
            Key(
                "mean cosine of fifths of the scores' range",
                Drawing((polyline([(1, 9), (15, 6), (29, 3)], "means"),), 12, 30, ""),
            ),
        )
    )
    first, rest = found[:MOST_DRAWN], found[MOST_DRAWN:]
    blocks: list[Block] = [
        Heading("Cosine against score"),
        Group("scatters", list(map(Figure, first))),
        legend,
    ]
    if rest:
        name = "The other drawing" if len(rest) == 1 else f"The other {len(rest)} drawings"
        blocks.append(Fold(name, [Group("scatters", list(map(Figure, rest)))]))
    return blocks


def _name(row: str | None) -> str:
    return MEAN_NAME if row is MEAN else row
