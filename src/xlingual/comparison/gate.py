"""The gate, which lets a candidate pass that is no worse than a baseline by more than a margin.

Non-inferiority by two one-sided tests (Schuirmann 1987): pass when the difference is shown to be above minus
the margin, fail when it is shown to be below; else undecided. A system loses nothing to itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from xlingual.comparison.choice import aligned_queries, check_pairs, encoder_named
from xlingual.comparison.queries import Queries
from xlingual.comparison.recorded import last_passing
from xlingual.comparison.references import Given, Reference, as_references
from xlingual.errors import InputError, parameter
from xlingual.requests import answers
from xlingual.requests.comparing import GateRequest
from xlingual.results import Interval
from xlingual.results.gate import FAIL, PASS, SAME_SYSTEM, UNDECIDED, Decision, Gate, InOrder, Needed
from xlingual.stats.corrections import holm
from xlingual.stats.paired import FEWEST_CLUSTERS, PairedTest, paired_test
from xlingual.stats.power import POWER, Growth, queries_needed
from xlingual.streams import stream
from xlingual.tasks import task_of


@answers(GateRequest)
def gate(
    candidate: Given,
    baseline: Given | None = None,
    *,
    margin: float,
    history: str | Path | None = None,
    measure: str | None = None,
    task: str | None = None,
    pairs: Sequence[str] = (),
    per_pair: bool = False,
    then: Sequence[Given] = (),
    by: str | None = None,
    alpha: float = 0.05,
    seed: int = 0,
    replicates: int = 4999,
) -> Gate:
    """Decide whether `candidate` is no worse than `baseline` by more than `margin`.

    Without a baseline it is the last run in the folder `history` (of results folders) that passed a gate on
    the same conditions, of an encoder of the candidate's name where there is one; where there is none, the
    candidate passes as the first.

    Both are `FOLDER#ENCODER`, or folders of results with one encoder, or `Results` with one
    (`results.only(name)`). `pairs` ("en-de") names the language
    pairs to decide on; without it both must have the same ones. With `per_pair` every language pair is
    decided, with `by` every label of a column ("language" in results of a pool): the gate passes when all
    pass (an intersection–union test, which needs no correction: Berger 1982), fails when any fails after
    Holm's correction.

    `then` names further candidates in a fixed order, such as smaller and smaller vectors. Each is decided, at
    the whole alpha, only if the one before it passed, so that the chance of any wrong pass stays alpha
    (fixed-sequence testing: Maurer, Hothorn and Lehmacher 1995). The order must not come from the data that
    are tested. The result is that of the last candidate that passes, or of the first if it does not pass.

    Raises:
        InputError: results cannot be read or compared; an option is out of range.

    """
    settings = (margin, history, measure, task, pairs, per_pair, by, alpha, seed, replicates)
    gates: list[Gate] = []
    for system in (candidate, *then):
        gates.append(_gate(system, baseline, *settings))
        if gates[-1].outcome != PASS:
            break
    if not then:
        return gates[0]
    last = gates[-2] if len(gates) > 1 and gates[-1].outcome != PASS else gates[-1]
    order = [InOrder(g.candidate, g.outcome, min((d.low for d in g.decisions), default=0.0)) for g in gates]
    return replace(last, in_order=order)


def _gate(
    candidate: Given,
    baseline: Given | None,
    margin: float,
    history: str | Path | None,
    measure: str | None,
    task: str | None,
    pairs: Sequence[str],
    per_pair: bool,
    by: str | None,
    alpha: float,
    seed: int,
    replicates: int,
) -> Gate:
    """Decide on one candidate; see `gate`."""
    if (baseline is None) == (history is None):
        raise InputError(
            f"a gate needs one baseline: name the encoder that is in use, or, with {parameter('history')}, a "
            "folder of results in which the last run that passed is taken"
        )
    both, note = as_references([one for one in (candidate, baseline) if one is not None]), None
    if history is not None:
        passing, note = _passing(both[0], Path(history), measure, task, pairs)
        both += [passing] if passing else []
    aligned, queries = aligned_queries(both, measure, task, pairs)
    if not pairs:
        check_pairs(aligned, queries.task)
    named = [encoder_named(one, aligned) for one in both]
    if len(set(named)) < len(named):
        raise InputError(f"candidate and baseline are the same encoder, {named[0]}: name two")
    _check(margin, alpha, replicates, queries.span)
    if queries.unlike:
        raise InputError(f"a gate cannot decide by {task_of(queries.task).title}: {queries.unlike}")
    first = len(named) == 1
    slices = [] if first else _slices(queries, per_pair, by)
    tests = [_tested(part, label if by else None, named, seed, replicates) for label, part in slices]
    adjusted = holm(np.array([test.p_below(-margin) for test in tests])).tolist()
    decided = _unchanged if not first and queries.same_system(*named) else _decision
    decisions = [
        replace(decided(part, test, named, margin, alpha, p), part=label if by is not None else None)
        for (label, part), test, p in zip(slices, tests, adjusted, strict=True)
    ]
    outcomes = [decision.outcome for decision in decisions]
    return Gate(
        task=queries.task,
        measure=queries.measure,
        candidate=named[0],
        baseline="" if first else named[1],
        margin=margin,
        alpha=alpha,
        power=POWER,
        per_pair=per_pair,
        pairs=queries.present("pair"),
        n_seeds=len(queries.present("seed")),
        decisions=decisions,
        outcome=next((one for one in (FAIL, UNDECIDED) if one in outcomes), PASS),
        conditions=dict(queries.conditions),
        warnings=[*aligned.notes, *([note] if note else [])],
        seed=seed,
        replicates=replicates,
        by=by,
        first=first,
    )


def _passing(
    candidate: Reference, history: Path, measure: str | None, task: str | None, pairs: Sequence[str]
) -> tuple[Reference | None, str | None]:
    """Return the last run that passed on the candidate's conditions, None for none; and a note on others."""
    aligned, queries = aligned_queries([candidate], measure, task, pairs)
    encoder_named(candidate, aligned)
    return last_passing(history, candidate, queries, pairs)


