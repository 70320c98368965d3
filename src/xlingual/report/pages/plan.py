"""The page of a plan, and its findings: which difference a number of queries can show."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from xlingual.report import numbers, words
from xlingual.report.blocks import Finding, Page, Section
from xlingual.report.table import Cell, Table, TableRoom
from xlingual.results.plan import Plan, PlanRow
from xlingual.tasks import task_of

NONE = "none"  # no difference is shown

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
        about=words.explained((plan.task, plan.measure)),
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


def _cells(row: PlanRow, n_sizes: int) -> list[Cell]:
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


def _record(plan: Plan, row: PlanRow) -> dict[str, Any]:
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


def findings(plan: Plan) -> list[str]:
    """Return the findings: how many queries are needed, what the present ones can show, and at which pool."""
    known = [row for row in plan.rows if row.planned]
    out = [_needed(plan, known), _here(plan, known)] if known else []
    if known and plan.clusters(plan.n_queries) is not None:
        out.append(
            "Queries of one cluster, such as the questions of a paragraph in all languages, are not "
            "independent: more queries help as far as they come from further clusters."
        )
    if any(row.queries is None for row in known):
        out.append(
            "Some differences cannot be shown because several queries retrieve the same texts. More queries "
            "do not reduce this variation; more texts in the pool do."
        )
    if any(None in (row.detectable, row.limit, *(size.detectable for size in row.sizes)) for row in known):
        most = f"{1 - words.least(plan.measure):g}"
        out.append(f"“{NONE}”: even the largest possible difference, {most}, would not be shown.")
    for row in plan.rows:
        if not row.planned:
            note = row.note or ""
            pair, values = (row.encoder, plan.baseline), (row.value, row.value - row.difference)
            sentence = f"{note}." if note.startswith(row.encoder) else f"{row.encoder} {note}."
            out.append(words.ceiling(plan.measure, pair, values) or sentence)
    out.append(_pool(plan))
    if plan.n_tests > 1:  # a comparison would correct for them, the plan does not
        every = "" if plan.baseline_given else "all pairs of encoders; fewer with --baseline: "
        strictest = f"{plan.alpha / plan.n_tests:.2g}"
        out.append(
            f"This is for one test at alpha {plan.alpha:g}. compare corrects for {plan.n_tests} ({every}the "
            f"strictest at alpha {strictest}): plan with --alpha {strictest} to be on the safe side."
        )
    return out


def _needed(plan: Plan, known: list[PlanRow]) -> str:
    name = task_of(plan.task).measure_name(plan.measure)
    what = f"difference of {plan.effect:g} in {name} from {plan.baseline}"
    counts = sorted(row.queries for row in known if row.queries is not None)
    never = [row.encoder for row in known if row.queries is None]
    whose = numbers.in_words(never) if len(never) <= 3 else f"{len(never)} of {len(known)} encoders"
    if len(never) == len(known):
        whose = "any encoder" if len(known) > 1 else never[0]
    if not counts:
        return f"No number of queries can show a {what} with this pool, for {whose}."
    ends, here = [counts[0], counts[-1]], plan.clusters(plan.n_queries)
    found = f"To show a {what} in {numbers.percent(plan.power)} of samples takes {numbers.span(ends)} queries"
    found += " in each language pair" if plan.n_pairs > 1 else ""
    there = f"there are {numbers.count(plan.n_queries)}"
    if here is not None:
        found += f" (about {numbers.span([plan.clusters(count) or 1 for count in ends])} clusters)"
        there += f" ({numbers.count(here)})"
    rest = f" For {whose} no number of queries can show it with this pool." if never else ""
    return f"{found}; {there}.{rest}"


def _here(plan: Plan, known: list[PlanRow]) -> str:
    present = f"The present {numbers.count(plan.n_queries)} queries show"
    effects = sorted(row.detectable for row in known if row.detectable is not None)
    if not effects:
        return f"{present} no difference, however large."
    low, high = numbers.number(effects[0]), numbers.number(effects[-1])
    size = low if low == high else f"{low} to {high}, depending on the encoder"
    power = f"(power {numbers.percent(plan.power)}, two-sided, alpha {plan.alpha:g})"
    return f"{present} differences of {size} {power}."


def _pool(plan: Plan) -> str:
    share = "" if plan.share is None else f", K/N = {plan.k}/{plan.pool} = {numbers.number(plan.share)}"
    what = "images" if task_of(plan.task).way_back else "candidates"
    spread = f"; {plan.n_pairs} language pairs" if plan.n_pairs > 1 else ""
    spread += f", {plan.n_seeds} seeds" if plan.n_seeds > 1 else ""
    return (
        f"These numbers hold for this pool: N = {numbers.count(plan.pool)} {what}{share}{spread}. A larger "
        "pool makes the task harder and changes the values."
    )
