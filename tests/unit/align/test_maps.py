"""Ridge towards the identity, rotations and canonical correlations, each against another computation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import lstsq, orthogonal_procrustes, sqrtm
from tests.planted import rotation

from xlingual.align.maps import SOLVERS, cca, procrustes, ridge


def pairs(m, d, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(m, d)), rng.normal(size=(m, d)), rng.uniform(0.5, 1, size=m)


def loss(map, x, y, weight, penalty):
    """The loss that both maps have the least of, as their docstrings have it."""
    fits = (weight * ((x @ map - y) ** 2).sum(axis=1)).sum()
    return fits + penalty * weight.sum() * ((map - np.eye(len(map))) ** 2).sum()


def test_ridge_in_one_dimension():
    """X = 1, 2 and y = 2, 4 with weights 1: (x·y + 0.5·2)/(x·x + 0.5·2) = 11/6."""
    x, y = np.array([[1.0], [2.0]]), np.array([[2.0], [4.0]])
    assert ridge(x, y, np.ones(2), 0.5).item() == pytest.approx(11 / 6)
    assert ridge(x, y, np.ones(2), 1e12).item() == pytest.approx(1)
    assert ridge(x, y, np.ones(2), 1e-12).item() == pytest.approx(2)


@pytest.mark.parametrize("m", [1, 5, 12, 40])
@pytest.mark.parametrize("penalty", [0.01, 0.5])
def test_ridge_is_least_squares_of_the_augmented_system(m, penalty):
    x, y, weight = pairs(m, 12)
    root, damped = np.sqrt(weight)[:, None], np.sqrt(penalty * weight.sum()) * np.eye(12)
    expected = lstsq(np.concatenate([root * x, damped]), np.concatenate([root * y, damped]))[0]
    np.testing.assert_allclose(ridge(x, y, weight, penalty), expected, atol=1e-10)


def test_ridge_in_pairs_and_in_dimensions_agree():
    """Eleven pairs are solved in the pairs; with two that weigh nothing beside them in the dimensions."""
    x, y, weight = pairs(11, 12)
    more = [np.concatenate([x, np.ones((2, 12))]), np.concatenate([y, np.zeros((2, 12))])]
    whole = ridge(*more, np.concatenate([weight, np.zeros(2)]), 0.1)
    np.testing.assert_allclose(ridge(x, y, weight, 0.1), whole, atol=1e-10)


def test_a_rotation_is_that_of_scipy():
    x, y, weight = pairs(30, 6)
    root = np.sqrt(weight)[:, None]
    expected, _ = orthogonal_procrustes(root * x, root * y)
    np.testing.assert_allclose(procrustes(x, y, weight, 0.0), expected, atol=1e-10)


def test_a_rotation_with_a_penalty_is_one_of_more_pairs():
    """The penalty is d pairs more: each axis with itself, with the weight penalty·Σ weight."""
    x, y, weight = pairs(30, 6)
    root, axes = np.sqrt(weight)[:, None], np.sqrt(0.2 * weight.sum()) * np.eye(6)
    expected, _ = orthogonal_procrustes(np.concatenate([root * x, axes]), np.concatenate([root * y, axes]))
    np.testing.assert_allclose(procrustes(x, y, weight, 0.2), expected, atol=1e-10)


@settings(max_examples=60)
@given(st.integers(1, 12), st.integers(1, 6), st.sampled_from([0.0, 0.1, 2.0]), st.integers(0, 2**31))
def test_a_rotation_keeps_lengths_and_angles(m, d, penalty, seed):
    found = procrustes(*pairs(m, d, seed), penalty)
    np.testing.assert_allclose(found @ found.T, np.eye(d), atol=1e-9)


@settings(max_examples=60)
@given(st.sampled_from(sorted(SOLVERS)), st.integers(1, 12), st.integers(1, 6), st.integers(0, 2**31))
def test_no_other_map_has_less_loss(kind, m, d, seed):
    x, y, weight = pairs(m, d, seed)
    found = SOLVERS[kind](x, y, weight, 0.1)
    least = loss(found, x, y, weight, 0.1)
    rng = np.random.default_rng(seed)
    for scale in (1e-3, 1e-1, 1.0):
        moved = scale * rng.normal(size=(d, d))
        if kind == "procrustes":  # among rotations, by the exponential of a skew matrix
            values, axes = np.linalg.eigh(1j * (moved - moved.T))
            other = found @ (axes * np.exp(-1j * values) @ axes.conj().T).real
        else:
            other = found + moved
        assert loss(other, x, y, weight, 0.1) >= least - 1e-9 * max(least, 1)


@pytest.mark.parametrize("kind", sorted(SOLVERS))
def test_identical_vectors_stay_and_the_scale_of_weights_does_not_matter(kind):
    x, y, weight = pairs(20, 5)
    np.testing.assert_allclose(SOLVERS[kind](x, x, weight, 0.1), np.eye(5), atol=1e-10)
    one, other = (SOLVERS[kind](x, y, scale * weight, 0.1) for scale in (1, 7))
    np.testing.assert_allclose(one, other, atol=1e-10)
    np.testing.assert_allclose(SOLVERS[kind](x, y, weight, 1e9), np.eye(5), atol=1e-6)
    order = np.random.default_rng(0).permutation(20)
    np.testing.assert_allclose(
        SOLVERS[kind](x[order], y[order], weight[order], 0.1), SOLVERS[kind](x, y, weight, 0.1), atol=1e-10
    )


@pytest.mark.parametrize("kind", sorted(SOLVERS))
def test_a_planted_rotation_is_found(kind):
    x, _, weight = pairs(60, 6)
    turned = rotation(6)
    np.testing.assert_allclose(SOLVERS[kind](x, x @ turned, weight, 1e-12), turned, atol=1e-8)


def two_languages(m=60, d=4, seed=0):
    """Return rows of two languages that share two directions, and that row i of one belongs to row i."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(m, 2))
    x = [
        np.concatenate([shared, rng.normal(size=(m, d - 2))], axis=1) @ rng.normal(size=(d, d)) for _ in "ab"
    ]
    x = [each - each.mean(axis=0) for each in x]
    return np.concatenate(x), np.repeat([0, 1], m), np.arange(m), m + np.arange(m)


