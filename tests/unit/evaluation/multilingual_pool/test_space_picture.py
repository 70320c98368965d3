"""The picture of two languages: against scikit-learn's PCA, and what must not matter."""

from dataclasses import replace
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.decomposition import PCA

from xlingual.evaluation.multilingual_pool import space as space_module
from xlingual.evaluation.multilingual_pool.space_picture import most_apart, picture

spaces = SimpleNamespace(**run_path(str(Path(__file__).with_name("spaces.py"))))


def rows_of(pool, pair):
    language = np.concatenate([pool.question_language, pool.candidate_language])
    return np.flatnonzero(np.isin(language, [pool.languages.index(name) for name in pair]))


@pytest.mark.parametrize(("n", "dim", "clusters"), [(200, 12, 30), (20, 60, 30), (40, 30, 1), (50, 2, 5)])
def test_equals_scikit_learn(n, dim, clusters):
    """Many vectors, more dimensions than vectors, nothing held out, and no more than two dimensions."""
    pool = spaces.made(n=n, m=n + 10, dim=dim, clusters=clusters)
    found = picture(pool.statistics(), ("de", "zh"))
    rows = rows_of(pool, ("de", "zh"))
    pca = PCA(n_components=2, svd_solver="full").fit(pool.unit[rows])
    line = np.where(found.role == 0, found.row, found.row + n)
    assert sorted(line) == rows.tolist()
    expected = pca.transform(pool.unit[line])
    for axis, at in enumerate((found.x, found.y)):
        assert np.abs(at) == pytest.approx(np.abs(expected[:, axis]), abs=2e-5)
        assert abs(np.corrcoef(at, expected[:, axis])[0, 1]) == pytest.approx(1.0, abs=1e-6)
    assert found.explained == pytest.approx(tuple(pca.explained_variance_ratio_), abs=1e-5)


def test_the_second_language_is_to_the_right():
    pool = spaces.made(n=300, m=300)
    there, back = picture(pool.statistics(), ("de", "zh")), picture(pool.statistics(), ("zh", "de"))
    for found in (there, back):
        second = found.language == pool.languages.index(found.languages[1])
        for at in (found.x, found.y):
            assert at[second].mean() > at[~second].mean()
    assert sorted(there.x) == pytest.approx(sorted(-back.x), abs=1e-5)


def test_the_picture_shows_what_separates_the_languages():
    pool = spaces.made(bias=0.0)
    marked = replace(
        pool,
        questions=np.c_[pool.unit[:120], np.eye(4)[pool.question_language]],
        candidates=np.c_[pool.unit[120:], np.eye(4)[pool.candidate_language]],
    )
    found = picture(marked.statistics(), ("ar", "en"))
    assert found.x[found.language == 0].max() < 0 < found.x[found.language == 2].min()


def test_rotation_does_not_matter():
    pool = spaces.made(n=300, m=300)
    turn = np.linalg.qr(np.random.default_rng(3).standard_normal((12, 12)))[0]
    plain = picture(pool.statistics(), ("ar", "de"))
    turned = picture(pool.mapped(lambda x: x @ turn).statistics(), ("ar", "de"))
    assert plain.x == pytest.approx(turned.x, abs=1e-5)
    assert plain.y == pytest.approx(turned.y, abs=1e-5)


def test_a_sample_shows_the_same_texts_for_every_encoder():
    pool, other = spaces.made(n=200, m=300), spaces.made(n=200, m=300, dim=7, bias=2.0)
    other = replace(
        other, question_language=pool.question_language, candidate_language=pool.candidate_language
    )
    one, two = picture(pool.statistics(), ("ar", "de"), 20), picture(other.statistics(), ("ar", "de"), 20)
    assert np.array_equal(one.row, two.row) and len(one.row) == 80
    for role in (0, 1):
        for code in (0, 1):
            rows = one.row[(one.role == role) & (one.language == code)]
            assert len(np.unique(rows)) == 20
    assert not np.array_equal(one.row, picture(pool.statistics(seed=1), ("ar", "de"), 20).row)
    whole = picture(pool.statistics(), ("ar", "de"))
    assert whole.explained == one.explained
    assert set(one.x) <= set(whole.x)


def test_the_pair_most_apart():
    pool = spaces.made(n=600, m=600, bias=0.3)
    language, _, held = spaces.labels(pool.statistics())
    means = [pool.unit[(language == code) & ~held].mean(axis=0) for code in range(4)]
    far = max(
        ((i, j) for i in range(4) for j in range(i + 1, 4)),
        key=lambda p: np.linalg.norm(means[p[0]] - means[p[1]]),
    )
    assert most_apart(pool.statistics()) == tuple(pool.languages[code] for code in far)
    with pytest.raises(ValueError, match="there are 1"):
        most_apart(spaces.made(languages=("en",)).statistics())


@pytest.mark.parametrize("value", [0.0, 2.0])
def test_equal_vectors_are_one_point(value):
    pool = spaces.made().mapped(lambda x: np.full_like(x, value))
    found = picture(pool.statistics(), most_apart(pool.statistics()))
    assert not found.x.any() and not found.y.any()
    assert found.explained == (0.0, 0.0)


def test_one_dimension_has_one_axis():
    pool = spaces.made(dim=1).mapped(lambda x: x - np.median(x))
    found = picture(pool.statistics(), ("ar", "de"))
    assert found.x.any() and not found.y.any()
    assert found.explained == pytest.approx((1.0, 0.0), abs=1e-6)


def test_projected_vectors_give_nearly_the_same_picture(monkeypatch):
    pool = spaces.made(n=900, m=900, dim=300, bias=0.3)
    exact = picture(pool.statistics(), ("ar", "de"))
    monkeypatch.setattr(space_module, "MOST_DIMENSIONS", 200)
    found = picture(pool.statistics(), ("ar", "de"))
    assert abs(np.corrcoef(found.x, exact.x)[0, 1]) > 0.99
    assert found.explained == pytest.approx(exact.explained, rel=0.1)
    assert found.explained[0] <= exact.explained[0] + 1e-6


def test_many_languages_have_a_picture_too(monkeypatch):
    pool = spaces.made(n=300, m=300)
    plain = picture(pool.statistics(), ("en", "zh"))
    monkeypatch.setattr(space_module, "MOST_LANGUAGES", 3)
    found = picture(pool.statistics(), ("en", "zh"))
    assert np.array_equal(found.x, plain.x) and found.explained == plain.explained
