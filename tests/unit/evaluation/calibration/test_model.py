"""The form: monotone, within 0 and 1, exact where it is true; jackknife+ against its definition."""

from __future__ import annotations

import math
from bisect import bisect_left

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from xlingual.evaluation.calibration.errors import clopper_pearson, coverage
from xlingual.evaluation.calibration.model import (
    angle,
    design,
    fit,
    jackknife_plus,
    leave_out,
    predicted_angle,
    share,
    units_needed,
)

SHARES = st.floats(0, 1, allow_subnormal=False)
POINTS = st.lists(st.tuples(SHARES, st.floats(-1, 1, allow_subnormal=False), SHARES), min_size=3, max_size=20)


def columns(points, predictors=("BkR",)):
    values = {"BkR": [p[0] for p in points], "SIM": [p[1] for p in points]}
    return design(values, predictors), np.array([p[-1] for p in points])


@given(POINTS, st.sampled_from([("BkR",), ("BkR", "SIM")]))
def test_estimates_rise_with_each_predictor_and_stay_within_bounds(points, predictors):
    model = fit(*columns(points, predictors))
    assert all(slope >= 0 for slope in model.slopes)
    grid = np.linspace(0, 1, 50)
    for fixed in (0.0, 0.7):
        for values in (
            {"BkR": grid, "SIM": grid * 0 + fixed},
            {"BkR": grid * 0 + fixed, "SIM": 2 * grid - 1},
        ):
            found = share(predicted_angle(model, design(values, predictors)))
            assert (found >= 0).all() and (found <= 1).all()
            assert (np.diff(found) >= -1e-12).all()


@given(st.floats(-0.3, 0.3), st.floats(0.1, 2.0))
def test_a_relation_of_that_form_is_recovered(intercept, slope):
    bkr = np.linspace(0.03, 0.35, 8)
    angles = intercept + slope * angle(bkr)
    inside = (angles > 0) & (angles < np.pi / 2)
    if inside.sum() < 3:
        return
    model = fit(angle(bkr[inside])[:, None], share(angles[inside]))
    assert model.intercept == pytest.approx(intercept, abs=1e-6)
    assert model.slopes == pytest.approx([slope], abs=1e-6)


def test_both_predictors_are_recovered():
    rng = np.random.default_rng(0)
    bkr, sim = rng.uniform(0.03, 0.35, 10), rng.uniform(0.5, 0.7, 10)
    x = design({"BkR": bkr, "SIM": sim}, ["BkR", "SIM"])
    model = fit(x, share(-0.5 + 1.2 * angle(bkr) + 0.9 * sim))
    assert (model.intercept, *model.slopes) == pytest.approx((-0.5, 1.2, 0.9), abs=1e-8)


def test_a_falling_relation_gets_no_slope():
    model = fit(angle(np.array([0.1, 0.2, 0.3]))[:, None], np.array([0.8, 0.5, 0.2]))
    assert model.slopes == [0.0]
    assert share(np.array([model.intercept]))[0] == pytest.approx(0.5)


def line_without(x, y, at):
    """Return the least-squares line, slope of at least 0, written out."""
    mx, my = sum(x) / len(x), sum(y) / len(y)
    slope = sum((a - mx) * (b - my) for a, b in zip(x, y, strict=True)) / sum((a - mx) ** 2 for a in x)
    slope = max(slope, 0.0)
    return min(max(my + slope * (at - mx), 0.0), math.pi / 2)


@pytest.mark.parametrize("level", [0.8, 0.9, 0.95])
@pytest.mark.parametrize("at", [0.01, 0.12, 0.3, 0.9])
def test_jackknife_plus_of_single_encoders_is_that_of_the_paper(made, level, at):
    points = made.noisy(23, seed=4)
    x = [math.asin(math.sqrt(p[2])) for p in points]
    y = [math.asin(math.sqrt(p[3])) for p in points]
    n, alpha = len(points), 1 - level
    lows, highs = [], []
    for i in range(n):
        rest = [j for j in range(n) if j != i]
        xs, ys = [x[j] for j in rest], [y[j] for j in rest]
        residual = abs(y[i] - line_without(xs, ys, x[i]))
        centre = line_without(xs, ys, math.asin(math.sqrt(at)))
        lows.append(centre - residual)
        highs.append(centre + residual)
    low = sorted(lows)[math.floor(alpha * (n + 1) + 1e-9) - 1]
    high = sorted(highs)[math.ceil((1 - alpha) * (n + 1) - 1e-9) - 1]
    expected = [math.sin(min(max(end, 0.0), math.pi / 2)) ** 2 for end in (low, high)]

    columns_ = angle(np.array([p[2] for p in points]))[:, None]
    families = [p[1] for p in points]
    models, residuals = leave_out(columns_, np.array([p[3] for p in points]), families)
    found = jackknife_plus(models, residuals, families, angle(np.array([at])), level)
    assert found == pytest.approx(expected, abs=1e-9)