def test_canonical_correlations_of_two_languages_are_those_of_the_singular_values():
    """Whitened by each covariance, the singular values of the cross-covariance; halves of √2 go to each."""
    x, language, left, right = two_languages()
    found = cca(x, language, left, right, np.ones(60), 0.3)
    white = []
    for code in (0, 1):
        own = x[language == code]
        covariance = own.T @ own / len(own)
        shrunk = 0.7 * covariance + 0.3 * np.trace(covariance) / 4 * np.eye(4)
        white.append(np.linalg.inv(np.real(sqrtm(shrunk))))
    u, values, vt = np.linalg.svd(white[0] @ (0.7 * x[left].T @ x[right] / 60) @ white[1])
    for code, axes in ((0, u), (1, vt.T)):
        expected = white[code] @ axes / np.sqrt(2) * values
        np.testing.assert_allclose(np.abs(found[code]), np.abs(expected), atol=1e-8)
    product = (x[left] @ found[0] * (x[right] @ found[1])).sum(axis=0)  # the signs of both agree
    assert (product > 0).all()


def test_canonical_correlations_do_not_care_for_linear_maps_of_a_language():
    """Without shrinking; x·A has the same directions as x."""
    x, language, left, right = two_languages()
    turned = x.copy()
    turned[language == 1] @= rotation(4, 5) * [0.5, 1, 2, 3]
    one, other = (cca(each, language, left, right, np.ones(60), 0.0) for each in (x, turned))
    scores = [(each[left] @ map[0]) @ (each[right] @ map[1]).T for each, map in ((x, one), (turned, other))]
    np.testing.assert_allclose(*scores, atol=1e-3)


def test_canonical_correlations_bring_translations_together():
    x, language, left, right = two_languages(80)
    found = cca(x, language, left, right, np.ones(80), 0.1)

    def first(maps):
        one, other = (
            each / np.linalg.norm(each, axis=1, keepdims=True)
            for each in (x[left] @ maps[0], x[right] @ maps[1])
        )
        scores = one @ other.T
        return ((scores > np.diag(scores)[:, None]).sum(axis=1) < 10).mean()

    assert first(found) > 0.6 > 0.3 > first({0: np.eye(4), 1: np.eye(4)})


def test_the_scale_of_weights_does_not_matter_to_canonical_correlations():
    x, language, left, right = two_languages()
    weight = np.random.default_rng(0).uniform(0.5, 1, 60)
    one, other = (cca(x, language, left, right, scale * weight, 0.3) for scale in (1, 7))
    np.testing.assert_allclose(np.abs(one[0]), np.abs(other[0]), atol=1e-8)


def test_a_language_without_pairs_has_no_directions_and_takes_none():
    x, language, left, right = two_languages()
    more = np.concatenate([x, np.random.default_rng(1).normal(size=(9, 4))])
    found = cca(more, np.append(language, [2] * 9), left, right, np.ones(60), 0.3)
    two = cca(x, language, left, right, np.ones(60), 0.3)
    assert sorted(found) == [0, 1]
    np.testing.assert_allclose(found[1], two[1], atol=1e-10)


def test_three_languages_share_their_directions():
    """Texts of three languages that are turned copies of the same come to lie on each other."""
    rng = np.random.default_rng(0)
    said = rng.normal(size=(50, 4)) * [4, 3, 2, 1]
    x = np.concatenate([said @ rotation(4, seed) for seed in (1, 2, 3)])
    rows = np.arange(50)
    left, right = np.concatenate([rows, rows + 50]), np.concatenate([rows + 50, rows + 100])  # a-b, b-c
    found = cca(x, np.repeat([0, 1, 2], 50), left, right, np.ones(100), 0.2)
    one, other, third = (x[code * 50 : code * 50 + 50] @ found[code] for code in range(3))
    np.testing.assert_allclose(one, third, atol=1e-8)  # by way of b alone
    assert np.corrcoef(one[:, 0], other[:, 0])[0, 1] > 0.99
