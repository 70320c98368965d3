"""What the report shows about one task: leaderboards, plots and examples, ready for the templates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from xlingual.report import approximation, chance, examples, numbers, plots, tables, words
from xlingual.report.axis import Axis
from xlingual.report.calibration import estimate_table
from xlingual.report.grid import Table
from xlingual.report.image_sentence.reading import TASK as RANKING
from xlingual.report.image_sentence.section import RankingRun, ranking_runs
from xlingual.report.image_sentence.terms import ABOUT as ABOUT_RANKING
from xlingual.report.multilingual_pool import reading, terms
from xlingual.report.multilingual_pool.reading import TASK as POOL
from xlingual.report.multilingual_pool.section import PoolSection, pool_section
from xlingual.report.leaders import Row
from xlingual.report.sts.reading import TASK as STS
from xlingual.report.sts.section import RunSection, sts_section
from xlingual.report.sts.terms import ABOUT as ABOUT_STS
from xlingual.report.verdict import Findings, task_verdict
from xlingual.results import Results

LANDMARKS = (
    ("chance", "chance"),
    ("oracle", "pictures alone (oracle)"),
    ("ceiling", "the most any encoder could reach (ceiling)"),
)


@dataclass(frozen=True)
class Board:
    """The leaderboard of one measure, with the columns that have something to say."""

    name: str
    rows: list[tuple[Row, plots.Bar]]
    axis: Axis
    level: str
    lower_is_better: bool
    several_runs: bool
    ranked_apart: bool
    led: set[int]  # the runs of which some encoder is above chance
    shows: dict[str, bool]
    approximate: list[str]  # how far its numbers may be off, in words

    @property
    def landmarks(self) -> list[tuple[str, str, str, bool]]:
        """Return (class, name, value, whether drawn) of what the rows are seen against, for the legend."""
        found = []
        for kind, name in LANDMARKS:
            texts = _texts(row for row, _ in self.rows)[kind]
            drawn = any(getattr(place, kind) is not None for row, place in self.rows if row.value is not None)
            if texts:
                text = texts[0] if len(texts) == 1 else "differs by row"
                found.append((kind, name, text if drawn else f"{text}, beyond the axis", drawn))
        return found

    def begins_run(self, index: int) -> bool:
        """Tell whether the row is the first of a further run that is ranked on its own."""
        return self.ranked_apart and index > 0 and self.rows[index][0].run != self.rows[index - 1][0].run


@dataclass(frozen=True)
class Section:
    """Everything about one task."""

    task: str
    title: str
    about: str
    verdict: list[Findings]
    boards: list[Board]
    boxes: list[plots.Box]
    box_axis: Axis
    heat_maps: list[plots.HeatMap]
    scale: tuple[str, str]
    examples: list[examples.PairExamples]
    estimates: list[Table]  # of XLR, one for each run that has them
    pool: PoolSection | None  # of answers from a multilingual pool
    rankings: list[RankingRun]  # of pictures and sentences: in place of boards and plots
    sts: list[RunSection]  # of textual similarity


def section_of(runs: Sequence[Results], task: str, budget: int) -> tuple[Section, int]:
    """Return everything about a task, and the bytes of pictures in it (at most `budget`)."""
    if task == RANKING:
        return _ranking_section(runs), 0
    names = tables.measures(runs, task)
    boards = [_board(runs, task, name) for name in names]
    rows = [row for row, _ in boards[0].rows]
    pairs = tables.pair_rows(runs, task, names[0])
    n_pairs = len({key for own in pairs.values() for key in own})
    axis = plots.box_axis(rows, pairs)
    by_pair = task not in (POOL, STS)  # these show languages and files in ways of their own
    shown, used = examples.chosen(runs, task, sorted(rows, key=_by_rank), budget)
    section = Section(
        task=task,
        title=words.title(task),
        about=terms.about(reading.policies_of(runs)) if task == POOL else _about(task),
        verdict=task_verdict(runs, task),
        boards=boards,
        boxes=plots.boxes(rows, pairs, axis) if by_pair and n_pairs > 1 else [],
        box_axis=axis,
        heat_maps=plots.heat_maps(rows, pairs) if by_pair and n_pairs >= plots.FEWEST_FOR_MAP else [],
        scale=plots.scale_ends(rows, pairs),
        examples=shown,
        estimates=_estimates(runs) if task == "backretrieval" else [],
        pool=pool_section(runs, rows) if task == POOL else None,
        rankings=[],
        sts=sts_section(runs) if task == STS else [],
    )
    return section, used


def _ranking_section(runs: Sequence[Results]) -> Section:
    """Return the section of image–sentence ranking, which has tables of its own."""
    return Section(
        task=RANKING,
        title=words.title(RANKING),
        about=ABOUT_RANKING,
        verdict=task_verdict(runs, RANKING),
        boards=[],
        boxes=[],
        box_axis=plots.box_axis([], {}),
        heat_maps=[],
        scale=("", ""),
        examples=[],
        estimates=[],
        pool=None,
        rankings=ranking_runs(runs),
        sts=[],
    )


def _about(task: str) -> str:
    return ABOUT_STS if task == STS else words.ABOUT.get(task, "")


def _estimates(runs: Sequence[Results]) -> list[Table]:
    """Return the estimated XLR of each run that has it, with the run's number where there are several."""
    found = [(place, estimate_table(run)) for place, run in enumerate(runs, 1)]
    return [
        replace(table, title=f"{table.title}, run {place}") if len(runs) > 1 else table
        for place, table in found
        if table is not None
    ]


def _board(runs: Sequence[Results], task: str, measure: str) -> Board:
    rows = tables.leaderboard(runs, task, measure)
    axis = plots.bar_axis(rows)
    places = {row.run for row in rows}
    led = {place for place in places if not chance.none_above([row for row in rows if row.run == place])}
    levels = sorted({row.ci.level for row in rows if row.ci})
    shows = {
        "behind": any(row.behind for row in rows),
        "normalized": any(row.normalized is not None for row in rows),
        "ceiling": len(_texts(rows)["ceiling"]) > 1,
        "level": any(row.standing == "level" and row.run in led for row in rows),
        "seeds": any(row.n_seeds > 1 for row in rows),
        "tied": any(row.n_tied for row in rows),
    }
    return Board(
        name=words.measure_name(task, measure),
        rows=[(row, plots.bar(row, axis)) for row in rows],
        axis=axis,
        level=" / ".join(numbers.percent(level) for level in levels),
        lower_is_better=words.lower_is_better(measure),
        several_runs=len(places) > 1,
        ranked_apart=tables.ranked_apart(runs, task),
        led=led,
        shows=shows,
        approximate=approximation.sentences(rows),
    )


def _texts(rows: Iterable[Row]) -> dict[str, list[str]]:
    """Return the different values of each landmark, as text."""
    found: dict[str, dict[str, None]] = {kind: {} for kind, _ in LANDMARKS}
    for row in rows:
        for kind, texts in found.items():
            if getattr(row, kind) is not None:
                error = row.oracle_error if kind == "oracle" else None
                value = getattr(row, kind)
                text = numbers.number(value, row.measure, error=error) if error else None
                texts[text or numbers.mark(value, row.measure)] = None
    return {kind: list(texts) for kind, texts in found.items()}


def _by_rank(row: Row) -> tuple[bool, int, int]:
    """Order the best rows of several runs first: those without a value come last."""
    return (row.rank is None, row.rank or 0, row.run)
