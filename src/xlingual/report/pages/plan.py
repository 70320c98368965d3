"""The page of a plan: what how many queries show."""

from __future__ import annotations

from typing import Any

from xlingual.report import numbers
from xlingual.report.blocks import Finding, Page, Section
from xlingual.report.findings.plan import NONE, effect_text, findings
from xlingual.report.table import Cell, Column, Look, Row, Table
from xlingual.results import plan as record
from xlingual.results.plan import Plan
from xlingual.tasks import task_of

LIMIT = "limit of the pool"


def page(plan: Plan, *, title: str | None = None) -> Page:
    """Return the page of a plan: the verdict, and a row for each encoder."""
    name = task_of(plan.task).measure_name(plan.measure)
    return Page(
        kind="plan",
        title=title or f"How many queries show a difference of {effect_text(plan.effect)}?",
        verdict=[Finding([*findings(plan), *plan.warnings])],
        sections=[Section(name, [_table(plan)])],
        facts=[
            ("measure", name),
            ("baseline", plan.baseline),
            ("power", numbers.percent(plan.power)),
            ("alpha", f"{plan.alpha:g}"),
        ],
        conditions=[(key, [value]) for key, value in plan.conditions.items()],
        methods=sorted({row.ci.method for row in plan.rows}),
        names=[plan.baseline, *(row.encoder for row in plan.rows)],
    )


def _table(plan: Plan) -> Table:
    sizes = [size.queries for size in plan.rows[0].sizes] if plan.rows else []
    gap = f"difference from {plan.baseline}"
    columns = (
        Column("encoder", "name", data=True),
        Column(gap),
        Column(f"queries for {effect_text(plan.effect)}"),
        Column(f"{numbers.count(plan.n_queries)} show"),
        *(Column(f"{numbers.count(size)} show") for size in sizes),
        Column(LIMIT),
    )
    table = Table(
        "Queries and what they show",
        columns,
        tuple(Row(_cells(row, len(sizes))) for row in plan.rows),
        titled=False,
        looks=(
            Look(),
            Look(names=16),
            Look(names=16, bare=(gap,)),
            Look(names=16, bare=(gap,), dropped=(LIMIT,)),
        ),
        records=[_record(plan, row) for row in plan.rows],
        where="both",
    )
    return table.without_empty()


def _cells(row: record.Row, n_sizes: int) -> tuple[Cell, ...]:
    shown = [_detectable(size.detectable) for size in row.sizes] or [Cell(numbers.MISSING)] * n_sizes
    if not row.planned:
        queries, now, limit = (Cell(numbers.MISSING) for _ in range(3))
    else:
        never = row.queries is None
        queries = Cell("never at this pool" if never else numbers.count(row.queries or 0), value=row.queries)
        now = _detectable(row.detectable)
        # 0: nothing is retrieved twice, so the pool sets no limit
        limit = Cell(numbers.MISSING) if row.limit == 0 else _detectable(row.limit)
    return (Cell(row.encoder), Cell.difference(row.difference, row.ci), queries, now, *shown, limit)


def _detectable(least: float | None) -> Cell:
    return Cell(NONE) if least is None else Cell.of(least)


def _record(plan: Plan, row: record.Row) -> dict[str, Any]:
    """Return a row of the CSV, at full precision."""
    needed = None if row.queries is None else plan.clusters(row.queries)
    line = {
        "task": plan.task, "measure": plan.measure, "encoder": row.encoder, "baseline": plan.baseline,
        "difference": row.difference, "low": row.ci.low, "high": row.ci.high,
        "effect": plan.effect, "power": plan.power, "alpha": plan.alpha, "pool": plan.pool, "k": plan.k,
        "queries_now": plan.n_queries, "queries_needed": row.queries, "detectable_now": row.detectable,
        "limit": row.limit, "clusters_now": plan.n_clusters, "clusters_needed": needed,
    }  # fmt: skip
    for i, size in enumerate(plan.rows[0].sizes):
        own = row.sizes[i] if row.sizes else None
        line[f"detectable_{size.queries}"] = own.detectable if own else None
        line[f"power_{size.queries}"] = own.power if own else None
    return line | {"note": row.note or ""}
