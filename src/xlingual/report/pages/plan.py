"""A plan as sentences and tables."""

from __future__ import annotations

from xlingual.report import numbers, words
from xlingual.report.markup import markdown_text
from xlingual.results.plan import Plan, Row
from xlingual.visible import csv_text

_NONE = "none"  # no difference is shown
FORMATS = ("table", "markdown", "csv", "json")


def sentences(plan: Plan) -> list[str]:
    """Return what the plan says: how many queries, what these can show, and at which pool."""
    known = [row for row in plan.rows if row.planned]
    out = [_needed(plan, known)] if known else []
    if known:
        out.append(_here(plan, known))
        if plan.clusters(plan.n_queries) is not None:
            out.append(
                "Queries of one cluster, such as the questions of a paragraph in all languages, are not "
                "independent: more queries help as far as they come from further clusters."
            )
    if any(row.queries is None for row in known):
        out.append(
            "What cannot be shown here comes from texts that several queries retrieve: more queries do not "
            "remove their luck, more texts to retrieve do."
        )
    if any(None in (row.detectable, row.limit, *(size.detectable for size in row.sizes)) for row in known):
        most = f"{1 - words.least(plan.measure):g}"
        out.append(f"“{_NONE}”: not even the largest difference that there can be, {most}, would be shown.")
    out += [_unplanned(row) for row in plan.rows if not row.planned]
    out.append(_pool(plan))
    if plan.n_tests > 1:
        out.append(_tests(plan))
    return out


def _unplanned(row: Row) -> str:
    note = row.note or ""
    return f"{note}." if note.startswith(row.encoder) else f"{row.encoder} {note}."


def _tests(plan: Plan) -> str:
    """Return what a comparison would correct for, which the plan does not."""
    every = "" if plan.baseline_given else "all pairs of encoders; fewer with --baseline: "
    return (
        f"This is for one test at alpha {plan.alpha:g}. compare corrects for {plan.n_tests} ({every}"
        f"the strictest at alpha {plan.alpha / plan.n_tests:.2g}): plan with --alpha "
        f"{plan.alpha / plan.n_tests:.2g} to be on the safe side."
    )


def header(plan: Plan) -> list[str]:
    """Return the heads of the columns."""
    sizes = [numbers.count(size.queries) for size in plan.rows[0].sizes] if plan.rows else []
    return [
        "encoder",
        f"difference from {plan.baseline}",
        f"queries for {_effect(plan.effect)}",
        f"{numbers.count(plan.n_queries)} show",
        *(f"{size} show" for size in sizes),
        "limit of the pool",
    ]


def cells(plan: Plan, row: Row, *, intervals: bool = True) -> list[str]:
    """Return the cells of a row, as texts, the difference with or without its interval."""
    sizes = len(plan.rows[0].sizes) if plan.rows else 0
    shown = [_detectable(size.detectable) for size in row.sizes] or [numbers.MISSING] * sizes
    return [
        row.encoder,
        numbers.difference(row.difference, row.ci) if intervals else numbers.number(row.difference),
        _queries(row),
        _detectable(row.detectable) if row.planned else numbers.MISSING,
        *shown,
        _limit(row),
    ]


def as_text(plan: Plan, form: str) -> str:
    """Return the plan as Markdown or CSV."""
    return _csv(plan) if form == "csv" else _markdown(plan)


def _markdown(plan: Plan) -> str:
    heads = [markdown_text(head) for head in header(plan)]
    lines = ["| " + " | ".join(heads) + " |", "|---|" + "--:|" * (len(heads) - 1)]
    lines += ["| " + " | ".join(map(markdown_text, cells(plan, row))) + " |" for row in plan.rows]
    return "\n".join([*lines, "", *(f"{markdown_text(sentence)}\n" for sentence in sentences(plan))])


