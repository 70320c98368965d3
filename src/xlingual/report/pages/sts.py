"""What a page says and shows about textual similarity: files by encoders, tests, and drawings of pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from xlingual.report import leaders, numbers
from xlingual.report.axis import Axis, axis_for
from xlingual.report.blocks import Block, Figure, Fold, Group, Heading, Legend, Prose, Section
from xlingual.report.figures.frame import Frame
from xlingual.report.findings import leads
from xlingual.report.leaders import BoardRow, contains
from xlingual.report.pages.boards import boards
from xlingual.report.pages.evaluation import TaskPart, findings
from xlingual.report.shapes import Drawing, circle, path, polyline
from xlingual.report.table import Cell, Column, Key, Row, Table, TableRoom, Where
from xlingual.results import Entry, Results, Summary, by_key
from xlingual.results.views import AgreementAgainst, StsViews
from xlingual.tasks import Task

HEADLINE = "Pearson"
MEAN = "mean of files"  # the row below the files
ALPHA = 0.05
MOST_DRAWN = 6  # drawings of the first encoders; those of the others are folded
MOST_POINTS = 1500  # of a drawing; of more, an even part is shown
BINS, FEWEST = 5, 5  # parts of the scores' range, and pairs in one whose mean cosine is drawn
BEST, REAL = "*", "†"
TERMS = {
    "Pearson": "The correlation of cosine and score: 1 where they lie on a rising line, 0 where they have "
    "nothing to do with each other. Shifting or stretching the cosines changes nothing.",
    "Spearman": "The same of ranks: whether the order agrees, whatever the shape of the curve.",
    "Chance": "0: cosines that have nothing to do with the scores.",
    "Interval": "Where the number would land for another sample of as many pairs from the same source. Pairs "
    "that share a sentence are drawn again together.",
    "Difference": "An encoder's correlation less the reference's, on the same pairs. Both are with the same "
    "scores, so they are compared as dependent correlations: Zou's interval, Williams' test. p is corrected "
    "for the number of encoders and files (Holm).",
}


@dataclass(frozen=True)
class Grid:
    """Files by encoders of one run, for one measure: numbers, and differences that have an interval."""

    measure: str
    language: str
    rows: list[str]  # files, and `MEAN` where there are several
    encoders: list[str]
    cells: dict[tuple[str, str], Entry | Summary]  # by row and encoder
    gaps: dict[tuple[str, str], AgreementAgainst]

    @property
    def reference(self) -> str | None:
        """The encoder to compare the others with."""
        return next((gap.baseline for gap in self.gaps.values()), None)

    @property
    def tests(self) -> list[tuple[str, str, AgreementAgainst]]:
        """(encoder, file, difference to the reference) of all files."""
        return [(name, row, gap) for (row, name), gap in self.gaps.items() if row != MEAN]

    def best(self, row: str) -> list[str]:
        """Return who of several encoders has the highest number in a row."""
        cells = {name: self.cells[row, name].value for name in self.encoders if (row, name) in self.cells}
        values = {name: value for name, value in cells.items() if value is not None}
        return [name for name in values if values[name] == max(values.values()) and len(self.encoders) > 1]


def grid_of(run: Results, measure: str) -> Grid | None:
    """Return the numbers of a run by file and encoder; None where it has none of the measure."""
    entries = by_key(run.entries, task="sts", measure=measure)
    if not entries:
        return None
    files = list(dict.fromkeys(entry.target for entry in entries))
    means = by_key(run.summary, task="sts", measure=measure, source=None) if len(files) > 1 else []
    gaps: dict[tuple[str, str], AgreementAgainst] = {}
    for entry in entries:
        views = entry.views if isinstance(entry.views, StsViews) else StsViews()
        for row, gap in ((entry.target, views.against), (MEAN, views.against_mean if means else None)):
            if gap is not None and gap.ci is not None:
                gaps[row, entry.encoder] = gap
    encoders = list(dict.fromkeys(entry.encoder for entry in entries))
    cells = {(row.target or MEAN, row.encoder): row for row in [*entries, *means]}
    return Grid(measure, entries[0].source, [*files, *([MEAN] if means else [])], encoders, cells, gaps)


def part(runs: Sequence[Results], task: Task, budget: int) -> TaskPart:
    """Return the part of textual similarity."""
    blocks: list[Block] = boards(runs, task, where="page")
    sizes: dict[str, int] = {}
    for place, run in enumerate(runs, 1):
        if not (own := by_key(run.entries, task=task.name)):
            continue
        name = f"run {place}" if len(runs) > 1 else ""
        blocks += [Heading(name.capitalize())] if name else []
        blocks += _of_run(run, task, name)
        sizes |= {entry.target: entry.n_source for entry in own}
    each = "sentence pairs" if len(sizes) == 1 else "sentence pairs per file"
    return TaskPart(
        section=Section(task.title, blocks, task.about),
        findings=findings(runs, task, _verdict),
        counts=[(len(sizes), "file")] if sizes else [],
        sizes={each: list(sizes.values())} if sizes else {},
        terms=list(TERMS.items()),
        title=f"{task.title} in",
    )


def _of_run(run: Results, task: Task, name: str) -> list[Block]:
    measures = sorted(leaders.measures([run], task.name), key=lambda measure: measure != HEADLINE)
    first, *others = [grid for measure in measures if (grid := grid_of(run, measure)) is not None]
    blocks: list[Block] = [Heading(f"{first.measure}, file by file"), *_files(first, name)]
    blocks += [Fold(f"{grid.measure}, file by file", _files(grid, name)) for grid in others]
    if first.tests:
        rows = [
            [
                name,
                file,
                Cell.difference(gap.value, gap.ci),
                numbers.p_value(gap.p),
                numbers.p_value(gap.p_holm),
                gap.test or gap.note or numbers.MISSING,
            ]
            for name, file, gap in first.tests
        ]
        heads = ["encoder", "file", "difference", "p", "p, Holm", "test"]
        note = "n: the effective number of pairs, since pairs that share a sentence are not independent."
        title = f"Differences to {first.reference}"
        more: dict[str, Any] = {"data": True, "titled": False, "notes": (note,)}
        blocks.append(
            Fold(f"{title}: tests", [Table.of_texts(title, heads, rows, names=2, words=["test"], **more)])
        )
    return [*blocks, *_drawn(run, first)]


def _files(grid: Grid, name: str) -> list[Block]:
    """Return a row for each file and a column for each encoder, and what its marks mean."""
    table = Table(
        f"sts · {grid.measure} · {grid.language}{f' ({name})' if name else ''}",
        (Column("file", "name", data=True), *(Column(encoder, data=True) for encoder in grid.encoders)),
        tuple(
            Row((Cell(row), *(_cell(grid, row, encoder) for encoder in grid.encoders)), begins=row == MEAN)
            for row in grid.rows
        ),
        style="figures two-lines",
        titled=False,
        looks=(TableRoom(), TableRoom(stacked=True), TableRoom(stacked=True, names=14)),
        splits=True,
        where="both",
    )
    on_page, remarks = [], []
    if any(map(grid.best, grid.rows)):
        on_page.append("The best of each file is set apart.")
        remarks.append(f"{BEST} best of its file.")
    if to := grid.reference:
        on_page.append(f"Below it the difference to {to}, in strong type where its interval excludes zero.")
        remarks.append(f"Differences are to {to}; {REAL} the interval excludes 0.")
    notes: dict[tuple[str, str], list[str]] = {}
    for (row, encoder), cell in grid.cells.items():
        if row != MEAN and cell.note is not None:
            notes.setdefault((encoder, cell.note), []).append(row)
    why = [f"{who} on {numbers.in_words(where)}: {note}." for (who, note), where in notes.items()]
    shown: list[Block] = [table]
    media: tuple[tuple[Where, list[str]], ...] = ("page", on_page), ("terminal", remarks)
    for medium, lines in media:
        shown += [Prose(" ".join([*lines, *why]), "note-line", medium)] if lines or why else []
    return shown


def _cell(grid: Grid, row: str, encoder: str) -> Cell:
    number, gap = grid.cells.get((row, encoder)), grid.gaps.get((row, encoder))
    if number is None:
        return Cell(numbers.MISSING)
    below = Cell("reference", tone="quiet") if encoder == grid.reference else None
    if gap is not None:
        marks: dict[str, Any] = {"tone": "real", "mark": REAL} if _is_real(gap) else {"tone": "quiet"}
        below = Cell.difference(gap.value, gap.ci, signed=True, **marks)
    best: dict[str, Any] = {"tone": "best", "mark": BEST} if encoder in grid.best(row) else {}
    return Cell.of(number.value, number.ci, gap=below, title=number.note or "", **best)


def _is_real(gap: AgreementAgainst) -> bool:
    return gap.ci is not None and not contains(gap.ci, 0.0)


def _verdict(runs: Sequence[Results], task: Task, rows: Sequence[BoardRow]) -> list[str]:
    """Return the sentences about one run, from the rows of its leaderboard; the most important first."""
    measure = rows[0].measure
    grid = grid_of(runs[rows[0].run - 1], measure)
    valued = [row for row in rows if row.value is not None]
    sentences = []
    if grid is not None and valued:
        leader = next((row for row in valued if row.standing == "leader"), valued[0])
        n_files = len(grid.rows) - (MEAN in grid.rows)
        where = f" on {grid.rows[0]}" if n_files == 1 else f" on average over {n_files} files"
        if leads.none_above(valued):
            sentences += leads.nothing_found(valued[0], valued, measure, where)
        else:
            sentences += [leads.lead(leader, valued, measure, where), *_against(grid, leader.encoder)]
        if not (leads.none_above(valued) and all(row.at_chance for row in valued)):
            sentences += leads.at_or_below(valued)
    return sentences + leads.without_value(rows, measure)


def _against(grid: Grid, leader: str) -> list[str]:
    """Return how encoders differ from the baseline, or which leads several tests leave in doubt."""
    if grid.reference not in (None, leader):
        gaps = {name: gap for (row, name), gap in grid.gaps.items() if row == grid.rows[-1]}
        shown = [
            f"{name} {'+' if gap.value > 0 else ''}{Cell.difference(gap.value, gap.ci).plain}"
            f"{'' if _is_real(gap) else ' (may be zero)'}"
            for name, gap in gaps.items()
        ]
        if not shown or list(gaps) == [leader]:  # the lead says it
            return []
        return [f"Against the baseline {grid.reference}: {numbers.in_words(shown, leads.MOST_NAMED)}."]
    weak = [
        f"{name} on {file}"
        for name, file, gap in grid.tests
        if _is_real(gap) and gap.p_holm is not None and gap.p_holm >= ALPHA
    ]
    if not weak or len(grid.tests) < 2:  # a single test was not corrected
        return []
    return [
        f"After Holm's correction for {len(grid.tests)} tests the difference between {leader} and "
        f"{numbers.in_words(weak, leads.MOST_NAMED)} may be luck."
    ]


def _drawn(run: Results, grid: Grid) -> list[Block]:
    """Return cosine against score, pair by pair: a drawing for each encoder and file, best encoders first."""
    drawings = [Figure(drawing) for drawing in _drawings(run, grid)]
    if not drawings:
        return []
    point = Drawing((path("M6 6h0", "pairs key"),), 12, 12, "")
    line = Drawing((polyline([(1, 9), (15, 6), (29, 3)], "means"),), 12, 30, "")
    keys = Key("a pair of sentences", point), Key("mean cosine of fifths of the scores' range", line)
    shown = Group("scatters", drawings[:MOST_DRAWN])
    blocks: list[Block] = [Heading("Cosine against score"), shown, Legend(keys)]
    if rest := drawings[MOST_DRAWN:]:
        blocks.append(Fold(f"Further drawings: {len(rest)}", [Group("scatters", rest)]))
    return blocks


def _drawings(run: Results, grid: Grid) -> Iterator[Drawing]:
    if (table := run.tables.get("pairs")) is None:
        return
    pairs: dict[tuple[str, str], list[tuple[float, float]]] = {}
    columns = (table.column(name).to_pylist() for name in ("encoder", "target", "score", "cosine"))
    for encoder, file, score, cosine in zip(*columns, strict=True):
        pairs.setdefault((encoder, file), []).append((score, cosine))
    across = axis_for(score for own in pairs.values() for score, _ in own)
    means = {name: grid.cells[grid.rows[-1], name].value for name in grid.encoders}
    for name in sorted(means, key=lambda name: 2.0 if (value := means[name]) is None else -value):
        up = axis_for(cosine for (encoder, _), own in pairs.items() if encoder == name for _, cosine in own)
        for file in grid.rows:
            if (name, file) in pairs:
                yield _drawing(grid, name, file, pairs[name, file], (across, up))


def _drawing(
    grid: Grid, name: str, file: str, pairs: Sequence[tuple[float, float]], axes: tuple[Axis, Axis]
) -> Drawing:
    frame = Frame(340, 280, 62, 12, 330, 238, *axes)
    step = -(-len(pairs) // MOST_POINTS)
    dots = "".join(f"M{frame.x(score)} {frame.y(cosine)}h0" for score, cosine in pairs[::step])
    low, high = min(score for score, _ in pairs), max(score for score, _ in pairs)
    parts: list[list[tuple[float, float]]] = [[] for _ in range(BINS)]
    for score, cosine in pairs:
        parts[min(int((score - low) / ((high - low) / BINS or 1.0)), BINS - 1)].append((score, cosine))
    means = [
        (frame.x(sum(s for s, _ in own) / len(own)), frame.y(sum(c for _, c in own) / len(own)))
        for own in parts
        if len(own) >= FEWEST
    ]
    value = numbers.number(grid.cells[file, name].value)
    remark = f"{grid.measure} {value}" if value != numbers.MISSING else "no correlation"
    return frame.drawing(
        [
            *frame.axes("score of people", "cosine"),
            path(dots, "pairs"),
            *([polyline(means, "means")] if len(means) > 1 else []),
            *(circle(x, y, 3.2, "mean") for x, y in means),
        ],
        f"Cosine by {name} against the score of people on {file}, {len(pairs)} pairs; {remark}",
        name=name,
        hint=f"{file} · {remark}{' · an even part of the pairs is shown' if step > 1 else ''}",
    )
