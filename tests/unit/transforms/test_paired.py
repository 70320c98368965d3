"""Transforms fitted on translations, against plain transcriptions, and what must not change them."""

import numpy as np
import pytest
from scipy.stats import ortho_group
from sklearn.cross_decomposition import CCA

from xlingual.arrays import Floats, Vectors
from xlingual.transforms import paired
from xlingual.transforms.methods import centre
from xlingual.transforms.moments import FitData


def unit(x: Floats) -> Floats:
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def translations(seed: int, items: int = 80, dim: int = 5, noise: float = 0.1) -> dict[str, Floats]:
    """Return for each of two languages the vectors of the same items: one is the other rotated, and noise."""
    rng = np.random.default_rng(seed)
    de = unit(rng.normal(size=(items, dim)) * rng.uniform(0.3, 2, dim))
    turn = ortho_group.rvs(dim, random_state=seed)
    en = unit(de @ turn + noise * rng.normal(size=de.shape))
    return {"de": de, "en": en}


def data_of(sides: dict[str, Floats], seed: int = 0) -> FitData:
    """Return the rows of all languages, mixed."""
    languages = [tag for tag, x in sides.items() for _ in x]
    items = [str(i) for x in sides.values() for i in range(len(x))]
    order = np.random.default_rng(seed).permutation(len(items))
    x = np.vstack(list(sides.values()))
    return FitData(x[order], [languages[i] for i in order], [items[i] for i in order])


def moved(map: object, x: Floats, tag: str) -> Vectors:
    return map.apply(x.astype(np.float32), [tag] * len(x))  # type: ignore[attr-defined, no-any-return]


def test_procrustes_is_that_of_scipy() -> None:
    from scipy.linalg import orthogonal_procrustes

    sides = translations(1)
    matrix, _ = paired.procrustes(data_of(sides), to="en").of("de")
    expected, _ = orthogonal_procrustes(sides["de"], sides["en"])
    np.testing.assert_allclose(matrix, expected, atol=1e-9)


def test_a_rotation_before_procrustes_changes_nothing() -> None:
    sides = translations(2)
    plain = paired.procrustes(data_of(sides), to="en")
    turn = ortho_group.rvs(5, random_state=9)
    turned = paired.procrustes(data_of(sides | {"de": sides["de"] @ turn}), to="en")
    np.testing.assert_allclose(
        moved(turned, sides["de"] @ turn, "de"), moved(plain, sides["de"], "de"), atol=2e-6
    )


@pytest.mark.parametrize("noise", [0.05, 2.0])
def test_ridge_takes_the_penalty_of_a_plain_cross_validation(noise: float) -> None:
    from sklearn.linear_model import Ridge

    sides = translations(4, items=60, noise=noise)
    data = data_of(sides)
    items = [item for item, tag in zip(data.items, data.languages, strict=True) if tag == "de"]
    x, y = (sides[tag][[int(item) for item in items]] for tag in ("de", "en"))
    fold = np.arange(len(items)) % 5

    def model(rows: np.ndarray, penalty: float) -> Ridge:
        own = x[rows] - x[rows].mean(axis=0)
        return Ridge(alpha=penalty * (own**2).sum() / x.shape[1]).fit(x[rows], y[rows])

    penalties = 10.0 ** np.arange(-6, 2)
    errors = [
        sum(((model(fold != i, p).predict(x[fold == i]) - y[fold == i]) ** 2).sum() for i in range(5))
        for p in penalties
    ]
    best = penalties[int(np.argmin(errors))]
    assert paired.choose_penalty(data.pairs("de", "en")) == pytest.approx(best)
    expected = model(fold >= 0, best).predict(sides["de"])
    np.testing.assert_allclose(moved(paired.ridge(data, to="en"), sides["de"], "de"), expected, atol=2e-6)


def test_cca_of_two_languages_finds_the_directions_of_scikit_learn() -> None:
    sides = translations(5, items=4000, dim=4, noise=0.6)
    found = paired.cca(data_of(sides), 2)
    ours = [moved(found, sides[tag], tag) for tag in ("de", "en")]
    theirs = CCA(2, max_iter=5000, tol=1e-10).fit_transform(sides["de"], sides["en"])
    for k in range(2):
        for mine, other in zip(ours, theirs, strict=True):
            assert abs(np.corrcoef(mine[:, k], other[:, k])[0, 1]) == pytest.approx(1, abs=2e-3)
        own = np.corrcoef(ours[0][:, k], ours[1][:, k])[0, 1]
        assert own == pytest.approx(abs(np.corrcoef(theirs[0][:, k], theirs[1][:, k])[0, 1]), abs=2e-3)


def test_cca_of_three_languages_brings_translations_together() -> None:
    sides = translations(6, items=500)
    sides["zh"] = unit(sides["de"] @ ortho_group.rvs(5, random_state=1))
    found = paired.cca(data_of(sides), 3)
    middle = {tag: unit(moved(found, x, tag).astype(np.float64)) for tag, x in sides.items()}
    for one, other in (("de", "en"), ("de", "zh"), ("en", "zh")):
        own = np.mean(np.sum(middle[one] * middle[other], axis=1))
        assert own > 0.9 > np.mean(np.sum(sides[one] * sides[other], axis=1))


@pytest.mark.parametrize("fit", [paired.procrustes, paired.ridge, paired.cca])
def test_what_is_fitted_behind_a_map_needs_no_other_pass(fit: object) -> None:
    from xlingual.transforms.methods import centre

    data = data_of(translations(8))
    first = centre(data)
    behind = FitData(first.apply(data.vectors, data.languages), data.languages, data.items, unit=False)
    apart, together = fit(behind), fit(data.through(first))  # type: ignore[operator]
    x = np.asarray(behind.vectors)
    np.testing.assert_allclose(together.apply(x, data.languages), apart.apply(x, data.languages), atol=2e-4)


def test_others_are_mapped_to_the_language_with_most_translations() -> None:
    data = FitData(np.eye(5), ["de", "en", "en", "zh", "zh"], ["1", "1", "2", "2", "3"])
    assert paired.data_pivot(data, None) == "en"


def three_languages() -> FitData:
    """German and English for all of 60 items, French for the first 20 and twice for the first."""
    rng = np.random.default_rng(5)
    rows = [("de", i) for i in range(60)] + [("en", i) for i in range(60)]
    rows += [("fr", i) for i in (0, *range(20))]
    apart = np.array([["de", "en", "fr"].index(tag) for tag, _ in rows])[:, None]
    vectors = (rng.normal(size=(len(rows), 4)) + apart).astype(np.float32)
    return FitData(vectors, [tag for tag, _ in rows], [str(item) for _, item in rows], unit=False)


def test_deltas_of_items_in_all_languages_are_centring_with_a_mean_put_back() -> None:
    sides = translations(3)
    data = data_of(sides)
    for tag in sides:
        moved_to = paired.deltas(data, "en").of(tag)[1]
        np.testing.assert_allclose(moved_to, centre(data).of(tag)[1] + data.moments["en"].mean, atol=1e-12)