def _csv(plan: Plan) -> str:
    import csv
    import io

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    sizes = plan.rows[0].sizes if plan.rows else []
    heads = [
        "task",
        "measure",
        "encoder",
        "baseline",
        "difference",
        "low",
        "high",
        "effect",
        "power",
        "alpha",
    ]
    heads += ["pool", "k", "queries_now", "queries_needed", "detectable_now", "limit"]
    heads += ["clusters_now", "clusters_needed"]
    for size in sizes:
        heads += [f"detectable_{size.queries}", f"power_{size.queries}"]
    writer.writerow([*heads, "note"])
    for row in plan.rows:
        names = [csv_text(name) for name in (plan.task, plan.measure, row.encoder, plan.baseline)]
        line = [*names, row.difference, row.ci.low, row.ci.high]
        line += [plan.effect, plan.power, plan.alpha, plan.pool, plan.k, plan.n_queries, row.queries]
        needed = None if row.queries is None else plan.clusters(row.queries)
        line += [row.detectable, row.limit, plan.n_clusters, needed]
        for i in range(len(sizes)):
            line += [row.sizes[i].detectable, row.sizes[i].power] if row.sizes else [None, None]
        writer.writerow([*line, csv_text(row.note or "")])
    return out.getvalue()


def _needed(plan: Plan, known: list[Row]) -> str:
    name = words.measure_name(plan.task, plan.measure)
    counts = sorted(row.queries for row in known if row.queries is not None)
    each = " in each language pair" if plan.n_pairs > 1 else ""
    what = (
        f"To show a difference of {_effect(plan.effect)} in {name} from {plan.baseline} in "
        f"{numbers.percent(plan.power)} of samples"
    )
    never = [row.encoder for row in known if row.queries is None]
    if not counts:
        return (
            f"A difference of {_effect(plan.effect)} in {name} from {plan.baseline} cannot be shown at this "
            f"pool however many queries, for {_these(never, len(known))}."
        )
    found = f"{what} takes {numbers.span([counts[0], counts[-1]])} queries{each}"
    here = plan.clusters(plan.n_queries)
    if here is not None:
        least, most = (plan.clusters(count) or 1 for count in (counts[0], counts[-1]))
        found += f" (about {numbers.span([least, most])} clusters)"
    found += f"; there are {numbers.count(plan.n_queries)}"
    found += "." if here is None else f" ({numbers.count(here)})."
    if never:
        found += f" For {_these(never, len(known))} it cannot be shown at this pool however many queries."
    return found


def _these(names: list[str], of: int) -> str:
    if len(names) == of:
        return "any encoder" if of > 1 else names[0]
    return numbers.in_words(names) if len(names) <= 3 else f"{len(names)} of {of} encoders"


def _here(plan: Plan, known: list[Row]) -> str:
    effects = sorted(row.detectable for row in known if row.detectable is not None)
    if not effects:
        return f"The {numbers.count(plan.n_queries)} queries there are show no difference, however large."
    low, high = numbers.number(effects[0]), numbers.number(effects[-1])
    size = low if low == high else f"{low} to {high}, depending on the encoder"
    return (
        f"The {numbers.count(plan.n_queries)} queries there are show differences of {size} "
        f"(power {numbers.percent(plan.power)}, two-sided, alpha {plan.alpha:g})."
    )


def _pool(plan: Plan) -> str:
    share = "" if plan.share is None else f", K/N = {plan.k}/{plan.pool} = {numbers.number(plan.share)}"
    what = "pictures" if plan.task == "backretrieval" else "candidates"
    spread = f"; {plan.n_pairs} language pairs" if plan.n_pairs > 1 else ""
    spread += f", {plan.n_seeds} seeds" if plan.n_seeds > 1 else ""
    return (
        f"All this holds at this pool: N = {numbers.count(plan.pool)} {what}{share}{spread}. "
        "A larger pool is another, harder question, with other values."
    )


def _queries(row: Row) -> str:
    if not row.planned:
        return numbers.MISSING
    return "never at this pool" if row.queries is None else numbers.count(row.queries)


def _detectable(least: float | None) -> str:
    return _NONE if least is None else numbers.number(least)


def _limit(row: Row) -> str:
    """Return the limit of the pool; a dash where there is none, since nothing is retrieved twice."""
    if not row.planned or row.limit == 0:
        return numbers.MISSING
    return _detectable(row.limit)


def _effect(effect: float) -> str:
    return f"{effect:g}"
