"""The page of a plan: which difference a number of queries can show."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from xlingual.report import numbers
from xlingual.report.blocks import Finding, Page, Section
from xlingual.report.findings.plan import NONE, findings
from xlingual.report.table import Cell, Table, TableRoom
from xlingual.results import plan as record
from xlingual.results.plan import Plan
from xlingual.tasks import task_of

LIMIT = "limit of the pool"


def page(plan: Plan, *, title: str | None = None) -> Page:
    """Return the page of a plan: the verdict, and a row for each encoder."""
    name = task_of(plan.task).measure_name(plan.measure)
    facts = {"baseline": plan.baseline, "power": numbers.percent(plan.power), "alpha": f"{plan.alpha:g}"}
    return Page(
        kind="plan",
        title=title or f"How many queries show a difference of {plan.effect:g}?",
        verdict=[Finding([*findings(plan), *plan.warnings])],
        sections=[Section(name, [_table(plan)])],
        facts=[("measure", name), *facts.items()],
        conditions=[(key, [value]) for key, value in plan.conditions.items()],
        methods=sorted({row.ci.method for row in plan.rows}),
        names=[plan.baseline, *(row.encoder for row in plan.rows)],
    )


def _table(plan: Plan) -> Table:
    sizes = [size.queries for size in plan.rows[0].sizes] if plan.rows else []
    gap = f"difference from {plan.baseline}"
    shown = [f"{numbers.count(size)} show" for size in (plan.n_queries, *sizes)]
    narrow = TableRoom(names=16, bare=(gap,))
    return Table.of_texts(
        "Queries and what they show",
        ["encoder", gap, f"queries for {plan.effect:g}", *shown, LIMIT],
        [_cells(row, len(sizes)) for row in plan.rows],
        data=True,
        titled=False,
        looks=(TableRoom(), TableRoom(names=16), narrow, replace(narrow, dropped=(LIMIT,))),
        records=[_record(plan, row) for row in plan.rows],
        where="both",
    ).without_empty()


def _cells(row: record.PlanRow, n_sizes: int) -> list[Cell]:
    missing = Cell(numbers.MISSING)
    shown = [_detectable(size.detectable) for size in row.sizes] or [missing] * n_sizes
    queries = now = limit = missing
    if row.planned:
        queries = Cell("never at this pool") if row.queries is None else Cell.count(row.queries)
        now = _detectable(row.detectable)
        if row.limit != 0:  # else nothing is retrieved twice, so the pool sets no limit
            limit = _detectable(row.limit)
    return [Cell(row.encoder), Cell.difference(row.difference, row.ci), queries, now, *shown, limit]


def _detectable(least: float | None) -> Cell:
    return Cell(NONE) if least is None else Cell.of(least)


def _record(plan: Plan, row: record.PlanRow) -> dict[str, Any]:
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