def test_jackknife_plus_of_families_excludes_what_enough_weight_lies_beyond(made, full):
    rng = np.random.default_rng(1)
    points = [p for f, p in enumerate(made.noisy(14, seed=5, each=3)) if rng.random() < 0.8 or f % 3 == 0]
    x, xlr = angle(np.array([p[2] for p in points]))[:, None], np.array([p[3] for p in points])
    families = [p[1] for p in points]
    size = {name: families.count(name) for name in families}
    assert len(set(size.values())) > 1  # unequal families
    models, residuals = leave_out(x, xlr, families)
    at, level, n = angle(np.array([0.15])), 0.9, len(set(families))
    low, high = jackknife_plus(models, residuals, families, at, level)

    centres = [predicted_angle(models[name], at[None, :])[0] for name in families]

    def outside(y):
        below = above = 0.0
        for name, centre, residual in zip(families, centres, residuals, strict=True):
            below += (angle(y) < centre - residual) / size[name]
            above += (angle(y) > centre + residual) / size[name]
        return max(below, above) >= level * (n + 1) - 1e-9

    step = 1 / 4000 if full else 1 / 250
    kept = [y for y in np.arange(0, 1 + step / 2, step) if not outside(np.array(y))]
    assert min(kept) == pytest.approx(low, abs=1.2 * step)
    assert max(kept) == pytest.approx(high, abs=1.2 * step)


@pytest.mark.parametrize(("level", "needed"), [(0.8, 4), (0.9, 9), (0.95, 19), (0.99, 99)])
def test_too_few_families_give_no_interval(made, level, needed):
    assert units_needed(level) == needed
    for count in (needed - 1, needed):
        points = made.noisy(count)
        families = [p[1] for p in points]
        x = angle(np.array([p[2] for p in points]))[:, None]
        models, residuals = leave_out(x, np.array([p[3] for p in points]), families)
        found = jackknife_plus(models, residuals, families, angle(np.array([0.2])), level)
        assert (found is None) == (count < needed)


def family_points(rng):
    """Return BkR and XLR of one family of one to four encoders that share a shift."""
    bkr = rng.uniform(0.03, 0.4, rng.integers(1, 5))
    shift = 0.12 * rng.standard_t(4)
    return bkr, share(-0.2 + 2.5 * angle(bkr) + shift + 0.04 * rng.standard_normal(len(bkr)))


@pytest.mark.parametrize(("level", "count"), [(0.9, 12), pytest.param(0.8, 9, marks=pytest.mark.slow)])
def test_intervals_cover_exchangeable_families_as_guaranteed(level, count):
    rng = np.random.default_rng(count)
    held = []
    for _ in range(500):
        made = [family_points(rng) for _ in range(count + 1)]
        bkr, xlr = (np.concatenate([family[k] for family in made[:-1]]) for k in (0, 1))
        families = [str(f) for f, family in enumerate(made[:-1]) for _ in family[0]]
        models, residuals = leave_out(angle(bkr)[:, None], xlr, families)
        one = rng.integers(len(made[-1][0]))
        ends = jackknife_plus(models, residuals, families, angle(made[-1][0][[one]]), level)
        held.append(ends[0] <= made[-1][1][one] <= ends[1])
    share_held = float(np.mean(held))
    assert share_held >= 2 * level - 1  # guaranteed
    assert level - 0.03 <= share_held <= 0.98  # typical; above the level, since families are few


def test_coverage_is_estimated_without_the_family_it_is_about(made):
    points = made.noisy(12, each=2)
    x, xlr = angle(np.array([p[2] for p in points]))[:, None], np.array([p[3] for p in points])
    families = [p[1] for p in points]
    found = coverage(x, xlr, families, 0.9)
    shares = []
    for name in sorted(set(families)):
        rest = [i for i, family in enumerate(families) if family != name]
        own = [i for i, family in enumerate(families) if family == name]
        kept = [families[i] for i in rest]
        models, residuals = leave_out(x[rest], xlr[rest], kept)
        ends = [jackknife_plus(models, residuals, kept, x[i], 0.9) for i in own]
        shares.append(np.mean([low <= xlr[i] <= high for i, (low, high) in zip(own, ends, strict=True)]))
    assert found.value == pytest.approx(np.mean(shares))
    assert found.guaranteed == pytest.approx(0.8)
    assert found.ci.low <= found.value <= found.ci.high
    assert 0 < found.width < 1


def test_coverage_that_cannot_be_estimated_says_why(made):
    points = made.noisy(9)
    x, xlr = angle(np.array([p[2] for p in points]))[:, None], np.array([p[3] for p in points])
    found = coverage(x, xlr, [p[1] for p in points], 0.9)
    assert found.value is None and found.ci is None
    assert "9 families" in found.note and "must leave 9" in found.note


@pytest.mark.parametrize(("hits", "n"), [(0, 13), (7, 13), (13, 13)])
def test_clopper_pearson(hits, n):
    exact = binomtest(hits, n).proportion_ci(0.95, "exact")
    found = clopper_pearson(hits, n)
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high))


def test_clopper_pearson_of_shares_lies_between():
    lows = [clopper_pearson(hits, 13).low for hits in (11, 11.5, 12)]
    assert bisect_left(lows, lows[1]) == 1 and lows[0] < lows[1] < lows[2]
