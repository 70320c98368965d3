"""Correlations under weights: against scipy, against rows that are repeated, and their influence."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr, spearmanr

from xlingual.stats import weighted as module
from xlingual.stats.weighted import Ordered, influence, pearson, spearman, weights

few = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 3)), min_size=3, max_size=12)


def rank_correlation(x: np.ndarray, y: np.ndarray, weight: np.ndarray | None = None) -> float:
    return float(spearman(Ordered.of(x), Ordered.of(y), None if weight is None else weight[None])[0])


@given(few)
def test_a_weight_is_a_row_repeated(rows: list[tuple[int, int, int]]) -> None:
    x, y, times = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    again_x, again_y = (np.repeat(side, times.astype(int)) for side in (x, y))
    plain = float(pearson(x, y, times[None])[0]) if times.sum() else np.nan
    ranked = rank_correlation(x, y, times) if times.sum() else np.nan
    if len(again_x) < 2 or np.ptp(again_x) == 0 or np.ptp(again_y) == 0:
        assert np.isnan(plain) and np.isnan(ranked)
        return
    assert plain == pytest.approx(pearsonr(again_x, again_y).statistic, abs=1e-9)
    assert ranked == pytest.approx(spearmanr(again_x, again_y).statistic, abs=1e-9)


def test_the_example_of_the_documentation() -> None:
    gold, cosine = np.array([0.0, 1, 2, 4, 5]), np.array([0.1, 0.3, 0.2, 0.7, 0.9])
    assert float(pearson(cosine, gold)[0]) == pytest.approx(2.72 / np.sqrt(17.2 * 0.472))
    assert rank_correlation(cosine, gold) == pytest.approx(0.9)


def test_without_weights_they_are_the_usual_ones() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal(500)
    y = np.round(x + rng.standard_normal(500), 1)
    assert float(pearson(x, y)[0]) == pytest.approx(pearsonr(x, y).statistic, abs=1e-12)
    assert rank_correlation(x, y) == pytest.approx(spearmanr(x, y).statistic, abs=1e-12)


@pytest.mark.parametrize("shift", [0.0, 1e6, -3.0])
@pytest.mark.parametrize("scale", [1e-6, 5.0, 1e6])
def test_pearson_keeps_under_shift_and_scale(shift: float, scale: float) -> None:
    rng = np.random.default_rng(1)
    x, y = rng.random(50), rng.random(50)
    assert float(pearson(x * scale + shift * scale, y)[0]) == pytest.approx(float(pearson(x, y)[0]), abs=1e-8)


def test_influence_is_what_a_pair_moves() -> None:
    rng = np.random.default_rng(2)
    x = rng.standard_normal(4000)
    y = 0.6 * x + 0.8 * rng.standard_normal(4000)
    r = float(pearson(x, y)[0])
    moved = influence(x, y, r)
    assert abs(moved.sum()) < 1e-9
    for row in (0, 17, 1234):
        weight = np.ones((1, 4000))
        weight[0, row] = 0
        assert r - float(pearson(x, y, weight)[0]) == pytest.approx(moved[row], abs=2e-6)


def test_whole_clusters_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_CELLS", 70)  # several blocks
    cluster = np.array([5, 5, 9, 2, 9, 9, 7])
    drawn = np.concatenate(list(weights(cluster, np.random.default_rng(0), 400)))
    assert drawn.shape == (400, 7)
    assert np.array_equal(drawn[:, 0], drawn[:, 1]) and np.array_equal(drawn[:, 2], drawn[:, 5])
    assert np.all(drawn[:, [0, 2, 3, 6]].sum(axis=1) == 4)  # as many clusters as there are
    assert drawn.mean(axis=0) == pytest.approx(np.ones(7), abs=0.15)
