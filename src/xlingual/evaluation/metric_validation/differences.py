"""Whether two measures agree with XLR equally well, and one measure equally well in two directions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import numpy as np

from xlingual.evaluation.metric_validation.coefficients import midranks, pearson, spearman
from xlingual.evaluation.metric_validation.encoder_scores import Table, joined, reason_of
from xlingual.evaluation.metric_validation.two_way import NoIntervalError, replicated, transformed, z_interval
from xlingual.records import Floats
from xlingual.results import Interval
from xlingual.results.validation import TRUTH, CoefficientDifference
from xlingual.stats.dependent import (
    of_difference,
    steiger_nonoverlapping,
    williams,
    zou_nonoverlapping,
    zou_overlapping,
)
from xlingual.streams import stream

PERMUTATIONS = 4999
_ROUNDING = 1e-9
_T = TypeVar("_T")


def compare_measures(table: Table, a: str, b: str, kind: str, seed: int) -> CoefficientDifference:
    """Return the coefficient of `a` with XLR less that of `b`, over the encoders that have all three."""
    table, without = table.having((TRUTH, a, b))
    reason = reason_of(table, (TRUTH, a, b), without)
    if reason is not None:
        return CoefficientDifference(None, None, None, None, reason)
    compare = _ranks_of_measures if kind == "spearman" else _values_of_measures
    found = compare(table, a, b, seed)
    return replace(found, note=joined(found.note, without))


def _values_of_measures(table: Table, a: str, b: str, _: int) -> CoefficientDifference:
    """Return the difference of Pearson's coefficients, its interval and Williams' test."""
    x, y, z = (table.mean[name] for name in (TRUTH, a, b))
    r_xy, r_xz, r_yz = (float(pearson(*pair)) for pair in ((x, y), (x, z), (y, z)))
    n, unit = _independent(table)
    tested, why = _try(lambda: williams(r_xy, r_xz, r_yz, n))
    ci, why_not = _try(lambda: zou_overlapping(r_xy, r_xz, r_yz, n))
    return CoefficientDifference(
        r_xy - r_xz, ci, tested[1] if tested else None, f"Williams, Zou 2007; n = {unit}", why or why_not
    )


def compare_directions(one: Table, two: Table, measure: str, kind: str, seed: int) -> CoefficientDifference:
    """Return the measure's coefficient with XLR in the first direction less that in the second.

    The tables have the same encoders in the same order; those that lack a score in one are left out of both.
    """
    names = (TRUTH, measure)
    (_, first), (_, second) = one.having(names), two.having(names)
    there = np.all([~np.isnan(table.mean[name]) for table in (one, two) for name in names], axis=0)
    one, two = (table.take(np.flatnonzero(there)) for table in (one, two))
    without = joined(*dict.fromkeys((first, second)))
    reason = reason_of(one, names, without) or reason_of(two, names, without)
    if reason is not None:
        return CoefficientDifference(None, None, None, None, reason)
    j, k, h, m = one.mean[TRUTH], one.mean[measure], two.mean[TRUTH], two.mean[measure]
    if kind == "spearman":
        values = float(spearman(j, k)), float(spearman(h, m))
        pairs = _replicates(one, measure), _replicates(two, measure)
        ci, why = _try(lambda: _spearman_interval(one, values, pairs, seed))
        test = "two-way bootstrap, Zou 2007"
        return CoefficientDifference(values[0] - values[1], ci, None, test, joined(why, without))
    n, unit = _independent(one)
    r = [float(pearson(*pair)) for pair in ((j, k), (h, m), (j, h), (j, m), (k, h), (k, m))]
    r_jk, r_hm, r_jh, r_jm, r_kh, r_km = r
    tested, why = _try(lambda: steiger_nonoverlapping(r_jk, r_hm, r_jh, r_jm, r_kh, r_km, n))
    ci, why_not = _try(lambda: zou_nonoverlapping(r_jk, r_hm, r_jh, r_jm, r_kh, r_km, n))
    p = tested[1] if tested else None
    test = f"Steiger, Zou 2007; n = {unit}"
    return CoefficientDifference(r_jk - r_hm, ci, p, test, joined(why or why_not, without))


def _ranks_of_measures(table: Table, a: str, b: str, seed: int) -> CoefficientDifference:
    """Return the difference of Spearman's coefficients, its interval and its permutation test."""
    truth = table.mean[TRUTH]
    values = float(spearman(truth, table.mean[a])), float(spearman(truth, table.mean[b]))
    pairs = _replicates(table, a), _replicates(table, b)
    ci, why = _try(lambda: _spearman_interval(table, values, pairs, seed))
    p, how = _swap_test(table, a, b, seed)
    return CoefficientDifference(values[0] - values[1], ci, p, f"{how}; two-way bootstrap, Zou 2007", why)