def _slices(queries: Queries, per_pair: bool, by: str | None) -> list[tuple[str, Queries]]:
    """Return the queries that are decided on, each part with its label."""
    if per_pair and by is not None:
        raise InputError(f"--per-pair and --by {by} both divide the queries: choose one of them")
    if per_pair and task_of(queries.task).whole:
        hint = ". --by language decides each query language" if "language" in queries.labels else ""
        raise InputError(
            f"--per-pair: results of {queries.task} have no language pairs, every query has one pool of "
            f"candidates in all languages: leave it out{hint}"
        )
    if by is not None:
        return list(queries.slices(by).items())
    return list(queries.slices("pair").items()) if per_pair else [("", queries)]


def _check(margin: float, alpha: float, replicates: int, span: float) -> None:
    if not (math.isfinite(margin) and 0 <= margin < span):
        raise InputError(
            f"margin {margin} is out of range: expected 0 (the candidate must be better) to under {span:g}, "
            "in units of the measure"
        )
    if not 0 < alpha < 0.5:
        raise InputError(f"alpha {alpha} is out of range: expected more than 0 and less than 0.5")
    if replicates + 1 < 2 / alpha:
        raise InputError(
            f"{replicates} replicates cannot show anything at alpha {alpha}: "
            f"at least {math.ceil(2 / alpha)} are needed"
        )


def _tested(part: Queries, label: str | None, named: Sequence[str], seed: int, replicates: int) -> PairedTest:
    own = [] if label is None else [label]
    rng = stream(seed, "|".join(["gate", *part.present("pair"), *own]))
    return paired_test(part.paired(*named), rng=rng, replicates=replicates, span=part.span)


