"""Each transform against a plain transcription of its paper, and what must not change it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.covariance import OAS

from xlingual.arrays import Floats, Vectors
from xlingual.transforms import methods
from xlingual.transforms.moments import FitData

LANGUAGES = ("de", "en", "zh")


def sample(seed: int, rows: int = 60, dim: int = 6) -> tuple[Vectors, list[str]]:
    """Return unit vectors of three languages that lie apart, and their languages, mixed."""
    rng = np.random.default_rng(seed)
    languages = [LANGUAGES[i] for i in rng.integers(0, 3, rows)]
    middle = {tag: rng.normal(size=dim) for tag in LANGUAGES}
    scale = rng.uniform(0.2, 2, dim)
    x = np.stack([middle[tag] + rng.normal(size=dim) * scale for tag in languages])
    return unit(x).astype(np.float32), languages


def unit(x: Floats) -> Floats:
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def of(x: Vectors, languages: list[str], tag: str) -> Floats:
    """Return the rows of a language as they are fitted: float64, of unit length."""
    return unit(x[[language == tag for language in languages]].astype(np.float64))


def close(found: Vectors, expected: Floats) -> None:
    np.testing.assert_allclose(found, expected, atol=3e-6 * max(1.0, float(np.abs(expected).max())))


def test_centre() -> None:
    x, languages = sample(0)
    found = methods.centre(FitData(x, languages)).apply(x, languages)
    for tag in LANGUAGES:
        rows = [language == tag for language in languages]
        close(found[rows], x[rows] - of(x, languages, tag).mean(axis=0))
    whole = methods.centre(FitData(x, languages), by="all").apply(x, languages)
    close(whole, x - unit(x.astype(np.float64)).mean(axis=0))


def test_standardize() -> None:
    x, languages = sample(1)
    x[:, 2] = 0  # never varies
    x = unit(x.astype(np.float64)).astype(np.float32)
    data = FitData(x, languages)
    found = methods.standardize(data).apply(x, languages)
    for tag in LANGUAGES:
        own = of(x, languages, tag)
        deviation = own.std(axis=0)
        deviation[2] = 1
        rows = [language == tag for language in languages]
        close(found[rows], (unit(x.astype(np.float64))[rows] - own.mean(axis=0)) / deviation)


@given(st.integers(0, 1000))
@settings(max_examples=20, deadline=None)
def test_whitening_without_shrinkage_makes_the_covariance_the_identity(seed: int) -> None:
    x, languages = sample(seed, rows=90)
    exact = unit(x.astype(np.float64))
    found = methods.whiten(FitData(exact, languages), shrink=0)
    for tag in LANGUAGES:
        rows = [language == tag for language in languages]
        matrix, offset = found.of(tag)
        assert matrix is not None
        np.testing.assert_allclose(np.cov((exact[rows] @ matrix + offset).T, bias=True), np.eye(6), atol=1e-8)
        np.testing.assert_allclose(matrix, matrix.T, atol=1e-9)  # ZCA turns no more than it must


def test_shrinkage_is_that_of_scikit_learn() -> None:
    x, languages = sample(3)
    data = FitData(x, languages)
    for tag in LANGUAGES:
        expected = OAS().fit(of(x, languages, tag))
        assert methods.oas(data.moments[tag]) == pytest.approx(expected.shrinkage_, rel=1e-9)
        matrix, _ = methods.whiten(data).of(tag)
        assert matrix is not None
        np.testing.assert_allclose(np.linalg.inv(matrix @ matrix), expected.covariance_, atol=1e-9)


def test_all_but_the_top() -> None:
    x, languages = sample(4)
    exact = unit(x.astype(np.float64))
    centred = exact - exact.mean(axis=0)
    axes = np.linalg.svd(centred, full_matrices=False)[2][:2]
    expected = centred.copy()
    for axis in axes:  # algorithm 1 of Mu and Viswanath
        expected -= np.outer(centred @ axis, axis)
    close(methods.all_but_the_top(FitData(x, languages), 2).apply(x, languages), expected)
    one = methods.all_but_the_top(FitData(x, languages)).apply(x, languages)
    close(one, centred - np.outer(centred @ axes[0], axes[0]))


def test_lir() -> None:
    x, languages = sample(5)
    found = methods.lir(FitData(x, languages), 2).apply(x, languages)
    for tag in LANGUAGES:
        own = of(x, languages, tag)
        axes = np.linalg.svd(own, full_matrices=False)[2][:2].T
        close(found[[language == tag for language in languages]], own - own @ axes @ axes.T)


@pytest.mark.parametrize("rank", [1, 2])
def test_lsar(rank: int) -> None:
    x, languages = sample(6)
    exact = unit(x.astype(np.float64))
    m = np.stack([of(x, languages, tag).mean(axis=0) for tag in LANGUAGES], axis=1)
    ones = np.ones((3, 1))
    mu = m @ ones / 3
    u, s, vt = np.linalg.svd(m - mu @ ones.T, full_matrices=False)
    best = mu @ ones.T + (u[:, :rank] * s[:rank]) @ vt[:rank]
    inverse = np.linalg.pinv(best, rcond=1e-9)
    again = inverse.T @ ones / np.linalg.norm(inverse.T @ ones) ** 2
    specific = np.linalg.svd(best - again @ ones.T, full_matrices=False)[0][:, :rank]
    assert np.allclose(again.T @ specific, 0, atol=1e-8)  # what is common is orthogonal to what differs
    close(
        methods.lsar(FitData(x, languages), rank).apply(x, languages), exact - exact @ specific @ specific.T
    )


def test_pca() -> None:
    from sklearn.decomposition import PCA

    x, languages = sample(8)
    exact = unit(x.astype(np.float64))
    expected = PCA(3, svd_solver="full").fit_transform(exact)
    found = methods.pca(FitData(x, languages), 3).apply(x, languages)
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-5)


METHODS = {
    "centre": methods.centre,
    "standardize": methods.standardize,
    "whiten": methods.whiten,
    "all": lambda data: methods.whiten(data, by="all"),
    "top": methods.all_but_the_top,
    "lir": methods.lir,
    "lsar": methods.lsar,
    "pca": lambda data: methods.pca(data, 4),
}


@pytest.mark.parametrize("name", METHODS)
def test_the_order_and_the_pieces_of_the_rows_do_not_matter(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, languages = sample(9)
    whole = METHODS[name](FitData(x, languages))
    order = np.random.default_rng(0).permutation(len(x))
    monkeypatch.setattr("xlingual.transforms.moments._ROWS", 7)
    other = METHODS[name](FitData(x[order], [languages[i] for i in order]))
    close(other.apply(x, languages), whole.apply(x, languages).astype(np.float64))


@pytest.mark.parametrize("name", METHODS)
def test_zero_vectors_change_nothing_and_stay_zero(name: str) -> None:
    x, languages = sample(10)
    whole = METHODS[name](FitData(x, languages))
    more = np.vstack([x, np.zeros((5, 6), dtype=np.float32)])
    tags = [*languages, *["de"] * 5]
    other = METHODS[name](FitData(more, tags))
    found = other.apply(more, tags)
    close(found[:-5], whole.apply(x, languages).astype(np.float64))
    assert not found[-5:].any()


@pytest.mark.parametrize("name", METHODS)
def test_a_longer_vector_is_the_same_direction(name: str) -> None:
    x, languages = sample(11)
    longer = x * np.random.default_rng(0).uniform(0.5, 9, (len(x), 1)).astype(np.float32)
    whole, other = (METHODS[name](FitData(each, languages)) for each in (x, longer))
    close(other.apply(x, languages), whole.apply(x, languages).astype(np.float64))


EQUAL_MEANS = ("centre", "standardize", "whiten", "lsar")  # after these lsar has nothing to do


@pytest.mark.parametrize(
    ("first", "second"),
    [(a, b) for a in METHODS for b in METHODS if not (b == "lsar" and a in EQUAL_MEANS)],
)
def test_two_in_a_row_are_one_map_fitted_without_another_pass(first: str, second: str) -> None:
    x, languages = sample(12)
    data = FitData(x, languages)
    one = METHODS[first](data)
    moved = one.apply(x, languages)
    apart = METHODS[second](FitData(moved, languages, unit=False))
    together = METHODS[second](data.through(one))
    wanted = apart.apply(moved, languages).astype(np.float64)
    tolerance = 1e-4 * max(1.0, float(np.abs(wanted).max()))
    signs = np.sign((wanted * together.apply(moved, languages)).sum(axis=0)) if second == "pca" else 1.0
    np.testing.assert_allclose(together.apply(moved, languages) * signs, wanted, atol=tolerance)
    np.testing.assert_allclose(one.then(together).apply(x, languages) * signs, wanted, atol=tolerance)
