"""What a plan says, in sentences: how many queries, what these can show, and at which pool."""

from __future__ import annotations

from xlingual.report import numbers, words
from xlingual.results.plan import Plan, Row
from xlingual.tasks import task_of

NONE = "none"  # no difference is shown


def findings(plan: Plan) -> list[str]:
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
        out.append(f"“{NONE}”: not even the largest difference that there can be, {most}, would be shown.")
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


def _needed(plan: Plan, known: list[Row]) -> str:
    name = task_of(plan.task).measure_name(plan.measure)
    counts = sorted(row.queries for row in known if row.queries is not None)
    each = " in each language pair" if plan.n_pairs > 1 else ""
    what = (
        f"To show a difference of {effect_text(plan.effect)} in {name} from {plan.baseline} in "
        f"{numbers.percent(plan.power)} of samples"
    )
    never = [row.encoder for row in known if row.queries is None]
    if not counts:
        return (
            f"A difference of {effect_text(plan.effect)} in {name} from {plan.baseline} cannot be "
            f"shown at this pool however many queries, for {_these(never, len(known))}."
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
    what = "pictures" if task_of(plan.task).way_back else "candidates"
    spread = f"; {plan.n_pairs} language pairs" if plan.n_pairs > 1 else ""
    spread += f", {plan.n_seeds} seeds" if plan.n_seeds > 1 else ""
    return (
        f"All this holds at this pool: N = {numbers.count(plan.pool)} {what}{share}{spread}. "
        "A larger pool is another, harder question, with other values."
    )


def effect_text(effect: float) -> str:
    """Return the difference that is planned for, as it was given."""
    return f"{effect:g}"