def _decision(
    part: Queries, test: PairedTest, named: Sequence[str], margin: float, alpha: float, p_adjusted: float
) -> Decision:
    p_pass, outcome = test.p_above(-margin), UNDECIDED
    note = part.one_retrieved(*named)
    if part.n_clusters < FEWEST_CLUSTERS:
        note = f"fewer than {FEWEST_CLUSTERS} clusters of queries"
    if not note and (p_pass <= alpha or p_adjusted <= alpha):
        outcome = PASS if p_pass <= alpha else FAIL
    one_pair = len(part.present("source")) == len(part.present("target")) == 1
    source, target = part.direction if one_pair else (None, None)
    decision = Decision(
        source=source,
        target=target,
        outcome=outcome,
        candidate=float(part.means[part.row_of(named[0])]),
        baseline=float(part.means[part.row_of(named[1])]),
        difference=test.difference,
        ci=test.interval(1 - alpha),
        low=test.lower(alpha),
        p_pass=p_pass,
        p_fail=test.p_below(-margin),
        p_fail_adjusted=p_adjusted,
        n_queries=part.n_distinct,
        n_clusters=test.n_clusters,
        if_observed=None,
        if_equal=None,
        note=note,
    )
    if outcome != UNDECIDED or note:
        return decision
    if test.standard_error <= 0:
        return replace(decision, if_observed=_needed_alike(part, test, named, margin, alpha))
    growth = Growth.of(part.paired(*named), part.n_distinct)
    return replace(
        decision,
        if_observed=_needed(test.difference, margin, growth, alpha),
        if_equal=_needed(0.0, margin, growth, alpha),
    )


def _unchanged(
    part: Queries, test: PairedTest, named: Sequence[str], margin: float, alpha: float, _: float
) -> Decision:
    """Return the decision on a system and itself, whose difference is zero on any query."""
    exact = {"ci": Interval(0.0, 0.0, 1 - alpha, SAME_SYSTEM), "low": 0.0, "p_pass": 0.0}
    certain = {"p_fail": 1.0, "p_fail_adjusted": 1.0, "if_observed": None, "if_equal": None, "note": None}
    return replace(
        _decision(part, test, named, margin, alpha, 1.0), outcome=PASS, difference=0.0, **exact, **certain
    )


def _needed_alike(
    part: Queries, test: PairedTest, named: Sequence[str], margin: float, alpha: float
) -> Needed:
    """Return how many queries would decide if more of them had the difference that all of these have.

    By the rule of three n clusters without an exception show it where (1 − distance/span)^n ≤ alpha.
    """
    distance = test.difference + margin
    outcome = PASS if distance >= 0 else FAIL
    alike = "the two agree on" if part.agree(*named) else "the difference is the same on"
    if distance == 0:
        reason = "it lies exactly on the margin, on every query"
        return Needed(test.difference, outcome, None, None, reason)
    clusters = math.log(alpha) / math.log1p(-min(abs(distance) / test.span, 1 - 1e-9))
    # as many queries to an effective cluster as there are now
    queries = math.ceil(part.n_distinct * clusters / (test.freedom + 1))
    queries = max(queries, part.n_distinct + 1)
    more = queries - part.n_distinct
    return Needed(test.difference, outcome, queries, more, f"{alike} every further query too")


def _needed(difference: float, margin: float, growth: Growth, alpha: float) -> Needed:
    """Return how many queries would decide if the true difference were the one supposed."""
    distance = difference + margin
    outcome = PASS if distance > 0 else FAIL
    if distance == 0:
        return Needed(difference, outcome, None, None, "it would lie exactly on the margin")
    queries = queries_needed(abs(distance), growth, POWER, alpha, two_sided=False)
    if queries is None:
        return Needed(difference, outcome, None, None, "no number of queries at this pool would do")
    return Needed(difference, outcome, queries, max(queries - growth.n, 0))
