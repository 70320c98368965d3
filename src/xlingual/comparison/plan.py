"""Planning: how many queries show a difference, and what difference so many queries can show."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from xlingual.comparison.choice import aligned_queries, encoder_named
from xlingual.comparison.queries import Queries
from xlingual.comparison.references import Given, SeveralGiven, as_references
from xlingual.errors import InputError
from xlingual.measures import Measure, RecallAt, SuccessAt, parse_measure
from xlingual.requests import answers
from xlingual.requests.comparing import PlanRequest
from xlingual.results import Interval
from xlingual.results.plan import AtSize, Plan, PlanRow
from xlingual.stats.intervals import rule_of_three, t_quantile
from xlingual.stats.paired import t_test
from xlingual.stats.power import ALPHA, MOST_QUERIES, POWER, Growth, queries_needed

FEWEST = 5  # queries; below, nothing can be planned from


@answers(PlanRequest)
def plan(
    references: SeveralGiven,
    *,
    effect: float,
    power: float = POWER,
    alpha: float = ALPHA,
    baseline: Given | None = None,
    measure: str | None = None,
    task: str | None = None,
    queries: Sequence[int] = (),
) -> Plan:
    """Plan comparisons of every encoder with a baseline, by default the one with the highest value.

    `references` are `Results`, `FOLDER` or `FOLDER#ENCODER`; `queries` are sizes (distinct queries for each
    language pair); for each the plan says which difference it can show.

    Raises:
        InputError: results cannot be read or compared; fewer than two encoders; an option is out of range.

    """
    given = as_references(references)
    if baseline is not None:
        given = as_references([*given, baseline])
    aligned, found = aligned_queries(given, measure, task)
    if len(found.encoders) < 2:
        raise InputError(
            f"the results hold one encoder, {found.encoders[0]}: a difference needs two; add results of "
            "another encoder"
        )
    _check(effect, power, alpha, queries, found)
    baseline_name = encoder_named(given[-1], aligned) if baseline is not None else found.best
    order = [found.encoders[i] for i in np.argsort(-found.means, kind="stable")]
    rule = parse_measure(found.measure)
    sizes = [size for size in dict.fromkeys(queries) if size != found.n_distinct]  # has its own column
    return Plan(
        task=found.task,
        measure=found.measure,
        baseline=baseline_name,
        baseline_value=float(found.means[found.row_of(baseline_name)]),
        effect=effect,
        power=power,
        alpha=alpha,
        n_queries=found.n_distinct,
        n_pairs=len(found.present("pair")),
        n_seeds=len(found.present("seed")),
        pool=_pool(found, rule),
        k=rule.k if isinstance(rule, RecallAt | SuccessAt) else None,
        rows=[
            _row(found, name, baseline_name, effect, power, alpha, sizes)
            for name in order
            if name != baseline_name
        ],
        n_tests=len(order) - 1 if baseline is not None else len(order) * (len(order) - 1) // 2,
        baseline_given=baseline is not None,
        conditions=dict(found.conditions),
        warnings=list(aligned.notes),
        n_clusters=found.n_clusters,
    )


def _pool(found: Queries, rule: Measure) -> int:
    """Return among how many candidates each query is ranked.

    In Backretrieval these are the images of all sources, also where only some of these are queries: then
    their number D follows from chance K/D.
    """
    if found.task != "backretrieval":
        return round(found.n_target)
    if "queries" in found.conditions and isinstance(rule, RecallAt) and found.chance:
        return round(rule.k / found.chance)
    return round(found.n_source)


def _check(effect: float, power: float, alpha: float, queries: Sequence[int], found: Queries) -> None:
    if not (math.isfinite(effect) and 0 < effect < found.span):
        raise InputError(
            f"effect {effect} is out of range: expected more than 0 and less than {found.span:g}, "
            f"in units of {found.measure}"
        )
    if not 0 < alpha < 0.5:
        raise InputError(f"alpha {alpha} is out of range: expected more than 0 and less than 0.5")
    if not alpha < power < 1:
        raise InputError(f"power {power} is out of range: expected more than alpha ({alpha}) and less than 1")
    if wrong := [size for size in queries if not FEWEST <= size <= MOST_QUERIES]:
        raise InputError(f"{wrong[0]} queries are out of range: expected {FEWEST} to {MOST_QUERIES}")
    if found.n_clusters < FEWEST:
        raise InputError(
            f"the results have {found.n_clusters} clusters of queries: a plan needs at least {FEWEST}"
        )


def _row(
    found: Queries,
    name: str,
    baseline_name: str,
    effect: float,
    power: float,
    alpha: float,
    sizes: Sequence[int],
) -> PlanRow:
    data = found.paired(name, baseline_name)
    difference, error, freedom, _ = t_test(data)
    value = float(found.means[found.row_of(name)])
    if error > 0:
        half = t_quantile(1 - alpha, freedom) * error
        ci = Interval(difference - half, difference + half, 1 - alpha, "t")
    else:
        ci = rule_of_three(difference, freedom + 1, found.span, 1 - alpha, "paired queries")
    ci = replace(ci, low=max(ci.low, -found.span), high=min(ci.high, found.span))  # others cannot be
    if error <= 0:
        note = f"{_why_nothing(found, name, baseline_name)}: nothing to plan with"
        return PlanRow(name, value, difference, ci, 0.0, 0.0, None, None, None, [], note)
    growth = Growth.of(data, found.n_distinct)
    needed = queries_needed(effect, growth, power, alpha)

    def shown_by(size: float) -> float | None:
        least = growth.detectable(size, power, alpha)
        return least if least < found.span else None

    return PlanRow(
        encoder=name,
        value=value,
        difference=difference,
        ci=ci,
        variance_own=growth.own,
        variance_shared=growth.shared,
        queries=needed,
        detectable=shown_by(growth.n),
        limit=shown_by(math.inf),
        sizes=[AtSize(size, shown_by(size), growth.power(effect, size, alpha)) for size in sizes],
        note=None if needed is not None else "cannot be shown at this pool however many queries",
    )


def _why_nothing(found: Queries, name: str, baseline_name: str) -> str:
    """Return why a difference has no variance."""
    if found.agree(name, baseline_name):
        return f"answers every query like {baseline_name}"
    data = found.paired(name, baseline_name)
    if np.ptp(data.a - data.b) < 1e-9:
        return f"differs from {baseline_name} by the same amount on every query"
    return (
        found.one_retrieved(name, baseline_name) or f"has no variance in the difference from {baseline_name}"
    )
