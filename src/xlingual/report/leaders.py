"""The leaderboard: its rows sorted, ranked and judged once, for every medium, with their numbers as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Literal, TypeAlias

from msgspec import structs

from xlingual.report import conditions, numbers, words
from xlingual.results import Behind, Entry, Interval, Results, Summary, by_key
from xlingual.results.kinds import Kind, differences
from xlingual.results.names import given_name
from xlingual.tasks import TASKS, task_of

Standing: TypeAlias = Literal["leader", "level", "behind", "unknown"]
Side: TypeAlias = Literal["above", "at", "below"]  # better than chance, at it, worse
System: TypeAlias = tuple[int, str, str | None]  # run, encoder, image encoder: they identify a row

_KEY = attrgetter("task", "encoder", "image_encoder", "measure")
# fields that are empty where the mean over pairs is computed here
_OF_A_PAIR = (
    *("source", "target", "ci", "ci_simultaneous", "chance", "oracle", "ceiling", "normalized"),
    *("sd_seeds", "behind"),
)


class BoardRow(Summary, frozen=True, kw_only=True):
    """One encoder in the leaderboard of one task and measure: its mean, and its place.

    `behind` is positive where it is worse, also for measures where lower is better. `standing` is about the
    leader of the same run: "level" where the interval of the paired difference contains zero, "behind" where
    it does not, "unknown" where there is no such interval.
    """

    rank: int | None  # None where there is no value
    label: str  # the encoder, with its run or image encoder where the name alone would be ambiguous
    run: int  # 1-based place of its Results
    standing: Standing
    n_queries: int
    n_tied: int | None

    @property
    def system(self) -> System:
        """Run, encoder and image encoder of the row."""
        return (self.run, self.encoder, self.image_encoder)

    @property
    def side_of_chance(self) -> Side | None:
        """On which side of chance the whole interval lies; "at" where it contains chance.

        The interval is the simultaneous one, which allows for the number of encoders and pairs.
        """
        return side_of_chance(self.ci_simultaneous or self.ci, self.chance, self.measure)

    @property
    def at_chance(self) -> bool:
        """Whether the interval contains chance."""
        return self.side_of_chance == "at"

    @property
    def looks_off_chance(self) -> bool:
        """Whether the value is at chance by the simultaneous interval but not by its own."""
        return self.at_chance and side_of_chance(self.ci, self.chance, self.measure) != "at"

    @property
    def value_text(self) -> str:
        """The value, or "–"."""
        return numbers.number(self.value, self.measure)

    @property
    def behind_text(self) -> str:
        """How far behind the leader, with its interval, or "–"."""
        if self.behind is None:
            return numbers.MISSING
        return numbers.difference(self.behind.value, self.behind.ci, self.measure)

    @property
    def normalized_text(self) -> str:
        """How far on the way from chance to oracle, or "–"."""
        return numbers.percent(self.normalized)


def side_of_chance(ci: Interval | None, chance: float | None, measure: str) -> Side | None:
    """Return whether an interval lies on the better side of chance, contains it or lies on the worse side."""
    if ci is None or chance is None:
        return None
    if contains(ci, chance):
        return "at"
    return "above" if (ci.low > chance) != words.lower_is_better(measure) else "below"


def contains(ci: Interval, value: float) -> bool:
    """Tell whether the interval contains the value, its ends included."""
    return ci.low <= value <= ci.high


def tasks(runs: Iterable[Results]) -> list[str]:
    """Return the tasks in order of appearance."""
    return list(dict.fromkeys(row.task for run in runs for row in run.summary))


def measures(runs: Iterable[Results], task: str) -> list[str]:
    """Return the measures of a task in order of appearance; the first one is its headline.

    The measure that carries the task's views comes first wherever it is among the requested ones.
    """
    found = list(dict.fromkeys(row.measure for run in runs for row in run.summary if row.task == task))
    viewed = task_of(task).viewed
    return sorted(found, key=lambda measure: measure != viewed)


def leaderboard(results: Results | Sequence[Results], task: str, measure: str) -> list[BoardRow]:
    """Return one row per encoder, best first; encoders without a value come last, with a note.

    Runs whose conditions differ are not comparable: each is ranked on its own, one after the other.
    """
    runs = as_runs(results)
    boards = [_overall(run, task, measure) for run in runs]
    several_runs = sum(bool(board) for board in boards) > 1
    names = run_names(runs)
    several_image_encoders = len({row.image_encoder for board in boards for row in board}) > 1
    rows = []
    for place, (run, board) in enumerate(zip(runs, boards, strict=True), start=1):
        leader = _leader(board)
        if task in TASKS and TASKS[task].by_images and differences(kinds_of(board, run)):
            leader = None  # each has the standing "unknown"
        for summary in board:
            label = summary.encoder
            if several_image_encoders and summary.image_encoder:
                label += f" · {summary.image_encoder}"
            if several_runs:
                label += f" ({names[place - 1]})"
            rows.append(_row(summary, label, place, run.entries, leader))
    groups = [rows]
    if ranked_apart(runs, task):
        groups = [[row for row in rows if row.run == place] for place in range(1, len(runs) + 1)]
    return [row for group in groups for row in _ranked(group)]


def kinds_of(rows: Sequence[Summary], run: Results) -> Mapping[str, Kind]:
    """Return what a run knows of the kinds of the encoders that have a value."""
    return {row.encoder: run.encoders.get(row.encoder, {}) for row in rows if row.value is not None}


def ranked_apart(runs: Sequence[Results], task: str) -> bool:
    """Tell whether the runs of a task differ in their conditions, so that each is ranked on its own."""
    own = [run for run in runs if by_key(run.summary, task=task)]
    return len(own) > 1 and bool(conditions.unequal(own, task))


def run_names(runs: Sequence[Results]) -> list[str]:
    """Return the name of each run: of a pool the one it was given, or its folder's; else its number.

    Where two runs would have one name all have numbers.
    """
    found = [given_name(run) for run in runs]
    if unit(runs) == "pool":
        return found
    return [f"run {place}" for place in range(1, len(runs) + 1)]


def unit(runs: Sequence[Results]) -> str:
    """Return what runs are called: "pool" where each has the name of its own, else "run"."""
    found = [given_name(run) for run in runs]
    return "pool" if all(found) and len(set(found)) == len(found) else "run"


def badness(row: Summary) -> float:
    """Return a number that is the smaller the better a row is."""
    return _badness(row.value, row.measure)


def _ranked(rows: list[BoardRow]) -> list[BoardRow]:
    """Return the rows in order, with their ranks."""
    ordered = enumerate(sorted(rows, key=_order), start=1)
    return [structs.replace(row, rank=None if row.value is None else place) for place, row in ordered]


def pair_rows(
    results: Results | Sequence[Results], task: str, measure: str
) -> dict[System, dict[tuple[str, str], Summary]]:
    """Return for each run and encoder its means over seeds by (source, target)."""
    found: dict[System, dict[tuple[str, str], Summary]] = {}
    for place, run in enumerate(as_runs(results), start=1):
        for row in by_key(run.summary, task=task, measure=measure):
            if row.source is not None and row.target is not None:
                pairs = found.setdefault((place, row.encoder, row.image_encoder), {})
                pairs[(row.source, row.target)] = row
    return found


def as_runs(results: Results | Sequence[Results]) -> Sequence[Results]:
    """Return one or several results as several."""
    return [results] if isinstance(results, Results) else results


def _overall(run: Results, task: str, measure: str) -> list[Summary]:
    """Return one row per encoder: the mean over pairs, or the only pair where no mean was written."""
    groups: dict[tuple[str, str | None], list[Summary]] = {}
    for row in by_key(run.summary, task=task, measure=measure):
        groups.setdefault((row.encoder, row.image_encoder), []).append(row)
    return [_mean(rows) for rows in groups.values()]


def _mean(rows: list[Summary]) -> Summary:
    written = [row for row in rows if row.source is None]
    if written or len(rows) == 1:
        return (written or rows)[0]
    values = [row.value for row in rows if row.value is not None]
    return structs.replace(
        rows[0],
        **dict.fromkeys(_OF_A_PAIR),
        value=sum(values) / len(values) if values else None,
        n_pairs=len(rows),
        note=None if values else rows[0].note,
    )


def _leader(board: list[Summary]) -> Summary | None:
    """Return the row that the others are compared with, or the best one where there are no comparisons."""
    named = {row.behind.leader for row in board if row.behind}
    valued = [row for row in board if row.value is not None]
    candidates = [row for row in valued if row.encoder in named and row.behind is None] or valued
    return min(candidates, key=lambda row: (_badness(row.value, row.measure), row.encoder), default=None)


def _row(summary: Summary, label: str, run: int, entries: list[Entry], leader: Summary | None) -> BoardRow:
    same = [entry for entry in entries if _KEY(entry) == _KEY(summary)]
    # A pool that was measured under two language policies has two entries of the same questions.
    own = {(entry.source, entry.target, entry.seed): entry for entry in reversed(same)}
    tied = [entry.n_tied for entry in own.values() if entry.n_tied is not None]
    behind = _oriented(summary.behind, summary.measure)
    standing = _standing(summary, leader, behind)
    place = {"rank": None, "label": label, "run": run, "standing": standing, "behind": behind}
    return BoardRow(
        **structs.asdict(summary) | place,
        n_queries=sum(entry.n_source for entry in own.values()),
        n_tied=sum(tied) if tied else None,
    )


def _standing(summary: Summary, leader: Summary | None, behind: Behind | None) -> Standing:
    if summary is leader:
        return "leader"
    if behind is None or leader is None:
        return "unknown"
    return "level" if contains(behind.ci, 0.0) else "behind"


def _oriented(behind: Behind | None, measure: str) -> Behind | None:
    """Return the difference so that positive means worse than the leader."""
    if behind is None or not words.lower_is_better(measure):
        return behind
    ci = structs.replace(behind.ci, low=-behind.ci.high, high=-behind.ci.low)
    return structs.replace(behind, value=-behind.value, ci=ci)


def _badness(value: float | None, measure: str) -> float:
    if value is None:
        return float("inf")
    return value if words.lower_is_better(measure) else -value


def _order(row: BoardRow) -> tuple[float, bool, str, int]:
    return (_badness(row.value, row.measure), row.standing != "leader", row.label, row.run)
