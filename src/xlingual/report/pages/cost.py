"""What a page shows about cost: latency, speed and size of each system beside its quality."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from xlingual.report import leaders, words
from xlingual.report.blocks import Block, Prose, Section
from xlingual.report.conditions import parsed
from xlingual.report.figures.cost import Placed, against_cost, frontier
from xlingual.report.leaders import BoardRow
from xlingual.report.numbers import MISSING, in_words
from xlingual.report.table import Badge, Cell, Column, Row, Table, narrower
from xlingual.results import Results, by_key
from xlingual.tasks import task_of

Cost = dict[str, float]

_MEASURED = ("latency_ms", "texts_per_second")
# what the figure has across, the first that two systems have: its name, and the value of a system
_ACROSS: tuple[tuple[str, Callable[[Cost], float | None]], ...] = (
    ("latency of a query, ms", lambda cost: cost.get("latency_ms")),
    (
        "milliseconds that a text takes to encode",
        lambda cost: 1000 / cost["texts_per_second"] if cost.get("texts_per_second") else None,
    ),
    ("bytes of a text's vector", lambda cost: cost.get("bytes_per_text")),
)
_ABOUT = (
    "Latency: time of a query, as `?latency=MS` of a run says it. Texts a second: texts that an encoder "
    "encoded in this run, without texts whose vectors were stored before. Both depend on the machine and its "
    "load."
)


def cost_section(runs: Sequence[Results]) -> Section | None:
    """Return quality beside cost, by the first measure; None where no latency and no speed is known."""
    every = [cost for run in runs for cost in run.costs.values()]
    if not any(name in cost for cost in every for name in _MEASURED):
        return None
    task = task_of(leaders.tasks(runs)[0])
    measure = leaders.measures(runs, task.name)[0]
    known = [(row, _cost(runs, row)) for row in leaders.leaderboard(runs, task.name, measure)]
    rows = [(row, cost) for row, cost in known if cost]
    if not rows:
        return None
    lower = words.lower_is_better(measure)
    across, placed = _placed(rows)
    best = frontier(placed, lower=lower)
    name = task.measure_name(measure)
    notes = _not_drawn(runs, known, across, {one.name for one in placed}) if placed else ()
    table = _table(rows, name, across, {one.name for one in best}, notes)
    timed = any("latency_ms" in cost for _, cost in rows)
    blocks: list[Block] = [Prose(_ABOUT)]
    if placed:
        blocks.append(against_cost(placed, best, across, name))
    return Section("Cost", [*blocks, replace(table, where="both" if timed else "page")])


def _cost(runs: Sequence[Results], row: BoardRow) -> Cost:
    return runs[row.run - 1].costs.get(row.encoder, {})


def _placed(rows: Sequence[tuple[BoardRow, Cost]]) -> tuple[str, list[Placed]]:
    """Return what cost the figure shows, and the systems that have it and a value."""
    for name, value_of in _ACROSS:
        found = [
            Placed(row.label, value, row.value, None if row.ci is None else (row.ci.low, row.ci.high))
            for row, cost in rows
            if (value := value_of(cost)) is not None and row.value is not None
        ]
        if len(found) > 1:
            return name, found
    return "", []


def across_cost(costs: Sequence[Cost]) -> tuple[str, Callable[[Cost], float | None] | None]:
    """Return what cost a figure shows, the first that two systems have; ("", None) where there is none."""
    for name, value_of in _ACROSS:
        if sum(value_of(cost) is not None for cost in costs) > 1:
            return name, value_of
    return "", None


def _not_drawn(
    runs: Sequence[Results], known: Sequence[tuple[BoardRow, Cost]], across: str, drawn: set[str]
) -> tuple[str, ...]:
    """Return which systems the figure leaves out, and why."""
    why: dict[str, list[str]] = {}
    for row, cost in known:
        if row.label in drawn:
            continue
        entry = by_key(runs[row.run - 1].entries, encoder=row.encoder)[0]
        scheme = parsed(entry.signature).system.get("encoder", "").partition(":")[0]
        if row.value is None:
            reason = "no value"
        elif scheme == "run" and "latency_ms" in cost:
            reason = "timed by queries, not by texts"
        elif scheme == "run":
            reason = "no latency: add ?latency=MS"
        elif "latency" in across:
            reason = "timed by texts, not by queries"
        else:
            reason = "its vectors were stored before: --no-store encodes again"
        why.setdefault(reason, []).append(row.label)
    return tuple(f"not drawn: {in_words(who)} ({reason})" for reason, who in why.items())


def _table(
    rows: Sequence[tuple[BoardRow, Cost]], measure: str, across: str, best: set[str], notes: tuple[str, ...]
) -> Table:
    badge = Badge("frontier", "soft")
    legend = (f"frontier: no other is both cheaper and better, in {across}",) if best else ()
    columns = (
        Column("Encoder", "name", "encoder", data=True),
        Column(measure, short="value", interval="95 % interval", main=True),
        Column("Latency", short="latency"),
        Column("Texts a second", short="texts/s"),
        Column("Dimensions", short="dimensions"),
        Column("Bytes of a text", short="bytes"),
    )
    made = [
        Row(
            (
                Cell(row.label, badges=(badge,) if row.label in best else ()),
                Cell.of(row.value, row.ci, row.measure),
                _milliseconds(cost.get("latency_ms")),
                _count(cost.get("texts_per_second")),
                _count(cost.get("dimensions")),
                _count(cost.get("bytes_per_text")),
            )
        )
        for row, cost in rows
    ]
    looks = narrower("bytes", "dimensions")
    return Table(f"Cost beside {measure}", columns, tuple(made), legend + notes, looks=looks).without_empty()


def _milliseconds(value: float | None) -> Cell:
    return Cell(MISSING) if value is None else Cell(f"{value:,.3g} ms", value=value)


def _count(value: float | None) -> Cell:
    return Cell(MISSING) if value is None else Cell(f"{value:,.0f}", value=value)
