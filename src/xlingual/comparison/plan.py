"""Planning: how many queries show a difference, and what difference so many queries can show."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from xlingual.comparison.choice import aligned_queries, encoder_named
from xlingual.comparison.queries import Queries
from xlingual.errors import InputError
from xlingual.measures import RecallAt, parse_measure
from xlingual.results import Interval
from xlingual.results.plan import AtSize, Plan, Row
from xlingual.stats.intervals import t_quantile
from xlingual.stats.paired import t_test
from xlingual.stats.power import ALPHA, MOST_QUERIES, POWER, Growth, queries_needed

FEWEST = 5  # queries; below, nothing can be planned from


def plan(
    references: Sequence[str],
    *,
    effect: float,
    power: float = POWER,
    alpha: float = ALPHA,
    baseline: str | None = None,
    measure: str | None = None,
    task: str | None = None,
    queries: Sequence[int] = (),
) -> Plan:
    """Plan comparisons of every encoder with a baseline, by default the one with the highest value.

    `references` are `FOLDER` or `FOLDER#ENCODER`; `queries` are sizes (distinct queries for each language
    pair) of which is said what they can show.

    Raises:
        InputError: results cannot be read or compared; fewer than two encoders; an option is out of range.

    """
    aligned, found = aligned_queries([*references, *([baseline] if baseline else [])], measure, task)
    if len(found.encoders) < 2:
        raise InputError(
            f"the results hold one encoder, {found.encoders[0]}: a difference needs two; add results of "
            "another encoder"
        )
    _check(effect, power, alpha, queries, found)
    held = encoder_named(baseline, aligned) if baseline else found.encoders[int(np.argmax(found.means))]
    order = [found.encoders[i] for i in np.argsort(-found.means, kind="stable")]
    rule = parse_measure(found.measure)
    return Plan(
        task=found.task,
        measure=found.measure,
        baseline=held,
        baseline_value=float(found.means[found.place(held)]),
        effect=effect,
        power=power,
        alpha=alpha,
        n_queries=found.n_distinct,
        n_pairs=len(np.unique(found.labels["pair"].code)),
        n_seeds=len(np.unique(found.labels["seed"].code)),
        pool=round(found.n_source if found.task == "backretrieval" else found.n_target),
        k=rule.k if isinstance(rule, RecallAt) else None,
        rows=[_row(found, name, held, effect, power, alpha, queries) for name in order if name != held],
        conditions=dict(found.conditions),
        warnings=list(aligned.notes),
    )


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
    held: str,
    effect: float,
    power: float,
    alpha: float,
    sizes: Sequence[int],
) -> Row:
    data = found.paired(name, held)
    growth = Growth.of(data, found.n_distinct)
    difference, error, freedom, _ = t_test(data)
    half = t_quantile(1 - alpha, freedom) * error
    ci = Interval(difference - half, difference + half, 1 - alpha, "t")
    value = float(found.means[found.place(name)])
    if growth.variance(growth.n) <= 0:
        note = f"answers every query like {held}: nothing to plan with"
        return Row(name, value, difference, ci, 0.0, 0.0, None, None, None, [], note)
    needed = queries_needed(effect, growth, power, alpha)
    return Row(
        encoder=name,
        value=value,
        difference=difference,
        ci=ci,
        variance_own=growth.own,
        variance_shared=growth.shared,
        queries=needed,
        detectable=growth.detectable(growth.n, power, alpha),
        limit=growth.detectable(math.inf, power, alpha),
        sizes=[
            AtSize(size, growth.detectable(size, power, alpha), growth.power(effect, size, alpha))
            for size in sizes
        ],
        note=None if needed is not None else "cannot be shown at this pool however many queries",
    )