def _spearman_interval(
    table: Table,
    values: tuple[float, float],
    pairs: tuple[tuple[Floats, Floats], tuple[Floats, Floats]],
    seed: int,
) -> Interval:
    """Return Zou's interval of a difference, its ingredients from the two-way bootstrap.

    These are the intervals of both coefficients, and the correlation of their replicates' z.
    """
    drawn = table.draw(seed)
    found = [replicated("spearman", x, y, drawn) for x, y in pairs]
    if np.array_equal(found[0], found[1], equal_nan=True):
        raise NoIntervalError("no interval: both coefficients are equal in every replicate")
    sides = [
        (value, z_interval("spearman", value, replicates, len(table), drawn.n_families))
        for value, replicates in zip(values, found, strict=True)
    ]
    ok = np.isfinite(found[0]) & np.isfinite(found[1])
    z = [transformed("spearman", replicates[ok], len(table)) for replicates in found]
    c = float(pearson(z[0], z[1]))
    method = "Zou 2007 on a two-way bootstrap"
    return of_difference(sides[0], sides[1], c if np.isfinite(c) else 0.0, method)


def _swap_test(table: Table, a: str, b: str, seed: int) -> tuple[float, str]:
    """Return (two-sided p, name) of the test that swaps the two measures' ranks within families.

    All ways to swap where they are fewer than the number of permutations: p is their share at least as far
    from zero; otherwise p = (c + 1)/(n + 1).
    """
    names, code = np.unique(np.asarray(table.families), return_inverse=True)
    n = len(names)
    every = 2**n <= PERMUTATIONS
    if every:
        swap = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    else:
        swap = stream(seed, "agreement permutations").integers(0, 2, (PERMUTATIONS, n))
    swapped = swap[:, code].astype(bool)
    rank_a, rank_b = midranks(table.mean[a]), midranks(table.mean[b])
    truth = table.mean[TRUTH]
    first, second = np.where(swapped, rank_b, rank_a), np.where(swapped, rank_a, rank_b)
    difference = np.nan_to_num(spearman(truth, first) - spearman(truth, second))
    observed = float(spearman(truth, rank_a) - spearman(truth, rank_b))
    far = int(np.count_nonzero(np.abs(difference) >= abs(observed) - _ROUNDING))
    if every:
        return far / 2**n, f"permutation, {n} families, all {2**n}"
    return (far + 1) / (PERMUTATIONS + 1), f"permutation, {n} families, {PERMUTATIONS} draws"


def _replicates(table: Table, measure: str) -> tuple[Floats, Floats]:
    return table.replicates(TRUTH), table.replicates(measure)


def _independent(table: Table) -> tuple[int, str]:
    """Return the number of independent cases, and in words: families where they are fewer than encoders."""
    n = table.n_families
    return n, f"{n} families" if n < len(table) else f"{n} encoders"


def _try(compute: Callable[[], _T]) -> tuple[_T | None, str | None]:
    """Return (what was computed, None), or (None, why it could not be)."""
    try:
        return compute(), None
    except ValueError as error:
        return None, str(error)
